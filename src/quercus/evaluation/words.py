"""How figures are written for people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quercus.ledger.accuracy import Estimate

NOTHING = "–"


def show(value: float | None, digits: int = 4) -> str:
    """Write a figure with a fixed number of digits; what is not known is a dash."""
    return NOTHING if value is None or math.isnan(value) else f"{value:.{digits}f}"


def show_percent(value: float | None) -> str:
    """Write a share in percent, but 100% only if it is all of it."""
    if value is None or math.isnan(value):
        return NOTHING
    if value in (0.0, 1.0):
        return f"{value:.0%}"
    if value > 0.9995:
        return ">99.9%"
    return "<0.1%" if 0 < value < 0.0005 else f"{value:.1%}"


def show_bounds(figure: Estimate, digits: int | None = None) -> str:
    """Write the bounds of a figure, in percent unless digits are given."""
    low, high = (show_percent(b) if digits is None else show(b, digits) for b in (figure.low, figure.high))
    return f"{low} to {high}"


def show_amount(value: float | None) -> str:
    """Write an amount of money or a count."""
    if value is None or math.isnan(value):
        return NOTHING
    return f"{value:,.0f}" if float(value).is_integer() or abs(value) >= 1e6 else f"{value:,.2f}"


def show_price(value: float | None) -> str:
    """Write a mean of prices, small or large."""
    if value is None or value != value or float(value).is_integer():
        return show_amount(value)
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.3g}"


def show_bytes(value: float | None) -> str:
    """Write an amount of memory."""
    if value is None:
        return NOTHING
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= size:
            return f"{value / size:.1f} {unit}"
    return f"{value:.0f} B"


def show_seconds(value: float) -> str:
    """Write a duration."""
    if value >= 100:
        return f"{int(value) // 60} min {int(value) % 60} s"
    return f"{value:.1f} s" if value >= 10 else f"{value:.3f} s"


def show_points(difference: float) -> str:
    """Write the difference of two accuracies in percentage points."""
    if round(difference, 4) == 0:
        return "the same as"
    return f"{abs(difference) * 100:.1f} points {'above' if difference > 0 else 'below'}"


def align(rows: Sequence[Sequence[str]]) -> str:
    """Write rows as columns, the first to the left and the others to the right."""
    count = max(len(row) for row in rows)
    full = [[*row, *[""] * (count - len(row))] for row in rows]
    widths = [max(len(row[i]) for row in full) for i in range(count)]
    lines = []
    for row in full:
        cells = [
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
