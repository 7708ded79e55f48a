"""The schema as a whole: features and classes, their state, and the taking over of what was read."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from quercus.schema.additions import Additions, Batch, LabelBatch
from quercus.schema.examples import ExampleReader
from quercus.schema.features import Features
from quercus.schema.labels import LABEL_TYPES, ClassLabels

_STATE = ("nominal", "open", "learner", "names", "named", "kinds", "categories", "labels", "label_type")


class Schema(ClassLabels, ExampleReader):
    """Features and classes in order of arrival.

    Parameters
    ----------
    nominal
        Names or positions of features whose values are categories whatever they look like.
    open
        Whether new features may come while the stream runs; absent ones are missing.
    learner
        Name for messages.

    Attributes
    ----------
    names
        Feature names; ``x0``, ``x1``, ... if the input had none.
    named
        Whether the names came with the input.
    kinds
        Per feature ``"numeric"``, ``"nominal"``, or None as long as it has been missing.
    categories
        Per feature its categories by first arrival; empty unless nominal.
    labels
        ClassLabels by first arrival.
    label_type
        ``"str"``, ``"int"``, ``"bool"``, ``"float"``, or None before the first.

    Examples
    --------
    >>> schema = Schema()
    >>> batch = schema.read([{"age": 41, "job": "clerk"}, {"age": None, "job": "nurse"}], learn=True)
    >>> schema.commit(batch)
    >>> batch.X
    array([[41.,  0.],
           [nan,  1.]])
    >>> schema.kinds, schema.categories
    (['numeric', 'nominal'], [[], ['clerk', 'nurse']])
    >>> schema.read([{"age": "old"}], learn=False)
    Traceback (most recent call last):
        ...
    ValueError: column 'age' is numeric but holds 'old' in row 0; make it a number or None (missing), or ...
    """

    def __init__(
        self, nominal: Collection[str | int] | None = None, open: bool = False, learner: str = "the learner"
    ) -> None:
        ClassLabels.__init__(self, learner)
        Features.__init__(self, nominal, open, learner)

    def to_dict(self) -> dict[str, Any]:
        """Return the whole state as plain values, which JSON keeps exactly.

        Examples
        --------
        >>> Schema(nominal=["job"]).to_dict()["nominal"]
        ['job']
        """
        state = {name: getattr(self, name) for name in _STATE}
        state["categories"] = [list(values) for values in self.categories]
        return {name: list(value) if isinstance(value, list) else value for name, value in state.items()}

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> Schema:
        """Return the schema that `to_dict` described.

        Parameters
        ----------
        state
            What `to_dict` returned.

        Examples
        --------
        >>> Schema.from_dict(Schema(nominal=["job"]).to_dict()).nominal
        ['job']
        """
        _check_state(state)
        schema = cls.__new__(cls)
        schema.__setstate__(state)
        return schema

    __getstate__ = to_dict

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        for name in _STATE:
            setattr(self, name, list(state[name]) if isinstance(state[name], list) else state[name])
        self.categories = [list(values) for values in self.categories]
        self._index_labels()
        self._index_features()

    def __eq__(self, other: object) -> bool:
        # as text, in which 1, 1.0 and True differ
        return isinstance(other, Schema) and repr(self.to_dict()) == repr(other.to_dict())

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Schema({len(self.names)} features, {len(self.labels)} classes)"

    def commit(self, read: Batch | LabelBatch | Additions | None) -> None:
        """Take over what was read.

        Parameters
        ----------
        read
            What `read` or `read_labels` returned, or the additions of `read_one` or `read_label_one`.

        Examples
        --------
        >>> schema = Schema()
        >>> schema.commit(schema.read([[1.5, "red"]], learn=True))
        >>> schema.names, schema.kinds
        (['x0', 'x1'], ['numeric', 'nominal'])
        """
        added = read.additions if isinstance(read, Batch | LabelBatch) else read
        if not added:
            return
        if added.edition != (self._label_edition if added.labels else self._edition):
            raise RuntimeError("the schema has changed since this was read; read it again before committing it.")
        if added.labels:
            self._commit_labels(added)
        else:
            self._commit_features(added)


def _check_state(state: Mapping[str, Any]) -> None:
    """Raise ValueError where a file describes no schema."""
    names, kinds, categories, labels = (state[name] for name in ("names", "kinds", "categories", "labels"))
    if not all(isinstance(values, list) for values in (names, kinds, categories, labels)):
        raise ValueError("its names, kinds, categories and labels must be lists.")
    if not all(type(name) is str for name in names) or len(set(names)) < len(names):
        raise ValueError("the names of its features must be different texts.")
    if not len(names) == len(kinds) == len(categories):
        raise ValueError(f"it has {len(names)} names, {len(kinds)} kinds and {len(categories)} lists of categories.")
    for name, kind, values in zip(names, kinds, categories, strict=True):
        if kind not in ("numeric", "nominal", None) or isinstance(values, str) or not isinstance(values, Sequence):
            raise ValueError(f"its feature {name!r} is neither numeric nor nominal.")
    if {LABEL_TYPES.get(type(label)) for label in labels} - {state["label_type"]}:
        raise ValueError("its labels are not of the type that it names.")
    if not isinstance(state["nominal"], list) or not all(type(entry) in (str, int) for entry in state["nominal"]):
        raise ValueError("its nominal features must be a list of names and positions.")
    if type(state["learner"]) is not str:
        raise ValueError("it must name its learner.")
    if not all(type(state[name]) is bool for name in ("named", "open")):
        raise ValueError("it must say whether features may come, and whether they have names of their own.")
