"""What must hold between the arrays of a growing tree, so that kernels stay inside of them and end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from quercus.learners.incremental.layout import (
    BINS,
    CREDIBLE,
    CUTS_AND_EVALUATIONS,
    HEAVIEST_SUM,
    HOEFFDING,
    HOEFFDING_INTERVAL,
    MAX_CATEGORIES,
)
from quercus.rows import NOMINAL, NUMERIC, UNSEEN
from quercus.state import StateError
from quercus.statistics.layout import MEASURE_DEVIATION

# Sums of the same weights in another order may differ by this share.
ROUNDING = 1e-6


def require(holds: Any, what: str) -> None:
    """Raise StateError unless something holds.

    Parameters
    ----------
    holds
        True or False, of numpy too.
    what
        What does not fit.

    Examples
    --------
    >>> require(np.bool_(False), "its nodes are no tree")
    Traceback (most recent call last):
        ...
    quercus.state.state.StateError: its nodes are no tree.
    """
    if not holds:
        raise StateError(f"{what}.")


def walk_links(first: int, size: int, follow: Callable[[int], float]) -> list[int]:
    """Return the places of a linked list that ends with -1; refuse one that leaves the array or bites its tail.

    Parameters
    ----------
    first
        Its first place, -1 if there is none.
    size
        How many places there are.
    follow
        From a place to the next.

    Examples
    --------
    >>> walk_links(2, 3, [-1, 0, 0].__getitem__)
    [2, 0]
    """
    places: list[int] = []
    at: float = first
    while at != -1:
        require(at in range(size) and len(places) <= size, "a list of free places is broken")
        places.append(int(at))
        at = follow(int(at))
    return places


def check_tree(tree: Any) -> None:
    """Refuse arrays that are no tree.

    Parameters
    ----------
    tree
        A `TreeState`, with nothing beside what is used.
    """
    used = tree.to_arrays()
    _check_options(used)
    tree.check_links(used)
    _check_slots(used)
    _check_buffers(used)
    _check_features(used)
    _check_sums(used)


def check_order(used: dict[str, npt.NDArray[Any]]) -> None:
    """Refuse nodes of which not each inner one has two later ones of its own as children.

    Parameters
    ----------
    used
        The arrays of a tree.
    """
    nodes = used["nodes"]
    left, depth = nodes["left"].astype(np.int64), nodes["depth"]
    inner = np.flatnonzero(left)
    children = np.sort(np.concatenate([left[inner], left[inner] + 1]))
    require((left[inner] > inner).all() and np.array_equal(children, np.arange(1, len(nodes))), "its nodes are no tree")
    deeper = (depth[left[inner]] == depth[inner] + 1) & (depth[left[inner] + 1] == depth[inner] + 1)
    require(depth[0] == 0 and deeper.all(), "its nodes are not as deep as they say")
    require((nodes["feature"][inner] >= 0).all() and (nodes["slot"][inner] == -1).all(), "its tests are damaged")


def _check_options(used: dict[str, npt.NDArray[Any]]) -> None:
    o, buffers = used["options"][0], used["buffers"]
    is_credible = o["rule"] in (CREDIBLE, HOEFFDING_INTERVAL)
    sound = not is_credible or (
        o["criterion"] <= MEASURE_DEVIATION and 0.0 < o["scale"] <= 0.5 and o["correction"] <= CUTS_AND_EVALUATIONS
    )
    require(sound and (o["rule"] != HOEFFDING or 0.0 < o["scale"] <= 1.0), "its rule is none")
    require(o["alpha"] > 0.0 and o["classes"] >= 1 and o["nodes"] >= 1, "its options make no sense")
    require(buffers.shape[1:] == (o["buffer_rows"], o["features"] + 2), "its buffers are not those of its features")


def _check_slots(used: dict[str, npt.NDArray[Any]]) -> None:
    """Refuse it unless slots in use and leaves point at each other, and other slots are listed as free, each once."""
    leaves, slots, o = used["leaves"], used["nodes"]["slot"], used["options"][0]
    free = walk_links(int(o["free_slot"]), len(leaves), lambda slot: int(leaves["next"][slot]))
    growing = np.setdiff1d(np.arange(len(leaves)), free)
    nodes = leaves["node"][growing]
    fits = (nodes >= 0).all() and np.array_equal(slots[nodes], growing) and (slots >= 0).sum() == len(growing)
    require(fits and len(free) == o["free_slots"], "its leaves do not fit its nodes")


def _check_buffers(used: dict[str, npt.NDArray[Any]]) -> None:
    """Refuse it unless each buffer belongs to one leaf and holds learned classes, or is listed as free."""
    buffers, o = used["buffers"], used["options"][0]
    free = walk_links(int(o["free_buffer"]), len(buffers), lambda at: float(buffers[at, 0, 0]))
    leaves = used["leaves"][used["leaves"]["buffer"] >= 0]
    taken = np.sort(np.concatenate([leaves["buffer"], np.array(free, np.int32)]))
    fits = len(free) == o["free_buffers"] and np.array_equal(taken, np.arange(len(buffers)))
    require(fits and (leaves["filled"] < o["buffer_rows"]).all(), "its buffers do not fit its leaves")
    rows = np.concatenate([*(buffers[leaf["buffer"], : leaf["filled"], -2:] for leaf in leaves), np.empty((0, 2))])
    labels, weights = rows[:, 0], rows[:, 1]
    require(
        np.isin(labels, np.arange(o["classes"])).all() and ((weights > 0.0) & (weights <= HEAVIEST_SUM)).all(),
        "its buffers hold rows that are none",
    )


def _check_features(used: dict[str, npt.NDArray[Any]]) -> None:
    """Refuse it unless the bins and columns of every feature are there, and its own."""
    o, features = used["options"][0], used["features"]
    binned, nominal = features["binned"] > 0, features["kind"] == NOMINAL
    offset, bins = features["offset"].astype(np.int64), features["bins"].astype(np.int64)
    reserved = np.flatnonzero(bins)[np.argsort(offset[bins > 0])]
    begins, ends = offset[reserved], offset[reserved] + bins[reserved]
    require((begins >= np.append(1, ends)[:-1]).all() and (ends <= o["bins"]).all(), "its bins overlap")
    require(
        (features["kind"][binned] == NUMERIC).all()
        and (bins[binned] == BINS).all()
        and (bins[nominal] <= MAX_CATEGORIES).all()
        and (bins[features["kind"] == NUMERIC] >= 2).all()
        and (bins[features["kind"] == UNSEEN] == 0).all()
        and (np.minimum(features["seen"], MAX_CATEGORIES) <= np.where(nominal, bins, MAX_CATEGORIES)).all(),
        "its features have not the bins that they need",
    )
    columns = np.sort(features["column"][binned])
    require(np.array_equal(columns, np.arange(o["columns"])), "its features have not the columns that they need")


def _check_sums(used: dict[str, npt.NDArray[Any]]) -> None:
    """Refuse it where a leaf has other weights in the bins of a feature than it has seen."""
    leaves = used["leaves"]
    growing = leaves["node"] >= 0
    hist = used["hist"][growing]
    own, weight = hist[:, 0] if hist.shape[1] else hist.sum(axis=1), leaves["weight"][growing]
    fits = np.allclose(own.sum(axis=1), weight, rtol=ROUNDING, atol=0.0)
    require(fits and (weight[leaves["drawn"][growing] > 0] > 0.0).all(), "its leaves have other weights than they saw")
    for feature in used["features"]:
        first = int(feature["offset"])
        known = hist[:, first : first + int(feature["bins"])].sum(axis=1)
        require((known <= own * (1.0 + ROUNDING)).all(), "the bins of a feature hold more than its leaf saw")
