"""What a reinforced tree remembers, declared once; see ``docs/reinforced.md``.

A state of the tree (what was asked for so far, with the results) is found by its key: the exclusive or of pseudo-random
numbers, one for each (feature, drawing of its bins, bin), so that the order of asking does not matter (Zobrist, "A New
Hashing Method with Application for Game Playing", 1970). Of two states of the same 128 bits one would be taken for the
other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from quercus.acquisition.layout import KEPT_VALUES, MOST_BINS
from quercus.learners.reinforced.layout import NOWHERE
from quercus.rows import NUMERIC, UNSEEN
from quercus.state import Field, Index, Real, State, StateError, Whole
from quercus.statistics.detector_kernels import ADWIN_WIDTH, are_sound_windows

# Sums of weights and values in files are at most so large: products of two are still finite.
_MOST = 1e150
_WEIGHT = Real(low=0.0, high=_MOST)
_VALUE = Real(low=-_MOST, high=_MOST)
# Sums of shares or counts may be off by rounding.
_ROUNDING = 1e-6
_COUNT = Whole(high=2**53)
_BITS = Whole(np.uint64)
_CAPACITY = 64
# Dimensions of which it is counted how much is used.
COUNTED = ("state", "action", "transition", "result")


class ReinforcedState(State):
    """The arrays of a reinforced tree.

    ``options`` tells how much is used, and holds the generator of the cases' seeds. An action is a question that was
    tried in a state, a transition where it led. A result is one that an item has had; ``counts`` are the weights of its
    examples of each class.

    Examples
    --------
    >>> state = new_state(bins=5, features=2, seed=0, max_bytes=2**20)
    >>> state.sizes["state"], state.used["state"], state.edges.shape
    (64, 1, (2, 4))
    """

    counters: ClassVar[Mapping[str, tuple[str, str]]] = {dim: ("options", f"{dim}s") for dim in COUNTED}

    options = Field(
        {
            "bins": Whole(low=2, high=MOST_BINS),
            "classes": _COUNT,
            "states": _COUNT,
            "actions": _COUNT,
            "transitions": _COUNT,
            "free": Index("transition", np.int64),  # the first of those that are used no more
            "results": _COUNT,
            "alert": _COUNT,  # so many cases explore more, since something has changed
            "g0": _BITS,
            "g1": _BITS,
            "g2": _BITS,
            "g3": _BITS,
        },
        1,
        fill={"states": 1, "free": NOWHERE},
    )
    features = Field(
        {
            "kind": Whole(high=UNSEEN),
            "bins": Whole(high=2**31),  # bins, or categories, known
            "slot": Index("slot", np.int64),  # numeric: its row of `kept`
            "known": _COUNT,  # values
            "drawn": Whole(high=2**30),  # how often its bins have become others
            # If it is the first of its item: the first of its results, which holds their sums, the number of the
            # others, and how often the bins of the item had become others when it was last counted.
            "first": Index("result", np.int64),
            "results": _COUNT,
            "counted": Whole(high=2**53),
        },
        "feature",
        fill={"kind": UNSEEN, "slot": NOWHERE, "first": NOWHERE},
    )
    edges = Field(np.float64, "feature", "edge")
    # Numeric features: the values from which bins are drawn.
    kept = Field({"value": np.float64, "weight": _WEIGHT}, "slot", KEPT_VALUES)
    # Marks are where they stand in the lists of what the last example changed, if they do.
    states = Field(
        {
            "key0": _BITS,
            "key1": _BITS,
            "n": _WEIGHT,
            "value": _VALUE,
            "first": Index("action"),
            "mark": Whole(np.int32),
        },
        "state",
        fill={"first": NOWHERE},
    )
    shares = Field(Real(low=0.0, high=1.0 + _ROUNDING), "state", "class")
    # By part of a key the state found last; for each state the one before.
    links = Field(Index("state"), 2, "state", fill=NOWHERE, saved=False)
    actions = Field(
        {
            "n": _WEIGHT,
            "gain": _VALUE,  # G
            "item": Whole(np.int32),
            "state": Index("state", optional=False),
            "first": Index("transition"),
            "next": Index("action"),
            "drawn": Whole(np.int32),  # how often the bins of its item had become others when it was last updated
            "mark": Whole(np.int32),
        },
        "action",
    )
    transitions = Field(
        {
            "key": _BITS,  # half of that of the state
            "share": Real(low=0.0, high=1.0 + _ROUNDING),
            "value": _VALUE,  # of a state that was forgotten
            "state": Index("state"),  # NOWHERE: forgotten
            "action": Index("action"),  # NOWHERE: not used
            "next": Index("transition", np.int64),
        },
        "transition",
    )
    results = Field({"key": _BITS, "next": Index("result", np.int64)}, "result")
    counts = Field(_WEIGHT, "result", "class")
    # Window of a detector over right and wrong answers.
    monitor = Field(np.float64, 1, ADWIN_WIDTH)

    # Limit of all arrays.
    max_bytes: int = 2**28

    def check(self) -> None:
        """Raise StateError where arrays do not fit together."""
        options: Any = self.options[0]
        if not 1 <= options["classes"] <= self.sizes["class"] or options["bins"] != self.sizes["edge"] + 1:
            raise StateError("its classes or bins do not fit its arrays.")
        if not (options["g0"] or options["g1"] or options["g2"] or options["g3"]):
            raise StateError("its random generator stands still.")
        if not are_sound_windows(self.monitor):
            raise StateError("its array 'monitor' makes no sense.")
        used = self.to_arrays()
        _check_features(used)
        _check_states(used)
        _check_results(used)

    def rebuild(self) -> None:
        """Make the links by which states are found."""
        self.links = link_states(self.states["key0"][: self.used["state"]], self.sizes["state"])


def new_state(bins: int, features: int, seed: int | None, max_bytes: int) -> ReinforcedState:
    """Return a state that knows nothing but its root.

    Parameters
    ----------
    bins
        The most bins of a numeric feature.
    features
        Number of features.
    seed
        Of the generator of the cases' seeds.
    max_bytes
        Limit.
    """
    sizes: dict[str, Any] = {"feature": features, "edge": bins - 1, "slot": 0, "class": 0, **fitting({})}
    state = ReinforcedState(**sizes)
    state.max_bytes = max_bytes
    if state.nbytes > max_bytes:
        raise MemoryError(
            f"a new tree takes {state.nbytes:,} bytes; give the learner a larger max_bytes than {max_bytes:,}."
        )
    state.options["bins"] = bins
    for name, word in zip(
        ("g0", "g1", "g2", "g3"), np.random.SeedSequence(seed).generate_state(4, np.uint64), strict=True
    ):
        state.options[name] = word
    state.rebuild()
    return state


def fitting(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the least sizes of those that doubling leads to.

    Parameters
    ----------
    counts
        How much is used of the dimensions that are counted.

    Examples
    --------
    >>> fitting({"state": 65})
    {'state': 128, 'action': 64, 'transition': 64, 'result': 64}
    """
    return {dim: max(_CAPACITY, 1 << (counts.get(dim, 0) - 1).bit_length()) for dim in COUNTED}


