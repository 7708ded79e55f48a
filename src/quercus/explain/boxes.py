"""What the renderers need to know of a tree of any kind: boxes, the lines between them, and which of them to show."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Box:
    """A node as graph languages draw it.

    Parameters
    ----------
    id, parent, depth
        Numbers of the node and of the node above (-1 above the root), and how far below the root it is.
    lines
        What stands in the box.
    branch
        What stands on the line that leads to it.
    share
        Share of the examples that come here.
    hue
        Colour of its answer; None if it is no leaf.
    dashed
        Whether more is below that is not shown.
    """

    id: int
    parent: int
    depth: int
    lines: tuple[str, ...]
    branch: str = ""
    share: float = 1.0
    hue: str | None = None
    dashed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Face:
    """A node as a picture draws it.

    Parameters
    ----------
    id, parent, depth, branch, share, hue, dashed
        As in `Box`.
    head, corner
        What stands at its top, on the left and on the right.
    bar
        Colours and shares of the bar below that.
    left, right
        What stands at its bottom.
    title
        All that there is to tell, for those who point at it.
    missing
        Whether examples with a missing value come here from the node above.
    """

    id: int
    parent: int
    depth: int
    head: str
    left: str
    title: str
    corner: str = ""
    right: str = ""
    bar: tuple[tuple[str, float], ...] = ()
    branch: str = ""
    missing: bool = False
    share: float = 1.0
    hue: str | None = None
    dashed: bool = False


class Placed(Protocol):
    """A node with a place in a tree."""

    @property
    def id(self) -> int:
        """Number of the node."""

    @property
    def parent(self) -> int:
        """Number of the node above; -1 above the root."""

    @property
    def depth(self) -> int:
        """How far below the root it is."""


def last_children(nodes: Sequence[Placed]) -> set[int]:
    """Return the ids of the nodes after which their parent has no further child."""
    return set({node.parent: node.id for node in nodes}.values())


def choose_opened(
    nodes: Sequence[Placed], weights: Sequence[float], max_depth: int | None, max_nodes: int | None
) -> set[int]:
    """Choose the inner nodes whose children are shown, those with the largest weight first."""
    if max_depth is not None and max_depth < 0:
        raise ValueError(f"max_depth is {max_depth}; give 0 or more, or None for the whole tree.")
    if max_nodes is not None and max_nodes < 1:
        raise ValueError(f"max_nodes is {max_nodes}; give 1 or more, or None for the whole tree.")
    children: dict[int, list[int]] = {}
    for place, node in enumerate(nodes):
        children.setdefault(node.parent, []).append(place)
    opened: set[int] = set()
    waiting = [(-weights[0], 0)]
    left = len(nodes) - 1 if max_nodes is None else max_nodes - 1
    while waiting:
        node = nodes[heapq.heappop(waiting)[1]]
        below = children.get(node.id, [])
        if not below or (max_depth is not None and node.depth >= max_depth):
            continue
        if len(below) > left:
            continue
        left -= len(below)
        opened.add(node.id)
        for place in below:
            heapq.heappush(waiting, (-weights[place], place))
    return opened
