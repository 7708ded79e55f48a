"""What is shown of the paper on utility trees."""

from experiments.harness.exhibits import Exhibit, Study
from experiments.papers.utility import continuous, hypotheses, stagger, stationary
from experiments.papers.utility.curves import ON_BINARY, ON_NUMBERS
from experiments.papers.utility.experts import BY_PRIOR, draw_experts, summarize_experts
from experiments.papers.utility.times import TIMES, summarize_times

_WIDE, _ROW, _TALL = (11.0, 6.5), (11.0, 4.0), (11.0, 7.0)
STUDY = Study(
    name="papers.utility",
    title=(
        "A. Rahbar, Z. Ye, Y. Chen, M. Haghir Chehreghani: Efficient Online Decision Tree Learning with Active Feature "
        "Acquisition. IJCAI, 2023."
    ),
    exhibits=(
        Exhibit(
            *("figure", "2", "Test utility during training, binary features", ON_BINARY),
            *(stationary.summarize_utility, stationary.draw_utility, _WIDE),
        ),
        Exhibit(
            *("figure", "3", "Features bought during training, binary features", ON_BINARY),
            *(stationary.summarize_cost, stationary.draw_cost, _WIDE),
        ),
        Exhibit(
            *("figure", "4", "Cost and test utility during training, continuous features", ON_NUMBERS),
            *(continuous.summarize_thresholds, continuous.draw_thresholds, _TALL),
        ),
        Exhibit(
            *("figure", "5", "Test utility on STAGGER, whose concept changes twice", stagger.ON_STAGGER),
            *(stagger.summarize_utility, stagger.draw_utility, (11.0, 5.0)),
        ),
        Exhibit("table", "2", "Features bought on STAGGER", stagger.ON_STAGGER, stagger.summarize_cost),
        Exhibit(
            *("figure", "6", "Cost and test utility with a selection of features", ON_NUMBERS),
            *(continuous.summarize_selection, continuous.draw_selection, _TALL),
        ),
        Exhibit(
            *("figure", "7", "Features bought by the number of sampled hypotheses", hypotheses.BY_NUMBER),
            *(hypotheses.summarize_cost, hypotheses.draw_cost, _ROW),
        ),
        Exhibit(
            *("figure", "8", "Training utility by the number of sampled hypotheses", hypotheses.BY_NUMBER),
            *(hypotheses.summarize_utility, hypotheses.draw_utility, _ROW),
        ),
        Exhibit(
            *("figure", "9", "Training utility during training", ON_BINARY),
            *(stationary.summarize_training, stationary.draw_training, _ROW),
        ),
        Exhibit(
            *("figure", "10", "STAGGER by the number of hypotheses, and by the quality of the prior", BY_PRIOR),
            *(summarize_experts, draw_experts, (10.0, 7.5)),
        ),
        Exhibit("table", "times", "Running times, of which the text speaks", TIMES, summarize_times),
    ),
    summary=(
        "What the paper says about costs holds: of all objectives EC² buys the fewest features on every set, far "
        "fewer on most than trees that read everything, and the costs of table 2 are met within their errors. So does "
        "what it says about drift: with forgetting all objectives follow the concepts of STAGGER better than without, "
        "and better than EFDT. What it says about utility holds in part. Its test utility reads every feature of a "
        "test row; by the plan, which pays for what it reads, answers are worse on several sets. A tree that reads "
        "all features and smooths its counts is better on some. While it trains, EC² answers worse than objectives "
        "that buy more. Thresholds drawn by Algorithm 5 are about as good, but buy many more features. Selecting half "
        "of the features lowers the cost on Diabetes only, and the estimate behind that selection is not right on "
        "average. Knowing the first concept of STAGGER beforehand helps little, and a prior that mixes its concepts "
        "hurts."
    ),
)
