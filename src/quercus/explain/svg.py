"""A drawn tree: one SVG without scripts, outside files or ids, so that many fit on a page.

Lines and letters take the colour of the text around them and so are readable on light and dark ground.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from quercus.explain.captions import GREY, brief, colours, details, plural, summary
from quercus.explain.layout import places
from quercus.explain.nodes import Node
from quercus.explain.view import TreeView
from quercus.explain.words import others, shorten, show_share, show_value

FONT = "system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
MISSING_NOTE = "missing values take this branch"
_BOX, _HIGH = 160, 60
_COLUMN, _ROW = _BOX + 50, _HIGH + 12
_PAD, _MARGIN, _INSIDE = 2, 18, 10
_THICKEST = 11.0
_SQUEEZE = 0.86  # width of letters that are not bold, and of bold ones in most fonts, as a part of the estimate
_GROUND = (
    "<style>.quercus-ground{color:#1b1d21;background:#fff}"
    "@media(prefers-color-scheme:dark){.quercus-ground{color:#e9eaec;background:#16181c}}</style>"
)


def to_svg(view: TreeView, max_depth: int | None = 5, max_nodes: int | None = 31) -> str:
    """Draw a tree from left to right, with a legend, on its own ground (dark where the reader prefers it).

    A box is a node: its test or answer, a bar of its classes, its number of labels. Lines are as thick as the share
    of examples that took them; point at a box for all of its numbers.

    Parameters
    ----------
    view
        The tree.
    max_depth
        Deepest node to show; None for no limit.
    max_nodes
        Most nodes to show; what most examples go through comes first; None for no limit.

    Examples
    --------
    >>> from quercus.explain import Leaf, Node, TreeView
    >>> leaf = Node(0, -1, None, 0, None, True, (9.0,), "a", 0.0, Leaf("majority", True, (0.4, 1.0), False, 9.0))
    >>> to_svg(TreeView("HoeffdingTree", ("a",), (), (leaf,), 9))[:46]
    '<svg xmlns="http://www.w3.org/2000/svg" width='
    """
    shown = view.pruned(max_depth, max_nodes)
    drawn, wide, high = drawing(shown)
    wide = max(wide, 440)
    header, top = _header(view, shown, wide)
    moved = f'{header}<g transform="translate(0,{top:.10g})">{drawn}</g>'
    body = f'{_GROUND}<g transform="translate({_MARGIN},{_MARGIN})">{moved}</g>'
    return frame(body, wide + 2 * _MARGIN, high + top + 2 * _MARGIN, summary(view), 'class="quercus-ground"')


def frame(body: str, wide: float, high: float, label: str, more: str = "") -> str:
    """Put drawn parts into an SVG of this size.

    Examples
    --------
    >>> frame("", 10, 20, "nothing")[-28:]
    'aria-label="nothing" ></svg>'
    """
    size = f'width="{wide:.10g}" height="{high:.10g}" viewBox="0 0 {wide:.10g} {high:.10g}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} '
        f'font-family="{FONT}" fill="currentColor" role="img" aria-label="{escape(label)}" {more}>{body}</svg>'
    )


def drawing(view: TreeView) -> tuple[str, float, float]:
    """Draw all nodes and lines of a view; return them with the width and height that they take.

    Examples
    --------
    >>> from quercus.explain import Leaf, Node, TreeView
    >>> leaf = Node(0, -1, None, 0, None, True, (9.0,), "a", 0.0, Leaf("majority", True, (0.4, 1.0), False, 9.0))
    >>> drawing(TreeView("HoeffdingTree", ("a",), (), (leaf,), 9))[1:]
    (164, 64.0)
    """
    across = places(view)
    spot: dict[int, tuple[float, float]] = {
        node.id: (_PAD + _COLUMN * (node.depth - view.root.depth), _PAD + _ROW * place)
        for node, place in zip(view.nodes, across, strict=True)
    }
    hues = colours(view)
    parts = [_edges(view, node, spot) for node in view.nodes if not node.is_leaf]
    parts += [_box(view, node, spot[node.id], hues) for node in view.nodes]
    wide = 2 * _PAD + _BOX + _COLUMN * (view.depth - view.root.depth)
    return "".join(parts), wide, 2 * _PAD + _HIGH + _ROW * max(across)


def legend(view: TreeView) -> list[tuple[str, str]]:
    """Return the colours and the names of the classes; those without a colour of their own come last, together.

    Examples
    --------
    >>> from quercus.explain import Leaf, Node, TreeView
    >>> leaf = Node(0, -1, None, 0, None, True, (9.0,), "a", 0.0, Leaf("majority", True, (0.4, 1.0), False, 9.0))
    >>> legend(TreeView("HoeffdingTree", ("a",), (), (leaf,), 9))
    [('#0072B2', "'a'")]
    """
    hues = colours(view)
    named = [(hue, shorten(show_value(c), 28)) for hue, c in zip(hues, view.classes, strict=True) if hue != GREY]
    grey = hues.count(GREY)
    return [*named, (GREY, others(grey))] if grey else named


def shown_note(view: TreeView, shown: TreeView) -> str:
    """Say what a pruned drawing leaves out, nothing if it leaves out nothing.

    Examples
    --------
    >>> from quercus.explain import Leaf, Node, TreeView
    >>> leaf = Node(0, -1, None, 0, None, True, (9.0,), "a", 0.0, Leaf("majority", True, (0.4, 1.0), False, 9.0))
    >>> view = TreeView("HoeffdingTree", ("a",), (), (leaf,), 9)
    >>> shown_note(view, view)
    ''
    """
    if shown is view:
        return ""
    return f"{len(shown.nodes):,} of {plural(len(view.nodes), 'node')} shown; dashed boxes hide the rest"


def _text(x: float, y: float, text: str, size: float, room: float, more: str = "") -> str:
    """Write a line, squeezed where it could be wider than the room for it."""
    wide = _pixels(text, size) * (1.0 if "font-weight" in more else _SQUEEZE)
    squeeze = f' textLength="{room:.10g}" lengthAdjust="spacingAndGlyphs"' if wide > room else ""
    return f'<text x="{x:.10g}" y="{y:.1f}" font-size="{size:.10g}"{squeeze} {more}>{escape(text)}</text>'


def _pixels(text: str, size: float) -> float:
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


def _fitted(write: Callable[[int], str], size: float, room: float) -> str:
    """Return the longest of a text's shortened forms that fits; ``write`` gives the form of so many columns."""
    columns = 40
    while columns > 6 and _pixels(write(columns), size) * _SQUEEZE > room:
        columns -= 1
    return write(columns)


