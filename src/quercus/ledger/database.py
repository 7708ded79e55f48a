"""The database of a ledger: who may write, what a transaction promises, and what its errors mean.

SQLite is opened with a write-ahead log and ``synchronous=FULL``: a transaction that returned survives a power cut. One
process writes; any may read meanwhile. Every transaction counts up `store.writes`, so that after a broken connection it
can be told whether the last one is there, and is made again only if it is not.
"""

from __future__ import annotations

import ctypes
import json
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Concatenate, ParamSpec, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import StaticPool

from quercus.ledger import tables
from quercus.ledger.errors import LedgerClosed, LedgerFileError, LedgerLocked
from quercus.ledger.place import (
    bring_to_form,
    check_form,
    check_path,
    identity_of,
    is_to_be_checked,
    lock_beside,
    open_file,
    path_of_address,
    reading_mode,
    server_engine,
    server_url,
    set_up,
    show_address,
)
from quercus.ledger.statements import Statement, brief, explain, is_gone
from quercus.ledger.view import PathLike, read_place

T = TypeVar("T")
P = ParamSpec("P")

# How long to wait for a server that is being restarted, in seconds.
_PATIENCE = 20.0
# Any fixed number: PostgreSQL's advisory lock of a ledger, beside its schema's.
_ADVISORY = 7_811_397
_UPDATE_STORE = Statement(
    sa.update(tables.store)
    .where(tables.store.c.opening == sa.bindparam("mine"))
    .values(
        writes=tables.store.c.writes + sa.bindparam("count"),
        state=sa.func.coalesce(sa.bindparam("new_state", type_=sa.LargeBinary), tables.store.c.state),
        label_type=sa.func.coalesce(sa.bindparam("new_type", type_=sa.String), tables.store.c.label_type),
    )
)
# Connections that a forked process has and must neither use nor close.
_inherited: list[Any] = []
_open: weakref.WeakSet[Database] = weakref.WeakSet()


