"""The probabilities that a case is planned and answered with: the mean, or a sample; compiled."""

from __future__ import annotations

from math import exp, log2
from typing import Any

import numpy as np

from quercus.acquisition.kernels import find_bin, seed_generator
from quercus.acquisition.layout import KNOWN
from quercus.compile import kernel
from quercus.learners.utility.kernels.hypotheses import make_hypotheses
from quercus.learners.utility.kernels.information import draw_samples
from quercus.learners.utility.kernels.layout import (
    EC2,
    EXP3,
    EXPLORES,
    IG,
    MOST_LIKELY,
    MOST_SAMPLES,
    RANDOM,
    TENTHS,
    new_posterior,
)
from quercus.learners.utility.kernels.pairs import bin_range, share_by_partner
from quercus.learners.utility.kernels.sampling import draw_bins
from quercus.randomness import draw_uniform
from quercus.rows import NUMERIC

_ETA = 0.01
_SMALLEST = 2.0**-512


@kernel
def make_posterior(settings: Any, state: Any, items: int, explores: int, generator: Any) -> Any:
    """Return an empty one."""
    features, classes = len(state.features), len(state.weights)
    most = settings.hypotheses
    samples = max(MOST_SAMPLES, classes * (MOST_SAMPLES // MOST_LIKELY)) if settings.worth > 0.0 else 0
    return new_posterior(
        np.zeros((len(state.counts), classes)),
        np.zeros((features, classes)),
        np.zeros(classes),
        np.full(features, -1),
        np.ones(features),
        np.zeros(features),
        np.zeros((most, features), np.int32),
        np.zeros(most),
        np.zeros(most, np.int64),
        np.zeros(most, np.uint8),
        np.zeros(4 * most + 1, np.int64),
        np.zeros((samples, features)),
        np.zeros((samples, features), np.int32),
        np.zeros(features, np.uint8),
        np.ones(items, np.uint8),
        np.array([explores, 0]),
        generator,
    )


@kernel
def fill_classes(settings: Any, state: Any, posterior: Any) -> None:
    """Write P(class): the mean of its Dirichlet of one example each, or uniform."""
    classes = state.options[0].classes
    total = 0.0
    for y in range(classes):
        posterior.classes[y] = 1.0 if settings.uniform else state.weights[y] / state.options[0].unit + 1.0
        total += posterior.classes[y]
    for y in range(classes):
        posterior.classes[y] /= total


@kernel
def measure_bins(settings: Any, state: Any, posterior: Any, f: int, y: int) -> None:
    """Write the entropy of P(bin | class) of a feature, in bits, where it is needed."""
    if settings.objective != IG:
        return
    first = state.features[f].first
    entropy = 0.0
    for bin_id in range(first, first + state.features[f].bins):
        p = posterior.theta[bin_id, y]
        if p > 0.0:
            entropy -= p * log2(p)
    posterior.entropy[f, y] = entropy


@kernel
def average_bins(settings: Any, state: Any, posterior: Any, f: int, y: int) -> None:
    """Write the mean of P(bin | class) of a feature: that of its Dirichlet."""
    first, bins, unit = state.features[f].first, state.features[f].bins, state.options[0].unit
    total = settings.prior + state.totals[f, y] / unit
    for bin_id in range(first, first + bins):
        posterior.theta[bin_id, y] = (settings.prior / bins + state.counts[bin_id, y] / unit) / total
    measure_bins(settings, state, posterior, f, y)


@kernel
def fill_posterior(settings: Any, state: Any, posterior: Any, seed: np.uint64) -> None:
    """Write P(bin | class) and P(class): their means or, for a case that explores, a sample (Thompson, 1933)."""
    seed_generator(posterior.generator[0], seed)
    fill_classes(settings, state, posterior)
    for y in range(state.options[0].classes):
        for f in range(len(state.features)):
            if posterior.facts[EXPLORES] and settings.lookahead < 2:
                draw_bins(settings, state, posterior.theta, f, y, posterior.generator[0])
                measure_bins(settings, state, posterior, f, y)
            else:
                average_bins(settings, state, posterior, f, y)


@kernel
def pick_edges(state: Any, posterior: Any) -> None:
    """Choose the edge of each feature that is asked about: drawn after Exp3 (Auer et al., 2002), or the favourite."""
    favour = state.favour
    for f in range(len(favour)):
        posterior.picked[f] = -1
        if state.features[f].kind != NUMERIC or state.features[f].bins != TENTHS:
            continue
        best = 0
        for k in range(1, TENTHS - 1):
            if favour[f, k] > favour[f, best]:
                best = k
        if posterior.facts[EXPLORES]:
            total = 0.0
            for k in range(TENTHS - 1):
                total += exp(_ETA * (favour[f, k] - favour[f, best]))
            rest, k = draw_uniform(posterior.generator[0]) * total, 0
            share = exp(_ETA * (favour[f, 0] - favour[f, best]))
            while k < TENTHS - 2 and rest >= share:
                rest -= share
                k += 1
                share = exp(_ETA * (favour[f, k] - favour[f, best]))
            best = k
            posterior.chance[f] = share / total
        posterior.picked[f] = best


@kernel
def draw_rest(settings: Any, state: Any, posterior: Any, order: Any, loss: Any, r: Any, stops: bool) -> None:
    """Draw what a plan needs besides probabilities: edges, random scores, what scores or stops cases."""
    if not posterior.facts[EXPLORES]:
        seed_generator(posterior.generator[0], state.options[0].seed)
    if state.options[0].numeric == EXP3:
        pick_edges(state, posterior)
    if settings.objective == RANDOM:
        for f in range(len(posterior.luck)):
            posterior.luck[f] = draw_uniform(posterior.generator[0])
    if settings.hypotheses > 0 and (stops or settings.objective == EC2):
        make_hypotheses(settings, state, posterior, order, loss, r)
    if settings.worth > 0.0 and stops:
        draw_samples(posterior, state.options[0].classes)


@kernel(inline=True, no_refcount=True)
def weigh_classes(q: Any, theta: Any, low: int, high: int, classes: int) -> None:
    """Multiply the weight of each class by the probability of bins low .. high; small weights are all made larger."""
    top = 0.0
    for y in range(classes):
        p = theta[low, y]
        for bin_id in range(low + 1, high):
            p += theta[bin_id, y]
        q[y] *= p
        top = max(top, q[y])
    for y in range(classes if top < _SMALLEST else 0):
        q[y] /= _SMALLEST


@kernel
def weigh_known(state: Any, posterior: Any, row: Any, status: Any, edge: Any, partner: Any, q: Any) -> None:
    """Write the weight of each class by the known values that count by themselves: naive Bayes."""
    classes = state.options[0].classes
    for y in range(classes):
        q[y] = posterior.classes[y]
    for f in range(len(status)):
        bin_id = find_bin(state.features, state.edges, f, row[f]) if status[f] == KNOWN else -1
        if bin_id >= 0 and partner[f] < 0:
            first = state.features[f].first
            low, high = bin_range(bin_id, edge[f], state.features[f].bins)
            weigh_classes(q, posterior.theta, first + low, first + high, classes)


@kernel
def weigh_partners(prior: float, state: Any, work: Any, row: Any, status: Any, q: Any) -> None:
    """Multiply the weight of each class by those known values that count given another: Bayes' rule."""
    for f in range(len(status)):
        bin_id = find_bin(state.features, state.edges, f, row[f]) if status[f] == KNOWN else -1
        if bin_id >= 0 and work.partner[f] >= 0:
            share_by_partner(state, work, prior, row, f)
            low, high = bin_range(bin_id, work.edge[f], state.features[f].bins)
            weigh_classes(q, work.shares, low, high, state.options[0].classes)


@kernel(no_refcount=True)
def share_weights(q: Any, classes: int) -> None:
    """Divide the weights of the classes by their sum; without any they are even."""
    total = 0.0
    for y in range(classes):
        total += q[y]
    for y in range(classes):
        q[y] = q[y] / total if total > 0.0 else 1.0 / classes
