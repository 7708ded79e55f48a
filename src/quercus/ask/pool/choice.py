"""Which row of a pool to ask for next: the region whose risk may be largest, or chance."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from quercus.ledger.betting import Numbers
from quercus.ledger.coverage import Counts

_CACHED = 2**16


class PoolChoice(NamedTuple):
    """A row that is to be asked for.

    Attributes
    ----------
    row, region
        Which, and where it lies.
    worth
        The score of its region.
    propensity
        NaN if it counts as chosen, not drawn.
    explored
        Whether chance alone asked for it.
    """

    row: int
    region: int
    worth: float
    propensity: float
    explored: bool


class RegionChoice:
    """The regions of a pool at one moment, and one choice after the other in them."""

    def __init__(
        self,
        ids: Counts,
        counts: Numbers,
        order: Counts,
        waiting: list[int],
        *,
        delta: float,
        floor: float,
        explore: float,
    ) -> None:
        regions = len(counts)
        self._delta, self._floor, self._explore = delta, floor, explore
        self._counts = np.zeros((regions, max(counts.shape[1], 2)))
        self._counts[:, : counts.shape[1]] = counts
        self._sizes = np.bincount(ids, minlength=regions)
        # Unasked rows by region, in their order; those of region r are heads[r] .. ends[r] - 1.
        self._rows = order[np.argsort(ids[order], kind="stable")]
        self._places = np.empty(len(ids), np.int64)
        self._places[order] = np.arange(len(order))
        self._ends = np.cumsum(np.bincount(ids[order], minlength=regions))
        self._heads = np.concatenate([[0], self._ends[:-1]])
        for region in ids[waiting].tolist() if waiting else []:
            self._expect_answer(region)
        self._scores = np.full(regions, -math.inf)
        for region in np.flatnonzero(self._heads < self._ends).tolist():
            self._score(region)

    @property
    def unasked(self) -> int:
        """Rows that can still be asked for."""
        return int((self._ends - self._heads).sum())

    def next(self, explored: float, place: float, coin: float) -> PoolChoice:
        """Choose a row among the unasked ones, of which there must be one; it counts as asked from then on."""
        left = self._ends - self._heads
        unasked = int(left.sum())
        best = self._best()
        by_chance = explored < self._explore
        region = int(np.searchsorted(np.cumsum(left), int(place * unasked), side="right")) if by_chance else best
        row, worth = int(self._rows[self._heads[region]]), float(self._scores[region])
        # How often this row is asked for, compared with a row that is drawn evenly.
        ratio = self._explore + ((1.0 - self._explore) * unasked / int(left[region]) if region == best else 0.0)
        propensity = min(ratio, 1.0)
        if self._explore == 0.0 or coin >= propensity / ratio:
            propensity = math.nan
        self._heads[region] += 1
        self._expect_answer(region)
        self._score(region)
        return PoolChoice(row, region, worth, propensity, by_chance)

    def _best(self) -> int:
        """Return the region of the highest score; of several the one whose next row comes first."""
        open_ = np.flatnonzero(self._heads < self._ends)
        bare = open_[self._counts[open_].sum(axis=1) < self._floor]
        among = bare if len(bare) else open_
        scores = self._scores[among]
        tied = among[scores == scores.max()]
        return int(tied[self._places[self._rows[self._heads[tied]]].argmin()])

    def _expect_answer(self, region: int) -> None:
        """Count a row that waits for its answer as if it had got the one that the region gives."""
        self._counts[region, self._counts[region].argmax()] += 1.0

    def _score(self, region: int) -> None:
        self._scores[region] = (
            self._sizes[region] * find_risk(tuple(self._counts[region].tolist()), self._delta)
            if self._heads[region] < self._ends[region]
            else -math.inf
        )


@lru_cache(_CACHED)
def find_risk(counts: tuple[float, ...], delta: float) -> float:
    """Return an upper bound of how often a region is wrong that answers with its most frequent class."""
    from quercus.statistics import risk_bound

    return float(risk_bound(np.array(counts), delta))


def is_finer(new: Counts, old: Counts) -> bool:
    """Return whether every new region lies in one old region."""
    if not len(new):
        return True
    holder = np.zeros(int(new.max()) + 1, np.int64)
    holder[new] = old
    return bool((holder[new] == old).all())
