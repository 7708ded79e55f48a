"""Statements that write, made once and then given to the driver of a database as they are.

To make a statement, and to look at its values, takes SQLAlchemy longer than SQLite takes to run it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError

from quercus.ledger.errors import LedgerFileError, LedgerLocked

_REMEDIES = {
    sqlite3.SQLITE_FULL: "the disk is full; make space, then repeat the call",
    sqlite3.SQLITE_READONLY: "it cannot be written; give yourself the right to write it, or read it with Ledger.read()",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; see whether its folder is there and may be written",
    sqlite3.SQLITE_CORRUPT: "it is damaged; restore it from a copy",
    sqlite3.SQLITE_NOTADB: "it is no database; restore it from a copy, or give another name",
    sqlite3.SQLITE_IOERR: "the disk failed; open the ledger again to see what was recorded",
}
# "Terminating connection", "starting up", "shutting down"; and connections that broke off.
_GONE = ("57P", "08")


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


def explain(error: DBAPIError, name: str) -> Exception:
    """Return the error that a user gets."""
    code = getattr(error.orig, "sqlite_errorcode", None)
    kind = None if code is None else code & 0xFF
    if kind in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return LedgerLocked(f"the ledger {name} is being written by another program; try again later.")
    remedy = _REMEDIES.get(kind or 0, "see what the database says, then repeat the call")
    return LedgerFileError(f"the ledger {name} could not be used ({brief(error)}): {remedy}.")


def is_gone(error: DBAPIError) -> bool:
    """Tell whether a server, or the connection to it, is gone."""
    code = getattr(error.orig, "sqlstate", None) or ""
    is_unnamed = code == "" and type(error.orig).__name__ == "OperationalError"
    return error.connection_invalidated or code.startswith(_GONE) or is_unnamed


def brief(error: DBAPIError) -> str:
    """Return the first line of what a database says."""
    return str(error.orig).strip().split("\n")[0][:200].rstrip(".")
