"""What a question is expected to tell: the scores of features and of groups; compiled. See ``docs/utility.md``.

"ig" is information gain, "us" uncertainty sampling of the outcome. "ec2": D. Golovin, A. Krause, D. Ray: Near-Optimal
Bayesian Active Learning with Noisy Observations, NeurIPS 2010. "eced": Y. Chen, S. H. Hassani, A. Krause: Near-optimal
Bayesian Active Learning with Correlated and Noisy Tests, AISTATS 2017.
"""

from __future__ import annotations

from math import log2
from typing import Any

from quercus.acquisition.layout import UNKNOWN
from quercus.compile import kernel
from quercus.learners.utility.kernels.layout import (
    EC2,
    ECED,
    HYPOTHESES,
    IG,
    MOST_JOINT,
    NOT_BUYABLE,
    QUANTILES,
    RANDOM,
    TENTHS,
    US,
)
from quercus.learners.utility.kernels.pairs import share_by_partner
from quercus.rows import NUMERIC


@kernel(inline=True, no_refcount=True)
def has_edges(numeric: int, feature: Any) -> bool:
    """Return whether a question about a feature is one about an edge."""
    return numeric != QUANTILES and feature.kind == NUMERIC and feature.bins == TENTHS


@kernel(no_refcount=True)
def spread(weights: Any, classes: int) -> float:
    """Return what all pairs of different entries weigh."""
    total, squares = 0.0, 0.0
    for y in range(classes):
        total += weights[y]
        squares += weights[y] * weights[y]
    return 0.5 * (total * total - squares)


@kernel(inline=True, no_refcount=True)
def predict_outcome(q: Any, outcomes: Any, place: int, classes: int) -> float:
    """Return how probable an outcome is: its posterior predictive."""
    p = 0.0
    for y in range(classes):
        p += q[y] * outcomes[place, y]
    return p


@kernel(inline=True, no_refcount=True)
def score_entropy(q: Any, outcomes: Any, first: int, bins: int, classes: int) -> float:
    """Return the entropy of the outcome, in bits: uncertainty sampling."""
    entropy = 0.0
    for place in range(first, first + bins):
        p = predict_outcome(q, outcomes, place, classes)
        if p > 0.0:
            entropy -= p * log2(p)
    return entropy


@kernel(no_refcount=True)
def score_discounted(q: Any, r: Any, outcomes: Any, first: int, bins: int, classes: int) -> float:
    """Return what the outcome is expected to discount of the edges between classes (ECED: Chen et al., 2017)."""
    whole, score = spread(q, classes), 0.0
    for place in range(first, first + bins):
        most = 0.0
        for y in range(classes):
            top = 0.0
            for other in range(first, first + bins):
                top = max(top, outcomes[other, y])
            likely = outcomes[place, y] / top
            most = max(most, likely)
            r[y] = q[y] * likely
        score += predict_outcome(q, outcomes, place, classes) * (most * most * whole - spread(r, classes))
    return score


@kernel
def score_bins(objective: int, state: Any, item: Any, posterior: Any, work: Any, status: Any) -> None:
    """Write the scores of the unknown features that can be bought, with their bins as outcomes; not for "ec2"."""
    q, r, theta, entropy, luck = work.q, work.r, posterior.theta, posterior.entropy, posterior.luck
    features, buyable, scores, classes = state.features, work.buyable, work.scores, state.options[0].classes
    for f in range(len(status)):
        score, first, bins = 0.0, features[f].first, features[f].bins
        if objective == RANDOM:
            score = luck[f]
        elif status[f] == UNKNOWN and buyable[item[f]] != NOT_BUYABLE and bins > 1 and classes > 0:
            if objective == ECED:
                score = score_discounted(q, r, theta, first, bins, classes)
            else:
                score = score_entropy(q, theta, first, bins, classes)
            if objective == IG:
                for y in range(classes):
                    score -= q[y] * entropy[f, y]
        scores[f] = max(score, 0.0)


@kernel(no_refcount=True)
def split_bins(theta: Any, first: int, edge: int, classes: int, outcomes: Any) -> None:
    """Write the probabilities of both sides of an edge."""
    for y in range(classes):
        low, high = 0.0, 0.0
        for v in range(TENTHS):
            if v <= edge:
                low += theta[first + v, y]
            else:
                high += theta[first + v, y]
        outcomes[0, y], outcomes[1, y] = low, high


