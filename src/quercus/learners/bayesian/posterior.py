"""What the posterior of a Bayesian forest says about its answers: the methods that only these learners have.

`BayesianForest` and `BayesianTree` take the functions of a ``self`` as methods.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from quercus.arguments import check_number
from quercus.compile import array_type, kernel
from quercus.engine import Floats
from quercus.learners.bayesian.engine import BayesianEngine
from quercus.learners.bayesian.state import BayesianForestState
from quercus.rows import Rows
from quercus.statistics.impurity import matched_quantile

# So many trees count as independent of each other where all have learned the same rows.
_INDEPENDENT = 4
_MATRIX = array_type(np.float64, 2, readonly=True)
_OUT = array_type(np.float64, 2)


class Uncertainty(NamedTuple):
    """How unsure the answer for each row is, in nats, and what of that more labels would remove.

    ``total`` is the entropy of the class probabilities; ``aleatoric`` the part that lies in the data: the mean entropy
    under the posterior; ``epistemic`` the rest, the mutual information of label and posterior, which more labels would
    remove (S. Depeweg et al., ICML 2018). With few rows leaves look
    purer than they are, so that ``aleatoric`` is too small.

    Examples
    --------
    >>> from quercus.learners.bayesian import BayesianTree
    >>> uncertainty = BayesianTree().partial_fit([[0.0], [1.0]], ["no", "yes"]).uncertainty([[0.0]])
    >>> bool(uncertainty.total[0] > uncertainty.epistemic[0] > 0)
    True
    """

    total: Floats
    aleatoric: Floats
    epistemic: Floats


def online_loss(self: Any) -> float:
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


def learn_history(self: Any, X: Any, y: Any, sample_weight: Any) -> None:
    """Learn the rows of `fit`, whose classes are known before the first row: depth and leaves follow from them."""
    schema = self._new_schema()
    found = schema.read_labels(y)
    schema.commit(found)
    counts = np.ones(len(found.ids)) if sample_weight is None else np.asarray(sample_weight)
    kept = found.ids[counts > 0] if counts.shape == found.ids.shape else found.ids
    classes = [schema.labels[label] for label in np.unique(kept).tolist()]
    self.partial_fit(X, y, classes=classes or None, sample_weight=sample_weight)


def measure_uncertainty(engine: BayesianEngine, state: BayesianForestState, params: Any, rows: Floats) -> Uncertainty:
    """Return how unsure each answer is."""
    means = engine.leaf_means(state, params, rows, leaf_entropies(state.known))
    p, aleatoric = means[:, :-1], means[:, -1]
    total = -(p * np.log(np.maximum(p, 1e-300))).sum(axis=1)
    # The entropy of a mean is at least the mean entropy; rounding may say otherwise.
    total = np.maximum(total, aleatoric)
    return Uncertainty(total, aleatoric, total - aleatoric)


def find_intervals(
    engine: BayesianEngine, state: BayesianForestState, params: Any, rows: Floats, delta: float, classes: int
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


def leaf_moments(alpha: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return for each leaf the mean of the class probabilities, then the mean of their squares.

    Examples
    --------
    >>> leaf_moments(np.array([[1.0, 1.0]])).round(3).tolist()
    [[0.5, 0.5, 0.333, 0.333]]
    """
    total = alpha.sum(axis=1, keepdims=True)
    mean = alpha / total
    return np.ascontiguousarray(np.hstack([mean, mean * (alpha + 1.0) / (total + 1.0)]))


def leaf_entropies(alpha: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return for each leaf the mean of the class probabilities, then the mean of their entropy, in nats.

    Examples
    --------
    >>> leaf_entropies(np.array([[1.0, 1.0]])).tolist()
    [[0.5, 0.5, 0.5]]
    """
    from scipy.special import digamma

    total = alpha.sum(axis=1, keepdims=True)
    mean = alpha / total
    entropy = digamma(total + 1.0) - (mean * digamma(alpha + 1.0)).sum(axis=1, keepdims=True)
    return np.ascontiguousarray(np.hstack([mean, entropy]))


@kernel(types.int64, _MATRIX, _MATRIX, types.float64, _OUT, _OUT)
def match_intervals(mean: Any, variance: Any, tail: float, low: Any, high: Any) -> int:
    """Write the quantiles, with ``tail`` left outside at each end, of Beta variables with these moments."""
    for i in range(mean.shape[0]):
        for c in range(mean.shape[1]):
            m = mean[i, c]
            low[i, c] = high[i, c] = m
            # Less than what rounding leaves is no spread.
            if variance[i, c] > 1e-15 and 1e-15 < m < 1.0 - 1e-15:
                low[i, c] = min(matched_quantile(m, variance[i, c], 1.0, tail, False), m)
                high[i, c] = max(matched_quantile(m, variance[i, c], 1.0, tail, True), m)
    return mean.shape[0]
