"""What is given with a question, checked and brought to the form in which it is kept."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quercus.arguments import check_choice, check_number
from quercus.ledger.features import Block, block_to_json, read_block
from quercus.ledger.labels import LabelRows, LabelType, type_of
from quercus.ledger.question import Question
from quercus.ledger.values import check_name, known, read_features, to_json, to_micros, to_question
from quercus.schema.refusals import short

KINDS = ("label", "feature")
# Beyond any money, and far from where sums overflow.
_DEAREST = 1e100
# Probabilities that were added up may be this far above 1.
_ROUNDING = 1e-9
_MOST = 2**62


class NewQuestions(NamedTuple):
    """Many questions as they are asked: numbers by column, NaN where unknown, the labels and the features."""

    numbers: dict[str, NDArray[Any]]
    predictions: LabelRows
    answers: LabelRows
    features: Block
    asked_at: int
    expires: int | None

    def total_price(self) -> Fraction:
        """Return what they cost together, without rounding."""
        prices, counts = np.unique(self.numbers["price"], return_counts=True)
        return sum((Fraction(p) * c for p, c in zip(prices.tolist(), counts.tolist(), strict=True)), Fraction())

    def columns(self) -> dict[str, Any]:
        """Return what a table holds of them, but for ids, keys, features and the order of answers."""
        rows = self.features.rows
        answers = labels_to_json(self.answers)
        return {
            **self.numbers,
            "kind": ["label"] * rows,
            "question": [None] * rows,
            "asked_at": [self.asked_at] * rows,
            "expires": [self.expires] * rows,
            "prediction": labels_to_json(self.predictions),
            "status": ["open" if answer is None else "answered" for answer in answers],
            "answered_at": [None if answer is None else self.asked_at for answer in answers],
            "answer": answers,
            "refunded": [False] * rows,
            "changed": [None] * rows,
        }

    def records(
        self, first: int, first_row: int, answered: int
    ) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        """Return them as columns of rows, questions and answers, which are numbered from these on."""
        columns = self.columns() | {name: _to_list(values) for name, values in self.numbers.items()}
        columns["place"] = columns.pop("row")
        count = self.features.rows
        came = [i for i, answer in enumerate(columns["answer"]) if answer is not None]
        orders: list[int | None] = [None] * count
        for order, i in enumerate(came, answered + 1):
            orders[i] = order
        rows = {"id": range(first_row, first_row + count), "features": block_to_json(self.features)}
        questions = columns | {"id": range(first, first + count), "row_id": rows["id"], "answer_order": orders}
        questions |= {"learned": [answered] * count, "skips": [0] * count}
        answers = {
            "question_id": [first + i for i in came],
            "came_at": [self.asked_at] * len(came),
            "value": [columns["answer"][i] for i in came],
        }
        return rows, questions, answers


def labels_to_json(labels: LabelRows) -> list[str | None]:
    """Return labels as JSON, None where there is none."""
    texts: list[str | None] = [*map(to_json, labels.values), None]
    return [texts[code] for code in labels.codes.tolist()]


def _to_list(values: NDArray[Any]) -> list[Any]:
    found: list[Any] = values.tolist()
    return found if values.dtype.kind != "f" else [None if value != value else value for value in found]


def read_asked(
    features: Any,
    labels: LabelType,
    *,
    row: int,
    covered: int,
    price: float,
    worth: float,
    propensity: float | None,
    explored: bool,
    prediction: Any,
    probability: float,
    kind: str,
    question: str | None,
    key: str | int | None,
    time: datetime | None,
    expires: datetime | None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Check one question, and return records of its row and of itself, without numbers.

    The parameters are those of `Ledger.ask`, and the labels it is compared with.
    """
    check_choice("kind", kind, KINDS)
    _check_question(kind, question)
    values = {
        "kind": kind,
        "question": question,
        "place": _read_count("row", row),
        "covered": _read_count("covered", covered),
        "asked_at": to_micros(time),
        "expires": None if expires is None else to_micros(expires, "expires"),
        "price": _read_number("price", price, 0.0, _DEAREST),
        "worth": known(_read_optional("worth", worth, -math.inf, math.inf)),
        "propensity": known(_read_propensity(propensity)),
        "probability": known(min(_read_optional("probability", probability, 0.0, 1.0 + _ROUNDING), 1.0)),
        "explored": _read_flag("explored", explored),
        "prediction": None if prediction is None else to_json(labels.check(prediction, "the prediction")),
        "status": "open",
        "refunded": False,
        "skips": 0,
    }
    name = None if key is None else read_key(key)
    return {"key": name, "features": to_json(read_features(features))}, values


def make_question(values: Mapping[str, Any], row: Mapping[str, Any]) -> Question:
    """Return a question that was just asked, from the records of itself and its row."""
    names = ("id", "kind", "covered", "asked_at", "expires", "price", "worth", "propensity", "explored", "prediction")
    kept: dict[str, Any] = {name: values[name] for name in (*names, "probability", "question", "status", "refunded")}
    kept |= dict.fromkeys(("answered_at", "answer", "answer_order", "changed"))
    kept |= {"key": row["key"], "case": values.get("case_id"), "row": values["place"], "features": row["features"]}
    return to_question(kept)


