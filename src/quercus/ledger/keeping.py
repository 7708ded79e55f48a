"""What is kept beside questions and answers: rows, cases, models, and the state of whoever asks."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from weakref import WeakMethod

import numpy as np

from quercus.ledger.answering import AnswerKeeper
from quercus.ledger.asking import read_key
from quercus.ledger.errors import KeyConflict
from quercus.ledger.values import check_name, read_features, to_json, to_micros
from quercus.ledger.view import PathLike

# Models that are kept beside the starting one.
SNAPSHOTS = 4


class StateKeeper(AnswerKeeper):
    """The part of a `Ledger` that keeps rows, cases, models and states."""

    def __init__(self, store: PathLike | None) -> None:
        super().__init__(store)
        # They hold this ledger, and are not held by it.
        self._watchers: list[WeakMethod[Callable[[], Callable[[], None]]]] = []

    @contextmanager
    def together(self) -> Iterator[None]:
        """Make one transaction of all that is kept in a block: all of it, or nothing.

        Examples
        --------
        >>> from quercus.ledger import Ledger
        >>> ledger = Ledger()
        >>> with ledger.together():
        ...     id = ledger.ask({"age": 41}, row=0, covered=1)
        ...     ledger.answer(id, "yes")
        True
        """
        with self._changing():
            undo = [watch() for method in self._watchers if (watch := method()) is not None]
            try:
                with self._database.together():
                    yield
            except BaseException:
                if not self._database.is_closed:
                    self._note_counts()
                    for each in undo:
                        each()
                raise

    def watch_blocks(self, watch: Callable[[], Callable[[], None]]) -> None:
        """Let somebody who remembers what is kept here forget what a block that fails undoes."""
        self._watchers.append(WeakMethod(watch))

    def set_about(self, about: str) -> None:
        """Keep a text with the ledger, such as whose it is.

        Parameters
        ----------
        about
            The text.

        Examples
        --------
        >>> from quercus.ledger import Ledger
        >>> ledger = Ledger()
        >>> ledger.set_about("frauds")
        >>> ledger.about
        'frauds'
        """
        check_name(about, "about")
        with self._changing():
            self._database.write(lambda connection: self._records.save_about(connection, about))
            self._about = about

    def note_row(self, features: Mapping[str, Any], key: str | int, *, state: bytes = b"") -> None:
        """Keep that a row was seen, about which nothing is asked."""
        with self._changing(state):
            if not self.has_row(key, features):
                values = {"id": self._rows + 1, "key": read_key(key), "features": to_json(read_features(features))}
                self._write(lambda connection: self._records.insert_row(connection, values), state=state, durable=False)
                self._rows += 1

    def has_row(self, key: str | int, features: Mapping[str, Any]) -> bool:
        """Tell whether a row was seen; raise an error if the one under its key has other values."""
        return self._find_row(read_key(key), to_json(read_features(features))) is not None

    def _find_row(self, key: str, features: str) -> int | None:
        found = self._database.read(self._records.find_key, key)
        if found is None:
            return None
        if found[1] != features and _named(found[1]) != _named(features):
            raise KeyConflict(f"the row with key {key!r} has other values ({found[1]}); give another row another key.")
        return int(found[0])

    def open_case(self, known: Mapping[str, Any], state: Mapping[str, Any], *, key: str | int | None = None) -> int:
        """Keep a case, whose features are bought one by one, and return its number."""
        with self._changing():
            name, features = None if key is None else read_key(key), to_json(read_features(known))
            found = None if name is None else self._find_row(name, features)
            row_id = self._rows + 1 if found is None else found
            new_row = {"id": row_id, "key": name, "features": features} if found is None else None
            number = int(self._database.read(self._records.count_cases)) + 1
            values: dict[str, Any] = {"id": number, "row_id": row_id, "opened_at": to_micros(None)}
            values |= {"closed": False, "state": to_json(dict(state))}
            self._write(lambda connection: self._records.insert_case(connection, new_row, values))
            self._rows += found is None
            return number

    def keep_case(self, number: int, state: Mapping[str, Any] | None = None, *, closed: bool = False) -> None:
        """Keep what a case knows now."""
        values: dict[str, Any] = {"closed": closed} | ({} if state is None else {"state": to_json(dict(state))})
        with self._changing():
            self._write(lambda connection: self._records.change_case(connection, number, **values))

    def save_snapshot(self, model: bytes) -> None:
        """Keep a model that has learned all answers so far; of older ones only some, and the first."""
        with self._changing():
            learned, now = self._answered, to_micros(None)
            self._write(lambda connection: self._records.save_snapshot(connection, learned, model, SNAPSHOTS, now))

    def keep_state(self, state: bytes) -> None:
        """Keep another `last_state`; a kill of the process cannot undo it, a power cut can."""
        with self._changing(state):
            self._write(lambda _: None, state=state, durable=False)

    def note_change(self, id: int, changed: bool) -> None:
        """Note whether the learner's answer to this example changed by learning it; the last note counts.

        Parameters
        ----------
        id
            Of a question that is answered.
        changed
            Whether it changed.

        Examples
        --------
        >>> from quercus.ledger import Ledger
        >>> ledger = Ledger()
        >>> ids = ledger.ask_rows({"age": [41]}, row=0, covered=1, answers=["yes"])
        >>> ledger.note_change(1, True)
        >>> ledger.question(1).changed
        True
        """
        if not isinstance(changed, bool | np.bool):
            raise TypeError(f"changed={changed!r} is neither True nor False.")
        with self._changing():
            (question,) = self._look_up([id])
            if question.status != "answered":
                raise ValueError(f"question {id} has no answer to learn from; note a change when it has one.")
            if question.changed != changed:
                # Of no use after a crash: it goes with the next transaction.
                self._noted[question.id] = bool(changed)
                self._remember(question, changed=bool(changed))
                if len(self._noted) >= self._room:
                    self._flush()

    def _flush(self) -> None:
        if self._noted and not self._database.is_closed:
            self._write(lambda _: None, durable=False)


def _named(features: str) -> str:
    """Return the values of a row in the order of their names, without those that are missing; 0 has one sign."""
    values = sorted((name, value) for name, value in json.loads(features).items() if value is not None)
    return to_json({name: 0.0 if type(value) is float and value == 0.0 else value for name, value in values})
