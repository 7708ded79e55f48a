"""What a utility tree remembers.

Each feature has a block of bins: its categories, or intervals of its numbers. ``weights``, ``counts``, ``totals`` and
``pairs`` are in units: to forget, the unit grows, and what is added with it. Every change of size follows from the rows
seen so far alone, never from how they were cut into batches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from quercus.acquisition.layout import KEPT_VALUES, MOST_BINS, YOUNG
from quercus.engine import Floats
from quercus.learners.utility.kernels.layout import EXP3, FIRST_CAPACITY, LARGEST_UNIT, MOST_PAIRED, QUANTILES, TENTHS
from quercus.rows import NOMINAL, NUMERIC, UNSEEN
from quercus.schema import Schema
from quercus.state import Field, Index, Real, State, StateError, Whole

# Whole numbers up to this are exact as floats; weights are at most 1e100, and units 2**64.
_MOST_ROWS = 2**53
_WEIGHT = Real(low=0.0, high=1e150)
_NUMBER = Real(low=-1e300, high=1e300)
# What a sum may be off by rounding: a share of it, and where little is left of what is forgotten.
_ROUNDING, _TINY = 1e-6, 1e-290


class UtilityState(State):
    """The arrays of a utility tree.

    Attributes
    ----------
    options
        What it was made for, the number of classes and of learned examples, the unit, the seed of what is drawn without
        exploring, and the generator of the cases' seeds.
    features
        Kind and block of each feature, how often it was known, and how often it was known or came back missing.
    weights, counts, totals
        Weight of the learned examples of each class, of the known values in each bin, and of those of each feature.
    edges
        Where the bins of a numeric feature end.
    kept
        Of numeric features: the first values, from which bins are drawn.
    favour
        With ``numeric="exp3"`` the sums S of each edge.
    pairs
        With ``lookahead=2`` the weight of pairs of values of the first 64 features.

    Examples
    --------
    >>> state = UtilityState.empty(QUANTILES, bins=8, features=2, seed=0)
    >>> state.fit_row(np.array([0.5, 3.0]), 0, ["numeric", "nominal"], {})
    >>> state.counts.shape, state.kept.shape
    ((12, 2), (1, 512))
    """

    options = Field(
        {
            "numeric": Whole(high=EXP3),
            "bins": Whole(low=2, high=MOST_BINS),
            "paired": Whole(high=1),
            "classes": Whole(low=1),
            "rows": Whole(high=_MOST_ROWS),
            "unit": Real(low=1.0, high=LARGEST_UNIT),
            "seed": np.uint64,
            **dict.fromkeys(("g0", "g1", "g2", "g3"), np.uint64),
        },
        1,
        fill={"unit": 1.0},
    )
    features = Field(
        {
            "kind": Whole(high=UNSEEN),
            "first": Whole(),
            "bins": Whole(),
            "capacity": Whole(),
            "slot": Index("slot", np.int64),
            "known": Whole(high=_MOST_ROWS),
            "asked": Whole(high=_MOST_ROWS),
        },
        "feature",
        fill={"kind": UNSEEN, "slot": -1},
    )
    weights = Field(_WEIGHT, "class")
    counts = Field(_WEIGHT, "bin", "class")
    totals = Field(_WEIGHT, "feature", "class")
    edges = Field(np.float64, "feature", "edge")
    kept = Field(
        {"value": np.float64, "weight": _WEIGHT, "label": Index("class", np.int64, optional=False)}, "slot", "value"
    )
    favour = Field(_NUMBER, "favoured", "tenth")
    pairs = Field(_WEIGHT, "paired", "paired", "paired class")

    # Limit of all arrays, those included that are there twice while it grows.
    max_bytes: int = 2**28

    @classmethod
    def empty(
        cls,
        numeric: int,
        bins: int,
        features: int,
        seed: int | None,
        paired: bool = False,
        max_bytes: int = 2**28,
    ) -> Self:
        """Return the state of a tree that has learned nothing.

        Parameters
        ----------
        numeric
            Code of how numbers become bins.
        bins
            The most bins of a numeric feature.
        features
            Number of features.
        seed
            Of the generator of the cases' seeds, and of what is drawn without exploring.
        paired
            Whether pairs of values are counted.
        max_bytes
            Limit.
        """
        quantiles = numeric == QUANTILES
        sizes = {
            **dict.fromkeys(("class", "bin", "slot", "paired", "paired class"), 0),
            "feature": features,
            "edge": (bins if quantiles else TENTHS) - 1,
            "value": KEPT_VALUES if quantiles else YOUNG,
            "favoured": features if numeric == EXP3 else 0,
            "tenth": TENTHS - 1 if numeric == EXP3 else 0,
        }
        state = cls(parts=None, **sizes)
        state.max_bytes = max_bytes
        words = np.random.SeedSequence(seed).generate_state(5, np.uint64)
        given = {"numeric": numeric, "bins": bins, "paired": paired}
        drawn = dict(zip(("seed", "g0", "g1", "g2", "g3"), words, strict=True))
        for name, value in (given | drawn).items():
            state.options[name] = value
        return state

    @property
    def classes(self) -> int:
        """Number of classes known."""
        return int(self.options["classes"][0])

    @property
    def numeric(self) -> int:
        """Code of how numbers become bins."""
        return int(self.options["numeric"][0])

    @property
    def bins(self) -> int:
        """The most bins of a numeric feature."""
        return int(self.options["bins"][0])

    @property
    def is_paired(self) -> bool:
        """Whether pairs of values are counted."""
        return bool(self.options["paired"][0])

    def add_features(self, total: int) -> None:
        """Make room for features up to a total number, of which nothing has been seen yet.

        Parameters
        ----------
        total
            Number of features.
        """
        sizes = self.sizes
        old = sizes["feature"]
        if total > old:
            wanted = {"feature": total} | ({"favoured": total} if self.numeric == EXP3 else {})
            arrays = self._enlarged("another feature", **wanted)
            arrays["features"]["first"][old:] = sizes["bin"]
            self.replace(**arrays)

    def declare_classes(self, total: int) -> None:
        """Count classes as known.

        Parameters
        ----------
        total
            Number of classes.
        """
        classes = self._widened(total)
        if classes > self.sizes["class"]:
            self.replace(**self._enlarged("another class", **self._sizes_for(classes)))
        self.options["classes"] = max(self.classes, total)

    def fit_row(
        self, row: Floats, label: int, kinds: Sequence[str | None], ranges: Mapping[int, tuple[float, float]]
    ) -> None:
        """Make room for every value of a row, and its class; or, where there is no memory, for nothing.

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
        features = self.features.copy()
        capacity, quantiles = features["capacity"], self.numeric == QUANTILES
        new = []
        for f in np.flatnonzero(~np.isnan(row)).tolist():
            if kinds[f] != "nominal":
                capacity[f] = self.sizes["edge"] + 1
            elif row[f] >= capacity[f]:
                capacity[f] = max(int(row[f]) + 1, 2 * capacity[f], FIRST_CAPACITY)
            if features["kind"][f] == UNSEEN:
                new.append(f)
                features["kind"][f] = NOMINAL if kinds[f] == "nominal" else NUMERIC
        given = [] if quantiles else [f for f in new if kinds[f] != "nominal" and f in ranges]
        drawn = [f for f in new if kinds[f] != "nominal" and f not in given]
        slots = self.sizes["slot"]
        features["slot"][drawn] = np.arange(slots, slots + len(drawn))
        features["bins"][given] = TENTHS
        arrays = self._laid_out(features, self._widened(label + 1), slots + len(drawn))
        if given:
            arrays["edges"] = self.edges.copy()
            arrays["edges"][given] = [spread_edges(*ranges[f]) for f in given]
        self.replace(**arrays, features=features)

    def _widened(self, least: int) -> int:
        """Return for how many classes there is to be room."""
        old = self.sizes["class"]
        return old if least <= old else max(least, 2, old + old // 2)

    def _sizes_for(self, classes: int) -> dict[str, int]:
        return {"class": classes, "paired class": classes if self.is_paired else 0}

    def _laid_out(self, features: npt.NDArray[np.void], classes: int, slots: int) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays that change where features get blocks as large as they say, one after the other."""
        capacity, old = features["capacity"], self.features["capacity"]
        sizes = self._sizes_for(classes) | {"slot": slots}
        if np.array_equal(capacity, old):
            reason = "another class" if classes > self.sizes["class"] else "another feature"
            return self._enlarged(reason, **sizes)
        sizes["bin"], sizes["paired"] = int(capacity.sum()), int(capacity[:MOST_PAIRED].sum()) if self.is_paired else 0
        arrays = self._enlarged("another category or feature", **sizes)
        features["first"] = np.cumsum(capacity) - capacity
        # Where the bin goes that is now in each place.
        moved = np.concatenate([features["first"][f] + np.arange(old[f]) for f in range(len(old))]).astype(np.int64)
        arrays["counts"][:] = 0.0
        arrays["counts"][moved, : self.sizes["class"]] = self.counts
        if self.is_paired:
            paired = moved[: self.sizes["paired"]]
            arrays["pairs"][:] = 0.0
            arrays["pairs"][np.ix_(paired, paired, np.arange(self.sizes["class"]))] = self.pairs
        return arrays

    def _enlarged(self, reason: str, **sizes: int) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays that change with these sizes, unless there is no memory for them beside those in use."""
        peak = self.peak_at(**sizes)
        if peak > self.max_bytes and any(size != self.sizes[dim] for dim, size in sizes.items()):
            raise MemoryError(
                f"{reason} needs {peak - self.nbytes:,} bytes beside the {self.nbytes:,} in use, which is above "
                f"max_bytes={self.max_bytes:,}; give the learner a larger max_bytes."
            )
        return self.resized(**sizes)

    def check(self) -> None:
        """Raise StateError unless blocks lie one behind the other, hold the bins that they say, and sums agree."""
        faults = {
            "there are more classes than room for them": self.classes > self.sizes["class"],
            "its generator stands still": not any(self.options[name][0] for name in ("g0", "g1", "g2", "g3")),
            "its sizes are not those of its options": self.sizes != self._expected_sizes(),
            "its kept values are of classes that it does not know": (self.kept["label"] >= max(self.classes, 1)).any(),
        }
        for fault, is_there in faults.items():
            if is_there:
                raise StateError(f"{fault}.")
        self._check_blocks()
        self._check_sums()

    def check_schema(self, schema: Schema) -> None:
        """Raise StateError unless it is a state of these features and classes.

        Parameters
        ----------
        schema
            What the learner knows of its features and classes.
        """
        features = self.features
        if self.classes > len(schema.labels) or len(features) > len(schema.names):
            raise StateError("it has more classes or features than are named.")
        names = {"numeric": NUMERIC, "nominal": NOMINAL}
        for f, kind in enumerate(features["kind"].tolist()):
            if kind != UNSEEN and kind != names.get(schema.kinds[f] or ""):
                raise StateError(f"its feature {schema.names[f]!r} is of another kind.")
            if kind == NOMINAL and features["bins"][f] > len(schema.categories[f]):
                raise StateError(f"its feature {schema.names[f]!r} has more categories than are named.")

    def _expected_sizes(self) -> dict[str, int]:
        capacity, quantiles, exp3 = self.features["capacity"], self.numeric == QUANTILES, self.numeric == EXP3
        return (
            self.sizes
            | self._sizes_for(self.sizes["class"])
            | {
                "edge": (self.bins if quantiles else TENTHS) - 1,
                "value": KEPT_VALUES if quantiles else YOUNG,
                "favoured": len(capacity) if exp3 else 0,
                "tenth": TENTHS - 1 if exp3 else 0,
                "paired": sum(capacity[:MOST_PAIRED].tolist()) if self.is_paired else 0,
                "bin": sum(capacity.tolist()),
            }
        )

    def _check_blocks(self) -> None:
        f = self.features
        kind, capacity, numeric = f["kind"], f["capacity"], f["kind"] == NUMERIC
        slots, laid = np.sort(f["slot"][f["slot"] >= 0]), capacity > 0
        is_sound = (
            (laid == (kind != UNSEEN)).all()
            and (f["first"][laid] == (np.cumsum(capacity) - capacity)[laid]).all()
            and (f["first"] <= self.sizes["bin"]).all()
            and (f["bins"] <= capacity).all()
            and (capacity[numeric] == self.sizes["edge"] + 1).all()
            and (f["asked"] >= f["known"]).all()
            and (f["slot"][~numeric] == -1).all()
            and (self.numeric != QUANTILES or (f["slot"][numeric] >= 0).all())
            and np.array_equal(slots, np.arange(self.sizes["slot"]))
        )
        if not is_sound:
            raise StateError("its features do not fit together.")
        for j in np.flatnonzero(numeric & (f["bins"] > 2)).tolist():
            if (np.diff(self.edges[j, : f["bins"][j] - 1]) < 0).any():
                raise StateError("its edges do not ascend.")

    def _check_sums(self) -> None:
        """Raise StateError unless the bins of a feature hold together what its total says."""
        laid = np.flatnonzero(self.features["capacity"] > 0)
        sums = np.zeros_like(self.totals)
        if len(laid):
            sums[laid] = np.add.reduceat(self.counts, self.features["first"][laid], axis=0)
        if (np.abs(sums - self.totals) > _ROUNDING * np.maximum(sums, self.totals) + _TINY).any():
            raise StateError("its counts do not add up to its totals.")


def spread_edges(low: float, high: float) -> Floats:
    """Return the edges of ten bins of the same width.

    Parameters
    ----------
    low, high
        Where the first bin begins and the last one ends.

    Examples
    --------
    >>> spread_edges(0.0, 100.0)
    array([10., 20., 30., 40., 50., 60., 70., 80., 90.])
    """
    tenths = np.arange(1, TENTHS)
    return np.asarray(low + (high - low) * tenths / TENTHS)
