"""What an evergreen tree remembers, declared once: the rows that are kept, the tree, the one that grows beside it."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from quercus.learners.evergreen.additive.state import AdditiveState
from quercus.learners.evergreen.layout import (
    CATCHING,
    DEEPEST,
    FIRST_GROWTH,
    GRAIN,
    GROWING,
    HEAVIEST,
    IDLE,
    LAST_CATEGORY,
    MOST_CODES,
    MOST_EDGES,
    PRUNE,
    REPLAYING,
    SAMPLE,
    WINDOW,
)
from quercus.rows import NOMINAL, NUMERIC, UNSEEN
from quercus.state import Field, Index, Part, Real, State, StateError, Whole

# Words of 64 bits that a set of categories takes.
SET_WORDS = 4
# Sums of weights are far below; what is above would make others infinite.
_WEIGHT = Real(low=0.0, high=1e18)
_RECENT = Real(low=0.0, high=1e102)
_LOSS = Real(low=-1e15, high=1e15)
_ROUNDING = 1e-6
# Counters of rows stay where adding to them, and doubling them, is safe.
_ROWS = Whole(high=2**61)

_NODE: dict[str, Any] = {
    "threshold": Real(inf=True),
    "n": _WEIGHT,
    "stop_odds": Real(low=0.0, high=1e14),  # of stopping here against going on
    "stop": Real(low=0.0, high=1.0),  # the same for recent labels, as a probability
    "scale": Real(low=1.0, high=1e101),  # of its recent counts
    "total": _RECENT,  # sum of its recent counts
    "gain": Real(low=-1e18, high=1e18),
    "left": Index("node", optional=False),  # 0: a leaf
    "feature": Whole(np.int32, low=-1),
    "set": Index("set"),  # nominal
    "depth": Whole(np.int16, high=DEEPEST),
    "cut": Whole(np.uint8),  # the largest code that goes left
    "missing_left": Whole(np.uint8, high=1),
}
OPTIONS: dict[str, Any] = {
    "bins": Whole(low=2, high=MOST_EDGES + 1),
    "adaptive": Whole(high=1),
    "recent_only": Whole(high=1),  # whether a full reservoir keeps the last rows, not a sample
    "without": Whole(high=7),  # parts that are switched off
    "seed": np.uint64,
    "classes": Whole(low=1),
    "seen": _ROWS,  # rows learned
    "rows": _ROWS,  # in the reservoir
    "most_rows": Whole(low=2, high=2**31 - 1),
    "nodes": Whole(low=1),
    "drawn": _ROWS,  # rows learned when edges were last drawn
    "grown": _ROWS,  # rows in the reservoir when the last growth began
    "next_rebuild": np.int64,  # a growth begins with so many rows in the reservoir
    "stage": Whole(low=IDLE, high=CATCHING),
    "position": _ROWS,  # of the row that the new tree learns next
    "stopped": Whole(low=None),
    "since": _ROWS,  # rows since the last alarm
    "wrong": _ROWS,  # errors among them
    "loss": _LOSS,  # of all prunings, of the leaf, of recent labels
    "leaf_loss": _LOSS,
    "recent_loss": _LOSS,
    "subspace": Real(low=1e-9, high=1.0),  # share of the features that the tree may use
    "sight": Real(low=0.0, high=1.0),  # share of these that are evaluated at a node
    "growth_factor": Real(
        low=0.0, high=16.0
    ),  # rows at the next growth, as many times those at the last; 0: as they are few
    "turn": Real(low=0.0, high=1.0),  # part of that after the first growth, so that trees of a forest take turns
    "places": Whole(high=SAMPLE),  # rows in the sample, at most
}


class EvergreenTreeState(State):
    """A tree whose children come in pairs, behind their parents.

    Examples
    --------
    >>> tree = EvergreenTreeState(node=1, late=1, set=0, label=2)
    >>> tree.check()
    >>> tree.nodes["left"] = 1
    >>> tree.check()
    Traceback (most recent call last):
        ...
    quercus.state.state.StateError: its arrays do not fit together (tree).
    """

    nodes = Field(_NODE, "node", fill={"stop": 0.5, "scale": 1.0, "feature": -1, "set": -1})
    # Weight of each class that was learned, and the same of late; a frozen tree may do without the latter.
    counts = Field(_WEIGHT, "node", "label")
    recent = Field(_RECENT, "late", "label")
    # Codes of a nominal feature that go left, as bits.
    sets = Field(np.uint64, "set", SET_WORDS)

    def check(self) -> None:
        """Raise StateError where arrays do not fit together."""
        if len(self.nodes) and not (self._is_tree() and self._adds_up()):
            raise StateError("its arrays do not fit together (tree).")

    def _is_tree(self) -> bool:
        nodes = self.nodes
        inner = np.flatnonzero(nodes["left"] > 0)
        left, sets = nodes["left"][inner].astype(np.int64), nodes["set"][nodes["set"] >= 0]
        return bool(
            len(nodes) == 2 * len(inner) + 1
            and (left + 1 < len(nodes)).all()
            and (left > inner).all()
            and (left % 2 == 1).all()
            and len(np.unique(left)) == len(left)
            and nodes["depth"][0] == 0
            and all((nodes["depth"][left + side] == nodes["depth"][inner] + 1).all() for side in (0, 1))
            and len(np.unique(sets)) == len(sets)
        )

    def _adds_up(self) -> bool:
        nodes, late = self.nodes, len(self.recent)
        scale, total, n = nodes["scale"][:late], nodes["total"][:late], nodes["n"]
        recent = np.abs(self.recent.sum(axis=1) - total) <= _ROUNDING * (scale + total)
        counted = np.abs(self.counts.sum(axis=1) - n) <= _ROUNDING * (1.0 + n)
        return bool(late in (0, len(nodes)) and recent.all() and counted.all())

    def fits(self, kinds: Any) -> bool:
        """Return whether all tests ask for features of their kind.

        Parameters
        ----------
        kinds
            Of each feature.
        """
        inner = self.nodes[self.nodes["left"] > 0]
        features = inner["feature"]
        return bool(
            ((features >= 0) & (features < len(kinds))).all()
            and np.array_equal(np.asarray(kinds)[features] == NOMINAL, inner["set"] >= 0)
        )


class GrowthState(State):
    """A growth under way. Only how far it is is kept in files: all else is made anew from the rows.

    Examples
    --------
    >>> GrowthState.idle(classes=2).nbytes
    160
    """

    growth = Field(
        {
            "rows": Whole(),
            "least": Whole(),  # a node of fewer rows is not split
            "classes": Whole(),
            "phase": Whole(high=PRUNE),
            "nodes": Whole(),
            "sets": Whole(),
            "waiting": Whole(),  # on the stack
            "free": Whole(),  # slots
            "node": Whole(),
            "present": Whole(),  # classes in it
            "live": Whole(),
            "slot": Whole(low=-1),
            "other": Whole(low=-1),  # slot of the smaller child
            "smaller": Whole(),
            "position": Whole(),
            "left": Whole(),
            "right": Whole(),
            "misses": Whole(),
            "seed": np.uint64,
            "sight": Real(low=0.0, high=1.0),
        },
        1,
    )
    nodes = Field(_NODE, "node", saved=False, blank=True)
    counts = Field(np.float64, "node", "label", saved=False, blank=True)
    sets = Field(np.uint64, "set", SET_WORDS, saved=False, blank=True)
    # Places of rows in the reservoir, those of a node side by side; spare.
    places = Field(np.int32, 2, "row", saved=False, blank=True)
    # Nodes that wait for being split.
    stack = Field({"node": np.int32, "slot": np.int32, "live": np.int32}, "entry", saved=False)
    # Features, first those that vary in the node of now.
    live = Field(np.int32, "feature", saved=False)
    # Weight by code and class; those that are free.
    histograms = Field(np.float64, "slot", "bin", saved=False, blank=True)
    slots = Field(np.int32, "slot", saved=False)
    # Rows and evidence of a node; its prior, by its parent.
    spans = Field(
        {"first": np.int32, "last": np.int32, "price": np.float64, "evidence": np.float64},
        "node",
        saved=False,
        blank=True,
    )
    shares = Field(np.float64, "node", "share", saved=False, blank=True)

    @classmethod
    def idle(cls, classes: int) -> GrowthState:
        """Return none.

        Parameters
        ----------
        classes
            There is room for.
        """
        return cls(parts=None, **dict.fromkeys(cls.dims, 0) | {"label": classes})

    def __getstate__(self) -> dict[str, Any]:
        # What memory held before is nobody's business.
        growth = self.growth[0]
        for array in (self.nodes, self.counts, self.spans, self.shares):
            array[growth["nodes"] :] = np.zeros(1, array.dtype)
        self.sets[growth["sets"] :], self.places[1, growth["right"] :] = 0, 0
        self.histograms[self.slots[: growth["free"]]] = 0.0
        return super().__getstate__()


class EvergreenState(State):
    """An evergreen tree with all that it learns from.

    Examples
    --------
    >>> state = EvergreenState.empty(features=2)
    >>> state.n_rows, state.is_growing, state.used["place"], state.to_arrays()["tree/counts"].shape
    (0, False, 0, (1, 0))
    """

    counters: ClassVar = {"row": ("options", "rows")}
    # What it was made for, how much of it is used.
    options = Field(OPTIONS, 1)
    features = Field(
        {
            "kind": Whole(high=UNSEEN),
            "edges": Whole(high=MOST_EDGES),
            "codes": Whole(low=1, high=MOST_CODES + 1),  # how many there are, with that of missing values
            "first": Whole(),  # of its bins in a histogram
        },
        "feature",
        fill={"kind": UNSEEN, "codes": 2},
    )
    # Where the bins of a numeric feature end.
    edges = Field(Real(), "feature", "edge")
    # Values of some rows as they came, and the last 32 bits of their numbers.
    sample = Field(Real(nan=True), "place", "feature", fill=math.nan)
    sampled = Field(np.uint32, "place")
    # The reservoir: values of rows as codes, the same of their numbers, weights and classes.
    codes = Field(Whole(np.uint8, high=LAST_CATEGORY), "row", "feature", blank=True)
    rows = Field(
        {"number": Whole(np.uint32), "weight": Real(np.float32, low=GRAIN, high=HEAVIEST), "label": Whole(np.uint32)},
        "row",
        blank=True,
    )
    # Whether the last answers were wrong.
    errors = Field(Whole(np.uint8, high=1), WINDOW)
    tree = Part(EvergreenTreeState)
    # One that has grown and catches up with the rows.
    candidate = Part(EvergreenTreeState)
    growth = Part(GrowthState)
    additive = Part(AdditiveState)
    # The most bytes that all of it may take.
    max_bytes: int = 0

    @classmethod
    def empty(cls, features: int = 0, edges: int = MOST_EDGES, rows: int = 64) -> EvergreenState:
        """Return the state of a tree that has learned nothing.

        Parameters
        ----------
        features
            Their number.
        edges
            The most of a feature.
        rows
            There is room for.
        """
        parts = {
            "tree": EvergreenTreeState(node=1, late=1, set=0, label=0),
            "candidate": EvergreenTreeState(node=0, late=0, set=0, label=0),
            "growth": GrowthState.idle(0),
            "additive": AdditiveState(feature=0, kept=0, bin=0, line=3, label=0),
        }
        state = cls(parts=parts, feature=features, edge=edges, place=rows, row=rows)
        state.options["next_rebuild"], state.options["nodes"], state.options["places"] = FIRST_GROWTH, 1, SAMPLE
        return state

    def __getstate__(self) -> dict[str, Any]:
        n = self.n_rows
        self.codes[n:], self.rows[n:] = 0, np.zeros(1, self.rows.dtype)
        return super().__getstate__()

    @property
    def used(self) -> dict[str, int]:
        """How much of each dimension is used."""
        used = super().used
        return used | {"place": min(int(self.options["seen"][0]), used["place"])}

    @property
    def classes(self) -> int:
        """Number of classes known."""
        return int(self.options["classes"][0])

    @property
    def n_rows(self) -> int:
        """Rows in the reservoir."""
        return int(self.options["rows"][0])

    @property
    def is_growing(self) -> bool:
        """Whether a growth is under way."""
        return int(self.options["stage"][0]) != IDLE

    def check(self) -> None:
        """Raise StateError where arrays do not fit together."""
        checks = {"options": self._fit_options, "reservoir": self._fit_rows, "growth": self._fit_growth}
        for name, fits in checks.items():
            if not fits():
                raise StateError(f"its arrays do not fit together ({name}).")
        if not (self.tree.fits(self.features["kind"]) and self.candidate.fits(self.features["kind"])):
            raise StateError("its arrays do not fit together (tree).")

    def _fit_options(self) -> bool:
        o, sizes, width, additive = self.options[0], self.sizes, self.tree.sizes["label"], self.additive
        return bool(
            o["classes"] <= width <= self.candidate.sizes["label"]
            and o["nodes"] == len(self.tree.nodes) == len(self.tree.recent)
            and o["rows"] <= o["seen"]
            and o["drawn"] <= o["seen"]
            and o["wrong"] <= o["since"]
            and o["bins"] <= sizes["edge"] + 1
            and o["sight"] > 0
            and (o["growth_factor"] == 0 or o["growth_factor"] >= 1)
            and min(o["seen"], o["places"]) <= sizes["place"] <= o["places"]
            and o["rows"] <= sizes["row"] <= max(o["most_rows"], 64)
            and (not additive.is_on or additive.sizes["feature"] in (0, sizes["feature"]))
            and (not additive.is_on or (additive.classes == o["classes"] and additive.sizes["line"] == 3))
        )

    def _fit_rows(self) -> bool:
        o, f, rows = self.options[0], self.features, self.n_rows
        numeric, unseen = f["kind"] == NUMERIC, f["kind"] == UNSEEN
        codes, kept = self.codes[:rows], self.rows[:rows]
        weights = kept["weight"].astype(np.float64) / GRAIN
        ends = np.arange(self.sizes["edge"] - 1) + 1 < f["edges"][:, None]
        return bool(
            (f["edges"] <= self.sizes["edge"]).all()
            and (f["edges"][~numeric] == 0).all()
            and (f["codes"][numeric] == f["edges"][numeric] + 2).all()
            and (f["codes"][~numeric] >= 2).all()
            and (codes[:, numeric] < f["codes"][numeric]).all()
            and not codes[:, unseen].any()
            and np.isnan(self.sample[:, unseen]).all()
            and (np.diff(self.edges) > 0)[ends].all()
            and (kept["label"] < o["classes"]).all()
            and (weights == np.floor(weights)).all()
        )

    def _fit_growth(self) -> bool:
        """Check a growth that is under way: it can be done again, up to where it was."""
        o, g, candidate, sizes = self.options[0], self.growth.growth[0], self.candidate, self.growth.sizes
        if o["stage"] != GROWING and any(size for dim, size in sizes.items() if dim != "label"):
            return False
        if o["stage"] in (REPLAYING, CATCHING):
            last = o["grown"] if o["stage"] == REPLAYING else o["rows"]
            grown = len(candidate.nodes) == len(candidate.recent) > 0
            return bool(grown and o["position"] <= last and o["grown"] <= o["rows"])
        if o["stage"] == IDLE or len(candidate.nodes):
            return not len(candidate.nodes)
        bins, codes = int(self.features["codes"].sum()), self.codes[: o["grown"]]
        return bool(
            0 < o["grown"] == sizes["row"] <= o["rows"]
            and 0 < sizes["feature"] == self.sizes["feature"]
            and 1 <= g["classes"] <= o["classes"]
            and g["least"] >= 2
            and (self.rows["label"][: o["grown"]] < g["classes"]).all()
            and (codes < self.features["codes"]).all()
            and sizes["node"] >= 1
            and sizes["label"] >= self.tree.sizes["label"]
            and sizes["share"] >= g["classes"]
            and sizes["entry"] >= 4
            and (sizes["slot"] == 0 or (sizes["slot"] >= 2 and sizes["bin"] >= bins * g["classes"]))
        )
