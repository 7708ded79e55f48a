"""Our learners as classifiers of scikit-activeml, which take rows without labels and know their classes beforehand."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from skactiveml.base import SkactivemlClassifier
from skactiveml.utils import MISSING_LABEL, ExtLabelEncoder, check_classifier_params, check_n_features, is_labeled
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array, check_is_fitted

from quercus.adapters.wrapping import set_inside, untrained_copy
from quercus.classifier import Classifier

# Values that are missing, infinite or texts are the learner's business.
_ANY_VALUES = {"dtype": None, "ensure_all_finite": False}
_NO_ROWS = {"ensure_min_samples": 0, "ensure_min_features": 0}


class ActivemlClassifier(SkactivemlClassifier):  # type: ignore[misc]
    """A learner of quercus as a classifier of scikit-activeml, for its query strategies and loops.

    Parameters
    ----------
    learner
        The learner to use, not trained yet. It stays as it is: a copy of it learns.
    classes
        All labels; None: those that were seen.
    missing_label
        What stands for a label that is not known; such rows are not learned.
    cost_matrix
        What it costs to answer ``classes[j]`` where ``classes[i]`` is true, the learner's ``loss`` as a matrix.
    random_state
        For answers before the first label, which are drawn among the least costly classes.

    Attributes
    ----------
    learner_
        The copy that learns.
    classes_
        Labels, sorted: all of `classes`, or those seen.

    Notes
    -----
    A batch without a single label changes nothing; scikit-activeml's own wrapper would answer from the empty batch's
    class counts until the next label.

    Examples
    --------
    >>> import numpy as np
    >>> import quercus as qc
    >>> model = ActivemlClassifier(qc.ConfidenceTree(), classes=["no", "yes"], missing_label="?")
    >>> model = model.partial_fit([[1.0], [2.0], [9.0]], ["no", "?", "yes"])
    >>> model.predict_proba([[5.0]])
    array([[0.5, 0.5]])
    """

    learner_: Any

    def __init__(
        self,
        learner: Classifier,
        classes: Any = None,
        missing_label: Any = MISSING_LABEL,
        cost_matrix: Any = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(classes, missing_label, cost_matrix, random_state)
        self.learner = learner

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything and learn the rows that have a label, in order.

        Parameters
        ----------
        X
            Rows of numbers or texts; NaN is a missing value.
        y
            Labels, or `missing_label`.
        sample_weight
            A weight of 0 or more per row.
        """
        fresh = type(self)(**self.get_params(deep=False)).partial_fit(X, y, sample_weight)
        given = self.get_params(deep=False)
        self.__dict__.update({name: value for name, value in vars(fresh).items() if name not in given})
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the rows that have a label, in order, in addition to what is known.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        """
        known = vars(self).copy()
        try:
            self._learn(X, y, sample_weight)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(known)
            raise
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the learner's answer for each row; before the first label, one of the least costly classes."""
        X = self._check_rows(X)
        answers: NDArray[Any] = self.learner_.predict(X) if self._has_learned else super().predict(X)
        return answers.astype(self.classes_.dtype)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the class probabilities of each row, columns as in `classes_`; all alike before the first label."""
        return self._proba(self._check_rows(X))

    @available_if(lambda self: hasattr(self.learner, "region_one"))  # type: ignore[untyped-decorator]
    def predict_freq(self, X: Any) -> NDArray[np.float64]:
        """Return for each row how many labels of each class stand behind its probabilities.

        Parameters
        ----------
        X
            Rows.
        """
        rows = self._check_rows(X)
        proba = self._proba(rows)
        if not self._has_learned:
            return np.zeros_like(proba)
        names = self.learner_.schema_.names
        regions = (self.learner_.region_one(dict(zip(names, row, strict=True))) for row in rows.tolist())
        supports: NDArray[np.float64] = np.array([[support] for _, support in regions])
        return proba * supports

    @property
    def _has_learned(self) -> bool:
        return bool(self.learner_.__sklearn_is_fitted__())

    def _proba(self, rows: NDArray[Any]) -> NDArray[np.float64]:
        if not self._has_learned:
            return np.full((len(rows), len(self.classes_)), 1.0 / len(self.classes_))
        proba: NDArray[np.float64] = self.learner_.predict_proba(rows)
        return proba

    def _check_rows(self, X: Any) -> NDArray[Any]:
        check_is_fitted(self, "learner_")
        rows: NDArray[Any] = check_array(X, **_ANY_VALUES)
        check_n_features(self, rows, reset=False)
        return rows

    def _learn(self, X: Any, y: Any, sample_weight: Any) -> None:
        learner: Any = vars(self).get("learner_") or self._new_learner()
        if self.classes is None and learner.__sklearn_is_fitted__() and not is_labeled(y, self.missing_label).any():
            self._check_rows(X)
            return
        rows = {**_ANY_VALUES, **_NO_ROWS}
        X, ids, weights = self._validate_data(X, y, sample_weight, rows, reset="learner_" not in vars(self))
        keep = np.flatnonzero(is_labeled(ids, missing_label=-1))
        if len(keep):
            known = None if self.classes is None else _whole(self.classes_)
            labels = _whole(self.classes_)[ids[keep].astype(np.int64)]
            learner.partial_fit(X[keep], labels, known, None if weights is None else weights[keep])
        self.learner_ = learner
        if self.classes is None:
            self._record_classes(learner.classes_.astype(self.classes_.dtype))

    def _new_learner(self) -> Classifier:
        learner = untrained_copy(self.learner, "ActivemlClassifier")
        check_classifier_params(self.classes, self.missing_label, self.cost_matrix)
        if self.cost_matrix is None:
            return learner
        if learner.loss is not None:
            raise ValueError("cost_matrix and the learner's loss mean the same; give one of them.")
        labels = _whole(np.asarray(self.classes)).tolist()
        costs = np.asarray(self.cost_matrix, np.float64).tolist()
        table = {truth: dict(zip(labels, row, strict=True)) for truth, row in zip(labels, costs, strict=True)}
        return set_inside(learner, "loss", table)

    def _record_classes(self, classes: NDArray[Any]) -> None:
        """Take over the classes seen so far, of which the last batch may have held only some."""
        self.classes_ = classes
        self._le = ExtLabelEncoder(classes, self.missing_label).fit(classes)
        self.cost_matrix_ = 1.0 - np.eye(len(classes))


def _whole(labels: NDArray[Any]) -> NDArray[Any]:
    """Return labels as a learner takes them: beside NaN for missing ones whole numbers have become floats."""
    if labels.dtype.kind != "f" or (labels % 1).any():
        return labels
    return labels.astype(np.int64)
