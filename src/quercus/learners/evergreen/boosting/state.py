"""What an evergreen boost remembers, declared once: a tree, the trees beside it, and a fit under way."""

from __future__ import annotations

import numpy as np

from quercus.learners.evergreen.boosting.checking import are_sums, is_within
from quercus.learners.evergreen.boosting.layout import (
    BUILT,
    FIRST_FIT,
    FIRST_STAGE,
    FITTING,
    IDLE,
    MEASURE,
    MOST_DEPTH,
    PARTITION,
    STAGES,
    VOTER_DEPTH,
    VOTING,
)
from quercus.learners.evergreen.boosting.trees import (
    HESSIAN,
    VALUE,
    BoostedTreesState,
    GrownTreesState,
    RandomizedTreesState,
)
from quercus.learners.evergreen.layout import GRAIN, HEAVIEST, LAST_CATEGORY, MOST_CODES, MOST_EDGES
from quercus.learners.evergreen.state import SET_WORDS, EvergreenState
from quercus.rows import NOMINAL, UNSEEN
from quercus.state import Field, Index, Part, Real, State, StateError, Whole

_ROWS = Whole(high=2**61)
_LOSS = Real(low=-1e15, high=1e15)
_SUM = Real(low=-1e18, high=1e18)


def entries_for(depth: int) -> int:
    """Return how many nodes may wait: one for each depth, and some more.

    Parameters
    ----------
    depth
        Of the trees, at most.

    Examples
    --------
    >>> entries_for(8), entries_for(40)
    (16, 44)
    """
    return (MOST_DEPTH if depth <= MOST_DEPTH else VOTER_DEPTH) + 4


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
            "depth": Whole(high=VOTER_DEPTH),
            "phase": Whole(high=BUILT),
            "position": _ROWS,
            "sampled": _ROWS,  # rows of this round
            "waiting": Whole(high=VOTER_DEPTH + 2),  # nodes on the stack
            "node": _ROWS,
            "first": _ROWS,  # its rows
            "last": _ROWS,
            "level": Whole(high=VOTER_DEPTH),
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
    scores = Field(VALUE, "row", "output")
    gradients = Field(VALUE, "row", "output")
    hessians = Field(HESSIAN, "row")
    places = Field(Index("row", optional=False), 2, "row")
    stack = Field(
        {
            "node": Whole(np.int32),
            "first": Whole(np.int32),
            "last": Whole(np.int32),
            "level": Whole(np.int32, high=VOTER_DEPTH),
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
            and sizes["entry"] == entries_for(head["depth"]) >= head["waiting"] + 2
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
            "stage": Whole(high=VOTING),
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
    # Of the randomized trees: when a fit begins, how many have, and how much they count in the product of all.
    votes = Field(
        {
            "next_fit": _ROWS,
            "fits": _ROWS,
            "weight": Real(low=0.0, high=1e9),
            "accumulator": Real(low=0.0, high=1e40),
            "loss": _LOSS,
        },
        1,
        fill={"next_fit": FIRST_FIT},
    )
    trees = Part(BoostedTreesState)
    candidate = Part(BoostedTreesState)
    voters = Part(RandomizedTreesState)
    new_voters = Part(RandomizedTreesState)
    fit = Part(FitState)

    @classmethod
    def empty(cls, seed: np.uint64) -> BoostState:
        """Return what has learned nothing.

        Parameters
        ----------
        seed
            Of what is left to chance.
        """
        none: dict[str, State] = {name: one.kind.of(outputs=0) for name, one in cls.parts.items() if name != "fit"}
        state = cls(parts=none | {"fit": FitState.idle()})
        state.options["seed"] = seed
        return state

    @property
    def is_fitting(self) -> bool:
        """Whether a fit is under way."""
        return int(self.options["stage"][0]) != IDLE

    def check(self) -> None:
        """Raise StateError where arrays do not fit together."""
        o, fit, classes = self.options[0], self.fit, max(int(self.options["classes"][0]), 1)
        fitting, stage = fit.sizes["row"] > 0, o["stage"]
        # Of two classes the first has no score, but a vote.
        of = {FITTING: fit.sizes["output"], VOTING: max(fit.sizes["output"], 2)}
        pairs = ((FITTING, self.trees, self.candidate), (VOTING, self.voters, self.new_voters))
        if not (
            fitting == self.is_fitting
            and (classes > 1 or not fitting)
            and all(self._are_trees(old, classes) for _, old, _ in pairs)
            and all(
                new.sizes["output"] == of[its] if stage == its else not any(new.sizes.values()) for its, _, new in pairs
            )
            and (not fitting or (of[stage] <= classes and self._fits_candidate(pairs[stage - FITTING][2])))
            and (stage != FITTING or fit.head["depth"][0] <= MOST_DEPTH)
        ):
            raise StateError("its arrays do not fit together (boost).")

    def _are_trees(self, trees: GrownTreesState, classes: int) -> bool:
        """Check that trees in force are done, and of classes that are known; or that there is nothing."""
        outputs = trees.sizes["output"]
        if trees.trees == 0:
            return not any(trees.sizes.values())
        return trees.is_done() and 0 < outputs <= classes > 1

    def _fits_candidate(self, new: GrownTreesState) -> bool:
        """Check that the tree under way is one that the fit may go on with."""
        head, used = self.fit.head[0], new.used
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
            boost.trees.fits(kinds)
            and boost.voters.fits(kinds)
            and len(own) <= len(kinds)
            and ((own == UNSEEN) | (own == kinds[: len(own)])).all()
        ):
            raise StateError("its arrays do not fit together (boost).")
