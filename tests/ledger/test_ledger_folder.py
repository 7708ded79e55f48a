"""Ledgers in folders: they go on where they were left, whatever happened to their files."""

import contextlib
import errno
import os
import shutil
import signal
import warnings

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from quercus.ledger import JournalWarning, Ledger, LedgerClosed, LedgerFileError
from quercus.ledger import journal as journal_module
from quercus.ledger.journal import read_journal
from tests.ledger.examples import START, abandon, ask, at, contents, failing_with, fill, journal


def test_it_goes_on_where_it_was_left(tmp_path):
    folder = tmp_path / "new" / "ledger"
    with Ledger(folder) as ledger:
        expected = contents(fill(ledger))
    ledger = Ledger(folder)
    assert contents(ledger) == expected
    assert ask(ledger, prediction="no") == 7
    assert ledger.answer(6, "yes", time=at(9))
    expected = contents(ledger)
    abandon(ledger)
    with Ledger(folder) as ledger:
        assert contents(ledger) == expected
        assert ledger.last_state == b"second"
        with pytest.raises(ValueError, match="labels were str"):
            ledger.answer(7, 1)
    assert contents(Ledger.read(folder)) == expected
    names = ["journal-000001.arrows", "journal-000002.arrows", "ledger.lock", "ledger.parquet"]
    assert sorted(os.listdir(folder)) == names


def test_a_session_without_changes_writes_nothing(tmp_path):
    Ledger(tmp_path).close()
    assert os.listdir(tmp_path) == ["ledger.lock"]
    with Ledger(tmp_path) as ledger:
        ask(ledger)
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir() if path.suffix != ".lock"}
    Ledger(tmp_path).close()
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir() if path.suffix != ".lock"} == before


def test_a_ledger_in_which_nothing_was_asked_can_be_read(tmp_path):
    with Ledger(tmp_path):
        assert len(Ledger.read(tmp_path)) == 0


def test_the_folder_stays_where_it_was_when_the_working_folder_changes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Ledger("here") as ledger:
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        ask(ledger)
    assert len(Ledger.read(tmp_path / "here")) == 1
    assert os.listdir(tmp_path / "elsewhere") == []


def test_journals_only_grow(tmp_path):
    seen = {}
    for _ in range(3):
        with Ledger(tmp_path) as ledger:
            for _ in range(3):
                ledger.answer(ask(ledger), "yes")
                for path in tmp_path.glob("journal-*"):
                    content = path.read_bytes()
                    assert content.startswith(seen.get(path, b""))
                    seen[path] = content
    assert len(seen) == 3


def test_a_bulk_call_is_one_batch(tmp_path):
    with Ledger(tmp_path) as ledger:
        ledger.ask_rows({"a": list(range(1000))}, row=1, covered=1, answers=[1] * 1000)
        assert [batch.num_rows for batch in read_journal(journal(tmp_path))] == [1000]


def test_the_change_is_on_the_disk_before_memory_changes(tmp_path, monkeypatch):
    order = []
    ledger = Ledger(tmp_path)
    ask(ledger)
    write, flush = os.write, os.fsync
    monkeypatch.setattr(os, "write", lambda *given: order.append(("write", ledger.answered)) or write(*given))
    monkeypatch.setattr(os, "fsync", lambda *given: order.append(("fsync", ledger.answered)) or flush(*given))
    ledger.answer(1, "yes")
    assert order == [("write", 0), ("fsync", 0)]
    assert ledger.answered == 1


def test_names_and_what_a_killed_session_left_are_forced_to_the_disk(tmp_path, monkeypatch):
    flush, flushed = os.fsync, []
    monkeypatch.setattr(os, "fsync", lambda file: flushed.append(os.fstat(file).st_ino) or flush(file))
    ledger = Ledger(tmp_path)
    ask(ledger)
    assert (tmp_path.stat().st_ino in flushed, journal(tmp_path).stat().st_ino in flushed) == (True, True)
    abandon(ledger)
    flushed.clear()
    with Ledger(tmp_path):
        assert (tmp_path.stat().st_ino in flushed, journal(tmp_path).stat().st_ino in flushed) == (True, True)


