"""The arrays of a utility tree, and room for classes, features and categories as they come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from quercus.flat import FlatArrays, enlarged
from quercus.learners.utility.layout import (
    EXP3,
    FEATURE,
    FIRST_ROOM,
    KEPT,
    KEPT_VALUES,
    MOST_PAIRED,
    NOMINAL,
    NUMERIC,
    OPTIONS,
    QUANTILES,
    TENTHS,
    UNSEEN,
    YOUNG,
)
from quercus.predictor import Floats

_GENERATOR = ("g0", "g1", "g2", "g3")


class UtilityArrays(FlatArrays):
    """The arrays of a utility tree; see ``layout`` for what they hold.

    Every change of size follows from the rows seen so far alone, never from how they were cut into batches.

    Parameters
    ----------
    numeric
        Code of how numbers become cells.
    bins
        The most bins of a numeric feature.
    features
        Number of features.
    seed
        Of the generator of the cases' seeds, and of what is drawn without exploring.
    max_bytes
        Limit.
    paired
        Whether pairs of values are counted.

    Examples
    --------
    >>> arrays = UtilityArrays(QUANTILES, bins=8, features=2, seed=0, max_bytes=2**20)
    >>> arrays.fit_row(np.array([0.5, 3.0]), 0, ["numeric", "nominal"], {})
    >>> arrays.counts.shape, arrays.kept.shape
    ((12, 2), (1, 512))
    """

    NAMES = ("options", "features", "weights", "counts", "totals", "edges", "kept", "favour", "pairs")

    def __init__(
        self, numeric: int, bins: int, features: int, seed: int | None, max_bytes: int, paired: bool = False
    ) -> None:
        self.max_bytes = max_bytes
        self.options: npt.NDArray[np.void] = np.zeros(1, OPTIONS)
        self.options["numeric"] = numeric
        self.options["bins"] = bins
        self.options["paired"] = paired
        self.options["unit"] = 1.0
        words = np.random.SeedSequence(seed).generate_state(5, np.uint64)
        for name, word in zip(("seed", *_GENERATOR), words, strict=True):
            self.options[name] = word
        self.features: npt.NDArray[np.void] = np.zeros(0, FEATURE)
        self.weights: Floats = np.zeros(0)
        self.counts: Floats = np.zeros((0, 0))
        self.totals: Floats = np.zeros((0, 0))
        self.edges: Floats = np.zeros((0, self._most_cells - 1))
        self.kept: npt.NDArray[np.void] = np.zeros((0, KEPT_VALUES if numeric == QUANTILES else YOUNG), KEPT)
        self.favour: Floats = np.zeros((0, TENTHS - 1 if numeric == EXP3 else 0))
        self.pairs: Floats = np.zeros((0, 0, 0))
        self.add_features(features)

    @property
    def classes(self) -> int:
        """Number of classes known."""
        return int(self.options["classes"][0])

    @property
    def numeric(self) -> int:
        """Code of how numbers become cells."""
        return int(self.options["numeric"][0])

    @property
    def bins(self) -> int:
        """The most bins of a numeric feature."""
        return int(self.options["bins"][0])

    @property
    def _most_cells(self) -> int:
        """The most cells of a numeric feature."""
        return self.bins if self.numeric == QUANTILES else TENTHS

    @property
    def paired(self) -> bool:
        """Whether pairs of values are counted."""
        return bool(self.options["paired"][0])

    def add_features(self, total: int) -> None:
        """Make room for features up to a total number, of which nothing has been seen yet.

        Parameters
        ----------
        total
            Number of features.
        """
        old = len(self.features)
        if total <= old:
            return
        width = FEATURE.itemsize + 8 * (len(self.weights) + self.edges.shape[1] + self.favour.shape[1])
        self._check_space(total * width, "another feature")
        more = np.zeros(total - old, FEATURE)
        more["kind"], more["slot"], more["first"] = UNSEEN, -1, len(self.counts)
        self.features = np.concatenate([self.features, more])
        self.totals = enlarged(self.totals, (total, len(self.weights)))
        self.edges = enlarged(self.edges, (total, self.edges.shape[1]))
        if self.numeric == EXP3:
            self.favour = enlarged(self.favour, (total, TENTHS - 1))

    def declare_classes(self, total: int) -> None:
        """Count classes as known.

        Parameters
        ----------
        total
            Number of classes.
        """
        self._widen_classes(total)
        self.options["classes"] = max(self.classes, total)

    def fit_row(
        self, row: Floats, label: int, kinds: Sequence[str | None], ranges: Mapping[int, tuple[float, float]]
    ) -> None:
        """Make room for every value of a row, and its class.

        Parameters
        ----------
        row
            Values by feature; NaN if missing, codes of categories.
        label
            Its class.
        kinds
            For each feature ``"numeric"`` or ``"nominal"``.
        ranges
            Ranges of features that are given, by position.
        """
        self._widen_classes(label + 1)
        rooms = self.features["room"].copy()
        new = []
        for f in np.flatnonzero(~np.isnan(row)).tolist():
            if kinds[f] != "nominal":
                rooms[f] = self._most_cells
            elif row[f] >= rooms[f]:
                rooms[f] = max(int(row[f]) + 1, 2 * rooms[f], FIRST_ROOM)
            if self.features["kind"][f] == UNSEEN:
                new.append(f)
        self._lay_blocks(rooms)
        self._add_slots([f for f in new if kinds[f] != "nominal" and (self.numeric == QUANTILES or f not in ranges)])
        for f in new:
            self.features["kind"][f] = NOMINAL if kinds[f] == "nominal" else NUMERIC
            if kinds[f] != "nominal" and self.numeric != QUANTILES and f in ranges:
                self.features["cells"][f] = TENTHS
                self.edges[f] = spread_edges(*ranges[f])

    def _widen_classes(self, least: int) -> None:
        old = len(self.weights)
        if least <= old:
            return
        classes = max(least, 2, old + old // 2)
        cells = 1 + len(self.counts) + len(self.totals) + len(self.pairs) ** 2
        self._check_space(8 * classes * cells, "another class")
        self.weights = enlarged(self.weights, (classes,))
        self.counts = enlarged(self.counts, (len(self.counts), classes))
        self.totals = enlarged(self.totals, (len(self.totals), classes))
        if self.paired:
            self.pairs = enlarged(self.pairs, (*self.pairs.shape[:2], classes))

    def _lay_blocks(self, rooms: npt.NDArray[np.int64]) -> None:
        """Give each feature a block of so many cells, one after the other."""
        old = self.features["room"]
        if np.array_equal(rooms, old):
            return
        total, paired = int(rooms.sum()), int(rooms[:MOST_PAIRED].sum()) if self.paired else 0
        self._check_space(8 * (total + paired**2) * len(self.weights), "another category or feature")
        first = np.cumsum(rooms) - rooms
        # Where the cell goes that is now in each place.
        blocks = [first[f] + np.arange(old[f]) for f in range(len(old))]
        moved = np.concatenate(blocks).astype(np.int64)
        counts = np.zeros((total, len(self.weights)))
        counts[moved] = self.counts
        self.counts = counts
        if self.paired:
            pairs, seen = np.zeros((paired, paired, len(self.weights))), moved[: len(self.pairs)]
            pairs[np.ix_(seen, seen)] = self.pairs
            self.pairs = pairs
        self.features["first"] = first
        self.features["room"] = rooms

    def _add_slots(self, features: list[int]) -> None:
        """Give numeric features a place for the values from which their bins are drawn."""
        if not features:
            return
        old, capacity = self.kept.shape
        total = old + len(features)
        self._check_space(total * capacity * KEPT.itemsize, "another feature")
        self.kept = enlarged(self.kept, (total, capacity))
        self.features["slot"][features] = np.arange(old, total)

    def _check_space(self, more: int, reason: str) -> None:
        if self.nbytes + more > self.max_bytes:
            raise MemoryError(
                f"{reason} needs {more:,} bytes beside the {self.nbytes:,} in use, which is above "
                f"max_bytes={self.max_bytes:,}; give the learner a larger max_bytes."
            )


def spread_edges(low: float, high: float) -> Floats:
    """Return the edges of ten cells of the same width.

    Parameters
    ----------
    low, high
        Where the first cell begins and the last one ends.

    Examples
    --------
    >>> spread_edges(0.0, 100.0)
    array([10., 20., 30., 40., 50., 60., 70., 80., 90.])
    """
    tenths = np.arange(1, TENTHS)
    return np.asarray(low + (high - low) * tenths / TENTHS)
