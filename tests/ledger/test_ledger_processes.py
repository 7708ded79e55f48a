"""Several processes and one ledger: one writes, any may read, and a kill loses nothing that returned."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import quercus
from quercus.ledger import Ledger, LedgerLocked
from tests.ledger.examples import ask

WORKER = Path(__file__).with_name("worker.py")
ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(quercus.__file__).parents[1])}


def run(what, store, other="-", timeout=120):
    return subprocess.run(
        [sys.executable, str(WORKER), what, str(store), str(other)],
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        timeout=timeout,
        check=False,
    )


def open_soon(store):
    for _ in range(200):
        try:
            return Ledger(store)
        except LedgerLocked:
            time.sleep(0.02)
    return Ledger(store)


def test_only_one_process_writes(kept_store):
    with Ledger(kept_store) as ledger:
        ask(ledger)
        with pytest.raises(LedgerLocked, match=r"is open for writing .*; close it there, or read it"):
            Ledger(kept_store)
        other = run("open", kept_store)
        assert other.stdout.startswith("locked: the ledger '"), other.stderr
        assert ask(ledger) == 2
    with open_soon(kept_store) as ledger:
        assert len(ledger) == 2


def test_reading_while_another_process_writes(kept_store, tmp_path):
    stop = tmp_path / "stop"
    command = [sys.executable, str(WORKER), "write", str(kept_store), str(stop)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT) as writer:
        assert writer.stdout.readline() == "ready\n"
        try:
            reader, sizes = Ledger.read(kept_store), []
            while len(sizes) < 30 or sizes[-1] < 20:
                ledger = Ledger.read(kept_store)
                sizes += [len(ledger), len(reader)]
                assert all(answer.label == answer.id for answer in ledger.events_since(0))
                assert writer.poll() is None
        finally:
            stop.touch()
        assert writer.wait(60) == 0
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1] <= len(Ledger.read(kept_store))


def test_nothing_that_returned_is_lost_when_the_process_is_killed(kept_store, tmp_path):
    result = run("kill", kept_store, tmp_path / "receipts", timeout=3600)
    assert result.returncode == 0, result.stderr
    receipts = [line.split() for line in (tmp_path / "receipts").read_text().splitlines()]
    kills = int(os.environ.get("QUERCUS_KILLS", "8"))
    with open_soon(kept_store) as ledger:
        asked, answered, corrected = (
            [int(id) for what, id in receipts if what == kind] for kind in ("ask", "answer", "correct")
        )
        assert asked == sorted(set(asked))
        # each of the killed may have kept something whose receipt it could not write any more
        assert 0 <= len(ledger) - len(asked) <= 3 * kills
        assert all(ledger.question(id).answer == f"right {id}" for id in corrected)
        rest = set(answered) - set(corrected)
        assert all(ledger.question(id).answer in (f"label {id}", f"right {id}") for id in rest)
        assert ledger.spent == pytest.approx(sum(question.price for question in ledger.questions()), rel=1e-12)
        assert ask(ledger) == len(ledger)


def test_importing_the_ledger_is_light():
    heavy = ["numba", "sqlalchemy", "alembic", "sklearn", "pandas", "polars", "matplotlib", "pyarrow", "scipy"]
    code = f"import sys, quercus.ledger; print([name for name in {heavy} if name in sys.modules])"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=ENVIRONMENT, timeout=120, check=False
    )
    assert result.stdout.strip() == "[]", result.stderr
