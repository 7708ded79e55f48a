"""Bad input is refused with a clear error, and changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from quercus.checks.contract import check, ensure, ensure_same, fresh, has, learn, name_of, parameters_of, snapshot
from quercus.checks.data import CheckRows, adversarial_stream, columns_of

Call = Callable[[Any], Any]
LEARNED = 600


@check("partial_fit")
def check_refused_input_changes_nothing(learner: Any) -> None:
    """Bad batches and rows raise ValueError or TypeError; state, schema and all that is learned later stay the same."""
    stream = adversarial_stream(1100)
    probe = stream.rows[:50]
    bothered, left_alone = (learn(fresh(learner), *stream.part(0, LEARNED)) for _ in range(2))
    before = snapshot(bothered, probe)
    for words, call in bad_calls(learner, stream.part(LEARNED, LEARNED + 20)):
        _ensure_refused(bothered, words, call)
        ensure_same(before, snapshot(bothered, probe), f"refusing {words} should change nothing")
    learn(bothered, *stream.part(LEARNED))
    learn(left_alone, *stream.part(LEARNED))
    ensure_same(
        snapshot(left_alone, probe),
        snapshot(bothered, probe),
        "a learner that refused input should go on as one that was never given it",
    )


@check("partial_fit", "predict")
def check_refused_first_input_leaves_it_unfitted(learner: Any) -> None:
    """Check that a refused first batch leaves a learner that has learned nothing and learns as a new one does."""
    stream = adversarial_stream(600)
    probe = stream.rows[:50]
    new = fresh(learner)
    rows = [dict(row) for row in stream.rows[:20]]
    rows[17]["amount"] = np.inf
    first_batches = {
        "inf": _calling("partial_fit", rows, stream.labels[:20]),
        "a missing label": _calling("partial_fit", stream.rows[:20], [*stream.labels[:19], None]),
        "continuous labels": _calling("partial_fit", stream.rows[:4], [0.5, 1.25, 2.5, 0.1]),
    }
    for words, call in first_batches.items():
        _ensure_refused(new, words, call)
        _ensure_unfitted(new, stream.rows[:2], words)
    expected = snapshot(learn(fresh(learner), *stream), probe)
    ensure_same(expected, snapshot(learn(new, *stream), probe), "a learner should learn as a new one after a refusal")


@check("partial_fit")
def check_errors_name_column_and_row(learner: Any) -> None:
    """Check that the error for a bad cell says where it is."""
    stream = adversarial_stream(100)
    new = learn(fresh(learner), *stream)
    for bad in (np.inf, "much"):
        rows = [dict(row) for row in stream.rows[:20]]
        rows[17]["amount"] = bad
        error = _ensure_refused(new, repr(bad), _calling("partial_fit", rows, stream.labels[:20]))
        for part in ("amount", "17"):
            ensure(
                part in str(error), f"the error for {bad!r} in column 'amount', row 17 does not say {part!r}: {error}"
            )


def _calling(method: str, *arguments: Any, **named: Any) -> Call:
    return lambda learner: getattr(learner, method)(*arguments, **named)


def _ensure_refused(learner: Any, words: str, call: Call) -> Exception:
    try:
        call(learner)
    except (ValueError, TypeError) as error:
        ensure(str(error).strip(), f"{name_of(learner)} refused {words} without a word.")
        return error
    except Exception as error:
        raise AssertionError(
            f"{name_of(learner)} should refuse {words} with ValueError or TypeError; "
            f"it raised {type(error).__name__}: {error}"
        ) from error
    raise AssertionError(f"{name_of(learner)} accepted {words}; it should refuse it.")


def _ensure_unfitted(learner: Any, rows: list[dict[str, Any]], words: str) -> None:
    from sklearn.exceptions import NotFittedError

    try:
        learner.predict(rows)
    except NotFittedError:
        return
    raise AssertionError(f"after {words} was refused as a first batch, predict should still raise NotFittedError.")


def bad_calls(learner: Any, good: CheckRows) -> Iterator[tuple[str, Call]]:
    """Yield what is wrong and the call that does it, for a learner that has learned the adversarial stream.

    Parameters
    ----------
    learner
        Tells which methods there are.
    good
        Twenty good rows that come next, to be spoiled.
    """
    # CheckRows before the bad one bring a new category and a new class, which must not stay behind.
    rows = [{**row, "job": "diver"} if i == 5 else dict(row) for i, row in enumerate(good.rows)]
    labels = [*good.labels[:5], "never", *good.labels[6:]]
    closed = parameters_of(learner).get("features") != "open"
    yield from _bad_tables(rows, labels, closed=closed)
    yield from _bad_labels(rows, labels)
    yield from _bad_weights(rows, labels)
    if has(learner, "learn_one"):
        yield from _bad_single_rows(rows[0], labels[0], closed=closed)
    if has(learner, "predict"):
        yield from _bad_questions(rows)
    if has(learner, "test_then_learn"):
        spoiled = _spoil(rows, 19, amount=np.inf)
        yield "inf in test_then_learn", _calling("test_then_learn", spoiled, labels)


def _spoil(rows: list[dict[str, Any]], place: int, **cells: Any) -> list[dict[str, Any]]:
    return [{**row, **cells} if i == place else row for i, row in enumerate(rows)]


def _bad_tables(rows: list[dict[str, Any]], labels: list[Any], *, closed: bool) -> Iterator[tuple[str, Call]]:
    import pyarrow as pa
    from scipy.sparse import csr_matrix

    columns = columns_of(rows)
    tables: dict[str, Any] = {
        "an infinite value": _spoil(rows, 19, amount=np.inf),
        "a text in a numeric column": _spoil(rows, 19, amount="much"),
        "a number in a nominal column": _spoil(rows, 19, job=3.5),
        "too few columns": np.ones((20, 2)),
        "too many columns": np.ones((20, 9)),
        "a row instead of a table": np.ones(6),
        "three dimensions": np.ones((20, 6, 2)),
        "complex numbers": np.ones((20, 6), dtype=np.complex128),
        "a sparse matrix": csr_matrix(np.ones((20, 6))),
        "a text instead of a table": "amount",
        "None instead of a table": None,
        "a number instead of a table": 3.0,
        "one dict instead of a table": dict(rows[0]),
        "columns of different lengths": {**columns, "age": columns["age"][:7]},
    }
    if closed:
        tables["an unknown column"] = [{**row, "shoe size": 44.0} for row in rows]
        tables["a table without a column"] = pa.table({name: columns[name] for name in columns if name != "age"})
    for words, table in tables.items():
        yield words, _calling("partial_fit", table, labels)
    yield "no rows at all", _calling("partial_fit", np.ones((0, 6)), [])


def _bad_labels(rows: list[dict[str, Any]], labels: list[Any]) -> Iterator[tuple[str, Call]]:
    vectors: dict[str, Any] = {
        "too few labels": labels[:19],
        "too many labels": [*labels, "yes"],
        "a missing label": [*labels[:19], None],
        "a label that is NaN": [*labels[:19], float("nan")],
        "an integer among labels that are texts": [*labels[:19], 1],
        "labels of another type": list(range(20)),
        "continuous labels": [i + 0.5 for i in range(20)],
        "two columns of labels": [[label, label] for label in labels],
        "no labels": None,
    }
    for words, vector in vectors.items():
        yield words, _calling("partial_fit", rows, vector)


def _bad_weights(rows: list[dict[str, Any]], labels: list[Any]) -> Iterator[tuple[str, Call]]:
    vectors: dict[str, Any] = {
        "a negative weight": [1.0] * 19 + [-1.0],
        "a weight that is NaN": [1.0] * 19 + [float("nan")],
        "an infinite weight": [1.0] * 19 + [float("inf")],
        "too few weights": [1.0] * 19,
        "weights in two dimensions": np.ones((20, 2)),
    }
    for words, vector in vectors.items():
        yield words, _calling("partial_fit", rows, labels, sample_weight=vector)


def _bad_single_rows(row: dict[str, Any], label: Any, *, closed: bool) -> Iterator[tuple[str, Call]]:
    good = {**row, "job": "diver"}
    calls: dict[str, tuple[Any, ...]] = {
        "an infinite value in learn_one": ({**good, "amount": float("-inf")}, "never"),
        "a text in a numeric feature in learn_one": ({**good, "amount": "much"}, "never"),
        "a list in learn_one": ([1.0, 2.0], label),
        "a missing label in learn_one": (good, None),
        "a label of another type in learn_one": (good, 3),
        "a negative weight in learn_one": (good, "never", -1.0),
        "a weight that is NaN in learn_one": (good, "never", float("nan")),
    }
    if closed:
        calls["an unknown feature in learn_one"] = ({**good, "shoe size": 44.0}, "never")
    for words, arguments in calls.items():
        yield words, _calling("learn_one", *arguments)


def _bad_questions(rows: list[dict[str, Any]]) -> Iterator[tuple[str, Call]]:
    tables: dict[str, Any] = {
        "an infinite value in predict": _spoil(rows, 19, amount=np.inf),
        "too few columns in predict": np.ones((20, 2)),
        "no rows in predict": np.ones((0, 6)),
        "a row instead of a table in predict": np.ones(6),
    }
    for words, table in tables.items():
        yield words, _calling("predict", table)
