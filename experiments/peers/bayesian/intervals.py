"""How often an interval of the class probability holds the true one, and how much of the doubt counts as noise.

All are Beta distributions with the forest's mean and a variance that is one of these, over T trees: that of the
probability in one tree drawn at random, between the trees and within each (its routing and Dirichlets); that over T, as
if the trees were independent draws; or ours, between the trees plus the mean variance within one over min(T, 4).
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from scipy.special import entr

import quercus as qc
from experiments.harness.data import Floats
from experiments.harness.exhibits import Cell, Claim, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results, mean_of
from experiments.harness.verdicts import all_hold, is_above, show_signed
from experiments.peers.bayesian.known import STREAMS
from quercus.learners.bayesian.posterior import leaf_moments, match_intervals
from quercus.rows import Rows

ONE, INDEPENDENT, OURS = "one tree at random", "mean of independent trees", "ours"
READINGS = (ONE, INDEPENDENT, OURS)
_DELTA = 0.05
_LEARNED: dict[Scale, tuple[int, ...]] = {"quick": (100, 1_000), "full": (100, 1_000, 10_000)}
# Runs by number of trees.
_RUNS: dict[Scale, dict[int, int]] = {"quick": {8: 2, 1: 2}, "full": {8: 10, 1: 5}}
_TESTED = 1_000
# Streams whose noise is told.
_SHOWN = ("logistic, 10 features, noisy", "two Gaussians, 50 features")


def cells(scale: Scale) -> list[Cell]:
    """Return streams, rows learned, numbers of trees and runs."""
    return [
        {"data": data, "learned": learned, "trees": trees, "run": run}
        for trees, runs in _RUNS[scale].items()
        for data, learned, run in product(STREAMS, _LEARNED[scale], range(runs))
    ]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line for each reading: share of the true probabilities inside, and mean width; the noise beside it."""
    learned = int(cell["learned"])
    X, y, p = STREAMS[str(cell["data"])](learned + _TESTED, np.random.default_rng(seed))
    forest = qc.BayesianForest(trees=int(cell["trees"]), seed=seed % 2**31)
    forest.partial_fit(X[:learned], y[:learned], classes=[0, 1])
    new, truth = X[learned:], p[learned:]
    noise = {
        "entropy": float((entr(truth) + entr(1 - truth)).mean()),
        "aleatoric": float(forest.uncertainty(new).aleatoric.mean()),
    }
    return [
        {
            "reading": reading,
            "inside": float(((low <= truth) & (truth <= high)).mean()),
            "width": float((high - low).mean()),
            **noise,
        }
        for reading, (low, high) in _intervals(forest, new).items()
    ]


def _intervals(forest: Any, X: Floats) -> dict[str, tuple[Floats, Floats]]:
    """Return both ends by reading, of the probability of class 1."""
    low, high = forest.interval(X, _DELTA)
    known, place = forest._state.classes, forest._order[1]
    table, rows = leaf_moments(forest._state.known), Rows(forest._read(X))
    parts = forest.engine.sum_leaves(forest._state, forest, rows, table, False)
    sums = np.concatenate([part for _, _, part in parts], axis=1)
    means, squares = sums[:, :, place], sums[:, :, known + place]
    one = means.var(axis=0) + (squares - means**2).mean(axis=0)
    return {
        ONE: _matched(means.mean(axis=0), one),
        INDEPENDENT: _matched(means.mean(axis=0), one / len(means)),
        OURS: (low[:, 1], high[:, 1]),
    }


def _matched(mean: Floats, variance: Floats) -> tuple[Floats, Floats]:
    """Return both ends of the interval of Beta variables with these moments."""
    ends = np.zeros((2, len(mean), 1))
    match_intervals(mean[:, None].copy(), np.maximum(variance, 0.0)[:, None], _DELTA / 2, ends[0], ends[1])
    return ends[0, :, 0], ends[1, :, 0]


def summarize(found: Results) -> Report:
    """Return coverage and width by rows learned, and by stream for ours."""
    eight = found.where(trees=8)
    rows = []
    for (trees, learned), part in found.groups("trees", "learned"):
        readings = READINGS if trees > 1 else (OURS,)
        result = [_show(part.where(reading=reading)) if reading in readings else "" for reading in READINGS]
        rows.append([f"{trees}", f"{learned:,}", *result])
    caption = (
        f"Share of true class probabilities inside the nominal {1 - _DELTA:.0%}, and mean width: {len(STREAMS)} "
        f"streams, {len(eight.unique('run'))} runs, {_TESTED:,} test rows."
    )
    ours = eight.where(reading=OURS)
    learned = ours.unique("learned")
    by_stream = [[data, *(_show(part.where(learned=n)) for n in learned)] for (data,), part in ours.groups("data")]
    return Report(
        [
            PageTable(["trees", "rows", *READINGS], rows, caption),
            PageTable(["stream", *(f"{n:,} rows" for n in learned)], by_stream, "Ours with 8 trees, stream by stream."),
        ],
        [_nearest(eight)],
    )


def _show(part: Results) -> str:
    return f"{part['inside'].mean():.1%}, {part['width'].mean():.2f}"


def _nearest(found: Results) -> Claim:
    result, signs = [], []
    for (learned,), part in found.groups("learned"):
        off = {reading: abs(_by_run(part, reading, "inside") - (1 - _DELTA)) for reading in READINGS}
        nearer = mean_of(100 * (off[INDEPENDENT] - off[OURS]))
        narrower = mean_of(_by_run(part, ONE, "width") - _by_run(part, OURS, "width"))
        result.append(f"{learned:,} rows {show_signed(nearer, 1)} points and {show_signed(narrower, 2)}")
        signs += [is_above(nearer), is_above(narrower)]
    return Claim(
        f"Ours is nearer to {1 - _DELTA:.0%} than that of independent trees, and narrower than that of one tree.",
        all_hold(signs),
        f"by so much: {'; '.join(result)}.",
    )


def _by_run(found: Results, reading: str, column: str) -> Floats:
    """Return the mean of a column over streams, run by run."""
    return np.array([part[column].mean() for _, part in found.where(reading=reading).groups("run")])


def summarize_noise(found: Results) -> Report:
    """Return the aleatoric part beside the true entropy."""
    lines = found.where(trees=8, reading=OURS)
    learned = lines.unique("learned")
    rows = []
    for data in _SHOWN:
        part = lines.where(data=data)
        result = [f"{part.where(learned=n)['aleatoric'].mean():.3f}" for n in learned]
        rows.append([data, f"{part['entropy'].mean():.3f}", *result])
    caption = "Mean entropy of the true probabilities in nats, and the aleatoric part that 8 trees tell."
    return Report([PageTable(["stream", "true", *(f"after {n:,} rows" for n in learned)], rows, caption)])


INTERVALS = Runs("peers.bayesian", "intervals", cells, measure)
