"""Labels that follow from nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import quercus as qc
from experiments.harness.exhibits import Cell, Claim, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results
from experiments.peers.evergreen.contenders import EVERGREEN, evergreen
from experiments.peers.evergreen.frozen import HOEFFDING
from quercus.evaluation.facts import leaves_of

_ROWS: dict[Scale, int] = {"quick": 10_000, "full": 100_000}
_SHAPES = ((5, 2), (30, 2), (10, 5))
_LEARNERS: dict[str, Callable[[], Any]] = {EVERGREEN: evergreen, HOEFFDING: qc.HoeffdingTree}
_RUNS = 3


def cells(scale: Scale) -> list[Cell]:
    """Return who learns how many features and classes."""
    return [
        {"data": f"{features} features, {classes} classes", "features": features, "classes": classes,
         "learner": line, "most": _ROWS[scale], "run": run}
        for features, classes in _SHAPES for line in _LEARNERS for run in range(_RUNS)
    ]  # fmt: skip


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line: accuracy and leaves."""
    noise = qc.streams.Noise(features=int(cell["features"]), classes=int(cell["classes"]), seed=seed % 2**31)
    X, y = noise.take(int(cell["most"]))
    model = _LEARNERS[str(cell["learner"])]()
    outcome = model.test_then_learn(X, y)
    return [{"accuracy": float(np.mean(outcome.answers == outcome.truth)), "leaves": leaves_of(model) or 0}]


def summarize(found: Results) -> Report:
    """Return accuracy and leaves by shape."""
    rows = []
    for (data, classes), part in found.groups("data", "classes"):
        result = [data, f"{1 / classes:.3f}"]
        for line in _LEARNERS:
            one = part.where(learner=line)
            result += [f"{one.mean('accuracy')[0]:.3f}", f"{one['leaves'].max():,}"]
        rows.append(result)
    heads = ["", "chance", *(name for line in _LEARNERS for name in (f"`{line}`", "most leaves"))]
    ours = found.where(learner=EVERGREEN)
    far = float(np.abs(ours["accuracy"] - 1 / ours["classes"]).max())
    claims = [
        Claim(
            "Accuracy is that of chance.", far < 0.01, f"at most {100 * far:.2f} points from it in {len(ours)} runs."
        ),
        Claim("The tree stays a leaf.", bool((ours["leaves"] == 1).all()), f"at most {ours['leaves'].max()} leaves."),
    ]
    return Report([PageTable(heads, rows, f"{found['most'][0]:,} rows, {_RUNS} runs.")], claims)


CHANCE = Runs("peers.evergreen", "chance", cells, measure)