@kernel(inline=True, no_refcount=True)
def mean_entropy(q: Any, outcomes: Any, classes: int) -> float:
    """Return the entropy of two outcomes in the mean over the classes, each being the true one."""
    mean = 0.0
    for y in range(classes):
        for side in range(2):
            p = outcomes[side, y]
            if p > 0.0:
                mean -= q[y] * p * log2(p)
    return mean


@kernel(no_refcount=True)
def score_edge(objective: int, q: Any, r: Any, theta: Any, first: int, edge: int, classes: int, outcomes: Any) -> float:
    """Return the score of a question about an edge; not for "ec2" and "random"."""
    split_bins(theta, first, edge, classes, outcomes)
    score = 0.0
    if objective == ECED:
        score = score_discounted(q, r, outcomes, 0, 2, classes)
    else:
        score = score_entropy(q, outcomes, 0, 2, classes)
    if objective == IG:
        score -= mean_entropy(q, outcomes, classes)
    return score


@kernel(no_refcount=True)
def add_hypotheses(
    hypotheses: Any, region: Any, weight: Any, alive: Any, number: int, f: int, bins: int, classes: int, outcomes: Any
) -> None:
    """Write what the hypotheses that agree weigh, by bin of a feature and by region."""
    for v in range(max(bins, 1)):
        for y in range(classes):
            outcomes[v, y] = 0.0
    for h in range(number):
        if alive[h]:
            outcomes[hypotheses[h, f], region[h]] += weight[h]


@kernel(no_refcount=True)
def score_cut(q: Any, r: Any, theta: Any, first: int, bins: int, edge: int, classes: int, outcomes: Any) -> float:
    """Return the weight of the pairs of hypotheses that the outcome is expected to cut (EC2: Golovin et al., 2010).

    Without any edge it is -1.
    """
    for y in range(classes):
        r[y] = 0.0
        for v in range(bins):
            r[y] += outcomes[v, y]
    score, start = spread(r, classes), 0
    while start < bins:
        stop = start + 1
        if edge >= 0:
            stop = edge + 1 if start == 0 else bins
        p = 0.0
        for y in range(classes):
            r[y] = 0.0
            for v in range(start, stop):
                r[y] += outcomes[v, y]
                p += q[y] * theta[first + v, y]
        score -= p * spread(r, classes)
        start = stop
    return score


@kernel
def choose_edge(settings: Any, state: Any, posterior: Any, work: Any, f: int, theta: Any, first: int) -> None:
    """Write the score of the best question about an edge of a feature, and that edge."""
    best, most, picked, q, r = 0, -1.0, posterior.picked[f], work.q, work.r
    outcomes, classes = work.outcomes, state.options[0].classes
    for edge in range(TENTHS - 1):
        if picked >= 0 and edge != picked:
            continue
        score = posterior.luck[f]
        if settings.objective == EC2:
            score = score_cut(q, r, theta, first, TENTHS, edge, classes, outcomes)
        elif settings.objective != RANDOM:
            score = score_edge(settings.objective, q, r, theta, first, edge, classes, outcomes)
        if max(score, 0.0) > most:
            best, most = edge, max(score, 0.0)
    work.chosen[f] = best
    work.scores[f] = most
    if work.first_score[f] != work.first_score[f]:
        work.first_score[f] = most


@kernel(no_refcount=True)
def score_shares(q: Any, shares: Any, bins: int, classes: int) -> float:
    """Return the information gain (Lindley, 1956) of a question whose outcomes have these probabilities."""
    score = score_entropy(q, shares, 0, bins, classes)
    for y in range(classes):
        for v in range(bins):
            if shares[v, y] > 0.0:
                score += q[y] * shares[v, y] * log2(shares[v, y])
    return max(score, 0.0)


