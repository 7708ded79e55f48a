"""Credible tree: a leaf is split when it is credible that its labels become purer by it.

Collet & Pietquin, "Bayesian Credible Intervals for Online and Active Learning of Classification Trees", ADPRL 2015.
Departures: many classes, nominal and missing values, weights; on streams bins instead of exact values and fewer looks;
a correction for the number of cuts and looks. `CredibleTree.paper()` is the published tree.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Self

from quercus.arguments import check_choice, check_number
from quercus.learners.incremental.credible_kernels import run_adaptive_credible_rows, run_credible_rows
from quercus.learners.incremental.layout import CREDIBLE, CUTS, CUTS_AND_LOOKS, HOEFFDING_INTERVAL, NO_CORRECTION
from quercus.learners.incremental.pooled.tree import PooledTree
from quercus.predictor import Floats
from quercus.statistics.credible import MEASURES, NO_TABLE, find_table

_BOUNDS = {"credible": CREDIBLE, "hoeffding": HOEFFDING_INTERVAL}
_CORRECTIONS = {None: NO_CORRECTION, "cuts": CUTS, "cuts+looks": CUTS_AND_LOOKS}
# A leaf is looked at again when its weight has grown by this share, and by the grace period.
_PACE = 0.02


class CredibleTree(PooledTree):
    """Decision tree that splits a leaf once the split is credible: Bayesian intervals instead of large-sample bounds.

    The labels of a region leave a posterior of its class shares, and so of its impurity. A leaf is split by the cut
    whose two sides have the lowest impurity at the upper end of their intervals, if that is below the leaf's own at
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
        spends it over the looks at a leaf; None leaves it as it is, as the paper does.
    cuts
        ``"binned"``: leaves keep histograms, for streams of any length. ``"exact"``: the tree keeps its rows and
        compares every cut after every label, for some thousand labels. None: exact with a pool, else binned.
    size
        What the two sides of an exact cut weigh: the rows of the ``"pool"`` on each side, labelled or not, its
        ``"labels"`` alone, or its ``"volume"``. None: the pool.
    grace_period
        Least weight of examples between two looks at a leaf with binned cuts.
    min_leaf
        Least weight on each side of a split.
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
        Follow changes: watch the errors at every node and, where they rise, grow an alternate subtree that takes the
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

    _CRITERIA: ClassVar[dict[str, int]] = MEASURES
    _RULES: ClassVar[tuple[int, ...]] = tuple(_BOUNDS.values())
    _KERNELS = (run_credible_rows, run_adaptive_credible_rows)
    # The table of bounds, shared with other trees.
    _bounds: Floats
    # The rule compares with "no split" by itself.
    tie = 0.0
    alpha = 1.0

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
        """Return the published tree: exact cuts, every label looked at, no correction.

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

    def _check_arguments(self) -> None:
        super()._check_arguments()
        check_choice("bound", self.bound, _BOUNDS)
        check_choice("correction", self.correction, _CORRECTIONS)
        check_number("delta", self.delta, least=0, above=True, most=0.5)

    @property
    def _table(self) -> Floats:
        kept = vars(self).get("_bounds")
        if kept is None:
            # By what the tree was begun with: an argument that was changed since must not spoil the table of others.
            rule, delta, measure = self._begun_with()
            kept = self._bounds = find_table(delta, measure) if rule == CREDIBLE else NO_TABLE
        return kept

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_bounds"}

    def _settings(self) -> dict[str, Any]:
        return super()._settings() | {
            "rule": _BOUNDS[self.bound],
            "scale": self.delta,
            "correction": _CORRECTIONS[self.correction],
            "pace": _PACE,
        }

    def _pooling(self) -> dict[str, Any]:
        return super()._pooling() | {
            "measure": self._CRITERIA[self.criterion],
            "bound": _BOUNDS[self.bound],
            "correction": _CORRECTIONS[self.correction],
            "delta": self.delta,
        }
