"""How often the impurity of a region is outside its interval, by number of classes and labels."""

from __future__ import annotations

from itertools import product

import numpy as np

from experiments.harness.data import Floats
from experiments.harness.exhibits import Cell, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results
from quercus.statistics.credible import MEASURES, evaluate_rows
from quercus.statistics.layout import IMPURITY

_CLASSES, _LABELS = (2, 3, 5, 10, 26), (5, 20, 100, 1000)
_DELTAS, _CRITERIA = (0.05, 0.2), ("entropy", "variance")
_REGIONS: dict[Scale, int] = {"quick": 1_000, "full": 20_000}
# Counts for which the matched Beta is further off.
_COUNTS = (5, 5, 0)


def cells(scale: Scale) -> list[Cell]:
    """Return numbers of classes and labels; without labels, the one set of counts."""
    sizes = [*product(_CLASSES, _LABELS), (len(_COUNTS), 0)]
    return [
        {"data": f"{classes} classes, {labels} labels", "classes": classes, "labels": labels,
         "regions": _REGIONS[scale]}
        for classes, labels in sizes
    ]  # fmt: skip


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line for each criterion and delta: shares of the regions below and above their intervals."""
    rng, regions, labels = np.random.default_rng(seed), int(cell["regions"]), int(cell["labels"])
    if labels:
        shares = rng.dirichlet(np.ones(int(cell["classes"])), regions)
        counts = rng.multinomial(labels, shares).astype(np.float64)
    else:
        shares = rng.dirichlet(np.add(_COUNTS, 1), regions)
        counts = np.tile(np.array(_COUNTS, np.float64), (regions, 1))
    return [
        {"criterion": criterion, "delta": delta, **_missed(shares, counts, criterion, delta)}
        for criterion, delta in product(_CRITERIA, _DELTAS)
    ]


def _missed(shares: Floats, counts: Floats, criterion: str, delta: float) -> Row:
    true = _impurity(shares, criterion)
    low, high = (
        evaluate_rows(IMPURITY, counts, measure=MEASURES[criterion], delta=delta, upper=upper)
        for upper in (False, True)
    )
    return {"below": float(np.mean(true < low)), "above": float(np.mean(true > high))}


def _impurity(shares: Floats, criterion: str) -> Floats:
    if criterion == "variance":
        return np.asarray((1 - (shares**2).sum(axis=1)) / 2)
    return np.asarray(-(shares * np.log2(np.maximum(shares, 1e-300))).sum(axis=1))


def summarize(found: Results) -> Report:
    """Return the shares that are outside, from the least to the most over numbers of labels."""
    rows = []
    for (classes, delta), part in found.where(labels=list(_LABELS)).groups("classes", "delta"):
        rows.append([f"{classes}", f"{delta:g}", *_ranges(part)])
    for (delta,), part in found.where(labels=0).groups("delta"):
        rows.append([f"counts {_COUNTS}", f"{delta:g}", *_ranges(part)])
    heads = [f"{criterion}, {end} its interval" for criterion in _CRITERIA for end in ("below", "above")]
    labels = ", ".join(f"{n:,}" for n in _LABELS[:-1])
    caption = (
        f"Share of {int(found['regions'][0]):,} regions, class shares drawn from the prior, whose impurity is outside "
        f"each end of its interval: the least and the most over {labels} and {_LABELS[-1]:,} labels. In the last "
        "lines the counts are fixed, and shares drawn from their posterior. Right would be delta."
    )
    return Report([PageTable(["classes", "delta", *heads], rows, caption)])


def _ranges(part: Results) -> list[str]:
    result = []
    for criterion in _CRITERIA:
        for end in ("below", "above"):
            values = part.where(criterion=criterion)[end]
            low, high = f"{values.min():.3f}", f"{values.max():.3f}"
            result.append(low if low == high else f"{low} to {high}")
    return result


COVERAGE = Runs("peers.credible", "coverage", cells, measure)