def _header(view: TreeView, shown: TreeView, wide: float) -> tuple[str, float]:
    """Draw title, legend and notes; return them with the height that they take."""
    parts = [_text(0, 14, summary(view), 14, wide, 'font-weight="600"')]
    x, y = 0.0, 38.0
    for hue, name in legend(shown):
        step = 34 + _SQUEEZE * _pixels(name, 12)
        if x > 0 and x + step > wide:
            x, y = 0.0, y + 20
        parts.append(f'<rect x="{x:.10g}" y="{y - 10:.10g}" width="12" height="12" rx="3" fill="{hue}"/>')
        parts.append(_text(x + 18, y, name, 12, wide - 18))
        x += step
    if len(shown.nodes) > 1:
        y += 23
        parts.append(_missing_mark(7, y - 4))
        parts.append(_text(20, y, f"{MISSING_NOTE} · thicker lines carry more labels", 11.5, wide - 20))
    if shown is not view:
        y += 18
        parts.append(_text(0, y, shown_note(view, shown), 11.5, wide))
    return "".join(parts), y + 16


def _missing_mark(x: float, y: float) -> str:
    return (
        f'<circle cx="{x:.10g}" cy="{y:.10g}" r="6" fill="none" stroke="currentColor" stroke-opacity=".7"/>'
        f'<text x="{x:.10g}" y="{y + 3.4:.10g}" font-size="9.5" font-weight="600" text-anchor="middle">?</text>'
    )


