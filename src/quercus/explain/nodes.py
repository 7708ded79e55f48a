"""The parts of a drawn tree: a test, a leaf, a node. Plain data that no learner and no renderer owns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from quercus.explain.words import Label, show_name, show_set, show_value

Category = float | str | int | bool
_SIGNS = {"<=": ("<=", ">"), "==": ("==", "!="), "in": ("in", "not in")}


@dataclass(frozen=True, slots=True)
class Test:
    """The question of an inner node; an example that passes goes left.

    Parameters
    ----------
    feature
        Name of the feature.
    op
        ``"<="`` for numbers, ``"=="`` and ``"in"`` for categories.
    value
        The threshold, the category or a tuple of categories. No category at all, or a threshold above all numbers: the
        question is whether the value is missing.

    Examples
    --------
    >>> Test("age", "<=", 41.0).text(passed=False)
    'age > 41'
    >>> Test("job", "==", "clerk").text()
    "job == 'clerk'"
    >>> Test("job", "in", ("clerk", "nurse")).text(passed=False)
    "job not in {'clerk', 'nurse'}"
    >>> Test("job", "in", ()).text(), Test("age", "<=", float("inf")).text()
    ('job is missing', 'age is known')
    """

    __test__ = False  # the name is not meant for pytest

    feature: str
    op: Literal["<=", "==", "in"]
    value: Category | tuple[Category, ...]

    @property
    def asks_missing(self) -> bool:
        """Whether the only question is if the value is missing."""
        return self.value == () if self.op == "in" else self.op == "<=" and self.value == math.inf

    @property
    def categories(self) -> tuple[Category, ...]:
        """The categories that pass, of a test of categories.

        Examples
        --------
        >>> Test("job", "==", "clerk").categories
        ('clerk',)
        """
        return self.value if isinstance(self.value, tuple) else (self.value,)

    def text(self, passed: bool = True) -> str:
        """Write the test as it holds for the examples that passed it, or for those that did not.

        Examples
        --------
        >>> Test("job", "==", "clerk").text(passed=False)
        "job != 'clerk'"
        """
        return f"{show_name(self.feature)} {self.sign(passed)} {self.shown(passed)}"

    def sign(self, passed: bool = True) -> str:
        """Return the comparison that holds on this side.

        Examples
        --------
        >>> Test("age", "<=", 41.0).sign(passed=False)
        '>'
        """
        return "is" if self.asks_missing else _SIGNS[self.op][not passed]

    def shown(self, passed: bool = True, columns: int | None = None) -> str:
        """Write what is compared with; of many categories as many as there is room for.

        Examples
        --------
        >>> Test("job", "in", tuple("abcdefgh")).shown(columns=20)
        "{'a', ... 7 more}"
        """
        if self.asks_missing:
            return "missing" if passed == (self.op == "in") else "known"
        return show_set(self.value, columns) if isinstance(self.value, tuple) else show_value(self.value)


@dataclass(frozen=True, slots=True)
class Leaf:
    """What is special to a leaf.

    Parameters
    ----------
    answered_by
        Whether its class counts alone answer, naive Bayes over all features, or all prunings of the tree.
    growing
        False once the leaf no longer looks for a split.
    interval
        Bounds on the true share of the leaf's predicted class, None if not known.
    consistent
        Whether it is certain which class is the most frequent here, None if not known.
    labels_since_split
        Weight of the labels learned since the leaf was made.
    probability
        Probability of its answer, where that is more than the leaf's counts tell.

    Examples
    --------
    >>> Leaf("majority", True, (0.58, 0.84), True, 48.0).consistent
    True
    """

    answered_by: Literal["majority", "naive Bayes", "all prunings"]
    growing: bool
    interval: tuple[float, float] | None
    consistent: bool | None
    labels_since_split: float
    probability: float | None = None


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
