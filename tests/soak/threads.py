"""Answers beside learning: threads that predict all the time while one learns what is new in every batch."""

from __future__ import annotations

import threading
import time
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

THREADS = 8
# After so many classes a learner begins anew: the first ones make most of the difference.
_MOST_NEW = 40
_Row = dict[str, Any]


def find_faults(make: Callable[[], Any], seconds: float) -> tuple[int, list[str]]:
    """Return how many answers there were beside learning, and what was wrong with some of them.

    Parameters
    ----------
    make
        Gives a learner with ``features="open"``.
    seconds
        How long.
    """
    answers, faults = 0, []
    # What is compiled or loaded first does not count.
    _play(make(), 0.0)
    ends = time.monotonic() + seconds
    while time.monotonic() < ends and not faults:
        result, faults = _play(make(), ends)
        answers += result
    return answers, faults


def _play(learner: Any, ends: float) -> tuple[int, list[str]]:
    faults: list[str] = []
    over = threading.Event()
    counts = [0] * THREADS
    learner.partial_fit([{"a": 0.3, "job": "x"}, {"a": 0.7, "job": "y"}], ["c0", "c1"])

    def answer(number: int) -> None:
        rows = [{"a": (k + number) / 10, "job": "xy"[k % 2], "b1": 0.5} for k in range(5)]
        try:
            while not over.is_set() and not faults:
                faults.extend(_find_fault(learner, rows))
                counts[number] += 1
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            faults.append(f"{type(error).__name__}: {error} ({last.filename}:{last.lineno})")

    threads = [threading.Thread(target=answer, args=(number,), daemon=True) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for number in range(1, _MOST_NEW):
                learner.partial_fit(*_news(number))
                learner.learn_one({"a": 0.1, "job": f"one{number}"}, f"c{number}")
                if faults or time.monotonic() > ends:
                    break
    finally:
        over.set()
        for thread in threads:
            thread.join(30)
    if any(thread.is_alive() for thread in threads):
        faults.append("a thread that answers does not end")
    return sum(counts), faults


def _news(number: int) -> tuple[list[_Row], list[str]]:
    """Return a batch with a new class, category and column."""
    draw = np.random.default_rng(number)
    rows = [
        {"a": float(draw.random()), "job": str(draw.choice(["x", "y", f"job{number}"])), f"b{number}": 1.0 * k}
        for k in range(30)
    ]
    return rows, [f"c{int(3 * row['a'])}" if k % 3 else f"c{number}" for k, row in enumerate(rows)]


def _find_fault(learner: Any, rows: list[_Row]) -> list[str]:
    """Return what is wrong with answers: they are probabilities of the classes of some moment."""
    before = len(learner.classes_)
    proba = learner.predict_proba(rows)
    one = learner.predict_proba_one(rows[0])
    labels = learner.predict(rows)
    after = len(learner.classes_)
    faults = []
    if not before <= proba.shape[1] <= after or proba.shape[0] != len(rows):
        faults.append(f"predict_proba gave {proba.shape} for {len(rows)} rows and {before} to {after} classes")
    if not before <= len(one) <= after:
        faults.append(f"predict_proba_one gave {len(one)} of {before} to {after} classes")
    for values in (*proba, np.array(list(one.values()))):
        if not np.isfinite(values).all() or (values < 0).any() or abs(values.sum() - 1) > 1e-6:
            faults.append(f"an answer is {values}")
    if len(labels) != len(rows) or not set(labels.tolist()) <= set(learner.classes_.tolist()):
        faults.append(f"predict gave {labels}")
    return faults
