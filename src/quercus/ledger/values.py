"""Single values brought to the few types that a ledger keeps: feature values, times, and both as JSON."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from quercus.ledger.question import Question, Value
from quercus.schema.columns import REFUSED, plain, plain_keys
from quercus.schema.refusals import refuse_range, refuse_value

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# every whole number up to this one is a float
EXACT = 2**53

# strict: NaN and infinity have no place in JSON
to_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def read_features(features: Mapping[Any, Any]) -> dict[str, Value]:
    """Return the features of an example as the ledger keeps them."""
    if not isinstance(features, Mapping):
        raise TypeError(f"features is a {type(features).__name__}; give a dict of values by feature name.")
    kept: dict[str, Value] = {}
    for name, value in plain_keys(features).items():
        kind = type(value)
        # most values are kept as they are: a float that is neither NaN nor infinite, a bool, plain text
        is_plain = value - value == 0.0 if kind is float else kind is bool or (kind is str and value.isascii())
        kept[name] = value if is_plain else read_value(value, name)
        if not name.isascii():
            check_text(name, "a feature's name")
    return kept


def read_value(raw: Any, name: str, where: str = "") -> Value:
    """Return one feature value as float, bool, text, or None if it is missing."""
    value = plain(raw)
    if value is REFUSED:
        refuse_value(raw, f"column {name!r}", where)
    if type(value) is int:
        return read_whole(value, name, where)
    if type(value) is float and math.isinf(value):
        refuse_range(name, value, where)
    if type(value) is str:
        check_text(value, f"column {name!r}{where}")
    return value  # type: ignore[no-any-return]


def read_whole(value: int, name: str, where: str) -> float:
    """Return a whole number as a float, or refuse it if that changes it."""
    if abs(value) > EXACT:
        try:
            exact = int(float(value)) == value
        except OverflowError:
            refuse_range(name, value, where)
        if not exact:
            raise ValueError(
                f"column {name!r} holds {value}{where}, which no float holds exactly; write it as text, or round it."
            )
    return float(value)


def check_text(value: str, what: str) -> None:
    """Raise ValueError for text that has no UTF-8 form."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"{what} is {ascii(value)[:60]}, which is no valid Unicode (half a surrogate pair); decode it anew."
        ) from None


def check_name(value: Any, what: str) -> None:
    """Raise an error for what is no text that every database keeps; None is left out."""
    if value is None:
        return
    if not isinstance(value, str):
        raise TypeError(f"{what}={value!r} is a {type(value).__name__}; give text, or None.")
    check_text(value, what)
    if "\0" in value:
        raise ValueError(f"{what}={value!r} holds a zero character, which databases do not; leave it out.")


def to_micros(when: datetime | None, name: str = "time") -> int:
    """Return a time as microseconds since 1970 in UTC; None is now, and a time without a zone is in UTC."""
    if when is None:
        return time.time_ns() // 1000
    # the missing time of pandas is a datetime by type
    if not isinstance(when, datetime) or when != when:
        raise TypeError(f"{name}={when!r} is no time; give a datetime.datetime, best with its time zone.")
    since = (when if when.tzinfo is not None else when.replace(tzinfo=UTC)) - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def from_micros(micros: int) -> datetime:
    """Return the time of a number of microseconds since 1970 in UTC."""
    return _EPOCH + timedelta(microseconds=micros)


def known(value: float) -> float | None:
    """Return a number, None if it is NaN."""
    return None if value != value else value


def by_column(records: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return records, all of the same names, by column."""
    return {name: [record[name] for record in records] for name in (records[0] if records else ())}


def to_question(record: dict[str, Any]) -> Question:
    """Return a question from its record, in which times are microseconds and values JSON; the record is changed."""
    for name in ("asked_at", "expires", "answered_at"):
        record[name] = None if record[name] is None else from_micros(record[name])
    for name in ("prediction", "answer", "features"):
        record[name] = None if record[name] is None else json.loads(record[name])
    return Question(**record)
