"""Answers: classes, probabilities, and the small cases that are easily forgotten."""

from __future__ import annotations

from typing import Any

import numpy as np

from quercus.checks.contract import Array, check, ensure, fresh, has, learn, learn_each
from quercus.checks.data import LATE_CLASS, adversarial_stream


def _right_answers(learner: Any) -> bool:
    """Only without a table of losses is the most probable class the answer."""
    return getattr(learner, "loss", None) is None


def _ensure_shares(shares: Array, rows: int, classes: int) -> None:
    ensure(
        shares.shape == (rows, classes), f"predict_proba gave shape {shares.shape} for {rows} rows, {classes} classes."
    )
    ensure(np.isfinite(shares).all(), "predict_proba gave values that are not finite.")
    ensure((shares >= 0).all(), "predict_proba gave negative probabilities.")
    ensure(np.allclose(shares.sum(axis=1), 1, rtol=0, atol=1e-9), "the probabilities of a row should sum to 1.")


@check()
def check_before_the_first_example(learner: Any) -> None:
    """Check that a new learner says that it knows nothing."""
    from sklearn.exceptions import NotFittedError

    row = adversarial_stream(1).rows[0]
    for name in ("predict", "predict_proba"):
        if has(learner, name):
            try:
                getattr(fresh(learner), name)([row])
            except NotFittedError:
                continue
            raise AssertionError(f"{name} before the first example should raise NotFittedError.")
    if has(learner, "predict_one"):
        ensure(fresh(learner).predict_one(row) is None, "predict_one before the first example should give None.")
    if has(learner, "predict_proba_one"):
        ensure(
            fresh(learner).predict_proba_one(row) == {}, "predict_proba_one before the first example should give {}."
        )


@check("predict_proba", "classes_")
def check_probabilities_cover_all_classes(learner: Any) -> None:
    """Probabilities are finite, not negative, sum to 1 and cover every class seen, also one seen only once."""
    stream = adversarial_stream()
    new = fresh(learner)
    for start in range(0, len(stream.labels), 300):
        learn(new, *stream.part(start, start + 300))
        seen = set(stream.labels[: start + 300])
        ensure(set(new.classes_) == seen, f"classes_ is {list(new.classes_)}; the classes seen are {sorted(seen)}.")
        _ensure_shares(np.asarray(new.predict_proba(stream.rows[:300])), 300, len(seen))
    learn(new, stream.rows[:1], ["once"])
    _ensure_shares(np.asarray(new.predict_proba(stream.rows[:300])), 300, 4)


@check("predict", "predict_proba", "classes_")
def check_classes_are_sorted_and_ties_go_to_the_first(learner: Any) -> None:
    """``classes_`` is sorted whatever came first, its columns are those of predict_proba, ties go to the first."""
    stream = adversarial_stream(LATE_CLASS + 300)
    new = learn(fresh(learner), *stream)
    classes = np.asarray(new.classes_)
    ensure(classes.tolist() == sorted(set(stream.labels)), f"classes_ should be sorted; it is {classes.tolist()}.")
    shares, answers = np.asarray(new.predict_proba(stream.rows)), np.asarray(new.predict(stream.rows))
    if _right_answers(learner):
        first_best = classes[np.argmax(shares, axis=1)]
        ensure(np.array_equal(answers, first_best), "predict should give the first of the most probable classes.")
    tied = learn(fresh(learner), [{"level": 1.0}, {"level": 1.0}], ["b", "a"])
    both = np.asarray(tied.predict_proba([{"level": 1.0}]))[0]
    if _right_answers(learner) and both[0] == both[1]:
        ensure(
            tied.predict([{"level": 1.0}])[0] == "a", "two classes as probable as each other: the first is the answer."
        )
        if has(tied, "predict_one"):
            ensure(tied.predict_one({"level": 1.0}) == "a", "predict_one should give the first of two equal classes.")


@check("predict", "predict_proba", "predict_one", "predict_proba_one")
def check_one_row_gets_the_answer_of_many(learner: Any) -> None:
    """Check that the answer for a row does not depend on the rows beside it, nor on the form in which it is asked."""
    stream = adversarial_stream(1100)
    new = learn(fresh(learner), *stream)
    probe = stream.rows[:150]
    shares, answers = np.asarray(new.predict_proba(probe)), np.asarray(new.predict(probe))
    backwards = np.asarray(new.predict_proba(probe[::-1]))[::-1]
    ensure(np.array_equal(shares, backwards), "the probabilities for a row should not depend on the rows beside it.")
    for row, share, answer in zip(probe, shares, answers, strict=True):
        alone = new.predict_proba_one(row)
        ensure(
            list(alone) == list(new.classes_), "predict_proba_one should name every class, in the order of classes_."
        )
        ensure(list(alone.values()) == share.tolist(), "predict_proba_one and predict_proba differ for a row.")
        ensure(new.predict_one(row) == answer, "predict_one and predict differ for a row.")


