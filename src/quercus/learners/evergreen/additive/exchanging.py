"""Another label for a row that an additive model has learned; compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from quercus.compile import array_type, kernel
from quercus.learners.evergreen.additive.kernels import (
    find_bins,
    log_count,
    make_additive_workspace,
    open_additive,
    renew_totals,
)
from quercus.learners.evergreen.additive.state import COUNT, KEPT, LOG, WEIGHT, AdditiveState


@kernel(
    types.void,
    AdditiveState.numba_type,
    array_type(np.float64, 2, readonly=True),
    types.int64,
    types.int64,
    types.float64,
)
def exchange_additive(state: Any, X: Any, was: int, label: int, w: float) -> None:
    """Count a row under another label, as far as its bins still have it: some were split, and after alarms they fade.

    Weights and coefficients stay: a step back and one for the right label were tried, and made answers worse.
    """
    model = open_additive(state)
    table, totals = model.table, model.totals
    terms = make_additive_workspace(len(model.columns), 0)
    find_bins(model, X, np.int64(0), terms)
    for f in range(len(model.columns)):
        bin_id = terms.bins[f]
        if bin_id >= 0:
            moved = min(w, table[bin_id, COUNT, was])
            table[bin_id, COUNT, was] -= moved
            table[bin_id, COUNT, label] += moved
            table[bin_id, LOG, was] = log_count(table[bin_id, COUNT, was])
            table[bin_id, LOG, label] = log_count(table[bin_id, COUNT, label])
    moved = min(w, totals[WEIGHT, was])
    totals[WEIGHT, was] -= moved
    totals[WEIGHT, label] += moved
    renew_totals(model)
    exchange_kept(model, X, was, label)


@kernel
def exchange_kept(model: Any, X: Any, was: int, label: int) -> None:
    """Give a kept row of these values the other label, if there is one."""
    for place in range(min(model.sums[0].seen, KEPT)):
        is_it = model.kept_rows[place].label == was
        for f in range(X.shape[1] if is_it else 0):
            x, kept = X[0, f], model.kept[place, f]
            is_it &= x == kept or (x != x and kept != kept)
        if is_it:
            model.kept_rows[place].label = label
            return
