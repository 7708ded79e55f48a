"""Same rows, same state: however they are cut, saved, copied or interrupted."""

from __future__ import annotations

import copy
import pickle
import tempfile
from pathlib import Path
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
    learn_each,
    name_of,
    parameters_of,
    snapshot,
)
from quercus.checks.data import LATE_CATEGORY, LATE_CLASS, LATE_VALUE, CheckRows, adversarial_stream, columns_of

MIDDLE = 600


@check("state_arrays")
def check_state_is_plain_arrays(learner: Any) -> None:
    """``state_arrays`` gives arrays of numbers; without it states are compared by their answers alone."""
    stream = adversarial_stream(300)
    arrays = learn(fresh(learner), *stream).state_arrays()
    ensure(isinstance(arrays, dict) and arrays, "state_arrays() should give a dict of arrays.")
    for name, array in arrays.items():
        ensure(isinstance(array, np.ndarray), f"state_arrays()[{name!r}] is a {type(array).__name__}, not an array.")
        ensure(not array.dtype.hasobject, f"state_arrays()[{name!r}] holds Python objects, not numbers.")


@check("partial_fit", "learn_one")
def check_any_partition_gives_the_same_state(learner: Any) -> None:
    """All rows at once, in batches of any size, or one by one: the same state."""
    stream = adversarial_stream()
    length = len(stream.labels)
    probe = stream.rows[:200]
    whole = snapshot(learn(fresh(learner), *stream), probe)
    for words, sizes in _partitions(length).items():
        parted = snapshot(learn(fresh(learner), *stream, sizes), probe)
        ensure_same(whole, parted, f"partial_fit on {words} should give the state of partial_fit on all rows")
    each = snapshot(learn_each(fresh(learner), *stream), probe)
    ensure_same(whole, each, "learn_one on each row should give the state of partial_fit on all rows")


