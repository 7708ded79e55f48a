"""What an evergreen boost remembers, declared once: a tree, the boosted trees beside it, and a fit under way."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from quercus.learners.evergreen.boosting.checking import are_sums, is_within
from quercus.learners.evergreen.boosting.layout import (
    BUILT,
    ENTRIES,
    FIRST_FIT,
    FIRST_STAGE,
    FITTING,
    IDLE,
    MEASURE,
    MOST_DEPTH,
    PARTITION,
    STAGES,
)
from quercus.learners.evergreen.layout import GRAIN, HEAVIEST, LAST_CATEGORY, MOST_CODES, MOST_EDGES
from quercus.learners.evergreen.state import SET_WORDS, EvergreenState
from quercus.rows import NOMINAL, UNSEEN
from quercus.state import Field, Index, Part, Real, State, StateError, Whole

_ROWS = Whole(high=2**61)
_LOSS = Real(low=-1e15, high=1e15)
_LARGE = 1e12
_VALUE = Real(low=-_LARGE, high=_LARGE)
_SUM = Real(low=-1e18, high=1e18)


class BoostedTreesState(State):
    """Trees that are added up, each behind the one before; children come in pairs, behind their parents.

    Examples
    --------
    >>> trees = BoostedTreesState.of(outputs=1)
    >>> trees.check()
    >>> trees.used
    {'node': 0, 'tree': 0, 'leaf': 0, 'output': 1, 'set': 0}
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
    values = Field(_VALUE, "leaf", "output")
    # Sums of Hessians of its rows.
    hessians = Field(Real(low=0.0, high=_LARGE), "leaf", "output")
    sets = Field(np.uint64, "set", SET_WORDS)
    # Before any tree.
    base = Field(_VALUE, "output")

    @classmethod
    def of(cls, outputs: int, **sizes: int) -> BoostedTreesState:
        """Return no trees, with room for so many.

        Parameters
        ----------
        outputs
            Of a leaf: one for each class, of two classes only one.
        sizes
            Of the other dimensions.
        """
        return cls(parts=None, **{"node": 0, "tree": 0, "leaf": 0, "set": 0, **sizes, "output": outputs})

    @property
    def trees(self) -> int:
        """Their number."""
        return int(self.head["trees"][0])

    def compact(self) -> BoostedTreesState:
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
            and self._is_shallow()
        ):
            raise StateError("its arrays do not fit together (boosted trees).")

    def _is_shallow(self) -> bool:
        """Check that no node is deeper than what explains answers has room for."""
        nodes, level = self.nodes, self.roots[: self.used["tree"]]
        for _ in range(MOST_DEPTH + 1):
            left = nodes["left"][level]
            left = left[left > 0]
            level = np.concatenate([left, left + 1])
        return len(level) == 0

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


