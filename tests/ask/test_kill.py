"""Processes that are killed between question, answer, correction, purchase and model go on from their store."""

import os
import subprocess
import sys
from functools import cache

import pytest

from tests.ask.kill_worker import ROWS, new_asker, stream, work
from tests.conftest import new_database

KILLS = int(os.environ.get("QUERCUS_KILLS", "4"))


def kill(store, kind, kills):
    command = [sys.executable, "-m", "tests.ask.kill_worker", str(store), kind, str(kills)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=3600)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@cache
def never_killed(kind):
    asker = new_asker(None, kind)
    work(asker, kind)
    return asker


# In the sample: labels and cases in a file, exchanges in PostgreSQL.
@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", ["labels", "exchanges", "cases"])
@pytest.mark.parametrize("where", ["file", "postgres"])
def test_killed_at_random_moments_it_ends_as_if_nothing_had_happened(kind, where, tmp_path):
    whole = never_killed(kind)
    killed = rounds = 0
    while killed < KILLS:
        store = tmp_path / f"{rounds}.db" if where == "file" else new_database()
        killed, rounds = killed + kill(store, kind, KILLS - killed), rounds + 1
        asker = new_asker(store, kind)
        work(asker, kind)
        same_end(whole, asker)
        assert asker.seen == ROWS[kind]
        asker.close()
    print(f"killed {killed} times in {rounds} rounds")


def same_end(whole, asker):
    a, b = whole.ledger.to_arrow(), asker.ledger.to_arrow()
    kept = [name for name in a.column_names if not name.endswith("_at") and name not in ("changed", "learned")]
    assert a.select(kept).equals(b.select(kept))
    ours, theirs = whole.learner.state_arrays(), asker.learner.state_arrays()
    assert all(ours[name].tobytes() == theirs[name].tobytes() for name in ours)
    assert whole.state.to_bytes() == asker.state.to_bytes()
    assert whole.accuracy() == asker.accuracy()
    assert whole.spent == asker.spent
    assert whole.left == asker.left


def test_the_stream_of_the_worker_is_the_same_each_time():
    assert stream(5) == stream(5)
