"""What the comparison shows: its tables and pictures, for docs/choosing.md."""

from benchmarks.choosing.accuracies import draw_costs, tell_costs, tell_in_order, tell_shuffled
from benchmarks.choosing.guide import tell_guide
from benchmarks.choosing.labels import LABELS
from benchmarks.choosing.passes import PAPER as NAME
from benchmarks.choosing.passes import PASSES
from benchmarks.choosing.policies import draw_policies, tell_advice, tell_policies
from benchmarks.choosing.ranking import draw_ranks, tell_pairs, tell_ranks
from quercus.papers.exhibits import Exhibit, Paper

PAPER = Paper(
    NAME,
    "Choosing a learner and a policy",
    (
        Exhibit("table", "1", "which learner", PASSES, tell_guide),
        Exhibit("figure", "1", "average ranks by accuracy", PASSES, tell_ranks, draw_ranks, size=(11.6, 5.4)),
        Exhibit("table", "2", "accuracy, shuffled", PASSES, tell_shuffled),
        Exhibit("table", "3", "accuracy, in order", PASSES, tell_in_order),
        Exhibit("table", "4", "pairs", PASSES, tell_pairs),
        Exhibit("figure", "2", "accuracy and what it costs", PASSES, tell_costs, draw_costs, size=(9.0, 5.4)),
        Exhibit("table", "5", "which policy", LABELS, tell_advice),
        Exhibit("figure", "3", "a tenth of the labels", LABELS, tell_policies, draw_policies, size=(9.0, 6.4)),
    ),
)
