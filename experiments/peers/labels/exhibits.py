"""What label policies are worth.

efficiency  ten data sets, budgets 1 to 20 %: labels that Random needs divided by labels that a policy needs for the
            same accuracy, both paced, same learner, same orders.
coverage    how often the 95 % interval for live accuracy is ever wrong, and how wide it is, for every policy.
replay      accuracy that `replay` tells from the log of another run, beside what the run itself then scores.

Policies were tuned on generators and on fico, usps, a9a, dna and satimage, which are not among the ten. Policies in
their published form: ``papers confidence --figure 5``.
"""

from experiments.harness.exhibits import Exhibit, Study
from experiments.peers.evergreen.sets import check_data
from experiments.peers.labels import coverage, covered, efficiency, ratios, replaying

STUDY = Study(
    "peers.labels",
    "What paid labels buy",
    (
        Exhibit("table", "1", "Labels that a policy saves", efficiency.EFFICIENCY, ratios.summarize),
        Exhibit("table", "2", "Is the accuracy from the ledger true?", coverage.COVERAGE, covered.summarize),
        Exhibit("table", "3", "Does replay tell what would have happened?", replaying.REPLAYS, replaying.summarize),
    ),
    check=check_data,
)
