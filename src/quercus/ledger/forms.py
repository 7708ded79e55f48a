"""Which form the tables of a ledger have, and how they get the newest one."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from quercus.ledger import tables
from quercus.ledger.errors import LedgerFileError


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
