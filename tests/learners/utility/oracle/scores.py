"""The scores of docs/utility.md: as the page writes them, and again from what they mean, by enumeration.

theta is a list with an array [class, bin] per feature. What is known is `seen`: feature -> the bins that agree with
it (one bin; the bins on one side of an edge where a feature counts by an edge). The outcomes of a question are
likewise lists of bins. A table [class, outcome] is theta with the bins of each outcome added up.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Bins = tuple[int, ...]
Seen = Mapping[int, Bins]
Theta = Sequence[Array]
Hypothesis = tuple[int, ...]

MOST_JOINT_OUTCOMES = 4096


def entropy(shares: Iterable[float]) -> float:
    """In bits.

    >>> entropy([0.5, 0.25, 0.25, 0.0])
    1.5
    """
    return -sum(p * math.log2(p) for p in shares if p > 0)


def normalised(weights: ArrayLike) -> Array:
    """Reading: where every weight is 0, as no class can have what is known, all are even, like a sample's sum of 0."""
    weights = np.asarray(weights, dtype=float)
    return weights / weights.sum() if weights.sum() > 0 else np.full(len(weights), 1 / max(1, len(weights)))


def posterior(P: ArrayLike, likelihoods: Iterable[ArrayLike]) -> Array:
    """q: P(y) times each of the likelihoods [class], to a sum of 1.

    >>> posterior([0.5, 0.5], [[0.2, 0.6], [0.5, 0.5]]).round(12).tolist()
    [0.25, 0.75]
    """
    P = np.asarray(P, dtype=float)
    with np.errstate(divide="ignore"):
        logs = np.log(P) + sum((np.log(np.asarray(part, dtype=float)) for part in likelihoods), np.zeros(len(P)))
    if not len(P) or np.all(np.isneginf(logs)):
        return normalised(np.zeros(len(P)))
    return normalised(np.exp(logs - logs.max()))


def table(theta_u: ArrayLike, outcomes: Sequence[Bins]) -> Array:
    """theta of one feature by outcome.

    >>> table([[0.5, 0.25, 0.25]], [(0,), (1, 2)]).tolist()
    [[0.5, 0.5]]
    """
    theta_u = np.asarray(theta_u, dtype=float)
    return np.stack([theta_u[:, list(bins)].sum(axis=1) for bins in outcomes], axis=1)


def joint_table(tables: Sequence[ArrayLike]) -> Array:
    """The product of several features' tables: a column per joint outcome.

    >>> joint_table([[[0.5, 0.5]], [[0.25, 0.75]]]).tolist()
    [[0.125, 0.375, 0.125, 0.375]]
    """
    tables = [np.asarray(t, dtype=float) for t in tables]
    columns = product(*(range(t.shape[1]) for t in tables))
    return np.stack([np.prod([t[:, v] for t, v in zip(tables, vs, strict=True)], axis=0) for vs in columns], axis=1)


# The closed forms. q [class], t [class, outcome].


def ig(q: ArrayLike, t: ArrayLike) -> float:
    q, t = np.asarray(q, dtype=float), np.asarray(t, dtype=float)
    after = 0.0
    for v in range(t.shape[1]):
        p = float(q @ t[:, v])
        if p > 0:
            after += p * entropy(q * t[:, v] / p)
    return entropy(q) - after


def us(q: ArrayLike, t: ArrayLike) -> float:
    return entropy(np.asarray(q, dtype=float) @ np.asarray(t, dtype=float))


def between(weights: ArrayLike) -> float:
    """What all pairs of different entries weigh.

    >>> between([1.0, 2.0, 3.0])
    11.0
    """
    weights = np.asarray(weights, dtype=float)
    return float(weights.sum() ** 2 - (weights**2).sum()) / 2


def eced(q: ArrayLike, t: ArrayLike) -> float:
    q, t = np.asarray(q, dtype=float), np.asarray(t, dtype=float)
    lam = t / t.max(axis=1, keepdims=True)
    p = q @ t
    return sum(p[v] * (lam[:, v].max() ** 2 * between(q) - between(q * lam[:, v])) for v in range(t.shape[1]))


def ec2(
    q: ArrayLike,
    theta: Theta,
    u: int,
    outcomes: Sequence[Bins],
    hypotheses: Sequence[Hypothesis],
    weights: Sequence[float],
    regions: Sequence[int],
    seen: Seen,
) -> float:
    """W - sum p[v] W_v over region weights; hypotheses, weights and regions are those of the whole case."""
    agreeing = [k for k, h in enumerate(hypotheses) if agrees(h, seen)]
    p = np.asarray(q, dtype=float) @ table(theta[u], outcomes)

    def W(members: Sequence[int]) -> float:
        return between([sum(weights[k] for k in members if regions[k] == r) for r in sorted(set(regions))])

    return W(agreeing) - sum(
        p[v] * W([k for k in agreeing if hypotheses[k][u] in bins]) for v, bins in enumerate(outcomes)
    )


