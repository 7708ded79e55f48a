"""Ledgers in files and on servers: they go on where they were left, whatever happened to what they are kept in."""

import contextlib
import json
import os
import resource
import shutil
import signal
import sqlite3
from datetime import datetime
from pathlib import Path

import pytest
import sqlalchemy as sa

from quercus.ledger import KeyConflict, Ledger, LedgerClosed, LedgerFileError, LedgerLocked, tables
from quercus.ledger.importing import import_ledger
from quercus.ledger.migrations import upgrade
from tests.conftest import new_database, server
from tests.ledger.examples import abandon, ask, at, contents, fill

FIRST_EDITION = Path(__file__).with_name("first_edition")


def test_it_goes_on_where_it_was_left(kept_store):
    with Ledger(kept_store) as ledger:
        expected = contents(fill(ledger))
    ledger = Ledger(kept_store)
    assert contents(ledger) == expected
    assert ask(ledger, prediction="no") == 7
    assert ledger.answer(6, "yes", time=at(9))
    expected = contents(ledger)
    abandon(ledger)
    with Ledger(kept_store) as again:
        assert contents(again) == expected
        assert again.last_state == b"second"
        with pytest.raises(ValueError, match="labels were str"):
            again.answer(7, 1)
    assert contents(Ledger.read(kept_store)) == expected


def test_a_closed_ledger_lets_others_write_and_is_still_read(kept_store):
    ledger = fill(Ledger(kept_store))
    before = contents(ledger)
    ledger.close()
    with Ledger(kept_store) as other:
        assert contents(ledger) == before
        ask(other)


def test_the_file_stays_where_it_was_when_the_working_folder_changes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Ledger("here.db") as ledger:
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        ask(ledger)
    assert len(Ledger.read(tmp_path / "here.db")) == 1
    assert os.listdir(tmp_path / "elsewhere") == []


def test_one_key_is_one_row(any_store):
    with Ledger(any_store) as ledger:
        assert ask(ledger, {"a": 1.0}, key="order 7") == 1
        assert ask(ledger, {"a": 1}, key="order 7", price=9) == 1
        assert ask(ledger, {"a": 1.0}, key="order 7", kind="feature", question="mri") == 2
        assert ask(ledger, {"a": 1.0}, key=7) == 3
        assert [question.id for question in ledger.find("order 7")] == [1, 2]
        assert (ledger.find(7)[0].key, ledger.find("8"), ledger.spent) == ("7", [], 3.0)
        with pytest.raises(KeyConflict, match="'order 7' has other values"):
            ask(ledger, {"a": 2.0}, key="order 7")
        ledger.note_row({"a": 5}, key="seen", state=b"one more")
        assert (ledger.has_row("seen", {"a": 5.0}), ledger.has_row("x", {}), len(ledger)) == (True, False, 3)
        assert ledger.last_state == b"one more"


def test_corrections_and_other_opinions_are_answers_too(any_store):
    with Ledger(any_store) as ledger:
        ids = [ask(ledger) for _ in range(3)]
        for id in ids:
            ledger.answer(id, "yes", who="ada")
        ledger.save_snapshot(b"three")
        assert ledger.answer(2, "no", who="bob") is False
        assert ledger.answer(2, "no", who="bob") is False
        assert ledger.correct(2, "no", who="cyd", time=at(7))
        assert ledger.correct(2, "no") is False
        assert ledger.correct(2, "maybe")
        opinions = [(one.label, one.who, one.corrects) for one in ledger.opinions(2)]
        assert opinions == [("yes", "ada", None), ("no", "bob", None), ("no", "cyd", 2), ("maybe", None, 5)]
        assert [tuple(answer) for answer in ledger.events_since(0)] == [(1, "yes", 1), (2, "maybe", 2), (3, "yes", 3)]
        assert (ledger.answered, ledger.spent, ledger.snapshots()) == (3, 3.0, [])


