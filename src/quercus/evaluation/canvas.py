"""Lines over a stream or over a price as charts of Altair, in one look, and how charts become files."""

from __future__ import annotations

import json
import math
import os
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quercus.evaluation.words import NOTHING, show_percent

try:
    import altair as alt
    import jinja2
    import vl_convert
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "charts and reports need altair, vl-convert-python and jinja2; pip install 'quercus[report]'.", name=error.name
    ) from error

__all__ = ["alt", "jinja2", "vl_convert"]

# They keep their distance from light and dark ground and, for colour-blind readers, from each other.
BLUE, SKY, GREY, ORANGE, GREEN = "#2482bd", "#6fb7e3", "#8b8b8b", "#d8651a", "#159a74"
COLOURS = (BLUE, ORANGE, GREEN, "#b0478f", "#d99a00", SKY, "#7d6bd6", "#9b6a4c")
# As wide where a legend is laid out as where it is read.
_FONT = "Helvetica Neue,Helvetica,Arial,Liberation Sans,sans-serif"
_UNSEEN = r'<path(?: [\w-]+="[^"]*")* opacity="0"/>|<g class="mark-path role-mark \w+_voronoi".*?</g>'
_OPTIONS: dict[str, dict[str, Any]] = {"png": {"scale": 2}, "html": {"bundle": True}}
_FORMATS = ("html", "json", "pdf", "png", "svg")
_MOST_POINTS, _FEW_POINTS = 400, 20
_ROOM = 0.012
_SMALLEST = 0.75  # of a picture's size


@dataclass(frozen=True, eq=False)
class Line:
    """A line of a chart.

    Parameters
    ----------
    label
        What it is called in the legend; a line that is alone may have none.
    x, y
        Its points; NaN leaves a gap.
    colour, width, dashes
        How it looks.
    low, high
        Bounds of each point, drawn as a band.
    notes
        What else is to be said of each point to those who point at it.
    level
        Whether it is there to compare with: its points have no marks.
    """

    label: str
    x: ArrayLike
    y: ArrayLike
    colour: str = BLUE
    width: float = 2.2
    dashes: tuple[float, ...] = (1, 0)
    low: ArrayLike | None = None
    high: ArrayLike | None = None
    notes: Sequence[str] = ()
    level: bool = False


@dataclass(frozen=True)
class Axis:
    """One side of a chart: its title, how ticks (by d3) and values are written, its ends where they are given.

    ``limits`` are those that no value can be beyond; ``whole`` is for what is counted: no tick is between two numbers.
    """

    title: str
    format: str = ",.10~g"
    write: Callable[[float], str] = "{:,.10g}".format
    low: float | None = None
    high: float | None = None
    log: bool = False
    limits: tuple[float, float] = (-math.inf, math.inf)
    whole: bool = False


def percent_axis(title: str, low: float | None = None, high: float | None = None) -> Axis:
    """Return an axis of shares."""
    return Axis(title, ".4~%", show_percent, low, high, limits=(0.0, 1.0))


def line_chart(
    lines: Sequence[Line],
    x: Axis,
    y: Axis,
    *,
    points: bool = False,
    title: Sequence[str] = (),
    size: tuple[int, int] = (720, 360),
) -> alt.Chart:
    """Draw lines that can be pointed at, moved, zoomed, and chosen by a click in the legend."""
    data = _rows(lines, x, y, together=not points)
    base = alt.Chart(alt.Data(values=data)).encode(
        x=alt.X("x:Q", title=x.title, axis=_axis(x, grid=False), scale=_scale(x, data, "x")),
        y=alt.Y("y:Q", title=y.title, axis=_axis(y, grid=True), scale=_scale(y, _shown(data, x), "y")),
        **_looks(lines, bool(title)),
    )
    layers = _layers(base, lines, x, y, data, points=points)
    look = {"title": alt.Title(title[0], subtitle=list(title[1:]))} if title else {}
    return alt.layer(*layers).properties(width=size[0], height=size[1], **look)


