"""Finding the split of a node by cuts drawn at random, one for each feature; compiled.

Extremely randomized trees (Geurts, Ernst & Wehenkel, 2006), whose splits are chosen by the second-order gain of
boosting (Chen & Guestrin, 2016). There are no histograms but those of categories, which are sorted by their gradients
(Fisher, 1958), with a penalty for rare ones (as in LightGBM: Ke et al., 2017).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from quercus.compile import kernel
from quercus.learners.evergreen.boosting.layout import (
    CATEGORY_PENALTY,
    EQUAL,
    FEW_FEATURES,
    LEAF_PENALTY,
    LEAST_GAIN,
    RANK_GRAIN,
    VOTER_FEATURES,
    VOTER_GAIN,
    VOTER_PENALTY,
)
from quercus.learners.evergreen.layout import LAST_CATEGORY, MISSING, MOST_CODES
from quercus.learners.evergreen.reservoir import draw_number
from quercus.rows import NOMINAL, NUMERIC

_FEATURE, _CUT, _SIDE = range(3)
_ONE, _ALL = np.uint8(1), np.uint8(255)


@kernel(inline=True)
def draw_for(seed: np.uint64, node: int, features: int, f: int, purpose: int) -> float:
    """Return a number from 0 to 1 that belongs to a feature at a node."""
    return draw_number(seed, 8 + purpose, node * features + f)


@kernel(no_refcount=True)
def clear_measures(fit: Any) -> None:
    """Forget what is known of a node."""
    for f in range(len(fit.features)):
        feature = fit.features[f]
        feature.low, feature.high, feature.least = _ALL, np.uint8(0), _ALL
    for k in range(len(fit.totals)):
        fit.totals[k] = 0.0


@kernel(inline=True)
def find_outputs(fit: Any, row: int, votes: bool) -> Any:
    """Return which outputs a row has gradients of: the first, and the one behind the last."""
    outputs = fit.gradients.shape[1]
    if votes and outputs > 1:
        label = np.int64(fit.rows[row].label)
        return label, label + 1
    return 0, outputs


@kernel(no_refcount=True)
def measure_rows(fit: Any, workspace: Any, start: int, stop: int, votes: bool) -> None:
    """Take some rows of a node into the range of codes of each feature, and into the sums of gradients."""
    features, outputs = fit.codes.shape[1], fit.gradients.shape[1]
    lows, highs, leasts = workspace.lows, workspace.highs, workspace.leasts
    for f in range(features):
        lows[f], highs[f], leasts[f] = _ALL, np.uint8(0), _ALL
    for i in range(start, stop):
        row = np.uint32(fit.places[0, i])
        for f in range(features):
            code = fit.codes[row, np.uint32(f)]
            # A missing value, 0, becomes the largest.
            lows[f] = min(lows[f], np.uint8(code - _ONE))
            highs[f] = max(highs[f], code)
            leasts[f] = min(leasts[f], code)
        first, last = find_outputs(fit, row, votes)
        for k in range(first, last):
            fit.totals[k] += fit.gradients[row, k]
        fit.totals[outputs] += fit.hessians[row]
    for f in range(features):
        feature = fit.features[f]
        feature.low, feature.high = min(feature.low, lows[f]), max(feature.high, highs[f])
        feature.least = min(feature.least, leasts[f])


@kernel(inline=True)
def feature_share(features: int, votes: bool) -> float:
    """Return the share of features that a node looks at: of many no more than a few, or the square root."""
    return min(1.0, max(VOTER_FEATURES if votes else FEW_FEATURES, math.sqrt(float(features))) / features)


@kernel(no_refcount=True)
def draw_cuts(fit: Any, seed: np.uint64, node: int, share: float) -> int:
    """Draw the cut of each feature that the node looks at, and on which side missing values are; return how many."""
    n_features, live = len(fit.features), 0
    for f in range(n_features):
        feature = fit.features[f]
        low, high, misses = np.int64(feature.low) + 1, np.int64(feature.high), feature.least == MISSING
        feature.cut, feature.offset, feature.live = np.uint8(0), np.uint8(0), np.uint8(0)
        varies = feature.high > feature.least
        if not varies or draw_for(seed, node, n_features, f, _FEATURE) >= share:
            continue
        feature.live, live = _ONE, live + 1
        if feature.kind != NUMERIC:
            continue
        missing_right = misses and (low == high or draw_for(seed, node, n_features, f, _SIDE) < 0.5)
        # Up to the largest, where only missing values are on the right.
        choices = high - low + (1 if missing_right else 0)
        cut = low + int(draw_for(seed, node, n_features, f, _CUT) * choices)
        feature.offset = _ONE if missing_right else np.uint8(0)
        feature.cut = np.uint8(cut - np.int64(feature.offset))
    clear_sums(fit)
    return live


@kernel(no_refcount=True)
def clear_sums(fit: Any) -> None:
    """Empty the sums on the left of cuts, and those of the categories that occur."""
    for at in range(len(fit.lefts)):
        fit.lefts[at] = 0.0
    for f in range(len(fit.features)):
        feature = fit.features[f]
        if feature.live and feature.kind == NOMINAL:
            for code in range(feature.least, feature.high + 1):
                for k in range(fit.bins.shape[1]):
                    fit.bins[feature.first + code, k] = 0.0


@kernel(no_refcount=True)
def sum_lefts(fit: Any, workspace: Any, count: int, start: int, stop: int, votes: bool) -> None:
    """Sum up some rows of a node on the left of the cuts of so many features: of each output side by side.

    Without branches, since on which side a row lies is hard to foretell for a processor.
    """
    outputs, live, cuts = fit.gradients.shape[1], workspace.live, workspace.cuts
    offsets, is_left = workspace.offsets, workspace.is_left
    for i in range(start, stop):
        row = np.uint32(fit.places[0, i])
        for j in range(count):
            code = fit.codes[row, np.uint32(live[j])]
            is_left[j] = 1.0 if np.uint8(code - offsets[j]) <= cuts[j] else 0.0
        first, last = find_outputs(fit, row, votes)
        for k in range(first, last + 1):
            share = fit.gradients[row, np.uint32(k)] if k < last else fit.hessians[row]
            begin = (k if k < last else outputs) * count
            for j in range(count):
                fit.lefts[np.uint32(begin + j)] += is_left[j] * share


@kernel(no_refcount=True)
def sum_categories(fit: Any, f: int, start: int, stop: int, votes: bool) -> None:
    """Sum up some rows of a node by their categories."""
    outputs, begin = fit.gradients.shape[1], fit.features[f].first
    for i in range(start, stop):
        row = np.uint32(fit.places[0, i])
        at = np.uint32(begin + fit.codes[row, np.uint32(f)])
        first, last = find_outputs(fit, row, votes)
        for k in range(first, last):
            fit.bins[at, np.uint32(k)] += fit.gradients[row, np.uint32(k)]
        fit.bins[at, np.uint32(outputs)] += fit.hessians[row]


@kernel(no_refcount=True)
def sum_rows_of_node(fit: Any, workspace: Any, start: int, stop: int, votes: bool) -> None:
    """Sum up some rows of a node: on the left of cuts, and by categories."""
    count = 0
    for f in range(len(fit.features)):
        feature = fit.features[f]
        if feature.live and feature.kind == NOMINAL:
            sum_categories(fit, f, start, stop, votes)
        elif feature.live:
            workspace.live[count], workspace.cuts[count], workspace.offsets[count] = f, feature.cut, feature.offset
            count += 1
    sum_lefts(fit, workspace, count, start, stop, votes)


@kernel(inline=True)
def square_ratio(gradient: float, hessian: float, penalty: float) -> float:
    """Return by how much a leaf lowers the loss, doubled; of votes how much purer it is (Gini)."""
    return gradient * gradient / (hessian + penalty)


@kernel
def choose_split(fit: Any, votes: bool, seed: np.uint64, node: int) -> None:
    """Write the best of all cuts and sets of categories into the head of a fit; feature -1 if none is worth it."""
    head, outputs, count, at = fit.head[0], fit.gradients.shape[1], 0, -1
    whole, unsplit, penalty = fit.totals[outputs], 0.0, VOTER_PENALTY if votes else LEAF_PENALTY
    for k in range(outputs):
        unsplit += square_ratio(fit.totals[k], whole, penalty)
    for f in range(len(fit.features)):
        count += fit.features[f].live != 0 and fit.features[f].kind == NUMERIC
    head.feature, head.gain = -1, VOTER_GAIN if votes else LEAST_GAIN
    for f in range(len(fit.features)):
        feature = fit.features[f]
        if not feature.live:
            continue
        if feature.kind == NOMINAL:
            draw = draw_for(seed, node, len(fit.features), f, _CUT) if votes else -1.0
            choose_categories(fit, f, unsplit, penalty, draw)
            continue
        at += 1
        gain, left = -unsplit, fit.lefts[outputs * count + at]
        for k in range(outputs):
            part = fit.lefts[k * count + at]
            gain += square_ratio(part, left, penalty) + square_ratio(fit.totals[k] - part, whole - left, penalty)
        if gain > head.gain * EQUAL:
            head.gain, head.feature = gain, f
            head.cut = np.int64(feature.cut) + np.int64(feature.offset)
            head.missing_left = 0 if feature.offset else 1


@kernel
def choose_categories(fit: Any, f: int, unsplit: float, penalty: float, draw: float) -> None:
    """See whether a set of categories of a feature is better than what was found: a beginning of their order.

    They are sorted by the output whose gradients differ most among them. Where a number is drawn, one category stands
    against the others.
    """
    head, outputs, feature, bins = fit.head[0], fit.gradients.shape[1], fit.features[f], fit.bins
    codes, ranks, lefts = np.empty(MOST_CODES + 1, np.int64), np.empty(MOST_CODES + 1), np.zeros(outputs)
    main, spread, whole, count = 0, -1.0, fit.totals[outputs], 0
    for code in range(feature.least, feature.high + 1):
        if bins[feature.first + code, outputs] > 0.0:
            codes[count] = feature.first + code
            count += 1
    for k in range(outputs):
        apart = 0.0
        for j in range(count):
            apart += square_ratio(bins[codes[j], k], bins[codes[j], outputs], penalty)
        if apart > spread * EQUAL:
            main, spread = k, apart
    for j in range(count):
        ranks[j] = math.floor(bins[codes[j], main] / (bins[codes[j], outputs] + CATEGORY_PENALTY) / RANK_GRAIN + 0.5)
    order, left, best, tried = np.argsort(ranks[:count], kind="mergesort"), 0.0, -1, count - 1
    if draw >= 0.0:
        order[0], tried = int(draw * count), 1
    for j in range(tried):
        at, gain = codes[order[j]], -unsplit
        left += bins[at, outputs]
        for k in range(outputs):
            lefts[k] += bins[at, k]
            gain += square_ratio(lefts[k], left, penalty) + square_ratio(
                fit.totals[k] - lefts[k], whole - left, penalty
            )
        if gain > head.gain * EQUAL:
            head.gain, head.feature, best = gain, f, j
    if best >= 0:
        for word in range(4):
            fit.chosen[word] = np.uint64(0)
        for j in range(best + 1):
            code = min(codes[order[j]] - feature.first, LAST_CATEGORY)
            fit.chosen[code >> 6] |= np.uint64(1) << np.uint64(code & 63)
