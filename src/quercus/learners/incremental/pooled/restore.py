"""A tree and its rows from a file: rebuilt only if every number that kernels use as an index or a count makes sense."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from quercus.bounds.layout import MEASURE_DEVIATION
from quercus.learners.incremental.layout import CREDIBLE, CUTS_AND_LOOKS, HOEFFDING_INTERVAL, NOMINAL
from quercus.learners.incremental.pooled.arrays import PooledArrays
from quercus.learners.incremental.pooled.layout import (
    POOLING,
    REGION,
    ROW,
    SIZE_VOLUME,
    SPAN,
)
from quercus.learners.incremental.restore import restore_tree
from quercus.store import Model, ModelFileError

_OWN = {"values": np.float64, "rows": ROW, "regions": REGION, "spans": SPAN, "pooling": POOLING}
_MOST = {"measure": MEASURE_DEVIATION, "correction": CUTS_AND_LOOKS, "size": SIZE_VOLUME}
Arrays = dict[str, npt.NDArray[Any]]


def restore_pool(model: Model, max_bytes: int) -> PooledArrays:
    """Rebuild the arrays of a tree that keeps its rows; refuse what does not fit together.

    Parameters
    ----------
    model
        What the file holds.
    max_bytes
        Limit of the tree.
    """
    grown = restore_tree(model, max_bytes)
    used = grown.used() | {name: model.array(name, dtype) for name, dtype in _OWN.items()}
    try:
        capacities = model.extra["capacities"]
        for name in _OWN:
            if any(not old <= n <= 2 * old + 64 for n, old in zip(capacities[name], used[name].shape, strict=True)):
                raise ValueError(f"{name} of shape {capacities[name]}")
        wrong = [check.__name__.lstrip("_") for check in _CHECKS if not check(used, capacities)]
        if not wrong:
            tree = PooledArrays.restored(used, capacities, max_bytes)
            # Where the rows of each leaf are was found anew.
            wrong = [name for name in _OWN if not _same(tree.used()[name], used[name])]
    except (KeyError, TypeError, ValueError, IndexError, MemoryError, OverflowError) as error:
        raise ModelFileError(f"its pool does not fit together ({error}).") from error
    if wrong:
        raise ModelFileError(f"its pool does not fit together ({', '.join(wrong)}).")
    return tree


def _same(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> bool:
    return a.shape == b.shape and a.tobytes() == np.ascontiguousarray(b).tobytes()


def _pooling(used: Arrays, capacities: dict[str, list[int]]) -> bool:
    """Return whether the codes and counters make sense."""
    if used["pooling"].shape != (1,):
        return False
    pool, options = used["pooling"][0], used["options"][0]
    labelled, apart = used["rows"]["label"] >= 0, used["rows"]["joined"] == 0
    return bool(
        all(0 <= pool[name] <= most for name, most in _MOST.items())
        and pool["bound"] in (CREDIBLE, HOEFFDING_INTERVAL)
        and 0.0 < pool["delta"] <= 0.5
        and 0.0 <= pool["min_leaf"] < np.inf
        and pool["rows"] == len(used["rows"])
        and pool["labelled"] == labelled.sum()
        and pool["pooled"] == apart.sum()
        and {int(pool["began"]), int(pool["unfinished"]), int(options["full"])} <= {0, 1}
        and (pool["began"] or not labelled.any())
        and options["slots"] == options["buffers"] == 0
    )


def _shapes(used: Arrays, capacities: dict[str, list[int]]) -> bool:
    """Return whether arrays that belong together are of one length."""
    d = int(used["options"]["features"][0])
    return bool(
        used["values"].shape == (len(used["rows"]), d)
        and used["spans"].shape == (d,)
        and capacities["spans"] == [d]
        and capacities["values"] == [*capacities["rows"], d]
        and used["regions"].shape == used["nodes"].shape
        and capacities["regions"] == capacities["nodes"]
    )


def _rows(used: Arrays, capacities: dict[str, list[int]]) -> bool:
    """Return whether values are numbers, those of nominal features categories, and labels learned classes."""
    values, rows = used["values"], used["rows"]
    known = values[:, used["features"]["kind"] == NOMINAL]
    known = known[~np.isnan(known)]
    weights = rows["weight"][rows["label"] >= 0]
    return bool(
        not np.isinf(values).any()
        and (known >= 0.0).all()
        and (known == np.floor(known)).all()
        and (rows["label"] >= -1).all()
        and (rows["label"] < used["options"]["classes"][0]).all()
        and np.isin(rows["joined"], (0, 1)).all()
        and (np.isfinite(weights) & (weights > 0.0)).all()
    )


def _regions(used: Arrays, capacities: dict[str, list[int]]) -> bool:
    """Return whether only leaves are due, and only while a row is unfinished."""
    regions = used["regions"]
    inner = used["nodes"]["left"] > 0
    return bool(
        (regions["looks"] >= 0).all()
        and ((regions["volume"] >= 0.0) & (regions["volume"] <= 1.0)).all()
        and np.isin(regions["due"], (0, 1)).all()
        and not regions["due"][inner].any()
        and (used["pooling"]["unfinished"][0] or not regions["due"].any())
    )


def _spans(used: Arrays, capacities: dict[str, list[int]]) -> bool:
    spans = used["spans"]
    return bool(
        np.isfinite(spans["low"]).all()
        and np.isfinite(spans["high"]).all()
        and (spans["low"] <= spans["high"]).all()
        and (spans["categories"] >= 0).all()
        and (spans["categories"] < 2**53).all()
    )


_CHECKS = (_shapes, _pooling, _rows, _regions, _spans)
