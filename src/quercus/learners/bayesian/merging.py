"""Forests that learned parts of a stream become one: the mixture of all their trees, in one common encoding.

With z = T z' between the numbers of a row in a part's encoding and in the common one, a split with mean T' mu and
covariance T' Sigma T divides every row as before. T is affine by column, and what it shifts falls to the bias.
"""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple, NoReturn, TypeVar

import numpy as np
import numpy.typing as npt

from quercus.classifier import Classifier
from quercus.engine import Floats, Integers
from quercus.estimator import not_fitted
from quercus.learners.bayesian.engine import BayesianEngine
from quercus.learners.bayesian.growth import add_features, add_values
from quercus.learners.bayesian.state import SEES_ALL, SEES_PROJECTION, SEES_SUBSET, BayesianForestState
from quercus.schema import Schema
from quercus.schema.refusals import listed
from quercus.store import Model

Merged = TypeVar("Merged", bound=Classifier)
Arrays = dict[str, npt.NDArray[Any]]

_SIGHTS = {SEES_ALL: "all features", SEES_SUBSET: "a subset", SEES_PROJECTION: "a projection"}
# The variances of a split are kept, on average, within these, as the kernels do.
_LARGE, _SMALL, _STEP = 2.0**20, 2.0**-20, 2.0**10
# A variance is at least the floor times the largest in its split; beyond this share of that the answers change.
_BLUR = 0.01


class ForestPart(NamedTuple):
    """A copy of one forest that knows all that any of them knows, and where that is in the common encoding.

    By its own numbers: ``features``, ``labels`` and, for each feature, ``codes`` are the common numbers of features,
    classes and categories.
    """

    arrays: BayesianForestState
    features: Integers
    codes: list[Integers]
    labels: Integers


class ColumnMap(NamedTuple):
    """The affine map T by column: a part's own z of column c is scale z' + shift, with z' of common column place."""

    place: Integers
    scale: Floats
    shift: Floats


def merge_forests(forests: Iterable[Classifier], kind: type[Merged]) -> Merged:
    """Return one forest of the trees of all, as `BayesianForest.merge` tells; the forests themselves are not changed.

    Not exact but near: missing values are filled by what all parts have seen, and with ``covariance="diagonal"`` a
    shift of the range correlates the weights, which is left out.

    Parameters
    ----------
    forests
        Fitted forests and trees.
    kind
        Class of the result. Its arguments are those of the first part where parts may differ (inference, block, subset,
        seed), its max_bytes the sum of theirs.

    Examples
    --------
    >>> import quercus as qc
    >>> trees = [qc.BayesianTree(depth=2, seed=k).fit([[0.0], [1.0]], [0, 1]) for k in (0, 1)]
    >>> merge_forests(trees, qc.BayesianForest).trees
    2
    """
    learners = _check_forests(forests)
    with ExitStack() as stack:
        for learner in learners:
            stack.enter_context(learner._learning())
        _check_settings(learners)
        limit = sum(int(learner.max_bytes) for learner in learners)
        schema = _join_schemas(learners, kind.__name__)
        parts = [_complete(learner, schema, limit) for learner in learners]
        arrays = _join_arrays(parts, schema.names)
    used = sum(array.nbytes for array in arrays.values())
    if used > limit:
        raise MemoryError(
            f"the merged forest needs {used:,} bytes, above the {limit:,} that the max_bytes of the forests add up to; "
            "raise it in one of them with set_params(max_bytes=...)."
        )
    return kind._from_model(Model(kind.__name__, _parameters(learners, limit), schema.to_dict(), arrays))


def _check_forests(forests: Any) -> list[Any]:
    if isinstance(getattr(forests, "engine", None), BayesianEngine) or not isinstance(forests, Iterable):
        raise TypeError(f"merging takes a list of forests, not a {type(forests).__name__}.")
    learners = list(forests)
    if not learners:
        raise ValueError("there is no forest to merge; give a list of at least one.")
    for k, learner in enumerate(learners):
        if not isinstance(getattr(learner, "engine", None), BayesianEngine):
            raise TypeError(f"forest {k} is a {type(learner).__name__}; only Bayesian forests and trees can be merged.")
        if not learner._is_fitted():
            raise not_fitted(f"forest {k} has learned nothing yet; let it learn first, or leave it out.")
        if any(learner is other for other in learners[:k]):
            raise ValueError(f"forest {k} is there twice, so that its rows would count twice; leave it out.")
    return learners


