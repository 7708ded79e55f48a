"""What a tree that keeps its rows remembers: the tree, whose leaves have no slots here, and the pool.

``links``, ``heads``, ``boxes``, ``sorted`` and ``memo`` follow from the rest. They are empty once the tree has stopped
growing.
"""

from __future__ import annotations

import math
import warnings
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from quercus.learners.incremental.capacity import FACTORS
from quercus.learners.incremental.checks import ROUNDING, require
from quercus.learners.incremental.kernels import find_leaves
from quercus.learners.incremental.layout import (
    CREDIBLE,
    CUTS_AND_EVALUATIONS,
    FIRST_ROWS,
    HEAVIEST_SUM,
    HOEFFDING_INTERVAL,
    MEMO_WIDTH,
    NEEDS_NODES,
    NEEDS_ROWS,
    SIZE_POOL,
    SIZE_VOLUME,
)
from quercus.learners.incremental.state import COUNT, FLAG, INT, Floats, GrowingState, Integers, TreeState
from quercus.rows import NOMINAL, UNSEEN
from quercus.state import Field, Index, Real, Whole
from quercus.statistics.layout import MEASURE_DEVIATION

_MEMO_PER_ROW, _LEAST_MEMO, _MOST_MEMO = 4, 2**8, 2**17


class PooledState(GrowingState):
    """A tree that keeps its rows, of which some may have no label.

    Examples
    --------
    >>> pooling = {"bound": CREDIBLE, "delta": 0.05, "min_leaf": 1}
    >>> tree = PooledState.begin({"buffer_rows": 2, "grace": 1}, 2**20, pooling=pooling)
    >>> tree.add_features(2)
    >>> tree.join(np.array([[1.0, 0.0], [2.0, np.nan]]), nominal=[False, True])
    >>> tree.n_rows, tree.labels_of(np.array([0, 1])).tolist()
    (2, [-1, -1])
    """

    grows: ClassVar = {"node": FACTORS, "head": FACTORS}
    counters: ClassVar = {**GrowingState.counters, "row": ("pooling", "rows")}
    keeps_rows = True

    values = Field(Real(nan=True), "row", "feature")
    rows = Field(
        {
            "label": Whole(INT, low=-1),  # -1: none
            "joined": FLAG,  # 1: came with its label, so that it is not in `sorted`
            "weight": Real(low=0.0, high=HEAVIEST_SUM),  # of the label
        },
        "row",
    )
    # What a leaf knows besides its counts.
    regions = Field(
        {
            "evaluations": Whole(np.int64, high=2**62),  # of its cuts
            "start": COUNT,  # of its rows in `sorted`
            "rows": COUNT,
            "labels": COUNT,  # labelled rows
            "due": FLAG,  # is to be evaluated
            "volume": Real(low=0.0, high=1.0),  # share of the root's box, for sizes by volume
        },
        "node",
    )
    # The box of the root, drawn when the first label comes.
    spans = Field({"low": Real(), "high": Real(), "categories": Whole(np.int64, high=2**53)}, "feature")
    # The arguments as codes and numbers, and the counters.
    pooling = Field(
        {
            "measure": Whole(INT, high=MEASURE_DEVIATION),
            "bound": Whole(INT, low=CREDIBLE, high=HOEFFDING_INTERVAL),
            "correction": Whole(INT, high=CUTS_AND_EVALUATIONS),
            "size": Whole(INT, high=SIZE_VOLUME),
            "delta": Real(low=0.0, high=0.5),
            "min_leaf": Real(low=0.0),
            "rows": Whole(np.int64),
            "pooled": Whole(np.int64),  # of these, rows that came without labels
            "labelled": Whole(np.int64),
            "began": FLAG,  # the box of the root is drawn
            "unfinished": FLAG,  # a row has been learned, but not all leaves that are due were evaluated
            "needs": Whole(np.int64, high=NEEDS_NODES),
        },
        1,
    )
    # The labelled rows of each leaf as linked lists: by number (place 0) and by the value of each feature, equal values
    # by number.
    links = Field(
        {
            "value": Real(),
            "next": Index("row"),
            # At the last of equal values: how many rows of `sorted` are left of the cut behind it; of a category: have
            # it.
            "below": COUNT,
        },
        "list",
        "link",
        saved=False,
    )
    # Where those lists begin and end.
    heads = Field(
        {
            "first": Index("row"),
            "last": Index("row"),
            "labels": COUNT,  # labelled rows whose value is known
            "joined": COUNT,  # of these, rows that came with their label
            "known": COUNT,  # rows of `sorted` whose value is known
        },
        "head",
        "list",
        fill={"first": -1, "last": -1},
        saved=False,
    )
    # Lowest and highest value of a leaf's box; or how many categories are possible. For sizes by volume alone.
    boxes = Field(Real(), "head", "boxed", 2, saved=False)
    # The rows that came without labels, by value, missing ones last; the rows of a leaf are neighbours. For sizes by
    # pool alone.
    sorted = Field(Index("row"), "feature", "sorted", saved=False)
    # Bounds.
    memo = Field(Real(), "memo", MEMO_WIDTH, saved=False)

    @classmethod
    def begin(cls, settings: dict[str, Any], max_bytes: int, *, pooling: Any = None, **sizes: int) -> Self:
        """Return the state of a tree that is one leaf, without rows.

        Parameters
        ----------
        settings
            Fields of ``options`` that come from the learner's arguments.
        max_bytes
            Limit for all arrays together.
        pooling
            Fields of ``pooling`` that do: measure, bound, correction, size, delta, min_leaf.
        sizes
            Of dimensions that are not those of such a tree.
        """
        tree = super().begin(settings, max_bytes, **({"slot": 0, "buffer": 0, "row": FIRST_ROWS} | sizes))
        tree.nodes["slot"] = -1
        for name, value in (pooling or {}).items():
            tree.pooling[name] = value
        tree.rebuild()
        return tree

    @property
    def n_rows(self) -> int:
        """Number of rows in the pool."""
        return int(self.pooling["rows"][0])

    def rule(self) -> tuple[int, float, int]:
        """Return the split rule with its scale and its criterion."""
        pool = self.pooling[0]
        return int(pool["bound"]), float(pool["delta"]), int(pool["measure"])

    def main(self) -> TreeState:
        """Return the tree that answers as one without a pool; nothing is copied."""
        return self.as_plain()

    def labels_of(self, rows: Integers) -> npt.NDArray[np.int32]:
        """Return the class id of rows of the pool, -1 for those that have no label."""
        labels: npt.NDArray[np.int32] = self.rows["label"][rows]
        return labels

    def join(self, X: Floats, nominal: list[bool]) -> None:
        """Put rows without labels into the pool; refuse more than the limit allows.

        Parameters
        ----------
        X
            Rows of as many columns as there are features; NaN if missing, codes of categories.
        nominal
            For each feature, whether it holds categories.
        """
        old, total = self.n_rows, self.n_rows + len(X)
        self._check_space(total)
        known = ~np.isnan(X)
        with self._undone_on_error():
            for j in np.flatnonzero(known.any(axis=0) & (self.features["kind"] == UNSEEN)).tolist():
                self._begin_feature(j, nominal[j])
            self.replace(pooling=self.pooling.copy())
            self.resize(row=max(total, len(self.values)))
            self.values[old:total] = X
            self.rows["label"][old:total] = -1
            self.pooling["rows"] = total
            self.pooling["pooled"] += len(X)
            self.rebuild()

    def add_features(self, total: int) -> None:
        """Make room for features up to a total number; nothing but missing values has been seen of new ones."""
        old = len(self.features)
        if total <= old:
            return
        if old == 0 and self.nbytes + self._width_bytes(total) > self.max_bytes:
            raise ValueError(
                f"max_bytes={self.max_bytes:,} is too small for a tree of one leaf; give it at least "
                f"{2 * (self.nbytes + self._width_bytes(total)):,}."
            )
        with self._undone_on_error():
            if old:
                self._make_space("a new feature", lambda: self._width_bytes(total))
            super().add_features(total)
            self.values[: self.n_rows, old:] = math.nan
            self.rebuild()

    def fit_row(self, row: Floats, label: int, nominal: list[bool]) -> None:
        """Give the class of a row a place, and every value that is the first of its feature a kind."""
        with self._undone_on_error():
            self._widen_classes(label + 1)
            row = row[: len(self.features)]
            for j in np.flatnonzero(~np.isnan(row) & (self.features["kind"] == UNSEEN)).tolist():
                self._begin_feature(j, nominal[j])

    def ensure_capacity(self, splits: int = 1) -> None:
        """Make room for what the kernel lacked: a row, or two nodes; where memory does not allow it, stop growing."""
        if self.pooling["needs"][0] == NEEDS_ROWS:
            fits = self._enlarge_rows(self.n_rows + 1)
        else:
            nodes = int(self.options["nodes"][0]) + 2 * splits
            fits = self._enlarge(node=nodes, head=nodes)
        if not fits:
            self._stop_growing()

    def rebuild(self) -> None:
        """Make what follows from the saved arrays, unless the tree has stopped growing."""
        from quercus.learners.incremental.pooled.rebuild import link_rows  # its kernels take this state

        growing = not self.options["full"][0]
        d, n, size = len(self.features), len(self.values), self.pooling["size"][0]
        sizes = self.sizes | {"list": d + 1, "head": len(self.nodes), "link": n, "memo": _memo_rows(n)}
        sizes["boxed"] = d if size == SIZE_VOLUME else 0
        sizes["sorted"] = int(self.pooling["pooled"][0]) if size == SIZE_POOL else 0
        if not growing:
            sizes |= dict.fromkeys(("head", "link", "memo", "sorted"), 0)
        self.replace(**{name: field.new(sizes) for name, field in self.fields.items() if not field.saved})
        if growing:
            link_rows(self)

    def check(self) -> None:
        """Raise StateError where arrays do not fit together."""
        super().check()
        used = self.to_arrays()
        pool, options, rows, values = used["pooling"][0], used["options"][0], used["rows"], used["values"]
        labelled, apart = rows["label"] >= 0, rows["joined"] == 0
        require(
            pool["delta"] > 0.0
            and (pool["labelled"], pool["pooled"]) == (labelled.sum(), apart.sum())
            and (pool["began"] or not labelled.any())
            and options["slots"] == options["buffers"] == 0
            and (labelled | apart).all(),
            "its pool is another than it says",
        )
        known = values[:, used["features"]["kind"] == NOMINAL]
        known = known[~np.isnan(known)]
        require((known >= 0.0).all() and (known == np.floor(known)).all(), "its rows hold categories that are none")
        seen = ~np.isnan(values).all(axis=0)
        require((used["features"]["kind"][seen] != UNSEEN).all(), "its rows hold values of features without any")
        require(
            (rows["label"] < options["classes"]).all() and (rows["weight"][labelled] > 0.0).all(),
            "its rows hold labels that are none",
        )
        regions, spans, inner = used["regions"], used["spans"], used["nodes"]["left"] > 0
        require(
            not regions["due"][inner].any() and (pool["unfinished"] or not regions["due"].any()),
            "its leaves are to be evaluated, but there is no reason",
        )
        require((spans["low"] <= spans["high"]).all(), "its boxes are turned over")
        if not options["full"]:
            self._check_counts(used)

    def _check_counts(self, used: dict[str, npt.NDArray[Any]]) -> None:
        """Refuse it where a leaf that is still growing has other counts than the labels of its rows."""
        labelled = used["rows"]["label"] >= 0
        leaves = np.zeros(int(labelled.sum()), np.int64)
        find_leaves(self.nodes, np.ascontiguousarray(used["values"][labelled]), leaves)
        counts = np.zeros_like(used["counts"])
        np.add.at(counts, (leaves, used["rows"]["label"][labelled]), used["rows"]["weight"][labelled])
        outer = used["nodes"]["left"] == 0
        fits = np.allclose(counts[outer], used["counts"][outer], rtol=ROUNDING, atol=0.0)
        require(fits and counts.max(initial=0.0) <= HEAVIEST_SUM, "its leaves have other labels than their rows")

    def _enlarge_rows(self, least: int) -> bool:
        """Make room for rows, as much as the limit allows; return whether that was enough."""
        for factor in FACTORS:
            rows = max(int(len(self.values) * factor), least)
            if self.nbytes + self._rows_bytes(rows) <= self.max_bytes:
                self.resize(row=rows, link=rows, memo=_memo_rows(rows))
                return True
        return False

    def _rows_bytes(self, rows: int) -> int:
        """Return what so many rows take, without their order."""
        sizes = self.sizes | {"row": rows, "link": rows, "memo": _memo_rows(rows)}
        return sum(self.fields[name].nbytes(sizes) for name in ("values", "rows", "links", "memo"))

    def _width_bytes(self, features: int) -> int:
        """Return what the arrays of the pool take with this many features."""
        by_node = self.heads.itemsize + (16 if self.pooling["size"][0] == SIZE_VOLUME else 0)
        by_row = 8 * len(self.values) + self.links.itemsize * self.links.shape[1] + 4 * self.sorted.shape[1]
        return int((features + 1) * (by_row + by_node * len(self.heads)) + self.spans.itemsize * features)

    def _stop_growing(self) -> None:
        regions = self.regions.copy()
        for name in ("start", "rows", "labels", "due"):
            regions[name] = 0
        self.replace(regions=regions)
        self.options["full"] = 1
        self.rebuild()
        warnings.warn(
            f"the tree has stopped growing: max_bytes={self.max_bytes:,} leaves no room for more rows or nodes; give "
            "the learner a larger max_bytes.",
            stacklevel=2,
        )

    def _shed_leaves(self) -> bool:
        """Give back what only growing needs; return whether there was any."""
        if self.options["full"][0]:
            return False
        self._stop_growing()
        return True

    def _trim(self) -> None:
        nodes, rows = self.used["node"], self.n_rows
        if self.options["full"][0]:
            self.resize(node=nodes)
            self.resize(row=rows)
        else:
            self.resize(node=nodes, head=nodes)
            self.resize(row=rows, link=rows, memo=_memo_rows(rows))

    def _check_space(self, total: int) -> None:
        """Refuse a pool of so many rows if there is no room for it and for the copy that is made of it."""
        if self.options["full"][0]:
            raise MemoryError(
                f"the tree has stopped growing at max_bytes={self.max_bytes:,}, so that no rows can join its pool; "
                "give the learner a larger max_bytes."
            )
        d = len(self.features)
        by_row = sum(array.nbytes for array in (self.links, self.sorted, self.memo))
        needed = self.nbytes - by_row + self._rows_bytes(total) + 4 * d * total
        if needed > self.max_bytes:
            raise MemoryError(
                f"a pool of {total:,} rows and {d:,} features needs {needed:,} bytes, which is above "
                f"max_bytes={self.max_bytes:,}; give the learner a larger max_bytes, or fewer rows."
            )


def _memo_rows(rows: int) -> int:
    """Return how many bounds a tree with room for so many rows remembers: a power of two."""
    wanted = min(max(_MEMO_PER_ROW * rows, _LEAST_MEMO), _MOST_MEMO)
    return 1 << math.ceil(math.log2(wanted))
