"""Trees at their defaults on a long stream: rows per second, error and leaves."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import quercus as qc
from experiments.harness.exhibits import Cell, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results, show_mean
from experiments.peers.credible import streams

_TREES: dict[str, Callable[[], Any]] = {
    "`CredibleTree()`, adaptive leaves": qc.CredibleTree,
    "`CredibleTree()`": lambda: qc.CredibleTree(leaf="majority"),
    '`CredibleTree(correction="cuts")`': lambda: qc.CredibleTree(leaf="majority", correction="cuts"),
    "`ConfidenceTree()`": lambda: qc.ConfidenceTree(leaf="majority"),
    "`HoeffdingTree()`": lambda: qc.HoeffdingTree(leaf="majority"),
}
_ROWS: dict[Scale, int] = {"quick": 20_000, "full": 200_000}
_RUNS: dict[Scale, int] = {"quick": 2, "full": 5}
# The first one loads compiled code and fills the table of bounds.
_PASSES = 3


def cells(scale: Scale) -> list[Cell]:
    """Return trees and runs."""
    return [
        {"data": streams.PLANE, "tree": tree, "rows": _ROWS[scale], "run": run}
        for run in range(_RUNS[scale])
        for tree in _TREES
    ]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line: seconds of CPU time of the fastest pass, and what it came to."""
    rows = int(cell["rows"])
    X, y = streams.take(streams.PLANE, rows, seed)
    seconds = []
    for _ in range(_PASSES):
        tree = _TREES[str(cell["tree"])]()
        tree.partial_fit(X[:1], y[:1], classes=[0, 1])
        started = time.process_time()
        outcome = tree.test_then_learn(X[1:], y[1:])
        seconds.append(time.process_time() - started)
    return [
        {
            "seconds": min(seconds),
            "error": float(np.mean(outcome.answers != outcome.truth)),
            "leaves": int(tree.n_leaves_),
            "least": streams.plane_risk(rows, seed),
        }
    ]


def summarize(found: Results) -> Report:
    """Return rate, error and leaves by tree."""
    rows = []
    for (tree,), part in found.groups("tree"):
        rate = float((part["rows"] / part["seconds"]).mean())
        rows.append([tree, f"{rate / 1e6:.2f}", show_mean(part.mean("error"), 4), f"{part['leaves'].mean():.0f}"])
    caption = (
        f"A noisy plane of {int(found['rows'][0]):,} x 10, each row answered and then learned, majority leaves unless "
        f"said otherwise, {len(found.unique('run'))} runs; the least error that there can be is "
        f"{found.mean('least')[0]:.4f}. CPU time of one core, the table of bounds warm."
    )
    return Report([PageTable(["", "million rows/s", "error", "leaves"], rows, caption)])


RATES = Runs("peers.credible", "rates", cells, measure)