def test_pandas_and_polars_read_journals_without_us(tmp_path):
    with Ledger(tmp_path) as ledger:
        fill(ledger)
    path = journal(tmp_path)
    for frame in (pl.read_ipc_stream(path), pa.ipc.open_stream(path).read_pandas()):
        assert list(frame["event"]) == ["ask"] * 6 + ["answer", "expire", "answer", "expire", "change"]
        assert list(frame["id"]) == [1, 2, 3, 4, 5, 6, 3, 2, 1, 4, 3]
        assert frame["answer"][6] == '"yes"'
        assert frame["features"][1] == '{"age":null,"job":"cook","ok":true}'
        assert frame["time"][0] == START
    assert pd.read_parquet(tmp_path / "ledger.parquet")["id"].tolist() == [1, 2, 3, 4, 5, 6]
    assert contents(Ledger.read(tmp_path / "ledger.parquet"))[1:] == contents(Ledger.read(tmp_path))[1:]


def test_json_in_journals_is_strict(tmp_path):
    with Ledger(tmp_path) as ledger:
        ask(ledger, {"a": float("nan"), "b": -0.0, "c": 5e-324, "d": 1.7976931348623157e308})
        ledger.ask_rows({"a": [float("nan")]}, row=1, covered=1)
    texts = pl.read_ipc_stream(journal(tmp_path))["features"].to_list()
    assert texts == ['{"a":null,"b":-0.0,"c":5e-324,"d":1.7976931348623157e+308}', '{"a":null}']
    features = Ledger.read(tmp_path).question(1).features
    assert str(features["b"]) == "-0.0"
    assert (features["c"], features["d"]) == (5e-324, 1.7976931348623157e308)


def ends_of_batches(path):
    """The lengths of a journal's beginnings that end with a whole batch."""
    content, ends = path.read_bytes(), [0]
    for batch in read_journal(path):
        size = len(batch.serialize())
        ends.append((ends[-1] or len(batch.schema.serialize())) + size)
    assert ends[-1] == len(content)
    return ends


def test_a_journal_cut_at_any_byte_is_read_to_its_last_whole_batch(tmp_path):
    with Ledger(tmp_path / "whole") as ledger:
        ask(ledger)
        ask(ledger, {"a": 1.0}, state=b"state")
        ledger.answer(1, "yes")
    content, ends = journal(tmp_path / "whole").read_bytes(), ends_of_batches(journal(tmp_path / "whole"))
    path = journal(tmp_path)
    path.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for length in reversed([*range(ends[1]), *range(ends[-3], ends[-1] + 1)]):
            os.truncate(path, length)
            expected = sum(end <= length for end in ends) - 1
            assert sum(1 for _ in read_journal(path)) == expected


def test_a_ledger_whose_journal_was_cut_goes_on(tmp_path):
    with Ledger(tmp_path / "whole") as ledger:
        for i in range(4):
            ask(ledger, {"a": float(i)})
    path = journal(tmp_path / "whole")
    content, ends = path.read_bytes(), ends_of_batches(path)
    for length in [0, 1, 7, ends[1] - 1, ends[1], *range(ends[-3], ends[-1], 131)]:
        folder = tmp_path / str(length)
        folder.mkdir()
        journal(folder).write_bytes(content[:length])
        kept = sum(end <= length for end in ends) - 1
        with Ledger(folder) as ledger:
            assert len(ledger) == kept
            assert ask(ledger, {"a": -1.0}) == kept + 1
        assert journal(folder).read_bytes() == content[:length]
        with Ledger(folder) as ledger:
            expected = [float(i) for i in range(kept)] + [-1.0]
            assert [ledger.question(id).features["a"] for id in range(1, kept + 2)] == expected


def test_blocks_of_zeros_after_a_power_cut_are_no_damage(tmp_path):
    with Ledger(tmp_path) as ledger:
        for _ in range(3):
            ask(ledger)
    path = journal(tmp_path)
    content, ends = path.read_bytes(), ends_of_batches(path)
    path.write_bytes(content + bytes(4096))
    assert len(Ledger.read(tmp_path)) == 3
    path.write_bytes(content[: ends[2] + 300] + bytes(len(content) - ends[2] - 300))
    with pytest.warns(JournalWarning, match="does not match its checksum"):
        assert len(Ledger.read(tmp_path)) == 2
    path.write_bytes(bytes(len(content)))
    assert len(Ledger.read(tmp_path)) == 0


