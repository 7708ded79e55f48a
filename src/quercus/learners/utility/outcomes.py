"""What may come back when an item is bought, as the mean probabilities of a utility tree tell."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from quercus.acquisition.layout import KNOWN
from quercus.acquisition.policy_outcomes import MOST_OUTCOMES, Names, Outcome, Part, Span
from quercus.engine import Floats
from quercus.learners.utility.kernels.layout import QUANTILES
from quercus.learners.utility.state import UtilityState
from quercus.rows import NUMERIC
from quercus.schema import Schema

# Of the joint outcomes of a group so many are followed from feature to feature.
_MOST_FOLLOWED = 4096

FindPosterior = Callable[[Floats, npt.NDArray[np.uint8]], Floats]


class BinTable(NamedTuple):
    """The bins of a feature: for each its probability by class, a value in it, and its words.

    Examples
    --------
    >>> spans = [Span("age", -math.inf, 40.0), Span("age", 40.0, 60.0), Span("age", 60.0, math.inf)]
    >>> bins = BinTable(np.array([[0.25], [0.25], [0.5]]), np.array([40.0, 60.0, 61.0]), spans)
    >>> [part.text() for part in bins.grouped([0, 2]).parts]
    ['age <= 60', 'age > 60']
    """

    theta: Floats
    values: Floats
    parts: list[Part]

    def grouped(self, starts: list[int]) -> BinTable:
        """Return the bins of numbers with those from each start to the next as one."""
        ends = [*starts[1:], len(self.values)]
        theta = np.add.reduceat(self.theta, starts, axis=0)
        spans = [(self.parts[start], self.parts[end - 1]) for start, end in zip(starts, ends, strict=True)]
        parts: list[Part] = [
            Span(first.feature, first.low, last.high)
            for first, last in spans
            if isinstance(first, Span) and isinstance(last, Span)
        ]
        return BinTable(theta, self.values[starts], parts)


def find_outcomes(
    state: UtilityState,
    prior: float,
    schema: Schema,
    find_posterior: FindPosterior,
    row: Floats,
    status: npt.NDArray[np.uint8],
    places: Iterable[int],
) -> list[Outcome]:
    """Return what may come back of features that are bought together, in the order of their bins.

    Parameters
    ----------
    state, prior, schema
        What was learned, and of what.
    find_posterior
        Gives the probabilities by class of a row of which some is known.
    row, status
        What is known.
    places
        The features.

    Examples
    --------
    >>> from quercus import UtilityTree
    >>> tree = UtilityTree().fit([["a"], ["b"], ["b"]] * 20, ["no", "yes", "yes"] * 20)
    >>> row, status = np.array([np.nan]), np.zeros(1, np.uint8)
    >>> outcomes = find_outcomes(tree._state, 2.0, tree.schema_, tree._posterior, row, status, [0])
    >>> [(outcome.words, round(outcome.probability, 2)) for outcome in outcomes]
    [("x0 == 'a'", 0.34), ("x0 == 'b'", 0.66)]
    """
    tables = {f: read_bins(state, prior, schema, f) for f in places}
    if state.numeric != QUANTILES:
        tables = {f: _by_edge(tables, f, find_posterior, row, status) for f in tables}
    # joint[o, y]: probability of the outcome o and the class y.
    joint, chosen = find_posterior(row, status).reshape(1, -1), np.zeros((1, 0), np.int64)
    for bins in tables.values():
        number = len(bins.values)
        joint = (joint[:, None, :] * bins.theta[None, :, :]).reshape(-1, joint.shape[1])
        chosen = np.column_stack([np.repeat(chosen, number, axis=0), np.tile(np.arange(number), len(chosen))])
        joint, chosen = _most_probable(joint, chosen, _MOST_FOLLOWED)
    if len(tables) > 1:
        joint, chosen = _most_probable(joint, chosen, MOST_OUTCOMES)
    outcomes = []
    for probability, numbers in zip(joint.sum(axis=1).tolist(), chosen.tolist(), strict=True):
        picked = list(zip(tables.items(), numbers, strict=True))
        values = {f: float(bins.values[v]) for (f, bins), v in picked}
        outcomes.append(Outcome(probability, values, tuple(bins.parts[v] for (_, bins), v in picked)))
    if math.prod(len(bins.values) for bins in tables.values()) > len(outcomes):
        outcomes.append(Outcome(max(0.0, 1.0 - math.fsum(outcome.probability for outcome in outcomes)), {}))
    return outcomes


def read_bins(state: UtilityState, prior: float, schema: Schema, f: int) -> BinTable:
    """Return the bins of a feature with the means of their probabilities.

    Parameters
    ----------
    state, prior, schema
        What was learned, and of what.
    f
        The feature.

    Examples
    --------
    >>> from quercus import UtilityTree
    >>> tree = UtilityTree().fit([[1.0], [3.0], [3.0]] * 20, ["no", "yes", "yes"] * 20)
    >>> bins = read_bins(tree._state, 2.0, tree.schema_, 0)
    >>> [part.text() for part in bins.parts], bins.theta.round(2).tolist()
    (['x0 <= 2', 'x0 > 2'], [[0.95, 0.02], [0.05, 0.98]])
    """
    classes, name = state.classes, schema.names[f]
    feature: Any = state.features[f] if f < len(state.features) else None
    if feature is None or feature["bins"] == 0:
        # Whatever comes back of it was never learned, and counts as missing.
        return BinTable(np.ones((1, classes)), np.array([np.nan]), [Span(name, -math.inf, math.inf)])
    first, number, unit = int(feature["first"]), int(feature["bins"]), float(state.options["unit"][0])
    counts = state.counts[first : first + number, :classes] / unit
    theta = (prior / number + counts) / (prior + state.totals[f, :classes] / unit)
    if feature["kind"] != NUMERIC:
        named: list[Part] = [Names(name, (schema.categories[f][code],), number) for code in range(number)]
        return BinTable(theta, np.arange(number, dtype=np.float64), named)
    edges = state.edges[f, : number - 1].tolist()
    ends = [-math.inf, *edges, math.inf]
    spans: list[Part] = [Span(name, low, high) for low, high in pairwise(ends)]
    # An edge itself is in the bin that it ends.
    last = math.nextafter(edges[-1], math.inf) if edges else 0.0
    return BinTable(theta, np.array([*edges, last]), spans)


def _by_edge(
    tables: dict[int, BinTable], f: int, find_posterior: FindPosterior, row: Floats, status: npt.NDArray[np.uint8]
) -> BinTable:
    """Return the two sides of the edge that a feature is asked about: bins that make no difference are one."""
    bins = tables[f]
    if not isinstance(bins.parts[0], Span) or len(bins.values) < 2:
        return bins
    row, status = row.copy(), status.copy()
    for other, others in tables.items():
        row[other] = others.values[0]
        status[other] = KNOWN if not np.isnan(row[other]) else status[other]
    seen = []
    for value in bins.values.tolist():
        row[f] = value
        seen.append(find_posterior(row, status).tolist())
    starts = [0, *(v for v in range(1, len(seen)) if seen[v] != seen[v - 1])]
    # If no bin makes a difference the edge cannot be seen, and all are kept apart.
    return bins.grouped(starts) if len(starts) > 1 else bins


def _most_probable(joint: Floats, chosen: npt.NDArray[np.int64], most: int) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Return the most probable outcomes, in their order."""
    if len(joint) <= most:
        return joint, chosen
    kept = np.sort(np.argsort(-joint.sum(axis=1), kind="stable")[:most])
    return joint[kept], chosen[kept]
