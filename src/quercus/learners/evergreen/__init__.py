"""Evergreen tree: it keeps the rows that it has learned, a byte per value, and grows anew from them.

Our own; ``docs/evergreen.md`` tells every step.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from quercus.classifier import Classifier
from quercus.interrupts import uninterrupted
from quercus.learners.evergreen.engine import EvergreenEngine
from quercus.learners.evergreen.exchanging import exchange
from quercus.learners.evergreen.forest import ForestEngine


class EvergreenTree(Classifier):
    """Classifier that wastes no label: a decision tree that is grown anew from the rows that were learned.

    As accurate as a batch tree on the same labels, mostly more so, at the speed of a stream and in bounded memory. It
    answers by the average of all prunings of its tree [1]_ [2]_, by recent labels where that has paid, and by an
    additive model of single features on top of the tree, whose weights AdaGrad [3]_ learns. Rows are kept as bin codes,
    and splits are found on histograms [4]_; a test of its last errors [5]_ tells when to grow from the last rows alone.

    Parameters
    ----------
    bins
        The most bins of a numeric feature, at first; where values crowd together later, bins are split.
    keep
        Which rows stay when the reservoir is full: ``"sample"``, a fair sample of all that were learned; ``"recent"``,
        the last ones.
    adaptive
        Whether the tree monitors its errors, and when they become clearly more grows anew from the last rows alone.
    loss
        What wrong answers cost: ``{true label: {answer: cost}}``; 1 where nothing is given.
    nominal
        Names or positions of columns that hold categories although they look like numbers.
    features
        ``"closed"``: features that were not in the first example are refused; ``"open"``: they are added.
    readable
        Whether the printed tree alone is the model: an answer is that of its leaf, by the shares that are shown there.
        Otherwise prunings, recent labels and single features count as well, which is more accurate; by how much,
        ``docs/evergreen.md`` tells.
    max_bytes
        Limit for the memory of the tree, rows included.
    seed
        Of what is left to chance: which rows stay; None for a fresh one.

    Attributes
    ----------
    classes_
        Labels seen so far, sorted.
    rows_
        How many of the learned rows are kept.

    References
    ----------
    .. [1] Willems, Shtarkov & Tjalkens (1995). The context-tree weighting method: basic properties.
    .. [2] Helmbold & Schapire (1997). Predicting nearly as well as the best pruning of a decision tree.
    .. [3] Duchi, Hazan & Singer (2011). Adaptive subgradient methods for online learning and stochastic optimization.
    .. [4] Ke et al. (2017). LightGBM: a highly efficient gradient boosting decision tree.
    .. [5] Nishida & Yamauchi (2007). Detecting concept drift using statistical testing.

    Examples
    --------
    >>> import quercus as qc
    >>> X, y = qc.streams.RandomTree(leaves=30, q=0.95, seed=1).take(6_000)
    >>> tree = qc.EvergreenTree(seed=7).partial_fit(X[:5_000], y[:5_000])
    >>> round(float((tree.predict(X[5_000:]) == y[5_000:]).mean()), 3)
    0.92
    """

    engine = EvergreenEngine()
    # Parts that are switched off, to see what they are worth: "regrow", "aggregate", "recent", "singles".
    _ablate: ClassVar[frozenset[str]] = frozenset()

    def __init__(
        self,
        *,
        bins: int = 64,
        keep: str = "sample",
        adaptive: bool = True,
        loss: Mapping[Any, Mapping[Any, float]] | None = None,
        nominal: Collection[str | int] | None = None,
        features: str = "closed",
        readable: bool = False,
        max_bytes: int = 2**25,
        seed: int | None = 0,
    ) -> None:
        self.bins = bins
        self.keep = keep
        self.adaptive = adaptive
        self.loss = loss
        self.nominal = nominal
        self.features = features
        self.readable = readable
        self.max_bytes = max_bytes
        self.seed = seed

    @property
    def rows_(self) -> int:
        """How many of the learned rows are kept."""
        return int(self._state.n_rows) if self._is_fitted() else 0

    def exchange(self, x: Mapping[str, Any], was: Any, now: Any) -> bool:
        """Give a row that was learned another label, without learning the others again; False if it is not kept.

        The tree then counts all rows that are kept with their right labels, and will grow from these. What it made of
        the wrong one until now stays: its splits until it grows anew, weights of its parts, and noticed errors. So it
        is not, byte by byte, the tree that would have learned the right label at once.

        Parameters
        ----------
        x
            The row.
        was, now
            The label that was learned, and the right one.

        Examples
        --------
        >>> import quercus as qc
        >>> tree = qc.EvergreenTree().partial_fit([[1.0], [2.0], [3.0]], ["no", "no", "yes"])
        >>> tree.exchange({"x0": 2.0}, "no", "yes"), tree.region_one({"x0": 2.0}, by_counts=True)
        (True, ({'no': 0.375, 'yes': 0.625}, 3.0))
        """
        return exchange(self, x, was, now)

    def regrow(self) -> EvergreenTree:
        """Grow the tree anew from all rows that are kept, now; before `freeze`, say.

        Examples
        --------
        >>> import quercus as qc
        >>> X, y = qc.streams.RandomTree(seed=1).take(1_000)
        >>> tree = qc.EvergreenTree().partial_fit(X, y)
        >>> tree.regrow().n_leaves_ > 10
        True
        """
        self._check_fitted()
        with self._learning(), uninterrupted():
            self._own_gate.alone(self.engine.regrow, self._state)
        return self


class EvergreenForest(Classifier):
    """Classifier of several evergreen trees, each over a part of the features: more accurate than one, and slower.

    The trees answer by a weighted geometric mean, how well each did of late being its weight; an additive model of
    single features is on top of that.

    Parameters
    ----------
    trees
        Their number.
    subspace
        Share of the features that a tree may use.
    sight
        Share of these that are evaluated at a node, drawn anew for each node.
    threads
        How many trees may run at the same time; answers are the same for any number.
    bins, keep, adaptive, loss, nominal, features, seed
        As of `EvergreenTree`.
    max_bytes
        Limit for the memory of all trees together, rows included.

    Attributes
    ----------
    classes_
        Labels seen so far, sorted.
    rows_
        How many of the learned rows each tree keeps, in the mean.

    Examples
    --------
    >>> import quercus as qc
    >>> X, y = qc.streams.SEA(seed=1).take(3_000)
    >>> forest = qc.EvergreenForest(trees=5, seed=7).partial_fit(X[:2_000], y[:2_000])
    >>> round(float((forest.predict(X[2_000:]) == y[2_000:]).mean()), 3)
    0.882
    """

    engine = ForestEngine()
    changeable = frozenset({"loss", "threads"})
    _ablate: ClassVar[frozenset[str]] = frozenset()

    def __init__(
        self,
        *,
        trees: int = 10,
        subspace: float = 0.8,
        sight: float = 0.7,
        threads: int = 1,
        bins: int = 64,
        keep: str = "sample",
        adaptive: bool = True,
        loss: Mapping[Any, Mapping[Any, float]] | None = None,
        nominal: Collection[str | int] | None = None,
        features: str = "closed",
        max_bytes: int = 2**28,
        seed: int | None = 0,
    ) -> None:
        self.trees = trees
        self.subspace = subspace
        self.sight = sight
        self.threads = threads
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
        """How many of the learned rows each tree keeps, in the mean."""
        if not self._is_fitted():
            return 0
        rows: int = sum(tree.n_rows for tree in self._state.trees)
        return round(rows / len(self._state.trees))

    def exchange(self, x: Mapping[str, Any], was: Any, now: Any) -> bool:
        """Give a row that was learned another label, in all trees that keep it; False if none does.

        Parameters
        ----------
        x
            The row.
        was, now
            The label that was learned, and the right one.

        Examples
        --------
        >>> import quercus as qc
        >>> forest = qc.EvergreenForest(trees=2).partial_fit([[1.0], [2.0], [3.0]], ["no", "no", "yes"])
        >>> forest.exchange({"x0": 2.0}, "no", "yes"), forest.exchange({"x0": 2.0}, "no", "yes")
        (True, False)
        """
        return exchange(self, x, was, now)

    def regrow(self) -> EvergreenForest:
        """Grow all trees anew from the rows that are kept, now.

        Examples
        --------
        >>> import quercus as qc
        >>> X, y = qc.streams.RandomTree(seed=1).take(500)
        >>> qc.EvergreenForest(trees=3).partial_fit(X, y).regrow().n_leaves_ > 10
        True
        """
        self._check_fitted()
        with self._learning(), uninterrupted():
            self._own_gate.alone(self.engine.regrow, self._state, self)
        return self