class FitState(State):
    """A fit under way: rows as they were when it began, and how far it is.

    Examples
    --------
    >>> FitState.idle().nbytes
    208
    """

    head = Field(
        {
            "rows": _ROWS,
            "outputs": _ROWS,
            "rounds": Whole(high=STAGES[-1]),
            "depth": Whole(high=MOST_DEPTH),
            "phase": Whole(high=BUILT),
            "position": _ROWS,
            "sampled": _ROWS,  # rows of this round
            "waiting": Whole(high=ENTRIES - 2),  # nodes on the stack
            "node": _ROWS,
            "first": _ROWS,  # its rows
            "last": _ROWS,
            "level": Whole(high=MOST_DEPTH),
            "left": _ROWS,  # rows that went left, and right
            "right": _ROWS,
            "misses": Whole(high=1),
            "feature": Whole(low=-1),  # of the best split
            "cut": Whole(high=MOST_CODES),
            "missing_left": Whole(high=1),
            "gain": Real(low=0.0, high=1e18),
            "work": Real(low=0.0, high=1e18),  # done in all rounds
            "waited": _ROWS,  # rows learned since it began
            "seed": np.uint64,
        },
        1,
        fill={"feature": -1},
    )
    features = Field(
        {
            "kind": Whole(high=UNSEEN),
            "codes": Whole(low=1, high=MOST_CODES + 1),
            "edges": Whole(high=MOST_EDGES),
            "first": Whole(),  # of its bins
            "low": np.uint8,  # codes in a node
            "high": np.uint8,
            "least": np.uint8,
            "cut": np.uint8,
            "offset": Whole(np.int16, high=1),
            "live": Whole(np.int16, high=1),
        },
        "feature",
        fill={"codes": 1},
    )
    edges = Field(Real(), "feature", "edge")
    codes = Field(Whole(np.uint8, high=LAST_CATEGORY), "row", "feature")
    rows = Field({"weight": Real(low=GRAIN / HEAVIEST, high=1e12), "label": Whole()}, "row")
    scores = Field(_VALUE, "row", "output")
    gradients = Field(_VALUE, "row", "output")
    hessians = Field(Real(low=0.0, high=_LARGE), "row")
    places = Field(Index("row", optional=False), 2, "row")
    stack = Field(
        {
            "node": Whole(np.int32),
            "first": Whole(np.int32),
            "last": Whole(np.int32),
            "level": Whole(np.int32, high=MOST_DEPTH),
        },
        "entry",
    )
    # Sums of gradients, and of Hessians, on the left of each feature's cut, in the node, and in each category.
    lefts = Field(_SUM, "sum")
    totals = Field(_SUM, "line")
    bins = Field(_SUM, "bin", "line")
    # Codes that go left by the best split.
    chosen = Field(np.uint64, SET_WORDS)

    @classmethod
    def idle(cls) -> FitState:
        """Return none."""
        return cls(parts=None, **dict.fromkeys(cls.dims, 0))

    def check(self) -> None:
        """Raise StateError where arrays do not fit together."""
        head, sizes, f = self.head[0], self.sizes, self.features
        if not sizes["row"]:
            if any(sizes.values()):
                raise StateError("its arrays do not fit together (fit).")
            return
        stack, n = self.stack[: head["waiting"]], int(head["rows"])
        spans = [(head["first"], head["last"]), *zip(stack["first"], stack["last"], strict=True)]
        nominal = f["kind"] == NOMINAL
        bins = np.where(nominal, f["codes"], 0)
        if not (
            n == sizes["row"]
            and head["outputs"] == sizes["output"] == sizes["line"] - 1
            and sizes["sum"] == sizes["feature"] * sizes["line"]
            and sizes["entry"] == ENTRIES
            and sizes["edge"] == MOST_EDGES
            and sizes["bin"] == bins.sum()
            and np.array_equal(f["first"], np.cumsum(bins) - bins)
            and (self.codes < f["codes"]).all()
            and (f["codes"][~nominal] <= f["edges"][~nominal] + 2).all()
            and (self.rows["label"] < max(sizes["output"], 2)).all()
            and (f["high"] < f["codes"]).all()
            and head["sampled"] <= n
            and head["position"] <= n
            and all(0 <= first <= last <= n for first, last in spans)
            and (stack["level"] >= np.arange(head["waiting"])).all()
            and is_within(self)
            and are_sums(self)
            and head["feature"] < sizes["feature"]
        ):
            raise StateError("its arrays do not fit together (fit).")