def _check_settings(learners: Sequence[Classifier]) -> None:
    first = _settings(learners[0])
    for k, learner in enumerate(learners):
        for name, value in _settings(learner).items():
            if value != first[name]:
                raise ValueError(
                    f"{name} is {first[name]!r} in forest 0 and {value!r} in forest {k}; "
                    "only forests in which it is the same can be merged."
                )


def _settings(learner: Classifier) -> dict[str, Any]:
    """Return what has to be the same in all forests, as it is in force: arguments may have been changed since."""
    arrays, option = learner._state, learner._state.options[0]
    sight = int(option["sight"])
    return {
        "dtype": arrays.dtype,
        "covariance": "diagonal" if option["diagonal"] else "full",
        "what a node sees": _SIGHTS[sight],
        "the number of projected dimensions": int(arrays.nodes["size"][0]) if sight == SEES_PROJECTION else None,
        "scaling": "auto" if option["scaled"] else None,
        **{name: float(option[name]) for name in ("bagging", "forget", "skip")},
        **{name: getattr(learner, name) for name in ("loss", "features")},
        "nominal": learner.schema_.nominal,
        "the type of the labels": learner.schema_.label_type,
    }


def _parameters(learners: Sequence[Any], limit: int) -> dict[str, Any]:
    depths = np.concatenate([learner._state.trees["depth"] for learner in learners])
    given = [learner.depth for learner in learners]
    parameters: dict[str, Any] = copy.deepcopy(learners[0].get_params(deep=False))
    return parameters | {
        "trees": len(depths),
        "dtype": learners[0]._state.dtype,
        "depth": given[0] if all(depth == given[0] for depth in given) else (int(depths.min()), int(depths.max())),
        "threads": max(learner.threads for learner in learners),
        "max_bytes": limit,
    }


def _join_schemas(learners: Sequence[Classifier], name: str) -> Schema:
    """Return the features, categories and classes of all forests, in the order of the first."""
    schemas = [learner.schema_ for learner in learners]
    kinds: dict[str, Any] = {}
    categories: dict[str, dict[Any, None]] = {}
    for k, own in enumerate(schemas):
        if k > 0 and not own.open and set(own.names) != set(kinds):
            _refuse_features(k, own.names, list(kinds))
        for feature, kind, values in zip(own.names, own.kinds, own.categories, strict=True):
            known = kinds.get(feature)
            if None not in (kind, known) and kind != known:
                raise ValueError(
                    f"column {feature!r} is {known} in the forests before and {kind} in forest {k}; "
                    "learn it in one form in all of them (nominal= makes numbers categories)."
                )
            kinds[feature] = known or kind
            categories[feature] = categories.get(feature, {}) | dict.fromkeys(values)
    state = {"learner": name, "names": list(kinds), "kinds": list(kinds.values())}
    state |= {"categories": [list(values) for values in categories.values()]}
    state |= {"labels": list(dict.fromkeys(label for own in schemas for label in own.labels))}
    return Schema.from_dict(schemas[0].to_dict() | state)


def _refuse_features(k: int, names: list[str], expected: list[str]) -> NoReturn:
    new, lost = [name for name in names if name not in expected], [name for name in expected if name not in names]
    said = " and ".join(f"{word} {listed(part)}" for word, part in (("without", lost), ("with", new)) if part)
    raise ValueError(
        f"forest {k} has other features than forest 0: {said}; merge forests of the same features, "
        "or such that were made with features='open'."
    )


def _complete(learner: Classifier, schema: Schema, limit: int) -> ForestPart:
    """Return a copy of a forest in which all common features, categories and classes have arrived."""
    own, arrays = learner.schema_, learner._state.copy()
    features = _places(own.names, schema.names)
    arrays.max_bytes = limit
    add_features(arrays, len(features))
    codes = []
    row, nominal = np.full(len(features), math.nan), [schema.kinds[f] == "nominal" for f in features]
    for j, feature in enumerate(features.tolist()):
        codes.append(_places(own.categories[j] if j < len(own.names) else [], schema.categories[feature]))
        # A value that brings all there is of a feature.
        if nominal[j] and len(codes[j]):
            row[j] = len(codes[j]) - 1
        elif schema.kinds[feature] == "numeric":
            row[j] = 0.0
    add_values(arrays, row, len(schema.labels) - 1, nominal)
    return ForestPart(arrays, features, codes, _places(own.labels, schema.labels))


