"""Where a ledger is kept: whether it may be opened there, who holds it, and which form its tables have."""

from __future__ import annotations

import gc
import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.pool import StaticPool

from quercus.ledger import tables
from quercus.ledger.errors import LedgerFileError, LedgerLocked
from quercus.ledger.statements import call
from quercus.locking import lock_file

# How long to wait for another program's transaction, in seconds.
_BUSY = 5.0
# Bytes that are looked through in a tenth of a second.
_SOON_CHECKED = 2**24
_START = b"SQLite format 3\0"


def check_path(path: Path, read_only: bool) -> None:
    """Refuse what cannot be a ledger's file; make the folder that it is to be in."""
    if path.is_dir():
        what = "the folder of an older ledger: bring it over with `quercus ledger import`, and give the new file"
        if not any(path.glob("journal-*.arrows")) and not (path / "ledger").is_dir():
            what = "a folder; give the name of a file"
        raise LedgerFileError(f"'{path}' is {what}.")
    if not path.exists():
        if read_only:
            raise LedgerFileError(f"there is no '{path}'; give the file of a ledger, or one that it wrote.")
        path.parent.mkdir(parents=True, exist_ok=True)
        return
    with open(path, "rb") as file:
        start = file.read(len(_START))
    if start and start != _START:
        raise LedgerFileError(f"'{path}' is no ledger; give another name, or restore it from a copy.")


def reading_mode(path: Path) -> str:
    """Return how SQLite opens a file for reading.

    Where nothing may be written, not even the files beside it by which readers and a writer agree, the file is read as
    it is, if nobody has it open for writing.
    """
    is_open = os.path.exists(f"{path}-wal")
    return "mode=ro" if is_open or os.access(path.parent, os.W_OK) else "mode=ro&immutable=1"


def open_file(where: str) -> sqlite3.Connection:
    """Connect to a file."""
    return sqlite3.connect(where, uri=True, check_same_thread=False, timeout=_BUSY)


def set_up(engine: sa.Engine, writes: bool) -> None:
    """See to how SQLite is connected to, and how its transactions begin.

    What listens knows nothing of a ledger: SQLAlchemy keeps what is connected, and would keep that, and its lock, too.
    """

    def set_up_one(connection: Any, _record: Any) -> None:
        connection.isolation_level = None
        if writes:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")

    def begin(connection: sa.Connection) -> None:
        driver: Any = connection.connection.dbapi_connection
        call(connection, driver.execute, "BEGIN IMMEDIATE" if connection.info.get("writes") else "BEGIN")

    sa.event.listen(engine, "connect", set_up_one)
    sa.event.listen(engine, "begin", begin)


def is_to_be_checked(path: Path) -> bool:
    """Tell whether a database is looked through when it is opened: if that is soon done, or nobody closed it."""
    log = Path(f"{path}-wal")
    return not path.exists() or path.stat().st_size < _SOON_CHECKED or (log.exists() and log.stat().st_size > 0)


def path_of_address(address: str) -> Path:
    """Return the file that an address of SQLite names."""
    scheme, _, name = address.partition(":///")
    if scheme != "sqlite" or name in ("", ":memory:"):
        raise ValueError(
            f"{address!r} names no file; give the name of a file, 'sqlite:///' and the name, or None: in memory."
        )
    return Path(name).absolute()


def server_url(address: str) -> sa.URL:
    """Read the address of a server, and never show what may be a password."""
    try:
        return sa.engine.make_url(address)
    except (sa.exc.ArgumentError, ValueError):
        raise ValueError(
            "the address of the database cannot be read; write postgresql://user:password@host:port/name, with %xx for "
            "what is special in a password."
        ) from None


def show_address(url: sa.URL) -> str:
    """Return the address of a server without its password."""
    hidden = {name: "***" for name in url.query if "password" in name.lower()}
    return url.update_query_dict(hidden).render_as_string().replace("=%2A%2A%2A", "=***")


def server_engine(url: sa.URL) -> sa.Engine:
    """Return how a server is reached."""
    if url.drivername in ("postgresql", "postgres"):
        url = url.set(drivername="postgresql+psycopg")
    if not url.drivername.startswith("postgresql"):
        raise ValueError(f"a ledger is kept in a file of SQLite or in PostgreSQL, not by {url.drivername!r}.")
    try:
        return sa.create_engine(url, poolclass=StaticPool)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("PostgreSQL needs psycopg; pip install 'quercus[postgres]'.") from error


def lock_beside(path: Path) -> IO[bytes]:
    """Hold a lock that the system gives free when this process ends; who holds it stands in the file."""
    try:
        file = open(f"{path}.lock", "a+b", buffering=0)  # noqa: SIM115 - it stays open as long as the ledger
    except OSError as error:
        raise LedgerFileError(
            f"the ledger '{path}' cannot be written ({error.strerror}); give yourself the right to, or read it with "
            "Ledger.read()."
        ) from error
    try:
        try:
            lock_file(file.fileno())
        except BlockingIOError:
            # A ledger that was let go without being closed holds its lock until it is collected.
            gc.collect()
            lock_file(file.fileno())
    except BlockingIOError:
        file.seek(0)
        holder = file.read(20)
        file.close()
        where = f"process {int(holder)}" if holder.isdigit() else "another process"
        raise LedgerLocked(
            f"the ledger '{path}' is open for writing in {where}; close it there, or read it with Ledger.read()."
        ) from None
    with suppress(OSError):
        file.truncate(0)
        file.write(str(os.getpid()).encode())
    return file


def identity_of(path: Path) -> tuple[int, int]:
    """Return what tells a file from another one of the same name."""
    try:
        found = os.stat(path)
    except OSError:
        return 0, 0
    return found.st_dev, found.st_ino


def check_form(connection: Connection, name: str) -> None:
    """Refuse what is no ledger, or one of another form."""
    found = _find_form(connection, name)
    if found is None:
        raise LedgerFileError(f"{name} holds no ledger; see whether the name is right.")
    if found > tables.VERSION:
        raise LedgerFileError(
            f"{name} has format {found} and this quercus reads {tables.VERSION}; install a newer quercus."
        )
    if found < tables.VERSION:
        raise LedgerFileError(
            f"{name} has format {found}, older than this quercus ({tables.VERSION}); open it once for writing."
        )


def bring_to_form(connection: Connection, name: str) -> None:
    """Make the tables where there are none, and change those of an older form."""
    found = _find_form(connection, name)
    if found is None:
        tables.metadata.create_all(connection)
        connection.exec_driver_sql("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)")
        connection.exec_driver_sql(f"INSERT INTO alembic_version VALUES ('{tables.VERSION}')")
        connection.execute(sa.insert(tables.store).values(id=1, opening=0, writes=0, state=b""))
    elif found < tables.VERSION:
        from quercus.ledger.migrations import upgrade

        upgrade(connection)
    else:
        check_form(connection, name)


def _find_form(connection: Connection, name: str) -> str | None:
    names = set(sa.inspect(connection).get_table_names())
    if "alembic_version" not in names:
        if names & set(tables.metadata.tables):
            raise LedgerFileError(f"{name} holds tables of another program; give another file or database.")
        return None
    found: str = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar_one()
    return found
