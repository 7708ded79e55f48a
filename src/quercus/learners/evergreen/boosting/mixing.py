"""What the experts of an evergreen boost predict, how much each of them counts, and what they learn; compiled."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from quercus.compile import kernel
from quercus.learners.evergreen.boosting.layout import (
    EXPERT_DECAY,
    LATE_SHARE,
    LEAF_PENALTY,
    LEAST_HESSIAN,
    LEAST_LOG,
    LEAST_PROBA,
    MOST_VOTERS,
    STACK_STEP,
    STAGE_DECAY,
    STAGES,
    Trees,
)
from quercus.learners.evergreen.boosting.rounds import find_leaf, output_share
from quercus.learners.evergreen.boosting.voting import open_voters, predict_votes

_STAGES = np.array(STAGES)
# Lines of a workspace: what the tree, boosted trees, randomized ones and all together predict, and logarithms of these.
TREE, BOOST, VOTES, STACK, LOG_TREE, LOG_BOOST, LOG_VOTES = range(7)


class BoostWorkspace(NamedTuple):
    """Room for one example: probabilities by expert, those of each stage, sums of trees, leaves of both kinds."""

    lines: Any
    stages: Any
    scores: Any
    leaves: Any
    voted: Any


class Parts(NamedTuple):
    """All that answers depend on, beside the tree: weights and losses of experts, and their trees."""

    options: Any
    losses: Any
    votes: Any
    trees: Any
    voters: Any


@kernel
def make_boost_workspace(classes: int, outputs: int) -> Any:
    """Return room for one example."""
    stages = np.zeros((len(_STAGES), classes))
    leaves, voted = np.zeros(_STAGES[-1], np.int64), np.zeros(MOST_VOTERS, np.int64)
    return BoostWorkspace(np.zeros((7, classes)), stages, np.zeros(outputs), leaves, voted)


@kernel(inline=True)
def open_trees(state: Any) -> Any:
    """Return the arrays of trees one by one: inner kernels are quicker with these."""
    return Trees(state.head, state.nodes, state.roots, state.values, state.hessians, state.sets, state.base)


@kernel(inline=True)
def open_parts(state: Any) -> Any:
    """Return all that answers depend on."""
    return Parts(state.options, state.losses, state.votes, open_trees(state.trees), open_voters(state.voters))


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
def stack_experts(option: Any, votes: Any, workspace: Any, voting: bool, classes: int) -> None:
    """Write the weighted product of what all experts predict."""
    lines, largest, whole = workspace.lines, -np.inf, 0.0
    for k in range(classes):
        lines[LOG_TREE, k] = math.log(max(lines[TREE, k], LEAST_LOG))
        lines[LOG_BOOST, k] = math.log(max(lines[BOOST, k], LEAST_LOG))
        lines[STACK, k] = option.tree_weight * lines[LOG_TREE, k] + option.boost_weight * lines[LOG_BOOST, k]
        if voting:
            lines[LOG_VOTES, k] = math.log(max(lines[VOTES, k], LEAST_LOG))
            lines[STACK, k] += votes.weight * lines[LOG_VOTES, k]
        largest = max(largest, lines[STACK, k])
    for k in range(classes):
        lines[STACK, k] = math.exp(lines[STACK, k] - largest)
        whole += lines[STACK, k]
    for k in range(classes):
        lines[STACK, k] /= whole


@kernel(no_refcount=True)
def mix_boost(parts: Any, X: Any, i: int, workspace: Any, proba: Any, classes: int) -> int:
    """Turn the probabilities of a tree into those of all experts; return the number of stages, 0 without boosted trees.

    Bayesian averaging with forgetting (Raftery, Karny & Ettler, 2010) over the tree, the boosted trees, the randomized
    ones, and the product of all.
    """
    lines, option, votes = workspace.lines, parts.options[0], parts.votes[0]
    for k in range(classes):
        lines[TREE, k] = proba[k]
    if parts.trees.head[0].trees == 0:
        return 0
    stages, voting = predict_stages(parts.trees, X, i, workspace, classes), parts.voters.head[0].trees > 0
    mix_stages(parts.losses, workspace, stages, classes)
    if voting:
        late = 0.0
        for k in range(len(parts.voters.shares), classes):
            lines[VOTES, k] = lines[TREE, k]
            late += lines[TREE, k]
        predict_votes(parts.voters, X, i, workspace.voted, lines[VOTES], late)
    stack_experts(option, votes, workspace, voting, classes)
    least = min(option.tree_loss, option.boost_loss, option.stack_loss)
    if voting:
        least = min(least, votes.loss)
    by_tree, by_votes = math.exp(least - option.tree_loss), math.exp(least - votes.loss) if voting else 0.0
    by_boost, by_stack = math.exp(least - option.boost_loss), math.exp(least - option.stack_loss)
    whole = by_tree + by_boost + by_stack + by_votes
    for k in range(classes):
        total = by_tree * lines[TREE, k] + by_boost * lines[BOOST, k] + by_stack * lines[STACK, k]
        if voting:
            total += by_votes * lines[VOTES, k]
        proba[k] = total / whole
    return stages


@kernel(inline=True)
def charge(loss: float, proba: float, w: float, decay: float) -> float:
    """Return a decayed log loss with one more row."""
    return decay * loss - w * math.log(max(proba, LEAST_PROBA))


@kernel(inline=True)
def step_weight(weight: float, slope: float, accumulator: float) -> float:
    """Return a weight of the product after a step, by AdaGrad."""
    return max(0.0, weight - STACK_STEP * slope / math.sqrt(accumulator + 1.0))


@kernel(no_refcount=True)
def learn_weights(parts: Any, workspace: Any, stages: int, label: int, w: float, classes: int) -> None:
    """Charge all experts with the loss of a row, and let the weights of the product make a step."""
    lines, losses, by_tree, by_boost, by_votes = workspace.lines, parts.losses, 0.0, 0.0, 0.0
    option, votes, voting = parts.options[0], parts.votes[0], parts.voters.head[0].trees > 0
    for s in range(stages):
        losses[s] = charge(losses[s], workspace.stages[s, label], w, STAGE_DECAY)
    for s in range(stages, len(losses)):
        losses[s] = losses[stages - 1]
    option.tree_loss = charge(option.tree_loss, lines[TREE, label], w, EXPERT_DECAY)
    option.boost_loss = charge(option.boost_loss, lines[BOOST, label], w, EXPERT_DECAY)
    option.stack_loss = charge(option.stack_loss, lines[STACK, label], w, EXPERT_DECAY)
    # What randomized trees would have lost before there were any is what the boosted ones did.
    votes.loss = charge(votes.loss, lines[VOTES, label], w, EXPERT_DECAY) if voting else option.boost_loss
    for k in range(classes):
        slope = lines[STACK, k] - (1.0 if k == label else 0.0)
        by_tree += slope * lines[LOG_TREE, k]
        by_boost += slope * lines[LOG_BOOST, k]
        if voting:
            by_votes += slope * lines[LOG_VOTES, k]
    option.tree_accumulator += by_tree * by_tree
    option.boost_accumulator += by_boost * by_boost
    option.tree_weight = step_weight(option.tree_weight, by_tree, option.tree_accumulator)
    option.boost_weight = step_weight(option.boost_weight, by_boost, option.boost_accumulator)
    if voting:
        votes.accumulator += by_votes * by_votes
        votes.weight = step_weight(votes.weight, by_votes, votes.accumulator)


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
