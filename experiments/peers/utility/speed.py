"""Examples a second by form and set, how that goes down with features and classes, and memory."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import quercus as qc
from experiments.harness.data import TrainTest
from experiments.harness.exhibits import Cell, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results
from experiments.peers.utility.rows import load

_SETS = ("led7", "fico_binary", "breast_cancer", "fetal_health")
# Features and classes of sets that are drawn.
_SHAPES = {f"{features} features, {classes} classes": (features, classes)
           for features, classes in ((8, 2), (64, 2), (256, 2), (16, 2), (16, 8), (16, 26))}  # fmt: skip
_WIDEST = max(_SHAPES, key=_SHAPES.__getitem__)
_FORMS: dict[str, dict[str, Any]] = {
    "`UtilityTree()`": {},
    "by confidence and gain": {"worth": None, "confidence": 0.95, "gain": 0.005},
    "EC²": {"objective": "ec2"},
    "`select=16`": {"select": 16},
    "EC², `select=16`": {"objective": "ec2", "select": 16},
}
# Rows of one call, so many that what a call itself costs does not count; how long calls are repeated.
_CALLS: dict[Scale, tuple[int, float]] = {"quick": (200, 0.05), "full": (1_000, 1.0)}


def cells(scale: Scale) -> list[Cell]:
    """Return the forms by set; a selection where there is much to select from."""
    rows, seconds = _CALLS[scale]
    return [
        {"data": data, "form": form, "rows": rows, "seconds": seconds, "run": 0}
        for data in (*_SETS, *_SHAPES)
        for form, given in _FORMS.items()
        if "select" not in given or data == _WIDEST
    ]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return examples a second of CPU time, by the quickest call."""
    data, rows, seconds = str(cell["data"]), int(cell["rows"]), float(cell["seconds"])
    split = _draw(*_SHAPES[data]) if data in _SHAPES else load(data, seed)
    model = qc.UtilityTree(nominal=split.nominal, seed=seed, **_FORMS[str(cell["form"])])
    model.partial_fit(split.X[:200], split.y[:200])
    again = -(-rows // len(split.y))
    X, y = np.tile(split.X, (again, 1))[:rows], np.tile(split.y, again)[:rows]
    rates = [rows / _quickest(act, seconds) for act in (lambda: model.buy_and_learn(X, y), lambda: model.purchases(X))]
    return [{"learning": rates[0], "answering": rates[1], "features": X.shape[1], "bytes": model.nbytes}]


def _quickest(act: Any, seconds: float) -> float:
    act()
    times: list[float] = []
    while sum(times) < seconds:
        started = time.process_time()
        act()
        times.append(time.process_time() - started)
    return min(times)


def _draw(features: int, classes: int) -> TrainTest:
    random = np.random.default_rng(features * 100 + classes)
    y = random.integers(0, classes, 1_000)
    X = random.normal(0.0, 0.7, (classes, features))[y] + random.normal(size=(len(y), features))
    return TrainTest(X, y, X, y, [])


def summarize(found: Results) -> Report:
    """Return rates by set and form, and bytes."""
    rows = []
    for (data,), part in found.groups("data"):
        forms = [part.where(form=form) for form in _FORMS]
        result = ["" if not len(one) else f"{one['learning'][0]:,.0f} / {one['answering'][0]:,.0f}" for one in forms]
        ours = forms[0]
        rows.append([data, *result, f"{ours['bytes'][0] / ours['features'][0]:,.0f}"])
    caption = (
        f"Examples a second of CPU time, learning / answering, one thread, calls of {int(found['rows'][0]):,} rows, "
        "the quickest; numeric features of drawn sets have 8 bins."
    )
    return Report([PageTable(["", *_FORMS, "bytes per feature"], rows, caption)])


SPEED = Runs("peers.utility", "speed", cells, measure)
