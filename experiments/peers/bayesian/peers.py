"""Microseconds per row of usps, answered and then learned, beside river's forests."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from experiments.harness.data import TrainTest
from experiments.harness.exhibits import Cell, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results
from experiments.papers.bayesian.splits import load_split
from experiments.peers.bayesian.speed import BEFORE, make_forest

BATCHES, SINGLE, AMF, ARF = (
    "`BayesianForest`, 8 trees, 100 rows at a time", "`BayesianForest`, 8 trees, one row at a time",
    "river AMF, 10 trees", "river ARF, 10 trees",
)  # fmt: skip
_BATCH = 100
_ROWS: dict[Scale, int] = {"quick": 100, "full": 300}
_PASSES: dict[Scale, int] = {"quick": 1, "full": 3}


def cells(scale: Scale) -> list[Cell]:
    """Return who is timed."""
    return [
        {"data": "usps", "learner": learner, "rows": _ROWS[scale], "passes": _PASSES[scale]}
        for learner in (BATCHES, SINGLE, AMF, ARF)
    ]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line: seconds of CPU time of the quickest pass."""
    split, rows, learner = load_split("usps", seed), int(cell["rows"]), str(cell["learner"])
    passes = [_go(learner, split, rows, seed % 2**31) for _ in range(int(cell["passes"]))]
    answering, learning = min(passes, key=sum)
    return [{"answering": answering, "learning": learning, "slowest": max(map(sum, passes))}]


def _go(learner: str, split: TrainTest, rows: int, seed: int) -> tuple[float, float]:
    X, y = split.X[BEFORE : BEFORE + rows], split.y[BEFORE : BEFORE + rows]
    if learner == BATCHES:
        forest = make_forest(split, 1)
        forest.predict(split.X[:BEFORE])
        parts = [(X[start : start + _BATCH], y[start : start + _BATCH]) for start in range(0, rows, _BATCH)]
        return _time(forest.predict, forest.partial_fit, parts)
    model: Any = make_forest(split, 1) if learner == SINGLE else _river(learner, split, seed)
    names = model.schema_.names if learner == SINGLE else range(X.shape[1])
    examples = [dict(zip(names, row, strict=True)) for row in X.tolist()]
    return _time(model.predict_one, model.learn_one, list(zip(examples, y.tolist(), strict=True)))


def _time(answer: Callable[..., Any], learn: Callable[..., Any], parts: list[tuple[Any, Any]]) -> tuple[float, float]:
    """Return the seconds of all answers, and of all that was learned."""
    answering = learning = 0.0
    for X, y in parts:
        started = time.process_time()
        answer(X)
        middle = time.process_time()
        learn(X, y)
        answering += middle - started
        learning += time.process_time() - middle
    return answering, learning


def _river(learner: str, split: TrainTest, seed: int) -> Any:
    """Return a forest of river that has seen the first rows."""
    from river.forest import AMFClassifier, ARFClassifier

    model: Any = AMFClassifier(n_estimators=10, seed=seed) if learner == AMF else ARFClassifier(n_models=10, seed=seed)
    for row, label in zip(split.X[:BEFORE].tolist(), split.y[:BEFORE].tolist(), strict=True):
        model.learn_one(dict(enumerate(row)), label)
    return model


def summarize(found: Results) -> Report:
    """Return microseconds per row."""
    rows = []
    for (learner,), part in found.groups("learner"):
        answering, learning, slowest, count = (
            float(part[name][0]) for name in ("answering", "learning", "slowest", "rows")
        )
        both = answering + learning
        result = [f"{seconds / count * 1e6:,.0f}" for seconds in (answering, learning, both)]
        rows.append([learner, *result, f"+{slowest / both - 1:.0%}"])
    caption = (
        f"usps, rows {BEFORE} to {BEFORE + int(found['rows'][0])}: microseconds of CPU time per row; passes: "
        f"{int(found['passes'][0])}, of which the fastest."
    )
    return Report([PageTable(["", "answer", "learn", "both", "slowest pass"], rows, caption)])


PEERS = Runs("peers.bayesian", "peers", cells, measure)