def test_answers_that_wait_together_are_taken_together_or_not_at_all(any_store):
    with Ledger(any_store) as ledger:
        for _ in range(4):
            ask(ledger)
        before = contents(ledger)
        with pytest.raises(ValueError, match="missing"):
            ledger.answer_many([(3, "yes"), (1, None)])
        with pytest.raises(ValueError, match="question 3 has the answer 'yes' and now gets 'no'"):
            ledger.answer_many([(3, "yes"), (3, "no")])
        assert contents(ledger) == before
        assert ledger.answer_many([(3, "yes"), (1, "no"), (3, "yes")]) == [3, 1]
        assert ledger.answer_many([(3, "yes"), (4, "no")]) == [4]
        assert [tuple(answer) for answer in ledger.events_since(0)] == [(3, "yes", 1), (1, "no", 2), (4, "no", 3)]


def test_models_are_kept_the_first_and_the_newest(any_store):
    with Ledger(any_store) as ledger:
        ledger.save_snapshot(b"0")
        for number in range(1, 8):
            ledger.answer(ask(ledger), "yes")
            ledger.save_snapshot(b"%d" % number)
        assert ledger.snapshots() == [(7, b"7"), (6, b"6"), (5, b"5"), (4, b"4"), (0, b"0")]
        ledger.correct(6, "no")
        assert ledger.snapshots() == [(5, b"5"), (4, b"4"), (0, b"0")]


def shape(engine):
    found = sa.inspect(engine)
    return {
        name: (
            [(c["name"], str(c["type"]), c["nullable"]) for c in found.get_columns(name)],
            found.get_pk_constraint(name)["constrained_columns"],
            sorted(tuple(key["constrained_columns"]) for key in found.get_foreign_keys(name)),
            sorted((index["name"], tuple(index["column_names"])) for index in found.get_indexes(name)),
        )
        for name in found.get_table_names()
        if name != "alembic_version"
    }


def test_migrations_lead_to_the_tables(kept_store):
    Ledger(kept_store).close()
    other = new_database() if "://" in str(kept_store) else kept_store.with_name("other.db")
    engines = []
    for store in (kept_store, other):
        address = str(store).replace("postgresql://", "postgresql+psycopg://")
        engines.append(sa.create_engine(address if "://" in address else f"sqlite:///{store}"))
    with engines[1].begin() as connection:
        upgrade(connection)
    assert shape(engines[0]) == shape(engines[1])
    for engine in engines:
        engine.dispose()


def test_what_the_first_edition_kept_is_read(kept_store):
    told = json.loads((FIRST_EDITION / "expected.json").read_text())
    for source in ("ledger", "ledger.parquet"):
        store = kept_store if source == "ledger" else None
        with import_ledger(FIRST_EDITION / source, store) as ledger:
            found = [ledger.question(id) for id in range(1, len(ledger) + 1)]
            for question, expected in zip(found, told["questions"], strict=True):
                for name, value in expected.items():
                    mine = getattr(question, name)
                    if isinstance(mine, datetime):
                        assert mine.isoformat() == value
                    elif name == "row":
                        assert mine == value - 1
                    elif name == "features" and source == "ledger.parquet":
                        assert {k: v for k, v in mine.items() if v is not None} == {
                            k: v for k, v in value.items() if v is not None
                        }
                    else:
                        assert mine == value, (question.id, name)
            assert [list(answer) for answer in ledger.events_since(0)] == told["answers"]
            assert (ledger.asked, ledger.answered, ledger.spent, ledger.open_ids) == (
                *(told[name] for name in ("asked", "answered", "spent")),
                told["open"],
            )
            assert ledger.ask({"a": 1.0}, row=0, covered=1) == len(found) + 1
    with pytest.raises(LedgerFileError, match="holds 10 questions already"):
        import_ledger(FIRST_EDITION / "ledger", kept_store)


def test_a_damaged_ledger_of_the_first_edition_is_refused(tmp_path):
    folder = shutil.copytree(FIRST_EDITION / "ledger", tmp_path / "old")
    with pytest.raises(LedgerFileError, match="folder of an older ledger: bring it over with"):
        Ledger(folder)
    path = folder / "journal-000001.arrows"
    content = path.read_bytes()
    path.write_bytes(content[:9000] + b"\xff" + content[9001:])
    with pytest.raises(LedgerFileError, match=r"journal-000001\.arrows' is damaged at byte"):
        import_ledger(folder, tmp_path / "new.db")
    path.unlink()
    with pytest.raises(LedgerFileError, match=r"journal-000001\.arrows is missing"):
        import_ledger(folder, tmp_path / "new.db")