def _partitions(length: int) -> dict[str, list[int]]:
    cuts = [0, 1, LATE_CLASS, LATE_CLASS + 1, LATE_CATEGORY, LATE_CATEGORY + 7, LATE_VALUE, LATE_VALUE + 3, length]
    draw = np.random.default_rng(0)
    random_cuts = np.unique([0, length, *draw.integers(1, length, 40).tolist()])
    return {
        "single rows": [1] * length,
        "batches of 64": [64] * (length // 64) + [length % 64],
        "batches cut where something new comes": np.diff(cuts).tolist(),
        "batches of random sizes": np.diff(random_cuts).tolist(),
    }


@check("partial_fit", "learn_one")
def check_weighted_rows_in_any_partition_give_the_same_state(learner: Any) -> None:
    """Check the same for rows with weights."""
    stream = adversarial_stream(1000)
    weights = np.random.default_rng(4).choice([0.5, 1.0, 2.0, 3.0], len(stream.labels))
    probe = stream.rows[:200]
    whole = fresh(learner).partial_fit(*stream, sample_weight=weights)
    batches, each = fresh(learner), fresh(learner)
    for start in range(0, len(weights), 70):
        part = stream.part(start, start + 70)
        batches.partial_fit(*part, sample_weight=weights[start : start + 70])
        for row, label, weight in zip(*part, weights[start : start + 70].tolist(), strict=True):
            each.learn_one(row, label, weight)
    expected = snapshot(whole, probe)
    ensure_same(expected, snapshot(batches, probe), "weighted rows in batches should give the state of all at once")
    ensure_same(expected, snapshot(each, probe), "weighted rows one by one should give the state of all at once")


@check("save")
def check_saved_in_the_middle_goes_on_the_same(learner: Any) -> None:
    """Check that a learner that is saved and loaded goes on as if nothing had been."""
    from quercus.registry import LEARNERS
    from quercus.store import load

    if name_of(learner) not in LEARNERS:
        raise Skipped(f"quercus.load knows no {name_of(learner)}")

    def through_a_file(half_way: Any) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.quercus"
            half_way.save(path)
            return load(path)

    _ensure_goes_on(learner, through_a_file, "saved and loaded")


@check()
def check_pickled_in_the_middle_goes_on_the_same(learner: Any) -> None:
    """Check that a learner that is pickled and read again goes on as if nothing had been."""
    _ensure_goes_on(learner, lambda half_way: pickle.loads(pickle.dumps(half_way)), "pickled")


@check()
def check_copied_in_the_middle_goes_on_the_same(learner: Any) -> None:
    """Check that a deep copy goes on as the original does, and neither touches the other."""
    _ensure_goes_on(learner, copy.deepcopy, "copied")


def _ensure_goes_on(learner: Any, pass_through: Any, words: str) -> None:
    stream = adversarial_stream()
    probe = stream.rows[:200]
    original = learn(fresh(learner), *stream.part(0, MIDDLE))
    before = snapshot(original, probe)
    other = pass_through(original)
    ensure(type(other) is type(original), f"a {words} {name_of(learner)} became a {name_of(other)}.")
    ensure(parameters_equal(parameters_of(original), parameters_of(other)), f"a {words} learner has other parameters.")
    ensure_same(before, snapshot(other, probe), f"a {words} learner should be in the same state")
    learn(other, *stream.part(MIDDLE))
    ensure_same(before, snapshot(original, probe), f"learning should leave the learner that it was {words} from alone")
    learn(original, *stream.part(MIDDLE))
    ensure_same(
        snapshot(original, probe), snapshot(other, probe), f"a {words} learner should go on as the original does"
    )


def parameters_equal(first: dict[str, Any], second: dict[str, Any]) -> bool:
    """Return whether two sets of constructor arguments are the same, types and NaN included."""
    return first.keys() == second.keys() and all(_equal(value, second[name]) for name, value in first.items())


def _equal(a: Any, b: Any) -> bool:
    return a is b or (type(a) is type(b) and (repr(a) == repr(b) or bool(np.all(a == b))))


@check("partial_fit", "predict")
def check_predicting_changes_nothing(learner: Any) -> None:
    """Predicting leaves state, randomness and schema as they are, also for values never seen."""
    stream = adversarial_stream()
    probe = stream.rows[:200]
    asked, silent = fresh(learner), fresh(learner)
    strange = [{**row, "job": f"job {i}", "paid": i / 7, "age": None} for i, row in enumerate(stream.rows[:50])]
    for start in range(0, len(stream.labels), 500):
        part = stream.part(start, start + 500)
        learn(asked, *part)
        learn(silent, *part)
        before = snapshot(asked, probe)
        _predict_by_all_verbs(asked, [*stream.rows[:50], *strange])
        ensure_same(before, snapshot(asked, probe), "predicting should change nothing")
    ensure_same(snapshot(silent, probe), snapshot(asked, probe), "a learner that predicted should learn as before")


def _predict_by_all_verbs(learner: Any, rows: list[dict[str, Any]]) -> None:
    for name in ("predict", "predict_proba"):
        if has(learner, name):
            getattr(learner, name)(rows)
    for name in ("predict_one", "predict_proba_one"):
        if has(learner, name):
            for row in (*rows, {}):
                getattr(learner, name)(row)


@check("partial_fit")
def check_zero_weight_is_removal(learner: Any) -> None:
    """CheckRows of weight 0 are as good as not there, even if they hold the first of a class or category."""
    stream = adversarial_stream(1000)
    probe = stream.rows[:200]
    weights = np.random.default_rng(5).choice([0.0, 1.0], len(stream.labels), p=[0.3, 0.7])
    weights[0] = 1.0
    labels, rows = list(stream.labels), [dict(row) for row in stream.rows]
    for place in np.flatnonzero(weights == 0)[:5]:
        labels[place], rows[place]["job"] = "never", "astronaut"
    kept = [int(i) for i in np.flatnonzero(weights)]
    zero = fresh(learner).partial_fit(rows, labels, sample_weight=weights)
    removed = snapshot(learn(fresh(learner), [rows[i] for i in kept], [labels[i] for i in kept]), probe)
    ensure_same(removed, snapshot(zero, probe), "rows of weight 0 should be as good as removed")
    zero.partial_fit(rows[:50], labels[:50], sample_weight=np.zeros(50))
    ensure_same(removed, snapshot(zero, probe), "a batch of which all weights are 0 should change nothing")
    if has(learner, "learn_one"):
        each = fresh(learner)
        for row, label, weight in zip(rows, labels, weights.tolist(), strict=True):
            each.learn_one(row, label, weight)
        ensure_same(removed, snapshot(each, probe), "learn_one with weight 0 should change nothing")


@check("partial_fit", "predict")
def check_weight_two_counts_more(learner: Any) -> None:
    """Of two classes with as many rows, the one whose rows weigh twice is the answer."""
    X = np.ones((200, 2))
    for heavy in (0, 1):
        y = np.arange(200) % 2
        answers = fresh(learner).partial_fit(X, y, sample_weight=np.where(y == heavy, 2.0, 1.0)).predict(X[:1])
        if getattr(learner, "loss", None) is None:
            ensure(answers[0] == heavy, "a class whose rows weigh twice should be the answer.")


@check("learn_one")
def check_order_of_dict_keys_does_not_matter(learner: Any) -> None:
    """Check that a row is the same row in whatever order its features are named."""
    stream = adversarial_stream(1000)
    draw = np.random.default_rng(6)
    shuffled = [{name: row[name] for name in draw.permutation(list(row)).tolist()} for row in stream.rows]
    # The first row decides on the order of features.
    mixed = CheckRows([stream.rows[0], *shuffled[1:]], stream.labels)
    probe = stream.rows[:200]
    expected = snapshot(learn_each(fresh(learner), *stream), probe)
    ensure_same(
        expected, snapshot(learn_each(fresh(learner), *mixed), probe), "the order of a dict's keys should not matter"
    )
    if has(learner, "partial_fit"):
        batch = snapshot(learn(fresh(learner), *mixed), probe)
        ensure_same(expected, batch, "the order of keys in a list of dicts should not matter")


@check("get_params")
def check_constructor_arguments_stay(learner: Any) -> None:
    """Learning changes no constructor argument."""
    stream = adversarial_stream(1000)
    new = fresh(learner)
    given = parameters_of(new)
    before = copy.deepcopy(given)
    learn(new, *stream)
    after = parameters_of(new)
    for name, value in given.items():
        ensure(after.get(name) is value, f"learning replaced the constructor argument {name!r}.")
    ensure(parameters_equal(before, after), "learning changed what is inside a constructor argument.")


@check("partial_fit")
def check_inputs_are_left_alone(learner: Any) -> None:
    """Learning and predicting write into nothing that they are given."""
    stream = adversarial_stream(300)
    given = columns_of(stream.rows), list(stream.labels), np.ones(300)
    before = copy.deepcopy(given)
    new = fresh(learner).partial_fit(given[0], given[1], sample_weight=given[2])
    if has(new, "predict"):
        new.predict(given[0])
    ensure(given[0] == before[0] and given[1] == before[1], "learning changed the rows or labels that it was given.")
    ensure(np.array_equal(given[2], before[2]), "learning changed the weights that it was given.")
    X = np.ones((50, 2))
    X[::7] = np.nan
    kept = X.copy()
    fresh(learner).partial_fit(X, np.arange(50) % 2)
    ensure(np.array_equal(X, kept, equal_nan=True), "learning changed the array that it was given.")
