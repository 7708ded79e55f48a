"""How trees follow changes.

labelled  all rows answered, then learned: our trees with and without adaptive=True, Renewing, the adaptive trees of
          river and MOA; generators that change and that stand still, data sets in their own order.
asked     one label in ten is asked for; only those asked at random tell a tree that things have changed.
"""

from experiments.harness.exhibits import Exhibit, Study
from experiments.peers.drift import adaptive, asked, beside, evergreen
from experiments.peers.drift.labelled import LABELLED
from experiments.peers.evergreen.sets import check_data

STUDY = Study(
    "peers.drift",
    "Trees that follow changes",
    (
        Exhibit("table", "1", "What adaptive=True brings", LABELLED, adaptive.summarize),
        Exhibit("table", "2", "All learners where things change", LABELLED, beside.summarize),
        Exhibit("table", "3", "The evergreen tree where things change", LABELLED, evergreen.summarize),
        Exhibit("table", "4", "Changes, one label in ten asked for", asked.ASKED, asked.summarize),
    ),
    check=check_data,
)
