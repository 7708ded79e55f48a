"""Hoeffding tree: the classic online tree, on the engine of the confidence tree.

Domingos & Hulten, "Mining High-Speed Data Streams", KDD 2000 (VFDT). Departures: bins instead of exact values, binary
splits, a tie-break that must beat "no split".
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Self

from quercus.arguments import check_number
from quercus.classifier import Classifier
from quercus.learners.incremental.engine import IncrementalEngine, check_tie, count_alternate_subtrees
from quercus.learners.incremental.layout import ENTROPY_BITS, ERROR, GINI, HOEFFDING


def _check(params: Any) -> None:
    check_tie(params)
    check_number("delta", params.delta, least=0, above=True, most=1)
    check_number("margin", params.margin, least=0)


def _settings(params: Any) -> dict[str, Any]:
    return {
        "rule": HOEFFDING,
        "scale": params.delta,
        "margin": params.margin,
        "tie": params.tie,
        "alpha": params.alpha,
    }


class HoeffdingTree(Classifier):
    """Decision tree that splits a leaf when Hoeffding's bound tells its best split from the second best.

    Parameters
    ----------
    criterion
        Impurity: ``"entropy"`` (in bits), ``"gini"`` or ``"error"``.
    delta
        Probability with which Hoeffding's bound may fail in one comparison.
    margin
        By how many eps the best feature must lead: 1 as in the original tree, 2 to be right about it.
    tie
        Split also when eps is at most this: the best features are too alike to wait longer. 0 switches it off.
    alpha
        Every split must also beat "no split" in a G-test of this level, corrected for the number of cuts that were
        compared; 1 switches it off.
    grace_period
        Weight of examples between two evaluations of a leaf.
    min_leaf
        Least weight of each child of a split.
    leaf
        Who answers in a leaf: ``"majority"``, ``"naive_bayes"``, or ``"adaptive"``: whichever has been right more often
        in that leaf.
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
        Limit for the memory of the tree; at the limit the least promising leaves stop growing.
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

    Notes
    -----
    MOA and river use ``delta=1e-7, tie=0.05, grace_period=200``. What happens to a row, exactly, is in
    ``docs/engine.md``; how the defaults were chosen, in ``docs/defaults.md``.

    References
    ----------
    P. Domingos, G. Hulten: Mining High-Speed Data Streams. KDD 2000.

    Examples
    --------
    >>> import quercus as qc
    >>> X, y = qc.streams.SEA(seed=1).take(5_000)
    >>> tree = qc.HoeffdingTree().partial_fit(X[:4_000], y[:4_000])
    >>> round(tree.score(X[4_000:], y[4_000:]), 3)
    0.865
    """

    engine: ClassVar = IncrementalEngine(
        criteria={"gini": GINI, "entropy": ENTROPY_BITS, "error": ERROR},
        rules=(HOEFFDING,),
        settings=_settings,
        check=_check,
    )
    n_alternates_ = property(count_alternate_subtrees)

    def __init__(
        self,
        *,
        criterion: str = "entropy",
        delta: float = 1e-3,
        margin: float = 1,
        tie: float = 0.1,
        alpha: float = 0.05,
        grace_period: float = 50,
        min_leaf: float = 5,
        leaf: str = "adaptive",
        loss: Mapping[Any, Mapping[Any, float]] | None = None,
        nominal: Collection[str | int] | None = None,
        features: str = "closed",
        adaptive: bool = False,
        max_bytes: int = 2**28,
        seed: int | None = 0,
    ) -> None:
        self.criterion = criterion
        self.delta = delta
        self.margin = margin
        self.tie = tie
        self.alpha = alpha
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
        """Return the H-Tree of the confidence-tree paper; with ``criterion="error", margin=2`` it is its CorrH-Tree.

        Parameters
        ----------
        changes
            Arguments that are to differ; that paper tunes `delta` for every data set, around 0.01.

        Examples
        --------
        >>> HoeffdingTree.paper(criterion="error", margin=2)
        HoeffdingTree(alpha=1.0, criterion='error', delta=0.01, grace_period=100,
                      leaf='majority', margin=2, min_leaf=0, tie=0.0)
        """
        published: dict[str, Any] = {"criterion": "gini", "delta": 0.01, "margin": 1, "tie": 0.0, "alpha": 1.0}
        leaves: dict[str, Any] = {"grace_period": 100, "min_leaf": 0, "leaf": "majority"}
        return cls(**(published | leaves | changes))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # The 300 rows of scikit-learn's check are too few for Hoeffding's bound.
        tags.classifier_tags.poor_score = True
        return tags
