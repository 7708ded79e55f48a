"""Looking at a ledger: its questions, its money, and its tables."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quercus.ledger.errors import UnknownQuestion
from quercus.ledger.layout import OPEN
from quercus.ledger.memory import Memory
from quercus.ledger.question import Answer, Question

if TYPE_CHECKING:
    import pyarrow as pa

PathLike = str | os.PathLike[str]


class LedgerView:
    """What can be asked of a ledger without changing it; see `Ledger`.

    Examples
    --------
    >>> LedgerView().asked
    0
    """

    def __init__(self) -> None:
        self._memory = Memory()
        self._threads = threading.RLock()

    def __len__(self) -> int:
        return self._memory.asked

    def __repr__(self) -> str:
        memory = self._memory
        waiting = memory.asked - memory.answered - memory.expired
        counts = f"asked={memory.asked}, open={waiting}, answered={memory.answered}, expired={memory.expired}"
        return f"{type(self).__name__}({counts}, spent={self.spent:g})"

    @property
    def asked(self) -> int:
        """How many questions were asked."""
        return self._memory.asked

    @property
    def answered(self) -> int:
        """How many of them are answered."""
        return self._memory.answered

    @property
    def spent(self) -> float:
        """The prices of all questions asked, refunds taken off."""
        with self._threads:
            return self._memory.spent.value

    @property
    def open_ids(self) -> list[int]:
        """The ids of the open questions, oldest first."""
        with self._threads:
            return self._memory.open_ids()

    @property
    def open(self) -> Iterator[Question]:
        """The open questions, oldest first; one that is answered meanwhile is passed over.

        Examples
        --------
        >>> from quercus.ledger import Ledger
        >>> ledger = Ledger()
        >>> ids = ledger.ask_rows({"age": [41, 29]}, row=[3, 9], covered=[3, 9], answers=["yes", None])
        >>> [question.features for question in ledger.open]
        [{'age': 29.0}]
        """
        for id in self.open_ids:
            if self._memory.records["status"][id - 1] == OPEN:
                yield self.question(id)

    @property
    def last_state(self) -> bytes:
        """The newest state that was given with a question or an answer, empty if none was."""
        return self._memory.state

    @property
    def n_events(self) -> int:
        """How many answers have come; what `events_since` counts."""
        return self._memory.answered

    def events_since(self, n: int) -> list[Answer]:
        """Return the answers after the first n, in order of arrival: what a model saved then has not learned.

        Parameters
        ----------
        n
            What `n_events` was then.

        Examples
        --------
        >>> from quercus.ledger import Ledger
        >>> ledger = Ledger()
        >>> ids = ledger.ask_rows({"age": [41, 29]}, row=[3, 9], covered=[3, 9])
        >>> ledger.answer(2, "no"), ledger.answer(1, "yes")
        (True, True)
        >>> ledger.events_since(1)
        [Answer(id=1, label='yes', answer_order=2)]
        """
        if isinstance(n, bool) or not hasattr(n, "__index__") or not 0 <= n <= self._memory.answered:
            raise ValueError(f"n={n!r} is out of range; there are {self._memory.answered} answers, counted from 0.")
        with self._threads:
            return self._memory.get_answers(int(n))

    def question(self, id: int) -> Question:
        """Return a question and all that is known of it.

        Parameters
        ----------
        id
            What `ask` returned.

        Examples
        --------
        >>> from quercus.ledger import Ledger
        >>> Ledger().question(7)
        Traceback (most recent call last):
            ...
        quercus.ledger.errors.UnknownQuestion: there is no question 7; nothing was asked yet.
        """
        with self._threads:
            return self._memory.get(self._check_id(id))

    def _check_id(self, id: Any) -> int:
        asked = self._memory.asked
        if isinstance(id, bool) or not hasattr(id, "__index__") or not 1 <= id <= asked:
            held = f"the ledger holds 1 to {asked}" if asked else "nothing was asked yet"
            raise UnknownQuestion(f"there is no question {id!r}; {held}.")
        return int(id)

    def to_arrow(self) -> pa.Table:
        """Return all questions as an Arrow table.

        A row per question, in order of ids: what `Question` holds, and a column ``x.<name>`` per feature: numbers,
        bools or text. A feature that had numbers and text is text; one that had numbers and bools is numbers.
        Prediction and answer have the type of the labels. Questions for features have their answers in
        ``answer_number`` and ``answer_text``, columns that are there if there are such questions.

        Examples
        --------
        >>> from quercus.ledger import Ledger
        >>> ledger = Ledger()
        >>> id = ledger.ask({"age": 41}, row=1, covered=1, prediction="no")
        >>> ledger.to_arrow().select(["id", "status", "prediction", "x.age"]).to_pylist()
        [{'id': 1, 'status': 'open', 'prediction': 'no', 'x.age': 41.0}]
        """
        from quercus.ledger.arrow import to_arrow

        with self._threads:
            return to_arrow(self._memory)

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return all questions as a data frame; the columns are those of `to_arrow`.

        Parameters
        ----------
        backend
            "pandas", "polars" or "pyarrow".

        Examples
        --------
        >>> from quercus.ledger import Ledger
        >>> Ledger().to_frame("polars").height
        0
        """
        from quercus.ledger.files import to_frame

        return to_frame(self.to_arrow(), backend)

    def write(self, path: PathLike) -> None:
        """Write all questions to a Parquet file, at once or not at all.

        Parameters
        ----------
        path
            Of the file; `Ledger.read` reads it, and so does anything that reads Parquet.

        Examples
        --------
        >>> import tempfile
        >>> from quercus.ledger import Ledger
        >>> ledger = Ledger()
        >>> id = ledger.ask({"age": 41}, row=1, covered=1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ledger.write(f"{folder}/questions.parquet")
        ...     Ledger.read(f"{folder}/questions.parquet").question(1).features
        {'age': 41.0}
        """
        from quercus.ledger.files import write_parquet

        write_parquet(self.to_arrow(), Path(path))
