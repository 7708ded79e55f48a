"""What is done with all nodes or rows of a tree before and after it grows; compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from quercus.compile import array_type, kernel
from quercus.learners.evergreen.layout import NOMINAL
from quercus.learners.evergreen.state import EvergreenState, TreeState


@kernel(types.void, EvergreenState.fields["features"].numba_type, array_type(np.uint8, 2), types.int64)
def count_categories(features: Any, codes: Any, rows: int) -> None:
    """Say how many codes each nominal feature has: those of categories that come later do not belong to a growth."""
    largest = np.zeros(len(features), np.uint8)
    for i in range(rows):
        for f in range(len(features)):
            largest[f] = max(largest[f], codes[i, f])
    for f in range(len(features)):
        if features[f].kind == NOMINAL:
            features[f].codes = max(np.int64(largest[f]) + 1, 2)


@kernel(
    types.UniTuple(types.int64, 2),
    TreeState.fields["nodes"].numba_type,
    array_type(np.float64, 2),
    types.int64,
    array_type(np.int32, 1),
)
def close_ranks(nodes: Any, counts: Any, used: int, chosen: Any) -> Any:
    """Move nodes that can be reached to the front, in their order; return how many, and how many of them have sets.

    ``chosen``: the numbers that their sets had. Children come behind their parents, so that none is overwritten.
    """
    places, live, sets = np.full(used, -1, np.int32), 0, 0
    places[0] = 0
    for v in range(used):
        if places[v] < 0:
            continue
        node = nodes[v]
        if node.left > 0:
            # Where they will be is known when their turn comes: until then, that they are there.
            places[node.left] = places[node.left + 1] = 0
        else:
            node.feature, node.set = -1, -1
        if node.set >= 0:
            chosen[sets] = node.set
            node.set = sets
            sets += 1
        places[v] = live
        nodes[live] = node
        for k in range(counts.shape[1]):
            counts[live, k] = counts[v, k]
        live += 1
    for v in range(live):
        if nodes[v].left > 0:
            nodes[v].left = places[nodes[v].left]
    return live, sets
