"""Several processes and one folder: one writes, any may read, and a kill loses nothing that returned."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import quercus
from quercus.ledger import Ledger, LedgerLocked
from tests.ledger.examples import ask, journal

WORKER = Path(__file__).with_name("worker.py")
ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(quercus.__file__).parents[1])}


def run(what, folder):
    return subprocess.run(
        [sys.executable, str(WORKER), what, str(folder)],
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        timeout=120,
        check=False,
    )


def test_only_one_process_writes(tmp_path):
    with Ledger(tmp_path) as ledger:
        ask(ledger)
        with pytest.raises(LedgerLocked, match=f"in process {os.getpid()}; close it there"):
            Ledger(tmp_path)
        other = run("open", tmp_path)
        assert other.stdout.startswith(f"locked: the ledger '{tmp_path}' is open for writing"), other.stderr
        assert ask(ledger) == 2
    with Ledger(tmp_path) as ledger:
        assert len(ledger) == 2


def test_reading_while_another_process_writes(tmp_path):
    folder = tmp_path / "ledger"
    command = [sys.executable, str(WORKER), "write", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT) as writer:
        assert writer.stdout.readline() == "ready\n"
        try:
            sizes = []
            while len(sizes) < 30 or sizes[-1] < 20:
                if journal(folder).exists():
                    ledger = Ledger.read(folder)
                    sizes.append(len(ledger))
                    assert ledger.answered in (len(ledger), len(ledger) - 1)
                    assert all(answer.label == answer.id for answer in ledger.events_since(0))
                assert writer.poll() is None
        finally:
            Path(f"{folder}.stop").touch()
        assert writer.wait(60) == 0
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1] <= len(Ledger.read(folder))


def test_nothing_that_returned_is_lost_when_the_process_is_killed(tmp_path):
    folder = tmp_path / "ledger"
    result = run("kill", folder)
    assert result.returncode == 0, result.stderr
    receipts = [line.split() for line in Path(f"{folder}.receipts").read_text().splitlines()]
    with Ledger(folder) as ledger:
        asked = [int(id) for what, id in receipts if what == "ask"]
        answered = [int(id) for what, id in receipts if what == "answer"]
        assert len(list(folder.glob("journal-*"))) == 12
        assert asked == sorted(set(asked))
        # each of the twelve may have noted something whose receipt it could not write any more
        assert 0 <= len(ledger) - len(asked) <= 3 * 12
        assert all(ledger.question(id).answer == f"label {id}" for id in answered)
        assert ledger.spent == pytest.approx(
            sum(ledger.question(id).price for id in range(1, len(ledger) + 1)), rel=1e-12
        )
        assert ask(ledger) == len(ledger)


def test_importing_the_ledger_is_light():
    heavy = ["numba", "sklearn", "pandas", "polars", "matplotlib", "pyarrow", "scipy"]
    code = f"import sys, quercus.ledger; print([name for name in {heavy} if name in sys.modules])"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=ENVIRONMENT, timeout=120, check=False
    )
    assert result.stdout.strip() == "[]", result.stderr
