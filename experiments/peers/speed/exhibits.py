"""Speed, size and accuracy beside river and MOA.

rates    rows per second of CPU time: our trees, river's and MOA's with the same settings, each row answered, then
         learned.
calls    single calls beside river's.
startup  what a fresh process pays before the first row is learned.
asking   rows per second when labels are asked for, beside scikit-activeml.

Contenders take turns, each in a process of its own; measure with one job at a time.
"""

from experiments.harness.exhibits import Exhibit, Study
from experiments.peers.speed import asking, calls, rates, startup

STUDY = Study(
    "peers.speed",
    "Speed beside river and MOA",
    (
        Exhibit("table", "1", "examples per second", rates.RATES, rates.summarize),
        Exhibit("table", "2", "passes", rates.RATES, rates.summarize_passes),
        Exhibit("table", "3", "single calls", calls.CALLS, calls.summarize),
        Exhibit("table", "4", "start-up", startup.STARTUP, startup.summarize),
        Exhibit("table", "5", "asking for labels", asking.ASKING, asking.summarize),
    ),
)
