"""Bayesian forest: trees of fixed shape whose oblique splits and leaves are distributions, changed by every example.

Rota Bulò & Kontschieder, "Online Learning with Bayesian Classification Trees", CVPR 2016. Departures: nominal and
missing values, scaling from the stream, classes and features that come later, weights, forgetting, and nodes that an
example hardly reaches are left alone; `BayesianForest.paper()` switches the last off.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Self

from quercus.arguments import check_number
from quercus.classifier import Classifier
from quercus.learners.bayesian import posterior
from quercus.learners.bayesian.engine import BayesianEngine

CHANGEABLE = frozenset({"inference", "loss", "max_bytes", "threads"})


class BayesianForest(Classifier):
    """Mixture of shallow trees, each with a Gaussian over the weights of every split and a Dirichlet in every leaf.

    An example goes to all leaves, with probabilities, and changes each node on its way by moment matching. The
    posterior says how sure an answer is, and what more labels would change. At its best on dense, smooth data of many
    features; on plain tables the growing trees are better.

    Parameters
    ----------
    trees
        Number of trees.
    depth
        Of all trees, or ``(low, high)`` to draw one for each. None: ceil(log2 K) + 2 for K classes that are declared
        with the first rows (``partial_fit(..., classes=...)``, or all that `fit` is given), 5 if none are.
    covariance
        ``"full"``: all covariances of the weights of a split. ``"diagonal"``: their variances only, much smaller and
        faster.
    projection
        Let every node see a random projection: the number of its dimensions, or their share of the number of features.
    subset
        Let every node see some features only: their number or share.
    bagging
        Probability with which a tree leaves a row out.
    inference
        How to predict. ``"full"``: all leaves, by their probability; ``"path"``: the leaf at the end of one path. May
        be changed at any time.
    scaling
        ``"auto"``: numbers beyond -1 .. 1 are scaled to that by the range seen so far. None: as they are.
    forget
        Share of what is known that is forgotten with every row, to follow changes.
    skip
        Nodes that matter less than this for an example, relatively, are left alone; 0 is exact, and slower.
    block
        So many changes of a covariance are made together, which is faster where there are many features; nothing but
        rounding depends on it; at most 32. None: 8 if a node sees 96 features or more, otherwise 1.
    dtype
        Of the nodes: ``"float32"`` or ``"float64"``.
    loss
        What wrong answers cost: ``{true label: {answer: cost}}``; 1 where nothing is given.
    nominal
        Names or positions of columns that hold categories although they look like numbers.
    features
        ``"closed"``: features that were not in the first example are refused; ``"open"``: they are added.
    max_bytes
        Limit for the memory of the forest. One that does not fit is refused; a category, feature or class that no
        longer fits raises MemoryError.
    threads
        Threads among which the trees are divided; the result is the same.
    seed
        Of the random generators of the trees; None for fresh ones.

    Attributes
    ----------
    classes_
        Labels seen so far, sorted.
    online_loss_
        Mean of -ln p(label) over the rows learned, each before it was learned; to choose between settings.

    Notes
    -----
    What happens to a row, exactly, is in ``docs/bayesian.md``.

    References
    ----------
    S. Rota Bulò, P. Kontschieder: Online Learning with Bayesian Classification Trees. CVPR, 2016.

    Examples
    --------
    >>> import quercus as qc
    >>> from quercus.learners.bayesian import BayesianForest
    >>> X, y = qc.streams.SEA(seed=1).take(3_000)
    >>> forest = BayesianForest(trees=4).partial_fit(X[:2_000], y[:2_000], classes=[0, 1])
    >>> round(forest.score(X[2_000:], y[2_000:]), 3)
    0.899
    >>> unsure = forest.uncertainty(X[2_000:])
    >>> bool(unsure.epistemic.mean() < unsure.aleatoric.mean())
    True
    """

    engine = BayesianEngine()
    changeable = CHANGEABLE
    online_loss_ = property(posterior.online_loss)
    uncertainty = posterior.uncertainty
    interval = posterior.interval
    _learn_history = posterior.learn_history

    def __init__(
        self,
        *,
        trees: int = 8,
        depth: int | tuple[int, int] | None = None,
        covariance: str = "full",
        projection: float | int | None = None,
        subset: float | int | None = None,
        bagging: float = 0.0,
        inference: str = "full",
        scaling: str | None = "auto",
        forget: float = 0.0,
        skip: float = 1e-4,
        block: int | None = None,
        dtype: str = "float32",
        loss: Mapping[Any, Mapping[Any, float]] | None = None,
        nominal: Collection[str | int] | None = None,
        features: str = "closed",
        max_bytes: int = 2**28,
        threads: int = 1,
        seed: int | None = 0,
    ) -> None:
        self.trees = trees
        self.depth = depth
        self.covariance = covariance
        self.projection = projection
        self.subset = subset
        self.bagging = bagging
        self.inference = inference
        self.scaling = scaling
        self.forget = forget
        self.skip = skip
        self.block = block
        self.dtype = dtype
        self.loss = loss
        self.nominal = nominal
        self.features = features
        self.max_bytes = max_bytes
        self.threads = threads
        self.seed = seed

    @classmethod
    def paper(cls, classes: int, **changes: Any) -> Self:
        """Return the settings of the paper's experiments: 8 trees, each of a depth around log2 of the classes, exact.

        Parameters
        ----------
        classes
            Number of classes.
        changes
            Arguments that are to differ.

        Examples
        --------
        >>> BayesianForest.paper(classes=10)
        BayesianForest(depth=(4, 6), skip=0.0)
        """
        return cls(**({"trees": 8} | _published(classes) | changes))

    @classmethod
    def merge(cls, forests: Iterable[Classifier]) -> Self:
        """Return one forest of the trees of all, trained on parts of a stream; it learns on like any other.

        Its answers are the mean over all trees of what these answered, but for rounding, and for what a part could not
        know: values outside of its range, features, categories and classes that it has not seen. The forests themselves
        are not changed. Give every part a seed of its own.

        Parameters
        ----------
        forests
            Fitted forests and trees of the same settings and features; number, depth and seed of the trees, inference,
            block, share of a subset, threads and max_bytes may differ.

        Examples
        --------
        >>> import quercus as qc
        >>> X, y = qc.streams.SEA(seed=1).take(3_000)
        >>> parts = [BayesianForest(trees=2, seed=k).fit(X[k:2_000:2], y[k:2_000:2]) for k in (0, 1)]
        >>> forest = BayesianForest.merge(parts)
        >>> forest.trees, round(forest.score(X[2_000:], y[2_000:]), 2)
        (4, 0.9)
        """
        from quercus.learners.bayesian.merging import merge_forests

        return merge_forests(forests, cls)


class BayesianTree(Classifier):
    """One tree with a Gaussian over the weights of every split and a Dirichlet in every leaf: a forest of one.

    Parameters
    ----------
    depth
        Of the tree, or ``(low, high)`` to draw it. None: ceil(log2 K) + 2 for K classes that are declared with the
        first rows (``partial_fit(..., classes=...)``, or all that `fit` is given), 5 if none are.
    covariance, projection, subset, bagging, inference, scaling, forget, skip, block, dtype
        As in `BayesianForest`.
    loss, nominal, features, max_bytes, seed
        As in `BayesianForest`.

    Attributes
    ----------
    classes_
        Labels seen so far, sorted.
    online_loss_
        Mean of -ln p(label) over the rows learned, each before it was learned; to choose between settings.

    Examples
    --------
    >>> from quercus.learners.bayesian import BayesianTree
    >>> tree = BayesianTree()
    >>> tree.learn_one({"age": 41, "job": "clerk"}, "yes")
    >>> tree.predict_one({"age": 29, "job": None})
    'yes'
    """

    engine = BayesianEngine()
    changeable = CHANGEABLE
    online_loss_ = property(posterior.online_loss)
    uncertainty = posterior.uncertainty
    interval = posterior.interval
    _learn_history = posterior.learn_history
    trees = 1
    threads = 1

    def __init__(
        self,
        *,
        depth: int | tuple[int, int] | None = None,
        covariance: str = "full",
        projection: float | int | None = None,
        subset: float | int | None = None,
        bagging: float = 0.0,
        inference: str = "full",
        scaling: str | None = "auto",
        forget: float = 0.0,
        skip: float = 1e-4,
        block: int | None = None,
        dtype: str = "float32",
        loss: Mapping[Any, Mapping[Any, float]] | None = None,
        nominal: Collection[str | int] | None = None,
        features: str = "closed",
        max_bytes: int = 2**28,
        seed: int | None = 0,
    ) -> None:
        self.depth = depth
        self.covariance = covariance
        self.projection = projection
        self.subset = subset
        self.bagging = bagging
        self.inference = inference
        self.scaling = scaling
        self.forget = forget
        self.skip = skip
        self.block = block
        self.dtype = dtype
        self.loss = loss
        self.nominal = nominal
        self.features = features
        self.max_bytes = max_bytes
        self.seed = seed

    @classmethod
    def paper(cls, classes: int, **changes: Any) -> Self:
        """Return one tree with the settings of the paper's experiments.

        Parameters
        ----------
        classes
            Number of classes.
        changes
            Arguments that are to differ.

        Examples
        --------
        >>> BayesianTree.paper(classes=3)
        BayesianTree(depth=(2, 4), skip=0.0)
        """
        return cls(**(_published(classes) | changes))


def _published(classes: int) -> dict[str, Any]:
    check_number("classes", classes, least=2)
    least = math.ceil(math.log2(classes))
    return {"depth": (least, least + 2), "skip": 0.0}
