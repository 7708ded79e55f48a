"""The features of a stream: their names, kinds and categories, and how batches of rows become one matrix of them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection
from math import nan
from operator import itemgetter
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from quercus.schema.additions import Additions, Batch, Kind
from quercus.schema.columns import (
    HIGH,
    NUMBER_TYPES,
    Codes,
    Column,
    Numbers,
    Objects,
    are_numbered,
    decode,
    encode_numbers,
    encode_values,
    first_rows,
    plain,
)
from quercus.schema.refusals import listed, refuse_range, refuse_text
from quercus.schema.tables import InputTable, find_infinite, read_table, stack

_NO_CODES: dict[Any, int] = {}


class Features:
    """Features in order of arrival: the half of a `Schema` that is about them.

    Parameters
    ----------
    nominal, open, learner
        As in `Schema`.

    Examples
    --------
    >>> Features(["job"], False, "tree").nominal
    ['job']
    """

    def __init__(self, nominal: Collection[str | int] | None, open: bool, learner: str) -> None:
        self.learner = learner
        self.nominal = _read_nominal(nominal)
        self.open = bool(open)
        self.names: list[str] = []
        self.named = False
        self.kinds: list[Kind | None] = []
        self.categories: list[list[Any]] = []
        self._index_features()

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
        numeric = len(self.names) > 1 and all(kind == "numeric" for kind in self.kinds)
        self._fetch = itemgetter(*self.names) if numeric else None
        by_place = self.named or self.names == [f"x{j}" for j in range(len(self.names))]
        # The shape of a row of numbers that needs no conversion.
        self._numeric = (len(self.names),) if numeric and by_place else None

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

    def _place_columns(self, table: InputTable, added: Additions, learn: bool) -> list[int]:
        """Return the feature position of each column, -1 if it is to be passed over; put new names into `added`."""
        names = self._match_names(table)
        added.named = table.names is not None and not (table.loose and are_numbered(table.names))
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

    def _match_names(self, table: InputTable) -> list[str]:
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
        >>> from quercus.schema import Schema
        >>> Schema().read(np.array([[1, 2], [3, 4]]), learn=True).X
        array([[1., 2.],
               [3., 4.]])
        """
        if self._is_plain(X):
            return Batch(np.require(X, requirements=["C", "A"]), None)
        table = read_table(X)
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
            out = stack(columns, table.rows)
        infinite = find_infinite(out)
        if infinite is not None:
            row, place = infinite
            refuse_range(self._name(place, added), out[row, place].item(), f" in row {row}")
        return Batch(out, added if learn and added else None)

    def _is_plain(self, X: Any) -> bool:
        """Return whether rows are as most are: an array of floating-point numbers, of features that are known."""
        known = type(X) is np.ndarray and X.dtype == np.float64 and X.shape[1:] == self._numeric
        return known and len(X) > 0 and not np.isinf(X).any()

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
        if isinstance(column, Objects):
            if kind == "nominal" or not set(map(type, column.values)) <= NUMBER_TYPES | {type(None)}:
                return self._read_objects(column, place, added, learn)
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
                refuse_text(name, column.values[0], f" in row {row}", column.category)
            return self._translate(column, place, added, learn)
        if kind == "numeric":
            return column.values
        self._check_number(column.values[row].item(), place, name, f" in row {row}")
        return self._translate(encode_numbers(column, f"column {name!r}"), place, added, learn)

    def _read_objects(self, column: Objects, place: int, added: Additions, learn: bool) -> NDArray[Any]:
        """Read a column of values that are not all numbers, or are categories; look only at distinct values."""
        name, kind = self._name(place, added), self._kind(place, added)
        coded = encode_values(column.values, f"column {name!r}")
        if not coded.values:
            return _missing(len(column.values))
        if kind is None:
            added.kinds[place] = kind = "nominal" if type(coded.values[0]) is str else "numeric"
        odd = next((i for i, v in enumerate(coded.values) if (type(v) is str) != (kind == "nominal")), None)
        if odd is not None and kind == "numeric":
            refuse_text(name, coded.values[odd], _where(coded, odd))
        if odd is not None:
            self._check_number(coded.values[odd], place, name, _where(coded, odd))
        if kind == "nominal":
            return self._translate(coded, place, added, learn)
        return _floats(decode(coded), name)

    def _translate(self, column: Codes, place: int, added: Additions, learn: bool) -> NDArray[np.float64]:
        """Replace positions in the column's own values by category codes."""
        table = np.full(len(column.values) + 1, nan)  # the last is where -1, missing, looks
        for position, value in enumerate(column.values):
            if type(value) is not str and not -HIGH <= value <= HIGH:
                refuse_range(self._name(place, added), value, _where(column, position))
            table[position] = self._code(value, place, added, learn)
        return np.take(table, column.codes)

    def _code(self, value: Any, place: int, added: Additions, learn: bool) -> int:
        known = self._codes[place] if place < len(self._codes) else _NO_CODES
        code = known.get(value)
        if code is not None or not learn:
            return -1 if code is None else code
        new = added.categories.setdefault(place, {})
        return new.setdefault(value, len(known) + len(new))

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
                raise ValueError(f"nominal holds {entry!r}, which is no feature; the features are {listed(names)}.")

    def _refuse_width(self, width: int) -> NoReturn:
        expected = f"{self.learner} is expecting {len(self.names)} features as input"
        raise ValueError(f"X has {width} features, but {expected}: {listed(self.names)}.")

    def _refuse_names(self, names: list[str]) -> NoReturn:
        extra = [name for name in names if name not in self._places]
        missing = [name for name in self.names if name not in names]
        said = []
        if len(names) != len(self.names):
            expected = f"{self.learner} is expecting {len(self.names)} features as input"
            said.append(f"X has {len(names)} features, but {expected}")
        if extra:
            said.append(f"not learned before: {listed(extra)}")
        if missing:
            said.append(f"missing: {listed(missing)}")
        if not extra and not missing:
            said.append(f"the columns of X are in another order than those learned: {listed(self.names)}")
        raise ValueError("; ".join(said) + ". Pass the columns that were learned, in their order.")

    @staticmethod
    def _refuse_unknown(names: list[str], known: list[str], where: str) -> NoReturn:
        raise ValueError(
            f"unknown feature {listed(names)}{where}; the features are {listed(known)}. "
            'Leave it out, or let new features in with features="open".'
        )


def _read_nominal(nominal: Collection[str | int] | None) -> list[str | int]:
    if nominal is None:
        return []
    if isinstance(nominal, str | bytes) or not hasattr(nominal, "__len__"):
        raise TypeError(f"nominal={nominal!r} is not a list of column names or positions; write [{nominal!r}].")
    entries = [plain(entry) for entry in nominal]
    for entry in entries:
        if (type(entry) is not int and type(entry) is not str) or (type(entry) is int and entry < 0):
            raise TypeError(f"nominal holds {entry!r}; give column names, or positions counted from 0.")
    return entries


def _floats(values: list[Any], name: str) -> NDArray[np.float64]:
    try:
        return np.array(values, dtype=np.float64)
    except OverflowError:
        row = next(i for i, value in enumerate(values) if value is not None and not -HIGH <= value <= HIGH)
        refuse_range(name, values[row], f" in row {row}")


def _where(column: Codes, position: int) -> str:
    return f" in row {first_rows(column)[position]}"


def _missing(rows: int) -> NDArray[np.float64]:
    return np.broadcast_to(nan, rows)
