"""Line charts as SVG, drawn by hand: no scripts, no outside files, readable on light and dark ground.

Letters and axes take the colour of the text around them; the colours of the lines keep their distance from both grounds
and from each other for colour-blind readers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

BLUE, SKY, GREY, ORANGE, GREEN = "#2482bd", "#6fb7e3", "#8b8b8b", "#d8651a", "#159a74"
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 16, 12, 40
_MOST_POINTS = 400

Values = NDArray[np.generic]


@dataclass(frozen=True)
class Line:
    """A line of a chart: what it is called (nothing: not in the legend), its points, its colour, width and dashes."""

    label: str
    x: Values
    y: Values
    colour: str
    width: float = 2.0
    dashes: str = ""


@dataclass(frozen=True)
class Axis:
    """How one side of a chart is scaled: its ends, its ticks and how they are written."""

    low: float
    high: float
    ticks: list[float]
    write: Callable[[float], str]
    log: bool = False

    def place(self, values: Values) -> NDArray[np.float64]:
        """Return where values lie between the ends, from 0 to 1 and beyond."""
        numbers = np.asarray(values, np.float64)
        if self.log:
            span = math.log(self.high / self.low)
            return np.asarray(np.log(np.maximum(numbers, 1e-9) / self.low) / span)
        return (numbers - self.low) / (self.high - self.low)


def write_rows(value: float) -> str:
    """Write a number of rows on an axis.

    Examples
    --------
    >>> [write_rows(v) for v in (10, 2500, 50_000, 3e6)]
    ['10', '2,500', '50k', '3M']
    """
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if value >= 10 * size or (unit == "M" and value >= size):
            return f"{value / size:.6g}{unit}"
    return f"{value:,.0f}"


def log_rows(rows: int) -> Axis:
    """Return an axis of row counts in which each power of ten has the same room; the noisy first rows are left out.

    Examples
    --------
    >>> log_rows(45_312).ticks
    [10.0, 100.0, 1000.0, 10000.0]
    """
    power = int(math.log10(max(rows, 1)))
    low = 10.0 ** max(power - 3, min(power - 1, 1), 0)
    high = max(float(rows), 2 * low)
    ticks = [10.0**p for p in range(round(math.log10(low)), int(math.log10(high)) + 1)]
    return Axis(low, high, ticks, write_rows, log=True)


def linear(low: float, high: float, write: Callable[[float], str], count: int = 5) -> Axis:
    """Return an axis with round ticks whose ends lie on ticks.

    Examples
    --------
    >>> axis = linear(0.53, 0.88, str)
    >>> axis.low, axis.high, axis.ticks
    (0.5, 0.9, [0.5, 0.6, 0.7, 0.8, 0.9])
    """
    if not high > low:
        low, high = low - 0.5 * (abs(low) or 1), high + 0.5 * (abs(high) or 1)
    raw = (high - low) / max(count - 1, 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * unit for unit in (1, 2, 2.5, 5, 10) if power * unit >= raw * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = [round(i * step, 12) for i in range(first, last + 1)]
    return Axis(ticks[0], ticks[-1], ticks, write)


def fit(lines: Sequence[Line], x: Axis, write: Callable[[float], str], limits: tuple[float, float]) -> Axis:
    """Return an axis that holds all values that the chart will show, within the limits that make sense.

    Examples
    --------
    >>> line = Line("a", np.array([1, 10, 100]), np.array([0.0, 0.71, 0.84]), BLUE)
    >>> fit([line], Axis(10, 100, [], str, log=True), str, (0, 1)).ticks
    [0.7, 0.75, 0.8, 0.85]
    """
    shown = [line.y[np.asarray(line.x, np.float64) >= x.low] for line in lines]
    values = np.concatenate([np.asarray(y, np.float64) for y in shown]) if shown else np.zeros(0)
    values = values[np.isfinite(values)]
    if len(values) == 0:
        return linear(*limits if math.isfinite(limits[1]) else (0.0, 1.0), write)
    axis = linear(float(values.min()), float(values.max()), write)
    low, high = max(axis.low, limits[0]), min(axis.high, limits[1])
    return Axis(low, high, [tick for tick in axis.ticks if low <= tick <= high], write)


def chart(
    lines: Sequence[Line],
    x: Axis,
    y: Axis,
    *,
    width: int,
    height: int,
    x_label: str,
    alt: str,
    tooltips: Sequence[tuple[float, float, str]] = (),
    css: str = "",
) -> str:
    """Draw lines over axes.

    Parameters
    ----------
    lines
        What to draw, the last on top.
    x, y
        The axes.
    width, height
        Size in pixels at full scale.
    x_label
        Written below the horizontal axis.
    alt
        What the picture shows, for readers who cannot see it.
    tooltips
        (x, y, text): shown when pointing there.
    css
        Class of the picture.

    Examples
    --------
    >>> line = Line("a", np.array([1, 10]), np.array([0.0, 1.0]), BLUE)
    >>> chart([line], log_rows(10), linear(0, 1, str), width=300, height=200, x_label="rows", alt="a line")[:4]
    '<svg'
    """
    wide, high = width - _LEFT - _RIGHT, height - _TOP - _BOTTOM
    parts = [*_grid(x, y, wide, high, x_label)]
    parts += [_path(line, x, y, wide, high) for line in lines]
    parts += [_tooltip(tooltip, x, y, wide, high) for tooltip in tooltips]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart {css}" viewBox="0 0 {width} {height}" width="{width}" '
        f'style="max-width:100%;height:auto" role="img" aria-label="{escape(alt)}" font-size="12.5" '
        f'fill="currentColor">{"".join(parts)}</svg>'
    )


def key(lines: Sequence[Line]) -> str:
    """Return the legend as HTML that wraps where there is little room.

    Examples
    --------
    >>> key([Line("a <b>", np.zeros(1), np.zeros(1), BLUE)])[-25:]
    'a &lt;b&gt;</span></span>'
    """
    parts = []
    for line in reversed([line for line in lines if line.label]):
        dashes = f' stroke-dasharray="{line.dashes}"' if line.dashes else ""
        sample = (
            f'<svg width="26" height="10" viewBox="0 0 26 10" aria-hidden="true" style="flex:none">'
            f'<path d="M1 5H25" stroke="{line.colour}" stroke-width="{max(line.width, 2):g}"{dashes}/></svg>'
        )
        parts.append(
            '<span style="display:inline-flex;align-items:center;gap:6px;margin:0 16px 4px 0">'
            f"{sample}<span>{escape(line.label)}</span></span>"
        )
    return "".join(parts)


def _grid(x: Axis, y: Axis, wide: int, high: int, x_label: str) -> list[str]:
    parts = []
    for tick in y.ticks:
        at = _TOP + high * (1 - float(y.place(np.array(tick))))
        parts.append(f'<path d="M{_LEFT} {at:.1f}h{wide}" stroke="currentColor" stroke-opacity=".13"/>')
        text = escape(y.write(tick))
        parts.append(f'<text x="{_LEFT - 8}" y="{at + 4:.1f}" text-anchor="end" fill-opacity=".75">{text}</text>')
    for tick in x.ticks:
        at = _LEFT + wide * float(x.place(np.array(tick)))
        parts.append(f'<path d="M{at:.1f} {_TOP + high}v5" stroke="currentColor" stroke-opacity=".45"/>')
        # The outermost words lean inwards, or they would be cut off.
        anchor = "end" if at > _LEFT + wide - 14 else "middle"
        text = escape(x.write(tick))
        parts.append(
            f'<text x="{at:.1f}" y="{_TOP + high + 18}" text-anchor="{anchor}" fill-opacity=".75">{text}</text>'
        )
    parts.append(f'<path d="M{_LEFT} {_TOP + high}h{wide}" stroke="currentColor" stroke-opacity=".45"/>')
    middle = _LEFT + wide / 2
    parts.append(
        f'<text x="{middle:g}" y="{_TOP + high + 35}" text-anchor="middle" fill-opacity=".75">{escape(x_label)}</text>'
    )
    return parts


def _path(line: Line, x: Axis, y: Axis, wide: int, high: int) -> str:
    at_x, at_y = subsample(x.place(line.x), y.place(line.y))
    keep = np.isfinite(at_y) & (at_x >= -1e-9)
    if not keep.any():
        return ""
    across = _LEFT + wide * at_x[keep]
    down = _TOP + high * (1 - np.clip(at_y[keep], 0, 1))
    points = "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(across, down, strict=True))
    dashes = f' stroke-dasharray="{line.dashes}"' if line.dashes else ""
    look = (
        f'stroke="{line.colour}" stroke-width="{line.width:g}"{dashes} stroke-linejoin="round" stroke-linecap="round"'
    )
    if keep.sum() == 1:
        return f'<circle cx="{across[0]:.1f}" cy="{down[0]:.1f}" r="3" fill="{line.colour}"/>'
    return f'<path d="M{points}" fill="none" {look}/>'


def _tooltip(tooltip: tuple[float, float, str], x: Axis, y: Axis, wide: int, high: int) -> str:
    at_x, at_y = float(x.place(np.array(tooltip[0]))), float(y.place(np.array(tooltip[1])))
    if not (0 <= at_x <= 1.001 and math.isfinite(at_y)):
        return ""
    across, down = _LEFT + wide * at_x, _TOP + high * (1 - min(max(at_y, 0.0), 1.0))
    return (
        f'<circle cx="{across:.1f}" cy="{down:.1f}" r="8" fill-opacity="0"><title>{escape(tooltip[2])}</title></circle>'
    )


def subsample(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Average neighbours so that a line has at most some hundred points.

    Examples
    --------
    >>> len(subsample(np.arange(1000.0), np.zeros(1000))[0])
    334
    """
    group = -(-len(x) // _MOST_POINTS)
    if group <= 1:
        return x, y
    starts = np.arange(0, len(x), group)
    sizes = np.diff([*starts, len(x)])
    return x[np.minimum(starts + group - 1, len(x) - 1)], np.add.reduceat(y, starts) / sizes
