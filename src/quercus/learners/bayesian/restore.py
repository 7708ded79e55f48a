"""A Bayesian forest from a file: rebuilt only if every number that kernels use as an index or divide by makes sense."""

from __future__ import annotations

from typing import Any

import numpy as np

from quercus.learners.bayesian.arrays import ForestArrays
from quercus.learners.bayesian.layout import (
    COLUMN,
    FEATURE,
    NODE,
    NOMINAL,
    NUMERIC,
    OPTIONS,
    SEES_ALL,
    SEES_PROJECTION,
    SEES_SUBSET,
    TREE,
    UNSEEN,
)
from quercus.store import Model, ModelFileError

_DEEPEST = 20


def restore_forest(model: Model, dtype: str, max_bytes: int) -> ForestArrays:
    """Rebuild the arrays of a forest; refuse what does not fit together.

    Parameters
    ----------
    model
        What the file holds.
    dtype
        Type of the numbers of the nodes.
    max_bytes
        Limit of the forest.
    """
    types: dict[str, Any] = {"options": OPTIONS, "trees": TREE, "nodes": NODE, "columns": COLUMN, "features": FEATURE}
    types |= {"alpha": np.float64, "picks": np.int32, "chosen": np.uint8}
    forest = ForestArrays.__new__(ForestArrays)
    forest.max_bytes = max_bytes
    for name in ForestArrays.NAMES:
        array = model.array(name, types.get(name, dtype))
        setattr(forest, name, np.require(array, requirements=["C", "W", "O"]))
    try:
        wrong = next((check.__name__.lstrip("_") for check in _CHECKS if not check(forest, model)), None)
    except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
        raise ModelFileError(f"its arrays do not fit together ({error}).") from error
    if wrong is not None:
        raise ModelFileError(f"its arrays do not fit together ({wrong}).")
    return forest


def _options(forest: ForestArrays, model: Model) -> bool:
    if forest.options.shape != (1,):
        return False
    o = forest.options[0]
    numbers = [o[name] for name in OPTIONS.names or () if OPTIONS[name].kind == "f"]
    return bool(
        np.isfinite(numbers).all()
        and min(numbers[:-2]) >= 0.0
        and o["sight"] in (SEES_ALL, SEES_SUBSET, SEES_PROJECTION)
        and o["diagonal"] in (0, 1)
        and 0 < o["floor"] < 1
        and 1 <= o["classes"] <= len(model.schema["labels"])
        and o["forget"] < 1
        and o["weight"] > 0
    )


def _trees(forest: ForestArrays, model: Model) -> bool:
    depth = forest.trees["depth"]
    if forest.trees.ndim != 1 or len(depth) == 0 or (depth < 1).any() or (depth > _DEEPEST).any():
        return False
    sizes = 2**depth
    return bool(
        np.array_equal(forest.trees["leaf"], np.cumsum(sizes) - sizes)
        and np.array_equal(forest.trees["node"], np.cumsum(sizes - 1) - (sizes - 1))
        and forest.nodes.shape == ((sizes - 1).sum(),)
        and len(forest.alpha) == sizes.sum()
        and (np.array([forest.trees[name] for name in ("g0", "g1", "g2", "g3")]) != 0).any(axis=0).all()
    )


def _shapes(forest: ForestArrays, model: Model) -> bool:
    o, inner = forest.options[0], len(forest.nodes)
    width, block = forest.mu.shape[1], o["block"]
    subset, projection = o["sight"] == SEES_SUBSET, o["sight"] == SEES_PROJECTION
    return bool(
        forest.mu.shape == (inner, width)
        and width % 8 == 0
        and forest.variances.shape == (inner, width)
        and forest.sigma.shape == (inner, 0 if o["diagonal"] else width, width)
        and (block == 0 if o["diagonal"] else block >= 1)
        and forest.waiting.shape == (inner, block, width)
        and forest.signs.shape == (inner, block)
        and forest.alpha.ndim == 2
        and forest.alpha.shape[1] >= o["classes"]
        and forest.picks.shape == ((inner, width) if subset else (0, 0))
        and forest.chosen.shape == ((inner, len(forest.features)) if subset else (0, 0))
        and forest.maps.shape == ((inner, len(forest.columns), width) if projection else (0, 0, 0))
        and forest.columns.ndim == forest.features.ndim == 1
        and 1 <= o["columns"] <= len(forest.columns)
        and len(forest.features) <= len(model.schema["names"])
    )


def _nodes(forest: ForestArrays, model: Model) -> bool:
    nodes, width = forest.nodes, forest.mu.shape[1]
    size, columns = nodes["size"], forest.options["columns"][0]
    beyond = np.arange(width) >= size[:, None]
    square = beyond[:, :0] if forest.options["diagonal"][0] else beyond
    return bool(
        (size >= 1).all()
        and (size <= width).all()
        and (forest.options["sight"][0] != SEES_ALL or (size == columns).all())
        and not forest.mu[beyond].any()
        and not forest.variances[beyond].any()
        and not forest.sigma[beyond[:, None, :] | square[:, :, None]].any()
        and not (forest.waiting * beyond[:, None, :]).any()
        and all(np.isfinite(part).all() for part in (forest.mu, forest.variances, forest.sigma, forest.waiting))
        and (forest.variances >= 0).all()
        and (nodes["waits"] >= 0).all()
        and (nodes["waits"] < np.maximum(forest.options["block"][0], 1)).all()
        and np.isin(forest.signs, (-1, 0, 1)).all()
        and all((nodes[name] > 0).all() and np.isfinite(nodes[name]).all() for name in ("inflation", "trace", "top"))
        and (forest.picks >= 0).all()
        and (forest.picks < columns).all()
        and np.isfinite(forest.maps).all()
    )


def _leaves(forest: ForestArrays, model: Model) -> bool:
    known = forest.alpha[:, : forest.classes]
    return bool(np.isfinite(known).all() and (known > 0).all())


def _columns(forest: ForestArrays, model: Model) -> bool:
    """Return whether every column has a feature of its kind, and every category one column."""
    used, features = forest.columns[: forest.n_columns], forest.features
    source = used["feature"]
    if source[0] != -1 or (source[1:] < 0).any() or (source >= len(features)).any():
        return False
    kind = features["kind"]
    names = set(zip(source.tolist(), used["category"].tolist(), strict=True))
    expected = {(-1, -1)} | {(j, -1) for j in np.flatnonzero(kind == NUMERIC).tolist()}
    for j in np.flatnonzero(kind == NOMINAL).tolist():
        expected |= {(j, code) for code in range(min(int(features["categories"][j]), len(used)))}
    numbers = [used[name] for name in ("weight", "mean", "squares")] + [features["weight"]]
    return bool(
        len(names) == len(used)
        and names == expected
        and np.isin(kind, (NUMERIC, NOMINAL, UNSEEN)).all()
        and all(np.isfinite(part).all() for part in numbers)
        and (used["weight"] >= 0).all()
        and (features["weight"] >= 0).all()
        and not np.isnan(features["low"]).any()
        and not np.isnan(features["high"]).any()
    )


_CHECKS = (_options, _trees, _shapes, _nodes, _leaves, _columns)
