"""A write that fails changes nothing, on the disk and in memory, and the next one may work."""

import errno
import os
import resource

import pytest

from quercus.ledger import Ledger, LedgerClosed
from tests.ledger.examples import ask, contents, failing_with, fill, journal

ACTS = {
    "ask": lambda led: ask(led, {"new": "x" * 5000}, prediction="no", state=b"third"),
    "ask_rows": lambda led: led.ask_rows({"new": ["x" * 5000]}, row=1, covered=1, answers=["yes"]),
    "answer": lambda led: led.answer(6, "yes", state=b"x" * 5000),
    "expire": lambda led: led.expire_one(6, refund=True),
    "change": lambda led: led.note_change(1, True),
}


@pytest.fixture
def ledger(tmp_path):
    with Ledger(tmp_path / "ledger") as ledger:
        yield ledger
    assert contents(Ledger.read(tmp_path / "ledger")) == contents(ledger)


def check_failing(ledger, act, fail):
    """Fail once, see that nothing changed, and do it again."""
    before, content = contents(ledger), journal(ledger.folder).read_bytes()
    fail(lambda: ACTS[act](ledger))
    assert contents(ledger) == before
    assert journal(ledger.folder).read_bytes() == content
    ACTS[act](ledger)
    assert contents(ledger) != before


@pytest.mark.parametrize("act", ACTS)
def test_a_file_that_may_not_grow(ledger, act):
    def fail(change):
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        # less than a batch: part of it is written
        size = journal(ledger.folder).stat().st_size + 700
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
        try:
            with pytest.raises(OSError, match="too large"):
                change()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    check_failing(fill(ledger), act, fail)


@pytest.mark.parametrize("act", ACTS)
def test_a_disk_that_fails_to_flush(ledger, act, monkeypatch):
    flush, calls = os.fsync, []

    def fail_once(descriptor):
        calls.append(descriptor)
        return failing_with(errno.EIO)() if len(calls) == 1 else flush(descriptor)

    def fail(change):
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", fail_once)
            with pytest.raises(OSError, match="it failed"):
                change()

    check_failing(fill(ledger), act, fail)


def test_the_very_first_write(ledger, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", failing_with(errno.ENOSPC))
        for _ in range(3):
            with pytest.raises(OSError, match="it failed"):
                ask(ledger)
    assert (len(ledger), journal(ledger.folder).stat().st_size) == (0, 0)
    assert ask(ledger) == 1
    assert len(list(ledger.folder.glob("journal-*"))) == 1


def test_what_cannot_be_taken_back_stops_the_ledger(tmp_path, monkeypatch):
    ledger = Ledger(tmp_path)
    ask(ledger)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", failing_with(errno.EIO))
        patch.setattr(os, "ftruncate", failing_with(errno.EIO))
        with pytest.raises(OSError, match="it failed"):
            ask(ledger)
    with pytest.raises(LedgerClosed, match="open the ledger again"):
        ask(ledger)
    ledger.close()
    # the question is there after all, and the next gets another id
    with Ledger(tmp_path) as again:
        assert ask(again) == len(again) == 3
