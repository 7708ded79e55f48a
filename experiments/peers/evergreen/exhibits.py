"""What the evergreen tree is worth.

frozen       the same labels for all, then answers to the next 5,000 rows; beside other trees, forests, a batch tree.
labels       how many labels other trees need for what it has at 1,000, 5,000 and 20,000.
prequential  accuracy, log-loss, leaves, bytes and rate in original and shuffled order.
calls        how long single rows take.
forest       EvergreenForest(10) beside ARF10, AMF10 and SRP10, on ten streams.
cap          a million rows under 4 MiB: bytes, memory of the process, accuracy lost.
chance       random labels.
ablation     the tree with parts of it switched off.
asked        which policy of asking goes best with it, on ten sets.
propensity   whether labels that were chosen should count by the inverse of their probability of being chosen.
corrected    wrong labels exchanged in the rows that are kept, or all rows learned again: accuracy.
correcting   the same: how long an asker takes for it.
nightly      the boost beside batch learners that are fitted again and again.
first        the first thousand rows beside batch learners and forests of others, as curves.
few          the same labels for all: the boost beside batch learners that are fitted once.
size         many columns, many classes, up to 100 million rows: time and memory.
"""

from experiments.harness.exhibits import Exhibit, Study
from experiments.peers.evergreen import (
    ablation,
    asked,
    calls,
    cap,
    chance,
    corrected,
    few,
    first,
    forest,
    frozen,
    labels,
    nightly,
    prequential,
    propensity,
    size,
)
from experiments.peers.evergreen.sets import check_data

STUDY = Study(
    "peers.evergreen",
    "The evergreen tree",
    (
        Exhibit(
            *("table", "1", "The same labels for all, then 5,000 rows are answered", frozen.FROZEN), frozen.summarize
        ),
        Exhibit("table", "2", "Labels that others need for the same accuracy", labels.LABEL_RUNS, labels.summarize),
        Exhibit("table", "3", "Each row answered, then learned", prequential.PASSES, prequential.summarize),
        Exhibit("table", "4", "How long single rows take", calls.CALLS, calls.summarize),
        Exhibit("table", "5", "The forest of ten beside others", forest.FOREST_RUNS, forest.summarize),
        Exhibit("table", "6", "A million rows under 4 MiB", cap.CAP, cap.summarize),
        Exhibit("table", "7", "Labels that follow from nothing", chance.CHANCE, chance.summarize),
        Exhibit("table", "8", "Parts switched off", ablation.ABLATION, ablation.summarize),
        Exhibit("table", "9", "Which policy asks best", asked.ASKED, asked.summarize),
        Exhibit("table", "10", "Labels that were chosen", propensity.PROPENSITY, propensity.summarize),
        Exhibit("table", "11", "Labels put right later", corrected.CORRECTED, corrected.summarize),
        Exhibit("table", "12", "How long that takes", corrected.CORRECTING, corrected.summarize_times),
        Exhibit("table", "13", "Beside batch learners that are fitted again", nightly.NIGHTLY, nightly.summarize),
        Exhibit("figure", "1", "The first 1,000 rows", first.FIRST, first.summarize, first.draw, size=(10.5, 5.2)),
        Exhibit("table", "14", "The same labels for all, beside batch learners", few.FEW, few.summarize),
        Exhibit("table", "15", "Wide and deep: time and memory", size.SIZE, size.summarize),
    ),
    check=check_data,
)