def _edges(view: TreeView, node: Node, spot: dict[int, tuple[float, float]]) -> str:
    """Draw the lines to both children, side by side where they leave the box."""
    children = view.children(node)
    if not children:
        return ""
    whole = view.root.total
    thick = [1.2 + _THICKEST * (child.total / whole if whole > 0 else 0.0) for child in children]
    x, middle = spot[node.id][0] + _BOX, spot[node.id][1] + _HIGH / 2
    parts = []
    for left, child, wide, other in zip((True, False), children, thick, reversed(thick), strict=True):
        start = middle + (-other if left else other) / 2
        end_x, end_y = spot[child.id][0], spot[child.id][1] + _HIGH / 2
        bend = (x + end_x) / 2
        parts.append(
            f'<path d="M{x:.10g} {start:.1f}C{bend:.10g} {start:.1f} {bend:.10g} {end_y:.1f} {end_x:.10g} {end_y:.1f}" '
            f'fill="none" stroke="currentColor" stroke-opacity=".32" stroke-width="{wide:.2f}"/>'
        )
        line = end_y - wide / 2 - 4 if left else end_y + wide / 2 + 11
        mark = node.missing_left == left
        parts.append(_missing_mark(end_x - 11, line - 3.5) if mark else "")
        word_x = end_x - (21 if mark else 6)
        word = "yes" if left else "no"
        parts.append(f'<text x="{word_x:.10g}" y="{line:.1f}" font-size="10.5" text-anchor="end">{word}</text>')
    return "".join(parts)


def _box(view: TreeView, node: Node, at: tuple[float, float], hues: list[str]) -> str:
    """Draw a node."""
    x, y = at
    room = _BOX - 2 * _INSIDE
    hue = dict(zip(view.classes, hues, strict=True)).get(node.prediction, GREY)
    look = 'fill="currentColor" fill-opacity=".05" stroke="currentColor" stroke-opacity=".45"'
    if node.is_leaf:
        look = f'fill="{hue}" fill-opacity=".16" stroke="{hue}" stroke-width="1.6"'
    elif node.hidden_leaves:
        look += ' stroke-dasharray="4 3"'
    share = _share(view, node)
    head_room = room - (10 + 8 * len(share) if share else 0)
    head, right = _words(node, head_room)
    end = x + _BOX - _INSIDE
    return "".join(
        [
            f"<g><title>{escape(chr(10).join(details(view, node)))}</title>",
            f'<rect x="{x:.10g}" y="{y:.1f}" width="{_BOX}" height="{_HIGH}" rx="9" {look}/>',
            _text(x + _INSIDE, y + 19, head, 12.5, head_room, 'font-weight="600"'),
            _text(end, y + 19, share, 12, room, 'text-anchor="end"') if share else "",
            _bar(node, x + _INSIDE, y + 27, room, hues),
            _text(x + _INSIDE, y + 50, plural(node.total, "label"), 10.5, 0.54 * room, 'fill-opacity=".8"'),
            _text(end, y + 50, right, 10.5, 0.45 * room, 'text-anchor="end" fill-opacity=".8"') if right else "",
            "</g>",
        ]
    )


def _share(view: TreeView, node: Node) -> str:
    """Return the share of a leaf's answer among its labels."""
    if not node.is_leaf or node.total <= 0 or node.prediction not in view.classes:
        return ""
    return show_share(node.shares[view.classes.index(node.prediction)])


def _words(node: Node, room: float) -> tuple[str, str]:
    """Return what stands on top of a box and at its lower right."""
    test = node.test
    if node.leaf is not None:
        answer = "no answer yet" if node.prediction is None else show_value(node.prediction)
        sure = "certain" if node.leaf.consistent else "uncertain"
        return _fitted(lambda columns: shorten(answer, columns), 12.5, room), sure
    hidden = f"+{plural(node.hidden_leaves, 'leaf')}" if node.hidden_leaves else ""
    if test is None:
        return "", hidden
    return _fitted(lambda columns: brief(test, True, columns, pretty=True), 12.5, room), hidden


def _bar(node: Node, x: float, y: float, wide: float, hues: list[str]) -> str:
    """Draw the classes' shares side by side, grey ones last."""
    parts = [f'<rect x="{x:.10g}" y="{y:.1f}" width="{wide:.10g}" height="9" fill="currentColor" fill-opacity=".12"/>']
    pieces = [(hue, share) for hue, share in zip(hues, node.shares, strict=True) if hue != GREY and share > 0]
    pieces.append((GREY, sum(share for hue, share in zip(hues, node.shares, strict=True) if hue == GREY)))
    for hue, share in pieces:
        if share > 0:
            parts.append(f'<rect x="{x:.2f}" y="{y:.1f}" width="{wide * share:.2f}" height="9" fill="{hue}"/>')
            x += wide * share
    return "".join(parts)
