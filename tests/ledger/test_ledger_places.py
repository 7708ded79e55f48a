"""Where ledgers can be kept: forms of addresses, and what is told of them."""

import pytest
import sqlalchemy as sa

from quercus.ledger import Ledger, LedgerFileError
from quercus.ledger.importing import import_ledger
from tests.conftest import new_database


@pytest.mark.parametrize("name", ["labels.db", "a b%20?#.db", "sqlite.db"])
def test_a_file_may_be_named_by_an_address(name, tmp_path):
    for number, store in enumerate([tmp_path / name, str(tmp_path / name), f"sqlite:///{tmp_path / name}"], 1):
        with Ledger(store) as ledger:
            ledger.ask({"a": 1}, row=0, covered=1)
        assert len(Ledger.read(store)) == number
    assert (tmp_path / name).exists()


@pytest.mark.parametrize(
    "address", ["sqlite://", "sqlite+pysqlite:///{}/labels.db", "sqlite:///:memory:", "sqlite:///"]
)
def test_an_address_of_sqlite_that_names_no_file_is_refused(address, tmp_path):
    with pytest.raises(ValueError, match="names no file; give the name of a file"):
        Ledger(address.format(tmp_path))


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://me:hunter2@127.0.0.1:1/db",
        "postgresql://127.0.0.1:1/db?user=me&password=hunter2",
        "postgresql://me:hunter2@host:many/db",
        "postgresql://me:hun/ter2@:x:y@h/d",
    ],
)
def test_an_address_that_leads_nowhere_is_told_without_its_password(address):
    with pytest.raises((LedgerFileError, ValueError), match="address") as found:
        Ledger(address)
    assert "ter2" not in str(found.value)


def test_a_password_is_not_shown_by_an_import(tmp_path):
    url = sa.engine.make_url(new_database()).set(password="hunter2")
    with Ledger(url.render_as_string(hide_password=False)) as ledger:
        ledger.ask({"a": 1}, row=0, covered=1)
        ledger.write(tmp_path / "questions.parquet")
    with pytest.raises(LedgerFileError, match="holds 1 questions already") as found:
        import_ledger(tmp_path / "questions.parquet", url.render_as_string(hide_password=False))
    assert "hunter2" not in str(found.value)