class Database:
    """A ledger's database, open for writing by this process alone, or for reading.

    Attributes
    ----------
    threads
        Let one thread in at a time.
    name
        As messages call it.
    path, address
        Of the file, and of the server without its password; None if there is none.
    """

    def __init__(self, store: PathLike | None, read_only: bool = False) -> None:
        self._read_only = read_only
        self._process = os.getpid()
        self.threads = threading.RLock()
        self._lock: IO[bytes] | None = None
        self._closed: str | None = "this ledger is open for reading; open it with Ledger() to go on with it."
        self._durable = True
        self._is_together = self._is_frozen = False
        self._identity: tuple[int, int] | None = None
        address = read_place(store)
        self.is_server = address is not None and "://" in address and not address.startswith("sqlite")
        self.path = None if address is None or "://" in address else Path(address).absolute()
        if address is not None and "://" in address and not self.is_server:
            self.path = path_of_address(address)
        self._url = url = server_url(address) if self.is_server and address is not None else None
        self.address = None if url is None else show_address(url)
        self.name = "in memory" if address is None else f"'{self.path or self.address}'"
        if self.path is not None:
            check_path(self.path, read_only)
        try:
            if self.path is not None and not read_only:
                self._lock = lock_beside(self.path)
            self._engine = self._connect_to(self._url)
            self._connection = self._connect()
            self._begin()
        except _ConnectionLostError as error:
            self._let_go()
            raise LedgerFileError(
                f"the ledger {error}; see whether its server runs and the address is right."
            ) from error
        except BaseException:
            self._let_go()
            raise
        if not read_only:
            self._closed = None
        _open.add(self)

    def _connect_to(self, url: sa.URL | None) -> Engine:
        if url is not None:
            return server_engine(url)
        if self.path is None:
            engine = sa.create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
        else:
            # As an address, because only there SQLite takes the mode.
            mode = reading_mode(self.path) if self._read_only else "mode=rwc"
            where, self._is_frozen = f"{self.path.as_uri()}?{mode}", "immutable" in mode
            engine = sa.create_engine("sqlite://", creator=lambda: open_file(where), poolclass=StaticPool)
        set_up(engine, writes=self.path is not None and not self._read_only)
        return engine

    def _connect(self) -> Connection:
        with self._explaining():
            return self._engine.connect()

    def _begin(self) -> None:
        """See to the tables, and say from now on that it is us who write."""
        with self._explaining():
            if self.path is not None and not self._read_only and is_to_be_checked(self.path):
                (found,) = self._connection.exec_driver_sql("PRAGMA quick_check(1)").one()
                self._connection.rollback()
                if found != "ok":
                    raise LedgerFileError(f"the ledger {self.name} is damaged ({found}); restore it from a copy.")
            if self.is_server and not self._read_only:
                self._lock_server()
            if self._read_only:
                with self._connection.begin():
                    check_form(self._connection, self.name)
                return
            with self._transaction():
                bring_to_form(self._connection, self.name)
                self._connection.execute(sa.update(tables.store).values(opening=tables.store.c.opening + 1))
                self._opening, self._writes = self._connection.execute(
                    sa.select(tables.store.c.opening, tables.store.c.writes)
                ).one()
        if self.path is not None:
            self._identity = identity_of(self.path)

    def _lock_server(self) -> None:
        with self._connection.begin():
            got = self._connection.execute(
                sa.select(sa.func.pg_try_advisory_lock(_ADVISORY, sa.func.hashtext(sa.func.current_schema())))
            ).scalar_one()
        if not got:
            raise LedgerLocked(
                f"the ledger {self.name} is open for writing elsewhere; close it there, or read it with Ledger.read()."
            )

    def read(self, body: Callable[Concatenate[Connection, P], T], *given: P.args, **named: P.kwargs) -> T:
        """Run statements that change nothing, and return what they return."""
        with self.threads:
            self._check_process()
            if self._is_together:
                return body(self._connection, *given, **named)
            if self._is_frozen:
                # Somebody may have written since.
                self._connection.close()
                self._engine.dispose()
                self._engine = self._connect_to(None)
            if self._connection.closed:
                self._connection = self._connect()
            while True:
                try:
                    with self._explaining(), self._connection.begin():
                        return body(self._connection, *given, **named)
                except _ConnectionLostError as error:
                    self._reconnect(error)

    def write(
        self,
        body: Callable[[Connection], T],
        *,
        state: bytes | None = None,
        label_type: str | None = None,
        durable: bool = True,
    ) -> T:
        """Run statements in one transaction, once, and return what they return."""
        with self.threads:
            while True:
                try:
                    if self._is_together:
                        with self._explaining(), self._connection.begin_nested():
                            self._update_store(state, label_type, 0)
                            return body(self._connection)
                    with self._explaining(), self._transaction(durable):
                        self._update_store(state, label_type)
                        result = body(self._connection)
                    self._writes += 1
                    return result
                except _ConnectionLostError as error:
                    if self._is_together:
                        raise
                    if self._reconnect(error):
                        # The answer to COMMIT was lost, not the transaction.
                        self._writes += 1
                        return result

    @contextmanager
    def together(self) -> Iterator[None]:
        """Make one transaction of all that is written in a block."""
        with self.threads:
            if self._is_together:
                with self._explaining(), self._connection.begin_nested():
                    yield
                return
            try:
                with self._explaining(), self._transaction():
                    self._update_store(None, None)
                    self._is_together = True
                    try:
                        yield
                    finally:
                        self._is_together = False
            except _ConnectionLostError as error:
                if not self._reconnect(error):
                    raise LedgerFileError(f"the ledger {self.name} lost its server; repeat the call.") from error
            self._writes += 1

    def _update_store(self, state: bytes | None, label_type: str | None, count: int = 1) -> None:
        given = {"mine": self._opening, "new_state": state, "new_type": label_type, "count": count}
        if _UPDATE_STORE.run(self._connection, given) != 1:
            self._closed = f"the ledger {self.name} was opened for writing elsewhere; open it again."
            raise LedgerLocked(self._closed)

    @contextmanager
    def _transaction(self, durable: bool = True) -> Iterator[None]:
        if durable != self._durable and self.path is not None:
            level = "FULL" if durable else "NORMAL"
            raw: Any = self._connection.connection.dbapi_connection
            raw.execute(f"PRAGMA synchronous={level}")
            self._durable = durable
        self._connection.info["writes"] = True
        try:
            with self._connection.begin():
                if self.is_server and not durable:
                    self._connection.exec_driver_sql("SET LOCAL synchronous_commit = off")
                yield
        finally:
            if not self._connection.invalidated:
                self._connection.info["writes"] = False

    def _reconnect(self, error: Exception) -> bool:
        """Connect anew; return whether the last transaction had been committed all the same."""
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                with suppress(Exception):
                    self._connection.close()
                self._engine.dispose()
                self._connection = self._connect()
                if not self._read_only:
                    self._lock_server()
                    with self._connection.begin():
                        opening, writes = self._connection.execute(
                            sa.select(tables.store.c.opening, tables.store.c.writes)
                        ).one()
                    if opening != self._opening:
                        self._closed = f"the ledger {self.name} was opened for writing elsewhere; open it again."
                        raise LedgerLocked(self._closed) from error
                    return bool(writes == self._writes + 1)
                return False
            except (_ConnectionLostError, DBAPIError, LedgerLocked) as again:
                # The lock of the lost connection is kept until the server has noticed.
                if self._closed is not None or time.monotonic() > until:
                    self._closed = self._closed or (
                        f"the ledger {self.name} cannot be reached any more; see whether its server runs, then open it "
                        "again: what was recorded is there."
                    )
                    raise LedgerClosed(self._closed) from again
                time.sleep(0.1)

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """Say what an error of the database means and what to do."""
        try:
            yield
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise LedgerFileError(f"the ledger {self.name} is damaged ({error}); restore it from a copy.") from error
        except DBAPIError as error:
            if self.is_server and is_gone(error):
                raise _ConnectionLostError(f"{self.name}: {brief(error)}") from error
            raise explain(error, self.name) from error

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise LedgerClosed(
                f"the ledger {self.name} was opened in process {self._process}, of which this one is a copy; open it "
                "anew where it is used."
            )

    def check_open(self) -> None:
        """Raise an error if nothing can be written."""
        self._check_process()
        if self._closed is not None:
            raise LedgerClosed(self._closed)
        if self._identity is not None and self.path is not None and identity_of(self.path) != self._identity:
            raise LedgerFileError(
                f"the ledger {self.name} was deleted or replaced while it was open; put it back, or open the new one. "
                "Nothing was recorded."
            )

    def close(self) -> None:
        """Let others write; reading goes on."""
        with self.threads:
            if os.getpid() != self._process or self._closed is not None:
                return
            self._closed = "this ledger is closed; open it again."
            if self.path is None and not self.is_server:
                return
            self._let_go()
            self._read_only = True
            self._engine = self._connect_to(self._url)

    @property
    def is_closed(self) -> bool:
        """Whether nothing can be written any more."""
        return self._closed is not None

    def _let_go(self) -> None:
        for part in ("_connection", "_engine"):
            if hasattr(self, part):
                with suppress(Exception):
                    thing = getattr(self, part)
                    thing.close() if part == "_connection" else thing.dispose()
        if self._lock is not None:
            self._lock.close()
            self._lock = None


class _ConnectionLostError(Exception):
    """The server is gone, or has ended the connection."""


def _forget_in_child() -> None:
    # What the parent still uses is never closed here, not even when this process ends.
    for database in list(_open):
        raw = database._connection.connection.dbapi_connection if not database._connection.closed else None
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(raw))
        _inherited.append(database)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_child)
