"""Our learners as real estimators of river: in its pipelines, evaluations and checks.

river's rows may gain and lose features at any time, so the wrapped learner is used with ``features="open"``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from quercus.adapters.wrapping import set_inside, untrained_copy
from quercus.classifier import Classifier
from quercus.registry import LEARNERS, find_learner

try:
    from river import base
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "river is not installed, which quercus.adapters.river needs; pip install 'quercus[river]'."
    ) from error

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["RiverClassifier"]


class RiverClassifier(base.MiniBatchClassifier):  # type: ignore[misc]
    """A learner of quercus as a classifier of river, for single dicts and for batches in pandas frames.

    Parameters
    ----------
    learner
        The learner to use, not trained yet. It stays as it is: a copy of it learns.

    Attributes
    ----------
    model
        The copy that learns, with ``features="open"``; ``print(classifier.model)`` shows its tree.

    Notes
    -----
    ``predict_one`` and ``predict_many`` answer as the learner does, so they respect its ``loss``; river's own would be
    the most probable class. Batches teach exactly what the same rows teach one by one.

    Examples
    --------
    >>> import quercus as qc
    >>> from river import compose, datasets, evaluate, metrics, preprocessing
    >>> tree = RiverClassifier(qc.ConfidenceTree())
    >>> pipeline = preprocessing.StandardScaler() | tree
    >>> accuracy = evaluate.progressive_val_score(datasets.Phishing(), pipeline, metrics.Accuracy())
    >>> accuracy.get() > 0.8
    True
    >>> tree.clone()
    RiverClassifier (
      learner=ConfidenceTree()
    )
    """

    def __init__(self, learner: Classifier) -> None:
        self.learner = learner
        self.model = set_inside(untrained_copy(learner, "RiverClassifier"), "features", "open")

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        for name in LEARNERS:
            yield {"learner": find_learner(name)()}

    @property
    def _multiclass(self) -> bool:
        return True

    def learn_one(self, x: Mapping[Any, Any], y: Any, w: float = 1.0) -> None:
        """Learn one example.

        Parameters
        ----------
        x
            Feature values by name; one that is absent or None is missing, one that is new is added.
        y
            Its label.
        w
            Its weight.
        """
        self.model.learn_one(x, y, w)

    def predict_one(self, x: Mapping[Any, Any]) -> Any:
        """Return the answer for one example, None before anything was learned."""
        return self.model.predict_one(x)

    def predict_proba_one(self, x: Mapping[Any, Any]) -> dict[Any, float]:
        """Return the probability of each class for one example, {} before anything was learned."""
        return self.model.predict_proba_one(x)

    def learn_many(self, X: pd.DataFrame, y: pd.Series) -> None:
        """Learn a batch of rows, in order.

        Parameters
        ----------
        X
            One column per feature; one that is absent is missing, one that is new is added.
        y
            The labels.
        """
        self.model.partial_fit(X, y)

    def predict_many(self, X: pd.DataFrame) -> pd.Series:
        """Return the answer for each row, None before anything was learned."""
        import pandas as pd

        if not self._has_learned:
            return pd.Series([None] * len(X), index=X.index, dtype=object)
        return pd.Series(self.model.predict(X), index=X.index)

    def predict_proba_many(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return the probability of each class, a column each, for each row; none before anything was learned."""
        import pandas as pd

        if not self._has_learned:
            return pd.DataFrame(index=X.index)
        return pd.DataFrame(self.model.predict_proba(X), index=X.index, columns=self.model.classes_)

    @property
    def _has_learned(self) -> bool:
        return bool(self.model.__sklearn_is_fitted__())
