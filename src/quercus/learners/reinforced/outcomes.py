"""What may come back when an item is asked for, as the shares of a reinforced tree tell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise, product
from typing import Any

import numpy as np
import numpy.typing as npt

from quercus.acquisition.layout import KNOWN, MISSING
from quercus.acquisition.policy_outcomes import MOST_OUTCOMES, Names, Outcome, Part, Span
from quercus.engine import Floats
from quercus.learners.reinforced.layout import NOWHERE
from quercus.learners.reinforced.state import ReinforcedState
from quercus.randomness import GOLDEN, mix_bits
from quercus.rows import NUMERIC
from quercus.schema import Schema

# So many joint outcomes of a group are looked for.
_MOST_FOLLOWED = 65_536
# Bin of a value that is missing, and how far those of others are from it.
_NO_VALUE, _FIRST = 0, 2


def find_outcomes(
    tree: ReinforcedState,
    schema: Schema,
    row: Floats,
    status: npt.NDArray[np.uint8],
    item: int,
    members: Sequence[int],
    belief: Floats,
) -> list[Outcome]:
    """Return what may come back of an item, in the order of its bins; values that are missing are left out.

    Parameters
    ----------
    tree, schema
        What was learned, and of what.
    row, status
        What is known.
    item, members
        The item, and its features.
    belief
        How probable each class is: where the question was never asked, its counts and this tell what to expect.

    Examples
    --------
    >>> from quercus import ReinforcedTree
    >>> tree = ReinforcedTree().fit([["a"], ["b"], ["b"]] * 20, ["no", "yes", "yes"] * 20)
    >>> row, status = np.array([np.nan]), np.zeros(1, np.uint8)
    >>> outcomes = find_outcomes(tree._state, tree.schema_, row, status, 0, [0], np.array([1 / 3, 2 / 3]))
    >>> [(outcome.words, round(outcome.probability, 2)) for outcome in outcomes]
    [("x0 == 'a'", 0.33), ("x0 == 'b'", 0.67)]
    """
    here = find_key(tree, row, status)
    led = _read_transitions(tree, here, item) or _read_counts(tree, here, members[0], belief)
    bins = [_read_bins(tree, schema, f) for f in members]
    if math.prod(map(len, bins)) > _MOST_FOLLOWED or not led:
        return [Outcome(1.0, {})]
    found = []
    for chosen in product(*bins):
        key = here
        for _, _, part in chosen:
            key ^= part
        if key in led:
            values = {f: value for f, (value, _, _) in zip(members, chosen, strict=True)}
            found.append(Outcome(led[key], values, tuple(words for _, words, _ in chosen)))
    ranked = sorted(range(len(found)), key=lambda k: -found[k].probability)
    kept = [found[k] for k in sorted(ranked[:MOST_OUTCOMES])]
    total = math.fsum(outcome.probability for outcome in found)
    if not kept:
        return [Outcome(1.0, {})]
    parts = [outcome._replace(probability=outcome.probability / total) for outcome in kept]
    rest = 1.0 - math.fsum(outcome.probability for outcome in parts)
    return [*parts, Outcome(rest, {})] if len(found) > len(kept) else parts


def find_key(tree: ReinforcedState, row: Floats, status: npt.NDArray[np.uint8]) -> int:
    """Return half of the key of the state of what is known.

    Parameters
    ----------
    tree
        What was learned.
    row, status
        What is known.

    Examples
    --------
    >>> from quercus import ReinforcedTree
    >>> tree = ReinforcedTree().fit([["a"], ["b"]] * 20, ["no", "yes"] * 20)
    >>> find_key(tree._state, np.array([np.nan]), np.zeros(1, np.uint8))
    0
    """
    key = 0
    for f in range(len(tree.features)):
        if status[f] in (KNOWN, MISSING):
            key ^= _key(f, *_bin_of(tree, f, float(row[f])))
    return key


def find_state(tree: ReinforcedState, key: int) -> int:
    """Return a state by half of its key, NOWHERE if it was never updated or is forgotten.

    Parameters
    ----------
    tree
        What was learned.
    key
        What `find_key` returned.

    Examples
    --------
    >>> from quercus import ReinforcedTree
    >>> find_state(ReinforcedTree().fit([["a"], ["b"]] * 20, ["no", "yes"] * 20)._state, 0)
    0
    """
    state = int(tree.links[0, key & (tree.links.shape[1] - 1)])
    while state != NOWHERE and int(tree.states["key0"][state]) != key:
        state = int(tree.links[1, state])
    return state


def _read_transitions(tree: ReinforcedState, key: int, item: int) -> dict[int, float]:
    """Return by key how often an action led where."""
    state = find_state(tree, key)
    action = NOWHERE if state == NOWHERE else int(tree.states["first"][state])
    while action != NOWHERE and int(tree.actions["item"][action]) != item:
        action = int(tree.actions["next"][action])
    place, found = NOWHERE if action == NOWHERE else int(tree.actions["first"][action]), {}
    while place != NOWHERE:
        transition: Any = tree.transitions[place]
        found[int(transition["key"])] = float(transition["share"])
        place = int(transition["next"])
    return found


def _read_counts(tree: ReinforcedState, key: int, head: int, belief: Floats) -> dict[int, float]:
    """Return by key how probable it is by the counts of an item, named by its first feature, to be led there."""
    if head >= len(tree.features) or tree.features["results"][head] == 0:
        return {}
    count, place = int(tree.features["results"][head]), int(tree.features["first"][head])
    weights = belief / (tree.counts[place, : len(belief)] + 0.5 * count)
    found = {}
    for _ in range(count):
        place = int(tree.results["next"][place])
        found[key ^ int(tree.results["key"][place])] = float(weights @ (tree.counts[place, : len(belief)] + 0.5))
    return found


def _read_bins(tree: ReinforcedState, schema: Schema, f: int) -> list[tuple[float, Part, int]]:
    """Return for each bin of a feature a value in it, its words and its key."""
    name, count = schema.names[f], int(tree.features["bins"][f])
    if tree.features["kind"][f] != NUMERIC:
        named: list[Part] = [Names(name, (schema.categories[f][code],), count) for code in range(count)]
        values = [float(code) for code in range(count)]
    else:
        edges = tree.edges[f, : max(count - 1, 0)].tolist()
        named = [Span(name, low, high) for low, high in pairwise([-math.inf, *edges, math.inf])]
        # An edge itself is in the bin that it ends.
        values = [*edges, math.nextafter(edges[-1], math.inf) if edges else 0.0]
    drawn = int(tree.features["drawn"][f])
    return [(values[v], named[v], _key(f, drawn, _FIRST + v)) for v in range(count)]


def _bin_of(tree: ReinforcedState, f: int, x: float) -> tuple[int, int]:
    """Return how often the bins of a feature have been drawn, and the bin of a value."""
    if math.isnan(x):
        return 0, _NO_VALUE
    count, drawn = int(tree.features["bins"][f]), int(tree.features["drawn"][f])
    if tree.features["kind"][f] == NUMERIC:
        return drawn, _FIRST + int((tree.edges[f, : max(count - 1, 0)] < x).sum()) if count else _FIRST - 1
    return drawn, _FIRST + int(x) if 0 <= x < count else _FIRST - 1


def _key(f: int, drawn: int, bin_id: int) -> int:
    """Return half of the key of a result, as kernels make it."""
    start = np.array([((f + 1) * GOLDEN + drawn) & (2**64 - 1)], np.uint64)
    return int(mix_bits.py_func(mix_bits.py_func(start) + np.uint64(bin_id))[0])
