"""What a tree remembers, declared once: to answer (`TreeState`), and to grow (`GrowingState`).

Node id = place in ``nodes`` and ``counts``; a growing leaf also has a slot = place in ``leaves``, ``hist`` and
``edges``, and while it collects rows a buffer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from quercus.learners.incremental.capacity import FACTORS, BoundedState
from quercus.learners.incremental.checks import check_order, check_tree
from quercus.learners.incremental.layout import (
    ADAPTIVE,
    BINARY_BINS,
    BINS,
    BUFFER_ROWS,
    CREDIBLE,
    EDGE_WIDTH,
    EDGES,
    ERROR,
    FIRST_BUFFERS,
    FIRST_NODES,
    FIRST_SLOTS,
    HEAVIEST_SUM,
    HOEFFDING_INTERVAL,
    MAJORITY,
    MAX_CATEGORIES,
    STALE,
)
from quercus.rows import NOMINAL, NUMERIC, UNSEEN
from quercus.state import Field, Index, Real, Whole
from quercus.statistics.credible import NO_TABLE, find_table

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
INT = np.int32
_WEIGHT = Real(low=0.0, high=HEAVIEST_SUM)
FLAG = Whole(INT, high=1)
COUNT = Whole(INT)
_LIMIT = Real(low=0.0)


class TreeState(BoundedState):
    """A tree that answers, and what its leaves have counted.

    Examples
    --------
    >>> tree = TreeState.begin({"buffer_rows": 2, "grace": 1}, max_bytes=2**20)
    >>> tree.add_features(2)
    >>> tree.fit_row(np.array([0.5, 2.0]), 0, [False, False])
    >>> tree.used["feature"], tree.features["first"].tolist(), tree.sizes["class"]
    (2, [0.5, 2.0], 2)
    """

    grows: ClassVar = {"node": FACTORS, "slot": FACTORS, "buffer": FACTORS}
    counters: ClassVar = {
        "node": ("options", "nodes"),
        "class": ("options", "classes"),
        "slot": ("options", "slots"),
        "bin": ("options", "bins"),
        "column": ("options", "columns"),
        "buffer": ("options", "buffers"),
        "feature": ("options", "features"),
    }
    # Whether leaves know their rows, and so grow without slots.
    keeps_rows: bool = False
    # Number of alternate subtrees.
    alternate_subtrees: int = 0

    nodes = Field(
        {
            "feature": Index("feature"),
            "left": Index("node", optional=False),  # 0: a leaf; the right child is left + 1
            "slot": Index("slot"),  # of a growing leaf
            "depth": Whole(INT, low=-1),
            "nominal": FLAG,
            "missing_left": FLAG,
            "threshold": Real(inf=True),  # or the category code
            "gain": Real(),
            "weight": _WEIGHT,  # that the leaf had seen when it was split
        },
        "node",
        fill={"feature": -1},
    )
    # Class weights from which a leaf answers.
    counts = Field(_WEIGHT, "node", "class")
    leaves = Field(
        {
            "node": Index("node"),  # -1: the slot is free
            "next": Index("slot"),  # next free slot
            "buffer": Index("buffer"),  # -1: not collecting
            "filled": Whole(INT, high=BUFFER_ROWS),
            "drawn": Whole(np.int64, high=1),
            "weight": _WEIGHT,
            "evaluated": _WEIGHT,  # weight at the last evaluation
            "evaluations": Whole(np.int64, high=2**62),  # how often a credible tree has compared its cuts
            "bayes_right": _WEIGHT,
            "majority_right": _WEIGHT,
        },
        "slot",
        fill={"next": -1, "buffer": -1},
    )
    # Bin 0: class weights since the leaf was made; then those in the bins of each feature.
    hist = Field(_WEIGHT, "slot", "bin", "class")
    # Bin edges of the binned features, and three figures about them.
    edges = Field(Real(inf=True), "slot", "column", EDGE_WIDTH)
    # Rows that a leaf collects to draw edges from: values, class, weight. Free ones are linked through their first
    # number.
    buffers = Field(Real(nan=True), "buffer", "place", "width")
    features = Field(
        {
            "kind": Whole(INT, high=UNSEEN),
            "binned": FLAG,
            "offset": COUNT,  # first bin in hist
            "bins": COUNT,  # bins reserved
            "seen": COUNT,  # categories seen
            "column": COUNT,  # in edges
            "first": Real(nan=True),  # the two values of a binary feature, NaN before they come
            "second": Real(nan=True),
        },
        "feature",
        fill={"kind": UNSEEN, "first": math.nan, "second": math.nan},
    )
    # The arguments as codes and numbers, and the counters.
    options = Field(
        {
            "criterion": Whole(INT, high=ERROR),  # a measure of quercus.statistics for credible rules
            "rule": Whole(INT, high=HOEFFDING_INTERVAL),
            "leaf": Whole(INT, high=ADAPTIVE),
            "buffer_rows": Whole(INT, low=2, high=BUFFER_ROWS),
            "margin": _LIMIT,
            "scale": _LIMIT,  # c of the practical bound, delta of Hoeffding's and of credible ones
            "tie": _LIMIT,
            "alpha": Real(low=0.0, high=1.0),
            "grace": Real(low=1.0),
            "pace": _LIMIT,  # share of its weight that a leaf must gain between two evaluations, if above the grace
            "min_leaf": _LIMIT,
            "time": Whole(np.int64, low=1, high=2**62),
            "correction": Whole(np.int64),
            "classes": COUNT,
            "features": COUNT,
            "nodes": COUNT,
            "bins": COUNT,
            "columns": COUNT,
            "slots": COUNT,  # slots ever used; free ones are linked through leaves.next
            "free_slot": Index("slot"),
            "free_slots": COUNT,
            "buffers": COUNT,
            "free_buffer": Index("buffer"),
            "free_buffers": COUNT,
            "full": FLAG,  # no room for more nodes: the tree has stopped growing
            "stopped": Whole(np.int64),
        },
        1,
    )

    @classmethod
    def begin(cls, settings: dict[str, Any], max_bytes: int, **sizes: int) -> Self:
        """Return the state of a tree that is one leaf.

        Parameters
        ----------
        settings
            Fields of ``options`` that come from the learner's arguments.
        max_bytes
            Limit for all arrays together.
        sizes
            Of dimensions that are not those of a tree with one growing leaf.
        """
        first = {"node": FIRST_NODES, "slot": FIRST_SLOTS, "buffer": FIRST_BUFFERS, "bin": 1, "width": 2}
        first["place"] = int(settings["buffer_rows"])
        tree = cls(parts=None, **(dict.fromkeys(cls.dims, 0) | first | sizes))
        tree.max_bytes = max_bytes
        for name, value in settings.items():
            tree.options[name] = value
        slots, buffers = min(tree.sizes["slot"], 1), min(tree.sizes["buffer"], 1)
        counters = {"nodes": 1, "bins": 1, "slots": slots, "buffers": buffers, "free_slot": -1, "free_buffer": -1}
        for name, value in counters.items():
            tree.options[name] = value
        tree.leaves["buffer"][:slots] = 0
        return tree

    def check(self) -> None:
        """Raise StateError where arrays do not fit together."""
        check_tree(self)

    def check_links(self, used: dict[str, npt.NDArray[Any]]) -> None:
        """Raise StateError where nodes are no tree.

        Parameters
        ----------
        used
            The arrays of the tree.
        """
        check_order(used)

    def as_plain(self, **others: npt.NDArray[Any]) -> TreeState:
        """Return a tree without anything beside it, which shares its arrays.

        Parameters
        ----------
        others
            Arrays in the place of its own.
        """
        tree = TreeState(parts=None, **dict.fromkeys(TreeState.dims, 0))
        tree.max_bytes = self.max_bytes
        tree.keeps_rows = self.keeps_rows
        tree.replace(**({name: getattr(self, name) for name in TreeState.fields} | others))
        return tree

    def main(self) -> TreeState:
        """Return the tree that answers, without what grows beside it."""
        return self

    def uses_bayes(self, slot: int) -> bool:
        """Return whether a leaf answers by naive Bayes."""
        mode = int(self.options["leaf"][0])
        if slot < 0 or mode == MAJORITY or not self.leaves["drawn"][slot]:
            return False
        return mode != ADAPTIVE or bool(self.leaves["bayes_right"][slot] > self.leaves["majority_right"][slot])

    def declare_classes(self, classes: int) -> None:
        """Make room for classes that are known beforehand and count them as seen."""
        with self._undone_on_error():
            self._widen_classes(classes)
        self.options["classes"] = max(int(self.options["classes"][0]), classes)

    def add_features(self, total: int) -> None:
        """Make room for features up to a total number; nothing but missing values has been seen of new ones."""
        old = len(self.features)
        if total <= old:
            return
        if old == 0 and self.peak_at(feature=total, width=total + 2) > self.max_bytes:
            raise ValueError(
                f"max_bytes={self.max_bytes:,} is too small for a tree of one leaf; give it at least "
                f"{2 * self.peak_at(feature=total, width=total + 2):,}."
            )
        with self._undone_on_error():
            self._widen("a new feature", feature=total, width=total + 2)
            links, labels = self.buffers[:, 0, 0].copy(), self.buffers[:, :, old : old + 2].copy()
            self.buffers[: self.used["buffer"], :, old:total] = math.nan
            self.buffers[:, :, total:] = labels
            self.buffers[:, 0, 0] = links
        self.options["features"] = total

    def fit_row(self, row: Floats, label: int, nominal: list[bool]) -> None:
        """Give every value of a row, and its class, a place; where memory runs out nothing has changed."""
        with self._undone_on_error() as left:
            self._widen_classes(label + 1)
            for j in np.flatnonzero(~np.isnan(row[: len(self.features)])).tolist():
                value = float(row[j])
                if self.features["kind"][j] == UNSEEN:
                    self._begin_feature(j, nominal[j])
                feature = self.features[j]
                if feature["kind"] == NOMINAL:
                    self._widen_nominal(j, int(value), left)
                elif not feature["binned"] and value not in (feature["first"], feature["second"]):
                    if math.isnan(feature["first"]):
                        self.features["first"][j] = value
                    elif math.isnan(feature["second"]):
                        self.features["second"][j] = value
                    else:
                        self._begin_bins(j, left)
        for start, bins in left:
            self.hist[:, start : start + bins] = 0.0

    @contextmanager
    def _undone_on_error(self) -> Iterator[list[tuple[int, int]]]:
        """Put back what there was if memory runs out: arrays are replaced, and bins in use are only read.

        Yields the list of those bins that are to be cleared at the end: where they begin, and how many.
        """
        held, options, features = self._held, self.options.copy(), self.features.copy()
        try:
            yield []
        except MemoryError:
            self._held = held
            self.options[:], self.features[:] = options, features
            self.hist[:, int(options["bins"][0]) :] = 0.0
            raise

    def _widen_classes(self, least: int) -> None:
        old = self.counts.shape[1]
        if least > old:
            self._widen("another class", **{"class": max(least, 2, old + old // 4)})

    def _take_bins(self, n: int) -> int:
        """Return the first of n new bins at the end of every slot."""
        offset = int(self.options["bins"][0])
        if offset + n > self.hist.shape[1]:
            self._widen("another feature or category", bin=max(offset + n, offset + offset // 2))
        self.options["bins"] = offset + n
        return offset

    def _begin_feature(self, j: int, nominal: bool) -> None:
        if nominal:
            self.features["kind"][j] = NOMINAL
            return
        offset = self._take_bins(BINARY_BINS)
        self.features["kind"][j] = NUMERIC
        self.features["offset"][j] = offset
        self.features["bins"][j] = BINARY_BINS
        # So far every row was missing here.
        self.hist[:, offset + 1] = self.hist[:, 0]

    def _widen_nominal(self, j: int, code: int, left: list[tuple[int, int]]) -> None:
        old = int(self.features["bins"][j])
        needed = min(code + 1, MAX_CATEGORIES)
        if needed <= old:
            return
        bins = min(max(4, 2 * old, needed), MAX_CATEGORIES)
        offset = self._take_bins(bins)
        start = int(self.features["offset"][j])
        self.hist[:, offset : offset + old] = self.hist[:, start : start + old]
        left.append((start, old))
        self.features["offset"][j] = offset
        self.features["bins"][j] = bins

    def _begin_bins(self, j: int, left: list[tuple[int, int]]) -> None:
        """Turn a binary feature into a binned one: its values become bins 1 and 3 of edges that are to be redrawn."""
        start = int(self.features["offset"][j])
        offset = self._take_bins(BINS)
        column = self._take_column()
        first, second = float(self.features["first"][j]), float(self.features["second"][j])
        low, high = min(first, second), max(first, second)
        self.edges[:, column, :EDGES] = math.inf
        self.edges[:, column, :4] = [np.nextafter(low, -math.inf), low, np.nextafter(high, -math.inf), high]
        self.edges[:, column, EDGES:] = 0.0
        self.edges[:, column, STALE] = 1.0
        seconds, missing = self.hist[:, start], self.hist[:, start + 1]
        # Sums of fractions are rounded: what is left may be a little below 0.
        firsts = np.maximum(self.hist[:, 0] - seconds - missing, 0.0)
        self.hist[:, offset + 1] = firsts if first < second else seconds
        self.hist[:, offset + 3] = seconds if first < second else firsts
        left.append((start, BINARY_BINS))
        self.features["binned"][j] = 1
        self.features["offset"][j] = offset
        self.features["bins"][j] = BINS
        self.features["column"][j] = column

    def _take_column(self) -> int:
        column = int(self.options["columns"][0])
        if column + 1 > self.edges.shape[1]:
            self._widen("another numeric feature", column=max(column + 1, column + column // 2))
        self.options["columns"] = column + 1
        return column


class GrowingState(TreeState):
    """A tree that grows.

    Examples
    --------
    >>> tree = GrowingState.begin({"buffer_rows": 2, "grace": 1}, max_bytes=2**20)
    >>> tree.generator.shape, tree.bounds.shape
    ((4,), (0, 0))
    """

    generator = Field(np.uint64, 4)

    @cached_property
    def bounds(self) -> Floats:
        """The table of bounds that credible rules look up and fill: shared by many trees, and not learned."""
        rule, delta, measure = self.rule()
        return find_table(delta, measure) if rule == CREDIBLE else NO_TABLE

    def rule(self) -> tuple[int, float, int]:
        """Return the split rule with its scale and its criterion."""
        option = self.options[0]
        return int(option["rule"]), float(option["scale"]), int(option["criterion"])

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state["rest"].pop("bounds", None)
        return state
