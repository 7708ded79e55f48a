"""Credible tree: a leaf is split when it is credible that its labels become purer by it.

Collet & Pietquin, "Bayesian Credible Intervals for Online and Active Learning of Classification Trees", ADPRL 2015.
Departures: many classes, nominal and missing values, weights; on streams bins instead of exact values and fewer
evaluations; a correction for the number of cuts and evaluations. `CredibleTree.paper()` is the published tree.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from quercus.arguments import check_choice, check_number
from quercus.classifier import Classifier
from quercus.engine import Floats, Integers
from quercus.estimator import not_fitted
from quercus.learners.incremental.credible_kernels import run_adaptive_credible_rows, run_credible_rows
from quercus.learners.incremental.engine import count_alternate_subtrees
from quercus.learners.incremental.layout import (
    CREDIBLE,
    CUTS,
    CUTS_AND_EVALUATIONS,
    HOEFFDING_INTERVAL,
    LABEL,
    NO_CORRECTION,
)
from quercus.learners.incremental.pooled.engine import PoolEngine, PoolLabels, read_places
from quercus.learners.incremental.pooled.state import PooledState
from quercus.rows import FullError
from quercus.schema import Schema, read_weights
from quercus.statistics.credible import MEASURES

_BOUNDS = {"credible": CREDIBLE, "hoeffding": HOEFFDING_INTERVAL}
_CORRECTIONS = {None: NO_CORRECTION, "cuts": CUTS, "cuts+looks": CUTS_AND_EVALUATIONS}
# A leaf is evaluated again when its weight has grown by this share, and by the grace period.
_PACE = 0.02
# What a pool without labels has not: a schema that is fitted, and what follows from it.
_OF_SCHEMA = frozenset(
    {"schema_", "n_features_in_", "feature_names_in_", "_pool_schema", "_labels", "_order", "_known"}
)


def _check(params: Any) -> None:
    check_choice("bound", params.bound, _BOUNDS)
    check_choice("correction", params.correction, _CORRECTIONS)
    check_number("delta", params.delta, least=0, above=True, most=0.5)


def _settings(params: Any) -> dict[str, Any]:
    # The rule compares with "no split" by itself: no tie-break, no test.
    return {
        "rule": _BOUNDS[params.bound],
        "scale": params.delta,
        "correction": _CORRECTIONS[params.correction],
        "pace": _PACE,
        "tie": 0.0,
        "alpha": 1.0,
    }


class CredibleTree(Classifier):
    """Decision tree that splits a leaf once the split is credible: Bayesian intervals instead of large-sample bounds.

    The labels of a region leave a posterior of its class shares, and so of its impurity. A leaf is split by the cut
    whose two children have the lowest impurity at the upper end of their intervals, if that is below the leaf's own at
    the lower end.

    Parameters
    ----------
    criterion
        Impurity: ``"entropy"``, ``"variance"`` or ``"deviation"`` (its square root).
    delta
        Probability that is left outside each end of an interval; larger means more leaves.
    bound
        ``"credible"``: the quantiles of the posterior. ``"hoeffding"``: the same rule with Hoeffding's bound.
    correction
        Many cuts are compared, and many times. ``"cuts"`` divides `delta` by the number of cuts, ``"cuts+looks"`` also
        spends it over the evaluations of a leaf; None leaves it as it is, as the paper does.
    cuts
        ``"binned"``: leaves keep histograms, for streams of any length. ``"exact"``: the tree keeps its rows and
        compares every cut after every label, for some thousand labels. None: exact with a pool, else binned.
    size
        What the two children of an exact cut weigh: the rows of the ``"pool"`` in each, labelled or not, its
        ``"labels"`` alone, or its ``"volume"``. None: the pool.
    grace_period
        Least weight of examples between two evaluations of a leaf with binned cuts.
    min_leaf
        Least weight of each child of a split.
    leaf
        Who answers in a leaf: ``"majority"``, ``"naive_bayes"``, or ``"adaptive"``: whichever has been right more often
        in that leaf. None: adaptive with binned cuts, else majority, which is all that exact ones can.
    loss
        What wrong answers cost: ``{true label: {answer: cost}}``; 1 where nothing is given.
    nominal
        Names or positions of columns that hold categories although they look like numbers.
    features
        ``"closed"``: features that were not in the first example are refused; ``"open"``: they are added.
    adaptive
        Follow changes: monitor the errors at every node and, where they rise, grow an alternate subtree that takes the
        node's place once it errs less.
    max_bytes
        Limit for the memory of the tree; at the limit the least promising leaves stop growing. The table of bounds,
        which all trees of one `delta` share, comes on top.
    seed
        Of the random generator in the state; None for a fresh one. This tree itself draws nothing.

    Attributes
    ----------
    classes_
        Labels seen so far, sorted.
    n_leaves_, depth_
        Size of the tree.
    feature_importances_
        Share of each feature in the impurity removed.
    n_pool_, pool_labelled_
        Number of rows kept, and which of them have a label.

    Notes
    -----
    What happens to a row, exactly, and what `delta` does and does not promise, is in ``docs/credible.md``.

    References
    ----------
    T. Collet, O. Pietquin: Bayesian Credible Intervals for Online and Active Learning of Classification Trees. ADPRL,
    2015.

    Examples
    --------
    >>> import quercus as qc
    >>> X, y = qc.streams.SEA(seed=1).take(5_000)
    >>> tree = qc.CredibleTree().partial_fit(X[:4_000], y[:4_000])
    >>> round(tree.score(X[4_000:], y[4_000:]), 3)
    0.884

    With a pool of rows whose labels cost money, it asks for those that are worth most:

    >>> tree = qc.CredibleTree().fit_pool(X)
    >>> sampler = qc.ask.PoolSampler(tree, X, labels=200)
    >>> for question in sampler:
    ...     learned = sampler.answer(question.id, y[question.row])
    >>> round(tree.score(X, y), 3)
    0.85
    """

    engine: ClassVar = PoolEngine(
        criteria=MEASURES,
        rules=tuple(_BOUNDS.values()),
        settings=_settings,
        check=_check,
        kernels=(run_credible_rows, run_adaptive_credible_rows),
    )
    n_alternates_ = property(count_alternate_subtrees)
    # The schema of a pool before its first label.
    _pool_schema: Schema

    def __init__(
        self,
        *,
        criterion: str = "entropy",
        delta: float = 0.15,
        bound: str = "credible",
        correction: str | None = None,
        cuts: str | None = None,
        size: str | None = None,
        grace_period: float = 20,
        min_leaf: float = 1,
        leaf: str | None = None,
        loss: Mapping[Any, Mapping[Any, float]] | None = None,
        nominal: Collection[str | int] | None = None,
        features: str = "closed",
        adaptive: bool = False,
        max_bytes: int = 2**28,
        seed: int | None = 0,
    ) -> None:
        self.criterion = criterion
        self.delta = delta
        self.bound = bound
        self.correction = correction
        self.cuts = cuts
        self.size = size
        self.grace_period = grace_period
        self.min_leaf = min_leaf
        self.leaf = leaf
        self.loss = loss
        self.nominal = nominal
        self.features = features
        self.adaptive = adaptive
        self.max_bytes = max_bytes
        self.seed = seed

    @classmethod
    def paper(cls, **changes: Any) -> Self:
        """Return the published tree: exact cuts, an evaluation after every label, no correction.

        Parameters
        ----------
        changes
            Arguments that are to differ; the paper tunes `delta` for every data set.

        Examples
        --------
        >>> CredibleTree.paper(delta=0.1)
        CredibleTree(cuts='exact', delta=0.1)
        """
        published: dict[str, Any] = {"criterion": "entropy", "delta": 0.2, "correction": None, "cuts": "exact"}
        return cls(**(published | changes))

    def fit_pool(self, X: Any) -> Self:
        """Forget everything and take rows without labels; `learn_pool` labels them.

        Parameters
        ----------
        X
            Rows, as in `partial_fit`.

        Examples
        --------
        >>> from quercus import CredibleTree
        >>> tree = CredibleTree().fit_pool([[1.0], [2.0], [3.0], [4.0]])
        >>> tree.learn_pool([0, 3], ["low", "high"]).predict([[1.5]]).tolist()
        ['high']
        >>> tree.n_pool_, tree.pool_labelled_.tolist()
        (4, [True, False, False, True])
        """
        fresh = self._new()
        fresh._take_pool(X)
        with self._learning():
            self._own_gate.alone(self._become, fresh)
        return self

    def learn_pool(self, rows: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn the labels of rows of the pool, in this order.

        Parameters
        ----------
        rows
            Positions in the pool, counted from 0; each row is labelled once.
        y
            Their labels.
        classes
            Labels known beforehand; others may still come.
        sample_weight
            A weight above 0 per label.
        """
        with self._learning():
            pool, known = self._find_pool(), self._is_fitted()
            if known and self._is_changed:
                self._check_changes()
            places = read_places(rows, pool)
            schema = self.schema_ if known else self._new_schema()
            labels = schema.read_labels(y, rows=len(places), classes=classes)
            weights = read_weights(sample_weight, len(places))
            if not weights.all():
                raise ValueError("a label of weight 0 teaches nothing; leave its row out, to label it later.")
            before, undo = dict(vars(self)), schema.to_dict()
            try:
                self._own_gate.alone(self._accept_labels, schema, labels, classes)
                self._run(PoolLabels(pool.values[places], places, y=labels.ids, weight=weights), LABEL)
            except FullError as full:
                self._own_gate.alone(self._undo_labels, before, undo, full.row)
                progress = f" The {full.row} labels before it are learned." if full.row else ""
                raise MemoryError(f"{full.error}{progress}") from full.error
        return self

    def holds(self, X: Any) -> bool:
        """Return whether these are the rows of the pool, in order; rows that came with their labels may follow.

        Parameters
        ----------
        X
            Rows, as in `fit_pool`.

        Examples
        --------
        >>> from quercus import CredibleTree
        >>> tree = CredibleTree().fit_pool([[1.0], [2.0]])
        >>> tree.holds([[1.0], [2.0]]), tree.holds([[1.0], [3.0]])
        (True, False)
        """
        pool = vars(self).get("_state")
        if not isinstance(pool, PooledState):
            return False
        schema = self.schema_ if self._is_fitted() else self._pool_schema
        try:
            rows = schema.read(X, learn=False).X
        except (ValueError, TypeError):
            return False
        n = len(rows)
        return n <= pool.n_rows and np.array_equal(rows, pool.values[:n, : rows.shape[1]], equal_nan=True)

    @property
    def n_pool_(self) -> int:
        """Number of rows in the pool, labelled or not; 0 without one."""
        tree = vars(self).get("_state")
        return tree.n_rows if isinstance(tree, PooledState) else 0

    @property
    def pool_labelled_(self) -> npt.NDArray[np.bool_]:
        """For each row of the pool, whether its label is known."""
        with self._own_gate.reading:
            pool = self._find_pool()
            return np.asarray(pool.labels_of(np.arange(pool.n_rows)) >= 0)

    def regions(self, X: Any = None) -> tuple[Integers, Floats]:
        """Return the leaf that each row lies in, and the class counts of every node: what a pool sampler sees.

        Parameters
        ----------
        X
            Rows, as in `predict`; None: those of the pool.
        """
        if X is not None:
            return super().regions(X)
        with self._own_gate.reading:
            pool = self._find_pool()
            if not self._is_fitted():
                return np.zeros(pool.n_rows, np.int64), np.zeros((1, 0))
            return self._read_regions(pool.values[: pool.n_rows])

    def _check_fitted(self) -> None:
        if not self._is_fitted() and self.n_pool_:
            raise not_fitted(
                f"This {type(self).__name__} instance has a pool, but no label yet. Call learn_pool first."
            )
        super()._check_fitted()

    def _find_pool(self) -> PooledState:
        pool = vars(self).get("_state")
        if not isinstance(pool, PooledState):
            raise not_fitted(f"This {type(self).__name__} has no pool; give it one with fit_pool.")
        return pool

    def _take_pool(self, X: Any) -> None:
        schema = self._new_schema()
        batch = schema.read(X, learn=True)
        schema.commit(batch)
        self._state = self.engine.new_pool(self, batch.X, schema.kinds)
        self._pool_schema = schema
        self._begin_learning()

    def _new_schema(self) -> Schema:
        pool = vars(self).get("_pool_schema")
        if pool is None:
            return super()._new_schema()
        if self._is_changed:
            self._check_changes()
        return Schema.from_dict(pool.to_dict())

    def _make_state(self, schema: Schema, classes: Any, features: int) -> None:
        if not self._is_fitted() and "_pool_schema" in vars(self):
            # The tree is there, and waits for its first label; it stays as it is if there is no room for that.
            self._state = self._state.copy() if classes is not None else self._state
            self.schema_ = schema
        super()._make_state(schema, classes, features)

    def _accept_labels(self, schema: Schema, labels: Any, classes: Any) -> None:
        try:
            schema.commit(labels)
            self._make_state(schema, classes, len(schema.names))
        except MemoryError as error:
            raise FullError(0, error) from error

    def _undo_labels(self, before: dict[str, Any], schema: dict[str, Any], learned: int) -> None:
        """Go back to the classes that were known after so many labels."""
        if learned == 0 and "schema_" not in before:
            self.__dict__.clear()
            self.__dict__.update(before)
            return
        labels, self.schema_ = self.schema_.labels, Schema.from_dict(schema)
        counted = labels[len(self.schema_.labels) : int(self._state.options["classes"][0])]
        if counted:
            self.schema_.commit(self.schema_.read_labels(counted))
        self._record_schema()

    def _become(self, fresh: Classifier) -> None:
        for name in _OF_SCHEMA & vars(self).keys():
            del self.__dict__[name]
        super()._become(fresh)