@kernel
def score_features(settings: Any, state: Any, item: Any, posterior: Any, work: Any, status: Any) -> None:
    """Write the score of every unknown feature that can be bought, and the edge that it would be asked by."""
    options, q, r, outcomes, scores = state.options[0], work.q, work.r, work.outcomes, work.scores
    classes, cuts, buyable = options.classes, settings.objective == EC2, work.buyable
    if not cuts:
        score_bins(settings.objective, state, item, posterior, work, status)
    for f in range(len(status) if cuts or options.numeric != QUANTILES else 0):
        first, bins = state.features[f].first, state.features[f].bins
        is_asked = status[f] == UNKNOWN and buyable[item[f]] != NOT_BUYABLE
        if is_asked and bins > 1 and cuts:
            add_hypotheses(
                posterior.bins,
                posterior.region,
                posterior.weight,
                posterior.alive,
                posterior.facts[HYPOTHESES],
                f,
                bins,
                classes,
                outcomes,
            )
            scores[f] = max(score_cut(q, r, posterior.theta, first, bins, -1, classes, outcomes), 0.0)
        elif cuts:
            scores[f] = 0.0
        if is_asked and has_edges(options.numeric, state.features[f]):
            choose_edge(settings, state, posterior, work, f, posterior.theta, first)


@kernel
def score_partnered(settings: Any, state: Any, posterior: Any, work: Any, row: Any, status: Any) -> None:
    """Write the scores of unknown features that were to be bought after one that is known, given that."""
    classes = state.options[0].classes
    for f in range(len(status)):
        if status[f] == UNKNOWN and work.partner[f] >= 0:
            share_by_partner(state, work, settings.prior, row, f)
            if has_edges(state.options[0].numeric, state.features[f]):
                choose_edge(settings, state, posterior, work, f, work.shares, 0)
            else:
                work.scores[f] = score_shares(work.q, work.shares, state.features[f].bins, classes)


@kernel(inline=True, no_refcount=True)
def count_outcomes(edge: int, bins: int) -> int:
    """Return how many outcomes a question about a feature has."""
    return 2 if edge >= 0 else max(bins, 1)


@kernel(no_refcount=True)
def widen_joint(joint: Any, size: int, outcomes: Any, first: int, width: int, classes: int) -> int:
    """Multiply the joint outcomes of some features by those of another; return their number."""
    # From the last to the first, so that nothing is overwritten that is still needed.
    for back in range(size * width):
        place = size * width - 1 - back
        old, v = place // width, place % width
        for y in range(classes):
            joint[place, y] = joint[old, y] * outcomes[first + v, y]
    return size * width


@kernel
def score_joint(settings: Any, state: Any, prices: Any, posterior: Any, work: Any, status: Any, i: int) -> float:
    """Return the score of a group over the joint outcomes of its unknown features ("ig", "us")."""
    size, score, q, joint, classes = 1, 0.0, work.q, work.joint, state.options[0].classes
    gains = settings.objective == IG
    for y in range(classes):
        joint[0, y] = q[y]
    for k in range(prices.starts[i], prices.starts[i + 1]):
        f = prices.members[k]
        first, bins, edge = state.features[f].first, state.features[f].bins, work.chosen[f]
        if status[f] == UNKNOWN and edge >= 0:
            split_bins(posterior.theta, first, edge, classes, work.outcomes)
            size = widen_joint(joint, size, work.outcomes, 0, 2, classes)
            score -= mean_entropy(q, work.outcomes, classes) if gains else 0.0
        elif status[f] == UNKNOWN and bins > 1:
            size = widen_joint(joint, size, posterior.theta, first, bins, classes)
            for y in range(classes if gains else 0):
                score -= q[y] * posterior.entropy[f, y]
    for place in range(size):
        p = 0.0
        for y in range(classes):
            p += joint[place, y]
        if p > 0.0:
            score -= p * log2(p)
    return max(score, 0.0)


@kernel
def score_group(settings: Any, state: Any, prices: Any, posterior: Any, work: Any, status: Any, i: int) -> float:
    """Return the score of a group, as far as it is not known."""
    score, features, outcomes = 0.0, 0, 1
    for k in range(prices.starts[i], prices.starts[i + 1]):
        f = prices.members[k]
        if status[f] == UNKNOWN:
            score += work.scores[f]
            features += 1
            width = count_outcomes(work.chosen[f], state.features[f].bins)
            outcomes = min(outcomes * width, MOST_JOINT + 1)
    if features > 1 and outcomes <= MOST_JOINT and settings.objective in (IG, US):
        score = score_joint(settings, state, prices, posterior, work, status, i)
    return score
