"""The features and classes of a stream: what is known of them, and how any input becomes the numbers that kernels take.

Both may grow while the stream runs. Reading never changes the schema: it returns what a learner has to `commit` once it
has accepted the whole batch, so that refused input leaves no trace.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from math import isnan, nan
from operator import itemgetter
from typing import Any, Literal, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from quercus import inputs
from quercus.inputs import Cells, Codes, Column, Numbers, Table

Kind = Literal["numeric", "nominal"]
LabelType = Literal["str", "int", "bool", "float"]

_HIGH = sys.float_info.max
_NUMBERS = frozenset({float, int, bool, np.float64, np.int64})
_NO_CODES: dict[Any, int] = {}
_LABEL_CLASSES: dict[str | None, type] = {"str": str, "int": int, "bool": bool, "float": float}
_LABEL_TYPES: dict[type, LabelType] = {str: "str", int: "int", bool: "bool", float: "float"}
_STATE = ("nominal", "open", "learner", "names", "named", "kinds", "categories", "labels", "label_type")


@dataclass(slots=True)
class Additions:
    """What a batch or an example adds to a schema.

    Attributes
    ----------
    edition
        Which state of the schema it was read with.
    names, arrived
        New features, and for each the row of the batch in which it first came.
    named
        Whether the new features have names of their own.
    kinds
        Kind by feature position, where it was open so far.
    categories
        Codes of new categories, by feature position.
    labels
        Ids of new labels.
    label_type
        Type of the labels, if it was open so far.
    row
        The whole row of one example that brings new features, for which the caller's row is too short.
    """

    edition: int
    names: list[str] = field(default_factory=list)
    arrived: list[int] = field(default_factory=list)
    named: bool = True
    kinds: dict[int, Kind] = field(default_factory=dict)
    categories: dict[int, dict[Any, int]] = field(default_factory=dict)
    labels: dict[Any, int] = field(default_factory=dict)
    label_type: LabelType | None = None
    row: NDArray[np.float64] | None = None

    def __bool__(self) -> bool:
        return bool(self.names or self.kinds or self.categories or self.labels)


class Batch(NamedTuple):
    """Rows as kernels take them: C-order float64, NaN if missing, category codes of nominal features (-1: unknown)."""

    X: NDArray[np.float64]
    additions: Additions | None


class LabelBatch(NamedTuple):
    """Class ids by first arrival (-1: unknown)."""

    ids: NDArray[np.int64]
    additions: Additions | None


class Labels:
    """Classes in order of arrival: the half of a `Schema` that is about labels.

    Parameters
    ----------
    learner
        Name for messages.

    Examples
    --------
    >>> labels = Labels("tree")
    >>> labels.read_labels([3, 1, 3]).ids
    array([0, 1, 0])
    """

    def __init__(self, learner: str) -> None:
        self.learner = learner
        self.labels: list[Any] = []
        self.label_type: LabelType | None = None
        self._index_labels()

    def _index_labels(self) -> None:
        self._label_edition = 0
        self._ids = {label: place for place, label in enumerate(self.labels)}
        self._label_class = _LABEL_CLASSES.get(self.label_type)

    def _commit_labels(self, added: Additions) -> None:
        self._ids |= added.labels
        self.labels += added.labels
        self.label_type = self.label_type or added.label_type
        self._label_class = _LABEL_CLASSES.get(self.label_type)
        self._label_edition += 1

    def read_labels(
        self, y: Any, learn: bool = True, rows: int | None = None, classes: Collection[Any] | None = None
    ) -> LabelBatch:
        """Read the labels of a batch.

        Parameters
        ----------
        y
            One label per row: array, series or list of text, whole numbers or bools.
        learn
            Whether new labels are to be added; otherwise they get id -1.
        rows
            How many there have to be.
        classes
            Labels that come before those of `y`.

        Examples
        --------
        >>> schema = Schema()
        >>> schema.read_labels(["no", "yes", "no"]).ids
        array([0, 1, 0])
        >>> schema.read_labels([1, 0.5])
        Traceback (most recent call last):
            ...
        ValueError: labels were int and are now float in row 1 of y (0.5); give all labels the same type.
        """
        added = Additions(self._label_edition)
        if classes is not None:
            self._number_labels(classes, "classes", added, True)
        if y is None:
            raise ValueError(f"{self.learner} requires y to be passed, but the target y is None.")
        ids = self._number_labels(y, "y", added, learn, rows)
        return LabelBatch(ids, added or None)

    def read_classes(self, classes: Collection[Any]) -> LabelBatch:
        """Read labels that are declared before they come.

        Parameters
        ----------
        classes
            The labels, in the order in which they are to be numbered.

        Examples
        --------
        >>> schema = Schema()
        >>> schema.commit(schema.read_classes(["no", "yes"]))
        >>> schema.labels
        ['no', 'yes']
        """
        added = Additions(self._label_edition)
        return LabelBatch(self._number_labels(classes, "classes", added, True), added or None)

    def read_label_one(self, y: Any) -> tuple[int, Additions | None]:
        """Return the class id of one label, and what is to be committed.

        Parameters
        ----------
        y
            The label.

        Examples
        --------
        >>> Schema().read_label_one("yes")[0]
        0
        """
        if type(y) is self._label_class:
            place = self._ids.get(y)
            if place is not None:
                return place, None
        added = Additions(self._label_edition)
        return self._number_label(y, "", added, True), added or None

    def _number_labels(
        self, y: Any, what: str, added: Additions, learn: bool, rows: int | None = None
    ) -> NDArray[np.int64]:
        column = inputs.read_vector(_flatten(y, what), what)
        length = inputs.size(column)
        if rows is not None and length != rows:
            raise ValueError(f"Found input variables with inconsistent numbers of samples: {[rows, length]}")
        if length == 0:
            raise ValueError(f"{what}: Found array with 0 sample(s) (shape=(0,)) while a minimum of 1 is required.")
        coded = self._encode_labels(column, what, added)
        if coded.codes.min() < 0:
            self._number_label(None, f" in row {int(coded.codes.argmin())} of {what}", added, learn)
        ids = [self._ids.get(value, -1) if type(value) is self._label_class else -1 for value in coded.values]
        if -1 in ids:
            starts = inputs.first_rows(coded)
            for position, value in enumerate(coded.values):
                ids[position] = self._number_label(value, f" in row {starts[position]} of {what}", added, learn)
        return np.take(np.array(ids, dtype=np.int64), coded.codes)

    def _encode_labels(self, column: Column, what: str, added: Additions) -> Codes:
        if isinstance(column, Numbers):
            values = column.values
            if values.dtype.kind == "f":
                whole = np.floor(values) == values
                row = int(whole.argmin())
                if not whole[row]:
                    self._number_label(values[row].item(), f" in row {row} of {what}", added, True)
            return inputs.encode_numbers(column, what)
        if isinstance(column, Codes):
            return column
        cells = column.values
        if len(set(map(type, cells))) > 1 or type(cells[0]) not in _LABEL_TYPES:
            cells = [inputs.plain(value) for value in cells]
            if len(set(map(type, cells))) > 1 or cells[0] is inputs.REFUSED:
                # equal labels of two types, as 1 and True, must not meet: the first of another type is refused
                for row, value in enumerate(column.values):
                    self._number_label(value, f" in row {row} of {what}", added, True)
        return inputs.encode_cells(cells, what)

    def _number_label(self, raw: Any, where: str, added: Additions, learn: bool) -> int:
        value = inputs.plain(raw)
        if value is None:
            raise ValueError(f"the label{where} is missing; leave out the rows that have no label (NaN, None).")
        if value is inputs.REFUSED:
            kind = type(raw).__name__
            raise TypeError(
                f"the label{where} is {inputs.short(raw)}, a {kind}; labels are strings, whole numbers or bools."
            )
        label_type, fixed = _LABEL_TYPES[type(value)], self.label_type or added.label_type
        if fixed is not None and label_type != fixed:
            raise ValueError(
                f"labels were {fixed} and are now {label_type}{where} ({inputs.short(value)}); "
                "give all labels the same type."
            )
        if type(value) is float and not value.is_integer():
            raise ValueError(
                f"Unknown label type: continuous. The label{where} is {value!r}; a classifier learns classes: "
                "cut numbers into ranges and name these, or write them as strings."
            )
        place = self._ids.get(value)
        if place is not None:
            return place
        if learn:
            added.label_type = label_type
            return added.labels.setdefault(value, len(self.labels) + len(added.labels))
        return added.labels.get(value, -1)

    def classes_sorted(self) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return the labels in sorted order, and their ids in that order.

        Examples
        --------
        >>> schema = Schema()
        >>> schema.commit(schema.read_labels(["yes", "no"]))
        >>> schema.classes_sorted()
        (array(['no', 'yes'], dtype='<U3'), array([1, 0]))
        """
        order = sorted(range(len(self.labels)), key=self.labels.__getitem__)
        values = [self.labels[place] for place in order]
        # numpy's own text type drops NULs at the end
        exact = self.label_type == "str" and any(value.endswith("\0") for value in values)
        return np.array(values, dtype=object if exact else None), np.array(order, dtype=np.int64)


