"""Rows learned a second on usps, by threads, blocks and skipping, and what memory alone would allow."""

from __future__ import annotations

import time
from itertools import product

import numpy as np

import quercus as qc
from experiments.harness.data import TrainTest
from experiments.harness.exhibits import Cell, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results
from experiments.papers.bayesian.splits import load_split

DEPTH = 5
# Rows that every learner has seen before its time is taken: trees of river grow, and slow down, with the rows.
BEFORE = 300
_ROWS: dict[Scale, int] = {"quick": 100, "full": 1_500}
_PASSES: dict[Scale, int] = {"quick": 1, "full": 3}


def cells(scale: Scale) -> list[Cell]:
    """Return settings of the forest."""
    return [
        {"data": "usps", "skip": skip, "block": block, "threads": threads, "rows": _ROWS[scale],
         "passes": _PASSES[scale]}
        for skip, block, threads in product((1e-4, 0.0), (8, 1), (1, 2))
    ]  # fmt: skip


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line: seconds of the quickest pass, of CPU time with one thread, and bytes that memory can move."""
    split, rows, threads = load_split("usps", seed), int(cell["rows"]), int(cell["threads"])
    clock = time.process_time if threads == 1 else time.perf_counter
    seconds = []
    for _ in range(int(cell["passes"])):
        forest = make_forest(split, threads, block=int(cell["block"]), skip=float(cell["skip"]))
        started = clock()
        forest.partial_fit(split.X[BEFORE : BEFORE + rows], split.y[BEFORE : BEFORE + rows])
        seconds.append(clock() - started)
    return [{"seconds": min(seconds), "bytes": int(forest._state.sigma.nbytes), "moved": _measure_memory()}]


def make_forest(split: TrainTest, threads: int, block: int | None = None, skip: float = 1e-4) -> qc.BayesianForest:
    """Return a forest that has seen the first rows."""
    made = qc.BayesianForest(depth=DEPTH, threads=threads, max_bytes=2**31, block=block, skip=skip)
    return made.partial_fit(split.X[:BEFORE], split.y[:BEFORE], classes=np.unique(split.y))


def _measure_memory() -> float:
    """Return the bytes a second that one thread reads and writes."""
    block = np.ones(2**25, np.float32)
    taken = []
    for _ in range(6):
        started = time.process_time()
        block += 1.0
        taken.append(time.process_time() - started)
    return 2 * block.nbytes / min(taken)


def summarize(found: Results) -> Report:
    """Return rates, and the rate of one thread beside what memory allows."""
    rows = []
    for (skip, block), part in found.groups("skip", "block"):
        rates = [float((one["rows"] / one["seconds"])[0]) for one in (part.where(threads=n) for n in (1, 2))]
        alone = part.where(threads=1)
        # Without blocks every change of a covariance reads it twice and writes it once.
        most = float(alone["moved"][0] / (3 * alone["bytes"][0]))
        of_most = f"{rates[0] / most:.2f}" if skip == 0 else ""
        rows.append([f"{skip:g}", f"{block}", *(f"{rate:,.0f}" for rate in rates), of_most])
    caption = (
        f"usps, 8 trees of depth {DEPTH}, float32: rows learned a second, of CPU time with one thread, by the clock "
        f"with two, passes: {int(found['passes'][0])}, of which the best. Memory is moved at "
        f"{found['moved'].max() / 1e9:.0f} GB/s by one thread; the last column is the rate over what that allows if no "
        "node is skipped and every change reads a covariance twice and writes it once."
    )
    heads = ["`skip`", "`block`", "1 thread", "2 threads", "of what memory allows without blocks"]
    return Report([PageTable(heads, rows, caption)])


SPEED = Runs("peers.bayesian", "speed", cells, measure)