def test_damage_before_whole_batches_is_refused(tmp_path):
    with Ledger(tmp_path) as ledger:
        for _ in range(3):
            ask(ledger)
    path = journal(tmp_path)
    content, ends = path.read_bytes(), ends_of_batches(path)
    for place in range(0, ends[2], 23):
        damaged = bytearray(content)
        damaged[place] ^= 1 << (place % 8)
        path.write_bytes(damaged)
        if place >= len(pa.ipc.open_stream(content).schema.serialize()):
            with pytest.raises(LedgerFileError, match=r"journal-000001\.arrows"):
                Ledger.read(tmp_path)
            continue
        # in the schema, some bytes only fill gaps
        with contextlib.suppress(LedgerFileError):
            assert contents(Ledger.read(tmp_path)) == contents(ledger)
    for place in range(ends[2], len(content), 23):
        damaged = bytearray(content)
        damaged[place] ^= 1 << (place % 8)
        path.write_bytes(damaged)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", JournalWarning)
            assert len(Ledger.read(tmp_path)) == 2


def test_folders_that_are_no_ledgers_are_refused_and_left_alone(tmp_path):
    file = tmp_path / "file"
    file.write_text("text")
    with pytest.raises(LedgerFileError, match="is a file; give a folder"):
        Ledger(file)
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    journal(foreign).write_text("no journal at all")
    with pytest.raises(LedgerFileError, match=r"journal-000001.arrows' is no journal"):
        Ledger(foreign)
    shutil.rmtree(foreign)
    foreign.mkdir()
    with pa.ipc.new_stream(journal(foreign), pa.schema({"a": pa.int64()})):
        pass
    with pytest.raises(LedgerFileError, match="is no journal of a ledger"):
        Ledger(foreign)
    with Ledger(tmp_path / "gap") as ledger:
        ask(ledger)
    with Ledger(tmp_path / "gap") as ledger:
        ask(ledger)
    journal(tmp_path / "gap").unlink()
    for opening in (Ledger, Ledger.read):
        with pytest.raises(LedgerFileError, match=r"journal-000001.arrows is missing"):
            opening(tmp_path / "gap")
    journal(tmp_path / "gap", 2).unlink()
    with pytest.raises(LedgerFileError, match=r"ledger.parquet and no journal"):
        Ledger(tmp_path / "gap")


def test_journals_that_contradict_each_other_are_refused(tmp_path):
    with Ledger(tmp_path) as ledger:
        ask(ledger)
    shutil.copy(journal(tmp_path), journal(tmp_path, 2))
    with pytest.raises(LedgerFileError, match=r"000002.arrows' holds the event 'ask' of question 1.*question 2 comes"):
        Ledger(tmp_path)


def test_a_newer_format_is_refused(tmp_path, monkeypatch):
    with Ledger(tmp_path) as ledger:
        ask(ledger)
    monkeypatch.setattr(journal_module, "FORMAT", "0")
    with pytest.raises(LedgerFileError, match="has format 1 and this quercus reads 0; install a newer"):
        Ledger(tmp_path)


def test_ctrl_c_comes_after_the_change(tmp_path, monkeypatch):
    flush = os.fsync

    def interrupt(descriptor):
        os.kill(os.getpid(), signal.SIGINT)
        flush(descriptor)

    with Ledger(tmp_path) as ledger:
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", interrupt)
            with pytest.raises(KeyboardInterrupt):
                ask(ledger)
        assert ask(ledger) == 2
    assert len(Ledger.read(tmp_path)) == 2


def test_a_copy_of_the_process_does_not_write(tmp_path, monkeypatch):
    ledger = Ledger(tmp_path)
    ask(ledger)
    content = journal(tmp_path).read_bytes()
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(LedgerClosed, match="open and use a ledger in one process"):
        ask(ledger)
    ledger.close()
    assert (journal(tmp_path).read_bytes(), (tmp_path / "ledger.parquet").exists()) == (content, False)


def test_a_snapshot_that_fails_gives_the_folder_free(tmp_path, monkeypatch):
    ledger = Ledger(tmp_path)
    ask(ledger)
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", failing_with(errno.ENOSPC))
        with pytest.raises(OSError, match="it failed"):
            ledger.close()
    with Ledger(tmp_path) as again:
        assert len(again) == 1
