"""A tree of any kind as SVG: boxes from left to right, and lines between them.

Lines and letters take the colour of the text around them and so are readable on light and dark ground.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from quercus.explain.boxes import Face
from quercus.explain.captions import GREY
from quercus.explain.layout import spread

FONT = "system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
BOX, HIGH, GAP = 160, 60, 50.0
PAD, _INSIDE = 2, 10
_ROW = HIGH + 12
_THICKEST = 11.0
SQUEEZE = 0.86  # width of letters that are not bold, and of bold ones in most fonts, as a part of the estimate


def frame(body: str, wide: float, high: float, label: str, more: str = "") -> str:
    """Put drawn parts into an SVG of this size."""
    size = f'width="{wide:.10g}" height="{high:.10g}" viewBox="0 0 {wide:.10g} {high:.10g}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} '
        f'font-family="{FONT}" fill="currentColor" role="img" aria-label="{escape(label)}" {more}>{body}</svg>'
    )


def draw(nodes: Sequence[Face], gap: float = GAP) -> tuple[str, float, float]:
    """Draw all nodes and lines of a tree of any kind; return them with the width and height that they take."""
    across = spread(nodes)
    column, top = BOX + gap, nodes[0].depth
    spot: dict[int, tuple[float, float]] = {
        node.id: (PAD + column * (node.depth - top), PAD + _ROW * place)
        for node, place in zip(nodes, across, strict=True)
    }
    below: dict[int, list[Face]] = {}
    for node in nodes:
        below.setdefault(node.parent, []).append(node)
    parts = [_edges(below[node.id], spot, gap) for node in nodes if node.id in below]
    parts += [draw_box(node, spot[node.id]) for node in nodes]
    wide = 2 * PAD + BOX + column * (max(node.depth for node in nodes) - top)
    return "".join(parts), wide, 2 * PAD + HIGH + _ROW * max(across)


def head_space(corner: str) -> float:
    """Return the space for what stands at the top of a box, beside what stands in its corner."""
    return BOX - 2 * _INSIDE - (10 + 8 * len(corner) if corner else 0)


def fit_head(write: Callable[[int], str], space: float) -> str:
    """Return the longest form of what stands at the top of a box that fits."""
    columns = 40
    while columns > 6 and pixels(write(columns), 12.5) * SQUEEZE > space:
        columns -= 1
    return write(columns)


def make_bar(hues: Sequence[str], shares: Sequence[float]) -> tuple[tuple[str, float], ...]:
    """Return the pieces of a bar: the classes' colours and shares, grey ones together at the end."""
    pieces = [(hue, share) for hue, share in zip(hues, shares, strict=True) if hue != GREY]
    grey = sum(share for hue, share in zip(hues, shares, strict=True) if hue == GREY)
    return tuple((hue, share) for hue, share in [*pieces, (GREY, grey)] if share > 0)


def write_line(x: float, y: float, text: str, size: float, space: float, more: str = "") -> str:
    """Write a line, squeezed where it could be wider than the room for it."""
    wide = pixels(text, size) * (1.0 if "font-weight" in more else SQUEEZE)
    squeeze = f' textLength="{space:.10g}" lengthAdjust="spacingAndGlyphs"' if wide > space else ""
    return f'<text x="{x:.10g}" y="{y:.1f}" font-size="{size:.10g}"{squeeze} {more}>{escape(text)}</text>'


def pixels(text: str, size: float) -> float:
    """Estimate how wide a text is in one of the wider bold fonts."""
    ems = 0.0
    for c in text:
        if c in " ijlI.,:;'|!()[]…":
            ems += 0.38
        elif c in "mwMW%@≤≠=<>+" or ord(c) > 0x2E7F:
            ems += 0.95
        else:
            ems += 0.73 if c.isupper() or c in "#&*$" else 0.68
    return ems * size


def missing_mark(x: float, y: float) -> str:
    """Draw the mark of the branch that missing values take."""
    return (
        f'<circle cx="{x:.10g}" cy="{y:.10g}" r="6" fill="none" stroke="currentColor" stroke-opacity=".7"/>'
        f'<text x="{x:.10g}" y="{y + 3.4:.10g}" font-size="9.5" font-weight="600" text-anchor="middle">?</text>'
    )


def draw_box(node: Face, at: tuple[float, float]) -> str:
    """Draw a node."""
    x, y = at
    space = BOX - 2 * _INSIDE
    look = 'fill="currentColor" fill-opacity=".05" stroke="currentColor" stroke-opacity=".45"'
    if node.hue is not None:
        look = f'fill="{node.hue}" fill-opacity=".16" stroke="{node.hue}" stroke-width="1.6"'
    if node.dashed:
        look += ' stroke-dasharray="4 3"'
    end = x + BOX - _INSIDE
    rest = max(0.45 * space, space - 8 - SQUEEZE * pixels(node.left, 10.5))
    faint = 'text-anchor="end" fill-opacity=".8"'
    return "".join(
        [
            f"<g><title>{escape(node.title)}</title>",
            f'<rect x="{x:.10g}" y="{y:.1f}" width="{BOX}" height="{HIGH}" rx="9" {look}/>',
            write_line(x + _INSIDE, y + 19, node.head, 12.5, head_space(node.corner), 'font-weight="600"'),
            write_line(end, y + 19, node.corner, 12, space, 'text-anchor="end"') if node.corner else "",
            _bar(node, x + _INSIDE, y + 27, space),
            write_line(x + _INSIDE, y + 50, node.left, 10.5, 0.54 * space, 'fill-opacity=".8"'),
            write_line(end, y + 50, node.right, 10.5, rest, faint) if node.right else "",
            "</g>",
        ]
    )


def _edges(children: Sequence[Face], spot: dict[int, tuple[float, float]], gap: float) -> str:
    """Draw the lines to all children of a node, side by side where they leave its box."""
    thick = [1.2 + _THICKEST * child.share for child in children]
    x, middle = spot[children[0].parent][0] + BOX, spot[children[0].parent][1] + HIGH / 2
    start = middle - sum(thick) / 2
    parts = []
    for child, wide in zip(children, thick, strict=True):
        start += wide / 2
        end_x, end_y = spot[child.id][0], spot[child.id][1] + HIGH / 2
        bend = (x + end_x) / 2
        parts.append(
            f'<path d="M{x:.10g} {start:.1f}C{bend:.10g} {start:.1f} {bend:.10g} {end_y:.1f} {end_x:.10g} {end_y:.1f}" '
            f'fill="none" stroke="currentColor" stroke-opacity=".32" stroke-width="{wide:.2f}"/>'
        )
        start += wide / 2
        # Words stand above a line, those of the last one below it, where no line crosses them.
        line = end_y + wide / 2 + 11 if child is children[-1] and len(children) > 1 else end_y - wide / 2 - 4
        parts.append(missing_mark(end_x - 11, line - 3.5) if child.missing else "")
        word_x = end_x - (21 if child.missing else 6)
        parts.append(write_line(word_x, line, child.branch, 10.5, gap - 12, 'text-anchor="end"'))
    return "".join(parts)


def _bar(node: Face, x: float, y: float, wide: float) -> str:
    """Draw the classes' shares side by side."""
    parts = [f'<rect x="{x:.10g}" y="{y:.1f}" width="{wide:.10g}" height="9" fill="currentColor" fill-opacity=".12"/>']
    for hue, share in node.bar:
        parts.append(f'<rect x="{x:.2f}" y="{y:.1f}" width="{wide * share:.2f}" height="9" fill="{hue}"/>')
        x += wide * share
    return "".join(parts)