def save_chart(chart: alt.Chart, path: str | os.PathLike[str]) -> None:
    """Write a chart to a file at once or not at all; its ending says the format."""
    from quercus.store.atomic import replace_file

    place = Path(path)
    ending = place.suffix[1:].lower()
    if ending not in _FORMATS:
        known = ", ".join(f".{one}" for one in _FORMATS[:-1])
        raise ValueError(f"a chart cannot be written to '{path}'; let its name end in {known} or .{_FORMATS[-1]}.")
    replace_file(place, _render(chart, ending, look("#24272c", "#ffffff")))


def inline_svg(chart: alt.Chart) -> str:
    """Return a chart as a picture to put into HTML, in the colour of the text around it.

    It shrinks with the page as long as it can be read; on a narrower one it scrolls in its own box.
    """
    drawn = _render(chart, "svg", look("currentColor", "transparent")).decode()
    # Ids are those of the whole page, and must not be those of another picture.
    ids = dict.fromkeys(re.findall(r'id="(\w+)"', drawn))
    plain = re.sub("|".join(rf"\b{one}\b" for one in ids) or "$^", "", drawn)
    mark = f"q{zlib.crc32(plain.encode()):08x}"
    for place, one in enumerate(ids):
        drawn = drawn.replace(f'id="{one}"', f'id="{mark}{place}"').replace(f"url(#{one})", f"url(#{mark}{place})")
    wide = re.search(r'width="(\d+)', drawn)
    least = f"min-width:{round(_SMALLEST * int(wide[1]))}px;" if wide else ""
    shown = drawn.replace("<svg ", f'<svg style="max-width:100%;{least}height:auto" ', 1)
    return f'<div style="overflow-x:auto;max-width:100%">{shown}</div>'


def look(ink: str, ground: str) -> dict[str, Any]:
    """Return what all charts have in common, as a configuration of Vega-Lite."""
    quiet: dict[str, Any] = {"labelColor": ink, "titleColor": ink, "labelFontSize": 12, "titleFontSize": 12}
    axis = {"domainColor": ink, "tickColor": ink, "gridColor": ink, "domainOpacity": 0.45, "tickOpacity": 0.45}
    return {
        "background": ground,
        "font": _FONT,
        "padding": 8,
        "axis": {**quiet, **axis, "gridOpacity": 0.13, "titleFontWeight": "normal", "titlePadding": 8},
        "legend": {**quiet, "columns": 2, "labelLimit": 0, "symbolSize": 180, "rowPadding": 4, "columnPadding": 22},
        "title": {"color": ink, "subtitleColor": ink, "anchor": "start", "fontSize": 15, "offset": 12},
        "text": {"color": ink},
        "rule": {"color": ink},
        "view": {"stroke": None},
    }


def _render(chart: alt.Chart, kind: str, config: dict[str, Any]) -> bytes:
    spec = chart.to_dict() | {"config": config}
    if kind == "json":
        return json.dumps(spec, indent=1, allow_nan=False).encode()
    made: str | bytes = getattr(vl_convert, f"vegalite_to_{kind}")(spec, **_OPTIONS.get(kind, {}))
    if kind == "svg":
        made = re.sub(_UNSEEN, "", str(made))  # what only shows when it is pointed at never will
    return made.encode() if isinstance(made, str) else bytes(made)


def _axis(axis: Axis, *, grid: bool) -> Any:
    # Over a few powers of ten these alone have their numbers, over less also what is between them.
    few = axis.log and axis.low is not None and axis.high is not None and axis.high < 100 * axis.low
    count = 6 if not axis.log else 12 if few else 4
    least = {"tickMinStep": 1} if axis.whole else {}
    return alt.Axis(format=axis.format, grid=grid, labelOverlap="greedy", labelSeparation=8, tickCount=count, **least)


