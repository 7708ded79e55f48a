"""What a run says about the features that it bought: always with the accuracy that they gave."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from quercus.evaluation.metrics import ratio
from quercus.evaluation.words import show, show_amount, show_percent

if TYPE_CHECKING:
    from quercus.evaluation.run import Run

_MOST_FEATURES = 10


def cost_words(run: Run) -> str:
    """Say in a few words what a row cost; nothing if the run bought no features.

    Examples
    --------
    >>> import quercus as qc
    >>> cost_words(qc.evaluate(qc.streams.SEA(rows=500), qc.UtilityTree()))
    'features for ... a row (all 3: 3)'
    """
    if run.cost is None:
        return ""
    return f"features for {show_price(run.cost_per_row)} a row (all {len(run.bought)}: {show_price(run.full_price)})"


def show_price(value: float | None) -> str:
    """Write a mean of prices, small or large.

    Examples
    --------
    >>> show_price(2.9666), show_price(3.0), show_price(0.01234), show_price(12345.6)
    ('2.97', '3', '0.0123', '12,346')
    """
    if value is None or value != value or float(value).is_integer():
        return show_amount(value)
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.3g}"


def cost_rows(run: Run) -> list[tuple[str, ...]]:
    """Return name and value of what features cost, to stand beside the accuracy; nothing if none were bought.

    Examples
    --------
    >>> import quercus as qc
    >>> [row[0] for row in cost_rows(qc.evaluate(qc.streams.SEA(rows=500), qc.UtilityTree()))]
    ['cost per row', '  features per row', '  altogether']
    """
    if run.cost is None or run.full_price is None:
        return []
    share = show_percent(ratio(run.cost_per_row, run.full_price))
    rows: list[tuple[str, ...]] = [
        ("cost per row", show_price(run.cost_per_row), f"{share} of {show_price(run.full_price)}"),
        ("  features per row", show(run.bought_per_row, 2), f"of {len(run.bought)}"),
        ("  altogether", show_amount(run.cost)),
    ]
    if run.loss:
        rows.append(("  with the loss of a row", show_price(run.cost_per_row + run.loss_per_row)))
    return rows


def feature_rows(run: Run) -> list[tuple[str, str]]:
    """Return the features that were bought most often, with the share of rows.

    Examples
    --------
    >>> import quercus as qc
    >>> run = qc.evaluate(qc.streams.SEA(rows=500), qc.UtilityTree())
    >>> {name for name, share in feature_rows(run)}
    {'x...', 'x...', 'x...'}
    """
    order = sorted(run.bought.items(), key=lambda part: -part[1])
    rows = [(name, show_percent(share)) for name, share in order[:_MOST_FEATURES]]
    rest = [share for _, share in order[_MOST_FEATURES:]]
    return [*rows, (f"{len(rest)} others, at most", show_percent(max(rest)))] if rest else rows


def costs_along(run: Run) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what a row cost along the curve: over all rows so far, and since the point before.

    Examples
    --------
    >>> import quercus as qc
    >>> so_far, lately = costs_along(qc.evaluate(qc.streams.SEA(rows=500), qc.UtilityTree()))
    >>> float(so_far[0]), float(lately[0])
    (3.0, 3.0)
    """
    rows, cost = (np.asarray(run.curve[name], np.float64) for name in ("rows", "cost"))
    return cost / rows, np.diff(cost, prepend=0.0) / np.diff(rows, prepend=0.0)
