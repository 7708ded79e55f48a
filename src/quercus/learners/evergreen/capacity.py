"""How the memory of an evergreen tree is shared out among rows, trees and the additive model."""

from __future__ import annotations

from dataclasses import dataclass, replace

from quercus.learners.evergreen.additive.engine import reserve_bytes
from quercus.learners.evergreen.layout import MOST_EDGES, SAMPLE
from quercus.learners.evergreen.state import SET_WORDS, EvergreenState, EvergreenTreeState, GrowthState
from quercus.rows import NUMERIC

_LEAST_ROWS = 64
_LEAST_NODES = 63
_LEAST_EDGES = 15
_SLOTS = 32
_FEATURE: int = EvergreenState.features.dtype.itemsize
_ROW: int = EvergreenState.rows.dtype.itemsize
_NODE: int = EvergreenTreeState.nodes.dtype.itemsize + GrowthState.spans.dtype.itemsize


@dataclass(frozen=True, slots=True)
class Capacity:
    """What there is room for.

    Parameters
    ----------
    max_bytes
        Limit for everything.
    features, classes
        Their numbers.
    numbers
        How many of the features are known to be numeric.
    is_additive
        Whether something is kept free for the additive model.
    edges, places
        Edges of a feature, and rows whose values are kept as they came, at most.

    Examples
    --------
    >>> capacity = Capacity(2**20, features=2, classes=2, numbers=1, is_additive=True)
    >>> capacity.for_additive, capacity.rows(), capacity.nodes(reservoir=64, tree=0)
    (45120, 18662, 5114)
    """

    max_bytes: int
    features: int
    classes: int
    numbers: int
    is_additive: bool
    edges: int = MOST_EDGES
    places: int = SAMPLE

    @classmethod
    def of(cls, state: EvergreenState, features: int | None = None, classes: int | None = None) -> Capacity:
        """Return what a tree has room for; with so many features or classes if given.

        Parameters
        ----------
        state
            The tree.
        features, classes
            Their numbers, if they are to be others.
        """
        return cls(
            state.max_bytes,
            len(state.features) if features is None else features,
            state.tree.sizes["label"] if classes is None else classes,
            int((state.features["kind"] == NUMERIC).sum()),
            state.additive.is_on,
            state.sizes["edge"],
            int(state.options["places"][0]),
        )

    @property
    def for_all(self) -> int:
        """Bytes for rows, trees and the additive model."""
        features = self.features * (_FEATURE + 8 * self.edges + 4)
        return self.max_bytes - self.max_bytes // 8 - features - self.places * (8 * self.features + 4) - 8_192

    @property
    def for_additive(self) -> int:
        """Bytes kept free for the additive model: where memory is short, a quarter of it."""
        if not self.is_additive:
            return 0
        reserved = reserve_bytes(self.features, self.classes, self.max_bytes, self.numbers)
        return min(reserved, max(self.for_all // 4, 0))

    @property
    def for_trees(self) -> int:
        """Bytes for rows and trees."""
        return self.for_all - self.for_additive

    @property
    def row_bytes(self) -> int:
        """Bytes that a row takes."""
        return self.features + _ROW + 8

    @property
    def node_bytes(self) -> int:
        """Bytes that a node takes while a tree grows; it is a little less later."""
        return _NODE + 16 * self.classes + 8 * SET_WORDS

    def rows(self) -> int:
        """Return how many rows there is room for."""
        most = self.for_trees // 2 // self.row_bytes
        if most < _LEAST_ROWS or self.for_trees // 4 < 64 * self.node_bytes:
            raise MemoryError(
                f"max_bytes leaves a tree {self.max_bytes:,} bytes: no room for {_LEAST_ROWS} rows of {self.features} "
                f"features and {self.classes} classes and what it needs beside them; give the learner a larger one."
            )
        return min(most, 2**31 - 1)

    def nodes(self, reservoir: int, tree: int) -> int:
        """Return how many nodes a growth may make: the reservoir may double meanwhile, up to its half of the room.

        Parameters
        ----------
        reservoir
            Rows that it has room for.
        tree
            Bytes of the tree in use.
        """
        left = self.for_trees - min(self.for_trees // 2, 2 * reservoir * self.row_bytes) - tree
        return max(left // self.node_bytes, _LEAST_NODES)

    def slots(self, bins: int) -> int:
        """Return for how many nodes histograms are kept at once; fewer than two are of no use, nor any without codes.

        Parameters
        ----------
        bins
            Codes of all features.
        """
        slots = min(_SLOTS, self.max_bytes // 8 // max(8 * bins * self.classes, 1))
        return slots if slots >= 2 and bins else 0

    def saved(self) -> Capacity:
        """Return the same, with fewer edges and sampled rows where there are too many features for all of them.

        Examples
        --------
        >>> full = Capacity(2**25, features=5_000, classes=2, numbers=0, is_additive=True)
        >>> full.saved().edges, full.saved().places, full.saved().rows()
        (63, 128, 1726)
        """
        try:
            self.rows()
        except MemoryError:
            edges, places, bytes_each = self.edges, self.places, 8 * self.features
            while edges > _LEAST_EDGES and bytes_each * edges > self.max_bytes // 8:
                edges //= 2
            while places > _LEAST_ROWS and bytes_each * places > self.max_bytes // 4:
                places //= 2
            return replace(self, edges=edges, places=places)
        return self


def grow_classes(old: int, least: int) -> int:
    """Return for how many classes there is room after there was too little.

    Parameters
    ----------
    old
        For how many there was.
    least
        How many are needed.
    """
    return max(least, 2, old + old // 2)
