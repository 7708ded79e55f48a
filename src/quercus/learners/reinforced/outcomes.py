"""What may come back when an item is asked for, as the shares of a reinforced tree tell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise, product
from typing import Any

import numpy as np
import numpy.typing as npt

from quercus.acquisition.layout import KNOWN, MISSING, NUMERIC
from quercus.acquisition.policy_outcomes import Names, Outcome, Part, Span
from quercus.hashing import mix_bits
from quercus.learners.reinforced.arrays import ReinforcedArrays
from quercus.learners.reinforced.layout import NOWHERE
from quercus.predictor import Floats
from quercus.schema import Schema

# So many joint outcomes of a group are looked for, and so many are told.
_MOST_FOLLOWED = 65_536
MOST_OUTCOMES = 32
_STEP = 0x9E3779B97F4A7C15
# Cell of a value that is missing, and how far those of others are from it.
_NO_VALUE, _FIRST = 0, 2


def find_outcomes(
    arrays: ReinforcedArrays,
    schema: Schema,
    row: Floats,
    status: npt.NDArray[np.uint8],
    item: int,
    members: Sequence[int],
    belief: Floats,
) -> list[Outcome]:
    """Return what may come back of an item, in the order of its cells; values that are missing are left out.

    Parameters
    ----------
    arrays, schema
        What was learned, and of what.
    row, status
        What is known.
    item, members
        The item, and its features.
    belief
        How probable each class is: where the question was never asked, its tallies and this tell what to expect.

    Examples
    --------
    >>> from quercus import ReinforcedTree
    >>> tree = ReinforcedTree().fit([["a"], ["b"], ["b"]] * 20, ["no", "yes", "yes"] * 20)
    >>> row, status = np.array([np.nan]), np.zeros(1, np.uint8)
    >>> told = find_outcomes(tree._reinforced, tree.schema_, row, status, 0, [0], np.array([1 / 3, 2 / 3]))
    >>> [(outcome.words, round(outcome.probability, 2)) for outcome in told]
    [("x0 == 'a'", 0.33), ("x0 == 'b'", 0.67)]
    """
    here = find_key(arrays, row, status)
    led = _read_results(arrays, here, item) or _read_tallies(arrays, here, members[0], belief)
    cells = [_read_cells(arrays, schema, f) for f in members]
    if math.prod(map(len, cells)) > _MOST_FOLLOWED or not led:
        return [Outcome(1.0, {})]
    found = []
    for chosen in product(*cells):
        key = here
        for _, _, part in chosen:
            key ^= part
        if key in led:
            values = {f: value for f, (value, _, _) in zip(members, chosen, strict=True)}
            found.append(Outcome(led[key], values, tuple(words for _, words, _ in chosen)))
    ranked = sorted(range(len(found)), key=lambda k: -found[k].probability)
    told = [found[k] for k in sorted(ranked[:MOST_OUTCOMES])]
    total = math.fsum(outcome.probability for outcome in found)
    if not told:
        return [Outcome(1.0, {})]
    parts = [outcome._replace(probability=outcome.probability / total) for outcome in told]
    rest = 1.0 - math.fsum(outcome.probability for outcome in parts)
    return [*parts, Outcome(rest, {})] if len(found) > len(told) else parts


def find_key(arrays: ReinforcedArrays, row: Floats, status: npt.NDArray[np.uint8]) -> int:
    """Return half of the key of the situation of what is known.

    Parameters
    ----------
    arrays
        What was learned.
    row, status
        What is known.

    Examples
    --------
    >>> from quercus import ReinforcedTree
    >>> tree = ReinforcedTree().fit([["a"], ["b"]] * 20, ["no", "yes"] * 20)
    >>> find_key(tree._reinforced, np.array([np.nan]), np.zeros(1, np.uint8))
    0
    """
    key = 0
    for f in range(len(arrays.features)):
        if status[f] in (KNOWN, MISSING):
            key ^= _key(f, *_cell_of(arrays, f, float(row[f])))
    return key


def find_place(arrays: ReinforcedArrays, key: int) -> int:
    """Return the place of a situation, NOWHERE if it was never updated or is forgotten.

    Parameters
    ----------
    arrays
        What was learned.
    key
        What `find_key` returned.

    Examples
    --------
    >>> from quercus import ReinforcedTree
    >>> find_place(ReinforcedTree().fit([["a"], ["b"]] * 20, ["no", "yes"] * 20)._reinforced, 0)
    0
    """
    place = int(arrays.links[0, key & (arrays.links.shape[1] - 1)])
    while place != NOWHERE and int(arrays.situations["key0"][place]) != key:
        place = int(arrays.links[1, place])
    return place


def _read_results(arrays: ReinforcedArrays, key: int, item: int) -> dict[int, float]:
    """Return by key how often a question led where."""
    place = find_place(arrays, key)
    question = NOWHERE if place == NOWHERE else int(arrays.situations["first"][place])
    while question != NOWHERE and int(arrays.questions["item"][question]) != item:
        question = int(arrays.questions["next"][question])
    result, found = NOWHERE if question == NOWHERE else int(arrays.questions["first"][question]), {}
    while result != NOWHERE:
        record: Any = arrays.results[result]
        found[int(record["key"])] = float(record["share"])
        result = int(record["next"])
    return found


def _read_tallies(arrays: ReinforcedArrays, key: int, head: int, belief: Floats) -> dict[int, float]:
    """Return by key how probable it is by the tallies of an item, named by its first feature, to be led there."""
    if head >= len(arrays.features) or arrays.features["signs"][head] == 0:
        return {}
    count, place = int(arrays.features["signs"][head]), int(arrays.features["sign"][head])
    weights = belief / (arrays.tallies[place, : len(belief)] + 0.5 * count)
    found = {}
    for _ in range(count):
        place = int(arrays.signs["next"][place])
        found[key ^ int(arrays.signs["key"][place])] = float(weights @ (arrays.tallies[place, : len(belief)] + 0.5))
    return found


def _read_cells(arrays: ReinforcedArrays, schema: Schema, f: int) -> list[tuple[float, Part, int]]:
    """Return for each cell of a feature a value in it, its words and its key."""
    name, count = schema.names[f], int(arrays.features["cells"][f])
    if arrays.features["kind"][f] != NUMERIC:
        named: list[Part] = [Names(name, (schema.categories[f][code],), count) for code in range(count)]
        values = [float(code) for code in range(count)]
    else:
        edges = arrays.edges[f, : max(count - 1, 0)].tolist()
        named = [Span(name, low, high) for low, high in pairwise([-math.inf, *edges, math.inf])]
        # An edge itself is in the cell that it ends.
        values = [*edges, math.nextafter(edges[-1], math.inf) if edges else 0.0]
    drawn = int(arrays.features["drawn"][f])
    return [(values[v], named[v], _key(f, drawn, _FIRST + v)) for v in range(count)]


def _cell_of(arrays: ReinforcedArrays, f: int, x: float) -> tuple[int, int]:
    """Return how often the bins of a feature have been drawn, and the cell of a value."""
    if math.isnan(x):
        return 0, _NO_VALUE
    count, drawn = int(arrays.features["cells"][f]), int(arrays.features["drawn"][f])
    if arrays.features["kind"][f] == NUMERIC:
        return drawn, _FIRST + int((arrays.edges[f, : max(count - 1, 0)] < x).sum()) if count else _FIRST - 1
    return drawn, _FIRST + int(x) if 0 <= x < count else _FIRST - 1


def _key(f: int, drawn: int, cell: int) -> int:
    """Return half of the key of a result, as kernels make it."""
    start = np.array([((f + 1) * _STEP + drawn) & (2**64 - 1)], np.uint64)
    return int(mix_bits.py_func(mix_bits.py_func(start) + np.uint64(cell))[0])