class Schema(Labels):
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
        Labels by first arrival.
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
        super().__init__(learner)
        self.nominal = _read_nominal(nominal)
        self.open = bool(open)
        self.names: list[str] = []
        self.named = False
        self.kinds: list[Kind | None] = []
        self.categories: list[list[Any]] = []
        self._index_features()

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

    def _index_features(self) -> None:
        self._edition = 0
        self._codes = [{value: code for code, value in enumerate(values)} for values in self.categories]
        self._plan_rows()

    def _plan_rows(self) -> None:
        """Prepare what `read_one` needs: per feature its name, and None (numeric) or its codes."""
        self._places = {name: place for place, name in enumerate(self.names)}
        self._plan = [
            (name, None if kind == "numeric" else codes if kind == "nominal" else _NO_CODES)
            for name, kind, codes in zip(self.names, self.kinds, self._codes, strict=True)
        ]
        self._pack: Callable[..., None] = struct.Struct(f"{len(self.names)}d").pack_into
        plain = len(self.names) > 1 and all(kind == "numeric" for kind in self.kinds)
        self._fetch = itemgetter(*self.names) if plain else None

    def commit(self, read: Batch | LabelBatch | Additions | None) -> None:
        """Take over what was read.

        Parameters
        ----------
        read
            What `read`, `read_labels` or `read_classes` returned, or the additions of `read_one` or `read_label_one`.

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

    def _commit_features(self, added: Additions) -> None:
        if not self.names:
            self.named = added.named
        for name in added.names:
            self.kinds.append("nominal" if self._is_declared(len(self.names), name) else None)
            self.names.append(name)
            self.categories.append([])
            self._codes.append({})
        for place, kind in added.kinds.items():
            self.kinds[place] = kind
        for place, codes in added.categories.items():
            self._codes[place] |= codes
            self.categories[place] += codes
        self._edition += 1
        if added.names or added.kinds:
            self._plan_rows()

    def read(self, X: Any, learn: bool) -> Batch:
        """Read a batch of rows.

        Parameters
        ----------
        X
            numpy array, pandas, polars or pyarrow table, list of rows (lists or dicts), dict of columns.
        learn
            Whether new features and categories are to be added; otherwise unknown categories get code -1.

        Examples
        --------
        >>> Schema().read(np.array([[1, 2], [3, 4]]), learn=True).X
        array([[1., 2.],
               [3., 4.]])
        """
        table = inputs.read_table(X)
        added = Additions(self._edition)
        places = self._place_columns(table, added, learn)
        width = len(self.names) + len(added.names)
        if table.matrix is not None and places == list(range(width)):
            out = self._read_matrix(table.matrix, added, learn)
        else:
            given = table.columns if table.matrix is None else map(Numbers, table.matrix.T)
            columns: list[NDArray[Any]] = [_missing(table.rows)] * width
            for place, column in zip(places, given, strict=True):
                if place >= 0:
                    columns[place] = self._read_column(column, place, added, learn)
            out = inputs.stack(columns, table.rows)
        infinite = inputs.find_infinite(out)
        if infinite is not None:
            row, place = infinite
            _refuse_range(self._name(place, added), out[row, place].item(), f" in row {row}")
        return Batch(out, added if learn and added else None)

    def _place_columns(self, table: Table, added: Additions, learn: bool) -> list[int]:
        """Return the feature position of each column, -1 if it is to be passed over; put new names into `added`."""
        names = self._match_names(table)
        added.named = table.names is not None and not (table.loose and _are_numbered(table.names))
        places = []
        for j, name in enumerate(names):
            place = self._places.get(name, -1)
            if place < 0 and self._may_add(learn):
                row = table.arrived[j] if table.arrived else 0
                if row > 0 and not self.open:
                    self._refuse_unknown([name], added.names, f" in row {row}")
                place = len(self.names) + len(added.names)
                added.names.append(name)
                added.arrived.append(row)
            places.append(place)
        if not self.names and not added.names:
            shape = (table.rows, 0)
            raise ValueError(f"Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required.")
        if added.names:
            self._check_nominal([*self.names, *added.names])
        return places

    def _may_add(self, learn: bool) -> bool:
        return not self.names or (self.open and learn)

    def _match_names(self, table: Table) -> list[str]:
        """Return the feature name of each column, or refuse the table for its columns."""
        if table.names is None:
            if self.names and table.width != len(self.names) and (self.named or not self.open):
                self._refuse_width(table.width)
            numbered = [f"x{j}" for j in range(table.width)]
            by_place = self.named or not (self.open or set(numbered) == set(self.names))
            return self.names if self.names and by_place else numbered
        if self.open or not self.names or table.names == self.names:
            return table.names
        if table.loose:
            new = [(name, j) for j, name in enumerate(table.names) if name not in self._places]
            if new:
                row = f" in row {table.arrived[new[0][1]]}" if table.arrived else ""
                self._refuse_unknown([name for name, _ in new], self.names, row)
            return table.names
        if self.named or set(table.names) == set(self.names):
            self._refuse_names(table.names)
        if table.width != len(self.names):
            self._refuse_width(table.width)
        return self.names  # as in scikit-learn, features that were learned without names go by position

    def _read_matrix(self, X: NDArray[Any], added: Additions, learn: bool) -> NDArray[np.float64]:
        """Read numbers of which column j is feature j, without a copy if nothing has to be converted."""
        out = np.require(X, np.float64, ["C", "A"])
        known = ~np.isnan(out[0])
        for place in range(X.shape[1]):
            kind = self._kind(place, added)
            if kind == "nominal":
                out = out.copy() if np.may_share_memory(out, X) else out
                out[:, place] = self._read_column(Numbers(X[:, place]), place, added, learn)
            elif kind is None and (known[place] or not np.isnan(out[:, place]).all()):
                added.kinds[place] = "numeric"
        return out

    def _read_column(self, column: Column, place: int, added: Additions, learn: bool) -> NDArray[Any]:
        name, kind = self._name(place, added), self._kind(place, added)
        if isinstance(column, Cells):
            if kind == "nominal" or not set(map(type, column.values)) <= _NUMBERS | {type(None)}:
                return self._read_cells(column, place, added, learn)
            column = Numbers(_floats(column.values, name))
        if isinstance(column, Numbers) and kind == "numeric":
            return column.values
        known = ~np.isnan(column.values) if isinstance(column, Numbers) else column.codes >= 0
        row = int(known.argmax())
        if not known[row]:
            return _missing(len(known))
        if kind is None:
            added.kinds[place] = kind = "numeric" if isinstance(column, Numbers) else "nominal"
        if isinstance(column, Codes):
            if kind == "numeric":
                _refuse_text(name, column.values[0], f" in row {row}", column.category)
            return self._translate(column, place, added, learn)
        if kind == "numeric":
            return column.values
        self._check_number(column.values[row].item(), place, name, f" in row {row}")
        return self._translate(inputs.encode_numbers(column, f"column {name!r}"), place, added, learn)

    def _read_cells(self, column: Cells, place: int, added: Additions, learn: bool) -> NDArray[Any]:
        """Read a column of cells that are not all numbers, or are categories; look only at distinct values."""
        name, kind = self._name(place, added), self._kind(place, added)
        coded = inputs.encode_cells(column.values, f"column {name!r}")
        if not coded.values:
            return _missing(len(column.values))
        if kind is None:
            added.kinds[place] = kind = "nominal" if type(coded.values[0]) is str else "numeric"
        odd = next((i for i, v in enumerate(coded.values) if (type(v) is str) != (kind == "nominal")), None)
        if odd is not None and kind == "numeric":
            _refuse_text(name, coded.values[odd], _where(coded, odd))
        if odd is not None:
            self._check_number(coded.values[odd], place, name, _where(coded, odd))
        if kind == "nominal":
            return self._translate(coded, place, added, learn)
        return _floats(inputs.decode(coded), name)

    def _translate(self, column: Codes, place: int, added: Additions, learn: bool) -> NDArray[np.float64]:
        """Replace positions in the column's own values by category codes."""
        table = np.full(len(column.values) + 1, nan)  # the last is where -1, missing, looks
        for position, value in enumerate(column.values):
            if type(value) is not str and not -_HIGH <= value <= _HIGH:
                _refuse_range(self._name(place, added), value, _where(column, position))
            table[position] = self._code(value, place, added, learn)
        return np.take(table, column.codes)

    def _code(self, value: Any, place: int, added: Additions, learn: bool) -> int:
        known = self._codes[place] if place < len(self._codes) else _NO_CODES
        code = known.get(value)
        if code is not None or not learn:
            return -1 if code is None else code
        new = added.categories.setdefault(place, {})
        return new.setdefault(value, len(known) + len(new))

    def read_one(self, x: Mapping[str, Any], out: NDArray[np.float64], learn: bool) -> Additions | None:
        """Read one example into a row of as many values as there are features.

        Parameters
        ----------
        x
            Values by feature name; absent, None and NaN are missing.
        out
            Contiguous row to be filled. Where new features come, the row is in the returned ``additions.row`` instead.
        learn
            Whether new features and categories are to be added; otherwise unknown categories get code -1.

        Examples
        --------
        >>> schema = Schema()
        >>> added = schema.read_one({"age": 41, "job": "clerk"}, np.empty(0), learn=True)
        >>> schema.commit(added)
        >>> added.row
        array([41.,  0.])
        >>> row = np.empty(2)
        >>> schema.read_one({"age": 29}, row, learn=True)
        >>> row
        array([29., nan])
        """
        if self._fetch is not None and type(x) is dict and len(x) == len(self._plan):
            try:
                values = self._fetch(x)
                total = sum(values)
                if type(total) in _NUMBERS and -_HIGH <= total <= _HIGH:
                    self._pack(out, 0, *values)
                    return None
            except (KeyError, TypeError, ValueError, OverflowError, struct.error):
                pass  # absent, missing, not a number or too large: the slower way tells which
        return self._read_known(x, out, learn)

    def _read_known(self, x: Mapping[Any, Any], out: NDArray[np.float64], learn: bool) -> Additions | None:
        if not isinstance(x, Mapping):
            raise TypeError(f"an example is a dict of values by feature name, not a {type(x).__name__}.")
        added: Additions | None = None
        row: list[float] = []
        left = len(x)
        for name, codes in self._plan:
            value = x.get(name)
            if value is None:
                left += name not in x
                row.append(nan)
            elif codes is None and type(value) in _NUMBERS and -_HIGH <= value <= _HIGH:
                row.append(value)
            elif codes is not None and type(value) is str and value in codes:
                row.append(codes[value])
            elif type(value) is float and isnan(value):
                row.append(nan)
            else:
                added = added or Additions(self._edition)
                row.append(self._read_cell(value, len(row), added, learn))
        if left > len(row):
            return self._read_new(x, out, learn)
        if not self.names and learn:
            raise ValueError("the first example is an empty dict; give it at least one feature.")
        self._pack(out, 0, *row)
        return added if learn and added else None

    def _read_new(self, x: Mapping[Any, Any], out: NDArray[np.float64], learn: bool) -> Additions | None:
        """Read an example with keys that are no known names."""
        renamed = inputs.plain_keys(x)
        new = [name for name in renamed if name not in self._places]
        if new and self.names and not self.open:
            self._refuse_unknown(new, self.names, "")
        if not new or not learn:
            return self._read_known({name: renamed[name] for name in renamed if name in self._places}, out, learn)
        names = [*self.names, *new]
        self._check_nominal(names)
        added = Additions(self._edition, names=new, arrived=[0] * len(new), named=not _are_numbered(new))
        cells = (self._read_cell(renamed.get(name), place, added, learn) for place, name in enumerate(names))
        added.row = np.fromiter(cells, np.float64, len(names))
        return added

    def _read_cell(self, raw: Any, place: int, added: Additions, learn: bool) -> float:
        name, kind = self._name(place, added), self._kind(place, added)
        value = inputs.plain(raw)
        if value is None:
            return nan
        if value is inputs.REFUSED:
            inputs.refuse_cell(raw, f"column {name!r}", "")
        text = type(value) is str
        if kind is None:
            added.kinds[place] = kind = "nominal" if text else "numeric"
        if text and kind == "numeric":
            _refuse_text(name, value, "")
        if not text and not -_HIGH <= value <= _HIGH:
            _refuse_range(name, value, "")
        if kind == "numeric":
            return float(value)
        if not text:
            self._check_number(value, place, name, "")
        return self._code(value, place, added, learn)

    def _name(self, place: int, added: Additions) -> str:
        return self.names[place] if place < len(self.names) else added.names[place - len(self.names)]

    def _kind(self, place: int, added: Additions) -> Kind | None:
        if place in added.kinds:
            return added.kinds[place]
        if place < len(self.names):
            return self.kinds[place]
        return "nominal" if self._is_declared(place, self._name(place, added)) else None

    def _is_declared(self, place: int, name: str) -> bool:
        return bool(self.nominal) and (name in self.nominal or place in self.nominal)

    def _check_number(self, value: Any, place: int, name: str, where: str) -> None:
        """Refuse a number as category unless so declared, or numbers have come in a column of a categorical type."""
        known = self.categories[place] if place < len(self.categories) else []
        if not self._is_declared(place, name) and all(type(category) is str for category in known):
            raise ValueError(
                f"column {name!r} is nominal but holds the number {value!r}{where}; write it as a string, "
                "or name the column in nominal= so that numbers are categories too."
            )

    def _check_nominal(self, names: list[str]) -> None:
        for entry in self.nominal if not self.open else ():
            if entry not in names and not (isinstance(entry, int) and entry < len(names)):
                raise ValueError(f"nominal holds {entry!r}, which is no feature; the features are {_listed(names)}.")

    def _refuse_width(self, width: int) -> NoReturn:
        expected = f"{self.learner} is expecting {len(self.names)} features as input"
        raise ValueError(f"X has {width} features, but {expected}: {_listed(self.names)}.")

    def _refuse_names(self, names: list[str]) -> NoReturn:
        extra = [name for name in names if name not in self._places]
        missing = [name for name in self.names if name not in names]
        said = []
        if len(names) != len(self.names):
            expected = f"{self.learner} is expecting {len(self.names)} features as input"
            said.append(f"X has {len(names)} features, but {expected}")
        if extra:
            said.append(f"not learned before: {_listed(extra)}")
        if missing:
            said.append(f"missing: {_listed(missing)}")
        if not extra and not missing:
            said.append(f"the columns of X are in another order than those learned: {_listed(self.names)}")
        raise ValueError("; ".join(said) + ". Pass the columns that were learned, in their order.")

    @staticmethod
    def _refuse_unknown(names: list[str], known: list[str], where: str) -> NoReturn:
        raise ValueError(
            f"unknown feature {_listed(names)}{where}; the features are {_listed(known)}. "
            'Leave it out, or let new features in with features="open".'
        )


