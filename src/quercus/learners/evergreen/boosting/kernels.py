"""The loops over rows of an evergreen boost, beside those of its tree; compiled."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types

from quercus.compile import array_type, kernel
from quercus.decision import decide
from quercus.learners.evergreen.boosting.growing import (
    measure_more,
    open_grown,
    partition_more,
    split_node,
    sum_more,
    take_next,
)
from quercus.learners.evergreen.boosting.layout import (
    BUILT,
    CHOOSE,
    FITTED,
    IDLE,
    LEAST_WORK,
    MEASURE,
    MOST_WEIGHT,
    MOST_WORK,
    NEXT,
    PART,
    PARTITION,
    SCORE,
    SUM,
    VOTER_ROOM,
    VOTING,
    Fit,
    FitWorkspace,
)
from quercus.learners.evergreen.boosting.mixing import (
    learn_weights,
    make_boost_workspace,
    mix_boost,
    open_parts,
    update_leaves,
)
from quercus.learners.evergreen.boosting.rounds import finish_leaf, score_rows
from quercus.learners.evergreen.boosting.state import BoostState
from quercus.learners.evergreen.boosting.voting import count_votes, sample_rows, write_votes
from quercus.learners.evergreen.reservoir import round_weight
from quercus.rows import DONE, Rows

_ORDER = array_type(np.int64, 1, readonly=True)
_TABLE = array_type(np.float64, 2, readonly=True)


@kernel
def make_fit_workspace(features: int) -> Any:
    """Return room for a node."""
    return FitWorkspace(
        np.empty(features, np.uint8),
        np.empty(features, np.uint8),
        np.empty(features, np.uint8),
        np.empty(features, np.int64),
        np.empty(features, np.uint8),
        np.empty(features, np.uint8),
        np.empty(features),
    )


@kernel(inline=True)
def open_fit(state: Any) -> Any:
    """Return the arrays of a fit."""
    return Fit(
        state.head,
        state.features,
        state.edges,
        state.codes,
        state.rows,
        state.scores,
        state.gradients,
        state.hessians,
        state.places,
        state.stack,
        state.lefts,
        state.totals,
        state.bins,
        state.chosen,
    )


class Growth(NamedTuple):
    """A fit under way: its rows, the trees that it grows, and what their leaves hold: votes, or values and Hessians."""

    fit: Any
    trees: Any
    values: Any
    hessians: Any
    counts: Any
    votes: Any


@kernel(inline=True)
def open_growth(state: Any) -> Any:
    """Return the arrays of a fit under way."""
    new, voters, votes = state.candidate, state.new_voters, state.options[0].stage == VOTING
    trees = open_grown(voters, len(voters.counts)) if votes else open_grown(new, len(new.values))
    return Growth(open_fit(state.fit), trees, new.values, new.hessians, voters.counts, votes)


@kernel(no_refcount=True)
def find_budget(growth: Any) -> float:
    """Return how much of a fit is to be done with this row: what is left, by the rounds so far, spread evenly.

    But never so much that a row would wait for long.
    """
    head, begun = growth.fit.head[0], growth.trees.head[0].trees
    rows_left = max(head.rows // PART - head.waited, 1)
    expected = 4.0 * head.rows * len(growth.fit.features) * head.rounds
    if begun > 1:
        expected = head.work * head.rounds / (begun - 1)
    return min(max(expected - head.work, LEAST_WORK) / rows_left, MOST_WORK)


@kernel
def step_fit(growth: Any, workspace: Any, budget: float) -> bool:
    """Go on until so much is done; return whether all trees are."""
    fit, trees, votes = growth.fit, growth.trees, growth.votes
    head, done = fit.head[0], 0.0
    share = min(1.0, VOTER_ROOM * trees.leaves / (max(float(head.rounds), VOTER_ROOM) * head.rows))
    while done < budget and head.phase != BUILT:
        phase = head.phase
        if phase == SCORE:
            done += sample_rows(fit, trees, share) if votes else score_rows(fit, trees, growth.values)
        elif phase == NEXT:
            done += take_next(fit)
        elif phase == MEASURE:
            done += measure_more(fit, trees, workspace, votes)
        elif phase == SUM:
            done += sum_more(fit, workspace, votes)
        elif phase == CHOOSE:
            done += split_node(fit, trees, votes)
        elif phase == PARTITION:
            done += partition_more(fit, trees)
        elif votes:
            done += write_votes(fit, trees, growth.counts)
        else:
            done += finish_leaf(fit, trees, growth.values, growth.hessians)
    head.work += done
    return head.phase == BUILT


@kernel(
    types.UniTuple(types.int64, 2), BoostState.numba_type, Rows.numba_type, _ORDER, _TABLE, types.int64, types.int64
)
def learn_rows(state: Any, rows: Any, order: Any, loss: Any, start: int, stop: int) -> Any:
    """Answer rows by their tree's probabilities (in ``proba``) and all other trees, learn them, and go on with a fit.

    Returns the row to go on from, and why it stopped.
    """
    option, X, y, w, answers, proba = state.options[0], rows.X, rows.y, rows.weight, rows.answers, rows.proba
    parts, growth = open_parts(state), open_growth(state)
    workspace = make_boost_workspace(proba.shape[1], len(parts.trees.base))
    room = make_fit_workspace(len(growth.fit.features))
    for i in range(start, stop):
        classes, stages, label = option.classes, np.int64(0), y[i]
        answers[i] = -1
        if classes > 0:
            stages = mix_boost(parts, X, i, workspace, proba[i], classes)
            answers[i] = decide(proba[i], order, loss, classes)
        if not w[i] > 0.0:
            continue
        if label < classes and stages > 0:
            weight = min(round_weight(w[i]) / parts.trees.head[0].mean_weight, MOST_WEIGHT)
            learn_weights(parts, workspace, stages, label, weight, classes)
            if label < max(len(parts.trees.base), 2):
                update_leaves(parts.trees, workspace, label, weight)
            if label < len(parts.voters.shares):
                count_votes(parts.voters, workspace.voted, label, weight)
        option.classes = max(classes, label + 1)
        option.seen += 1
        if option.stage != IDLE:
            is_built = step_fit(growth, room, find_budget(growth))
            growth.fit.head[0].waited += 1
            if is_built:
                return i + 1, FITTED
    return stop, DONE


@kernel(
    types.void,
    BoostState.numba_type,
    _TABLE,
    _ORDER,
    _TABLE,
    array_type(np.int64, 1),
    array_type(np.float64, 2),
)
def answer_rows(state: Any, X: Any, order: Any, loss: Any, answers: Any, proba: Any) -> None:
    """Answer rows by their tree's probabilities and all other trees."""
    parts, classes = open_parts(state), state.options[0].classes
    workspace = make_boost_workspace(proba.shape[1], len(parts.trees.base))
    if classes == 0:
        return
    for i in range(len(X)):
        mix_boost(parts, X, i, workspace, proba[i], classes)
        answers[i] = decide(proba[i], order, loss, classes)


@kernel(types.void, BoostState.numba_type)
def finish_fit(state: Any) -> None:
    """Do all that is left of a fit."""
    growth = open_growth(state)
    step_fit(growth, make_fit_workspace(len(growth.fit.features)), np.inf)
