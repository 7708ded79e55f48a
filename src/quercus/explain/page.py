"""A drawn tree for notebooks, reports and pages of its own."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from quercus.explain.boxes import Face
from quercus.explain.captions import footnotes, summary
from quercus.explain.narrow import draw_narrow
from quercus.explain.picture import FONT, GAP, draw, frame
from quercus.explain.svg import MISSING_FOOTNOTE, faces, legend, shown_footnote
from quercus.explain.view import TreeView

_LEGEND = "display:inline-flex;align-items:center;gap:6px;margin:0 16px 4px 0"
_SMALLEST = 0.8  # of its size, so that it can still be read
_NARROW = 700
_MOST_NARROW = 200
_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>{title}</title>
<style>
:root{{color-scheme:light dark}}
body{{margin:20px;color:#1b1d21;background:#fff}}
@media(prefers-color-scheme:dark){{body{{color:#e9eaec;background:#16181c}}}}
</style></head><body>
{body}
</body></html>
"""


def to_html(view: TreeView, max_depth: int | None = 5, max_nodes: int | None = 31, *, page: bool = False) -> str:
    """Draw a tree as HTML that takes its colours from the page around it and scrolls inside its own box.

    Parameters
    ----------
    view
        The tree.
    max_depth
        Deepest node to show; None for no limit.
    max_nodes
        Most nodes to show; what most examples go through comes first; None for no limit.
    page
        Return a whole page to save as a file, not a piece to put into one.

    Examples
    --------
    >>> from quercus.explain import Leaf, Node, TreeView
    >>> leaf = Node(0, -1, None, 0, None, True, (9.0,), "a", 0.0, Leaf("majority", True, (0.4, 1.0), False, 9.0))
    >>> to_html(TreeView("HoeffdingTree", ("a",), (), (leaf,), 9))[:27]
    '<div class="quercus-tree" s'
    """
    shown = view.pruned(max_depth, max_nodes)
    return write_html(summary(view), legend(shown), _footnotes(view, shown), faces(shown), page=page)


def write_html(
    title: str,
    colours: Sequence[tuple[str, str]],
    footnotes: Sequence[str],
    nodes: Sequence[Face],
    gap: float = GAP,
    *,
    page: bool = False,
) -> str:
    """Put a drawn tree of any kind, its title and its legend into HTML."""
    swatches = "".join(
        f'<span style="{_LEGEND}"><span style="width:12px;height:12px;flex:none;border-radius:3px;background:{hue}">'
        f"</span>{escape(name)}</span>"
        for hue, name in colours
    )
    said = f'<div style="opacity:.8;font-size:12px;margin:2px 0 8px">{" · ".join(footnotes)}</div>' if footnotes else ""
    body = (
        f'<div class="quercus-tree" style="container-type:inline-size;max-width:100%;font:13px/1.5 {FONT}">'
        f'<div style="font-size:15px;font-weight:600;margin-bottom:6px;overflow-wrap:anywhere">{escape(title)}</div>'
        f'<div style="overflow-wrap:anywhere">{swatches}</div>{said}'
        f'<div style="overflow-x:auto;max-width:100%" tabindex="0" role="region" aria-label="tree">'
        f"{_pictures(title, nodes, gap)}</div></div>"
    )
    return _PAGE.format(title=escape(title), body=body) if page else body


def _pictures(title: str, nodes: Sequence[Face], gap: float) -> str:
    """Draw a tree from left to right, a little smaller where the page asks for it, and from top to bottom for less."""
    drawn, wide, high = draw(nodes, gap)
    least = round(_SMALLEST * wide)
    shrinks = f"max-width:100%;min-width:{least}px;height:auto"
    small, narrow, low = draw_narrow(nodes) if len(nodes) <= _MOST_NARROW else ("", wide, high)
    if narrow >= least:
        return frame(drawn, wide, high, title, f'style="display:block;{shrinks}"')
    # Where styles are taken away from HTML the wide one alone is seen.
    turn = min(least, _NARROW)
    style = (
        f"<style>@container(max-width:{turn - 1}px){{.quercus-wide-{turn}{{display:none!important}}"
        f".quercus-narrow-{turn}{{display:block!important}}}}</style>"
    )
    both = (
        frame(drawn, wide, high, title, f'class="quercus-wide-{turn}" style="display:block;{shrinks}"'),
        frame(small, narrow, low, title, f'class="quercus-narrow-{turn}" style="display:none"'),
    )
    return style + "".join(both)


def _footnotes(view: TreeView, shown: TreeView) -> list[str]:
    if len(shown.nodes) == 1 and shown is view:
        return []
    ring = "display:inline-block;width:12px;line-height:12px;border:1px solid;border-radius:50%;text-align:center"
    parts = [f'<span style="{ring};font-size:9.5px;font-weight:600">?</span> {MISSING_FOOTNOTE}']
    parts.append("thicker lines carry more labels")
    if shown is not view:
        parts.append(shown_footnote(view, shown))
    return parts + footnotes(view)
