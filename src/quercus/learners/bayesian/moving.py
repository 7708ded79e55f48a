"""How the splits of a forest become splits of another encoding that divide every row as before.

With z = T z' between the numbers of a row in a part's encoding and in the common one, a split with mean T' mu and
covariance T' Sigma T divides every row as before. T is affine by column, and what it shifts falls to the bias.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from quercus.learners.bayesian.layout import SEES_PROJECTION, SEES_SUBSET
from quercus.learners.bayesian.state import ForestState
from quercus.predictor import Floats, Integers

# The variances of a split are kept, on average, within these, as the kernels do.
_LARGE, _SMALL, _STEP = 2.0**20, 2.0**-20, 2.0**10
# A variance is at least the floor times the largest in its split; beyond this share of that the answers change.
_BLUR = 0.01


class Part(NamedTuple):
    """A copy of one forest that knows all that any of them knows, and where that is in the common encoding.

    By its own numbers: ``features``, ``labels`` and, for each feature, ``codes`` are the common numbers of features,
    classes and categories.
    """

    arrays: ForestState
    features: Integers
    codes: list[Integers]
    labels: Integers


class Move(NamedTuple):
    """How the columns of a part become common ones: its own z of column c is scale z' + shift of column place."""

    place: Integers
    scale: Floats
    shift: Floats


def find_move(part: Part, first: ForestState, features: npt.NDArray[np.void]) -> Move:
    """Return which common column each column of a part is, and how its numbers follow from the common ones."""
    count = first.n_columns
    known = first.columns[:count]
    places = {pair: k for k, pair in enumerate(zip(known["feature"].tolist(), known["category"].tolist(), strict=True))}
    place, scale, shift = np.zeros(count, np.int64), np.ones(count), np.zeros(count)
    for c in range(1, count):
        j, category = int(part.arrays.columns["feature"][c]), int(part.arrays.columns["category"][c])
        feature = int(part.features[j])
        place[c] = places[feature, category if category < 0 else int(part.codes[j][category])]
        if category < 0 and first.options["scaled"][0]:
            own, whole = part.arrays.features[j], features[feature]
            scale[c], shift[c] = _rescale(*(float(f[end]) for f in (own, whole) for end in ("low", "high")))
    return Move(place, scale, shift)


def _rescale(own_low: float, own_high: float, low: float, high: float) -> tuple[float, float]:
    """Return a, b with z = a z' + b, for z scaled by a part's own range and z' by the whole.

    Examples
    --------
    >>> _rescale(0.0, 10.0, 0.0, 20.0), _rescale(-1.0, 1.0, -1.0, 5.0), _rescale(5.0, 5.0, 0.0, 20.0)
    ((2.0, 1.0), (3.0, 2.0), (1.0, 0.5))
    """
    if (low >= -1.0 and high <= 1.0) or own_low > own_high:
        return 1.0, 0.0
    # Halves, since the range of two large numbers may overflow.
    half, own_half = 0.5 * high - 0.5 * low, 0.5 * own_high - 0.5 * own_low
    if own_low >= -1.0 and own_high <= 1.0:
        return half, 0.5 * high + 0.5 * low
    if own_half <= 0.0:
        # Always 0 so far, which told nothing: from here on it counts how far a value is from the one that was seen.
        return 1.0, 1.0 - 2.0 * ((0.5 * own_low - 0.5 * low) / half) if half > 0.0 else 0.0
    return half / own_half, 2.0 * ((0.5 * low - 0.5 * own_low) / own_half) + half / own_half - 1.0


def check_scales(k: int, part: Part, move: Move, names: Sequence[str]) -> None:
    """Refuse ranges too far apart to compute with; warn where a split would be less sharp than it was."""
    option, c = part.arrays.options[0], int(move.scale.argmax())
    widest, name = float(move.scale[c]), names[part.features[part.arrays.columns["feature"][c]]]
    said = f"the values of column {name!r} in forest {k} cover 1 / {widest:.3g} of the range in all forests"
    if not widest <= option["largest"]:
        raise ValueError(
            f"{said}, too little for {part.arrays.dtype}; leave forest {k} out, or learn without outliers."
        )
    if option["sight"] != SEES_PROJECTION and option["floor"] * widest**2 > _BLUR:
        text = f"{said}, so that {part.arrays.dtype} makes its splits less sharp; scale the column before learning it."
        warnings.warn(text, UserWarning, stacklevel=5)


