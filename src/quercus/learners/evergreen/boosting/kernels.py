"""The loops over rows of an evergreen boost, beside those of its tree; compiled."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import types

from quercus.compile import array_type, kernel
from quercus.decision import decide
from quercus.learners.evergreen.boosting.layout import (
    EXPERT_DECAY,
    FITTED,
    FITTING,
    LATE_SHARE,
    LEAF_PENALTY,
    LEAST_HESSIAN,
    LEAST_LOG,
    LEAST_PROBA,
    LEAST_WORK,
    MOST_WEIGHT,
    MOST_WORK,
    PART,
    STACK_STEP,
    STAGE_DECAY,
    STAGES,
    Fit,
    FitWorkspace,
    Trees,
)
from quercus.learners.evergreen.boosting.rounds import find_leaf, output_share, step_fit
from quercus.learners.evergreen.boosting.state import BoostState
from quercus.learners.evergreen.reservoir import round_weight
from quercus.rows import DONE, Rows

_ORDER = array_type(np.int64, 1, readonly=True)
_TABLE = array_type(np.float64, 2, readonly=True)
_STAGES = np.array(STAGES)
# Lines of a workspace: what the tree, the boosted trees and both together predict, and logarithms of the first two.
TREE, BOOST, STACK, LOG_TREE, LOG_BOOST = range(5)


class BoostWorkspace(NamedTuple):
    """Room for one example: probabilities by expert, those of each stage, sums of trees, and their leaves."""

    lines: Any
    stages: Any
    scores: Any
    leaves: Any


@kernel
def make_boost_workspace(classes: int, outputs: int) -> Any:
    """Return room for one example."""
    stages = np.zeros((len(_STAGES), classes))
    return BoostWorkspace(np.zeros((5, classes)), stages, np.zeros(outputs), np.zeros(_STAGES[-1], np.int64))


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
def open_trees(state: Any) -> Any:
    """Return the arrays of trees one by one: inner kernels are quicker with these."""
    return Trees(state.head, state.nodes, state.roots, state.values, state.hessians, state.sets, state.base)


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


@kernel(no_refcount=True)
def write_softmax(scores: Any, share: float, proba: Any) -> None:
    """Write the probabilities of classes by their scores, times a share; one score: that of the second of two."""
    outputs, largest, whole = len(scores), -np.inf, 0.0
    if outputs == 1:
        proba[1] = share / (1.0 + math.exp(-scores[0]))
        proba[0] = share - proba[1]
        return
    for k in range(outputs):
        largest = max(largest, scores[k])
    for k in range(outputs):
        proba[k] = math.exp(scores[k] - largest)
        whole += proba[k]
    for k in range(outputs):
        proba[k] *= share / whole


@kernel(no_refcount=True)
def predict_stages(trees: Any, X: Any, i: int, workspace: Any, classes: int) -> int:
    """Write what boosted trees predict after each stage; return the number of stages.

    Of classes that came after the fit began, they say what the tree does.
    """
    lines, scores, outputs, total = workspace.lines, workspace.scores, len(workspace.scores), trees.head[0].trees
    known, share, stage = max(outputs, 2), 1.0, 0
    for k in range(known, classes):
        share -= lines[TREE, k]
    for k in range(outputs):
        scores[k] = trees.base[k]
    for t in range(total):
        leaf = find_leaf(trees, np.int64(trees.roots[t]), X, i)
        workspace.leaves[t] = leaf
        for k in range(outputs):
            scores[k] += trees.values[np.uint32(leaf), np.uint32(k)]
        if t + 1 == _STAGES[stage] or t + 1 == total:
            write_softmax(scores, max(share, 0.0), workspace.stages[stage])
            for k in range(known, classes):
                workspace.stages[stage, k] = lines[TREE, k]
            stage += 1
    return stage


@kernel(no_refcount=True)
def mix_stages(losses: Any, workspace: Any, stages: int, classes: int) -> None:
    """Average over stages, each by the exponential of its decayed log loss: no round more than has paid."""
    lines, least, whole = workspace.lines, losses[0], 0.0
    for s in range(1, stages):
        least = min(least, losses[s])
    for k in range(classes):
        lines[BOOST, k] = 0.0
    for s in range(stages):
        weight = math.exp(least - losses[s])
        whole += weight
        for k in range(classes):
            lines[BOOST, k] += weight * workspace.stages[s, k]
    for k in range(classes):
        lines[BOOST, k] /= whole


@kernel(no_refcount=True)
def stack_experts(option: Any, workspace: Any, classes: int) -> None:
    """Write the weighted product of what tree and boosted trees predict."""
    lines, largest, whole = workspace.lines, -np.inf, 0.0
    for k in range(classes):
        lines[LOG_TREE, k] = math.log(max(lines[TREE, k], LEAST_LOG))
        lines[LOG_BOOST, k] = math.log(max(lines[BOOST, k], LEAST_LOG))
        lines[STACK, k] = option.tree_weight * lines[LOG_TREE, k] + option.boost_weight * lines[LOG_BOOST, k]
        largest = max(largest, lines[STACK, k])
    for k in range(classes):
        lines[STACK, k] = math.exp(lines[STACK, k] - largest)
        whole += lines[STACK, k]
    for k in range(classes):
        lines[STACK, k] /= whole


@kernel(no_refcount=True)
def mix_boost(option: Any, losses: Any, trees: Any, X: Any, i: int, workspace: Any, proba: Any, classes: int) -> int:
    """Turn the probabilities of a tree into those of all experts; return the number of stages, 0 without boosted trees.

    Bayesian averaging with forgetting (Raftery, Karny & Ettler, 2010) over three: the tree, the boosted trees, and the
    product of both.
    """
    lines = workspace.lines
    for k in range(classes):
        lines[TREE, k] = proba[k]
    if trees.head[0].trees == 0:
        return 0
    stages = predict_stages(trees, X, i, workspace, classes)
    mix_stages(losses, workspace, stages, classes)
    stack_experts(option, workspace, classes)
    least = min(option.tree_loss, option.boost_loss, option.stack_loss)
    by_tree = math.exp(least - option.tree_loss)
    by_boost, by_stack = math.exp(least - option.boost_loss), math.exp(least - option.stack_loss)
    whole = by_tree + by_boost + by_stack
    for k in range(classes):
        proba[k] = (by_tree * lines[TREE, k] + by_boost * lines[BOOST, k] + by_stack * lines[STACK, k]) / whole
    return stages


@kernel(inline=True)
def charge(loss: float, proba: float, w: float, decay: float) -> float:
    """Return a decayed log loss with one more row."""
    return decay * loss - w * math.log(max(proba, LEAST_PROBA))


@kernel(no_refcount=True)
def learn_weights(option: Any, losses: Any, workspace: Any, stages: int, label: int, w: float, classes: int) -> None:
    """Charge all experts with the loss of a row, and let the weights of the product make a step, by AdaGrad."""
    lines, by_tree, by_boost = workspace.lines, 0.0, 0.0
    for s in range(stages):
        losses[s] = charge(losses[s], workspace.stages[s, label], w, STAGE_DECAY)
    for s in range(stages, len(losses)):
        losses[s] = losses[stages - 1]
    option.tree_loss = charge(option.tree_loss, lines[TREE, label], w, EXPERT_DECAY)
    option.boost_loss = charge(option.boost_loss, lines[BOOST, label], w, EXPERT_DECAY)
    option.stack_loss = charge(option.stack_loss, lines[STACK, label], w, EXPERT_DECAY)
    for k in range(classes):
        slope = lines[STACK, k] - (1.0 if k == label else 0.0)
        by_tree += slope * lines[LOG_TREE, k]
        by_boost += slope * lines[LOG_BOOST, k]
    option.tree_accumulator += by_tree * by_tree
    option.boost_accumulator += by_boost * by_boost
    tree_step = STACK_STEP * by_tree / math.sqrt(option.tree_accumulator + 1.0)
    boost_step = STACK_STEP * by_boost / math.sqrt(option.boost_accumulator + 1.0)
    option.tree_weight = max(0.0, option.tree_weight - tree_step)
    option.boost_weight = max(0.0, option.boost_weight - boost_step)


@kernel(no_refcount=True)
def update_leaves(trees: Any, workspace: Any, label: int, w: float) -> None:
    """Let the leaves of a row make a Newton step more, as if the row had been among theirs.

    Its gradients are those after the stage to which a tree belongs.
    """
    outputs, total, stage = trees.values.shape[1], trees.head[0].trees, 0
    step = LATE_SHARE * trees.head[0].rate * output_share(outputs) * w
    for t in range(total):
        stage += t + 1 > _STAGES[stage]
        leaf = np.uint32(workspace.leaves[t])
        for k in range(outputs):
            of = 1 if outputs == 1 else k
            p = workspace.stages[stage, of]
            trees.hessians[leaf, k] += w * max(p * (1.0 - p), LEAST_HESSIAN)
            slope = (1.0 if label == of else 0.0) - p
            trees.values[leaf, k] += step * slope / (trees.hessians[leaf, k] + LEAF_PENALTY)


@kernel(no_refcount=True)
def find_budget(fit: Any, trees: Any) -> float:
    """Return how much of a fit is to be done with this row: what is left, by the rounds so far, spread evenly.

    But never so much that a row would wait for long.
    """
    head, begun = fit.head[0], trees.head[0].trees
    rows_left = max(head.rows // PART - head.waited, 1)
    expected = 4.0 * head.rows * len(fit.features) * head.rounds
    if begun > 1:
        expected = head.work * head.rounds / (begun - 1)
    return min(max(expected - head.work, LEAST_WORK) / rows_left, MOST_WORK)


@kernel(
    types.UniTuple(types.int64, 2), BoostState.numba_type, Rows.numba_type, _ORDER, _TABLE, types.int64, types.int64
)
def learn_rows(state: Any, rows: Any, order: Any, loss: Any, start: int, stop: int) -> Any:
    """Answer rows by their tree's probabilities (in ``proba``) and boosted trees, learn them, and go on with a fit.

    Returns the row to go on from, and why it stopped.
    """
    option, losses, X, y, w = state.options[0], state.losses, rows.X, rows.y, rows.weight
    trees, new, fit = open_trees(state.trees), open_trees(state.candidate), open_fit(state.fit)
    answers, proba = rows.answers, rows.proba
    workspace = make_boost_workspace(proba.shape[1], len(trees.base))
    room = make_fit_workspace(len(fit.features))
    for i in range(start, stop):
        classes, stages, label = option.classes, np.int64(0), y[i]
        answers[i] = -1
        if classes > 0:
            stages = mix_boost(option, losses, trees, X, i, workspace, proba[i], classes)
            answers[i] = decide(proba[i], order, loss, classes)
        if not w[i] > 0.0:
            continue
        if label < classes and stages > 0:
            weight = min(round_weight(w[i]) / trees.head[0].mean_weight, MOST_WEIGHT)
            learn_weights(option, losses, workspace, stages, label, weight, classes)
            if label < max(len(trees.base), 2):
                update_leaves(trees, workspace, label, weight)
        option.classes = max(classes, label + 1)
        option.seen += 1
        if option.stage == FITTING:
            is_built = step_fit(fit, new, room, find_budget(fit, new))
            fit.head[0].waited += 1
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
    """Answer rows by their tree's probabilities and boosted trees."""
    option, losses, trees = state.options[0], state.losses, open_trees(state.trees)
    workspace, classes = make_boost_workspace(proba.shape[1], len(trees.base)), option.classes
    if classes == 0:
        return
    for i in range(len(X)):
        mix_boost(option, losses, trees, X, i, workspace, proba[i], classes)
        answers[i] = decide(proba[i], order, loss, classes)


@kernel(types.void, BoostState.numba_type)
def finish_fit(state: Any) -> None:
    """Do all that is left of a fit."""
    fit = open_fit(state.fit)
    step_fit(fit, open_trees(state.candidate), make_fit_workspace(len(fit.features)), np.inf)
