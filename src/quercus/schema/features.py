"""The features of a stream: their names, kinds and categories, and which of them the columns of a table are."""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection
from operator import itemgetter
from typing import Any, NoReturn

from quercus.schema.additions import Additions, Kind
from quercus.schema.cells import are_numbered, plain
from quercus.schema.refusals import listed
from quercus.schema.tables import InputTable

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
