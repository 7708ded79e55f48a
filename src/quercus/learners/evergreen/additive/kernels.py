"""An additive model over bins, learned online on top of what trees predict; compiled. See ``docs/evergreen.md``.

It is a softmax of a sum: the logarithm of the trees' probabilities, the log likelihoods of naive Bayes, each times a
weight, and a coefficient for each bin and class. Weights and coefficients follow the gradient of the log loss.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types

from quercus.compile import array_type, kernel
from quercus.decision import decide
from quercus.learners.evergreen.additive.state import (
    COEFFICIENT,
    COUNT,
    ENOUGH,
    ENOUGH_OF_NUMBERS,
    KEPT,
    LEAST_PROBA,
    LEAST_SHARE,
    LOG,
    MOST_MEANS,
    MOST_VISITS,
    STEP,
    WEIGHT,
    AdditiveModel,
    AdditiveState,
    AdditiveWorkspace,
)
from quercus.learners.evergreen.layout import LAST_CATEGORY, LEAST_PART, LOSS_DECAY, NEEDS_EDGES, NEEDS_RESIZE
from quercus.learners.evergreen.reservoir import KEEPING, draw_number, find_bin, round_weight
from quercus.rows import DONE, NOMINAL, NUMERIC, Rows

# Lines of a workspace: the trees' probabilities, their logarithms, naive Bayes, and the probabilities of the model.
TREES, LOG_TREES, SUM, ADDITIVE = range(4)
# Shares of whole numbers of visits may be whole numbers again, but for rounding.
_ROUNDING = 1e-6
_TABLE_SIZE = 4_096
_LOGS = np.log(2.0 * np.arange(_TABLE_SIZE) + 1.0)
# The steps of coefficients, by the visits of their bin.
_STEPS = STEP / np.sqrt(1.0 + 0.5 * np.arange(MOST_VISITS + 1))


@kernel
def make_additive_workspace(features: int, classes: int) -> Any:
    """Return room for one example."""
    return AdditiveWorkspace(np.zeros(features, np.int64), np.zeros(features), np.zeros((4, classes)))


@kernel(inline=True)
def open_additive(state: Any) -> Any:
    """Return the arrays of a state one by one: inner kernels are quicker with these."""
    return AdditiveModel(
        state.sums, state.columns, state.limits, state.kept, state.kept_rows, state.table, state.visits, state.totals
    )


@kernel(inline=True)
def log_count(weight: float) -> float:
    """Return the logarithm of a count and a half, doubled: 0 where nothing was counted; of whole ones from a table.

    The half is that of Krichevsky & Trofimov (1981).
    """
    whole = int(weight)
    return _LOGS[whole] if whole == weight and whole < _TABLE_SIZE else math.log(2.0 * weight + 1.0)


@kernel(no_refcount=True)
def find_bins(model: Any, X: Any, i: int, terms: Any) -> bool:
    """Write the bins of row i, and how much each counts: -1 and 0 where there is none; return whether one lacks."""
    lacking = False
    for f in range(len(model.columns)):
        x, column = X[i, f], model.columns[f]
        bin_id, enough = column.first, ENOUGH
        if x == x and column.kind == NUMERIC:
            bin_id += find_bin(model.bin_edges, f, column.edges, x)
            enough = ENOUGH_OF_NUMBERS
        elif x == x:
            code = min(int(x) + 1, LAST_CATEGORY)
            if column.kind == NOMINAL and x >= 0.0 and code < column.capacity:
                bin_id += code
            else:
                bin_id, lacking = np.int64(-1), True
        terms.bins[f] = bin_id
        terms.shares[f] = min(model.visits[np.uint32(bin_id)] / enough, 1.0) if bin_id >= 0 else 0.0
    return lacking


@kernel(inline=True)
def predict_additive(model: Any, terms: Any, classes: int) -> None:
    """Write what follows from the trees' probabilities, naive Bayes and the coefficients of bins."""
    if classes == 2:
        # The same, compiled for two.
        add_up_features(model, terms, 2)
    else:
        add_up_features(model, terms, classes)