def link_states(keys: npt.NDArray[np.uint64], size: int) -> npt.NDArray[np.int32]:
    """Return the links by which states are found: a hash table with a chain for each slot.

    Parameters
    ----------
    keys
        Of the states.
    size
        Number of slots, a power of two.
    """
    links = np.full((2, size), NOWHERE, np.int32)
    slots = (keys & np.uint64(size - 1)).astype(np.int64)
    order = np.argsort(slots, kind="stable")
    follows = slots[order[1:]] == slots[order[:-1]]
    links[1, order[:-1][follows]] = order[1:][follows]
    firsts = order[np.concatenate([[True], ~follows])]
    links[0, slots[firsts]] = firsts
    return links


def _check_features(used: Mapping[str, npt.NDArray[Any]]) -> None:
    features, edges = used["features"], used["edges"]
    numeric = features["kind"] == NUMERIC
    inside = np.arange(1, edges.shape[1]) < features["bins"][:, None] - 1
    sound = (
        (features["bins"][numeric] <= edges.shape[1] + 1).all()
        and ((features["slot"] >= 0) == numeric).all()
        and np.array_equal(np.sort(features["slot"][numeric]), np.arange(len(used["kept"])))
        and (np.diff(edges, axis=1) >= 0)[numeric[:, None] & inside].all()
    )
    if not sound:
        raise StateError("its array 'features' does not fit the values that are kept, or the edges of bins.")


