"""Which policy of asking goes best with the evergreen tree."""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

import quercus as qc
from experiments.harness.exhibits import Cell, Claim, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results, show_mean
from experiments.peers.evergreen.contenders import EVERGREEN, evergreen
from experiments.peers.evergreen.frozen import HOEFFDING
from experiments.peers.labels.going import SETS, PolicyStream, go, load
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
def _load(name: str, seed: int, most: int) -> PolicyStream:
    data = load(name, seed)
    few = np.arange(min(most, len(data.y)))
    return PolicyStream(pick(data.X, few), data.y[few], data.names, data.nominal)


def summarize(found: Results) -> Report:
    """Return accuracies by learner and policy."""
    sets = found.unique("data")
    rows = []
    for learner, policy in product(_LEARNERS, _POLICIES):
        result = []
        for data in sets:
            mine = found.where(data=data, learner=learner, policy=policy)["accuracy"]
            result.append(f"{100 * mine.mean():.2f} ({100 * (mine - _random(found, data, learner)).mean():+.2f})")
        rows.append([f"`{learner}`, `{policy}`", show_mean(_mean(found, learner, policy), 2, 100), *result])
    most = int(found["most"][0])
    caption = f"{100 * _BUDGET:.0f} % of the labels, at most {most:,} rows."
    claims = [_ahead(found, policy) for policy in _POLICIES if policy != "Random"]
    return Report([PageTable(["", "mean", *sets], rows, caption)], claims, _NOTE)


def _random(found: Results, data: str, learner: str) -> Any:
    return found.where(data=data, learner=learner, policy="Random")["accuracy"]


def _mean(found: Results, learner: str, policy: str) -> tuple[float, float]:
    """Return the mean over sets and its standard error over runs."""
    part = found.where(learner=learner, policy=policy)
    return Results({"mean": np.array([one["accuracy"].mean() for _, one in part.groups("run")])}).mean("mean")


def _ahead(found: Results, policy: str) -> Claim:
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


ASKED = Runs("peers.evergreen", "asked", cells, measure)