def _scale(axis: Axis, rows: Sequence[dict[str, Any]], field: str) -> Any:
    """Return a scale that holds all values, from end to end where the axis has ends."""
    names = (field, "low", "high") if field == "y" else (field,)
    values = [row[name] for row in rows for name in names if row.get(name) is not None]
    low = min(values, default=0.0) if axis.low is None else axis.low
    high = max(values, default=1.0) if axis.high is None else axis.high
    if not high > low:
        low, high = (low, 2 * low) if axis.log else (low - 0.5 * (abs(low) or 1), high + 0.5 * (abs(high) or 1))
    if axis.log and any(row["lone"] and row["x"] == high and row["y"] is not None for row in rows):
        high *= (high / low) ** _ROOM  # a mark at the end is whole
    low, high = max(low, axis.limits[0]), min(high, axis.limits[1])
    nice = field == "y" and axis.low is None
    return alt.Scale(type="log" if axis.log else "linear", domain=[low, high], nice=nice, zero=False)


def _shown(rows: Sequence[dict[str, Any]], x: Axis) -> list[dict[str, Any]]:
    return [row for row in rows if x.low is None or row["x"] >= x.low]


def _looks(lines: Sequence[Line], alone: bool) -> dict[str, Any]:
    """Return colour, width and dashes by the name of the line, with one legend for all three.

    A chart that stands alone may be shown without `look`, and its names shall be whole then too.
    """
    names = [line.label for line in reversed(lines)]
    room = {"columns": 2, "labelLimit": 0} if alone else {}
    key = alt.Legend(title=None, orient="top", symbolType="stroke", symbolOpacity=1, **room)
    if len(lines) == 1:
        # A scale of widths is from one to another; one alone would be the thinnest.
        only, colour = lines[0], alt.Scale(domain=names, range=[lines[0].colour])
        look = {"strokeDash": alt.value(list(only.dashes)), "strokeWidth": alt.value(only.width)}
        return look | {"color": alt.Color("line:N", legend=key if only.label else None, scale=colour)}
    looks = {
        "color": (alt.Color, [line.colour for line in reversed(lines)]),
        "strokeDash": (alt.StrokeDash, [list(line.dashes) for line in reversed(lines)]),
        "strokeWidth": (alt.StrokeWidth, [line.width for line in reversed(lines)]),
    }
    return {
        channel: kind("line:N", legend=key, scale=alt.Scale(domain=names, range=values))
        for channel, (kind, values) in looks.items()
    }


def _layers(
    base: Any, lines: Sequence[Line], x: Axis, y: Axis, data: list[dict[str, Any]], *, points: bool
) -> list[Any]:
    """Return bands, lines and marks, and with the last what can be done with them."""
    name = f"q{zlib.crc32(json.dumps(data).encode()):08x}"  # so that charts can be put beside each other
    # The wheel alone is left to the page around it.
    zoom = alt.selection_interval(name=f"{name}_zoom", bind="scales", zoom="wheel![event.ctrlKey || event.metaKey]")
    pick = alt.selection_point(name=f"{name}_pick", fields=["line"], bind="legend") if len(lines) > 1 else None

    def faded(full: float, rest: float) -> Any:
        return alt.value(full) if pick is None else alt.condition(pick, alt.value(full), alt.value(rest))

    layers = [base.mark_line(clip=True, strokeJoin="round").encode(opacity=faded(1.0, 0.12))]
    if any("low" in row for row in data):
        band = base.transform_filter("isValid(datum.low) && isValid(datum.high)").mark_area(clip=True, strokeWidth=0)
        layers.insert(0, band.encode(y="low:Q", y2="high:Q", opacity=faded(0.16, 0.02)))
    if any(row["lone"] for row in _shown(data, x)):
        lone = base.transform_filter("datum.lone").mark_point(size=60, filled=True)
        layers.append(lone.encode(opacity=faded(1.0, 0.12)))
    if points:
        dense = len(data) > _FEW_POINTS * len(lines)
        marks = (
            base.transform_filter("!datum.level")
            .mark_circle(clip=True, size=8 if dense else 46)
            .encode(opacity=faded(1.0, 0.12))
        )
        layers.append(marks.encode(tooltip=_point_tips(lines, x, y)).add_params(zoom))
    else:
        layers += _hover(base, lines, x, name, zoom)
    layers[-1] = layers[-1] if pick is None else layers[-1].add_params(pick)
    return layers


