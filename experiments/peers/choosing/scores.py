"""Results as tables: a row for each data set, a column for each learner, and where there are gaps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from experiments.harness.data import Floats
from experiments.harness.ranks import PairTest, compare_pair, holm
from experiments.harness.results import Results
from experiments.peers.choosing.learners import RANKED
from experiments.peers.choosing.passes import IN_ORDER, SETS, SHUFFLED

# Streams whose order is that of time, or of place.
STREAMS = ("electricity", "airlines", "covertype")
# The order of these files is that of their makers: pixels beside each other, kinds of mushroom, all combinations.
BY_FILE = ("satimage", "mushroom", "nursery")
# On these the evergreen tree was looked at while it was made; docs/choosing.md tells of the others.
LOOKED_AT = ("letter", "electricity", "adult", "airlines", "covertype")
FRESH = tuple(name for name in SETS if name not in LOOKED_AT)
# Sets that count in each order.
COUNTED: dict[str, tuple[str, ...]] = {
    SHUFFLED: SETS,
    IN_ORDER: tuple(name for name in SETS if name not in BY_FILE),
}
LEVEL = 0.05


class ScoreTable(NamedTuple):
    """A figure by data set and learner; NaN is a gap."""

    sets: list[str]
    learners: list[str]
    values: Floats

    def column(self, learner: str) -> Floats:
        """Return the figures of a learner."""
        found: Floats = self.values[:, self.learners.index(learner)]
        return found

    def whole(self) -> ScoreTable:
        """Return the sets on which no learner has a gap."""
        keep = np.flatnonzero(~np.isnan(self.values).any(axis=1))
        return ScoreTable([self.sets[place] for place in keep], self.learners, self.values[keep])


def read_scores(
    found: Results,
    order: str,
    learners: Sequence[str] = RANKED,
    sets: Sequence[str] | None = None,
    column: str = "accuracy",
) -> ScoreTable:
    """Return a column of the results; sets are those that count in that order unless others are given."""
    lines = found.where(order=order)
    known = {
        (data, learner): np.nan if problem else value
        for data, learner, problem, value in zip(
            *(lines[name].tolist() for name in ("data", "learner", "problem", column)), strict=True
        )
    }
    rows = list(COUNTED[order] if sets is None else sets)
    values = [[float(known.get((data, learner), np.nan)) for learner in learners] for data in rows]
    return ScoreTable(rows, list(learners), np.array(values, np.float64))


def read_gaps(found: Results) -> list[str]:
    """Return which learners have no figures where, and why."""
    return [
        f"{learner} on {data}, {order}: {problem}"
        for learner, data, order, problem in zip(
            *(found[name].tolist() for name in ("learner", "data", "order", "problem")), strict=True
        )
        if problem
    ]


def compare_all(scores: ScoreTable, ours: str) -> dict[str, PairTest]:
    """Return a learner beside each other one, p corrected for their number; sets without a gap of the two."""
    pairs = {}
    for learner in scores.learners:
        if learner != ours:
            both = np.column_stack([scores.column(ours), scores.column(learner)])
            both = both[~np.isnan(both).any(axis=1)]
            pairs[learner] = compare_pair(both[:, 0], both[:, 1])
    corrected = holm([pair.p for pair in pairs.values()])
    return {name: pair._replace(p=float(p)) for (name, pair), p in zip(pairs.items(), corrected, strict=True)}


def verdict(pair: PairTest) -> str:
    """Return what a pair says in a word."""
    if pair.p >= LEVEL or pair.won == pair.lost:
        return "cannot be told"
    return "ahead" if pair.median > 0 or (pair.median == 0 and pair.won > pair.lost) else "behind"
