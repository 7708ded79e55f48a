"""The parts of a drawn tree: a test, a leaf, a node. Plain data that no learner and no renderer owns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from quercus.explain.words import Label, show_name, show_value


@dataclass(frozen=True, slots=True)
class Test:
    """The question of an inner node; an example that passes goes left.

    Parameters
    ----------
    feature
        Name of the feature.
    op
        ``"<="`` for numbers, ``"=="`` for categories.
    value
        The threshold or the category.

    Examples
    --------
    >>> Test("age", "<=", 41.0).text(passed=False)
    'age > 41'
    >>> Test("job", "==", "clerk").text()
    "job == 'clerk'"
    """

    __test__ = False  # the name is not meant for pytest

    feature: str
    op: Literal["<=", "=="]
    value: float | str | int | bool

    def text(self, passed: bool = True) -> str:
        """Write the test as it holds for the examples that passed it, or for those that did not.

        Examples
        --------
        >>> Test("job", "==", "clerk").text(passed=False)
        "job != 'clerk'"
        """
        return f"{show_name(self.feature)} {self.sign(passed)} {show_value(self.value)}"

    def sign(self, passed: bool = True) -> str:
        """Return the comparison that holds on this side.

        Examples
        --------
        >>> Test("age", "<=", 41.0).sign(passed=False)
        '>'
        """
        if passed:
            return self.op
        return ">" if self.op == "<=" else "!="


@dataclass(frozen=True, slots=True)
class Leaf:
    """What is special to a leaf.

    Parameters
    ----------
    answered_by
        Whether its class counts alone answer, or naive Bayes over all features.
    growing
        False once the leaf no longer looks for a split.
    interval
        Bounds on the true share of the leaf's predicted class.
    consistent
        Whether it is certain which class is the most frequent here.
    labels_since_split
        Weight of the labels learned since the leaf was made.

    Examples
    --------
    >>> Leaf("majority", True, (0.58, 0.84), True, 48.0).consistent
    True
    """

    answered_by: Literal["majority", "naive Bayes"]
    growing: bool
    interval: tuple[float, float]
    consistent: bool
    labels_since_split: float


@dataclass(frozen=True, slots=True)
class Node:
    """One node of a tree: inner (has a test), leaf (has a ``leaf``), or cut off (has hidden leaves).

    Parameters
    ----------
    id, parent
        Numbers of the node and of the node above; -1 above the root.
    side
        Which child of its parent it is; None for the root.
    depth
        0 for the root.
    test
        The question of an inner node; a node that was cut off keeps its own.
    missing_left
        Where examples go whose value is missing.
    counts
        Weight of the examples per class, in the order of ``TreeView.classes``; inner nodes: the sum over their leaves.
    prediction
        The answer here, None if nothing has been learned.
    gain
        What the split gained when it was made.
    leaf
        Details of a leaf.
    hidden_leaves
        Number of leaves below that ``TreeView.pruned`` has left out.

    Examples
    --------
    >>> leaf = Leaf("majority", True, (0.58, 0.84), True, 48.0)
    >>> node = Node(0, -1, None, 0, None, True, (34.0, 14.0), "yes", 0.0, leaf)
    >>> node.total, node.is_leaf
    (48.0, True)
    """

    id: int
    parent: int
    side: Literal["left", "right"] | None
    depth: int
    test: Test | None
    missing_left: bool
    counts: tuple[float, ...]
    prediction: Label
    gain: float
    leaf: Leaf | None
    hidden_leaves: int = 0

    @property
    def is_leaf(self) -> bool:
        """Whether the node is a leaf of the tree itself, not only of a pruned view."""
        return self.leaf is not None

    @property
    def total(self) -> float:
        """Weight of all examples of the node."""
        return float(sum(self.counts))

    @property
    def shares(self) -> tuple[float, ...]:
        """Share of each class; zeros while the node is empty."""
        total = self.total
        return tuple(count / total if total > 0 else 0.0 for count in self.counts)
