"""What every model can do: read input, answer, be shown, explain, be saved. Learners add learning (`classifier`)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Self
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from quercus.arguments import check_loss, read_loss
from quercus.engine import Explains, Floats, HasRegions, Integers, Known, KnowsSupport, SumsTrees, Viewable
from quercus.estimator import Estimator, available_if, not_fitted
from quercus.explain import Explanation, TreeView, to_dot, to_html, to_mermaid, to_text
from quercus.interrupts import Gate
from quercus.registry import describe, rebuild
from quercus.schema import Schema
from quercus.store import Model, ModelFileError, pack_model
from quercus.store.atomic import replace_file

_NO_LOSS: Floats = np.empty((0, 0))


# What a model has of its own in each process, or makes anew.
_NOT_SAVED = frozenset({"_gate", "_single"})
# By the type of an engine, and the protocol.
_CAPABLE: WeakKeyDictionary[type, dict[type, bool]] = WeakKeyDictionary()


def has(capability: type, when: Callable[[Any], bool] | None = None) -> Any:
    """Make a method available where the engine has a capability: `hasattr` tells of each model what it can do.

    Parameters
    ----------
    capability
        A protocol of `quercus.engine`.
    when
        What the model itself has to fulfil besides.
    """
    return available_if(lambda model: _can(model.engine, capability) and (when is None or when(model)))


def _can(engine: Any, capability: type) -> bool:
    """Tell whether an engine has a capability; to look for each of its methods takes as long as a prediction."""
    known = _CAPABLE.setdefault(type(engine), {})
    if capability not in known:
        known[capability] = isinstance(engine, capability)
    return known[capability]


class Predictor(Estimator):
    """Base of all models: answers for batches as scikit-learn gives them, for single dicts as river does.

    A subclass names its ``engine``, which knows how to answer by ``_state``.
    """

    engine: ClassVar[Any] = None
    # Arguments that files of before do not name, as these learners behave.
    former: ClassVar[Mapping[str, Any]] = {}
    loss: Mapping[Any, Mapping[Any, float]] | None
    schema_: Schema
    _state: Any
    _known: Known
    _labels: npt.NDArray[Any]
    _order: Integers
    _loss: Floats

    def _check_arguments(self) -> None:
        """Raise an error for an argument that makes no sense."""
        if self.loss is not None:
            check_loss(self.loss)

    def _answer(self, X: Floats) -> tuple[Integers, Floats]:
        """Return class ids and probabilities by class id."""
        answers = np.empty(len(X), np.int64)
        # Classes that were never learned, because the batch that brought them was interrupted, have probability 0.
        proba = np.zeros((len(X), len(self._order)))
        self.engine.predict(self._state, self, X, self._known, answers, proba)
        return answers, proba

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the used part of every array of the state."""
        arrays: dict[str, npt.NDArray[Any]] = self._state.to_arrays()
        return arrays

    def _restore(self, model: Model) -> None:
        """Rebuild the state from a file."""
        self._state = self.engine.load_state(self, model)

    def _extra(self) -> dict[str, Any]:
        """Return what a file must hold besides the arrays."""
        return {"sizes": self._state.to_sizes()}

    @property
    def _own_gate(self) -> Gate:
        gate: Gate = vars(self).get("_gate") or self.__dict__.setdefault("_gate", Gate())
        return gate

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the answer for each row: the most probable class or, with `loss`, the one of least expected loss."""
        with self._own_gate.reading:
            answers, _ = self._answer(self._read(X))
            by_id = self._labels[np.argsort(self._order)]
            labels: npt.NDArray[Any] = np.take(by_id, answers)
        return labels

    def predict_proba(self, X: Any) -> Floats:
        """Return the class probabilities of each row, columns as in `classes_`."""
        with self._own_gate.reading:
            _, proba = self._answer(self._read(X))
            return np.take(proba, self._order, axis=1)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows, by weight, whose answer is their label.

        Parameters
        ----------
        X, y, sample_weight
            Rows, their labels and weights.
        """
        from sklearn.metrics import accuracy_score

        return float(accuracy_score(y, self.predict(X), sample_weight=sample_weight))

    def predict_one(self, x: Mapping[str, Any]) -> Any:
        """Return the answer for one example, None before anything was learned."""
        with self._own_gate.reading:
            if not self._is_fitted():
                return None
            answers, _ = self._answer(self._read_one(x))
            return self.schema_.labels[answers[0]]

    def predict_proba_one(self, x: Mapping[str, Any]) -> dict[Any, float]:
        """Return the probability of each class for one example, {} before anything was learned."""
        with self._own_gate.reading:
            if not self._is_fitted():
                return {}
            _, proba = self._answer(self._read_one(x))
            return self._by_label(proba[0])

    def _by_label(self, proba: Floats) -> dict[Any, float]:
        return dict(zip(self._labels.tolist(), proba[self._order].tolist(), strict=True))

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The labels seen so far, sorted."""
        self._check_fitted()
        return self._labels.copy()

    @property
    def nbytes(self) -> int:
        """Bytes that the learned state takes, with the room that it has to grow."""
        return int(self._state.nbytes) if self._is_fitted() else 0

    @property
    def n_leaves_(self) -> int:
        """Number of leaves, of all trees if there are several."""
        if isinstance(self.engine, SumsTrees):
            self._check_fitted()
            with self._own_gate.reading:
                return self.engine.count_leaves(self._state)
        return self._size()[0]

    @property
    def depth_(self) -> int:
        """Depth of the deepest leaf; 0 for a single leaf."""
        return self._size()[1]

    def _size(self) -> tuple[int, int]:
        if not isinstance(self.engine, Viewable):
            raise AttributeError(f"a {type(self).__name__} is no tree.")
        self._check_fitted()
        with self._own_gate.reading:
            return self.engine.size(self._state)

    @property
    def feature_importances_(self) -> Floats:
        """Share of each feature in what all splits gained."""
        if not isinstance(self.engine, Viewable | SumsTrees):
            raise AttributeError(f"a {type(self).__name__} does not know what its features are worth.")
        self._check_fitted()
        sum_gains = self.engine.sum_gains if isinstance(self.engine, SumsTrees) else self.engine.importances
        with self._own_gate.reading:
            gained = sum_gains(self._state, int(self.n_features_in_))
        return np.asarray(gained / max(gained.sum(), np.finfo(float).tiny), np.float64)

    @has(Viewable)  # type: ignore[untyped-decorator]
    def view(self) -> TreeView:
        """Return the tree as plain data, for renderers and for programs."""
        self._check_fitted()
        with self._own_gate.reading:
            view: TreeView = self.engine.view(self)
        return view

    @has(Viewable)  # type: ignore[untyped-decorator]
    def to_text(self, max_depth: int | None = None, max_nodes: int | None = 63) -> str:
        """Return the tree as text.

        Parameters
        ----------
        max_depth, max_nodes
            How much of it to show; the parts that most examples go through come first.
        """
        return to_text(self.view(), max_depth=max_depth, max_nodes=max_nodes)

    @has(Viewable)  # type: ignore[untyped-decorator]
    def to_dot(self) -> str:
        """Return the tree in Graphviz's language."""
        return to_dot(self.view())

    @has(Viewable)  # type: ignore[untyped-decorator]
    def to_mermaid(self) -> str:
        """Return the tree as a Mermaid flowchart."""
        return to_mermaid(self.view())

    def __str__(self) -> str:
        return self.to_text() if hasattr(self, "to_text") and self._is_fitted() else repr(self)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        if not hasattr(self, "view") or not self._is_fitted():
            bundle: dict[str, Any] = super()._repr_mimebundle_(**options)
            return bundle
        view = self.view()
        return {"text/plain": to_text(view), "text/html": to_html(view)}

    @has(Explains)  # type: ignore[untyped-decorator]
    def explain_one(self, x: Mapping[str, Any]) -> Explanation:
        """Say how the answer for one example comes about, and how certain it is.

        Parameters
        ----------
        x
            Feature values by name.
        """
        self._check_fitted()
        with self._own_gate.reading:
            explanation: Explanation = self.engine.explain(self, x)
        return explanation

    @has(HasRegions)  # type: ignore[untyped-decorator]
    def regions(self, X: Any) -> tuple[Integers, Floats]:
        """Return the leaf that each row lies in, and the class counts of every node: what a pool sampler sees.

        Parameters
        ----------
        X
            Rows, as in `predict`.

        Returns
        -------
        The node number of each row's leaf, and an array of nodes by classes (as in `classes_`). Before anything was
        learned all rows lie in node 0, and there are no classes.

        Examples
        --------
        >>> from quercus import HoeffdingTree
        >>> leaves, counts = HoeffdingTree().partial_fit([[1.0], [2.0]], ["no", "yes"]).regions([[5.0], [6.0], [7.0]])
        >>> leaves.tolist(), counts.tolist()
        ([0, 0, 0], [[1.0, 1.0]])
        """
        with self._own_gate.reading:
            if not self._is_fitted():
                return np.zeros(len(X), np.int64), np.zeros((1, 0))
            return self._read_regions(self._read(X))

    def _read_regions(self, rows: Floats) -> tuple[Integers, Floats]:
        leaves, known = self.engine.regions(self._state, rows)
        counts = np.zeros((len(known), len(self._order)))
        counts[:, : known.shape[1]] = known[:, : len(self._order)]
        return leaves, np.ascontiguousarray(counts[:, self._order])

    @has(KnowsSupport)  # type: ignore[untyped-decorator]
    def region_one(self, x: Mapping[str, Any], by_counts: bool = False) -> tuple[dict[Any, float], float]:
        """Return what a label policy sees: class probabilities for an example, and the labels behind them.

        Parameters
        ----------
        x
            Feature values by name.
        by_counts
            Whether the probabilities are to be the smoothed class counts of the leaf, whoever answers in it.
        """
        with self._own_gate.reading:
            if not self._is_fitted():
                return {}, 0.0
            proba, support = self.engine.region(self._state, self, self._read_one(x), self._known, by_counts)
            return self._by_label(proba), float(support)

    def state_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return copies of the used part of every array: equal bytes mean equal learners."""
        self._check_fitted()
        with self._own_gate.reading:
            return {name: array.copy() for name, array in self._arrays().items()}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, which `quercus.load` reads; an existing file is replaced at once or not at all.

        Parameters
        ----------
        path
            Where to; ``.quercus`` is a good ending.
        """
        replace_file(Path(os.fsdecode(path)), self.to_bytes())

    def to_bytes(self) -> bytes:
        """Return the model as the bytes of the file that `save` writes."""
        self._check_fitted()
        with self._own_gate.reading:
            return pack_model(
                learner=type(self).__name__,
                parameters=self._saved_params(),
                schema=self.schema_.to_dict(),
                arrays=self._arrays(),
                extra=self._extra(),
            )

    def _saved_params(self) -> dict[str, Any]:
        """Return the arguments as a file holds them."""
        return {name: describe(value) for name, value in self.get_params(deep=False).items()}

    def __getstate__(self) -> dict[str, Any]:
        with self._own_gate.reading:
            return {name: value for name, value in vars(self).items() if name not in _NOT_SAVED}

    @classmethod
    def _from_model(cls, model: Model) -> Self:
        try:
            learner = cls(**{**cls.former, **{name: rebuild(value) for name, value in model.parameters.items()}})
            learner._check_arguments()
            learner.schema_ = Schema.from_dict(model.schema)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ModelFileError(f"its header does not fit {cls.__name__}: {error}") from error
        learner._record_schema()
        learner._restore(model)
        return learner

    def __sklearn_is_fitted__(self) -> bool:
        return self._is_fitted()

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags

        tags = super().__sklearn_tags__()
        tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        return tags

    def _is_fitted(self) -> bool:
        return "schema_" in vars(self)

    def _check_fitted(self) -> None:
        if not self._is_fitted():
            raise not_fitted(
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
        if not self._is_fitted() or self.schema_.open or len(getattr(X, "shape", ())) != 2:
            return
        if type(X) is np.ndarray and X.shape[1] == len(self.schema_.names) and not self.schema_.named:
            return
        from sklearn.utils.validation import validate_data

        validate_data(self, X, reset=False, skip_check_array=True)

    def _record_schema(self) -> None:
        """Keep what follows from the schema: scikit-learn's names, the order of classes, the loss table."""
        schema = self.schema_
        self.n_features_in_ = len(schema.names)
        if schema.named:
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        self._labels, self._order = schema.classes_sorted()
        self._loss = self._find_loss(schema.labels)
        self._known = Known(self._order, self._loss, tuple(schema.kinds))

    def _find_loss(self, labels: list[Any]) -> Floats:
        """Return what answers cost by class id; empty: 1 for any wrong one."""
        return _NO_LOSS if self.loss is None else read_loss(self.loss, labels)

    def _name(self) -> str:
        """Return what it is called in pictures."""
        return type(self).__name__
