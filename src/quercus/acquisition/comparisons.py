"""Comparisons in place of values: "is age <= 30?", answered by yes or no, as questions of their own.

After Garlapati, Raghunathan, Nagarajan & Ravindran, "A Reinforcement Learning Approach to Online Learning of Decision
Trees", EWRL 2015, where a query may be a comparison. Here the table is rewritten in front of the learner, so that every
learner that buys features can ask them, with prices, groups and cases as for any other feature.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from math import nan
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from quercus.schema.columns import HIGH, REFUSED, Codes, Column, Numbers, first_rows, plain, plain_keys, plain_values
from quercus.schema.refusals import listed, refuse_range, refuse_value, short
from quercus.schema.tables import InputTable, find_infinite, read_table

# Column -> name of each comparison -> its edge.
Asked = dict[str, dict[str, float]]
_ANSWERS = np.array(["no", "yes", None], dtype=object)
_NO, _YES, _MISSING = range(3)
# Integers up to here are written as such in names; floats beyond have gaps.
_EXACT = 2.0**53


def comparisons(X: Any, edges: Mapping[str, Sequence[float]]) -> Any:
    """Put comparisons with yes or no as answer, such as ``"age <= 30"``, where columns of numbers stood.

    Parameters
    ----------
    X
        Rows in any form that learners take, or one row, a dict or another mapping. It is not changed.
    edges
        For each column to be replaced its edges: finite numbers that increase. They are not taken from `X`, because
        that would look ahead; take them from history: ``np.unique(np.quantile(history, [0.2, 0.4, 0.6, 0.8]))``.

    Returns
    -------
    table
        Of the same form as `X`: a frame of the same library, a list of dicts, a dict of columns; an Arrow table for
        arrays and lists of lists, whose columns are named ``x0``, ``x1``, ... as everywhere. Missing values stay
        missing. A row that is a dict becomes a dict, in which the comparisons of a column that is absent are None; any
        other mapping becomes a mapping that looks a value up when a comparison of it is first read.

    Examples
    --------
    >>> import quercus as qc
    >>> edges = {"age": [30, 50], "income": [2000]}
    >>> qc.comparisons({"age": 41, "job": "clerk", "income": None}, edges)
    {'age <= 30': 'no', 'age <= 50': 'yes', 'job': 'clerk', 'income <= 2000': None}

    >>> history = {"age": [25, 41, 63, 28, 39, 70] * 50, "income": [900, 2500, 3100, 4000, 1000, 2200] * 50}
    >>> tree = qc.ReinforcedTree(costs={"income <= 2000": 2})
    >>> bought = tree.buy_and_learn(qc.comparisons(history, edges), ["no", "yes", "no", "no", "yes", "no"] * 50)
    >>> case = tree.open(explore=False)
    >>> while case.question is not None:
    ...     print(case.question)
    ...     case.answer("no" if case.question == "age <= 30" else "yes")
    age <= 30
    age <= 50
    >>> case.prediction, case.cost
    ('yes', 2.0)
    """
    asked = _read_edges(edges)
    if isinstance(X, Mapping) and not hasattr(X, "tocsr"):  # a sparse matrix of keys is a mapping, too
        if X and _is_dict(X) and all(map(_is_column, X.values())):
            return _compare_columns(X, asked)
        return _compare_row(X, asked, "")
    if isinstance(X, list | tuple) and any(isinstance(row, Mapping) for row in X):
        return _compare_rows(X, asked)
    return _compare_table(X, asked)


class _Part(NamedTuple):
    """A column of the result: what it is made of. ``edge`` None: the column as it was; ``there``: whether it was."""

    key: Any
    name: str
    edge: float | None
    there: bool = True


class ComparedRow(Mapping[Any, Any]):
    """One row with comparisons in place of numbers, of which a value is looked up when it is first needed.

    Parameters
    ----------
    row
        Values by feature name, as the learner's `predict_one` takes them.
    asked
        For each column to be replaced the names of its comparisons with their edges.
    where
        What messages say after the value that is wrong.

    Examples
    --------
    >>> row = ComparedRow({"age": 41, "job": "clerk"}, {"age": {"age <= 30": 30.0}})
    >>> list(row), row["age <= 30"], row["job"]
    (['age <= 30', 'job'], 'no', 'clerk')
    """

    def __init__(self, row: Mapping[Any, Any], asked: Asked, where: str = "") -> None:
        self._row = row
        self._where = where
        self._parts = _lay_out(row, asked)
        for name, made in asked.items():
            for comparison, edge in made.items():
                self._parts.setdefault(comparison, _Part(None, name, edge, there=False))
        # One look-up may cost: several comparisons of a value need a single one.
        self._read: dict[str, float] = {}

    def __getitem__(self, key: Any) -> Any:
        part = self._parts[key]
        if part.edge is None:
            return self._row[part.key]
        if part.name not in self._read:
            value = self._row[part.key] if part.there else None
            self._read[part.name] = _read_number(value, part.name, self._where)
        number = self._read[part.name]
        return _ANSWERS[_MISSING] if number != number else _ANSWERS[int(number <= part.edge)]

    def __contains__(self, key: object) -> bool:
        return key in self._parts

    def __iter__(self) -> Iterator[Any]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def __repr__(self) -> str:
        return f"ComparedRow({listed(list(map(str, self._parts)))})"


def _read_edges(edges: Any) -> Asked:
    if not isinstance(edges, Mapping):
        raise TypeError(f"edges is {short(edges)}; give a dict of edges by column, such as {{'age': [30, 50]}}.")
    if not edges:
        raise ValueError("edges names no column; give a dict of edges by column, such as {'age': [30, 50]}.")
    return {
        name: {f"{name} <= {_show(edge)}": edge for edge in _read_edges_of(name, given)}
        for name, given in plain_keys(edges).items()
    }


def _read_edges_of(name: str, given: Any) -> list[float]:
    if isinstance(given, str | bytes | Mapping | Set) or not hasattr(given, "__iter__"):
        raise TypeError(
            f"the edges of {name!r} are {short(given)}; give a list of numbers that increase. A number of edges is not "
            "enough: take them from history, such as np.unique(np.quantile(history, [0.25, 0.5, 0.75]))."
        )
    numbers: list[float] = []
    for raw in given:
        value = plain(raw)
        if value is REFUSED or isinstance(value, str | bool):
            raise TypeError(f"the edges of {name!r} hold {short(raw)}, which is no number; give numbers that increase.")
        if value is None or not -HIGH <= value <= HIGH:
            raise ValueError(f"the edges of {name!r} hold {short(raw)}; give finite numbers.")
        number = float(value)
        if numbers and number <= numbers[-1]:
            raise ValueError(
                f"the edges of {name!r} do not increase: {_show(number)} comes after {_show(numbers[-1])}; "
                "np.unique(edges) sorts them and leaves out what is there twice."
            )
        numbers.append(number)
    if not numbers:
        raise ValueError(f"{name!r} has no edges; give at least one, or leave the column out.")
    return numbers


def _show(edge: float) -> str:
    return str(int(edge)) if edge.is_integer() and abs(edge) <= _EXACT else repr(edge)


def _lay_out(keys: Iterable[Any], asked: Asked) -> dict[Any, _Part]:
    """Return the columns of the result in order; refuse a comparison that is called as a column that stays."""
    parts: dict[Any, _Part] = {}
    named = plain_keys({key: key for key in keys})
    for name, key in named.items():
        if name not in asked:
            parts[key] = _Part(key, name, None)
            continue
        for comparison, edge in asked[name].items():
            if comparison in named and comparison not in asked:
                raise ValueError(
                    f"a comparison of column {name!r} is called {comparison!r}, as another column is; rename that one."
                )
            parts[comparison] = _Part(key, name, edge)
    return parts


def _check_columns(asked: Asked, names: Iterable[str]) -> None:
    names = list(names)
    unknown = [name for name in asked if name not in names]
    if unknown:
        raise ValueError(f"edges names {listed(unknown)}, which is no column of X; the columns are {listed(names)}.")


def _is_dict(X: Mapping[Any, Any]) -> bool:
    """Return whether looking at all values costs nothing: not so where a subclass looks them up in a way of its own."""
    return type(X).__getitem__ is dict.__getitem__


def _is_column(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str | bytes) and getattr(value, "ndim", 1) != 0


def _compare_row(row: Mapping[Any, Any], asked: Asked, where: str) -> Mapping[Any, Any]:
    compared = ComparedRow(row, asked, where)
    return dict(compared) if _is_dict(row) else compared


def _compare_rows(X: Sequence[Any], asked: Asked) -> list[Mapping[Any, Any]]:
    names: dict[str, None] = {}
    for i, row in enumerate(X):
        if not isinstance(row, Mapping):
            raise ValueError(f"row {i} of X is {short(row)}; make every row a dict.")
        names |= dict.fromkeys(plain_keys(dict.fromkeys(row)))
    _check_columns(asked, names)
    return [_compare_row(row, asked, f" in row {i}") for i, row in enumerate(X)]


def _compare_columns(X: Mapping[Any, Any], asked: Asked) -> dict[Any, Any]:
    table = read_table(X)
    parts = _lay_out(X, asked)
    made = _compare(table, plain_keys(X), parts, asked)
    return {key: made[key] if key in made else X[key] for key in parts}


def _compare_table(X: Any, asked: Asked) -> Any:
    import narwhals as nw
    import pyarrow as pa

    table = read_table(X)
    names = table.names or [f"x{j}" for j in range(table.width)]
    parts = _lay_out(names, asked)
    made = _compare(table, names, parts, asked)
    frame = _find_frame(X)
    if frame is None:
        kept = dict(zip(names, _columns(table), strict=True))
        return pa.table(
            {key: pa.array(made[key], pa.string()) if key in made else _arrow(kept[key], key) for key in parts}
        )
    series = [nw.new_series(key, values, nw.String, backend=frame.implementation) for key, values in made.items()]
    numbered = dict(zip(frame.columns, names, strict=True)) if table.names is None else {}
    frame = (frame.rename(numbered) if numbered else frame).with_columns(*series).select(*parts)
    return frame if isinstance(X, nw.DataFrame) else frame.to_native()


def _compare(
    table: InputTable, names: Iterable[str], parts: Mapping[Any, _Part], asked: Asked
) -> dict[str, list[str | None]]:
    """Return the answers to each comparison."""
    columns = dict(zip(names, _columns(table), strict=True))
    _check_columns(asked, columns)
    numbers = {name: _numbers(columns[name], name) for name in asked}
    return {key: _answers(numbers[part.name], part.edge) for key, part in parts.items() if part.edge is not None}


def _columns(table: InputTable) -> Sequence[Column]:
    return table.columns if table.matrix is None else [Numbers(values) for values in table.matrix.T]


def _find_frame(X: Any) -> Any:
    """Return the narwhals frame of a table that was read, or None if it is an array or a list."""
    import narwhals as nw

    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame
    if hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__"):
        import pyarrow as pa

        return nw.from_native(pa.table(X), eager_only=True)
    return None


def _arrow(column: Column, name: str) -> Any:
    """Return a column of an array or of lists that stays as it is, as Arrow holds it."""
    import pyarrow as pa

    if isinstance(column, Numbers):
        kept = np.float64 if column.values.dtype.kind == "f" else column.values.dtype.newbyteorder("=")
        return pa.array(np.ascontiguousarray(column.values, dtype=kept))
    values = plain_values(list(column.values), f"column {name!r}")
    kinds = {isinstance(value, str) for value in values if value is not None}
    if len(kinds) > 1:
        raise ValueError(f"column {name!r} holds numbers and text; write all of it as text, or give a dict of columns.")
    return pa.array(values, pa.string()) if kinds == {True} else pa.array(_numbers(column, name))


def _numbers(column: Column, name: str) -> NDArray[np.float64]:
    """Return a column as floats, NaN where missing; refuse text, categories and what is infinite."""
    if isinstance(column, Codes):
        if column.values:
            _refuse_text(name, column.values[0], f" in row {first_rows(column)[0]}")
        return np.full(len(column.codes), nan)
    if isinstance(column, Numbers):
        values = column.values.astype(np.float64)
    else:
        values = np.array([_read_number(value, name, f" in row {i}") for i, value in enumerate(column.values)])
    infinite = find_infinite(values.reshape(-1, 1))
    if infinite is not None:
        refuse_range(name, values[infinite[0]].item(), f" in row {infinite[0]}")
    return values


def _read_number(raw: Any, name: str, where: str) -> float:
    value = plain(raw)
    if value is REFUSED:
        refuse_value(raw, f"column {name!r}", where)
    if isinstance(value, str):
        _refuse_text(name, value, where)
    if value is not None and not -HIGH <= value <= HIGH:
        refuse_range(name, value, where)
    return nan if value is None else float(value)


def _refuse_text(name: str, value: Any, where: str) -> NoReturn:
    raise ValueError(
        f"column {name!r} holds {short(value)}{where}, a category; comparisons are for numbers: leave the column out."
    )


def _answers(numbers: NDArray[np.float64], edge: float) -> list[str | None]:
    codes = np.where(np.isnan(numbers), _MISSING, np.where(numbers <= edge, _YES, _NO))
    answers: list[str | None] = _ANSWERS[codes].tolist()
    return answers
