"""Limits: memory, threads, and models that are done learning."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from quercus.checks.contract import (
    Skipped,
    check,
    ensure,
    ensure_same,
    fresh,
    has,
    learn,
    name_of,
    parameters_of,
    snapshot,
)
from quercus.checks.data import adversarial_stream, numeric_stream

SMALL = 2**18


@check("nbytes")
def check_memory_stays_under_max_bytes(learner: Any) -> None:
    """``nbytes`` never exceeds ``max_bytes``, by default and when room is scarce; prediction goes on."""
    if "max_bytes" not in parameters_of(learner):
        raise Skipped(f"{name_of(learner)} has no max_bytes")
    _ensure_bounded(fresh(learner))
    scarce = fresh(learner, max_bytes=SMALL)
    try:
        _ensure_bounded(scarce)
    except ValueError as error:
        # A learner that needs more than this to begin with may say so.
        ensure("max_bytes" in str(error), f"a learner short of memory should go on; it raised {error!r}.")


def _ensure_bounded(learner: Any) -> None:
    X, y = numeric_stream(12_000, features=8, classes=6)
    limit = learner.max_bytes
    for start in range(0, len(y), 1000):
        learn(learner, X[start : start + 1000], y[start : start + 1000])
        found = learner.nbytes
        ensure(found <= limit, f"nbytes is {found} after {start + 1000} rows; max_bytes is {limit}.")
        if has(learner, "state_arrays"):
            used = sum(array.nbytes for array in learner.state_arrays().values())
            ensure(used <= found, f"the state takes {used} bytes, but nbytes tells {found}.")
    if has(learner, "predict_proba"):
        shares = np.asarray(learner.predict_proba(X[:50]))
        ensure(np.allclose(shares.sum(axis=1), 1), "a learner short of memory should go on predicting.")


@check("freeze")
def check_frozen_learner_predicts_the_same_and_refuses_to_learn(learner: Any) -> None:
    """``freeze`` gives a model of the same answers that nothing changes any more.

    A learner with ``inference="path"`` may keep just what that way of answering needs.
    """
    stream = adversarial_stream(1100)
    new = learn(fresh(learner), *stream.part(0, 900))
    if hasattr(new, "inference"):
        new.set_params(inference="path")
    frozen = new.freeze()
    probe = [*stream.rows[:300], {**stream.rows[1], "job": "astronaut"}, dict.fromkeys(stream.rows[0])]
    before = np.array(new.predict_proba(probe))
    ensure(
        np.array_equal(before, frozen.predict_proba(probe)), "a frozen learner should predict what the learner does."
    )
    ensure(np.array_equal(new.predict(probe), frozen.predict(probe)), "a frozen learner should give the same answers.")
    rest = stream.part(900)
    for name, arguments in (
        ("partial_fit", rest),
        ("fit", rest),
        ("learn_many", rest),
        ("test_then_learn", rest),
        ("learn_one", (rest.rows[0], rest.labels[0])),
    ):
        if has(frozen, name):
            ensure(_refuses(getattr(frozen, name), arguments), f"a frozen learner should refuse {name}.")
    learn(new, *rest)
    ensure(np.array_equal(before, frozen.predict_proba(probe)), "a frozen learner should never change.")


def _refuses(method: Callable[..., Any], arguments: Any) -> bool:
    try:
        method(*arguments)
    except Exception:
        return True
    return False


@check("partial_fit")
def check_two_threads_never_corrupt_it(learner: Any) -> None:
    """Two threads that learn at once: one waits, or gets RuntimeError; what was learned is one of the two orders."""
    X, y = numeric_stream(10_200)
    first, second = slice(200, 5200), slice(5200, None)
    warm = (X[:200], y[:200])

    def after(*parts: slice) -> dict[str, Any]:
        new = learn(fresh(learner), *warm)
        for part in parts:
            learn(new, X[part], y[part])
        return snapshot(new, X[:200])

    for _ in range(3):
        shared = learn(fresh(learner), *warm)
        refused = _learn_at_once(shared, [(X[first], y[first]), (X[second], y[second])])
        for error in refused:
            ensure(
                error is None or isinstance(error, RuntimeError),
                f"learning in two threads at once should wait or raise RuntimeError; it raised {error!r}.",
            )
        ensure(None in refused, "of two threads that learn at once, at least one should get through.")
        applied = [part for part, error in zip((first, second), refused, strict=True) if error is None]
        found = snapshot(shared, X[:200])
        if len(applied) == 2 and _same(found, after(second, first)):
            continue
        ensure_same(after(*applied), found, "two threads that learn at once should leave what one after the other does")


def _learn_at_once(learner: Any, batches: list[Any]) -> list[Exception | None]:
    barrier = threading.Barrier(len(batches))
    errors: list[Exception | None] = [None] * len(batches)

    def run(place: int) -> None:
        barrier.wait()
        try:
            learner.partial_fit(*batches[place])
        except Exception as error:
            errors[place] = error

    threads = [threading.Thread(target=run, args=(place,)) for place in range(len(batches))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


def _same(first: dict[str, Any], second: dict[str, Any]) -> bool:
    try:
        ensure_same(first, second, "")
    except AssertionError:
        return False
    return True


@check("partial_fit", "predict_proba")
def check_threads_may_predict_together(learner: Any) -> None:
    """Predicting in several threads at once gives each the answers it would get alone."""
    X, y = numeric_stream(4000)
    new = learn(fresh(learner), X, y)
    expected = np.array(new.predict_proba(X))
    found: list[Any] = [None] * 4

    def run(place: int) -> None:
        try:
            found[place] = np.asarray(new.predict_proba(X))
        except Exception as error:
            found[place] = error

    threads = [threading.Thread(target=run, args=(place,)) for place in range(len(found))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in found:
        ensure(not isinstance(result, Exception), f"predicting beside another thread raised {result!r}.")
        ensure(np.array_equal(result, expected), "predicting beside another thread gave other answers.")
