"""A drawn tree: one SVG without scripts, outside files or ids, so that many fit on a page."""

from __future__ import annotations

from collections.abc import Collection

from quercus.explain.boxes import Face
from quercus.explain.captions import GREY, answers, brief, colours, details, summary, tested
from quercus.explain.nodes import Node
from quercus.explain.picture import (
    SQUEEZE,
    draw,
    fit_head,
    frame,
    head_space,
    make_bar,
    missing_mark,
    pixels,
    write_line,
)
from quercus.explain.view import TreeView
from quercus.explain.words import distinct_names, others, plural, shorten_among, show_share, show_value

MISSING_FOOTNOTE = "missing values take this branch"
_MARGIN = 18
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
    drawn, wide, high = draw(faces(shown))
    wide = max(wide, 440)
    header, top = _header(view, shown, wide)
    moved = f'{header}<g transform="translate(0,{top:.10g})">{drawn}</g>'
    body = f'{_GROUND}<g transform="translate({_MARGIN},{_MARGIN})">{moved}</g>'
    return frame(body, wide + 2 * _MARGIN, high + top + 2 * _MARGIN, summary(view), 'class="quercus-ground"')


def faces(view: TreeView) -> list[Face]:
    """Return all nodes of a view as a picture draws them."""
    hues = colours(view)
    fill = dict(zip(view.classes, hues, strict=True))
    whole, features, labels = view.root.total, tested(view), answers(view)
    found = []
    for node in view.nodes:
        share = _share(view, node)
        head, right = _words(node, head_space(share), labels if node.is_leaf else features)
        first = node.side == "left"
        found.append(
            Face(
                id=node.id,
                parent=node.parent,
                depth=node.depth,
                head=head,
                corner=share,
                bar=make_bar(hues, node.shares),
                left=plural(node.total, "label"),
                right=right,
                title="\n".join(details(view, node)),
                branch="yes" if first else "no",
                missing=node.side is not None and view.node(node.parent).missing_left == first,
                share=node.total / whole if whole > 0 else 0.0,
                hue=fill.get(node.prediction, GREY) if node.is_leaf else None,
                dashed=bool(node.hidden_leaves),
            )
        )
    return found


def legend(view: TreeView) -> list[tuple[str, str]]:
    """Return the colours and the names of the classes; those without a colour of their own come last, together."""
    hues = colours(view)
    coloured = [(hue, show_value(label)) for hue, label in zip(hues, view.classes, strict=True) if hue != GREY]
    names = distinct_names([name for _, name in coloured], 28)
    named = [(hue, name) for (hue, _), name in zip(coloured, names, strict=True)]
    grey = hues.count(GREY)
    return [*named, (GREY, others(grey))] if grey else named


def shown_footnote(view: TreeView, shown: TreeView) -> str:
    """Say what a pruned drawing leaves out, nothing if it leaves out nothing."""
    if shown is view:
        return ""
    return f"{len(shown.nodes):,} of {plural(len(view.nodes), 'node')} shown; dashed boxes hide the rest"


def _header(view: TreeView, shown: TreeView, wide: float) -> tuple[str, float]:
    """Draw title, legend and notes; return them with the height that they take."""
    parts = [write_line(0, 14, summary(view), 14, wide, 'font-weight="600"')]
    x, y = 0.0, 38.0
    for hue, name in legend(shown):
        step = 34 + SQUEEZE * pixels(name, 12)
        if x > 0 and x + step > wide:
            x, y = 0.0, y + 20
        parts.append(f'<rect x="{x:.10g}" y="{y - 10:.10g}" width="12" height="12" rx="3" fill="{hue}"/>')
        parts.append(write_line(x + 18, y, name, 12, wide - 18))
        x += step
    if len(shown.nodes) > 1:
        y += 23
        parts.append(missing_mark(7, y - 4))
        parts.append(write_line(20, y, f"{MISSING_FOOTNOTE} · thicker lines carry more labels", 11.5, wide - 20))
    if shown is not view:
        y += 18
        parts.append(write_line(0, y, shown_footnote(view, shown), 11.5, wide))
    return "".join(parts), y + 16


def _share(view: TreeView, node: Node) -> str:
    """Return the share of a leaf's answer among its labels, or its probability where that is another thing."""
    if node.leaf is not None and node.leaf.probability is not None:
        return show_share(node.leaf.probability)
    if not node.is_leaf or node.total <= 0 or node.prediction not in view.classes:
        return ""
    return show_share(node.shares[view.classes.index(node.prediction)])


def _words(node: Node, space: float, names: Collection[str]) -> tuple[str, str]:
    """Return what stands on top of a box and at its lower right."""
    test = node.test
    if node.leaf is not None:
        answer = "no answer yet" if node.prediction is None else show_value(node.prediction)
        sure = {None: "", True: "certain", False: "uncertain"}[node.leaf.consistent]
        return fit_head(lambda columns: shorten_among(answer, columns, names), space), sure
    hidden = f"+{plural(node.hidden_leaves, 'leaf')}" if node.hidden_leaves else ""
    if test is None:
        return "", hidden
    return fit_head(lambda columns: brief(test, True, columns, pretty=True, names=names), space), hidden
