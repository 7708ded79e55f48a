"""Examples a second, situations, and memory at its limit."""

from __future__ import annotations

import time

import numpy as np

import quercus as qc
from benchmarks.tables import show
from quercus.papers.reinforced.sets import load_rows, shuffle

_MILLION = 1_000_000
_LIMIT = 2**23


def speed(quick: bool) -> None:
    """Print both."""
    qc.ReinforcedTree().buy_and_learn(np.zeros((2, 2)), [0, 1])
    lines = []
    for name in ("mushroom", "nursery", "electricity"):
        rows = load_rows(name)
        mixed = rows if name == "electricity" else shuffle(rows, 0)
        for questions in (3, 6):
            for form, make in (("paper's form", qc.ReinforcedTree.paper), ("ReinforcedTree", qc.ReinforcedTree)):
                model = make(nominal=mixed.nominal, questions=questions)
                started = time.process_time()
                model.buy_and_learn(mixed.X, mixed.y)
                learning = len(mixed.y) / (time.process_time() - started)
                started = time.process_time()
                model.predict(mixed.X)
                answering = len(mixed.y) / (time.process_time() - started)
                cells = [f"{learning:,.0f}", f"{answering:,.0f}", f"{model.situations_:,}", f"{model.nbytes:,}"]
                lines.append([f"{name}, at most {questions}, {form}", *cells])
                print(*lines[-1], flush=True)
    print("\none pass, examples/s of CPU time")
    print(show(["", "learning", "answering", "situations", "bytes"], lines))
    _fill_up(_MILLION // 10 if quick else _MILLION)


def _fill_up(rows: int) -> None:
    """Print what memory does over many rows with many situations, under a small limit."""
    random = np.random.default_rng(0)
    model = qc.ReinforcedTree(questions=4, explore=0.2, max_bytes=_LIMIT, nominal=range(20))
    print(f"\n20 features of 8 values, at most 4 questions, {_LIMIT:,} bytes")
    for done in range(10):
        X = random.integers(0, 8, (rows // 10, 20)).astype(float)
        y = (X[:, 0] + X[:, 1] + random.integers(0, 3, len(X)) > 8).astype(int)
        started = time.process_time()
        right = (model.buy_and_learn(X, y).answers == y).mean()
        rate = len(X) / (time.process_time() - started)
        print(f"{(done + 1) * len(X):>9,} rows: {model.nbytes:,} bytes, {model.situations_:,} situations, "
              f"{rate:,.0f} examples/s, accuracy {right:.3f}", flush=True)  # fmt: skip