def read_key(key: Any) -> str:
    """Return the application's name of a row as text."""
    if isinstance(key, bool) or not (isinstance(key, str) or hasattr(key, "__index__")):
        raise TypeError(f"key={key!r} is a {type(key).__name__}; give text or a whole number.")
    text = key if isinstance(key, str) else str(int(key))
    check_name(text, "key")
    return text


def read_rows(
    table: Any,
    labels: LabelType,
    *,
    names: Sequence[str] | None,
    row: Any,
    covered: Any,
    price: Any,
    worth: Any,
    propensity: Any,
    explored: Any,
    prediction: Any,
    probability: Any,
    time: datetime | None = None,
    expires: datetime | None = None,
    answers: Any,
) -> NewQuestions:
    """Check many questions; the parameters are those of `Ledger.ask_rows`, and the labels it is compared with."""
    features = read_block(table, names)
    count = features.rows
    predictions = labels.read(prediction, "prediction", count)
    answered = labels.read(answers, "answers", count, type_of(predictions))
    numbers: dict[str, NDArray[Any]] = {
        "row": _read_counts("row", row, count),
        "covered": _read_counts("covered", covered, count),
        "price": _read_numbers("price", price, count, 0.0, _DEAREST, optional=False),
        "worth": _read_numbers("worth", worth, count, -math.inf, math.inf),
        "propensity": _read_numbers("propensity", propensity, count, 0.0, 1.0),
        "explored": _read_array("explored", explored, count, "b"),
        "probability": np.minimum(_read_numbers("probability", probability, count, 0.0, 1.0 + _ROUNDING), 1.0),
    }
    _refuse_first("propensity", numbers["propensity"], numbers["propensity"] == 0.0, "a number above 0")
    until = None if expires is None else to_micros(expires, "expires")
    return NewQuestions(numbers, predictions, answered, features, to_micros(time), until)


def _check_question(kind: str, question: Any) -> None:
    if kind == "label" and question is not None:
        raise ValueError(f"question={question!r} names a feature and kind is 'label'; give kind='feature' with it.")
    if kind == "feature" and not isinstance(question, str):
        raise ValueError(f"question={question!r} names no feature; say which one is asked for.")
    check_name(question, "question")


def _read_count(name: str, value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name}={value!r} is no whole number; give the number of rows.")
    check_number(name, int(value), least=0)
    if int(value) > _MOST:
        raise ValueError(f"{name}={value!r} is beyond 62 bits; give the number of rows.")
    return int(value)


def _read_number(name: str, value: Any, least: float, most: float) -> float:
    check_number(name, value, least=least, most=most)
    return float(value)


def _read_optional(name: str, value: Any, least: float, most: float) -> float:
    """Return a number, NaN if it is unknown."""
    if value is None:
        return math.nan
    if isinstance(value, bool | str) or not hasattr(value, "__float__"):
        raise TypeError(f"{name}={value!r} is no number; give a number, or NaN if it is unknown.")
    number = float(value)
    if not number != number and not least <= number <= most:
        raise ValueError(f"{name}={value!r} is out of range; give a number from {least:g} to {most:g}.")
    return number


def _read_propensity(value: Any) -> float:
    number = _read_optional("propensity", value, 0.0, 1.0)
    if number == 0.0:
        raise ValueError("propensity=0 is impossible for a question that was asked; give a number above 0.")
    return number


def _read_flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool | np.bool):
        raise TypeError(f"{name}={value!r} is neither True nor False.")
    return bool(value)


def _read_array(name: str, values: Any, count: int, kinds: str) -> NDArray[Any]:
    array = np.asarray(values)
    if array.dtype.kind not in kinds:
        raise TypeError(f"{name} is {short(values)}, of type {array.dtype}; give one value for all rows, or an array.")
    if array.ndim and array.shape != (count,):
        raise ValueError(f"{name} has shape {array.shape} and there are {count} rows; give one value per row.")
    return np.broadcast_to(array, (count,))


def _read_counts(name: str, values: Any, count: int) -> NDArray[Any]:
    array = _read_array(name, values, count, "iu")
    _refuse_first(name, array, (array < 0) | (array > _MOST), "a number of at least 0")
    return array


def _read_numbers(
    name: str, values: Any, count: int, least: float, most: float, optional: bool = True
) -> NDArray[np.float64]:
    if optional and values is None:
        return np.full(count, np.nan)
    if optional and isinstance(values, list | tuple):
        values = [math.nan if value is None else value for value in values]
    array = _read_array(name, values, count, "fiu").astype(np.float64)
    wrong = (array < least) | (array > most) if optional else ~((array >= least) & (array <= most))
    _refuse_first(name, array, wrong, f"a number from {least:g} to {most:g}")
    return array


def _refuse_first(name: str, array: NDArray[Any], wrong: NDArray[np.bool], remedy: str) -> None:
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(f"{name} holds {array[row].item()} in row {row}; give {remedy}.")
