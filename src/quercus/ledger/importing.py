"""Ledgers of the first edition, read into a database: folders of journals, folders of askers, Parquet files.

A journal is an Arrow IPC stream of events, batch after batch; each ends with the CRC-32 of all its bytes before.
"""

from __future__ import annotations

import json
import re
import struct
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from quercus.explain.words import plural
from quercus.ledger.errors import JournalWarning, LedgerFileError
from quercus.ledger.ledger import Ledger
from quercus.ledger.log import QuestionLog
from quercus.ledger.question import Question
from quercus.ledger.values import to_json, to_micros
from quercus.ledger.view import PathLike

_JOURNAL = re.compile(r"journal-(\d{6,})\.arrows")
_MODEL = re.compile(r"model-(\d+)\.quercus")
_CHECK_BYTES = 8
_MESSAGE_START = b"\xff\xff\xff\xff"
# Before the state of an asker: a checksum; questions, answers and money at that moment.
_HEAD = struct.Struct("<Iqqd")
# A pool sampler's state: its beginning, and its length up to the rows, of which the last number is the first id.
_POOL_MAGIC, _NEW_POOL_MAGIC, _POOL_HEAD = b"quercus.pool.1", b"quercus.pool.2", struct.calcsize("<14s16s32sddddqqq")


def import_ledger(source: PathLike, store: PathLike) -> Ledger:
    """Read a ledger of the first edition, or a Parquet file, into a new ledger, and return that.

    Parameters
    ----------
    source
        The folder of a ledger or of an `Asker`, or a Parquet file. It is not changed. A Parquet file holds questions
        and their answers: cases, other people's answers, what was corrected, models and budgets are in the ledger
        alone that wrote it, of which a copy keeps them.
    store
        As in `Ledger`; nothing may be in it yet.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Ledger() as old:
    ...         id = old.ask({"age": 41}, row=0, covered=1)
    ...         old.write(f"{folder}/old.parquet")
    ...     with import_ledger(f"{folder}/old.parquet", f"{folder}/new.db") as new:
    ...         new.question(1).features
    {'age': 41.0}
    """
    path = Path(source)
    asker = path if (path / "ledger").is_dir() else None
    kept = _Kept()
    if QuestionLog.is_file(path):
        _read_log(QuestionLog.read(path), kept)
    elif path.is_dir():
        for journal in _find_journals(path if asker is None else asker / "ledger"):
            for batch in _read_journal(journal):
                kept.run(batch, journal)
    else:
        raise LedgerFileError(f"there is no '{path}'; give the folder of an older ledger, or a Parquet file.")
    ledger = Ledger(store)
    try:
        if ledger.asked:
            raise LedgerFileError(
                f"the ledger {ledger._database.name} holds {ledger.asked} questions already; give a new one."
            )
        if asker is not None:
            _read_asker(asker, kept)
        kept.write(ledger)
    except BaseException:
        ledger.close()
        raise
    return ledger


