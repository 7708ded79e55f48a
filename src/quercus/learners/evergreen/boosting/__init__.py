"""Evergreen boost: boosted and randomized trees beside an evergreen tree, fitted anew from the rows that it keeps.

Our own; ``docs/evergreen.md`` tells every step.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from quercus.classifier import Classifier
from quercus.interrupts import uninterrupted
from quercus.learners.evergreen.boosting.engine import BoostEngine


class EvergreenBoost(Classifier):
    """Classifier for accuracy first: boosted trees beside an evergreen tree, as good as boosting refitted every night.

    Gradient boosting [1]_ on the rows that the tree keeps, whose splits are drawn at random [2]_, then extremely
    randomized trees, which vote; a bit of both with each row that comes. How many rounds count is learned, and how much
    each kind of tree does: by its loss on rows that it had not seen.

    Parameters
    ----------
    rounds
        The most rounds of boosting: there are so many only where they pay.
    depth
        Of a boosted tree, at most.
    rate
        How much of what it learned a boosted tree adds.
    randomized
        How many extremely randomized trees [2]_ vote; 0: none.
    bins, keep, adaptive, loss, nominal, features, seed
        As of `EvergreenTree`.
    max_bytes
        Limit for the memory of everything, rows included.

    Attributes
    ----------
    classes_
        Labels seen so far, sorted.
    rows_
        How many of the learned rows are kept.

    References
    ----------
    .. [1] Friedman (2002). Stochastic gradient boosting.
    .. [2] Geurts, Ernst & Wehenkel (2006). Extremely randomized trees.

    Examples
    --------
    >>> import quercus as qc
    >>> X, y = qc.streams.SEA(seed=1).take(3_000)
    >>> boost = qc.EvergreenBoost(seed=7).partial_fit(X[:2_000], y[:2_000])
    >>> round(float((boost.predict(X[2_000:]) == y[2_000:]).mean()), 3)
    0.901
    """

    engine = BoostEngine()
    changeable = frozenset({"loss"})
    former: ClassVar[Mapping[str, Any]] = {"randomized": 0}
    _ablate: ClassVar[frozenset[str]] = frozenset()

    def __init__(
        self,
        *,
        rounds: int = 211,
        depth: int = 8,
        rate: float = 0.1,
        randomized: int = 50,
        bins: int = 128,
        keep: str = "sample",
        adaptive: bool = True,
        loss: Mapping[Any, Mapping[Any, float]] | None = None,
        nominal: Collection[str | int] | None = None,
        features: str = "closed",
        max_bytes: int = 2**28,
        seed: int | None = 0,
    ) -> None:
        self.rounds = rounds
        self.depth = depth
        self.rate = rate
        self.randomized = randomized
        self.bins = bins
        self.keep = keep
        self.adaptive = adaptive
        self.loss = loss
        self.nominal = nominal
        self.features = features
        self.max_bytes = max_bytes
        self.seed = seed

    @property
    def rows_(self) -> int:
        """How many of the learned rows are kept."""
        return int(self._state.tree.n_rows) if self._is_fitted() else 0

    def regrow(self) -> EvergreenBoost:
        """Grow the tree anew from all rows that are kept, and fit boosted and randomized trees to them, now.

        Examples
        --------
        >>> import quercus as qc
        >>> X, y = qc.streams.RandomTree(seed=1).take(500)
        >>> qc.EvergreenBoost().partial_fit(X, y).regrow().n_leaves_ > 100
        True
        """
        self._check_fitted()
        with self._learning(), uninterrupted():
            self._own_gate.alone(self.engine.regrow, self._state, self)
        return self
