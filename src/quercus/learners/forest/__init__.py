"""Growing forest: online bagging of any growing tree, with trees that are replaced where the stream has changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from quercus.classifier import Classifier
from quercus.learners.forest.engine import GrowingForestEngine


class GrowingForest(Classifier):
    """Classifier of several trees that grow row by row; each learns each row some times over, or not at all.

    How often is drawn from a Poisson distribution, which is bagging for streams. Each tree sees a part of the features.
    The trees vote by their probabilities, each weighted by its share of right answers. A tree whose errors rise is
    replaced by one that has learned since they first looked suspicious, if that has been as good since.

    Parameters
    ----------
    tree
        What the trees are like: ``CredibleTree()``, ``ConfidenceTree()``, ``HoeffdingTree()`` or any other learner that
        is not trained; copies of it learn. None: ``CredibleTree()``.
    trees
        Their number.
    subspace
        Share of the features that a tree sees.
    lambda_value
        Mean of the Poisson distribution. With 1 it is bagging; more makes trees that learn faster and differ less.
    drift
        How easily a change is found: the probability of finding one where there is none, by ADWIN; a tree begins to
        learn beside the old one at ten times that. None: no tree is ever replaced.
    loss
        What wrong answers cost: ``{true label: {answer: cost}}``; 1 where nothing is given.
    nominal
        Names or positions of columns that hold categories although they look like numbers.
    features
        ``"closed"``: features that were not in the first example are refused; ``"open"``: they are added.
    seed
        Of all that is drawn; None for a fresh one.

    Attributes
    ----------
    classes_
        Labels seen so far, sorted.
    n_replaced_
        How many trees have been replaced.

    Notes
    -----
    Memory: each tree may take its own ``max_bytes``, and so may one that learns beside it.

    References
    ----------
    N. Oza, S. Russell: Online Bagging and Boosting. AISTATS 2001.
    A. Bifet, G. Holmes, B. Pfahringer: Leveraging Bagging for Evolving Data Streams. ECML PKDD 2010.
    H. M. Gomes, J. Read, A. Bifet: Streaming Random Patches for Evolving Data Stream Classification. ICDM 2019.

    Examples
    --------
    >>> import quercus as qc
    >>> X, y = qc.streams.RandomTree(leaves=30, q=0.95, seed=1).take(6_000)
    >>> forest = qc.GrowingForest(qc.HoeffdingTree(), seed=7).partial_fit(X[:5_000], y[:5_000])
    >>> round(float((forest.predict(X[5_000:]) == y[5_000:]).mean()), 3)
    0.86
    """

    engine = GrowingForestEngine()

    def __init__(
        self,
        tree: Classifier | None = None,
        *,
        trees: int = 10,
        subspace: float = 0.8,
        lambda_value: float = 6.0,
        drift: float | None = 0.001,
        loss: Mapping[Any, Mapping[Any, float]] | None = None,
        nominal: Collection[str | int] | None = None,
        features: str = "closed",
        seed: int | None = 0,
    ) -> None:
        self.tree = tree
        self.trees = trees
        self.subspace = subspace
        self.lambda_value = lambda_value
        self.drift = drift
        self.loss = loss
        self.nominal = nominal
        self.features = features
        self.seed = seed

    @property
    def n_replaced_(self) -> int:
        """How many trees have been replaced."""
        self._check_fitted()
        return int(self._state.record.turns["replaced"].sum())
