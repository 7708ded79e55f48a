"""Looking at a ledger that is kept in a database."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

from quercus.ledger.asking import read_key
from quercus.ledger.labels import LabelType
from quercus.ledger.question import Answer, Lesson, Opinion, Question
from quercus.ledger.values import to_micros
from quercus.ledger.view import PathLike, QuestionTable

if TYPE_CHECKING:
    import pyarrow as pa

# Questions that are read at once, where all are.
_AT_ONCE = 10_000
# Questions that are at hand.
KNOWN = 1024


class LedgerReader(QuestionTable):
    """A ledger that somebody may be writing, for reading; what `Ledger.read` returns."""

    _reads_only = True

    def __init__(self, store: PathLike | None) -> None:
        # Imported here, because whoever keeps no ledger needs no database.
        from quercus.ledger import records
        from quercus.ledger.database import Database

        self._records = records
        self._database = Database(store, self._reads_only)
        self.store: PathLike | None = self._database.path or self._database.address
        try:
            self._note_counts()
        except BaseException:
            self._database.close()
            raise

    def _note_counts(self) -> None:
        counts = self._database.read(self._records.read_counts)
        self._writes = counts.writes
        self._asked, self._rows, self._features = counts.asked, counts.rows, counts.features
        self._answered, self._expired, self._spent = counts.answered, counts.expired, counts.spent
        self._state, self._about = counts.state, counts.about
        self._labels = LabelType(counts.label_type)
        # Questions of late, which nobody else changes while this ledger is open for writing.
        self._known: dict[int, Question] = {}
        # How many: those that were last looked up together can be more.
        self._room = KNOWN
        # Notes of changes that go with the next transaction.
        self._noted: dict[int, bool] = {}

    def _flush(self) -> None:
        """Write what waits for the next transaction; here nothing does."""

    def _refresh(self) -> None:
        # What somebody else writes shows at once.
        if self._reads_only and self._database.read(self._records.count_writes) != self._writes:
            self._note_counts()

    @property
    def asked(self) -> int:
        """How many questions were asked."""
        self._refresh()
        return self._asked

    @property
    def answered(self) -> int:
        """How many of them are answered."""
        self._refresh()
        return self._answered

    @property
    def expired(self) -> int:
        """How many were given up."""
        self._refresh()
        return self._expired

    @property
    def spent(self) -> float:
        """The prices of all questions asked, refunds taken off; rounded once."""
        self._refresh()
        return float(self._spent)

    @property
    def is_durable(self) -> bool:
        """Whether it is kept when this process ends."""
        return self.store is not None

    @property
    def threads(self) -> threading.RLock:
        """Lets one thread in at a time; whoever changes a ledger and something else with it may hold it."""
        return self._database.threads

    @property
    def last_state(self) -> bytes:
        """The newest state that was given with a question or an answer, empty if none was."""
        self._refresh()
        return self._state

    @property
    def about(self) -> str | None:
        """What `set_about` was given."""
        return self._about

    @property
    def open_ids(self) -> list[int]:
        """The ids of the open questions, oldest first; those that were skipped come last."""
        return self._database.read(self._records.read_open)

    def open_labels(self) -> list[Question]:
        """Return the open questions for labels, in the order of `open_ids`."""
        self._flush()
        return self._database.read(self._records.read_open_labels)

    @property
    def asked_labels(self) -> int:
        """How many labels were asked for."""
        self._refresh()
        return self._asked - self._features

    @property
    def open(self) -> Iterator[Question]:
        """The open questions, in the order of `open_ids`; one that is answered meanwhile is passed over.

        Examples
        --------
        >>> from quercus.ledger import Ledger
        >>> ledger = Ledger()
        >>> ids = ledger.ask_rows({"age": [41, 29]}, row=[2, 8], covered=[3, 9], answers=["yes", None])
        >>> [question.features for question in ledger.open]
        [{'age': 29.0}]
        """
        for id in self.open_ids:
            question = self.question(id)
            if question.status == "open":
                yield question

    def question(self, id: int) -> Question:
        """Return a question and all that is known of it; see `QuestionTable.question`."""
        return self.look_up([id])[0]

    def look_up(self, ids: Sequence[int]) -> list[Question]:
        """Return many questions, in the order of their ids given; see `question`.

        Parameters
        ----------
        ids
            Of the questions.

        Examples
        --------
        >>> from quercus.ledger import Ledger
        >>> ledger = Ledger()
        >>> ids = ledger.ask_rows({"age": [41, 29]}, row=[2, 8], covered=[3, 9])
        >>> [question.row for question in ledger.look_up([2, 1])]
        [8, 2]
        """
        # Features can be changed by whoever gets them.
        return [replace(found, features=dict(found.features)) for found in self._look_up(ids)]

    def _look_up(self, ids: Sequence[int]) -> list[Question]:
        """Return questions whose features nobody is to change, and have them at hand."""
        checked = [self._check_id(id) for id in ids]
        missing = [id for id in checked if id not in self._known]
        if not missing:
            return [self._known[id] for id in checked]
        self._flush()
        read = self._database.read(self._records.read_these, ids=missing)
        known = self._known | {each.id: each for each in read}
        # Single questions are not kept at hand: whoever looks at many needs them again.
        if len(checked) > 1 and not self._database.is_closed:
            self._known, self._room = known, max(KNOWN, len(checked))
        return [known[id] for id in checked]

    def questions(self) -> Iterator[Question]:
        """Give all questions, in order of ids."""
        self._flush()
        for first in range(1, self.asked + 1, _AT_ONCE):
            yield from self._database.read(self._records.read_questions, first=first, count=_AT_ONCE)

    def find(self, key: str | int) -> list[Question]:
        """Return the questions about the row that the application calls so, oldest first.

        Parameters
        ----------
        key
            What was given with the row.

        Examples
        --------
        >>> from quercus.ledger import Ledger
        >>> ledger = Ledger()
        >>> id = ledger.ask({"age": 41}, row=0, covered=1, key="order 7")
        >>> [question.id for question in ledger.find("order 7")], ledger.find("order 8")
        ([1], [])
        """
        self._flush()
        return self._database.read(self._records.find_questions, read_key(key))

    def due(self, before: datetime | None = None) -> list[int]:
        """Return the ids of open questions whose time is over.

        Parameters
        ----------
        before
            They expire at this time or earlier; None: now.
        """
        return self._database.read(self._records.read_due, to_micros(before, "before"))

    def cases(self, key: str | int | None = None) -> list[tuple[int, str | None, bool, dict[str, Any]]]:
        """Return number, key, whether it is closed, and state of cases: those of a row, or all open ones.

        Parameters
        ----------
        key
            What was given with the row; None: all open ones.
        """
        return self._database.read(self._records.read_cases, None if key is None else read_key(key))

    def case(self, number: int) -> dict[str, Any]:
        """Return the state of a case.

        Parameters
        ----------
        number
            What `Ledger.open_case` returned.
        """
        return self._database.read(self._records.read_case, number)

    def label_of_case(self, number: int) -> Question | None:
        """Return the question for the label of a case, None if there is none."""
        return self._database.read(self._records.find_label_of_case, number)

    @property
    def n_cases(self) -> int:
        """How many cases were opened."""
        return self._database.read(self._records.count_cases)

    def purchases(self) -> list[float]:
        """Return the prices of features that were bought, in order."""
        return self._database.read(self._records.read_purchases)

    def opinions(self, id: int) -> list[Opinion]:
        """Return all answers to a question, oldest first: the first, corrections, and those of other people.

        Parameters
        ----------
        id
            Of the question.
        """
        return self._database.read(self._records.read_opinions, self._check_id(id))

    @property
    def n_events(self) -> int:
        """How many answers have come; what `events_since` counts."""
        return self.answered

    def events_since(self, n: int) -> list[Answer]:
        """Return the answers after the first n, in order of arrival and as they stand now.

        Parameters
        ----------
        n
            What `n_events` was then.

        Examples
        --------
        >>> from quercus.ledger import Ledger
        >>> ledger = Ledger()
        >>> ids = ledger.ask_rows({"age": [41, 29]}, row=[2, 8], covered=[3, 9])
        >>> ledger.answer(2, "no"), ledger.answer(1, "yes")
        (True, True)
        >>> ledger.events_since(1)
        [Answer(id=1, label='yes', answer_order=2)]
        """
        if isinstance(n, bool) or not hasattr(n, "__index__") or not 0 <= n <= self.answered:
            raise ValueError(f"n={n!r} is out of range; there are {self.answered} answers, counted from 0.")
        return self._database.read(self._records.read_answers, int(n))

    def lessons(self, since: int = 0) -> list[Lesson]:
        """Return what a model that has learned the first answers is still to learn, in order."""
        return self._database.read(self._records.read_lessons, since)

    def settled(self, after: int = 0) -> Any:
        """Return the records that an estimate of accuracy needs of the labels after a question."""
        return self._database.read(self._records.read_settled, after)

    def snapshots(self) -> list[tuple[int, bytes]]:
        """Return the models that are kept, by how many answers they have learned, the newest first."""
        return self._database.read(self._records.read_snapshots)

    def to_arrow(self) -> pa.Table:
        """Return all questions as an Arrow table; see `QuestionTable.to_arrow`."""
        from quercus.ledger.arrow import to_arrow

        self._flush()
        return to_arrow(self._database.read(self._records.read_columns), self._labels.type, self.last_state)

    def close(self) -> None:
        """Take no more changes, and let others write; it can still be read.

        Examples
        --------
        >>> from quercus.ledger import Ledger
        >>> ledger = Ledger()
        >>> ledger.close()
        >>> ledger.ask({"age": 41}, row=0, covered=1)
        Traceback (most recent call last):
            ...
        quercus.ledger.errors.LedgerClosed: this ledger is closed; open it again.
        """
        self._flush()
        self._database.close()
        # From now on somebody else may change them.
        self._known.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError("a ledger cannot be copied; give its store to Ledger.read(), or export it with write().")
