"""A process that is killed between question and answer goes on from its files."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

from tests.ask.kill_worker import ROWS, new_asker, stream, work

KILLS = int(os.environ.get("QUERCUS_KILLS", "2"))


def start(store):
    return subprocess.Popen(
        [sys.executable, "-m", "tests.ask.kill_worker", str(store)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )


def test_killed_at_random_moments_it_ends_as_if_nothing_had_happened(tmp_path):
    whole = new_asker(tmp_path / "whole.db")
    work(whole)
    rng = random.Random(3)
    store, kills, finished = tmp_path / "killed.db", 0, False
    while kills < KILLS and not finished:
        process = start(store)
        before = writes(store)
        while writes(store) == before and process.poll() is None:
            time.sleep(0.002)
        time.sleep(rng.random() * 0.15)
        finished = process.poll() is not None
        process.send_signal(signal.SIGKILL)
        process.wait()
        kills += not finished
    asker = new_asker(store)
    ids = [q.id for q in map(asker.ledger.question, range(1, asker.asked + 1))]
    assert ids == list(range(1, asker.asked + 1))
    work(asker)
    assert kills >= 2
    same_end(whole, asker)
    print(f"killed {kills} times")


def same_end(whole, asker):
    a, b = whole.ledger.to_arrow(), asker.ledger.to_arrow()
    kept = [name for name in a.column_names if not name.endswith("_at") and name != "changed"]
    assert a.select(kept).equals(b.select(kept))
    assert len(set(a.column("row").to_pylist())) == a.num_rows
    ours, theirs = whole.learner.state_arrays(), asker.learner.state_arrays()
    assert all(ours[name].tobytes() == theirs[name].tobytes() for name in ours)
    assert whole.state.record["spent"] == asker.state.record["spent"]
    assert whole.accuracy() == asker.accuracy()
    assert whole.seen == asker.seen == ROWS


def writes(store):
    """How often was written."""
    try:
        with closing(sqlite3.connect(f"{store.as_uri()}?mode=ro", uri=True)) as database:
            return database.execute("SELECT writes FROM store").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def test_the_stream_of_the_worker_is_the_same_each_time():
    assert stream(5) == stream(5)
