"""What the posterior of a Bayesian forest says about its answers: the methods that only these learners have."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from quercus.arguments import check_number
from quercus.engine import Floats
from quercus.learners.bayesian.engine import BayesianEngine
from quercus.learners.bayesian.intervals import leaf_entropies, leaf_moments, match_intervals
from quercus.learners.bayesian.state import ForestState
from quercus.rows import Rows

# So many trees count as independent of each other where all have learned the same rows.
_INDEPENDENT = 4


class Uncertainty(NamedTuple):
    """How unsure the answer for each row is, in nats, and what of that more labels would remove.

    ``total`` is the entropy of the class probabilities; ``aleatoric`` the part that lies in the data: the mean entropy
    under the posterior; ``epistemic`` the rest, which more labels would remove. With few rows leaves look purer than
    they are, so that ``aleatoric`` is too small.

    Examples
    --------
    >>> from quercus.learners.bayesian import BayesianTree
    >>> told = BayesianTree().partial_fit([[0.0], [1.0]], ["no", "yes"]).uncertainty([[0.0]])
    >>> bool(told.total[0] > told.epistemic[0] > 0)
    True
    """

    total: Floats
    aleatoric: Floats
    epistemic: Floats


class HasPosterior:
    """Methods of learners whose engine is a `BayesianEngine`."""

    engine: ClassVar[Any]

    @property
    def online_loss_(self: Any) -> float:
        """Mean of -ln p(label) over the rows learned, each before it was learned: the smaller, the better the model."""
        self._check_fitted()
        with self._own_gate.reading:
            options = self._state.options
            return float(options["loss"][0] / options["weight"][0])

    def uncertainty(self: Any, X: Any) -> Uncertainty:
        """Return how unsure each answer is, and how much of that more labels would remove.

        Parameters
        ----------
        X
            Rows, as in `predict`.

        Returns
        -------
        Arrays ``total``, ``aleatoric`` and ``epistemic`` of one number per row, in nats.
        """
        with self._own_gate.reading:
            rows = self._read(X)
            return measure_uncertainty(self.engine, self._state, self, rows)

    def interval(self: Any, X: Any, delta: float = 0.05) -> tuple[Floats, Floats]:
        """Return both ends of an interval of each class probability, columns as in `classes_`.

        Its variance is that between the trees, plus what each is itself unsure of, as if four trees were independent:
        all have learned the same rows. That is measured to hold about what it says (``docs/bayesian.md``), not derived.

        Parameters
        ----------
        X
            Rows, as in `predict`.
        delta
            Probability that is left outside, half at each end.

        Examples
        --------
        >>> from quercus.learners.bayesian import BayesianTree
        >>> tree = BayesianTree().partial_fit([[0.0], [1.0]], ["no", "yes"])
        >>> low, high = tree.interval([[0.0]])
        >>> bool((low < tree.predict_proba([[0.0]])).all() and (tree.predict_proba([[0.0]]) < high).all())
        True
        """
        check_number("delta", delta, least=0, above=True, most=1)
        with self._own_gate.reading:
            rows, order = self._read(X), self._order
            low, high = find_intervals(self.engine, self._state, self, rows, delta, len(order))
            return np.ascontiguousarray(low[:, order]), np.ascontiguousarray(high[:, order])

    def _learn_history(self: Any, X: Any, y: Any, sample_weight: Any) -> None:
        """Learn the rows of `fit`, whose classes are known before the first row: depth and leaves follow from them."""
        schema = self._new_schema()
        found = schema.read_labels(y)
        schema.commit(found)
        counts = np.ones(len(found.ids)) if sample_weight is None else np.asarray(sample_weight)
        kept = found.ids[counts > 0] if counts.shape == found.ids.shape else found.ids
        classes = [schema.labels[label] for label in np.unique(kept).tolist()]
        self.partial_fit(X, y, classes=classes or None, sample_weight=sample_weight)


def measure_uncertainty(engine: BayesianEngine, state: ForestState, params: Any, rows: Floats) -> Uncertainty:
    """Return how unsure each answer is."""
    means = engine.leaf_means(state, params, rows, leaf_entropies(state.known))
    p, aleatoric = means[:, :-1], means[:, -1]
    total = -(p * np.log(np.maximum(p, 1e-300))).sum(axis=1)
    # The entropy of a mean is at least the mean entropy; rounding may say otherwise.
    total = np.maximum(total, aleatoric)
    return Uncertainty(total, aleatoric, total - aleatoric)


def find_intervals(
    engine: BayesianEngine, state: ForestState, params: Any, rows: Floats, delta: float, classes: int
) -> tuple[Floats, Floats]:
    """Return both ends of the interval of each class probability, columns by class id."""
    known, table = state.classes, leaf_moments(state.known)
    low, high = np.zeros((len(rows), classes)), np.zeros((len(rows), classes))
    for part, _, sums in engine.sum_leaves(state, params, Rows(rows), table, False):
        means, squares = sums[:, :, :known], sums[:, :, known:]
        within = (squares - means * means).mean(axis=0) / min(len(sums), _INDEPENDENT)
        ends = np.zeros((2, part.stop - part.start, known))
        match_intervals(means.mean(axis=0), means.var(axis=0) + within, delta / 2, ends[0], ends[1])
        low[part, :known], high[part, :known] = ends
    return low, high
