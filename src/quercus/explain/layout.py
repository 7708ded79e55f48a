"""Where the nodes of a drawn tree go: as close together as they can without touching, every parent midway.

After Reingold and Tilford, "Tidier drawings of trees", 1981, with outlines kept as lists instead of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quercus.explain.boxes import Placed


@dataclass(slots=True)
class _Outline:
    """The first and last place that a subtree takes at each depth, its own root last; all are off by ``shift``."""

    first: list[float]
    last: list[float]
    shift: float = 0.0


def spread(nodes: Sequence[Placed]) -> list[float]:
    """Return the place of each node across a tree of any kind, in preorder; at the same depth at least 1 apart."""
    children: dict[int, list[int]] = {}
    for node in nodes:
        children.setdefault(node.parent, []).append(node.id)
    from_parent = {node.id: 0.0 for node in nodes}
    done: list[_Outline] = []
    for node in reversed(nodes):
        below = children.get(node.id, [])
        if not below:
            done.append(_Outline([0.0], [0.0]))
            continue
        outline = done.pop()
        for child in below[1:]:
            right = done.pop()
            from_parent[child] = _apart(outline, right)
            outline = _joined(outline, right, from_parent[child])
        middle = from_parent[below[-1]] / 2
        for child in below:
            from_parent[child] -= middle
        outline.shift -= middle
        outline.first.append(-outline.shift)
        outline.last.append(-outline.shift)
        done.append(outline)
    place: dict[int, float] = {}
    for node in nodes:
        place[node.id] = from_parent[node.id] + place.get(node.parent, 0.0)
    lowest = min(place.values())
    return [place[node.id] - lowest for node in nodes]


def _apart(left: _Outline, right: _Outline) -> float:
    """Return how far apart two subtrees must be so that they do not touch at any depth."""
    common = min(len(left.first), len(right.first))
    ends = zip(left.last[: -common - 1 : -1], right.first[: -common - 1 : -1], strict=True)
    return 1.0 + max(end - start for end, start in ends) + left.shift - right.shift


def _joined(left: _Outline, right: _Outline, apart: float) -> _Outline:
    """Join two outlines, the right one moved; only as much is touched as the lower of the two is high."""
    right.shift += apart
    kept = left if len(left.first) >= len(right.first) else right
    for level in range(1, min(len(left.first), len(right.first)) + 1):
        first = left.first[-level] + left.shift
        last = right.last[-level] + right.shift
        kept.first[-level], kept.last[-level] = first - kept.shift, last - kept.shift
    return kept
