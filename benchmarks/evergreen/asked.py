"""Which policy of asking goes best with the evergreen tree."""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

import quercus as qc
from benchmarks.evergreen.contenders import EVERGREEN, evergreen
from benchmarks.evergreen.frozen import HOEFFDING
from benchmarks.labels import SETS, Data, go, load
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
from quercus.papers.exhibits import Cell, Claim, Row, Runs, Scale, Sheet, Told
from quercus.papers.found import Found, show_mean
from quercus.streams.batches import pick

_BUDGET = 0.1
_ROWS: dict[Scale, int] = {"quick": 3_000, "full": 30_000}
_QUICK_SETS = ("electricity", "adult")
_RUNS: dict[Scale, int] = {"quick": 1, "full": 3}
_POLICIES: dict[str, type[Policy]] = {
    policy.__name__: policy
    for policy in (
        Random,
        Uncertain,
        Confident,
        VariableUncertainty,
        SelectiveSampling,
        Split,
        SplitConfident,
        RandomizedUncertainty,
    )
}
_LEARNERS = {EVERGREEN: evergreen, HOEFFDING: qc.HoeffdingTree}
_NOTE = (
    "Every row is answered, then perhaps asked for and learned; accuracy in per cent over all rows, mean over runs, in "
    "brackets points over `Random` with the same learner. Shuffled sets, the first rows of them. Mean: over sets, with "
    "the standard error over runs."
)


def cells(scale: Scale) -> list[Cell]:
    """Return who asks where."""
    return [
        {"data": data, "learner": learner, "policy": policy, "most": _ROWS[scale], "run": run}
        for data in (_QUICK_SETS if scale == "quick" else SETS)
        for run in range(_RUNS[scale])
        for learner, policy in product(_LEARNERS, _POLICIES)
    ]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line: what was right, and how many labels were paid."""
    seed %= 2**31
    make: Any = _LEARNERS[str(cell["learner"])]
    policy: Any = _POLICIES[str(cell["policy"])]
    accuracy, state, *_ = go(
        _load(str(cell["data"]), seed, int(cell["most"])), make(seed=seed), policy(_BUDGET, seed=seed)
    )
    return [{"accuracy": accuracy, "labels": int(state.asked)}]


@lru_cache(maxsize=1)
def _load(name: str, seed: int, most: int) -> Data:
    data = load(name, seed)
    few = np.arange(min(most, len(data.y)))
    return Data(pick(data.X, few), data.y[few], data.names, data.nominal)


def tell(found: Found) -> Told:
    """Return accuracies by learner and policy."""
    sets = found.unique("data")
    rows = []
    for learner, policy in product(_LEARNERS, _POLICIES):
        told = []
        for data in sets:
            mine = found.where(data=data, learner=learner, policy=policy)["accuracy"]
            told.append(f"{100 * mine.mean():.2f} ({100 * (mine - _random(found, data, learner)).mean():+.2f})")
        rows.append([f"`{learner}`, `{policy}`", show_mean(_mean(found, learner, policy), 2, 100), *told])
    most = int(found["most"][0])
    caption = f"{100 * _BUDGET:.0f} % of the labels, at most {most:,} rows."
    claims = [_ahead(found, policy) for policy in _POLICIES if policy != "Random"]
    return Told([Sheet(["", "mean", *sets], rows, caption)], claims, _NOTE)


def _random(found: Found, data: str, learner: str) -> Any:
    return found.where(data=data, learner=learner, policy="Random")["accuracy"]


def _mean(found: Found, learner: str, policy: str) -> tuple[float, float]:
    """Return the mean over sets and its standard error over runs."""
    part = found.where(learner=learner, policy=policy)
    return Found({"mean": np.array([one["accuracy"].mean() for _, one in part.groups("run")])}).mean("mean")


def _ahead(found: Found, policy: str) -> Claim:
    """Return whether a policy is better than Random with the evergreen tree."""
    sets = found.unique("data")
    over = [
        (found.where(data=data, learner=EVERGREEN, policy=policy)["accuracy"] - _random(found, data, EVERGREEN)).mean()
        for data in sets
    ]
    mean, error = 100 * np.mean(over), 100 * np.std(over, ddof=1) / np.sqrt(len(over))
    holds = bool(mean > 0) if abs(mean) > 2 * error else None
    seen = f"{mean:+.2f} ({error:.2f} over sets) points; ahead on {sum(one > 0 for one in over)} of {len(sets)} sets."
    return Claim(f"`{policy}` is better than `Random` for `{EVERGREEN}`.", holds, seen)


ASKED = Runs("benchmarks.evergreen", "asked", cells, measure)