def _read_nominal(nominal: Collection[str | int] | None) -> list[str | int]:
    if nominal is None:
        return []
    if isinstance(nominal, str | bytes) or not hasattr(nominal, "__len__"):
        raise TypeError(f"nominal={nominal!r} is not a list of column names or positions; write [{nominal!r}].")
    entries = [inputs.plain(entry) for entry in nominal]
    for entry in entries:
        if (type(entry) is not int and type(entry) is not str) or (type(entry) is int and entry < 0):
            raise TypeError(f"nominal holds {entry!r}; give column names, or positions counted from 0.")
    return entries


def _flatten(y: Any, what: str) -> Any:
    """Let a column of labels pass as a vector, as scikit-learn does, with its warning."""
    if isinstance(y, str | bytes | Mapping) or not (hasattr(y, "__len__") or hasattr(y, "__array__")):
        raise ValueError(f"{what} should be a 1d array, got {inputs.short(y)} instead.")
    if isinstance(y, list | tuple) and len(y) and isinstance(y[0], list | tuple | np.ndarray):
        y = np.array(y, dtype=object)
    if not hasattr(y, "__len__"):
        y = np.asarray(y)
    if len(getattr(y, "shape", (0,))) == 1:
        return y
    from sklearn.utils.validation import column_or_1d

    return column_or_1d(np.asarray(y), warn=True)