class BoostState(State):
    """Boosted trees, how well each number of rounds did, and how much they count beside the tree.

    Examples
    --------
    >>> BoostState.empty(np.uint64(7)).options["next_fit"].tolist()
    [32]
    """

    options = Field(
        {
            "classes": Whole(),
            "seen": _ROWS,  # rows learned
            "next_fit": _ROWS,  # a fit begins when so many are
            "fits": _ROWS,  # that have begun
            "stage": Whole(high=FITTING),
            "target": Whole(high=len(STAGES) - 1),  # a fit has the rounds of this stage
            "seed": np.uint64,
            "tree_weight": Real(low=0.0, high=1e9),
            "tree_accumulator": Real(low=0.0, high=1e40),
            "boost_weight": Real(low=0.0, high=1e9),
            "boost_accumulator": Real(low=0.0, high=1e40),
            "tree_loss": _LOSS,
            "boost_loss": _LOSS,
            "stack_loss": _LOSS,
        },
        1,
        fill={"next_fit": FIRST_FIT, "target": FIRST_STAGE, "tree_weight": 0.5, "boost_weight": 0.5},
    )
    # Of each number of rounds.
    losses = Field(_LOSS, len(STAGES))
    trees = Part(BoostedTreesState)
    candidate = Part(BoostedTreesState)
    fit = Part(FitState)

    @classmethod
    def empty(cls, seed: np.uint64) -> BoostState:
        """Return what has learned nothing.

        Parameters
        ----------
        seed
            Of what is left to chance.
        """
        none = {name: BoostedTreesState.of(outputs=0) for name in ("trees", "candidate")}
        state = cls(parts=none | {"fit": FitState.idle()})
        state.options["seed"] = seed
        return state

    @property
    def is_fitting(self) -> bool:
        """Whether a fit is under way."""
        return int(self.options["stage"][0]) != IDLE

    def check(self) -> None:
        """Raise StateError where arrays do not fit together."""
        o, trees, new, fit = self.options[0], self.trees, self.candidate, self.fit
        fitting = fit.sizes["row"] > 0
        if not (
            fitting == self.is_fitting
            and trees.is_done()
            and (o["classes"] > 1 or not (trees.trees or fitting))
            and trees.sizes["output"] <= max(o["classes"], 1)
            and (trees.sizes["output"] > 0 or trees.trees == 0)
            and new.sizes["output"] == (fit.sizes["output"] if fitting else 0)
            and new.sizes["output"] <= max(o["classes"], 1)
            and (fitting or not any(new.sizes.values()))
            and (not fitting or self._fit_candidate())
        ):
            raise StateError("its arrays do not fit together (boost).")

    def _fit_candidate(self) -> bool:
        """Check that the tree under way is one that the fit may go on with."""
        head, new, used = self.fit.head[0], self.candidate, self.candidate.used
        nodes, waiting = new.nodes[: used["node"]], self.fit.stack["node"][: head["waiting"]].tolist()
        current = [int(head["node"])] if head["phase"] in range(MEASURE, BUILT) else []
        if head["phase"] == PARTITION and current[0] < len(nodes):
            # It is split already; its children wait as soon as they have their rows.
            left = int(nodes["left"][current[0]])
            current = [left, left + 1] if left else []
        open_nodes = sorted(waiting + current)
        unfinished = np.flatnonzero((nodes["left"] == 0) & (nodes["leaf"] < 0)).tolist()
        return bool(
            new.fits(self.fit.features["kind"])
            and new.trees <= head["rounds"] <= new.sizes["tree"]
            and used["leaf"] + len(unfinished) <= new.sizes["leaf"]
            and (head["phase"] == 0 or new.trees > 0)
            and open_nodes == unfinished
        )


class EvergreenBoostState(State):
    """An evergreen tree, and boosted trees beside it.

    Examples
    --------
    >>> parts = {"tree": EvergreenState.empty(2), "boost": BoostState.empty(np.uint64(7))}
    >>> EvergreenBoostState(parts=parts).tree.n_rows
    0
    """

    tree = Part(EvergreenState)
    boost = Part(BoostState)
    # The most bytes that all of it may take.
    max_bytes: int = 0

    def check(self) -> None:
        """Raise StateError where arrays do not fit together."""
        boost, kinds = self.boost, self.tree.features["kind"]
        own = boost.fit.features["kind"]
        if boost.options["classes"][0] != self.tree.classes or not (
            boost.trees.fits(kinds) and len(own) <= len(kinds) and ((own == UNSEEN) | (own == kinds[: len(own)])).all()
        ):
            raise StateError("its arrays do not fit together (boost).")
