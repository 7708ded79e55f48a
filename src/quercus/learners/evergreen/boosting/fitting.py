"""Where a fit of boosted or of randomized trees begins and ends: room for it, its rows, and how many trees it has."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import numpy.typing as npt

from quercus.learners.evergreen.boosting.kernels import finish_fit
from quercus.learners.evergreen.boosting.layout import (
    FITTING,
    GROWS,
    IDLE,
    LEAST_STAGE,
    MOST_DEPTH,
    SCORE,
    SHRINKS,
    STAGES,
    VOTER_DEPTH,
    VOTING,
)
from quercus.learners.evergreen.boosting.state import BoostState, EvergreenBoostState, FitState, entries_for
from quercus.learners.evergreen.boosting.trees import BoostedTreesState, GrownTreesState, RandomizedTreesState
from quercus.learners.evergreen.layout import MOST_EDGES
from quercus.randomness import GOLDEN
from quercus.rows import NOMINAL

Places = npt.NDArray[np.int64]
_NODE: int = BoostedTreesState.nodes.dtype.itemsize
_ROW: int = FitState.rows.dtype.itemsize


def begin(state: EvergreenBoostState, params: Any) -> None:
    """Begin the fit that is due, from the rows that the tree keeps, and say when the next one is.

    Parameters
    ----------
    state
        The learner's.
    params
        Its arguments.
    """
    boost, tree = state.boost, state.tree
    option, votes, chosen = boost.options[0], boost.votes[0], _choose_rows(state, params)
    boosted, there = option["next_fit"] <= option["seen"], tree.classes > 1 and len(tree.features) and len(chosen) > 1
    pause = max(1, int(_growth_share(len(chosen)) * len(chosen)))
    if boosted:
        option["next_fit"] = option["seen"] + pause
    if boosted and there:
        _begin_boosting(state, params, chosen)
    elif not boosted:
        votes["next_fit"] = option["seen"] + pause
        if there:
            _begin_voting(state, params, chosen)


def _begin_boosting(state: EvergreenBoostState, params: Any, chosen: Places) -> None:
    boost, fit = state.boost, _open_fit(state, chosen, MOST_DEPTH)
    option, head, target = boost.options[0], fit.head, _next_target(boost, params.rounds)
    head["rounds"], head["depth"] = STAGES[target], params.depth
    with np.errstate(over="ignore"):
        head["seed"] = option["seed"] + np.uint64(GOLDEN) * np.uint64(int(option["fits"]) + 1)
    candidate = _make_room(fit, state.max_bytes // 8)
    candidate.head["rate"] = params.rate
    candidate.head["mean_weight"] = state.tree.rows["weight"][chosen].mean(dtype=np.float64)
    boost.replace(candidate=candidate, fit=fit)
    option["target"], option["stage"], option["fits"] = target, FITTING, option["fits"] + 1


def _begin_voting(state: EvergreenBoostState, params: Any, chosen: Places) -> None:
    boost, fit = state.boost, _open_fit(state, chosen, VOTER_DEPTH)
    head, votes = fit.head, boost.votes[0]
    head["rounds"], head["depth"] = params.randomized, VOTER_DEPTH
    with np.errstate(over="ignore"):
        head["seed"] = boost.options["seed"] - np.uint64(GOLDEN) * np.uint64(int(votes["fits"]) + 1)
    boost.replace(new_voters=_make_voters(fit, state.max_bytes // 16), fit=fit)
    boost.options["stage"], votes["fits"] = VOTING, votes["fits"] + 1


def finish(boost: BoostState) -> None:
    """Let the trees of a fit that is done take the place of the old ones, if there was room for any.

    Parameters
    ----------
    boost
        What has just done its fit.
    """
    boosted = boost.options["stage"][0] == FITTING
    new: GrownTreesState = boost.candidate if boosted else boost.new_voters
    if new.trees:
        # Where there is no room for that it stays as large as it was made.
        with contextlib.suppress(MemoryError):
            new = new.compact()
        boost.replace(**{"trees" if boosted else "voters": new})
    give_up(boost)


def begin_anew(state: EvergreenBoostState, params: Any) -> None:
    """Give up a fit that is under way, because its rows are no longer true, and begin one from those that are kept.

    Parameters
    ----------
    state
        The learner's.
    params
        Its arguments.
    """
    boost = state.boost
    give_up(boost)
    boost.options["next_fit"] = boost.votes["next_fit"] = boost.options["seen"]
    begin(state, params)


def fit_now(state: EvergreenBoostState, params: Any) -> None:
    """Fit all trees anew, at once.

    Parameters
    ----------
    state
        The learner's.
    params
        Its arguments.
    """
    begin_anew(state, params)
    while state.boost.is_fitting:
        finish_fit(state.boost.ref)
        finish(state.boost)
        if count_rows_before(state.boost, params) == 0:
            begin(state, params)


def give_up(boost: BoostState) -> None:
    """Forget a fit, under way or done, and what it has made.

    Parameters
    ----------
    boost
        Whose.
    """
    if boost.is_fitting:
        none = {"candidate": BoostedTreesState.of(outputs=0), "new_voters": RandomizedTreesState.of(outputs=0)}
        boost.replace(**none, fit=FitState.idle())
        boost.options["stage"] = IDLE


def count_rows_before(boost: BoostState, params: Any) -> int:
    """Return how many rows may be learned before a fit begins.

    Parameters
    ----------
    boost
        Whose.
    params
        Its arguments.
    """
    following = boost.options["next_fit"][0]
    if params.randomized:
        following = min(following, boost.votes["next_fit"][0])
    # A fit that is due waits for the one before, row by row.
    return max(int(following - boost.options["seen"][0]), 1 if boost.is_fitting else 0)


def _row_bytes(features: int, outputs: int) -> int:
    return features + _ROW + 16 * outputs + 8 + 8


def _count_outputs(state: EvergreenBoostState) -> int:
    return state.tree.classes if state.tree.classes > 2 else 1


def _bytes_for_rows(state: EvergreenBoostState, outputs: int, randomized: bool) -> int:
    """Return how much memory the rows of a fit may take: less where edges and sums by category take much."""
    tree, features = state.tree, len(state.tree.features)
    nominal = tree.features["kind"] == NOMINAL
    codes = tree.codes[: tree.n_rows, nominal].max(axis=0, initial=0).astype(np.int64) + 1
    depth, sixteenths = (VOTER_DEPTH, 3) if randomized else (MOST_DEPTH, 4)
    beside = FitState.idle().bytes_at(**_fit_sizes(features, 0, outputs, int(codes.sum()), depth))
    return state.max_bytes // 16 * sixteenths - max(beside - state.max_bytes // 16, 0)


def _fit_sizes(features: int, rows: int, outputs: int, bins: int, depth: int) -> dict[str, int]:
    sizes = {"feature": features, "edge": MOST_EDGES, "row": rows, "output": outputs, "bin": bins}
    return sizes | {"sum": features * (outputs + 1), "line": outputs + 1, "entry": entries_for(depth)}


def _choose_rows(state: EvergreenBoostState, params: Any) -> Places:
    """Return places of rows, evenly apart where there is no room for all of them."""
    tree, outputs = state.tree, _count_outputs(state)
    most = max(_bytes_for_rows(state, outputs, params.randomized > 0) // _row_bytes(len(tree.features), outputs), 0)
    rows, recent = tree.n_rows, bool(tree.options["recent_only"][0])
    if rows <= most:
        return np.arange(rows)
    return np.arange(rows - most, rows) if recent else np.arange(most) * rows // most


def _growth_share(rows: int) -> float:
    """Return how many rows come until the next fit, for each that this one has."""
    return 0.4 if rows < 20_000 else 0.6 if rows < 100_000 else 1.0


def _next_target(boost: BoostState, rounds: int) -> int:
    """Return the stage of the next fit: one more where the last ones have paid, one less where they have not."""
    target, most = int(boost.options["target"][0]), max(int(np.searchsorted(STAGES, rounds, side="right")) - 1, 0)
    if boost.trees.trees:
        weights = np.exp(boost.losses[: target + 1].min() - boost.losses[: target + 1])
        weights /= weights.sum()
        if weights[-1] > GROWS:
            target += 1
        elif weights[-2:].sum() < SHRINKS:
            target = max(target - 1, LEAST_STAGE)
    return min(target, most)


def _open_fit(state: EvergreenBoostState, chosen: Places, depth: int) -> FitState:
    """Return a fit of these rows, of which nothing is done yet, with room for trees of this depth."""
    tree, rows, outputs = state.tree, len(chosen), _count_outputs(state)
    codes, kept, features = tree.codes[chosen], tree.rows[chosen], len(tree.features)
    counts = codes.max(axis=0).astype(np.int64) + 1
    bins = np.where(tree.features["kind"] == NOMINAL, counts, 0)
    fit = FitState(parts=None, **_fit_sizes(features, rows, outputs, int(bins.sum()), depth))
    fit.codes[:] = codes
    fit.rows["label"] = kept["label"]
    fit.rows["weight"] = kept["weight"] / kept["weight"].mean(dtype=np.float64)
    fit.features["kind"], fit.features["edges"] = tree.features["kind"], tree.features["edges"]
    fit.features["codes"], fit.features["first"] = counts, np.cumsum(bins) - bins
    fit.edges[:, : tree.edges.shape[1]] = tree.edges
    fit.head["rows"], fit.head["outputs"], fit.head["phase"] = rows, outputs, SCORE
    return fit


def _sizes_of_trees(fit: FitState, leaf_bytes: int, max_bytes: int) -> dict[str, int]:
    """Return how much room trees may need, or what memory allows of it."""
    rounds, rows, depth = int(fit.head["rounds"][0]), fit.sizes["row"], int(fit.head["depth"][0])
    leaves = max(min(rounds * min(1 << depth, rows), max_bytes // (2 * _NODE + leaf_bytes + 32)), 2)
    has_nominal = bool((fit.features["kind"] == NOMINAL).any())
    return {"node": 2 * leaves, "leaf": leaves, "tree": rounds, "set": leaves if has_nominal else 0}


def _find_shares(fit: FitState) -> npt.NDArray[np.float64]:
    """Return which share of the rows each class has, by weight."""
    labels, classes = fit.rows["label"].astype(np.int64), max(fit.sizes["output"], 2)
    weights = np.bincount(labels, fit.rows["weight"], minlength=classes) + 0.5
    shares: npt.NDArray[np.float64] = weights / weights.sum()
    return shares


def _make_room(fit: FitState, max_bytes: int) -> BoostedTreesState:
    """Return no trees, with room for all that a fit may make, or for as many as memory allows."""
    outputs = fit.sizes["output"]
    trees = BoostedTreesState.of(outputs, **_sizes_of_trees(fit, 16 * outputs, max_bytes))
    logs = np.log(_find_shares(fit))
    trees.base[:] = logs if outputs > 1 else logs[1] - logs[0]
    fit.scores[:] = trees.base
    return trees


def _make_voters(fit: FitState, max_bytes: int) -> RandomizedTreesState:
    """Return no randomized trees, with room for all that a fit may make, or for as many as memory allows."""
    shares = _find_shares(fit)
    trees = RandomizedTreesState.of(len(shares), **_sizes_of_trees(fit, 4 * len(shares), max_bytes))
    trees.shares[:] = shares
    return trees
