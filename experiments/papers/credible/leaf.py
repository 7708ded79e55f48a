"""Figure 1: the intervals of a leaf and of its best tests, at the moment at which the tree splits it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.harness.exhibits import Cell, Claim, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results
from quercus import streams
from quercus.statistics import impurity_interval

DELTA = 0.05
# Rows of the pool, whose labels come one by one.
POOL = 400
_FIRST = 10
# What a test must be better by: ties of rounding are none.
_CLEAR = 1e-12


class BestTest(NamedTuple):
    """The best cut of an attribute: value, the entropy of its two sides as seen, per row, and its interval."""

    attribute: int
    cut: float
    seen: float
    low: float
    high: float


def best_tests(X: NDArray[np.float64], y: NDArray[np.int64], delta: float) -> list[BestTest]:
    """Return for each attribute the cut whose two sides have the lowest upper bound.

    Parameters
    ----------
    X
        The rows of a leaf, labelled ones first.
    y
        Labels, 0 and 1, of the first rows.
    delta
        Of the intervals.

    Examples
    --------
    >>> X = np.repeat([[0.0], [1.0]], 12, axis=0)
    >>> test = best_tests(X, np.repeat([0, 1], 12), delta=0.1)[0]
    >>> test.cut, round(test.high, 3)
    (0.5, 0.64)
    """
    found = []
    for attribute in range(X.shape[1]):
        tests = [BestTest(attribute, *result) for result in _cuts(X[:, attribute], y, delta)]
        if tests:
            found.append(min(tests, key=lambda test: test.high))
    return found


def _cuts(column: NDArray[np.float64], y: NDArray[np.int64], delta: float) -> Iterator[tuple[float, ...]]:
    order = np.argsort(column[: len(y)], kind="stable")
    values, ones = column[: len(y)][order], np.cumsum(y[order])
    pool = np.sort(column)
    for last in np.flatnonzero(values[1:] > values[:-1]).tolist():
        cut = (values[last] + values[last + 1]) / 2
        left = np.searchsorted(pool, cut, side="right") / len(column)
        sides = [
            (left, _interval(last + 1, int(ones[last]), delta)),
            (1 - left, _interval(len(y) - last - 1, int(ones[-1] - ones[last]), delta)),
        ]
        yield float(cut), *(float(sum(size * result[part] for size, result in sides)) for part in range(3))


@cache
def _interval(labels: int, ones: int, delta: float) -> tuple[float, float, float]:
    """Return the entropy in bits that was seen, and the interval of the true one."""
    shares = np.array([labels - ones, ones]) / labels
    seen = -sum(share * np.log2(share) for share in shares.tolist() if share > 0)
    return (float(seen), *impurity_interval([labels - ones, ones], delta))


def _cells(scale: Scale) -> list[Cell]:
    return [{"data": "hyperplane", "run": 0}]


def _measure(cell: Cell, seed: int) -> list[Row]:
    X, y = streams.Hyperplane(features=5, change=0.0, seed=seed).take(POOL)
    labels = np.asarray(y, np.int64)
    for count in range(_FIRST, POOL + 1):
        ones = int(labels[:count].sum())
        parent, tests = _interval(count, ones, DELTA), best_tests(X, labels[:count], DELTA)
        if min(test.high for test in tests) < parent[1] - _CLEAR:
            break
    seen, low, high = parent
    result = [("leaf", 0.0, seen, low, high), *((f"x{test.attribute + 1}", *test[1:]) for test in tests)]
    return [dict(zip(("test", "cut", "seen", "low", "high", "labels"), (*one, count), strict=True)) for one in result]


FIGURE_1 = Runs("papers.credible", "figure-1", _cells, _measure)


def summarize_leaf(found: Results) -> Report:
    """Return what the page says of the leaf."""
    leaf = found.where(test="leaf")
    low, high, labels = (leaf[name][0] for name in ("low", "high", "labels"))
    keys = ("test", "cut", "seen", "low", "high")
    rows = [
        [_name(name, cut), *(f"{value:.3f}" for value in values), "yes" if _is_installed(name, values[-1], low) else ""]
        for name, cut, *values in zip(*(found[key].tolist() for key in keys), strict=True)
    ]
    table = PageTable(
        ("", "seen", "lower end", "upper end", "installed"),
        rows,
        f"Entropy in bits after {labels} labels of a pool of {POOL}, delta {DELTA:g}: of the leaf ({low:.3f} to "
        f"{high:.3f}), and what is left of it after the best test of each attribute, weighed by the rows on its sides.",
    )
    note = (
        "The figure is an illustration without data in the paper. Here it is the root of a tree on a pool of the "
        "generator Hyperplane, after the first label with which a test is installed."
    )
    return Report([table], [_installs(found), _tighter(found)], note)


def _installs(found: Results) -> Claim:
    low, tests = float(found.where(test="leaf")["low"][0]), _tests(found)
    best = int(np.argmin(tests["high"]))
    installed = [
        name for name, high in zip(tests["test"], tests["high"], strict=True) if _is_installed(name, high, low)
    ]
    return Claim(
        "One of several tests would be installed: the upper end of what its two sides have left is below the lower "
        "end of the leaf.",
        len(installed) == 1,
        f"{len(installed)} of {len(tests)} tests: {', '.join(installed) or 'none'}; the best, {tests['test'][best]}, "
        f"ends at {tests['high'][best]:.3f}, the leaf begins at {low:.3f}.",
    )


def _tighter(found: Results) -> Claim:
    leaf, tests = found.where(test="leaf"), _tests(found)
    best = int(np.argmin(tests["high"]))
    labels, below = int(leaf["labels"][0]), float(leaf["seen"][0] - leaf["low"][0])
    above = float(tests["high"][best] - tests["seen"][best])
    reach = float(np.sqrt(np.log(1 / DELTA) / (2 * labels)))
    return Claim(
        "Credible intervals are much tighter than Hoeffding's bounds when labels are few.",
        below < reach / 2,
        f"after {labels} labels the lower end of the leaf is {below:.3f} below the entropy seen; Hoeffding's bound at "
        f"the same delta is {reach:.3f} below it, {reach / below:.1f} times as far (taken as much: twice). "
        f"Yet the tree with Hoeffding's bound asks of a test no more than that, while the credible "
        f"one asks for the upper ends of both sides too: {below + above:.3f} in all for the best test here. "
        f"At the same delta it waits {'longer' if below + above > reach else 'less'}.",
    )


def _is_installed(test: str, high: float, lower: float) -> bool:
    return test != "leaf" and high < lower - _CLEAR


def _tests(found: Results) -> Results:
    return found.where(test=[name for name in found.unique("test") if name != "leaf"])


def _name(test: str, cut: float) -> str:
    return test if test == "leaf" else f"{test} > {cut:.3f}"


def draw_leaf(found: Results, figure: Any) -> None:
    """Draw the intervals beside each other."""
    axes = figure.subplots()
    lower = float(found.where(test="leaf")["low"][0])
    names = [_name(name, cut) for name, cut in zip(found["test"].tolist(), found["cut"].tolist(), strict=True)]
    for place, (test, low, high) in enumerate(
        zip(*(found[key].tolist() for key in ("test", "low", "high")), strict=True)
    ):
        installed = _is_installed(test, high, lower)
        color = "#333333" if test == "leaf" else "#0072b2" if installed else "#8a8a8a"
        middle, half = (low + high) / 2, (high - low) / 2
        axes.errorbar(place, middle, yerr=half, fmt="none", ecolor=color, elinewidth=3, capsize=9, capthick=2)
        if installed:
            axes.annotate("installed", (place, low), (0, -16), textcoords="offset points", ha="center", color=color)
    axes.axhline(lower, color="#333333", linestyle=":", linewidth=1)
    axes.annotate("lower end\nof the leaf", (len(names) - 0.6, lower), (0, 4), textcoords="offset points")
    axes.set_xticks(range(len(names)), names)
    axes.set_xlim(-0.5, len(names) + 0.2)
    axes.margins(y=0.15)
    axes.set_xlabel("the leaf, and the best test of each attribute")
    axes.set_ylabel("entropy in bits, per row of the leaf")
    axes.spines[["top", "right"]].set_visible(False)
