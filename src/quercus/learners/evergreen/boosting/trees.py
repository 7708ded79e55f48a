"""What grown trees remember, declared once: boosted ones, which are added up, and randomized ones, which vote."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from quercus.learners.evergreen.boosting.layout import MOST_DEPTH, STAGES
from quercus.learners.evergreen.layout import GRAIN, HEAVIEST, MOST_CODES
from quercus.learners.evergreen.state import SET_WORDS
from quercus.rows import NOMINAL
from quercus.state import Field, Index, Real, State, StateError, Whole

_LARGE = 1e12
VALUE = Real(low=-_LARGE, high=_LARGE)
HESSIAN = Real(low=0.0, high=_LARGE)


class GrownTreesState(State):
    """Trees, each behind the one before; children come in pairs, behind their parents. What leaves hold comes below.

    Examples
    --------
    >>> trees = RandomizedTreesState.of(outputs=2, node=3, tree=1)
    >>> trees.check()
    >>> trees.used["node"], trees.sizes["node"]
    (0, 3)
    """

    counters: ClassVar = {
        "node": ("head", "nodes"),
        "tree": ("head", "trees"),
        "leaf": ("head", "leaves"),
        "set": ("head", "sets"),
    }
    head = Field(
        {
            "nodes": Whole(),
            "trees": Whole(high=STAGES[-1]),
            "leaves": Whole(),
            "sets": Whole(),
            "rate": Real(low=0.0, high=1.0),
            "mean_weight": Real(low=GRAIN, high=HEAVIEST),  # of the rows that it was fitted to
        },
        1,
        fill={"mean_weight": 1.0},
    )
    nodes = Field(
        {
            "threshold": Real(inf=True),
            "gain": Real(low=0.0, high=1e18),
            "weight": Real(low=0.0, high=1e18),  # of its rows
            "left": Index("node", optional=False),  # 0: a leaf
            "leaf": Index("leaf"),
            "set": Index("set"),  # nominal
            "feature": Whole(np.int32, low=-1),
            "cut": Whole(np.int32, high=MOST_CODES),  # the largest code that goes left
            "missing_left": Whole(np.int32, high=1),
        },
        "node",
        fill={"feature": -1, "leaf": -1, "set": -1},
    )
    roots = Field(Index("node", optional=False), "tree")
    sets = Field(np.uint64, "set", SET_WORDS)

    @property
    def trees(self) -> int:
        """Their number."""
        return int(self.head["trees"][0])

    @classmethod
    def of(cls, outputs: int, **sizes: int) -> Self:
        """Return no trees, with room for so many.

        Parameters
        ----------
        outputs
            Of a leaf.
        sizes
            Of the other dimensions.
        """
        return cls(parts=None, **{"node": 0, "tree": 0, "leaf": 0, "set": 0, **sizes, "output": outputs})

    def compact(self) -> Self:
        """Return a copy without spare room."""
        return self.holding(**{name: array.copy() for name, array in self.to_arrays().items()})

    def check(self) -> None:
        """Raise StateError where arrays do not fit together."""
        used = self.used
        nodes, roots = self.nodes[: used["node"]], self.roots[: used["tree"]].astype(np.int64)
        inner = np.flatnonzero(nodes["left"] > 0)
        left = nodes["left"][inner].astype(np.int64)
        # Each node but the roots is a child of one node before it, in the same tree; the last tree may be under way.
        children = np.sort(np.concatenate([left, left + 1, roots]))
        tree = np.searchsorted(roots, np.arange(len(nodes)), side="right")
        if not (
            np.array_equal(children, np.arange(len(nodes)))
            and (left > inner).all()
            and (np.diff(roots) > 0).all()
            and (tree[left] == tree[inner]).all()
            and (tree[left + 1] == tree[inner]).all()
            and (nodes["feature"][inner] >= 0).all()
        ):
            raise StateError("its arrays do not fit together (boosted trees).")

    def is_done(self) -> bool:
        """Return whether each leaf has values."""
        nodes = self.nodes[: self.used["node"]]
        return bool((nodes["leaf"][nodes["left"] == 0] >= 0).all())

    def fits(self, kinds: Any) -> bool:
        """Return whether all tests ask for features of their kind.

        Parameters
        ----------
        kinds
            Of each feature.
        """
        nodes = self.nodes[: self.used["node"]]
        inner = nodes[nodes["left"] > 0]
        within = (inner["feature"] < len(kinds)).all()
        return bool(within and np.array_equal(np.asarray(kinds)[inner["feature"]] == NOMINAL, inner["set"] >= 0))


class BoostedTreesState(GrownTreesState):
    """Trees that are added up.

    Examples
    --------
    >>> trees = BoostedTreesState.of(outputs=1)
    >>> trees.check()
    >>> trees.used
    {'node': 0, 'tree': 0, 'set': 0, 'leaf': 0, 'output': 1}
    """

    values = Field(VALUE, "leaf", "output")
    # Sums of Hessians of its rows.
    hessians = Field(HESSIAN, "leaf", "output")
    # Before any tree.
    base = Field(VALUE, "output")

    def check(self) -> None:
        """Raise StateError where arrays do not fit together."""
        GrownTreesState.check(self)
        nodes, level = self.nodes, self.roots[: self.used["tree"]]
        for _ in range(MOST_DEPTH + 1):
            left = nodes["left"][level]
            left = left[left > 0]
            level = np.concatenate([left, left + 1])
        # Deeper than what explains answers has room for.
        if len(level):
            raise StateError("its arrays do not fit together (boosted trees).")


class RandomizedTreesState(GrownTreesState):
    """Trees that vote: each leaf by the rows that it has of each class.

    Examples
    --------
    >>> trees = RandomizedTreesState.of(outputs=2, leaf=3)
    >>> trees.counts.shape
    (3, 2)
    """

    counts = Field(Real(np.float32, low=0.0, high=1e18), "leaf", "output")
    # What each class has of all rows.
    shares = Field(Real(low=0.0, high=1.0), "output")
