"""Each row answered, then learned: what is right in all, around changes, and when there were alarms."""

from __future__ import annotations

from functools import partial

import numpy as np

from experiments.harness.exhibits import Cell, Row, Runs, Scale
from experiments.harness.measuring import attempt_lines
from experiments.peers.drift.learners import OURS, DriftRun, run_ours
from experiments.peers.drift.peers import MOA, RIVER, missing_peer, run_moa, run_river
from experiments.peers.drift.streams import IN_ORDER, STREAMS, DriftStream, load_case

LEARNERS = (*OURS, RIVER, MOA)
BEFORE, SOON, LATER = 1_000, 1_000, 3_000
COLUMNS = (
    "length", "right", "before", "soon", "later", "changes", "alarms", "found", "tried", "seconds", "previous", "best",
)  # fmt: skip
ROWS: dict[Scale, int] = {"quick": 20_000, "full": 100_000}
RUNS: dict[Scale, int] = {"quick": 1, "full": 3}
_QUICK = ("STAGGER, 10 % noise, every 5,000", "SEA, every 10,000", "SEA", "electricity")


def cells(scale: Scale) -> list[Cell]:
    """Return who goes through what; a data set has one order, and river, which is slow, one run."""
    return [
        {"data": data, "learner": learner, "rows": ROWS[scale], "run": run}
        for data, source in STREAMS.items()
        if scale == "full" or data in _QUICK
        for run in range(1 if source.kind == IN_ORDER else RUNS[scale])
        for learner in LEARNERS
        if learner != RIVER or run == 0
    ]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line."""
    learner = str(cell["learner"])
    problem = None if learner in OURS else missing_peer(learner)
    return attempt_lines(COLUMNS, problem, partial(_measure, learner, cell, seed % 2**31))


def _measure(learner: str, cell: Cell, seed: int) -> list[Row]:
    case = load_case(str(cell["data"]), seed, int(cell["rows"]))
    return [describe(run_ours(learner, case) if learner in OURS else _run_peer(learner, case, seed), case)]


def _run_peer(learner: str, case: DriftStream, seed: int) -> DriftRun:
    try:
        return run_river(case, seed) if learner == RIVER else run_moa(case)
    except Exception as error:
        # It leaves a gap, whatever it was that went wrong; ours may not.
        raise RuntimeError(f"{type(error).__name__}: {error}") from error


def describe(run: DriftRun, case: DriftStream) -> Row:
    """Return what is kept of a run."""
    values = (
        len(case.rows.y), run.right.mean(), *near_changes(run, case), len(case.changes),
        np.nan if run.alarms is None else len(run.alarms), count_found(run, case),
        np.nan if run.tried is None else run.tried, run.seconds, case.rows.previous, case.best,
    )  # fmt: skip
    return dict(zip(COLUMNS, map(float, values), strict=True))


def near_changes(run: DriftRun, case: DriftStream) -> list[float]:
    """Return what is right before changes, soon after them, and until later; NaN where there are none."""
    spans = ((-BEFORE, 0), (0, SOON), (0, LATER))
    parts = [[run.right[change + first : change + last] for change in case.changes] for first, last in spans]
    return [float(np.concatenate(part).mean()) if part else np.nan for part in parts]


def count_found(run: DriftRun, case: DriftStream) -> float:
    """Return how many changes are followed by an alarm; NaN where none can be."""
    if run.alarms is None or not case.changes:
        return np.nan
    return sum(any(0 <= row - change < LATER for row in run.alarms) for change in case.changes)


LABELLED = Runs("peers.drift", "labelled", cells, measure)