ACTS = {
    "ask": lambda led: ask(led, {"new": "x" * 20000}, prediction="no", state=b"third"),
    "ask_rows": lambda led: led.ask_rows({"new": ["x" * 20000]}, row=1, covered=1, answers=["yes"]),
    "answer": lambda led: led.answer(6, "yes", state=b"x" * 20000),
    "correct": lambda led: led.correct(1, "yes" * 7000),
    "snapshot": lambda led: led.save_snapshot(b"x" * 20000),
}


def full(ledger, change):
    raw = ledger._database._connection.connection.dbapi_connection
    (pages,) = raw.execute("PRAGMA page_count").fetchone()
    raw.execute(f"PRAGMA max_page_count={pages}")
    with pytest.raises(LedgerFileError, match="the disk is full; make space, then repeat the call"):
        change()
    raw.execute("PRAGMA max_page_count=1000000")


def too_large(ledger, change):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    size = Path(f"{ledger.store}-wal").stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 700, limits[1]))
    try:
        with pytest.raises(LedgerFileError, match=r"the disk (failed|is full)"):
            change()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("fault", [full, too_large])
def test_a_write_that_fails_changes_nothing_and_the_next_one_may_work(act, fault, tmp_path):
    with fill(Ledger(tmp_path / "labels.db")) as ledger:
        before, state = contents(ledger), ledger.last_state
        fault(ledger, lambda: ACTS[act](ledger))
        assert (contents(ledger), ledger.last_state) == (before, state)
        assert contents(Ledger.read(ledger.store)) == before
        ACTS[act](ledger)
        after = contents(ledger)
        assert (after != before) or act == "snapshot"
    assert contents(Ledger.read(tmp_path / "labels.db")) == after


@pytest.mark.parametrize("fate", ["deleted", "replaced"])
def test_a_file_that_is_deleted_or_replaced_is_missed(fate, tmp_path):
    ledger = Ledger(tmp_path / "labels.db")
    ask(ledger)
    with Ledger(tmp_path / "other.db") as other:
        fill(other)
    (tmp_path / "labels.db").rename(tmp_path / "gone.db")
    if fate == "replaced":
        shutil.copy(tmp_path / "other.db", tmp_path / "labels.db")
    for act in (lambda: ask(ledger), lambda: ledger.answer(1, "yes")):
        with pytest.raises(LedgerFileError, match="was deleted or replaced while it was open"):
            act()
    (tmp_path / "gone.db").rename(tmp_path / "labels.db")
    assert ledger.answer(1, "yes")
    ledger.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_what_may_not_be_written_can_be_read(tmp_path):
    with Ledger(tmp_path / "labels.db") as ledger:
        fill(ledger)
    os.chmod(tmp_path / "labels.db", 0o400)
    os.chmod(tmp_path, 0o500)
    try:
        with pytest.raises(LedgerFileError, match="cannot be written"):
            Ledger(tmp_path / "labels.db")
        assert len(Ledger.read(tmp_path / "labels.db")) == 6
    finally:
        os.chmod(tmp_path, 0o700)


def test_a_read_only_database_is_refused_by_name(tmp_path):
    with Ledger(tmp_path / "labels.db") as ledger:
        ask(ledger)
        ledger._database._connection.connection.dbapi_connection.execute("PRAGMA query_only=ON")
        with pytest.raises(LedgerFileError, match="cannot be written; give yourself the right"):
            ask(ledger)
        ledger._database._connection.connection.dbapi_connection.execute("PRAGMA query_only=OFF")
        assert ask(ledger) == 2


def test_a_damaged_file_is_named(tmp_path):
    path = tmp_path / "labels.db"
    with Ledger(path) as ledger:
        for _ in range(50):
            fill(ledger) if not len(ledger) else ask(ledger, {"text": "x" * 500})
    content = path.read_bytes()
    expected = contents(Ledger.read(path))
    for place in range(100, len(content), 4096):
        path.write_bytes(content[:place] + b"\xa5" * 2000 + content[place + 2000 :])
        with contextlib.suppress(LedgerFileError), Ledger(path) as ledger:
            found = contents(ledger)
            assert len(found[0]) <= len(expected[0]) + 1
    path.write_bytes(b"\0" * 3000)
    with pytest.raises(LedgerFileError, match="is no ledger; give another name, or restore it"):
        Ledger(path)
    path.write_bytes(content[:5000])
    with pytest.raises(LedgerFileError, match=r"(?s)is damaged.*; restore it from a copy"):
        contents(Ledger(path))


