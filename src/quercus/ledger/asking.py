"""What is given with a question, checked and brought to the form in which it is kept."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quercus.arguments import check_choice, check_number
from quercus.ledger.features import Block
from quercus.ledger.labels import LabelEncoder, LabelRows, type_of
from quercus.ledger.layout import ANSWERED, KINDS, LABEL, NONE, OPEN, QUESTION, UNKNOWN_CHANGE
from quercus.ledger.question import Label, Value
from quercus.ledger.rows import read_block
from quercus.ledger.values import check_text, read_features, to_micros
from quercus.schema.refusals import short

# Beyond any money, and far from where sums overflow.
_DEAREST = 1e100
# Probabilities that were added up may be this far above 1.
_ROUNDING = 1e-9


class NewQuestion(NamedTuple):
    """One question as it is asked; floats are NaN and times `NONE` where unknown."""

    row: int
    covered: int
    asked_at: int
    expires: int
    price: float
    worth: float
    propensity: float
    probability: float
    explored: bool
    prediction: Label | None
    kind: str
    question: str | None
    features: dict[str, Value]


class NewQuestions(NamedTuple):
    """Many questions as they are asked: records without codes of labels, the labels and the features."""

    records: NDArray[Any]
    predictions: LabelRows
    answers: LabelRows
    features: Block


def read_asked(
    features: Any,
    encoder: LabelEncoder,
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
    time: datetime | None,
    expires: datetime | None,
) -> NewQuestion:
    """Check one question; the parameters are those of `Ledger.ask`, and the labels it is compared with.

    Examples
    --------
    >>> given = dict(price=1.0, worth=2.0, propensity=0.5, explored=False, prediction=None, probability=math.nan)
    >>> given |= dict(kind="label", question=None, time=None, expires=None)
    >>> read_asked({"age": 41}, LabelEncoder(), row=3, covered=4, **given)
    Traceback (most recent call last):
        ...
    ValueError: covered=4 is out of range; give a number of at least 0 and at most 3.
    """
    check_choice("kind", kind, KINDS)
    _check_question(kind, question)
    return NewQuestion(
        row=_read_count("row", row, 1, math.inf),
        covered=_read_count("covered", covered, 0, row),
        asked_at=to_micros(time),
        expires=NONE if expires is None else to_micros(expires, "expires"),
        price=_read_number("price", price, 0.0, _DEAREST),
        worth=_read_optional("worth", worth, -math.inf, math.inf),
        propensity=_read_propensity(propensity),
        probability=min(_read_optional("probability", probability, 0.0, 1.0 + _ROUNDING), 1.0),
        explored=_read_flag("explored", explored),
        prediction=None if prediction is None else encoder.check(prediction, "the prediction"),
        kind=kind,
        question=question,
        features=read_features(features),
    )


def read_rows(
    table: Any,
    encoder: LabelEncoder,
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
    time: datetime | None,
    expires: datetime | None,
    answers: Any,
) -> NewQuestions:
    """Check many questions; the parameters are those of `Ledger.ask_rows`, and the labels it is compared with.

    Examples
    --------
    >>> given = dict(names=None, price=1.0, worth=math.nan, propensity=None, explored=False, probability=math.nan)
    >>> given |= dict(prediction=None, time=None, expires=None, answers=["yes", None])
    >>> rows = read_rows({"age": [41, 29]}, LabelEncoder(), row=[3, 9], covered=[3, 8], **given)
    >>> rows.records["status"].tolist()
    [1, 0]
    """
    features = read_block(table, names)
    count = features.rows
    predictions = encoder.read(prediction, "prediction", count)
    answered = encoder.read(answers, "answers", count, type_of(predictions))
    records = np.empty(count, QUESTION)
    records["row"] = _read_counts("row", row, count, 1)
    records["covered"] = _read_counts("covered", covered, count, 0)
    _refuse_first("covered", records["covered"], records["covered"] > records["row"], "a number of at most its row")
    records["price"] = _read_numbers("price", price, count, 0.0, _DEAREST, optional=False)
    records["worth"] = _read_numbers("worth", worth, count, -math.inf, math.inf)
    records["propensity"] = _read_numbers("propensity", propensity, count, 0.0, 1.0)
    _refuse_first("propensity", records["propensity"], records["propensity"] == 0.0, "a number above 0")
    probability = _read_numbers("probability", probability, count, 0.0, 1.0 + _ROUNDING)
    records["probability"] = np.minimum(probability, 1.0)
    records["explored"] = _read_flags("explored", explored, count)
    records["asked_at"] = now = to_micros(time)
    records["expires"] = NONE if expires is None else to_micros(expires, "expires")
    is_answered = answered.codes >= 0
    records["status"] = np.where(is_answered, ANSWERED, OPEN)
    records["answered_at"] = np.where(is_answered, now, NONE)
    for name, value in (("kind", LABEL), ("refunded", False), ("changed", UNKNOWN_CHANGE), ("answer_order", NONE)):
        records[name] = value
    return NewQuestions(records, predictions, answered, features)


def _check_question(kind: str, question: Any) -> None:
    if kind == "label" and question is not None:
        raise ValueError(f"question={question!r} names a feature and kind is 'label'; give kind='feature' with it.")
    if kind == "feature" and not isinstance(question, str):
        raise ValueError(f"question={question!r} names no feature; say which one is asked for.")
    if question is not None:
        check_text(question, "question")


def _read_count(name: str, value: Any, least: int, most: float) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name}={value!r} is no whole number; give the number of rows.")
    check_number(name, int(value), least=least, most=min(most, 2.0**62))
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


def _read_counts(name: str, values: Any, count: int, least: int) -> NDArray[Any]:
    array = _read_array(name, values, count, "iu")
    _refuse_first(name, array, (array < least) | (array > 2**62), f"a number of at least {least}")
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


def _read_flags(name: str, values: Any, count: int) -> NDArray[Any]:
    return _read_array(name, values, count, "b")


def _refuse_first(name: str, array: NDArray[Any], wrong: NDArray[np.bool], remedy: str) -> None:
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(f"{name} holds {array[row].item()} in row {row}; give {remedy}.")
