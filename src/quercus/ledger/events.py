"""The events of a journal: what each call of a ledger writes, and how it is read back into memory.

Columns: ``event`` ("ask", "answer", "expire" or "change"), ``id`` of the question, ``time``, what was given with the
question, ``features``, ``prediction`` and ``answer`` as JSON (which keeps 1, true and "1" apart), and ``state``. An
"ask" that has an ``answer`` was answered at once. ``check`` is 0 but in the last row of a batch: there it is the CRC-32
of all bytes of the batch before it, and the last eight bytes of the batch.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from quercus.ledger.asking import NewQuestion, NewQuestions
from quercus.ledger.errors import LedgerFileError
from quercus.ledger.labels import LabelRows
from quercus.ledger.layout import ANSWERED, FEATURE, KINDS, NONE, OPEN
from quercus.ledger.memory import Memory
from quercus.ledger.question import Label, Value
from quercus.ledger.rows import block_to_json
from quercus.ledger.values import from_micros, known, read_features, read_value, to_json

FORMAT = "1"
FORMAT_KEY = b"quercus.ledger"
EVENTS = ("ask", "answer", "expire", "change")


@cache
def event_schema() -> Any:
    """Return the Arrow schema of a journal.

    Examples
    --------
    >>> event_schema().field("id").type
    DataType(int64)
    """
    import pyarrow as pa

    moment = pa.timestamp("us", "UTC")
    fields = {
        "event": pa.string(),
        "id": pa.int64(),
        "time": moment,
        "kind": pa.string(),
        "row": pa.int64(),
        "covered": pa.int64(),
        "price": pa.float64(),
        "worth": pa.float64(),
        "propensity": pa.float64(),
        "explored": pa.bool_(),
        "prediction": pa.string(),
        "probability": pa.float64(),
        "question": pa.string(),
        "expires": moment,
        "features": pa.large_string(),
        "answer": pa.string(),
        "refunded": pa.bool_(),
        "changed": pa.bool_(),
        "state": pa.binary(),
        "check": pa.int64(),
    }
    return pa.schema(fields.items(), metadata={FORMAT_KEY: FORMAT})


def batch_events(events: list[dict[str, Any]]) -> Any:
    """Return events that were made one by one as a record batch.

    Examples
    --------
    >>> batch_events([{"event": "expire", "id": 3, "refunded": True}]).num_rows
    1
    """
    import pyarrow as pa

    for event in events:
        event["check"] = 0
    return pa.RecordBatch.from_pylist(events, schema=event_schema())


def ask_event(id: int, asked: NewQuestion, state: bytes) -> dict[str, Any]:
    """Return the event of a question.

    Examples
    --------
    >>> asked = NewQuestion(1, 1, 0, NONE, 1.0, 2.5, 0.5, 0.9, False, "yes", "label", None, {"age": 41.0})
    >>> ask_event(7, asked, b"")["features"]
    '{"age":41.0}'
    """
    return {
        "event": "ask",
        "id": id,
        "time": asked.asked_at,
        "kind": asked.kind,
        "row": asked.row,
        "covered": asked.covered,
        "price": asked.price,
        "worth": known(asked.worth),
        "propensity": known(asked.propensity),
        "explored": asked.explored,
        "prediction": None if asked.prediction is None else to_json(asked.prediction),
        "probability": known(asked.probability),
        "question": asked.question,
        "expires": from_micros(asked.expires),
        "features": to_json(asked.features),
        "state": state or None,
    }


def batch_rows(first: int, rows: NewQuestions, state: bytes) -> Any:
    """Return many questions, the first of which gets this id, as a record batch.

    Examples
    --------
    >>> from quercus.ledger.asking import read_rows
    >>> from quercus.ledger.labels import LabelEncoder
    >>> given = dict(names=None, price=1.0, worth=math.nan, propensity=None, explored=False, probability=math.nan)
    >>> given |= dict(prediction=None, time=None, expires=None, answers=["yes", None])
    >>> rows = read_rows({"age": [41, 29]}, LabelEncoder(), row=[3, 9], covered=[3, 8], **given)
    >>> batch_rows(1, rows, b"").column("answer").to_pylist()
    ['"yes"', None]
    """
    import pyarrow as pa

    records, schema = rows.records, event_schema()
    count = len(records)
    columns: dict[str, Any] = {
        "event": ["ask"] * count,
        "id": np.arange(first, first + count),
        "time": records["asked_at"],
        "kind": ["label"] * count,
        "prediction": _labels_to_json(rows.predictions),
        "expires": pa.array(records["expires"], mask=records["expires"] == NONE).cast(schema.field("expires").type),
        "features": block_to_json(rows.features),
        "answer": _labels_to_json(rows.answers),
        "state": [None] * (count - 1) + [state or None],
        "check": np.zeros(count, np.int64),
    }
    for name in ("row", "covered", "price", "explored"):
        columns[name] = np.ascontiguousarray(records[name])
    for name in ("worth", "propensity", "probability"):
        columns[name] = pa.array(records[name], from_pandas=True)
    arrays = [
        columns[field.name]
        if isinstance(columns.get(field.name), pa.Array)
        else pa.array(columns.get(field.name, [None] * count), field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _labels_to_json(labels: LabelRows) -> list[str | None]:
    texts: list[str | None] = [*map(to_json, labels.values), None]
    return [texts[code] for code in labels.codes.tolist()]


class EventReplay:
    """Events of a file on their way into memory.

    Parameters
    ----------
    memory
        Where they go.
    where
        Names the file in messages.

    Examples
    --------
    >>> EventReplay(Memory(), "journal").memory.asked
    0
    """

    def __init__(self, memory: Memory, where: str) -> None:
        self.memory = memory
        self.where = where
        self._labels: dict[str, Label] = {}

    def run(self, table: Any) -> None:
        """Take over the events of a table or batch.

        Examples
        --------
        >>> memory = Memory()
        >>> asked = NewQuestion(1, 1, 0, NONE, 1.0, 2.5, 0.5, 0.9, False, "yes", "label", None, {"age": 41.0})
        >>> EventReplay(memory, "journal").run(batch_events([ask_event(1, asked, b"")]))
        >>> memory.get(1).features
        {'age': 41.0}
        """
        import pyarrow as pa

        columns, names = [], table.schema.names
        for field, column in zip(table.schema, table.columns, strict=True):
            # as numbers, because Python's times are slow to make and to take apart
            columns.append((column.cast(pa.int64()) if pa.types.is_timestamp(field.type) else column).to_pylist())
        for values in zip(*columns, strict=True):
            event = dict(zip(names, values, strict=True))
            try:
                self._run_one(event)
            except (ValueError, TypeError, KeyError, RecursionError) as error:
                raise LedgerFileError(
                    f"{self.where} holds the event {event['event']!r} of question {event['id']}, which makes no sense: "
                    f"{error} Restore the file from a copy."
                ) from error

    def _run_one(self, event: Mapping[str, Any]) -> None:
        memory, id = self.memory, event["id"]
        if event["event"] == "ask":
            if id != memory.asked + 1:
                raise ValueError(f"question {memory.asked + 1} comes next.")
            memory.add(self._read_ask(event))
            if event["answer"] is not None:
                self._answer(event)
        elif event["event"] not in EVENTS or not 1 <= id <= memory.asked:
            raise ValueError("there is no such question or event.")
        elif event["event"] == "answer":
            self._answer(event)
        elif event["event"] == "expire":
            self._check_status(id, OPEN)
            memory.expire([id], bool(event["refunded"]))
        else:
            self._check_status(id, ANSWERED)
            memory.change(id, bool(event["changed"]))
        memory.state = event["state"] or memory.state

    def _answer(self, event: Mapping[str, Any]) -> None:
        id = event["id"]
        self._check_status(id, OPEN)
        if self.memory.records[id - 1]["kind"] == FEATURE:
            value: Value = read_value(json.loads(event["answer"]), "answer")
        else:
            value = self._read_label(event["answer"])
        if value is None or event["time"] is None:
            raise ValueError("the answer or its time is missing.")
        self.memory.answer(id, value, event["time"])

    def _check_status(self, id: int, status: int) -> None:
        if self.memory.records[id - 1]["status"] != status:
            raise ValueError("the question's status is another.")

    def _read_ask(self, event: Mapping[str, Any]) -> NewQuestion:
        if event["kind"] not in KINDS:
            raise ValueError(f"its kind is {event['kind']!r}.")
        if None in (event["row"], event["covered"], event["price"], event["explored"], event["time"]):
            raise ValueError("a number is missing.")
        return NewQuestion(
            row=event["row"],
            covered=event["covered"],
            asked_at=event["time"],
            expires=NONE if event["expires"] is None else event["expires"],
            price=event["price"],
            worth=_or_nan(event["worth"]),
            propensity=_or_nan(event["propensity"]),
            probability=_or_nan(event["probability"]),
            explored=event["explored"],
            prediction=None if event["prediction"] is None else self._read_label(event["prediction"]),
            kind=event["kind"],
            question=event["question"],
            features=read_features(json.loads(event["features"])),
        )

    def _read_label(self, text: str) -> Label:
        label = self._labels.get(text)
        if label is None:
            label = self._labels[text] = self.memory.labels.check(json.loads(text), "the label")
        return label


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value
