"""Where the nodes of a drawn tree go: as close together as they can without touching, every parent midway.

After Reingold and Tilford, "Tidier drawings of trees", 1981, with outlines kept as lists instead of threads.
"""

from __future__ import annotations

from dataclasses import dataclass

from quercus.explain.view import TreeView


@dataclass(slots=True)
class _Outline:
    """The first and last place that a subtree takes at each depth, its own root last; all are off by ``shift``."""

    first: list[float]
    last: list[float]
    shift: float = 0.0


def places(view: TreeView) -> list[float]:
    """Return the place of each node across the tree, in the order of ``view.nodes``.

    Neighbours at the same depth are at least 1 apart, the smallest place is 0.

    Examples
    --------
    >>> from quercus.explain import Leaf, Node, Test, TreeView
    >>> leaf = Leaf("majority", True, (0.2, 0.9), False, 10.0)
    >>> places(TreeView("ConfidenceTree", ("no",), ("age",), (
    ...     Node(0, -1, None, 0, Test("age", "<=", 41.0), True, (2.0,), "no", 0.1, None),
    ...     Node(1, 0, "left", 1, None, True, (1.0,), "no", 0.0, leaf),
    ...     Node(2, 0, "right", 1, None, True, (1.0,), "no", 0.0, leaf),
    ... ), rows=2))
    [0.5, 0.0, 1.0]
    """
    from_parent = dict.fromkeys((node.id for node in view.nodes), 0.0)
    done: list[_Outline] = []
    for node in reversed(view.nodes):
        children = view.children(node)
        if not children:
            done.append(_Outline([0.0], [0.0]))
            continue
        left, right = done.pop(), done.pop()
        apart = _apart(left, right)
        from_parent[children[0].id], from_parent[children[1].id] = -apart / 2, apart / 2
        done.append(_joined(left, right, apart))
    place: dict[int, float] = {}
    for node in view.nodes:
        place[node.id] = from_parent[node.id] + place.get(node.parent, 0.0)
    lowest = min(place.values())
    return [place[node.id] - lowest for node in view.nodes]


def _apart(left: _Outline, right: _Outline) -> float:
    """Return how far apart two subtrees must be so that they do not touch at any depth."""
    common = min(len(left.first), len(right.first))
    ends = zip(left.last[: -common - 1 : -1], right.first[: -common - 1 : -1], strict=True)
    return 1.0 + max(end - start for end, start in ends) + left.shift - right.shift


def _joined(left: _Outline, right: _Outline, apart: float) -> _Outline:
    """Join two outlines under a new root at place 0; only as much is touched as the lower of the two is high."""
    left.shift -= apart / 2
    right.shift += apart / 2
    kept = left if len(left.first) >= len(right.first) else right
    for level in range(1, min(len(left.first), len(right.first)) + 1):
        first = left.first[-level] + left.shift
        last = right.last[-level] + right.shift
        kept.first[-level], kept.last[-level] = first - kept.shift, last - kept.shift
    kept.first.append(-kept.shift)
    kept.last.append(-kept.shift)
    return kept