@check("partial_fit", "predict", "predict_proba")
def check_one_class_only(learner: Any) -> None:
    """Check that a stream of one class gives that class, with certainty."""
    stream = adversarial_stream(500)
    new = learn(fresh(learner), stream.rows, ["only"] * 500)
    ensure(set(new.predict(stream.rows)) == {"only"}, "after a stream of one class the answer should be that class.")
    ensure((np.asarray(new.predict_proba(stream.rows)) == 1).all(), "the only class should have probability 1.")


@check("partial_fit", "predict", "predict_proba")
def check_constant_columns(learner: Any) -> None:
    """Columns that never change teach nothing but the most frequent class."""
    rows = [{"level": 3.0, "job": "clerk"}] * 600
    labels = [("often", "often", "seldom")[i % 3] for i in range(600)]
    new = learn(fresh(learner), rows, labels)
    _ensure_shares(np.asarray(new.predict_proba(rows[:5])), 5, 2)
    if _right_answers(learner):
        ensure(
            new.predict(rows[:1])[0] == "often", "with constant columns the answer should be the most frequent class."
        )


@check("partial_fit", "predict", "predict_proba")
def check_missing_everywhere(learner: Any) -> None:
    """Columns, rows and whole streams of missing values are learned and answered."""
    empty = np.full((400, 3), np.nan)
    y = np.array([1, 1, 0])[np.arange(400) % 3]
    new = fresh(learner).partial_fit(empty, y)
    _ensure_shares(np.asarray(new.predict_proba(empty[:7])), 7, 2)
    if _right_answers(learner):
        ensure(
            (new.predict(empty[:7]) == 1).all(), "with all values missing the answer should be the most frequent class."
        )
    stream = adversarial_stream(1000)
    rows = [{**row, "age": None} for row in stream.rows]
    new = learn(fresh(learner), rows, stream.labels)
    nothing: list[dict[str, Any]] = [dict.fromkeys(rows[0])] * 3
    _ensure_shares(np.asarray(new.predict_proba(nothing)), 3, len(set(stream.labels)))
    learn(new, nothing, ["yes", "no", "yes"])
    learn(new, *stream)
    _ensure_shares(np.asarray(new.predict_proba(stream.rows)), 1000, len(set(stream.labels)))


@check("learn_one", "predict_one", "predict_proba_one")
def check_labels_keep_their_type(learner: Any) -> None:
    """Texts, integers, booleans and whole floats come back as they went in."""
    pairs: list[tuple[Any, Any]] = [("b", "a"), (7, 3), (True, False), (2.0, 1.0)]
    for pair in pairs:
        kind = type(pair[0])
        rows = [{"amount": float(i % 10)} for i in range(100)]
        labels = [pair[i % 10 < 5] for i in range(100)]
        one_by_one = learn_each(fresh(learner), rows, labels)
        ensure(type(one_by_one.predict_one(rows[0])) is kind, f"predict_one should give {kind.__name__} labels back.")
        for label in one_by_one.predict_proba_one(rows[0]):
            ensure(type(label) is kind, f"predict_proba_one should name {kind.__name__} labels as they are.")
        if has(learner, "partial_fit") and has(learner, "predict"):
            answers = np.asarray(fresh(learner).partial_fit(rows, np.array(labels)).predict(rows))
            ensure(type(answers[0].item() if answers.dtype != object else answers[0]) is kind,
                   f"predict should give {kind.__name__} labels back; it gave {answers.dtype}.")  # fmt: skip


@check("predict_proba", "classes_")
def check_new_category_when_predicting(learner: Any) -> None:
    """Check that a category first met when predicting gets an answer."""
    stream = adversarial_stream(1000)
    new = learn(fresh(learner), *stream)
    strange = [{**row, "job": "astronaut"} for row in stream.rows[:50]]
    _ensure_shares(np.asarray(new.predict_proba(strange)), 50, len(new.classes_))
    if has(new, "predict_proba_one"):
        ensure(len(new.predict_proba_one(strange[0])) == len(new.classes_), "a new category should get an answer.")
