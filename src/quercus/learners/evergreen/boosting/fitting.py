"""Where a fit of boosted trees begins and ends: room for it, its rows, and how many rounds it has."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import numpy.typing as npt

from quercus.learners.evergreen.boosting.kernels import finish_fit
from quercus.learners.evergreen.boosting.layout import (
    ENTRIES,
    FITTING,
    GROWS,
    IDLE,
    LEAST_STAGE,
    SCORE,
    SHRINKS,
    STAGES,
)
from quercus.learners.evergreen.boosting.state import BoostedTreesState, BoostState, EvergreenBoostState, FitState
from quercus.learners.evergreen.layout import MOST_EDGES
from quercus.randomness import GOLDEN
from quercus.rows import NOMINAL

_NODE: int = BoostedTreesState.nodes.dtype.itemsize
_ROW: int = FitState.rows.dtype.itemsize


def begin(state: EvergreenBoostState, params: Any) -> None:
    """Begin a fit from the rows that the tree keeps, and say when the next one is due.

    Parameters
    ----------
    state
        The learner's.
    params
        Its arguments.
    """
    boost, tree = state.boost, state.tree
    option, outputs = boost.options[0], tree.classes if tree.classes > 2 else 1
    features = len(tree.features)
    most = max(_bytes_for_rows(state, outputs) // _row_bytes(features, outputs), 0)
    chosen = _choose_rows(tree.n_rows, most, bool(tree.options["recent_only"][0]))
    if tree.classes > 1 and features and len(chosen) > 1:
        fit = _open_fit(state, chosen, outputs)
        target = _next_target(boost, params.rounds)
        candidate = _make_room(fit, STAGES[target], params.depth, state.max_bytes // 8)
        candidate.head["mean_weight"] = tree.rows["weight"][chosen].mean(dtype=np.float64)
        head = fit.head
        head["rounds"], head["depth"], candidate.head["rate"] = STAGES[target], params.depth, params.rate
        with np.errstate(over="ignore"):
            head["seed"] = option["seed"] + np.uint64(GOLDEN) * np.uint64(int(option["fits"]) + 1)
        boost.replace(candidate=candidate, fit=fit)
        option["target"], option["stage"], option["fits"] = target, FITTING, option["fits"] + 1
    option["next_fit"] = option["seen"] + max(1, int(_growth_share(len(chosen)) * len(chosen)))


def finish(boost: BoostState) -> None:
    """Let the trees of a fit that is done take the place of the old ones, if there was room for any.

    Parameters
    ----------
    boost
        What has just done its fit.
    """
    new = boost.candidate
    if new.trees:
        # Where there is no room for that it stays as large as it was made.
        with contextlib.suppress(MemoryError):
            new = new.compact()
        boost.replace(trees=new)
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
    give_up(state.boost)
    begin(state, params)


def finish_now(boost: BoostState) -> None:
    """Do at once what is left of a fit.

    Parameters
    ----------
    boost
        Whose.
    """
    if boost.is_fitting:
        finish_fit(boost.ref)
        finish(boost)


def give_up(boost: BoostState) -> None:
    """Forget a fit, under way or done, and what it has made.

    Parameters
    ----------
    boost
        Whose.
    """
    if boost.is_fitting:
        boost.replace(candidate=BoostedTreesState.of(outputs=0), fit=FitState.idle())
        boost.options["stage"] = IDLE


def count_rows_before(boost: BoostState) -> int:
    """Return how many rows may be learned before a fit begins.

    Parameters
    ----------
    boost
        Whose.
    """
    # A fit that is due waits for the one before, row by row.
    return max(int(boost.options["next_fit"][0] - boost.options["seen"][0]), 1 if boost.is_fitting else 0)


def _row_bytes(features: int, outputs: int) -> int:
    return features + _ROW + 16 * outputs + 8 + 8


def _bytes_for_rows(state: EvergreenBoostState, outputs: int) -> int:
    """Return how much memory the rows of a fit may take: less where edges and sums by category take much."""
    tree, features = state.tree, len(state.tree.features)
    nominal = tree.features["kind"] == NOMINAL
    codes = tree.codes[: tree.n_rows, nominal].max(axis=0, initial=0).astype(np.int64) + 1
    beside = FitState.idle().bytes_at(**_fit_sizes(features, 0, outputs, int(codes.sum())))
    return state.max_bytes // 4 - max(beside - state.max_bytes // 16, 0)


def _fit_sizes(features: int, rows: int, outputs: int, bins: int) -> dict[str, int]:
    sizes = {"feature": features, "edge": MOST_EDGES, "row": rows, "output": outputs, "entry": ENTRIES, "bin": bins}
    return sizes | {"sum": features * (outputs + 1), "line": outputs + 1}


def _choose_rows(rows: int, most: int, recent: bool) -> npt.NDArray[np.int64]:
    """Return places of rows, evenly apart where there is no room for all of them."""
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


def _open_fit(state: EvergreenBoostState, chosen: npt.NDArray[np.int64], outputs: int) -> FitState:
    """Return a fit of these rows, of which nothing is done yet."""
    tree, rows = state.tree, len(chosen)
    codes, kept, features = tree.codes[chosen], tree.rows[chosen], len(tree.features)
    counts = codes.max(axis=0).astype(np.int64) + 1
    bins = np.where(tree.features["kind"] == NOMINAL, counts, 0)
    fit = FitState(parts=None, **_fit_sizes(features, rows, outputs, int(bins.sum())))
    fit.codes[:] = codes
    fit.rows["label"] = kept["label"]
    fit.rows["weight"] = kept["weight"] / kept["weight"].mean(dtype=np.float64)
    fit.features["kind"], fit.features["edges"] = tree.features["kind"], tree.features["edges"]
    fit.features["codes"], fit.features["first"] = counts, np.cumsum(bins) - bins
    fit.edges[:, : tree.edges.shape[1]] = tree.edges
    fit.head["rows"], fit.head["outputs"], fit.head["phase"] = rows, outputs, SCORE
    return fit


def _make_room(fit: FitState, rounds: int, depth: int, max_bytes: int) -> BoostedTreesState:
    """Return no trees, with room for all that a fit may make, or for as many as memory allows."""
    rows, outputs = fit.sizes["row"], fit.sizes["output"]
    leaves = rounds * min(1 << depth, rows)
    leaves = max(min(leaves, max_bytes // (2 * _NODE + 16 * outputs + 32)), 2)
    has_nominal = bool((fit.features["kind"] == NOMINAL).any())
    trees = BoostedTreesState.of(
        outputs=outputs, node=2 * leaves, leaf=leaves, tree=rounds, set=leaves if has_nominal else 0
    )
    labels, weights = fit.rows["label"].astype(np.int64), fit.rows["weight"]
    shares = np.bincount(labels, weights, minlength=max(outputs, 2)) + 0.5
    logs = np.log(shares / shares.sum())
    trees.base[:] = logs if outputs > 1 else logs[1] - logs[0]
    fit.scores[:] = trees.base
    return trees
