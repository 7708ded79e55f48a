"""How the memory of an evergreen tree is shared out among rows, trees and what single features tell."""

from __future__ import annotations

from dataclasses import dataclass

from quercus.learners.evergreen.layout import FEATURE, MOST_EDGES, NODE, ROW, SAMPLE, SPAN
from quercus.learners.evergreen.singles.arrays import SinglesArrays

# Words of 64 bits that a set of categories takes.
SET_WORDS = 4
_LEAST_ROWS = 64
_LEAST_NODES = 63
_SLOTS = 32


@dataclass(frozen=True, slots=True)
class Room:
    """What there is room for.

    Parameters
    ----------
    max_bytes
        Limit for everything.
    features, classes
        Their numbers.
    numbers
        How many of the features are known to be numeric.
    has_singles
        Whether something is kept free for what single features tell.

    Examples
    --------
    >>> room = Room(2**20, features=2, classes=2, numbers=1, has_singles=True)
    >>> room.for_singles, room.rows(), room.nodes(store=64, tree=0)
    (45120, 18662, 5114)
    """

    max_bytes: int
    features: int
    classes: int
    numbers: int
    has_singles: bool

    @property
    def for_all(self) -> int:
        """Bytes for rows, trees and what single features tell."""
        fixed = self.features * (FEATURE.itemsize + 8 * MOST_EDGES + 4) + SAMPLE * (8 * self.features + 4) + 8_192
        return self.max_bytes - self.max_bytes // 8 - fixed

    @property
    def for_singles(self) -> int:
        """Bytes kept free for what single features tell: where memory is short, a quarter of it."""
        if not self.has_singles:
            return 0
        reserved = SinglesArrays.reserve(self.features, self.classes, self.max_bytes, self.numbers)
        return min(reserved, max(self.for_all // 4, 0))

    @property
    def for_trees(self) -> int:
        """Bytes for rows and trees."""
        return self.for_all - self.for_singles

    @property
    def row_bytes(self) -> int:
        """Bytes that a row takes."""
        return self.features + ROW.itemsize + 8

    @property
    def node_bytes(self) -> int:
        """Bytes that a node takes while a tree grows; it is a little less later."""
        return NODE.itemsize + SPAN.itemsize + 16 * self.classes + 8 * SET_WORDS

    def rows(self) -> int:
        """Return how many rows there is room for."""
        most = self.for_trees // 2 // self.row_bytes
        if most < _LEAST_ROWS or self.for_trees // 4 < 64 * self.node_bytes:
            raise MemoryError(
                f"max_bytes={self.max_bytes:,} has no room for {_LEAST_ROWS} rows of {self.features} features and "
                f"{self.classes} classes and what a tree needs beside them; give the learner a larger one."
            )
        return min(most, 2**31 - 1)

    def nodes(self, store: int, tree: int) -> int:
        """Return how many nodes a growth may make: the store may double meanwhile, up to its half of the room.

        Parameters
        ----------
        store
            Rows that it has room for.
        tree
            Bytes of the tree that stands.
        """
        left = self.for_trees - min(self.for_trees // 2, 2 * store * self.row_bytes) - tree
        return max(left // self.node_bytes, _LEAST_NODES)

    def slots(self, cells: int) -> int:
        """Return for how many nodes histograms are kept at once; fewer than two are of no use.

        Parameters
        ----------
        cells
            Codes of all features.
        """
        slots = min(_SLOTS, self.max_bytes // 8 // max(8 * cells * self.classes, 1))
        return slots if slots >= 2 else 0