def test_tables_of_others_are_left_alone(tmp_path):
    path = tmp_path / "labels.db"
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE question (id INTEGER)")
        database.commit()
    for act in (Ledger, Ledger.read):
        with pytest.raises(LedgerFileError, match="holds tables of another program"):
            act(path)


def test_a_newer_form_is_refused(kept_store, monkeypatch):
    Ledger(kept_store).close()
    monkeypatch.setattr(tables, "VERSION", "0000")
    for act in (Ledger, Ledger.read):
        with pytest.raises(LedgerFileError, match="has format 0001 and this quercus reads 0000; install a newer"):
            act(kept_store)


def test_ctrl_c_comes_after_the_change(kept_store):
    with Ledger(kept_store) as ledger:
        write = ledger._database.write

        def interrupt(body, **more):
            os.kill(os.getpid(), signal.SIGINT)
            return write(body, **more)

        ledger._database.write = interrupt
        with pytest.raises(KeyboardInterrupt):
            ask(ledger)
        ledger._database.write = write
        assert ask(ledger) == 2


def test_a_copy_of_the_process_does_not_write(kept_store):
    ledger = Ledger(kept_store)
    ask(ledger)
    child = os.fork()
    if child == 0:
        try:
            ask(ledger)
        except LedgerClosed as error:
            os._exit(7 if "of which this one is a copy" in str(error) else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert ask(ledger) == 2
    ledger.close()
    assert len(Ledger.read(kept_store)) == 2


def test_a_clock_that_goes_backwards_disorders_nothing(any_store):
    with Ledger(any_store) as ledger:
        for minute in (9, 5, 1):
            ask(ledger, time=at(minute), expires=at(minute + 1))
        for id, minute in ((3, 8), (1, 4)):
            ledger.answer(id, "yes", time=at(minute))
        assert [answer.id for answer in ledger.events_since(0)] == [3, 1]
        assert ledger.expire(at(0)) == []
        assert ledger.expire(at(6)) == [2]


def test_an_opening_elsewhere_ends_this_one(tmp_path):
    ledger = Ledger(tmp_path / "labels.db")
    ask(ledger)
    ledger._database._lock.close()  # as where locks do not work
    with Ledger(tmp_path / "labels.db") as other:
        ask(other)
        with pytest.raises(LedgerLocked, match="was opened for writing elsewhere"):
            ask(ledger)
        with pytest.raises(LedgerClosed, match="was opened for writing elsewhere"):
            ask(ledger)
        assert len(other) == 2


def cut_connections():
    address, _ = server()
    engine = sa.create_engine(sa.engine.make_url(address).set(drivername="postgresql+psycopg"))
    with engine.connect() as connection:
        mine = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND "
        connection.exec_driver_sql(mine + "backend_type = 'client backend'")
    engine.dispose()


def test_a_server_that_ends_the_connection_is_found_again():
    store = new_database()
    with Ledger(store) as ledger:
        fill(ledger)
        expected = contents(ledger)
        cut_connections()
        assert contents(ledger) == expected
        cut_connections()
        assert ask(ledger) == 7
        cut_connections()
        assert ledger.answer(7, "yes")
        assert len(Ledger.read(store)) == 7


def test_a_transaction_whose_end_was_not_heard_is_not_made_twice():
    store = new_database()
    with Ledger(store) as ledger:
        ask(ledger)
        commit = type(ledger._database._connection.engine.dialect).do_commit
        calls = []

        def lose(self, connection):
            commit(self, connection)
            if not calls:
                calls.append(1)
                connection.driver_connection.pgconn.finish()
                raise self.dbapi.OperationalError("server closed the connection unexpectedly")

        dialect = ledger._database._connection.engine.dialect
        dialect.do_commit = lose.__get__(dialect)
        assert ask(ledger, price=5.0) == 2
        assert calls == [1]
        assert (len(ledger), ledger.spent) == (2, 6.0)
        assert ask(ledger) == 3
        assert (len(Ledger.read(store)), Ledger.read(store).spent) == (3, 7.0)
