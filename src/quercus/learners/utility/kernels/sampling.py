"""Samples of P(bin | class) from its Dirichlet posterior, by gamma variables; compiled.

G. Marsaglia, W. W. Tsang: A Simple Method for Generating Gamma Variables. ACM TOMS, 2000. To plan by a sample while
learning is Thompson sampling (Biometrika, 1933).
"""

from __future__ import annotations

from math import log, sqrt
from typing import Any

from quercus.compile import kernel
from quercus.randomness import draw_uniform


@kernel(no_refcount=True)
def draw_normal(generator: Any) -> float:
    """Return a standard normal number, by the polar method (Marsaglia & Bray, 1964)."""
    while True:
        a = 2.0 * draw_uniform(generator) - 1.0
        b = 2.0 * draw_uniform(generator) - 1.0
        s = a * a + b * b
        if 0.0 < s < 1.0:
            return a * sqrt(-2.0 * log(s) / s)


@kernel(no_refcount=True)
def draw_gamma(generator: Any, shape: float) -> float:
    """Return a gamma variable of scale 1, after Marsaglia and Tsang; below a shape of 1 by one of shape + 1."""
    boost = 1.0
    if shape < 1.0:
        boost = (1.0 - draw_uniform(generator)) ** (1.0 / shape)
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / sqrt(9.0 * d)
    while True:
        x = draw_normal(generator)
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        u = 1.0 - draw_uniform(generator)
        square = x * x
        if u < 1.0 - 0.0331 * square * square or log(u) < 0.5 * square + d * (1.0 - v + log(v)):
            return boost * d * v


@kernel
def draw_bins(settings: Any, state: Any, theta: Any, f: int, y: int, generator: Any) -> None:
    """Draw P(bin | class) of a feature from its Dirichlet: gamma variables over their sum."""
    first, bins = state.features[f].first, state.features[f].bins
    total = 0.0
    for bin_id in range(first, first + bins):
        shape = settings.prior / bins + state.counts[bin_id, y] / state.options[0].unit
        theta[bin_id, y] = draw_gamma(generator, shape)
        total += theta[bin_id, y]
    for bin_id in range(first, first + bins):
        theta[bin_id, y] = theta[bin_id, y] / total if total > 0.0 else 1.0 / bins
    if bins == 0:
        # The one bin of a feature of which nothing is known has no place, but is drawn in its turn.
        draw_gamma(generator, settings.prior)