def _places(own: Sequence[Any], common: Sequence[Any]) -> Integers:
    """Return the common numbers of what a part knows in its own order, then of all else."""
    number = {value: place for place, value in enumerate(common)}
    known = [number[value] for value in own]
    return np.array([*known, *sorted(set(number.values()) - set(known))], np.int64)


def _join_arrays(parts: Sequence[ForestPart], names: Sequence[str]) -> Arrays:
    first = parts[0].arrays
    count = first.n_columns
    features = _join_features(parts)
    mappings = [map_columns(part, first, features) for part in parts]
    for k, mapping in enumerate(mappings):
        _check_scales(k, parts[k], mapping, names)
    for part, mapping in zip(parts, mappings, strict=True):
        map_splits(part, mapping)
    arrays = {"options": _join_options(parts), "features": features, "columns": _join_columns(parts, mappings)}
    alphas = []
    for part in parts:
        alphas.append(np.empty((len(part.arrays.alpha), len(part.labels))))
        alphas[-1][:, part.labels] = part.arrays.alpha[:, : len(part.labels)]
    arrays["alpha"] = np.concatenate(alphas)
    arrays["trees"] = np.concatenate([part.arrays.trees for part in parts])
    sizes = 2 ** arrays["trees"]["depth"]
    arrays["trees"]["node"] = np.cumsum(sizes - 1) - (sizes - 1)
    arrays["trees"]["leaf"] = np.cumsum(sizes) - sizes
    arrays["maps"] = _stack([part.arrays.maps[:, :count] for part in parts])
    for name in first.fields:
        if name not in arrays:
            arrays[name] = _stack([getattr(part.arrays, name) for part in parts])
    return arrays