def _point_tips(lines: Sequence[Line], x: Axis, y: Axis) -> list[Any]:
    """Return what a point tells about itself."""
    told = {"line": " ", "at": x.title, "said": y.title} | ({"note": " "} if any(line.notes for line in lines) else {})
    return [alt.Tooltip(f"{field}:N", title=title) for field, title in told.items()]


def _hover(base: Any, lines: Sequence[Line], x: Axis, name: str, zoom: Any) -> list[Any]:
    """Return a rule that goes with the pointer, and marks there that tell the values of all lines."""
    near = alt.selection_point(
        name=f"{name}_near", on="pointermove", clear="pointerout", fields=["x"], nearest=True, empty=False
    )
    told = {"at": x.title} | {f"line{place}": lines[place].label or "here" for place in range(len(lines) - 1, -1, -1)}
    # Without a format Vega-Lite 6.4 reads the cell that holds a point and not the point (its pull request 9707).
    tips = [alt.Tooltip(f"{field}:N", title=title, format="") for field, title in told.items()]
    rule = alt.Chart(base.data).mark_rule(clip=True, opacity=0.25).encode(x="x:Q").transform_filter(near)
    marks = base.mark_circle(clip=True, size=46).encode(
        opacity=alt.condition(near, alt.value(1.0), alt.value(0.0)), tooltip=tips
    )
    return [rule, marks.add_params(near, zoom)]


def _rows(lines: Sequence[Line], x: Axis, y: Axis, *, together: bool) -> list[dict[str, Any]]:
    """Return the points of all lines; each with what all lines say there, where they are told together."""
    rows = [_line_rows(line, x, y) for line in lines]
    if not together:
        return [row for points in rows for row in points]
    blank = {f"line{place}": NOTHING for place in range(len(lines))}
    at: dict[float, dict[str, Any]] = {}
    for place, points in enumerate(rows):
        for row in points:
            at.setdefault(row["x"], dict(blank))[f"line{place}"] = row.pop("said")
    return [row | at[row["x"]] for points in rows for row in points]


def _line_rows(line: Line, x: Axis, y: Axis) -> list[dict[str, Any]]:
    """Return the points of a line; what is not a number is left empty."""
    columns = [np.asarray(line.x, np.float64), np.asarray(line.y, np.float64)]
    bounds = [] if line.low is None or line.high is None else [line.low, line.high]
    columns += [np.asarray(bound, np.float64) for bound in bounds]
    names = ("x", "y", "low", "high")[: len(columns)]
    lone = int(np.isfinite(columns[1]).sum()) == 1
    rows = []
    for place, values in enumerate(zip(*_thinned(columns), strict=True)):
        if x.log and not values[0] > 0:
            continue
        row: dict[str, Any] = {
            "line": line.label,
            "at": x.write(values[0]),
            "said": _said(values, y),
            "lone": lone,
            "level": line.level,
        }
        row |= {name: value if math.isfinite(value) else None for name, value in zip(names, values, strict=True)}
        rows.append(row | ({"note": line.notes[place]} if line.notes else {}))
    return rows


def _said(values: Sequence[float], y: Axis) -> str:
    if not math.isfinite(values[1]):
        return NOTHING
    bounds = f", {y.write(values[2])} to {y.write(values[3])}" if len(values) > 2 and math.isfinite(values[2]) else ""
    return y.write(values[1]) + bounds


def _thinned(columns: Sequence[NDArray[np.float64]]) -> list[list[float]]:
    """Average neighbours, so that a line has at most some hundred points."""
    count = len(columns[0])
    group = -(-count // _MOST_POINTS)
    if group <= 1:
        return [column.tolist() for column in columns]
    starts = np.arange(0, count, group)
    last = columns[0][np.minimum(starts + group - 1, count - 1)]
    means = []
    for column in columns[1:]:
        known = np.isfinite(column)
        sums, sizes = (np.add.reduceat(part, starts) for part in (np.where(known, column, 0.0), known.astype(float)))
        means.append(np.divide(sums, sizes, out=np.full(len(sums), np.nan), where=sizes > 0).tolist())
    return [last.tolist(), *means]