def _floats(cells: list[Any], name: str) -> NDArray[np.float64]:
    try:
        return np.array(cells, dtype=np.float64)
    except OverflowError:
        row = next(i for i, value in enumerate(cells) if value is not None and not -_HIGH <= value <= _HIGH)
        _refuse_range(name, cells[row], f" in row {row}")


def _where(column: Codes, position: int) -> str:
    return f" in row {inputs.first_rows(column)[position]}"


def _missing(rows: int) -> NDArray[np.float64]:
    return np.broadcast_to(nan, rows)


def _are_numbered(names: list[str]) -> bool:
    return all(name[:1] == "x" and name[1:].isdecimal() for name in names)


def _refuse_range(name: str, value: Any, where: str) -> NoReturn:
    text = f"{value}" if isinstance(value, float) else "a number beyond the range of floats"
    raise ValueError(f"column {name!r} holds {text}{where}; replace it with NaN to mark it missing.")


def _refuse_text(name: str, value: Any, where: str, category: bool = False) -> NoReturn:
    holds = "is now categorical, with" if category else "holds"
    raise ValueError(
        f"column {name!r} is numeric but {holds} {inputs.short(value)}{where}; make it a number or None (missing), "
        "or name the column in nominal= so that all its values are categories."
    )


def _listed(names: list[str]) -> str:
    shown = ", ".join(map(repr, names[:12]))
    return shown if len(names) <= 12 else f"{shown} and {len(names) - 12} more"