def _stack(pieces: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Return arrays of nodes one after the other, the narrower ones with zeros behind."""
    shape = np.max([piece.shape[1:] for piece in pieces], axis=0).astype(int).tolist()
    joined = np.zeros((sum(len(piece) for piece in pieces), *shape), pieces[0].dtype)
    start = 0
    for piece in pieces:
        joined[(slice(start, start + len(piece)), *(slice(n) for n in piece.shape[1:]))] = piece
        start += len(piece)
    return joined


def _join_options(parts: Sequence[ForestPart]) -> npt.NDArray[np.void]:
    options: npt.NDArray[np.void] = parts[0].arrays.options.copy()
    for name in ("loss", "weight"):
        options[name] = sum(part.arrays.options[name] for part in parts)
    trees = [len(part.arrays.trees) for part in parts]
    options["block"] = max(part.arrays.options["block"][0] for part in parts)
    options["share"] = np.average([part.arrays.options["share"][0] for part in parts], weights=trees)
    return options


def _join_features(parts: Sequence[ForestPart]) -> npt.NDArray[np.void]:
    """Return the features with the widest range and all of the weight."""
    features: npt.NDArray[np.void] = parts[0].arrays.features.copy()
    for part in parts[1:]:
        own = part.arrays.features
        features["low"][part.features] = np.minimum(features["low"][part.features], own["low"])
        features["high"][part.features] = np.maximum(features["high"][part.features], own["high"])
        features["weight"][part.features] += own["weight"]
    return features


def map_columns(part: ForestPart, first: BayesianForestState, features: npt.NDArray[np.void]) -> ColumnMap:
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
    return ColumnMap(place, scale, shift)


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
        # Always 0 so far, which says nothing: from here on it counts how far a value is from the one that was seen.
        return 1.0, 1.0 - 2.0 * ((0.5 * own_low - 0.5 * low) / half) if half > 0.0 else 0.0
    return half / own_half, 2.0 * ((0.5 * low - 0.5 * own_low) / own_half) + half / own_half - 1.0


def _check_scales(k: int, part: ForestPart, mapping: ColumnMap, names: Sequence[str]) -> None:
    """Refuse ranges too far apart to compute with; warn where a split would be less sharp than it was."""
    option, c = part.arrays.options[0], int(mapping.scale.argmax())
    widest, name = float(mapping.scale[c]), names[part.features[part.arrays.columns["feature"][c]]]
    said = f"the values of column {name!r} in forest {k} cover 1 / {widest:.3g} of the range in all forests"
    if not widest <= option["largest"]:
        raise ValueError(
            f"{said}, too little for {part.arrays.dtype}; leave forest {k} out, or learn without outliers."
        )
    if option["sight"] != SEES_PROJECTION and option["floor"] * widest**2 > _BLUR:
        text = f"{said}, so that {part.arrays.dtype} makes its splits less sharp; scale the column before learning it."
        warnings.warn(text, UserWarning, stacklevel=5)


def _join_columns(parts: Sequence[ForestPart], mappings: Sequence[ColumnMap]) -> npt.NDArray[np.void]:
    """Return the columns in the order of the first part, with means and variances over all, in the common scale."""
    columns: npt.NDArray[np.void] = parts[0].arrays.columns[: parts[0].arrays.n_columns].copy()
    for name in ("weight", "mean", "squares"):
        columns[name] = 0.0
    for part, mapping in zip(parts, mappings, strict=True):
        own, sums = part.arrays.columns[: len(columns)], columns[mapping.place]
        total = sums["weight"] + own["weight"]
        share = np.divide(own["weight"], total, out=np.zeros(len(own)), where=total > 0.0)
        off = (own["mean"] - mapping.shift) / mapping.scale - sums["mean"]
        sums["squares"] += own["squares"] / mapping.scale**2 + off * off * sums["weight"] * share
        sums["mean"] += off * share
        sums["weight"] = total
        columns[mapping.place] = sums
    return columns


def map_splits(part: ForestPart, mapping: ColumnMap) -> None:
    """Bring all splits of a part to the common columns, in place."""
    arrays = part.arrays
    sight, count = int(arrays.options["sight"][0]), arrays.n_columns
    if sight == SEES_SUBSET:
        chosen = np.empty_like(arrays.chosen)
        chosen[:, part.features] = arrays.chosen
        arrays.chosen = chosen
    for n, size in enumerate(arrays.nodes["size"].tolist()):
        if sight == SEES_PROJECTION:
            mapped = np.zeros((count, arrays.maps.shape[2]))
            mapped[mapping.place] = mapping.scale[:, None] * arrays.maps[n, :count]
            mapped[0] += mapping.shift @ arrays.maps[n, :count]
            arrays.maps[n, :count] = mapped
        elif sight == SEES_SUBSET:
            seen = arrays.picks[n, :size]
            _map_split(arrays, n, np.arange(size), mapping.scale[seen], mapping.shift[seen])
            arrays.picks[n, :size] = mapping.place[seen]
        else:
            _map_split(arrays, n, mapping.place, mapping.scale, mapping.shift)


def _map_split(arrays: BayesianForestState, n: int, place: Integers, scale: Floats, shift: Floats) -> None:
    """Give a split the mean T' mu and the covariance T' Sigma T; its first weight is that of the bias."""
    mu, sigma = arrays.mu[n, : len(place)].astype(np.float64), arrays.covariance(n)
    bias = shift.copy()
    bias[0] = 1.0
    mapped = scale * mu
    mapped[0] = bias @ mu
    if sigma.ndim == 1:
        spread = sigma * scale**2
        spread[0] = sigma @ bias**2
    else:
        spread = sigma * np.outer(scale, scale)
        spread[0] = spread[:, 0] = scale * (sigma @ bias)
        spread[0, 0] = bias @ sigma @ bias
    _write_split(arrays, n, place, *_into_band(mapped, spread))


def _into_band(mu: Floats, sigma: Floats) -> tuple[Floats, Floats]:
    """Scale both together by powers of two, on which nothing depends, until the variances are in their band."""
    mean = float(sigma.sum() if sigma.ndim == 1 else np.trace(sigma)) / len(mu)
    while mean > _LARGE:
        mu, sigma, mean = mu / _STEP, sigma / _STEP**2, mean / _STEP**2
    while 0.0 < mean < _SMALL:
        mu, sigma, mean = mu * _STEP, sigma * _STEP**2, mean * _STEP**2
    return mu, sigma


def _write_split(arrays: BayesianForestState, n: int, place: Integers, mu: Floats, sigma: Floats) -> None:
    """Set mean and covariance of a split, its weights in their new places; nothing waits any more."""
    arrays.mu[n, place] = mu
    arrays.variances[n, place] = np.maximum(sigma if sigma.ndim == 1 else np.diagonal(sigma), 0.0)
    if sigma.ndim == 2:
        arrays.sigma[n][np.ix_(place, place)] = sigma
    arrays.waiting[n] = arrays.signs[n] = 0
    node, variances = arrays.nodes[n], arrays.variances[n].astype(np.float64)
    node["waits"], node["inflation"], node["trace"], node["top"] = 0, 1.0, variances.sum(), variances.max()
