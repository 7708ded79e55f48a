"""Where ledgers can be kept: forms of addresses, and what is told of them."""

import gc
import math
import os

import pytest
import sqlalchemy as sa

import quercus as qc
from quercus.ledger import KeyConflict, Ledger, LedgerFileError, LedgerLocked
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


def test_a_ledger_that_was_let_go_gives_its_lock_back(tmp_path):
    gc.disable()
    try:
        for number in range(3):
            ledger = Ledger(tmp_path / "labels.db")
            assert ledger.asked == number
            ledger.ask({"a": 1}, row=0, covered=1)
            del ledger
    finally:
        gc.enable()
    held = Ledger(tmp_path / "labels.db")
    with pytest.raises(LedgerLocked, match="is open for writing in process"):
        Ledger(tmp_path / "labels.db")
    assert held.asked == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="rights as POSIX has them")
def test_a_ledger_is_read_where_nothing_may_be_written(tmp_path, monkeypatch):
    folder = tmp_path / "kept"
    folder.mkdir()
    store = folder / "labels.db"
    with Ledger(store) as ledger:
        ledger.ask({"a": 1}, row=0, covered=1)
    # Who has all rights may write anywhere.
    monkeypatch.setattr("quercus.ledger.place.os.access", lambda path, mode: False)
    folder.chmod(0o555)
    try:
        reader = Ledger.read(store)
        assert (reader.asked, reader.question(1).features) == (1, {"a": 1.0})
        assert not list(folder.glob("*-shm"))
    finally:
        folder.chmod(0o755)
    with Ledger(store) as ledger:
        ledger.ask({"a": 2}, row=1, covered=2)
        assert (len(reader), reader.question(2).features) == (2, {"a": 2.0})
    assert [question.id for question in reader.questions()] == [1, 2]


def test_a_ledger_on_a_server_shows_no_password(tmp_path):
    address = sa.engine.make_url(new_database()).set(password="hunter2").render_as_string(hide_password=False)
    with Ledger(address) as ledger:
        ledger.ask({"a": 1}, row=0, covered=1)
        assert "hunter2" not in f"{ledger.store}{ledger!r}{vars(ledger)}{vars(ledger._database)}"
        assert ":***@" in str(ledger.store)
    assert len(ledger.find(1)) == 0
    assert len(Ledger.read(address)) == 1


@pytest.mark.parametrize("store", [b"labels.db", 5, ["labels.db"]])
@pytest.mark.parametrize("open_it", [Ledger, Ledger.read, lambda store: qc.Asker(qc.HoeffdingTree(), store=store)])
def test_a_store_of_a_wrong_type_is_refused(open_it, store):
    with pytest.raises(TypeError, match=r"store=.* is a (bytes|int|list); give the name of a file"):
        open_it(store)


def test_the_same_values_are_the_same_row_whatever_the_sign_of_zero(any_store):
    first = {"a": -0.0, "b": float("nan"), "c": True, "d": 0}
    with Ledger(any_store) as ledger:
        id = ledger.ask(first, row=0, covered=1, key="seven")
        for other in ({"a": 0.0, "b": None, "c": True, "d": -0.0}, {"d": 0, "c": True, "a": 0}):
            assert ledger.ask(other, row=0, covered=1, key="seven") == id
        with pytest.raises(KeyConflict):
            ledger.ask(first | {"c": 1}, row=0, covered=1, key="seven")
        assert math.copysign(1.0, ledger.question(id).features["a"]) == -1.0


def test_an_imported_table_says_that_it_holds_no_cases(tmp_path):
    tree = qc.UtilityTree(costs={"mri": 5, "age": 0})
    with qc.Asker(tree, qc.ask.Always(), store=tmp_path / "old.db") as asker:
        asker.answer(asker.ask_one(asker.open({"age": 41}, key="patient 7")), "ill")
        asker.ledger.write(tmp_path / "old.parquet")
    with pytest.warns(UserWarning, match=r"questions of 1 case, and not the cases.*copy the ledger itself"):
        ledger = import_ledger(tmp_path / "old.parquet", tmp_path / "new.db")
    assert [question.key for question in ledger.questions()] == ["patient 7"] * len(ledger)
    assert ledger.n_cases == 0
    ledger.close()
