"""A tree as plain data: what every renderer reads and every tree learner can give.

Nothing here recurses, so that a chain of thousands of nodes is as good as any other tree.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from quercus.explain.boxes import choose_opened
from quercus.explain.explanation import Explanation, PathStep
from quercus.explain.nodes import Leaf, Node, Test
from quercus.explain.words import Label

__all__ = ["Explanation", "Leaf", "Node", "PathStep", "Test", "TreeView"]


@dataclass(frozen=True, repr=False)
class TreeView:
    """A tree as it stands, for people and renderers.

    Parameters
    ----------
    learner
        Name of the class that learned it.
    classes
        The labels, in the order of every node's counts.
    features
        The names of all features.
    nodes
        The nodes in preorder: a node, all of its left side, all of its right side.
    rows
        Number of rows learned.
    fewer
        Why the counts may be fewer than these.
    beside
        What counts in the answers beside the tree; empty: nothing.

    Examples
    --------
    >>> leaf = Leaf("majority", True, (0.2, 0.9), False, 10.0)
    >>> view = TreeView("ConfidenceTree", ("no", "yes"), ("age",), (
    ...     Node(0, -1, None, 0, Test("age", "<=", 41.0), True, (8.0, 12.0), "yes", 0.1, None),
    ...     Node(1, 0, "left", 1, None, True, (1.0, 9.0), "yes", 0.0, leaf),
    ...     Node(2, 0, "right", 1, None, True, (7.0, 3.0), "no", 0.0, leaf),
    ... ), rows=20)
    >>> view
    <TreeView of ConfidenceTree: 2 leaves, depth 1, 20 rows learned>
    >>> [node.prediction for node in view.leaves()]
    ['yes', 'no']
    >>> [child.id for child in view.children(view.root)], [node.id for node in view.path(2)]
    ([1, 2], [0, 2])
    >>> view.leaves_below()
    (2, 1, 1)
    >>> view.pruned(max_depth=0).root.hidden_leaves
    2
    """

    learner: str
    classes: tuple[Label, ...]
    features: tuple[str, ...]
    nodes: tuple[Node, ...]
    rows: int
    fewer: str = "a split passes on what its leaf had counted, not what that leaf was given"
    beside: str = ""

    def __post_init__(self) -> None:
        if not self.nodes:
            raise ValueError("a tree view needs at least one node; give an empty leaf for a tree that learned nothing.")
        open_branches: list[tuple[int, str]] = [(-1, "root")]
        for node in self.nodes:
            place = (node.parent, node.side or "root")
            if not open_branches or open_branches.pop() != place:
                raise ValueError(f"node {node.id} is out of order; list the nodes in preorder, left side first.")
            if len(node.counts) != len(self.classes):
                raise ValueError(f"node {node.id} has {len(node.counts)} counts for {len(self.classes)} classes.")
            if node.leaf is None and not node.hidden_leaves:
                if node.test is None:
                    raise ValueError(f"node {node.id} has neither a test nor a leaf; give it one of them.")
                open_branches += [(node.id, "right"), (node.id, "left")]
        if open_branches:
            parent, side = open_branches[-1]
            raise ValueError(f"node {parent} has no {side} child; give both children of every inner node.")
        if len(self._at) != len(self.nodes):
            raise ValueError("two nodes have the same id; ids must be unique.")

    def __repr__(self) -> str:
        from quercus.explain.captions import summary

        return f"<TreeView of {summary(self)}>"

    @property
    def root(self) -> Node:
        """The node at the top."""
        return self.nodes[0]

    @cached_property
    def depth(self) -> int:
        """Depth of the deepest node that is shown; 0 for a single leaf."""
        return max(node.depth for node in self.nodes)

    @cached_property
    def n_leaves(self) -> int:
        """Number of leaves, with those that a pruned view hides."""
        return sum(node.hidden_leaves or node.is_leaf for node in self.nodes)

    @cached_property
    def _at(self) -> dict[int, int]:
        return {node.id: place for place, node in enumerate(self.nodes)}

    @cached_property
    def _right(self) -> dict[int, int]:
        return {node.parent: place for place, node in enumerate(self.nodes) if node.side == "right"}

    def node(self, node_id: int) -> Node:
        """Return the node of this id.

        Parameters
        ----------
        node_id
            As in ``Node.id``.
        """
        place = self._at.get(node_id)
        if place is None:
            raise ValueError(f"there is no node {node_id} in this view of {len(self.nodes)} nodes.")
        return self.nodes[place]

    def children(self, node: Node) -> tuple[Node, ...]:
        """Return the left and the right child, or nothing for a leaf and for a node that was cut off.

        Parameters
        ----------
        node
            A node of this view.
        """
        right = self._right.get(node.id)
        if right is None:
            return ()
        return self.nodes[self._at[node.id] + 1], self.nodes[right]

    def path(self, node_id: int) -> list[Node]:
        """Return the nodes from the root down to this one.

        Parameters
        ----------
        node_id
            As in ``Node.id``.
        """
        steps = [self.node(node_id)]
        while steps[-1].parent != -1:
            steps.append(self.node(steps[-1].parent))
        return steps[::-1]

    def leaves(self) -> list[Node]:
        """Return the leaves from left to right, without those that a pruned view hides."""
        return [node for node in self.nodes if node.is_leaf]

    def leaves_below(self) -> tuple[int, ...]:
        """Return for each node, in the order of ``nodes``, how many leaves it stands for; 1 for a leaf."""
        below = [node.hidden_leaves or int(node.is_leaf) for node in self.nodes]
        for place in range(len(self.nodes) - 1, 0, -1):
            below[self._at[self.nodes[place].parent]] += below[place]
        return tuple(below)

    def pruned(self, max_depth: int | None = None, max_nodes: int | None = None) -> TreeView:
        """Return a smaller view that keeps the parts most examples go through.

        Where a subtree is left out, its top node stays and says how many leaves it hides.

        Parameters
        ----------
        max_depth
            Deepest node to show; None for no limit.
        max_nodes
            Most nodes to show; None for no limit.
        """
        opened = choose_opened(self.nodes, [node.total for node in self.nodes], max_depth, max_nodes)
        if len(opened) == len(self._right):
            return self
        below = self.leaves_below()
        kept = []
        for place, node in enumerate(self.nodes):
            if node.parent != -1 and node.parent not in opened:
                continue
            cut = not (node.is_leaf or node.id in opened)
            kept.append(replace(node, hidden_leaves=below[place]) if cut else node)
        return replace(self, nodes=tuple(kept))