@kernel(inline=True)
def add_up_features(model: Any, terms: Any, classes: int) -> None:
    """Write what follows from the trees' probabilities, naive Bayes and the coefficients of bins."""
    sums, table, lines = model.sums[0], model.table, terms.lines
    largest, whole, counted = -np.inf, 0.0, 0.0
    for k in range(classes):
        lines[LOG_TREES, k] = math.log(max(lines[TREES, k], LEAST_PROBA))
        lines[SUM, k] = 0.0
        lines[ADDITIVE, k] = sums.trees_weight * lines[LOG_TREES, k]
    for f in range(len(model.columns)):
        bin_id, share = terms.bins[f], terms.shares[f]
        if bin_id >= 0:
            at = np.uint32(bin_id)
            counted += share
            for k in range(classes):
                lines[SUM, k] += share * table[at, LOG, k]
                lines[ADDITIVE, k] += table[at, COEFFICIENT, k]
    for k in range(classes):
        lines[SUM, k] -= counted * model.totals[LOG, k]
        lines[ADDITIVE, k] += sums.sum_weight * lines[SUM, k]
        largest = max(largest, lines[ADDITIVE, k])
    for k in range(classes):
        lines[ADDITIVE, k] = math.exp(lines[ADDITIVE, k] - largest)
        whole += lines[ADDITIVE, k]
    for k in range(classes):
        lines[ADDITIVE, k] /= whole


@kernel(inline=True)
def weigh_losses(sums: Any) -> Any:
    """Return how much the trees and the additive model count; where the model does not, 1 and 0."""
    least = min(sums.trees_loss, sums.loss)
    # One of them is 1, and mostly the same one.
    by_trees = math.exp(least - sums.trees_loss) if sums.trees_loss > least else 1.0
    by_additive = math.exp(least - sums.loss) if sums.loss > least else 1.0
    return by_trees, 0.0 if by_additive <= LEAST_PART * (by_trees + by_additive) else by_additive


@kernel(no_refcount=True)
def mix_additive(model: Any, terms: Any, proba: Any, classes: int) -> None:
    """Mix the probabilities of the trees and of the additive model, each by the exponential of its decayed log loss.

    Bayesian averaging with forgetting (Raftery, Karny & Ettler, 2010).
    """
    sums, lines = model.sums[0], terms.lines
    for k in range(classes):
        lines[TREES, k] = proba[k]
    predict_additive(model, terms, classes)
    by_trees, by_additive = weigh_losses(sums)
    for k in range(classes):
        proba[k] = (by_trees * proba[k] + by_additive * lines[ADDITIVE, k]) / (by_trees + by_additive)


@kernel(inline=True)
def mean_bins(sums: Any) -> float:
    """Return how many bins a feature has, in the mean, without those for missing values; at least 1."""
    return max(sums.known, 1) / max(sums.came, 1)


@kernel(no_refcount=True)
def learn_additive(model: Any, terms: Any, X: Any, i: int, label: int, w: float, is_judged: bool) -> None:
    """Learn the label of a row that was answered; losses too, if the answer is to be judged by it.

    The weights of the trees and of naive Bayes make a gradient step each, by AdaGrad (Duchi, Hazan & Singer, 2011), but
    not below 0.
    """
    sums, lines, totals = model.sums[0], terms.lines, model.totals
    features, slope, trees_slope = len(model.columns), 0.0, 0.0
    sums.weight += w
    step = min(w * (sums.seen + 1) / sums.weight, MOST_MEANS)
    if is_judged:
        sums.trees_loss = LOSS_DECAY * sums.trees_loss - w * math.log(max(lines[TREES, label], LEAST_SHARE))
        sums.loss = LOSS_DECAY * sums.loss - w * math.log(max(lines[ADDITIVE, label], LEAST_SHARE))
    lines[ADDITIVE, label] -= 1.0
    for k in range(sums.classes):
        lines[ADDITIVE, k] *= step
        slope += lines[ADDITIVE, k] * lines[SUM, k]
        trees_slope += lines[ADDITIVE, k] * lines[LOG_TREES, k]
    root = math.sqrt(float(features))
    sums.sum_accumulator += slope * slope
    sums.sum_weight = max(0.0, sums.sum_weight - STEP * slope / (root * math.sqrt(sums.sum_accumulator + 1.0)))
    sums.trees_accumulator += trees_slope * trees_slope
    sums.trees_weight = max(0.0, sums.trees_weight - STEP * trees_slope / math.sqrt(sums.trees_accumulator + 1.0))
    if sums.classes == 2:
        update_coefficients(model, terms, label, w, 1.0 / root, 2)
    else:
        update_coefficients(model, terms, label, w, 1.0 / root, sums.classes)
    totals[WEIGHT, label] += w
    totals[LOG, label] = math.log(2.0 * totals[WEIGHT, label] + mean_bins(sums))
    sample_values(model, X, i, label, w)


@kernel(inline=True)
def update_coefficients(model: Any, terms: Any, label: int, w: float, rate: float, classes: int) -> None:
    """Let the coefficients of a row's bins make a gradient step, and count its label in the bins.

    Steps are those of AdaGrad with the visits of a bin in place of squared gradients (McMahan et al., 2013).
    """
    table, visits, lines = model.table, model.visits, terms.lines
    for f in range(len(model.columns)):
        bin_id, column = np.uint32(terms.bins[f]), model.columns[f]
        visits[bin_id] += 1.0
        step = rate * _STEPS[np.uint32(min(visits[bin_id] + _ROUNDING, MOST_VISITS))]
        for k in range(classes):
            table[bin_id, COEFFICIENT, k] -= step * lines[ADDITIVE, k]
        table[bin_id, COUNT, label] += w
        table[bin_id, LOG, label] = log_count(table[bin_id, COUNT, label])
        if bin_id > column.first:
            record_bins(model, column, column.edges + 1 if column.kind == NUMERIC else bin_id - column.first)


