"""What the text says about running times: thresholds drawn instead of all tried, and features selected."""

from __future__ import annotations

import time

from experiments.harness.exhibits import Cell, Claim, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results, show_mean
from experiments.harness.verdicts import all_hold
from experiments.papers.utility.curves import CONTINUOUS, TITLES
from experiments.papers.utility.learners import NAMES, make
from experiments.papers.utility.splits import load_split
from experiments.papers.utility.verdicts import gap

_LEARNERS = ("ec2", "ec2-exp3", "ec2-select", "ig", "ig-exp3", "ig-select", "ours")
_ROWS, _REPEATS = 200, 2


def _cells(scale: Scale) -> list[Cell]:
    runs = range(3 if scale == "quick" else 10)
    return [{"data": data, "learner": name, "run": run} for data in CONTINUOUS for name in _LEARNERS for run in runs]


def _measure(cell: Cell, seed: int) -> list[Row]:
    data, learner = str(cell["data"]), str(cell["learner"])
    split = load_split(data, seed)
    # Compiled, or read from the cache, before the clock runs.
    make(learner, data, split, seed).learn(split.X[:20], split.y[:20])
    taken = []
    for _ in range(_REPEATS):
        model, start = make(learner, data, split, seed), time.process_time()
        model.learn(split.X[:_ROWS], split.y[:_ROWS])
        taken.append(time.process_time() - start)
    return [{"milliseconds": min(taken) / _ROWS * 1e3}]


TIMES = Runs("papers.utility", "times", _cells, _measure)


def summarize_times(found: Results) -> Report:
    """Return what the page says of running times."""
    rows = [
        [TITLES[data], *(show_mean(found.where(data=data, learner=name).mean("milliseconds"), 2) for name in _LEARNERS)]
        for data in CONTINUOUS
    ]
    table = PageTable(["", *(NAMES[name] for name in _LEARNERS)], rows, "Milliseconds of CPU time per row of training.")
    claims = [
        _faster(
            found,
            "exp3",
            "Learning thresholds by Algorithm 5 has a significantly lower running time than exhaustive search.",
        ),
        _faster(found, "select", "Selecting features reduces the running time."),
    ]
    note = (
        "Times are those of one machine and differ from run to run. The paper scores a feature with pairs of "
        "hypotheses, so that each threshold costs much; here a score is a sum over hypotheses, and drawing them takes "
        "most of the time."
    )
    return Report([table], claims, note)


def _faster(found: Results, form: str, says: str) -> Claim:
    verdicts, seen = [], []
    for data in CONTINUOUS:
        for name in ("ec2", "ig"):
            rows = found.where(data=data)
            slow, fast = rows.where(learner=name), rows.where(learner=f"{name}-{form}")
            verdicts.append(gap(slow, fast, "milliseconds").is_more)
            ratio = slow.mean("milliseconds")[0] / fast.mean("milliseconds")[0]
            seen.append(f"{TITLES[data]}, {NAMES[name]} {ratio:.2f}")
    return Claim(says, all_hold(verdicts), f"how many times faster: {'; '.join(seen)}.")
