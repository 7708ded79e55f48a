"""How often an interval of the class probability holds the true one, for several readings of the posterior.

All are Beta distributions with the forest's mean and a variance that is one of these, over T trees:

A  of the probability in one tree drawn at random: between the trees, and within each (its routing and Dirichlets).
B  of the mean of the trees, as a mixture with fixed weights: the sum of the variances within each, over T^2.
C  the same with the routing taken as given: only the Dirichlets vary.
D  A over T: of the mean of T independent draws from A; the trees count as a sample of those there could be.
E  between the trees, plus the mean variance within one over min(T, 4): the trees learned from the same rows, so that
   more of them do not make the answer surer without end. Form and 4 were chosen on other runs of the same streams.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np

import quercus as qc
from benchmarks.bayesian.known import STREAMS, Known, Numbers
from benchmarks.tables import show
from quercus.bayes.intervals import match_intervals

READINGS = ("A", "B", "C", "D", "E")
_INDEPENDENT = 4
_LEARNED = (100, 1_000, 10_000)
_TESTED = 1_000
_DELTA = 0.05


def leaf_shares(forest: Any, X: Numbers) -> Numbers:
    """Return the probability with which each row comes to each leaf, by tree, row and leaf of the tree."""
    trees = forest._forest.trees
    leaves = 2 ** trees["depth"]
    table = np.zeros((int(leaves.sum()), int(leaves.max())))
    for first, count in zip(trees["leaf"], leaves, strict=True):
        table[first : first + count, :count] = np.eye(count)
    return np.concatenate([sums for _, sums in forest._sum_leaves(X, table, table.shape[1])], axis=1)


def variances(forest: Any, X: Numbers, column: int) -> tuple[Numbers, dict[str, Numbers]]:
    """Return the mean of a class probability for each row, and its variance by reading.

    Parameters
    ----------
    forest
        A forest that has learned.
    X
        Rows.
    column
        The class, by arrival.
    """
    shares = leaf_shares(forest, X)
    trees = forest._forest.trees
    alpha = forest._forest.alpha[:, : forest._forest.classes]
    total = alpha.sum(axis=1)
    mean = alpha[:, column] / total
    spread = mean * (1 - mean) / (total + 1)
    by_tree, within, given = (np.empty(shares.shape[:2]) for _ in range(3))
    for t, (first, depth) in enumerate(zip(trees["leaf"], trees["depth"], strict=True)):
        part, rho = slice(first, first + 2**depth), shares[t, :, : 2**depth]
        by_tree[t] = rho @ mean[part]
        given[t] = rho**2 @ spread[part]
        within[t] = rho @ (spread[part] + mean[part] ** 2) - by_tree[t] ** 2
    count = len(trees)
    between, inner = by_tree.var(axis=0), within.mean(axis=0)
    found = {
        "A": between + inner,
        "B": inner / count,
        "C": given.mean(axis=0) / count,
        "D": (between + inner) / count,
        "E": between + inner / min(count, _INDEPENDENT),
    }
    return by_tree.mean(axis=0), {reading: np.maximum(variance, 0.0) for reading, variance in found.items()}


def interval(mean: Numbers, variance: Numbers, delta: float) -> tuple[Numbers, Numbers]:
    """Return both ends of the interval of a Beta variable with these moments."""
    ends = np.zeros((2, len(mean), 1))
    match_intervals(mean[:, None].copy(), variance[:, None].copy(), delta / 2, ends[0], ends[1])
    return ends[0][:, 0], ends[1][:, 0]


def _measure(job: tuple[str, int, int, int]) -> list[float]:
    """Return, of one run, the mean distance from the truth, then coverage, width and score by reading."""
    name, learned, trees, run = job
    rng = np.random.default_rng([run, learned, len(name)])
    drawn = STREAMS[name](learned + _TESTED, rng)
    old = Known(drawn.X[:learned], drawn.y[:learned], drawn.p[:learned])
    new = Known(drawn.X[learned:], drawn.y[learned:], drawn.p[learned:])
    forest = qc.BayesianForest(trees=trees, seed=run).partial_fit(old.X, old.y, classes=[0, 1])
    mean, found = variances(forest, forest._read(new.X), int(np.flatnonzero(forest._order == 1)[0]))
    figures = [np.abs(mean - new.p).mean()]
    for variance in found.values():
        low, high = interval(mean, variance, _DELTA)
        missed = np.maximum(low - new.p, 0) + np.maximum(new.p - high, 0)
        figures += [(missed == 0).mean(), (high - low).mean(), (high - low + 2 / _DELTA * missed).mean()]
    return [float(figure) for figure in figures]


def intervals(sets: Sequence[str] | None, quick: bool) -> None:
    """Print coverage, width and score by stream, rows learned and reading, and their means by number of trees."""
    runs = 3 if quick else 10
    rows, means = [], []
    with ProcessPoolExecutor(2) as pool:
        for trees in (8, 1, 32):
            by_size = []
            for name, learned in itertools.product(STREAMS, _LEARNED):
                jobs = [(name, learned, trees, run) for run in range(300, 300 + (runs if trees == 8 else 3))]
                by_size.append(np.array(list(pool.map(_measure, jobs))).mean(axis=0))
                if trees == 8:
                    rows.append([f"{name}, {learned:,} rows", *_cells(by_size[-1])])
                    print(*rows[-1], flush=True)
            for i, learned in enumerate(_LEARNED):
                at = np.array(by_size[i :: len(_LEARNED)])
                means.append([f"{trees} trees, {learned:,} rows, mean of all streams", *_cells(at.mean(axis=0))])
                print(*means[-1], flush=True)
    heads = [f"{reading} {what}" for reading in READINGS for what in ("inside", "width", "score")]
    print(
        f"\n{runs} runs (1 and 32 trees: 3), {_TESTED:,} test rows: mean distance of p from the true probability; share"
    )
    print("of the true ones inside the nominal 95 % interval, its width, and width + 40 times what is missed")
    print(show(["", "distance", *heads], rows + means))


def _cells(figures: Numbers) -> list[str]:
    forms = ("{:.3f}", *("{:.1%}", "{:.3f}", "{:.2f}") * len(READINGS))
    return [form.format(value) for form, value in zip(forms, figures, strict=True)]
