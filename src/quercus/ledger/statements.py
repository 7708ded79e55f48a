"""Statements that write, made once and then given to the driver of a database as they are.

To make a statement, and to look at its values, takes SQLAlchemy longer than SQLite takes to run it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError


class _Compiled(NamedTuple):
    """A statement as one kind of database wants it: its text, and the names and defaults of its values, in order."""

    text: str
    names: Sequence[str]
    defaults: Mapping[str, Any]


class Statement:
    """A statement that changes something, for any database."""

    def __init__(self, clause: sa.Insert | sa.Update, names: Sequence[str] | None = None) -> None:
        self._clause = clause
        self._names = names
        self._compiled: dict[str, _Compiled] = {}

    def run(self, connection: Connection, values: Mapping[str, Any]) -> int:
        """Run it once, and return how many rows it changed."""
        text, names, defaults = self._compile(connection)
        given = [values[name] if name in values else defaults[name] for name in names]
        driver: Any = connection.connection.dbapi_connection
        count: int = call(connection, driver.execute, text, given).rowcount
        return count

    def run_many(self, connection: Connection, columns: Mapping[str, Iterable[Any]]) -> None:
        """Run it once for each of many rows."""
        if not columns:
            return
        text, names, defaults = self._compile(connection)
        rows = zip(*(columns[name] if name in columns else repeat(defaults[name]) for name in names), strict=False)
        driver: Any = connection.connection.dbapi_connection
        cursor = driver.cursor()
        try:
            call(connection, cursor.executemany, text, rows)
        finally:
            cursor.close()

    def _compile(self, connection: Connection) -> _Compiled:
        dialect = connection.dialect
        found = self._compiled.get(dialect.name)
        if found is None:
            kind: Any = type(dialect)
            by_place = kind(paramstyle="qmark" if dialect.name == "sqlite" else "format")
            made: Any = self._clause.compile(dialect=by_place, column_keys=self._names)
            defaults = made.params if self._names is None else dict.fromkeys(self._names)
            found = self._compiled[dialect.name] = _Compiled(str(made), made.positiontup, defaults)
        return found


def call(connection: Connection, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call the driver of a database; what it raises is raised as SQLAlchemy's."""
    driver: Any = connection.dialect.loaded_dbapi
    try:
        return function(*arguments)
    except driver.Error as error:
        raise DBAPIError(str(arguments[0]), None, error) from error
