"""How often the 95 % interval for live accuracy is ever wrong, how wide it is, and what a plain count would say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

import quercus as qc
from experiments.harness.exhibits import Cell, Row, Runs, Scale
from experiments.peers.labels.going import MOST_ROWS, PolicyStream, go, load
from quercus.ask import (
    Confident,
    Policy,
    Random,
    RandomizedUncertainty,
    SelectiveSampling,
    Split,
    SplitConfident,
    Uncertain,
    VariableUncertainty,
)

BUDGET, ALPHA = 0.1, 0.05
SEA, REAL = "SEA", "electricity"
_PLAIN = (
    Random, Uncertain, VariableUncertainty, Split, SelectiveSampling, Confident, SplitConfident, RandomizedUncertainty,
)  # fmt: skip
EXPLORING = "Uncertain, explore .5"
POLICIES: dict[str, Policy] = {
    **{policy.__name__: policy(BUDGET) for policy in _PLAIN},
    EXPLORING: Uncertain(BUDGET, explore=0.5),
}
_ROWS = 5_000
# Cells of so many streams each.
_CELLS: dict[Scale, int] = {"quick": 2, "full": 10}
_STREAMS: dict[Scale, int] = {"quick": 20, "full": 50}
_MOST: dict[Scale, int] = {"quick": 10_000, "full": MOST_ROWS}


def cells(scale: Scale) -> list[Cell]:
    """Return who asks where; orders of the real set are one by one."""
    return [
        {"data": data, "policy": policy, "streams": streams, "most": most, "run": run}
        for data, streams, most in ((SEA, _STREAMS[scale], _ROWS), (REAL, 1, _MOST[scale]))
        for run in range(_CELLS[scale])
        for policy in POLICIES
    ]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line for each stream."""
    seed %= 2**31
    policy, most = POLICIES[str(cell["policy"])], int(cell["most"])
    lines = []
    for number in range(int(cell["streams"])):
        data = _drifting(seed + number, number % 2 == 1) if cell["data"] == SEA else load(REAL, seed, most)
        lines.append({"stream": number, **_follow(data, replace(policy, seed=seed + number))})
    return lines


def _drifting(seed: int, changes: bool) -> PolicyStream:
    """Return SEA, with labels turned over in the second half if it changes."""
    X, y = qc.streams.SEA(seed=seed).take(_ROWS)
    if changes:
        y = np.where(np.arange(_ROWS) < _ROWS // 2, y, 1 - y)
    return PolicyStream(np.asarray(X, np.float64), y, ["x0", "x1", "x2"], [])


def _follow(data: PolicyStream, policy: Policy) -> Row:
    """Look at the interval again and again; return whether it was ever wrong, and what it tells at the end."""
    from quercus.ledger.accuracy import FairAccuracy

    accuracy, state, decided, right = go(data, qc.ConfidenceTree(), policy)
    decisions = decided.decisions
    asked = np.flatnonzero(decisions["asked"])
    truth = np.cumsum(right) / np.arange(1, len(right) + 1)
    fair = FairAccuracy(state.least_propensity)
    wrong, done = False, 0
    for row in list_looks(len(right)):
        part = asked[done : np.searchsorted(asked, row)]
        if len(part):
            fair.add_many(part + 1, decisions["covered"][part], decisions["propensity"][part], right[part])
        fair.advance(row, int(decisions["covered"][row - 1]))
        done += len(part)
        figure = fair.accuracy(ALPHA)
        wrong |= not figure.low <= truth[row - 1] <= figure.high
    return {
        "rows": len(right),
        "wrong": bool(wrong),
        "width": figure.high - figure.low,
        "error": figure.value - accuracy,
        "naive": figure.naive - accuracy,
    }


def list_looks(rows: int) -> Iterator[int]:
    """Yield the rows after which the interval is looked at."""
    row = 10.0
    while row < rows:
        yield int(row)
        row *= 1.1
    yield rows


COVERAGE = Runs("peers.labels", "coverage", cells, measure)
