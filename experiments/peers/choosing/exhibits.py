"""Which learner, and which policy, for docs/choosing.md.

passes  every learner, those of river, MOA and scikit-learn, through 15 data sets, in order and shuffled.
labels  a tenth of the labels: policies of asking beside those of scikit-activeml.
"""

from experiments.harness.exhibits import Exhibit, Study
from experiments.peers.choosing.accuracies import (
    draw_costs,
    summarize_costs,
    summarize_few,
    summarize_in_order,
    summarize_shuffled,
)
from experiments.peers.choosing.guide import summarize_guide
from experiments.peers.choosing.labels import LABELS
from experiments.peers.choosing.passes import PASSES
from experiments.peers.choosing.policies import draw_policies, summarize_advice, summarize_policies
from experiments.peers.choosing.ranking import draw_ranks, summarize_pairs, summarize_ranks
from experiments.peers.evergreen.sets import check_data

STUDY = Study(
    "peers.choosing",
    "Choosing a learner and a policy",
    (
        Exhibit("table", "1", "which learner", PASSES, summarize_guide),
        Exhibit("figure", "1", "average ranks by accuracy", PASSES, summarize_ranks, draw_ranks, size=(11.6, 5.4)),
        Exhibit("table", "2", "accuracy, shuffled", PASSES, summarize_shuffled),
        Exhibit("table", "3", "accuracy, in order", PASSES, summarize_in_order),
        Exhibit("table", "4", "pairs", PASSES, summarize_pairs),
        Exhibit("figure", "2", "accuracy and what it costs", PASSES, summarize_costs, draw_costs, size=(9.0, 5.4)),
        Exhibit("table", "5", "which policy", LABELS, summarize_advice),
        Exhibit("table", "6", "a few learners", PASSES, summarize_few),
        Exhibit("figure", "3", "a tenth of the labels", LABELS, summarize_policies, draw_policies, size=(9.0, 6.4)),
    ),
    check=check_data,
)
