"""What has to be done to an evergreen tree outside of compiled code: make room, and take a growth from step to step.

Every change of size follows from the rows seen so far alone, never from how they came in batches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from quercus.engine import Floats, Integers
from quercus.learners.evergreen.additive import engine as additive
from quercus.learners.evergreen.capacity import Capacity, grow_classes
from quercus.learners.evergreen.kernels import begin_growth, run_rows
from quercus.learners.evergreen.layout import (
    AT_ONCE,
    BUILT,
    FINISH,
    FIRST_GROWTH,
    GROWING,
    IDLE,
    NO_ADDITIVE,
    REPLAY,
    REPLAYED,
    REPLAYING,
)
from quercus.learners.evergreen.prunings import compact_nodes
from quercus.learners.evergreen.reservoir import choose_rows, count_categories, draw_bin_edges, find_sampled, subsample
from quercus.learners.evergreen.state import EvergreenState, EvergreenTreeState, GrowthState
from quercus.rows import DONE, NOMINAL, NUMERIC, UNSEEN, Rows
from quercus.state import StateError

_FIRST_CAPACITY = 64
# A growth that splits every node of s rows makes about so many nodes for s rows, or fewer.
_NODES_PER_ROW = 4
# Depth first, the smaller child first: hardly more than the logarithm of the rows waits.
_ENTRIES = 256
_NO_ORDER: Integers = np.empty(0, np.int64)
_NO_TABLE: Floats = np.empty((0, 0))


def new_state(settings: Mapping[str, Any], features: int, max_bytes: int) -> EvergreenState:
    """Return a tree that has learned nothing.

    Parameters
    ----------
    settings
        Fields of ``options`` that come from the learner's arguments.
    features
        Number of features.
    max_bytes
        Limit.

    Examples
    --------
    >>> state = new_state({"bins": 64, "subspace": 1.0, "sight": 1.0}, features=2, max_bytes=2**20)
    >>> fit_row(state, np.array([0.5, 3.0]), 0, ["numeric", "nominal"])
    >>> state.tree.counts.shape, int(state.options["most_rows"][0])
    ((1, 2), 18662)
    """
    is_on = not settings.get("without", 0) & NO_ADDITIVE
    capacity = Capacity(max_bytes, features, 2, 0, is_on).saved()
    try:
        capacity.rows()
    except MemoryError as error:
        # There is nothing yet that would be in the way: the argument is to blame.
        raise ValueError(str(error)) from None
    state = EvergreenState.empty(edges=capacity.edges, rows=_FIRST_CAPACITY)
    for name, value in settings.items():
        state.options[name] = value
    state.options["bins"] = min(int(state.options["bins"][0]), capacity.edges + 1)
    state.options["places"] = capacity.places
    state.additive = additive.new_additive(state.options["seed"][0], is_on)
    state.max_bytes = max_bytes
    add_features(state, features)
    return state


def add_features(state: EvergreenState, total: int) -> None:
    """Make room for features up to a total number, of which nothing has been seen yet.

    Parameters
    ----------
    state
        The tree.
    total
        Number of features.
    """
    if total <= len(state.features):
        return
    most = Capacity.of(state, features=total).rows()
    state.resize(feature=total)
    if state.is_growing:
        give_up(state)
    _limit_rows(state, most)
    resize_additive(state)


def resize_additive(state: EvergreenState) -> None:
    """Let the additive model have room for all features and classes that there is room for.

    Parameters
    ----------
    state
        The tree.
    """
    capacity = Capacity.of(state)
    additive.resize(state.additive, capacity.features, capacity.classes, capacity.for_additive)


def check_capacity(state: EvergreenState, features: int, classes: int) -> None:
    """Raise MemoryError if there would be no room for features or classes, up to total numbers.

    Parameters
    ----------
    state
        The tree.
    features, classes
        Their numbers.
    """
    old, width = len(state.features), state.tree.sizes["label"]
    if features > old or classes > width:
        wanted = grow_classes(width, classes) if classes > width else width
        Capacity.of(state, max(features, old), wanted).rows()


def declare_classes(state: EvergreenState, total: int) -> None:
    """Count classes as known.

    Parameters
    ----------
    state
        The tree.
    total
        Number of classes.
    """
    _widen_classes(state, total)
    state.options["classes"] = max(state.classes, total)
    additive.declare_classes(state.additive, total)


def fit_row(state: EvergreenState, row: Floats, label: int, kinds: Sequence[str | None]) -> None:
    """Make room for what a row brings that was never seen before.

    Parameters
    ----------
    state
        The tree.
    row
        Values by feature; NaN if missing, codes of categories.
    label
        Its class.
    kinds
        For each feature ``"numeric"`` or ``"nominal"``.
    """
    _widen_classes(state, label + 1)
    new = np.flatnonzero(~np.isnan(row) & (state.features["kind"] == UNSEEN)).tolist()
    for f in new:
        state.features["kind"][f] = NOMINAL if kinds[f] == "nominal" else NUMERIC
    if new:
        # Numbers need less room than was kept free.
        _limit_rows(state, Capacity.of(state).rows())
        resize_additive(state)
    additive.fit_row(state.additive, row, kinds)


def ensure_capacity(state: EvergreenState) -> None:
    """Make room for more rows: double the reservoir, or where it is full let a growth subsample it.

    Parameters
    ----------
    state
        The tree.
    """
    option, sizes = state.options[0], state.sizes
    if option["seen"] == sizes["place"] < option["places"]:
        state.resize(place=min(2 * sizes["place"], int(option["places"])))
    if state.n_rows < sizes["row"]:
        return
    if sizes["row"] < option["most_rows"]:
        state.resize(row=min(2 * sizes["row"], int(option["most_rows"])))
    else:
        finish(state)
        begin(state)


def begin(state: EvergreenState) -> None:
    """Begin a growth from all rows in the reservoir, which is subsampled first if it is full.

    Parameters
    ----------
    state
        The tree.
    """
    option = state.options[0]
    if option["rows"] >= option["most_rows"]:
        subsample(state, 2 * int(option["most_rows"]) // 3)
    if option["seen"] >= 2 * option["drawn"]:
        places = find_sampled(state)
        ordered = state.sample[: len(places)].T.copy()
        ordered.sort(axis=1)
        draw_bin_edges(state.ref, ordered, places)
    rows, features, classes = state.n_rows, len(state.features), state.tree.sizes["label"]
    is_nominal = bool((state.features["kind"] == NOMINAL).any())
    if is_nominal:
        count_categories(state.features, state.codes, rows)
    capacity, bins = Capacity.of(state), int(state.features["codes"].sum())
    most = capacity.nodes(state.sizes["row"], state.tree.nbytes)
    nodes, slots = min(2 * rows + 1, most), capacity.slots(bins) if rows > _FIRST_CAPACITY else 0
    sizes = {"node": nodes, "set": nodes if is_nominal else 0, "row": rows, "entry": _ENTRIES, "feature": features}
    sizes |= {"slot": slots, "bin": bins * classes, "label": classes, "share": classes}
    state.growth = GrowthState(parts=None, **sizes)
    # Where there is no room for all nodes, none is made for a few rows, rather than all of them on one side.
    state.growth.growth["least"] = max(2, _NODES_PER_ROW * rows // most)
    begin_growth(state.ref)
    if rows * features <= AT_ONCE:
        finish(state)


def finish(state: EvergreenState) -> None:
    """Do at once what is left of a growth.

    Parameters
    ----------
    state
        The tree.
    """
    while state.is_growing:
        if _grow_on(state, FINISH) == BUILT:
            compact(state)
        else:
            promote(state)
    state.options["stopped"] = DONE


def replay(state: EvergreenState) -> None:
    """Do a growth again up to where it was when the tree was saved.

    Parameters
    ----------
    state
        The tree, as it was read from a file.
    """
    if state.options["stage"][0] == GROWING and _grow_on(state, REPLAY) != DONE:
        raise StateError("its arrays do not fit together (growth).")
    # A file may have been written while a loop over rows stood still.
    state.options["stopped"] = DONE


def regrow(state: EvergreenState) -> None:
    """Grow anew from all rows in the reservoir, now.

    Parameters
    ----------
    state
        The tree.
    """
    finish(state)
    begin(state)
    finish(state)


def compact(state: EvergreenState) -> None:
    """Leave out pruned nodes and the room for growing of a tree that is built; it has to catch up with the rows.

    Parameters
    ----------
    state
        The tree.
    """
    growth, option = state.growth, state.options
    chosen = np.empty(len(growth.sets), np.int32)
    live, sets = compact_nodes(growth.nodes, growth.counts, int(growth.growth["nodes"][0]), chosen)
    nodes, counts = growth.nodes[:live].copy(), growth.counts[:live].copy()
    grown = EvergreenTreeState.holding(
        nodes=nodes, counts=counts, recent=np.zeros_like(counts), sets=growth.sets[chosen[:sets]]
    )
    state.replace(candidate=grown, growth=GrowthState.idle(counts.shape[1]))
    option["stage"] = REPLAYING
    option["position"] = max(0, int(option["grown"][0]) - REPLAYED)


def promote(state: EvergreenState) -> None:
    """Put the new tree in the place of the old one, and say when the next growth is due.

    Parameters
    ----------
    state
        The tree.
    """
    state.replace(tree=state.candidate, candidate=_no_tree(state.tree.sizes["label"]))
    state.options["nodes"], state.options["stage"] = len(state.tree.nodes), IDLE
    m, most = int(state.options["grown"][0]), int(state.options["most_rows"][0])
    state.options["next_rebuild"] = min(int(_growth_factor(state, m) * m) + 1, most)


def give_up(state: EvergreenState) -> None:
    """Forget a growth that is under way.

    Parameters
    ----------
    state
        The tree.
    """
    classes = state.tree.sizes["label"]
    state.replace(candidate=_no_tree(classes), growth=GrowthState.idle(classes))
    state.options["stage"] = IDLE


def keep_last(state: EvergreenState, rows: int) -> None:
    """Forget all rows but the last ones, and grow from these at once.

    Parameters
    ----------
    state
        The tree.
    rows
        How many are kept.
    """
    give_up(state)
    choose_rows(state, np.arange(max(0, state.n_rows - rows), state.n_rows))
    additive.fade(state.additive)
    regrow(state)


def _grow_on(state: EvergreenState, mode: int) -> int:
    """Let the growth go on without rows; return why it stopped."""
    run_rows(state.ref, Rows(_NO_TABLE).ref, _NO_ORDER, _NO_TABLE, 0, 0, mode)
    return int(state.options["stopped"][0])


def _no_tree(classes: int) -> EvergreenTreeState:
    return EvergreenTreeState(node=0, late=0, set=0, label=classes)


def _growth_factor(state: EvergreenState, rows: int) -> float:
    """Return how many times as many rows a growth waits for as the last one had."""
    factor = float(state.options["growth_factor"][0])
    if factor > 0.0:
        return factor ** float(state.options["turn"][0]) if rows == FIRST_GROWTH else factor
    return 1.25 if rows < 20_000 else 1.5 if rows < 100_000 else 2.0


def _widen_classes(state: EvergreenState, least: int) -> None:
    tree, old = state.tree, state.tree.sizes["label"]
    if least <= old:
        return
    classes = grow_classes(old, least)
    capacity = Capacity.of(state, classes=classes)
    most = capacity.rows()
    if len(tree.nodes) * (EvergreenTreeState.nodes.dtype.itemsize + 16 * classes) > capacity.for_trees // 4:
        _keep_root(state)
    tables = 2 * len(state.tree.nodes) + len(state.growth.nodes) + 2 * len(state.candidate.nodes)
    if state.is_growing and state.nbytes + 8 * tables * (classes - old) > state.max_bytes:
        give_up(state)
        state.options["next_rebuild"] = state.n_rows
    # The tree in use says what there is room for, and so comes last.
    for part in (state.growth, state.candidate, state.tree):
        part.resize(label=classes)
    _limit_rows(state, most)
    resize_additive(state)


def _keep_root(state: EvergreenState) -> None:
    """Keep only the root of a tree that has become too large, and grow anew with the next row."""
    give_up(state)
    nodes = state.tree.nodes[:1].copy()
    nodes["left"], nodes["feature"], nodes["set"] = 0, -1, -1
    counts, recent = state.tree.counts[:1].copy(), state.tree.recent[:1].copy()
    state.tree.replace(nodes=nodes, counts=counts, recent=recent, sets=state.tree.sets[:0].copy())
    due = int(state.options["next_rebuild"][0])
    state.options["nodes"], state.options["next_rebuild"] = 1, min(due, max(state.n_rows, FIRST_GROWTH))


def _limit_rows(state: EvergreenState, most: int) -> None:
    """Let the reservoir have room for so many rows; what is too much is left out at once."""
    state.options["most_rows"] = most
    if state.sizes["row"] > most:
        give_up(state)
        if state.n_rows > most:
            subsample(state, 2 * most // 3)
        state.resize(row=most)
        state.options["next_rebuild"] = min(int(state.options["next_rebuild"][0]), most)