class _Kept:
    """Records on their way into tables."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.row_of_key: dict[str, int] = {}
        self.questions: list[dict[str, Any]] = []
        self.answers: list[dict[str, Any]] = []
        self.snapshots: list[tuple[int, bytes]] = []
        self.state = b""
        self.about: str | None = None

    def run(self, batch: Any, journal: Path) -> None:
        """Take over the events of a batch."""
        import pyarrow as pa

        columns = [
            (column.cast(pa.int64()) if pa.types.is_timestamp(field.type) else column).to_pylist()
            for field, column in zip(batch.schema, batch.columns, strict=True)
        ]
        for values in zip(*columns, strict=True):
            event = dict(zip(batch.schema.names, values, strict=True))
            try:
                self._run_one(event)
            except (ValueError, TypeError, KeyError, IndexError) as error:
                raise LedgerFileError(
                    f"'{journal}' holds the event {event['event']!r} of question {event['id']}, which makes no sense "
                    f"({error}); restore the file from a copy."
                ) from error

    def _run_one(self, event: dict[str, Any]) -> None:
        what, id = event["event"], event["id"]
        if what == "ask":
            if id != len(self.questions) + 1:
                raise ValueError(f"question {len(self.questions) + 1} comes next")
            self.ask(event, event["features"])
            if event["answer"] is not None:
                self.answer(id, event["answer"], event["time"])
        elif not 1 <= id <= len(self.questions):
            raise ValueError("there is no such question")
        elif what == "answer":
            self.answer(id, event["answer"], event["time"])
        elif what == "expire":
            self._expect(id, "open").update(status="expired", refunded=bool(event["refunded"]))
        elif what == "change":
            self._expect(id, "answered").update(changed=bool(event["changed"]))
        else:
            raise ValueError("there is no such event")
        self.state = self._read_state(event["state"]) if event["state"] else self.state

    def _read_state(self, state: bytes) -> bytes:
        """Return the state of whoever asked; a pool sampler's told the rows of its questions, from an id on."""
        if not state.startswith(_POOL_MAGIC):
            return state
        (first,) = struct.unpack("<q", state[_POOL_HEAD - 8 : _POOL_HEAD])
        rows = struct.unpack(f"<{(len(state) - _POOL_HEAD) // 8}q", state[_POOL_HEAD:])
        for question, row in zip(self.questions[first - 1 :], rows, strict=True):
            question["place"] = row
        return _NEW_POOL_MAGIC + state[len(_POOL_MAGIC) : _POOL_HEAD - 8]

    def ask(self, event: dict[str, Any], features: str) -> None:
        """Add a question; rows were counted from 1."""
        json.loads(features)
        id, key = len(self.questions) + 1, event.get("key")
        # Several questions may be about the row of a key, as far as it was known when they were asked.
        row_id = len(self.rows) + 1 if key is None else self.row_of_key.setdefault(key, len(self.rows) + 1)
        names = ("kind", "covered", "price", "worth", "propensity", "explored", "prediction", "probability", "question")
        if row_id > len(self.rows):
            self.rows.append({"id": row_id, "key": key, "features": features})
        self.questions.append(
            {name: event[name] for name in (*names, "expires")}
            | {
                "id": id,
                "row_id": row_id,
                "features": None if self.rows[row_id - 1]["features"] == features else features,
                "place": event["row"] - 1,
                "asked_at": event["time"],
                "learned": len(self.answers),
            }
            | {"status": "open", "refunded": False, "skips": 0}
            | dict.fromkeys(("answered_at", "answer", "answer_order", "changed"))
        )

    def answer(self, id: int, value: str, now: int) -> None:
        """Add an answer."""
        json.loads(value)
        question = self._expect(id, "open")
        self.answers.append({"question_id": id, "who": None, "came_at": now, "value": value, "corrects": None})
        question.update(status="answered", answered_at=now, answer=value, answer_order=len(self.answers))

    def _expect(self, id: int, status: str) -> dict[str, Any]:
        question = self.questions[id - 1]
        if question["status"] != status:
            raise ValueError("the question's status is another")
        return question

    def write(self, ledger: Ledger) -> None:
        """Write all to an empty ledger, at once or not at all."""
        labels = (q[name] for q in self.questions for name in ("prediction", "answer") if q["kind"] == "label")
        first = next((label for label in labels if label is not None), None)
        ledger._take_over(
            self.rows,
            self.questions,
            self.answers,
            self.snapshots,
            state=self.state,
            about=self.about,
            label_type=None if first is None else type(json.loads(first)).__name__,
        )


def _read_log(log: QuestionLog, kept: _Kept) -> None:
    answers: list[Question] = []
    cases: set[int] = set()
    for question in log.questions():
        cases |= set() if question.case is None else {question.case}
        event = {name: getattr(question, name) for name in Question.__slots__}
        event |= {"time": to_micros(question.asked_at), "row": question.row + 1}
        event["expires"] = None if question.expires is None else to_micros(question.expires)
        event["prediction"] = None if question.prediction is None else to_json(question.prediction)
        kept.ask(event, to_json(question.features))
        answers += [question] if question.status == "answered" else []
        kept.questions[-1].update(refunded=question.refunded, changed=question.changed)
        if question.status == "expired":
            kept.questions[-1]["status"] = "expired"
    for question in sorted(answers, key=lambda one: one.answer_order or 0):
        kept.answer(question.id, to_json(question.answer), to_micros(question.answered_at))

    if cases:
        warnings.warn(
            f"the file holds questions of {plural(len(cases), 'case')}, and not the cases: their labels will be "
            "learned as those of whole rows. To go on with cases, copy the ledger itself.",
            UserWarning,
            stacklevel=3,
        )


