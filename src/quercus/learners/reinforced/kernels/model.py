"""What results tell one by one (naive Bayes), and what that says of states rarely met; compiled.

See ``docs/reinforced.md``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from quercus.compile import kernel
from quercus.learners.reinforced.kernels.lookup import find_result, has_counts, reach_result
from quercus.learners.reinforced.layout import ENOUGH, JOINT, MIXED, NODES, NOWHERE, WEIGHTED


@kernel
def count_result(tree: Any, work: Any, item: Any, label: int, w: float) -> None:
    """Count the result of an item in an example of a class; with `alpha` older ones decay exponentially."""
    place, head, counts = reach_result(tree, item), tree.features[item.head], tree.counts
    alpha = work.settings[0].alpha
    if alpha > 0.0:
        kept, other = (1.0 - alpha) ** w, np.int64(head.first)
        for _ in range(head.results + 1):
            counts[other, label] *= kept
            other = np.int64(tree.results[other].next)
    counts[place, label] += w
    counts[head.first, label] += w


@kernel
def begin_posterior(tree: Any, work: Any, row: int) -> None:
    """Write how probable each class is while nothing is known."""
    classes, n = tree.options[0].classes, tree.states[0].n
    for y in range(classes):
        work.proba[row, y] = (n * tree.shares[0, y] + 1.0 / classes) / (n + 1.0)


@kernel
def update_posterior(tree: Any, work: Any, item: Any, row: int) -> None:
    """Go on by the result of an item: how probable each class is then, by Bayes' rule.

    Shares of results are estimated with half an example of each (Krichevsky & Trofimov, 1981).
    """
    result, total = find_result(tree, item), 0.0
    if result < 0:
        return
    head, classes, counts, proba = tree.features[item.head], tree.options[0].classes, tree.counts, work.proba
    sums, half = head.first, 0.5 * head.results
    for y in range(classes):
        proba[row, y] *= (counts[result, y] + 0.5) / (counts[sums, y] + half)
        total += proba[row, y]
    for y in range(classes):
        proba[row, y] /= total


@kernel
def mix_posterior(tree: Any, work: Any, state: int, row: int) -> None:
    """Write how probable each class is in a state, by its own examples and by the model (shrinkage to a prior)."""
    n, prior, shares, proba = (
        tree.states[state].n if state >= 0 else 0.0,
        work.settings[0].prior,
        tree.shares,
        work.proba,
    )
    for y in range(tree.options[0].classes):
        share = shares[state, y] if state >= 0 else 0.0
        proba[MIXED, y] = (n * share + prior * proba[row, y]) / (n + prior) if prior > 0.0 else share


@kernel
def best_reward(tree: Any, work: Any, row: int) -> float:
    """Return what the Bayes decision, the best answer, brings if classes are as probable as that."""
    best, every, classes, proba = -np.inf, 0.0, tree.options[0].classes, work.proba
    if work.settings[0].by_loss:
        for k in range(classes):
            total = 0.0
            for y in range(classes):
                total -= proba[row, y] * work.loss[y, k]
            best = max(best, total)
    else:
        for y in range(classes):
            every += proba[row, y] * work.rewards[y].wrong
        for k in range(classes):
            best = max(best, proba[row, k] * (work.rewards[k].right - work.rewards[k].wrong))
    return every + best


@kernel
def expect_reward(tree: Any, work: Any, item: Any) -> float:
    """Return what answering after a question is expected to bring by the model: value of information (Howard, 1966)."""
    head, classes, total = tree.features[item.head], tree.options[0].classes, 0.0
    half, place, counts, proba = 0.5 * head.results, np.int64(head.first), tree.counts, work.proba
    for y in range(classes):
        proba[WEIGHTED, y] = proba[MIXED, y] / (counts[place, y] + half)
    for _ in range(head.results):
        place = np.int64(tree.results[place].next)
        for y in range(classes):
            proba[JOINT, y] = proba[WEIGHTED, y] * (counts[place, y] + 0.5)
        total += best_reward(tree, work, JOINT)
    return total


@kernel
def value_action(tree: Any, work: Any, action: Any) -> float:
    """Return what an action that was tried is worth without its price: not often, also by the model."""
    settings, item = work.settings[0], work.items[action.item]
    if action.n >= ENOUGH or settings.prior <= 0.0 or not has_counts(tree, item):
        return action.gain
    weight, expected = 2.0 * settings.prior, settings.gamma * expect_reward(tree, work, item)
    return (action.n * action.gain + weight * expected) / (action.n + weight)


@kernel
def value_node(tree: Any, work: Any, node: int) -> float:
    """Return the value of a state that an example changes: Bellman's maximum over its answers and tried actions."""
    state, settings = work.nodes[node].state, work.settings[0]
    mix_posterior(tree, work, state, NODES + node)
    value = best_reward(tree, work, MIXED)
    found = tree.states[state].first if work.nodes[node].size < settings.questions else np.int32(NOWHERE)
    while found >= 0:
        action = tree.actions[found]
        value = max(value, value_action(tree, work, action) - work.items[action.item].charge)
        found = action.next
    return value


@kernel
def price_items(work: Any, classes: int) -> None:
    """Write what each item costs in the unit of rewards, and its optimistic value at first."""
    settings, bound = work.settings[0], work.bounds[classes]
    for i in range(len(work.items)):
        item, charge = work.items[i], 0.0
        if settings.worth > 0.0:
            charge = (work.dearness[i] * bound.loss_at_stake if settings.is_relative else item.price) / settings.worth
        item.charge = charge
        item.start = settings.start if settings.starts_alike else settings.gamma * bound.reward - charge
