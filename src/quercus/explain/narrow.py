"""A drawn tree for narrow places: its boxes stand below each other, each further right than the one it belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from quercus.explain.boxes import Face
from quercus.explain.picture import BOX, HIGH, PAD, SQUEEZE, draw_box, missing_mark, pixels, write_line

_PAGE = 356  # what is left of the width of a telephone
_STEP, _LEAST_STEP = 32.0, 10.0
_BRANCH, _BETWEEN = 18, 10
_TRUNK = 11
_THICKEST = 7.0


def draw_narrow(nodes: Sequence[Face]) -> tuple[str, float, float]:
    """Draw all nodes and lines of a tree of any kind, in preorder; return them with the width and height they take."""
    nodes = [replace(nodes[0], branch="", missing=False), *nodes[1:]]
    deepest = max(node.depth for node in nodes) - nodes[0].depth
    step = max(_LEAST_STEP, min(_STEP, (_PAGE - BOX - 2 * PAD) / max(deepest, 1)))
    longest = [PAD + step * (node.depth - nodes[0].depth) + _said(node) for node in nodes]
    wide = max(2 * PAD + BOX + step * deepest, min(_PAGE, max(longest)))
    spot: dict[int, tuple[float, float]] = {}
    below: dict[int, list[Face]] = {}
    y = float(PAD)
    for node in nodes:
        y += _BRANCH if node.branch else 0
        spot[node.id] = (PAD + step * (node.depth - nodes[0].depth), y)
        below.setdefault(node.parent, []).append(node)
        y += HIGH + _BETWEEN
    lines = "".join(_lines(below[node.id], spot) for node in nodes if node.id in below)
    parts = [f'<g fill="none" stroke="currentColor" opacity=".32">{lines}</g>']
    for node in nodes:
        x, top = spot[node.id]
        if node.branch:
            parts.append(write_line(x + 1, top - 5, node.branch, 10.5, wide - x - 1))
        if node.missing:
            parts.append(missing_mark(x + 12 + SQUEEZE * pixels(node.branch, 10.5), top - 8.5))
        parts.append(draw_box(node, spot[node.id]))
    return "".join(parts), wide, y - _BETWEEN + PAD


def _said(node: Face) -> float:
    """Return how wide the words above a box are."""
    return SQUEEZE * pixels(node.branch, 10.5) + 20


def _lines(children: Sequence[Face], spot: dict[int, tuple[float, float]]) -> str:
    """Draw the line down from a node, which gets thinner with each child that leaves it."""
    parent_x, parent_y = spot[children[0].parent]
    x, y = parent_x + _TRUNK, parent_y + HIGH
    left = sum(child.share for child in children)
    parts = []
    for child in children:
        end_x, end_y = spot[child.id][0], spot[child.id][1] + HIGH / 2
        trunk, twig = (1.2 + _THICKEST * share for share in (left, child.share))
        parts.append(f'<path d="M{x:.10g} {y:.1f}V{end_y + twig / 2:.1f}" stroke-width="{trunk:.2f}"/>')
        parts.append(f'<path d="M{x:.10g} {end_y:.1f}H{end_x:.10g}" stroke-width="{twig:.2f}"/>')
        left, y = left - child.share, end_y
    return "".join(parts)