@kernel(inline=True)
def record_bins(model: Any, column: Any, bins: int) -> None:
    """Take in that a feature has so many bins, if it had fewer."""
    if bins > column.known:
        model.sums[0].known += bins - column.known
        model.sums[0].came += column.known == 0
        column.known = bins
        renew_totals(model)


@kernel(no_refcount=True)
def renew_totals(model: Any) -> None:
    """Bring the logarithms of the classes' weights up to date: they depend on the number of bins."""
    totals, bins = model.totals, mean_bins(model.sums[0])
    for k in range(totals.shape[1]):
        totals[LOG, k] = math.log(2.0 * totals[WEIGHT, k] + bins)


@kernel(no_refcount=True)
def sample_values(model: Any, X: Any, i: int, label: int, w: float) -> None:
    """Keep a row, or not: reservoir sampling (algorithm R: Vitter, 1985)."""
    sums = model.sums[0]
    place = sums.seen
    if place >= KEPT:
        place = int(draw_number(sums.seed, KEEPING, sums.seen) * (sums.seen + 1))
    if place < KEPT:
        for f in range(len(model.columns)):
            model.kept[place, f] = X[i, f]
        model.kept_rows[place].label, model.kept_rows[place].weight = label, w
    sums.seen += 1


@kernel(inline=True)
def is_on(model: Any) -> bool:
    """Return whether there is an additive model."""
    return model.sums[0].off == 0 and len(model.columns) > 0


@kernel(inline=True)
def needs_edges(sums: Any) -> bool:
    """Return whether bin edges are to be drawn."""
    return sums.seen >= 2 * sums.drawn and sums.off == 0


@kernel(
    types.void,
    AdditiveState.numba_type,
    array_type(np.float64, 2, readonly=True),
    types.int64,
    types.int64,
    array_type(np.float64, 1),
)
def write_contributions(state: Any, X: Any, label: int, other: int, parts: Any) -> None:
    """Write by how much each value of a row speaks for one class against another."""
    model = open_additive(state)
    sums, table, totals = model.sums[0], model.table, model.totals
    terms = make_additive_workspace(len(model.columns), 0)
    find_bins(model, X, np.int64(0), terms)
    for f in range(len(model.columns)):
        bin_id = terms.bins[f]
        if bin_id >= 0:
            logs = table[bin_id, LOG, label] - table[bin_id, LOG, other] - totals[LOG, label] + totals[LOG, other]
            coefficients = table[bin_id, COEFFICIENT, label] - table[bin_id, COEFFICIENT, other]
            parts[f] = sums.sum_weight * terms.shares[f] * logs + coefficients


@kernel(
    types.UniTuple(types.int64, 2),
    AdditiveState.numba_type,
    Rows.numba_type,
    array_type(np.int64, 1, readonly=True),
    array_type(np.float64, 2, readonly=True),
    types.int64,
)
def sum_rows(state: Any, rows: Any, order: Any, loss: Any, start: int) -> Any:
    """Answer rows by the trees' probabilities (in ``proba``) and the additive model, and learn those that have labels.

    Returns the row to go on from, and why it stopped.
    """
    model, X, y, w, answers, proba = open_additive(state), rows.X, rows.y, rows.weight, rows.answers, rows.proba
    sums, totals = model.sums[0], model.totals
    terms, classes = make_additive_workspace(len(model.columns), proba.shape[1]), sums.classes
    for i in range(start, len(X)):
        lacking, label = find_bins(model, X, i, terms), y[i] if i < len(y) and w[i] > 0.0 else np.int64(-1)
        if label >= totals.shape[1] or (label >= 0 and lacking):
            return i, NEEDS_RESIZE
        if classes > 0:
            mix_additive(model, terms, proba[i], classes)
            answers[i] = decide(proba[i], order, loss, classes)
        if label < 0:
            continue
        is_known = label < classes
        if not is_known:
            for k in range(classes, label + 1):
                terms.lines[TREES, k] = 0.0
            sums.classes = classes = label + 1
            predict_additive(model, terms, classes)
        # Trees could not predict a class that nobody knew.
        learn_additive(model, terms, X, i, label, round_weight(w[i]), is_known)
        if needs_edges(sums):
            return i + 1, NEEDS_EDGES
    return len(X), DONE
