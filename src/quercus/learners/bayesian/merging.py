"""Forests that learned parts of a stream become one: the mixture of all their trees, in one common encoding."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from typing import Any, NoReturn, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import NotFittedError

from quercus.learners.bayesian.forest import BayesianLearner
from quercus.learners.bayesian.growth import add_features, fit_row
from quercus.learners.bayesian.layout import SEES_ALL, SEES_PROJECTION, SEES_SUBSET
from quercus.learners.bayesian.moving import Part, check_scales, find_move, join_columns, move_nodes
from quercus.predictor import Integers
from quercus.schema import Schema
from quercus.schema.refusals import listed
from quercus.store import Model

Merged = TypeVar("Merged", bound=BayesianLearner)
Arrays = dict[str, npt.NDArray[Any]]

_SIGHTS = {SEES_ALL: "all features", SEES_SUBSET: "a subset", SEES_PROJECTION: "a projection"}


def merge_forests(forests: Iterable[BayesianLearner], kind: type[Merged]) -> Merged:
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
            stack.enter_context(learner._alone())
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


def _check_forests(forests: Any) -> list[BayesianLearner]:
    if isinstance(forests, BayesianLearner) or not isinstance(forests, Iterable):
        raise TypeError(f"merging takes a list of forests, not a {type(forests).__name__}.")
    learners = list(forests)
    if not learners:
        raise ValueError("there is no forest to merge; give a list of at least one.")
    for k, learner in enumerate(learners):
        if not isinstance(learner, BayesianLearner):
            raise TypeError(f"forest {k} is a {type(learner).__name__}; only Bayesian forests and trees can be merged.")
        if not learner._is_fitted():
            raise NotFittedError(f"forest {k} has learned nothing yet; let it learn first, or leave it out.")
        if any(learner is other for other in learners[:k]):
            raise ValueError(f"forest {k} is there twice, so that its rows would count twice; leave it out.")
    return learners


def _check_settings(learners: Sequence[BayesianLearner]) -> None:
    first = _settings(learners[0])
    for k, learner in enumerate(learners):
        for name, value in _settings(learner).items():
            if value != first[name]:
                raise ValueError(
                    f"{name} is {first[name]!r} in forest 0 and {value!r} in forest {k}; "
                    "only forests in which it is the same can be merged."
                )


def _settings(learner: BayesianLearner) -> dict[str, Any]:
    """Return what has to be the same in all forests, as it is in force: arguments may have been changed since."""
    arrays, option = learner._forest, learner._forest.options[0]
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


def _parameters(learners: Sequence[BayesianLearner], limit: int) -> dict[str, Any]:
    depths = np.concatenate([learner._forest.trees["depth"] for learner in learners])
    given = [learner.depth for learner in learners]
    parameters: dict[str, Any] = copy.deepcopy(learners[0].get_params(deep=False))
    return parameters | {
        "trees": len(depths),
        "dtype": learners[0]._forest.dtype,
        "depth": given[0] if all(depth == given[0] for depth in given) else (int(depths.min()), int(depths.max())),
        "threads": max(learner.threads for learner in learners),
        "max_bytes": limit,
    }


def _join_schemas(learners: Sequence[BayesianLearner], name: str) -> Schema:
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


def _complete(learner: BayesianLearner, schema: Schema, limit: int) -> Part:
    """Return a copy of a forest in which all common features, categories and classes have arrived."""
    own, arrays = learner.schema_, learner._forest.copy()
    features = _places(own.names, schema.names)
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
    fit_row(arrays, row, len(schema.labels) - 1, nominal, limit)
    return Part(arrays, features, codes, _places(own.labels, schema.labels))


def _places(own: Sequence[Any], common: Sequence[Any]) -> Integers:
    """Return the common numbers of what a part knows in its own order, then of all else."""
    number = {value: place for place, value in enumerate(common)}
    known = [number[value] for value in own]
    return np.array([*known, *sorted(set(number.values()) - set(known))], np.int64)


def _join_arrays(parts: Sequence[Part], names: Sequence[str]) -> Arrays:
    first = parts[0].arrays
    count = first.n_columns
    features = _join_features(parts)
    moves = [find_move(part, first, features) for part in parts]
    for k, move in enumerate(moves):
        check_scales(k, parts[k], move, names)
    for part, move in zip(parts, moves, strict=True):
        move_nodes(part, move)
    arrays = {"options": _join_options(parts), "features": features, "columns": join_columns(parts, moves)}
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


def _join_options(parts: Sequence[Part]) -> npt.NDArray[np.void]:
    options: npt.NDArray[np.void] = parts[0].arrays.options.copy()
    for name in ("loss", "weight"):
        options[name] = sum(part.arrays.options[name] for part in parts)
    trees = [len(part.arrays.trees) for part in parts]
    options["block"] = max(part.arrays.options["block"][0] for part in parts)
    options["share"] = np.average([part.arrays.options["share"][0] for part in parts], weights=trees)
    return options


def _join_features(parts: Sequence[Part]) -> npt.NDArray[np.void]:
    """Return the features with the widest range and all of the weight."""
    features: npt.NDArray[np.void] = parts[0].arrays.features.copy()
    for part in parts[1:]:
        own = part.arrays.features
        features["low"][part.features] = np.minimum(features["low"][part.features], own["low"])
        features["high"][part.features] = np.maximum(features["high"][part.features], own["high"])
        features["weight"][part.features] += own["weight"]
    return features
