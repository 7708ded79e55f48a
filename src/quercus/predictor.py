"""What every model can do: read any input, answer, explain its classes, be saved. Learners add learning (`base`)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import validate_data

from quercus.loss import read_loss
from quercus.schema import Schema
from quercus.store import Model, ModelFileError, write_model

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
_NO_LOSS: Floats = np.empty((0, 0))


class Predictor(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of all models: answers for batches as scikit-learn gives them, for single dicts as river does."""

    loss: Mapping[Any, Mapping[Any, float]] | None
    schema_: Schema
    _labels: npt.NDArray[Any]
    _order: Integers
    _loss: Floats

    def _answer(self, X: Floats) -> tuple[Integers, Floats]:
        """Return class ids and probabilities by class id."""
        raise NotImplementedError  # abstract

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the used part of every array of the state."""
        raise NotImplementedError  # abstract

    def _restore(self, model: Model) -> None:
        """Rebuild the state from a file."""
        raise NotImplementedError  # abstract

    def _extra(self) -> dict[str, Any]:
        """Return what a file must hold besides the arrays."""
        return {}

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the answer for each row: the most probable class or, with `loss`, the one of least expected loss."""
        answers, _ = self._answer(self._read(X))
        rank = np.argsort(self._order)
        labels: npt.NDArray[Any] = self._labels[rank[answers]]
        return labels

    def predict_proba(self, X: Any) -> Floats:
        """Return the class probabilities of each row, columns as in `classes_`."""
        _, proba = self._answer(self._read(X))
        return np.ascontiguousarray(proba[:, self._order])

    def predict_one(self, x: Mapping[str, Any]) -> Any:
        """Return the answer for one example, None before anything was learned."""
        schema = vars(self).get("schema_")
        if schema is None:
            return None
        row = np.empty((1, len(schema.names)))
        schema.read_one(x, row[0], False)
        answers, _ = self._answer(row)
        return schema.labels[answers[0]]

    def predict_proba_one(self, x: Mapping[str, Any]) -> dict[Any, float]:
        """Return the probability of each class for one example, {} before anything was learned."""
        if not self._is_fitted():
            return {}
        _, proba = self._answer(self._read_one(x))
        return dict(zip(self._labels.tolist(), proba[0, self._order].tolist(), strict=True))

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The labels seen so far, sorted."""
        self._check_fitted()
        return self._labels.copy()

    @property
    def nbytes(self) -> int:
        """Bytes that the learned state takes."""
        return sum(array.nbytes for array in self._arrays().values()) if self._is_fitted() else 0

    def state_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return copies of the used part of every array: equal bytes mean equal learners."""
        self._check_fitted()
        return {name: array.copy() for name, array in self._arrays().items()}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, which `quercus.load` reads; an existing file is replaced at once or not at all.

        Parameters
        ----------
        path
            Where to; ``.quercus`` is a good ending.
        """
        self._check_fitted()
        write_model(
            path,
            learner=type(self).__name__,
            parameters=self.get_params(deep=False),
            schema=self.schema_.to_dict(),
            arrays=self._arrays(),
            extra=self._extra(),
        )

    @classmethod
    def _from_model(cls, model: Model) -> Self:
        try:
            learner = cls(**model.parameters)
            learner.schema_ = Schema.from_dict(model.schema)
        except (TypeError, KeyError, ValueError) as error:
            raise ModelFileError(f"its header does not fit {cls.__name__}: {error}") from error
        learner._note_schema()
        learner._restore(model)
        return learner

    def __sklearn_is_fitted__(self) -> bool:
        return self._is_fitted()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        return tags

    def _is_fitted(self) -> bool:
        return "schema_" in vars(self)

    def _check_fitted(self) -> None:
        if not self._is_fitted():
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet: it has learned nothing. "
                "Call partial_fit, fit or learn_one first."
            )

    def _read(self, X: Any) -> Floats:
        self._check_fitted()
        self._check_names(X)
        rows: Floats = self.schema_.read(X, learn=False).X
        return rows

    def _read_one(self, x: Mapping[str, Any]) -> Floats:
        row = np.empty((1, len(self.schema_.names)))
        self.schema_.read_one(x, row[0], False)
        return row

    def _check_names(self, X: Any) -> None:
        """Let scikit-learn compare the names and the number of columns, so that messages are those that people know."""
        if self._is_fitted() and not self.schema_.open and hasattr(X, "shape") and len(X.shape) == 2:
            validate_data(self, X, reset=False, skip_check_array=True)

    def _note_schema(self) -> None:
        """Keep what follows from the schema: scikit-learn's names, the order of classes, the loss table."""
        schema = self.schema_
        self.n_features_in_ = len(schema.names)
        if schema.named:
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        self._labels, self._order = schema.classes_sorted()
        self._loss = _NO_LOSS if self.loss is None else read_loss(self.loss, schema.labels)
