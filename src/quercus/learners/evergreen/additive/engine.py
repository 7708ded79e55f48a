"""What has to be done to an additive model outside of compiled code: room for features, bins and classes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from quercus.engine import Floats
from quercus.learners.evergreen.additive.binning import draw_additive_edges, renew_bins
from quercus.learners.evergreen.additive.kernels import write_contributions
from quercus.learners.evergreen.additive.state import (
    COEFFICIENT,
    COUNT,
    FADED,
    KEPT,
    MOST_ADDITIVE_EDGES,
    WEIGHT,
    AdditiveState,
)
from quercus.learners.evergreen.layout import LAST_CATEGORY, LEAST_PART
from quercus.rows import NOMINAL, NUMERIC, UNSEEN

_MOST_BINS = LAST_CATEGORY + 1
_FIRST_CATEGORIES = 4
_ROW: int = AdditiveState.kept_rows.dtype.itemsize
_COLUMN: int = AdditiveState.columns.dtype.itemsize
_NOTHING = {"feature": 0, "kept": 0, "bin": 0, "label": 0}


def new_additive(seed: np.uint64, is_on: bool = True) -> AdditiveState:
    """Return an additive model of no features yet.

    Parameters
    ----------
    seed
        Of which rows are kept.
    is_on
        Whether there is to be any of it.

    Examples
    --------
    >>> state = new_additive(np.uint64(7))
    >>> resize(state, features=2, classes=3, max_bytes=2**20)
    >>> fit_row(state, np.array([0.5, 3.0]), ["numeric", "nominal"])
    >>> state.table.shape
    (10, 3, 3)
    """
    state = AdditiveState(parts=None, line=3, **_NOTHING | ({"kept": KEPT} if is_on else {}))
    state.sums["seed"], state.sums["off"] = seed, not is_on
    return state


def reserve_bytes(features: int, classes: int, max_bytes: int, numbers: int = 0) -> int:
    """Return how many bytes are kept free for it: what it may need, but not more than an eighth of all.

    Parameters
    ----------
    features, classes
        Their numbers.
    max_bytes
        Limit of the learner.
    numbers
        How many of the features are known to be numeric: these have few bins.

    Examples
    --------
    >>> reserve_bytes(3, 2, 2**25), reserve_bytes(3, 2, 2**25, numbers=3)
    (102928, 28336)
    """
    n_bins = (features - numbers) * _MOST_BINS + numbers * (MOST_ADDITIVE_EDGES + 2)
    return min(_count_bytes(features, 2 * n_bins, classes), max_bytes // 8)


def resize(state: AdditiveState, features: int, classes: int, max_bytes: int) -> None:
    """Make room for features and classes; where there is none, give up for good.

    Parameters
    ----------
    state
        The model.
    features, classes
        Their numbers; never fewer than before.
    max_bytes
        The most that may be used.
    """
    state.max_bytes = max_bytes
    old, classes = len(state.columns), max(classes, state.sizes["label"])
    if not state.is_on or (features == old and classes == state.sizes["label"]) or features == 0:
        return
    columns = np.concatenate([state.columns, AdditiveState.columns.new({"feature": features - old})])
    if old == 0:
        state.sums["sum_weight"] = 1.0 / np.sqrt(features)
    _lay_out(state, columns, classes=classes)


def fit_row(state: AdditiveState, row: Floats, kinds: Sequence[str | None]) -> None:
    """Make room for what a row brings that was never seen before.

    Parameters
    ----------
    state
        The model.
    row
        Values by feature; NaN if missing, codes of categories.
    kinds
        For each feature ``"numeric"`` or ``"nominal"``.
    """
    if not state.is_on:
        return
    columns = state.columns.copy()
    for f in np.flatnonzero(~np.isnan(row)).tolist():
        if columns["kind"][f] == UNSEEN:
            is_nominal = kinds[f] == "nominal"
            columns["kind"][f] = NOMINAL if is_nominal else NUMERIC
            columns["capacity"][f] = _FIRST_CATEGORIES if is_nominal else 2
        if columns["kind"][f] == NOMINAL and (code := min(int(row[f]) + 1, LAST_CATEGORY)) >= columns["capacity"][f]:
            columns["capacity"][f] = min(max(2 * columns["capacity"][f], code + 1), _MOST_BINS)
    if not np.array_equal(columns, state.columns):
        _lay_out(state, columns)


def declare_classes(state: AdditiveState, total: int) -> None:
    """Count classes as known.

    Parameters
    ----------
    state
        The model.
    total
        Number of classes.
    """
    state.sums["classes"] = max(state.classes, total)


def draw(state: AdditiveState) -> None:
    """Draw bin edges: anew as long as all rows are kept, then more of them where too many values lie together.

    Parameters
    ----------
    state
        The model.
    """
    seen = int(state.sums["seen"][0])
    ordered = state.kept[: min(seen, KEPT)].T.copy()
    ordered.sort(axis=1)
    bin_edges, numbers = np.zeros_like(state.limits), np.zeros(len(state.columns), np.int64)
    draw_additive_edges(state.ref, ordered, seen <= KEPT, bin_edges, numbers)
    columns, is_numeric = state.columns.copy(), state.columns["kind"] == NUMERIC
    columns["edges"] = numbers
    columns["capacity"][is_numeric], columns["known"][is_numeric] = (numbers[is_numeric] + more for more in (2, 1))
    _lay_out(state, columns, bin_edges)
    state.sums["drawn"] = seen


def fade(state: AdditiveState) -> None:
    """Let all that is known weigh little, because it is no longer true.

    Parameters
    ----------
    state
        The model.
    """
    if not state.is_on:
        return
    share = FADED / max(float(state.totals[WEIGHT].sum()), FADED)
    state.table[:, COUNT] *= share
    state.totals[WEIGHT] *= share
    state.visits *= share
    state.table[:, COEFFICIENT] *= 0.5
    state.sums["trees_accumulator"] *= share
    state.sums["sum_accumulator"] *= share
    _lay_out(state, state.columns)


def freeze(state: AdditiveState, classes: int) -> AdditiveState:
    """Return a copy of what answers need.

    Parameters
    ----------
    state
        The model.
    classes
        Number of classes.
    """
    kept = new_additive(state.sums["seed"][0], is_on=False)
    names = {"columns": state.columns, "limits": state.limits, "visits": state.visits} if state.is_on else {}
    parts = {name: array.copy() for name, array in names.items()}
    if state.is_on:
        parts |= {"table": state.table[:, :COUNT, :classes].copy(), "totals": state.totals[:, :classes].copy()}
        parts["kept"] = np.zeros((0, len(state.columns)))
    kept.replace(sums=state.sums.copy(), **parts)
    return kept


def _lay_out(
    state: AdditiveState, columns: npt.NDArray[np.void], bin_edges: Floats | None = None, classes: int | None = None
) -> None:
    """Give the columns their bins, if there is room; with bin edges: those that were drawn."""
    held, old = state.sizes, len(state.columns)
    features, classes = len(columns), held["label"] if classes is None else classes
    n_bins = int(columns["capacity"].sum())
    if _count_bytes(features, n_bins + int(state.columns["capacity"].sum()), classes) > state.max_bytes:
        # Without it from now on.
        state.sums["off"] = 1
        state.resize(**_NOTHING)
        return
    columns = columns.copy()
    columns["first"] = np.cumsum(columns["capacity"]) - columns["capacity"]
    sizes = held | {"feature": features, "bin": n_bins, "label": classes}
    new = {name: AdditiveState.fields[name].new(sizes) for name in ("table", "visits")}
    new["limits"] = AdditiveState.limits.resized(state.limits, sizes) if bin_edges is None else bin_edges
    new["totals"] = AdditiveState.totals.resized(state.totals, sizes) if classes > held["label"] else state.totals
    new["kept"] = AdditiveState.kept.resized(state.kept, sizes) if features > old else state.kept
    before = np.zeros_like(columns)
    before[:old] = state.columns
    same = {"sums": state.sums, "kept_rows": state.kept_rows}
    was = {name: getattr(state, name) for name in ("limits", "kept", "table", "visits", "totals")}
    refs = (AdditiveState.make(columns=before, **same, **was), AdditiveState.make(columns=columns, **same, **new))
    renew_bins(*refs, bin_edges is not None)
    state.replace(columns=columns, **new)


def _count_bytes(features: int, n_bins: int, classes: int) -> int:
    """Return how many bytes so much takes."""
    rows = KEPT * (8 * features + _ROW)
    columns = features * (8 * MOST_ADDITIVE_EDGES + _COLUMN)
    return rows + columns + n_bins * (24 * classes + 8)


def weigh_additive(model: AdditiveState) -> float:
    """Return how much the additive model counts in the answers beside the trees alone.

    Parameters
    ----------
    model
        Its arrays.

    Examples
    --------
    >>> from quercus.learners.evergreen.additive.engine import new_additive, resize
    >>> model = new_additive(np.uint64(7))
    >>> resize(model, features=2, classes=3, max_bytes=2**20)
    >>> weigh_additive(model)
    0.5
    >>> model.sums["loss"] = 9.0
    >>> weigh_additive(model)
    0.0
    """
    if not model.is_on or len(model.columns) == 0:
        return 0.0
    sums = model.sums[0]
    share = 1.0 / (1.0 + math.exp(min(float(sums["loss"] - sums["trees_loss"]), 700.0)))
    return share if share > LEAST_PART else 0.0


def find_contributions(model: AdditiveState, row: Floats, label: int, other: int) -> Floats:
    """Return by how much each value speaks for one class against another, as a difference of logarithms.

    Parameters
    ----------
    model
        Its arrays.
    row
        Values by feature; NaN if missing, codes of categories.
    label, other
        The classes.

    Examples
    --------
    >>> import quercus as qc
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> tree = qc.EvergreenTree().partial_fit(X, X[:, 0] > 0)
    >>> yes, no = map(tree.schema_.labels.index, (True, False))
    >>> parts = find_contributions(tree._state.additive, np.array([1.0, 1.0]), yes, no)
    >>> bool(parts[0] > 3), bool(abs(parts[1]) < 0.5)
    (True, True)
    """
    parts = np.zeros(len(model.columns))
    write_contributions(model.ref, row[np.newaxis], label, other, parts)
    return parts
