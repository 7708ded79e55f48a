"""How fast a stream is taken when labels are asked for, beside the loop of scikit-activeml."""

from __future__ import annotations

import importlib.util
import math
import tempfile
import time
import warnings
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import quercus as qc
from experiments.harness.exhibits import Cell, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results
from experiments.peers.speed.turns import ROUNDS, take_turns
from experiments.peers.stream_files import Result, StreamFiles

_ROWS: dict[Scale, tuple[int, int]] = {"quick": (50_000, 500), "full": (500_000, 5_000)}
_BUDGET = 0.1
_OURS, _PEER = "quercus ConfidenceTree", "scikit-activeml VariableUncertainty"
_LINES = [
    *(f"{_OURS}, {policy}" for policy in ("Uncertain", "VariableUncertainty", "Random")),
    *(f"{_PEER}, {learner}" for learner in ("GaussianNB", "ConfidenceTree")),
]
_NAMES = ("rate", "rows", "share", "accuracy", "slowest")
_NOTE = (
    "Every contender answers each row of a random tree of 5 features, decides about it at a budget of "
    f"{_BUDGET}, and learns what it asked for. CPU seconds, best of {ROUNDS} passes, each in its own process; "
    "`slowest` is how much longer the worst took. Ours: all of evaluate, from the array to the finished run, with a "
    "ledger in memory, compiled code loaded before. scikit-activeml: predict, query and update for each row, "
    "partial_fit only for those that were queried. Labels and accuracy are over the rows of each line: those of ours "
    "and of scikit-activeml do not compare. What a run costs once is spread over more rows in ours; scikit-activeml "
    "was not measured beyond its own. Its budget is an estimate over about 100 rows, ours a share of the whole stream. "
    "ConfidenceTree in scikit-activeml is ours, wrapped; GaussianNB is scikit-learn's."
)


def cells(scale: Scale) -> list[Cell]:
    """Return who takes how many rows."""
    ours, peer = _ROWS[scale]
    return [{"learner": line, "most": ours if line.startswith(_OURS) else peer, "longest": ours} for line in _LINES]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line; all contenders are measured at the first of their cells."""
    return [_side_by_side(int(cell["longest"]))[str(cell["learner"])]]


@cache
def _side_by_side(longest: int) -> dict[str, Row]:
    (scale,) = (scale for scale, (ours, _) in _ROWS.items() if ours == longest)
    with tempfile.TemporaryDirectory() as folder:
        X, y = qc.streams.RandomTree(features=5, seed=0).take(longest)
        stream = StreamFiles.write(Path(folder) / "rows", "rows", X, y)
        lengths = {str(cell["learner"]): int(cell["most"]) for cell in cells(scale)}
        found = take_turns({line: partial(_run, line, stream, most) for line, most in lengths.items()})
    return {line: _line(done) for line, done in found.items()}


def _line(done: list[Result] | str) -> Row:
    if isinstance(done, str):
        return {**dict.fromkeys(_NAMES, math.nan), "problem": done}
    best = min(done, key=lambda turn: float(turn["seconds"]))
    slowest = max(turn["seconds"] for turn in done) / best["seconds"] - 1
    values = (best["rows"] / best["seconds"], best["rows"], best["asked"] / best["rows"], best["accuracy"], slowest)
    return {**dict(zip(_NAMES, map(float, values), strict=True)), "problem": ""}


def _run(line: str, stream: StreamFiles, rows: int) -> Result:
    """Measure one contender on the first rows of a stream, in this process."""
    X, y = stream.load()
    side, _, what = line.partition(", ")
    if side == _OURS:
        return _run_ours(X[:rows], y[:rows], what)
    if importlib.util.find_spec("skactiveml") is None:
        raise RuntimeError("scikit-activeml is not installed.")
    return _run_peer(X[:rows], y[:rows], what)


def _run_ours(X: Any, y: Any, policy: str) -> Result:
    def run(rows: int) -> Any:
        asking = getattr(qc.ask, policy)(_BUDGET)
        return qc.evaluate((X[:rows], y[:rows]), qc.ConfidenceTree(), ask=asking, progress=False)

    run(1000)
    start = time.process_time()
    done = run(len(y))
    seconds = time.process_time() - start
    return {"seconds": seconds, "rows": done.rows, "asked": done.asked, "accuracy": done.accuracy}


def _make_classifier(learner: str, classes: list[int]) -> Any:
    if learner == "GaussianNB":
        from skactiveml.classifier import SklearnClassifier
        from sklearn.naive_bayes import GaussianNB

        return SklearnClassifier(GaussianNB(), classes=classes)
    from quercus import ConfidenceTree
    from quercus.adapters.skactiveml import ActivemlClassifier

    return ActivemlClassifier(ConfidenceTree(), classes=classes)


def _run_peer(X: Any, y: Any, learner: str) -> Result:
    from skactiveml.stream import VariableUncertainty

    def run(rows: int) -> tuple[int, int]:
        strategy = VariableUncertainty(budget=_BUDGET, random_state=0)
        model = _make_classifier(learner, classes).fit(X[:0], y[:0])
        asked = correct = 0
        for i in range(rows):
            row = X[i : i + 1]
            correct += int(model.predict(row)[0] == y[i])
            chosen = strategy.query(candidates=row, clf=model)
            strategy.update(candidates=row, queried_indices=chosen)
            if len(chosen):
                model.partial_fit(row, y[i : i + 1])
                asked += 1
        return asked, correct

    classes = np.unique(y).tolist()
    warnings.simplefilter("ignore")
    run(50)
    start = time.process_time()
    asked, correct = run(len(y))
    seconds = time.process_time() - start
    return {"seconds": seconds, "rows": len(y), "asked": asked, "accuracy": correct / len(y)}


def summarize(found: Results) -> Report:
    """Return a line for each contender; the ratio sets the first against it."""
    first = found.where(learner=_LINES[0])["rate"][0]
    rows = [
        [
            line,
            f"{part['rate'][0]:,.0f}",
            f"{first / part['rate'][0]:,.2f} x",
            f"{part['rows'][0]:,.0f}",
            *(f"{part[name][0]:.2%}" for name in ("share", "accuracy")),
            f"{part['slowest'][0]:+.0%}",
            str(part["problem"][0]),
        ]
        for (line,), part in found.groups("learner")
    ]
    columns = ["", "rows/s", "our speed / its", "rows", "labels", "accuracy", "slowest", "problem"]
    return Report([PageTable(columns, rows)], note=_NOTE)


ASKING = Runs("peers.speed", "asking", cells, measure)