def _read_asker(folder: Path, kept: _Kept) -> None:
    """Take over what an asker kept beside its ledger: its settings, its budget, and its model."""
    about = folder / "asker.json"
    kept.about = to_json(json.loads(about.read_text(encoding="utf-8"))) if about.exists() else None
    found = ((_MODEL.fullmatch(path.name), path) for path in folder.iterdir())
    kept.snapshots = [(int(match[1]), path.read_bytes()) for match, path in found if match is not None]
    state = folder / "state.bin"
    data = state.read_bytes() if state.exists() else b""
    if len(data) > _HEAD.size:
        check, asked, answered, _ = _HEAD.unpack(data[: _HEAD.size])
        is_whole = check == zlib.crc32(data[struct.calcsize("<I") :])
        if is_whole and (asked, answered) == (len(kept.questions), len(kept.answers)):
            kept.state = data[_HEAD.size :]


def _find_journals(folder: Path) -> list[Path]:
    numbers = sorted(int(found[1]) for path in folder.iterdir() if (found := _JOURNAL.fullmatch(path.name)))
    if not numbers:
        raise LedgerFileError(f"there is no journal in '{folder}'; give the folder of an older ledger.")
    for expected, number in enumerate(numbers, 1):
        if number != expected:
            raise LedgerFileError(f"journal-{expected:06d}.arrows is missing in '{folder}'; restore it from a copy.")
    return [folder / f"journal-{number:06d}.arrows" for number in numbers]


def _read_journal(path: Path) -> Iterator[Any]:
    """Give the whole batches of a journal; an unfinished write at its end is left out."""
    import pyarrow as pa

    content, place, schema = pa.py_buffer(path.read_bytes()), 0, None
    while place < content.size:
        message, end = _read_message(content, place)
        is_whole = message is not None and (schema is None or _is_sealed(content[place:end]))
        if not is_whole:
            _check_cut(path, content, place, message is not None)
            return
        if schema is None:
            schema = _read_schema(path, message)
        else:
            yield pa.ipc.read_record_batch(message, schema)
        place = end


def _read_schema(path: Path, message: Any) -> Any:
    import pyarrow as pa

    try:
        schema = pa.ipc.read_schema(message)
        found = (schema.metadata or {}).get(b"quercus.ledger")
    except (pa.ArrowException, OSError):
        found = None
    if found != b"1":
        raise LedgerFileError(f"'{path}' is no journal of a ledger; restore it from a copy.")
    return schema


def _read_message(content: Any, place: int) -> tuple[Any, int]:
    """Return the message at a place and the place behind it; None if there is no whole one."""
    import pyarrow as pa

    reader = pa.BufferReader(content)
    reader.seek(place)
    # Without the marker, a length of an older format would be read.
    if content[place : place + 4].to_pybytes() != _MESSAGE_START:
        return None, place
    try:
        message = pa.ipc.read_message(reader)
    except (pa.ArrowException, OSError, EOFError):
        return None, place
    return message, reader.tell()


def _is_sealed(content: Any) -> bool:
    sealed = content.to_pybytes()
    return int.from_bytes(sealed[-_CHECK_BYTES:], "little") == zlib.crc32(sealed[:-_CHECK_BYTES])


def _check_cut(path: Path, content: Any, place: int, is_complete: bool) -> None:
    """Tell a write that was cut off, behind which there is nothing, from damage to what was whole."""
    rest = content[place:].to_pybytes()
    if place == 0 and not _MESSAGE_START.startswith(rest[:4]) and rest.strip(b"\0"):
        raise LedgerFileError(f"'{path}' is no journal of a ledger; restore it from a copy.")
    behind = rest.find(_MESSAGE_START, 1)
    while behind >= 0:
        message, end = _read_message(content, place + behind)
        if message is not None and _is_sealed(content[place + behind : end]):
            raise LedgerFileError(
                f"'{path}' is damaged at byte {place} of {content.size}, and whole events follow; restore it from a "
                "copy."
            )
        behind = rest.find(_MESSAGE_START, behind + 1)
    if is_complete and place:
        warnings.warn(
            f"the last batch of '{path}', at byte {place}, does not match its checksum and is left out; if no power "
            "cut explains it, restore the file from a copy.",
            JournalWarning,
            stacklevel=2,
        )