def _check_states(used: Mapping[str, npt.NDArray[Any]]) -> None:
    """Every action is in the list of its state, every transition in that of its action, free ones in one of theirs."""
    states, actions, transitions = used["states"], used["actions"], used["transitions"]
    keys = np.sort(np.stack([states["key0"], states["key1"]], axis=1).view([("", np.uint64)] * 2)[:, 0])
    if states["key0"][0] or states["key1"][0] or (keys[1:] == keys[:-1]).any():
        raise StateError("its array 'states' holds two of the same key, or no root.")
    off = np.abs(used["shares"][:, : used["options"]["classes"][0]].sum(axis=1) - 1.0) > _ROUNDING
    if (off & (states["n"] > 0.0)).any():
        raise StateError("its array 'shares' does not add up to 1.")
    if not np.array_equal(find_lists(states["first"], actions["next"])[0], actions["state"]):
        raise StateError("its array 'actions' does not hold the lists of its states.")
    # The free ones are a list, too: that of an action behind the last.
    free = np.append(actions["first"], used["options"]["free"])
    owners = np.where(transitions["action"] >= 0, transitions["action"], len(actions))
    if not np.array_equal(find_lists(free, transitions["next"])[0], owners):
        raise StateError("its array 'transitions' does not hold the lists of its actions.")
    sums = np.bincount(owners, weights=transitions["share"], minlength=len(free))[:-1]
    if (np.abs(sums - 1.0) > _ROUNDING)[actions["n"] > 0.0].any():
        raise StateError("its array 'transitions' holds shares that do not add up to 1.")


def _check_results(used: Mapping[str, npt.NDArray[Any]]) -> None:
    """Every result is in the list of one item; what is in use of a list is there, and not more than its sums."""
    features, counts = used["features"], used["counts"]
    owners, places = find_lists(features["first"], used["results"]["next"])
    lengths = np.bincount(owners[owners >= 0], minlength=len(features))
    if (owners < 0).any() or (features["results"] > np.maximum(lengths - 1, 0)).any():
        raise StateError("its array 'results' does not hold the lists of its features.")
    in_use = (places > 0) & (places <= features["results"][owners])
    sums = counts[features["first"][owners[in_use]]]
    if (counts[in_use] > sums * (1.0 + _ROUNDING) + _ROUNDING).any():
        raise StateError("its array 'counts' holds more of a result than of all.")


def find_lists(
    first: npt.NDArray[Any], following: npt.NDArray[Any]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return in whose list each place is (NOWHERE: none), and how many are before it; refuse circles and crossings.

    Parameters
    ----------
    first
        By owner the first place of its list, NOWHERE if it is empty.
    following
        By place the next one.

    Examples
    --------
    >>> owners, places = find_lists(np.array([2, -1, 0]), np.array([-1, -1, 1]))
    >>> owners.tolist(), places.tolist()
    ([2, 0, 0], [0, 1, 0])
    """
    count = len(following)
    if (np.bincount(np.append(first[first >= 0], following[following >= 0]), minlength=count) > 1).any():
        raise StateError("its lists cross.")
    owners, before = np.full(count, NOWHERE, np.int64), np.arange(count)
    owners[first[first >= 0]] = np.flatnonzero(first >= 0)
    before[following[following >= 0]] = np.flatnonzero(following >= 0)
    places = (before != np.arange(count)).astype(np.int64)
    # Each round looks twice as far back.
    for _ in range(count.bit_length()):
        places += places[before]
        before = before[before]
    if (before[before] != before).any() or (places[before] > 0).any():
        raise StateError("its lists go in circles.")
    return owners[before], places
