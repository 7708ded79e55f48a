"""An additive model over bins and categories, as it is kept, declared once.

The bins of a feature lie side by side, first the one for missing values.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from quercus.learners.evergreen.layout import GRAIN, HEAVIEST, LAST_CATEGORY
from quercus.rows import NUMERIC, UNSEEN
from quercus.state import Field, Real, State, StateError, Whole

BINS = 16
MOST_ADDITIVE_EDGES = 31
KEPT = 512
FIRST_DRAW = 8
# Rows of the table; a frozen model has only the first two.
LOG, COEFFICIENT, COUNT = range(3)
# The other row of the totals.
WEIGHT = 1
STEP = 0.3
# A step is made for at most so many mean weights.
MOST_MEANS = 8.0
MOST_VISITS = 16_000.0
# A bin counts wholly from so many visits on: few rows tell little where values are missing or of rare categories.
ENOUGH, ENOUGH_OF_NUMBERS = 8.0, 0.5
LEAST_PROBA = 1e-4
LEAST_SHARE = 1e-9
# After an alarm all that is known weighs as much as so many rows.
FADED = 300.0
# Nothing that was learned comes near these; sums of it are finite.
_MOST = 1e9
_HEAVIEST = 1e40
_LOSS = Real(low=-1e15, high=1e15)
_SHARE = Real(low=0.0, high=_MOST)
_SQUARE = Real(low=0.0, high=_HEAVIEST)


class AdditiveState(State):
    """An additive model; nothing at all once there was no room for it.

    Examples
    --------
    >>> state = AdditiveState(feature=0, kept=KEPT, bin=0, line=3, label=0)
    >>> state.is_on, state.classes, state.nbytes
    (True, 0, 4208)
    """

    sums = Field(
        {
            "classes": np.int64,
            "seen": Whole(high=2**62),  # rows learned
            "weight": _SQUARE,  # of these
            "drawn": Whole(low=FIRST_DRAW // 2, high=2**61),  # rows learned when bin edges were last drawn
            "off": Whole(high=1),  # whether there is no room for it
            "known": np.int64,  # bins of all features that have come, without those for missing values
            "came": np.int64,  # number of these features
            "seed": np.uint64,
            "trees_weight": _SHARE,  # of the logarithm of what the trees predict
            "trees_accumulator": _SQUARE,  # of AdaGrad: squared gradients
            "sum_weight": _SHARE,  # of naive Bayes
            "sum_accumulator": _SQUARE,
            "trees_loss": _LOSS,
            "loss": _LOSS,
        },
        1,
        fill={"trees_weight": 1.0, "drawn": FIRST_DRAW // 2},
    )
    columns = Field(
        {
            "kind": Whole(high=UNSEEN),
            "edges": Whole(high=MOST_ADDITIVE_EDGES),
            "first": np.int64,  # bin
            "capacity": Whole(low=1, high=LAST_CATEGORY + 1),  # bins that it has, with the one for missing values
            "known": np.int64,  # bins without that one; 0 until a value is learned
        },
        "feature",
        fill={"kind": UNSEEN, "capacity": 1},
    )
    # Where the bins of a numeric feature end.
    limits = Field(Real(), "feature", MOST_ADDITIVE_EDGES)
    # Values of some rows as they came, their classes and weights.
    kept = Field(Real(nan=True), "kept", "feature", fill=math.nan)
    kept_rows = Field({"label": Whole(np.uint32), "weight": Real(np.float32, low=GRAIN, high=HEAVIEST)}, "kept")
    # By bin: logarithms of counts, coefficients, counts; a frozen model has only the first two.
    table = Field(Real(), "bin", "line", "label")
    # Rows that each bin has learned.
    visits = Field(_SQUARE, "bin")
    # Logarithm and weight of each class.
    totals = Field(Real(), 2, "label")
    # The most bytes that it may use.
    max_bytes: int = 0

    @property
    def used(self) -> dict[str, int]:
        """How much of each dimension is used."""
        sizes = self.sizes
        return sizes | {"kept": min(int(self.sums["seen"][0]), sizes["kept"])}

    @property
    def is_on(self) -> bool:
        """Whether there is any of it."""
        return not self.sums["off"][0]

    @property
    def classes(self) -> int:
        """Number of classes known."""
        return int(self.sums["classes"][0])

    @property
    def needs_edges(self) -> bool:
        """Whether bin edges are to be drawn."""
        return self.is_on and bool(self.sums["seen"][0] >= 2 * self.sums["drawn"][0])

    def check(self) -> None:
        """Raise StateError where arrays do not fit together."""
        sizes = self.sizes
        is_sound = self._fit() if self.is_on else not any(sizes[dim] for dim in ("feature", "kept", "bin", "label"))
        if not is_sound or sizes["line"] not in (COUNT, COUNT + 1):
            raise StateError("its arrays do not fit together (single features).")

    def _fit(self) -> bool:
        c, sizes, sums = self.columns, self.sizes, self.sums[0]
        numeric, unseen = c["kind"] == NUMERIC, c["kind"] == UNSEEN
        ends = np.arange(MOST_ADDITIVE_EDGES - 1) + 1 < c["edges"][:, None]
        counts, logs = self.table[:, COUNT:], self.table[:, :COUNT]
        return bool(
            (sums["classes"] <= sizes["label"] or sizes["feature"] == 0)
            and (c["edges"][~numeric] == 0).all()
            and (c["capacity"][numeric] == c["edges"][numeric] + 2).all()
            and (c["capacity"][unseen] == 1).all()
            and ((c["known"] >= 0) & (c["known"] < c["capacity"])).all()
            and (c["known"][unseen] == 0).all()
            and np.array_equal(c["first"], np.cumsum(c["capacity"]) - c["capacity"])
            and sizes["bin"] == c["capacity"].sum()
            and sums["known"] == c["known"].sum()
            and sums["came"] == (c["known"] > 0).sum()
            and (np.diff(self.limits) > 0)[ends].all()
            and np.isnan(self.kept[:, unseen]).all()
            and sizes["kept"] == (KEPT if sizes["line"] > COUNT else 0)
            and (self.kept_rows["label"] < max(sizes["label"], 1)).all()
            and (np.abs(logs) < _MOST).all()
            and (np.abs(self.totals[LOG]) < _MOST).all()
            and ((counts >= 0) & (counts < _HEAVIEST)).all()
            and ((self.totals[WEIGHT] >= 0) & (self.totals[WEIGHT] < _HEAVIEST)).all()
        )


class AdditiveModel(NamedTuple):
    """An additive model, array by array."""

    sums: Any
    columns: Any
    bin_edges: Any
    kept: Any
    kept_rows: Any
    table: Any
    visits: Any
    totals: Any


class AdditiveWorkspace(NamedTuple):
    """Room for one example: its bins, how much each counts, and numbers by class."""

    bins: Any
    shares: Any
    lines: Any
