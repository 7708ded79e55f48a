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
    """Say in a few words what a row cost; nothing if the run bought no features."""
    if run.cost is None:
        return ""
    return f"features for {show_price(run.cost_per_row)} a row (all {len(run.bought)}: {show_price(run.full_price)})"


def show_price(value: float | None) -> str:
    """Write a mean of prices, small or large."""
    if value is None or value != value or float(value).is_integer():
        return show_amount(value)
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.3g}"


def cost_rows(run: Run) -> list[tuple[str, ...]]:
    """Return name and value of what features cost, to stand beside the accuracy; nothing if none were bought."""
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
    """Return the features that were bought most often, with the share of rows."""
    order = sorted(run.bought.items(), key=lambda part: -part[1])
    rows = [(name, show_percent(share)) for name, share in order[:_MOST_FEATURES]]
    rest = [share for _, share in order[_MOST_FEATURES:]]
    return [*rows, (f"{len(rest)} others, at most", show_percent(max(rest)))] if rest else rows


def costs_along(run: Run) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what a row cost along the curve: over all rows so far, and since the point before."""
    rows, cost = (np.asarray(run.curve[name], np.float64) for name in ("rows", "cost"))
    return cost / rows, np.diff(cost, prepend=0.0) / np.diff(rows, prepend=0.0)