def join_columns(parts: Sequence[Part], moves: Sequence[Move]) -> npt.NDArray[np.void]:
    """Return the columns in the order of the first part, with means and variances over all, in the common scale."""
    columns: npt.NDArray[np.void] = parts[0].arrays.columns[: parts[0].arrays.n_columns].copy()
    for name in ("weight", "mean", "squares"):
        columns[name] = 0.0
    for part, move in zip(parts, moves, strict=True):
        own, sums = part.arrays.columns[: len(columns)], columns[move.place]
        total = sums["weight"] + own["weight"]
        share = np.divide(own["weight"], total, out=np.zeros(len(own)), where=total > 0.0)
        off = (own["mean"] - move.shift) / move.scale - sums["mean"]
        sums["squares"] += own["squares"] / move.scale**2 + off * off * sums["weight"] * share
        sums["mean"] += off * share
        sums["weight"] = total
        columns[move.place] = sums
    return columns


def move_nodes(part: Part, move: Move) -> None:
    """Bring all splits of a part to the common columns, in place."""
    arrays = part.arrays
    sight, count = int(arrays.options["sight"][0]), arrays.n_columns
    if sight == SEES_SUBSET:
        chosen = np.empty_like(arrays.chosen)
        chosen[:, part.features] = arrays.chosen
        arrays.chosen = chosen
    for n, size in enumerate(arrays.nodes["size"].tolist()):
        if sight == SEES_PROJECTION:
            moved = np.zeros((count, arrays.maps.shape[2]))
            moved[move.place] = move.scale[:, None] * arrays.maps[n, :count]
            moved[0] += move.shift @ arrays.maps[n, :count]
            arrays.maps[n, :count] = moved
        elif sight == SEES_SUBSET:
            seen = arrays.picks[n, :size]
            _move_split(arrays, n, np.arange(size), move.scale[seen], move.shift[seen])
            arrays.picks[n, :size] = move.place[seen]
        else:
            _move_split(arrays, n, move.place, move.scale, move.shift)


def _move_split(arrays: ForestState, n: int, place: Integers, scale: Floats, shift: Floats) -> None:
    """Give a split the mean T' mu and the covariance T' Sigma T; its first weight is that of the bias."""
    mu, sigma = arrays.mu[n, : len(place)].astype(np.float64), arrays.covariance(n)
    bias = shift.copy()
    bias[0] = 1.0
    moved = scale * mu
    moved[0] = bias @ mu
    if sigma.ndim == 1:
        spread = sigma * scale**2
        spread[0] = sigma @ bias**2
    else:
        spread = sigma * np.outer(scale, scale)
        spread[0] = spread[:, 0] = scale * (sigma @ bias)
        spread[0, 0] = bias @ sigma @ bias
    _write_split(arrays, n, place, *_into_band(moved, spread))


def _into_band(mu: Floats, sigma: Floats) -> tuple[Floats, Floats]:
    """Scale both together by powers of two, on which nothing depends, until the variances are in their band."""
    mean = float(sigma.sum() if sigma.ndim == 1 else np.trace(sigma)) / len(mu)
    while mean > _LARGE:
        mu, sigma, mean = mu / _STEP, sigma / _STEP**2, mean / _STEP**2
    while 0.0 < mean < _SMALL:
        mu, sigma, mean = mu * _STEP, sigma * _STEP**2, mean * _STEP**2
    return mu, sigma


def _write_split(arrays: ForestState, n: int, place: Integers, mu: Floats, sigma: Floats) -> None:
    """Set mean and covariance of a split, its weights in their new places; nothing waits any more."""
    arrays.mu[n, place] = mu
    arrays.variances[n, place] = np.maximum(sigma if sigma.ndim == 1 else np.diagonal(sigma), 0.0)
    if sigma.ndim == 2:
        arrays.sigma[n][np.ix_(place, place)] = sigma
    arrays.waiting[n] = arrays.signs[n] = 0
    node, variances = arrays.nodes[n], arrays.variances[n].astype(np.float64)
    node["waits"], node["inflation"], node["trace"], node["top"] = 0, 1.0, variances.sum(), variances.max()