# Hypotheses


def every_hypothesis(bins: Sequence[int]) -> list[Hypothesis]:
    """All rows of one bin per feature.

    >>> every_hypothesis([2, 1, 2])
    [(0, 0, 0), (0, 0, 1), (1, 0, 0), (1, 0, 1)]
    """
    return list(product(*(range(V) for V in bins)))


def agrees(h: Hypothesis, seen: Seen) -> bool:
    return all(h[i] in bins for i, bins in seen.items())


def joint_weights(P: ArrayLike, theta: Theta, h: Hypothesis) -> Array:
    """P(y) P(h | y) of each class."""
    weights = np.array(P, dtype=float)
    for theta_i, bin_id in zip(theta, h, strict=True):
        weights = weights * theta_i[:, bin_id]
    return weights


# The same scores from what they mean


def joint_distribution(P: ArrayLike, theta: Theta) -> dict[tuple[int, Hypothesis], float]:
    """P(y, x) of every class and every row of bins."""
    rows = every_hypothesis([theta_i.shape[1] for theta_i in theta])
    return {(y, h): float(w) for h in rows for y, w in enumerate(joint_weights(P, theta, h))}


def ig_enumerated(P: ArrayLike, theta: Theta, seen: Seen, asked: Mapping[int, Sequence[Bins]]) -> float:
    """H(Y | seen) - E H(Y | seen, answers), from the joint distribution. asked: outcomes of each feature asked for."""
    whole = {yh: w for yh, w in joint_distribution(P, theta).items() if agrees(yh[1], seen)}
    total = sum(whole.values())
    before = entropy(grouped({yh: w / total for yh, w in whole.items()}, lambda yh: yh[0]).values())
    after = 0.0
    for answers in product(*asked.values()):
        part = {yh: w for yh, w in whole.items() if agrees(yh[1], dict(zip(asked, answers, strict=True)))}
        size = sum(part.values())
        if size > 0:
            shares = grouped({yh: w / size for yh, w in part.items()}, lambda yh: yh[0])
            after += size / total * entropy(shares.values())
    return before - after


def us_enumerated(P: ArrayLike, theta: Theta, seen: Seen, asked: Mapping[int, Sequence[Bins]]) -> float:
    """H(H | seen) - E H(H | seen, answers), over the whole space of hypotheses."""
    by_row = grouped(joint_distribution(P, theta), lambda yh: yh[1])
    whole = {h: w for h, w in by_row.items() if agrees(h, seen)}
    total = sum(whole.values())
    score = entropy(w / total for w in whole.values())
    for answers in product(*asked.values()):
        part = [w for h, w in whole.items() if agrees(h, dict(zip(asked, answers, strict=True)))]
        if sum(part) > 0:
            score -= sum(part) / total * entropy(w / sum(part) for w in part)
    return score


def ec2_edges(
    p: Sequence[float],
    u: int,
    outcomes: Sequence[Bins],
    hypotheses: Sequence[Hypothesis],
    weights: Sequence[float],
    regions: Sequence[int],
    seen: Seen,
) -> float:
    """The expected weight of the edges that the answer cuts: pairs of agreeing hypotheses of different regions.

    >>> ec2_edges([0.5, 0.5], 0, [(0,), (1,)], [(0,), (1,)], [0.25, 0.75], [0, 1], {})
    0.1875
    """
    score = 0.0
    for k, m in combinations(range(len(hypotheses)), 2):
        if regions[k] != regions[m] and agrees(hypotheses[k], seen) and agrees(hypotheses[m], seen):
            for v, bins in enumerate(outcomes):
                if hypotheses[k][u] not in bins or hypotheses[m][u] not in bins:
                    score += p[v] * weights[k] * weights[m]
    return score


def eced_edges(q: Sequence[float], t: ArrayLike) -> float:
    """The expected discount of the edges between classes, against that of an edge of two likeliest classes."""
    t = np.asarray(t, dtype=float)
    score = 0.0
    for v in range(t.shape[1]):
        p = sum(q[y] * t[y, v] for y in range(len(q)))
        likely = [t[y, v] / max(t[y]) for y in range(len(q))]
        for y, z in combinations(range(len(q)), 2):
            score += p * q[y] * q[z] * (max(likely) ** 2 - likely[y] * likely[z])
    return float(score)


def grouped(weights: Mapping[Any, float], key: Callable[[Any], Any]) -> dict[Any, float]:
    """The weights added up by key."""
    sums: dict[Any, float] = {}
    for name, w in weights.items():
        sums[key(name)] = sums.get(key(name), 0.0) + w
    return sums
