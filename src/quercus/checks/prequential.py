"""Test, then learn: each answer is given before its label is seen."""

from __future__ import annotations

from typing import Any

import numpy as np

from quercus.checks.contract import check, ensure, ensure_same, fresh, learn, snapshot
from quercus.checks.data import CheckRows, adversarial_stream, random_labels


@check("test_then_learn", "predict_proba_one", "predict_one", "learn_one")
def check_test_then_learn_equals_row_by_row(learner: Any) -> None:
    """``test_then_learn`` answers and learns as predicting and learning each row in turn does."""
    stream = adversarial_stream(1100)
    probe = stream.rows[:200]
    at_once, by_row = fresh(learner), fresh(learner)
    outcome = at_once.test_then_learn(*stream)
    ids: dict[Any, int] = {}
    for number, (row, label) in enumerate(zip(*stream, strict=True)):
        shares, answer = by_row.predict_proba_one(row), by_row.predict_one(row)
        expected = np.zeros(outcome.proba.shape[1])
        for known, share in shares.items():
            expected[ids[known]] = share
        ensure(
            np.array_equal(outcome.proba[number], expected),
            f"test_then_learn gave {outcome.proba[number]} for row {number} where predict_proba_one gives {expected}.",
        )
        wanted = -1 if answer is None else ids[answer]
        ensure(outcome.answers[number] == wanted, f"test_then_learn and predict_one differ in their answer {number}.")
        by_row.learn_one(row, label)
        ids.setdefault(label, len(ids))
        ensure(outcome.truth[number] == ids[label], f"test_then_learn gave another truth for row {number}.")
    ensure(list(outcome.classes) == list(ids), "the classes of an outcome should be in the order of their arrival.")
    ensure_same(snapshot(by_row, probe), snapshot(at_once, probe), "test_then_learn should learn what learn_one learns")


@check("test_then_learn", "partial_fit")
def check_test_then_learn_in_any_partition(learner: Any) -> None:
    """``test_then_learn`` gives the same answers and state in batches as at once, and learns what partial_fit does."""
    stream = adversarial_stream(1100)
    probe = stream.rows[:200]
    at_once, in_batches = fresh(learner), fresh(learner)
    whole = at_once.test_then_learn(*stream)
    parts = [in_batches.test_then_learn(*stream.part(start, start + 130)) for start in range(0, 1100, 130)]
    answers = np.concatenate([part.answers for part in parts])
    ensure(
        np.array_equal(answers, whole.answers), "test_then_learn should give the same answers in batches as at once."
    )
    for start, part in zip(range(0, 1100, 130), parts, strict=True):
        rows, known = part.proba.shape
        ensure(
            np.array_equal(part.proba, whole.proba[start : start + rows, :known]),
            "test_then_learn should give the same probabilities in batches as at once.",
        )
    expected = snapshot(learn(fresh(learner), *stream), probe)
    ensure_same(expected, snapshot(at_once, probe), "test_then_learn should learn what partial_fit learns")
    ensure_same(
        expected, snapshot(in_batches, probe), "test_then_learn in batches should learn what partial_fit learns"
    )


@check("predict", "partial_fit")
def check_random_labels_cannot_be_foreseen(learner: Any) -> None:
    """Nobody foresees a coin: whoever does has seen labels before answering."""
    stream = random_labels()
    length = len(stream.labels)
    most = length / 2 + 4 * np.sqrt(length / 4)  # four standard deviations
    new = learn(fresh(learner), *stream.part(0, 100))
    right = 50
    for start in range(100, length, 100):
        part = stream.part(start, start + 100)
        right += int(np.sum(np.asarray(new.predict(part.rows)) == np.asarray(part.labels)))
        learn(new, *part)
    ensure(right <= most, f"predict foresaw {right} of {length} random labels; chance gives at most {most:.0f}.")
    if hasattr(learner, "test_then_learn"):
        right = _foreseen(fresh(learner), stream)
        ensure(right <= most, f"test_then_learn foresaw {right} of {length} random labels; chance: at most {most:.0f}.")


def _foreseen(learner: Any, stream: CheckRows) -> int:
    outcome = learner.test_then_learn(*stream)
    return int(np.sum(outcome.answers == outcome.truth))
