"""What the errors of a database mean for a ledger, and what to do."""

from __future__ import annotations

import sqlite3

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
