"""What can be asked of questions and answers, wherever they are kept."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quercus.ledger.errors import UnknownQuestion
from quercus.ledger.question import Question
from quercus.schema.refusals import short

if TYPE_CHECKING:
    import pyarrow as pa

PathLike = str | os.PathLike[str]


class QuestionTable(ABC):
    """Questions, by ids from 1 on; see `Ledger` and `QuestionLog`.

    Examples
    --------
    >>> from quercus.ledger import Ledger
    >>> isinstance(Ledger(), QuestionTable)
    True
    """

    @property
    @abstractmethod
    def asked(self) -> int:
        """How many questions were asked."""

    @property
    @abstractmethod
    def answered(self) -> int:
        """How many of them are answered."""

    @property
    @abstractmethod
    def expired(self) -> int:
        """How many were given up."""

    @property
    @abstractmethod
    def spent(self) -> float:
        """The prices of all questions asked, refunds taken off; rounded once."""

    @property
    @abstractmethod
    def open_ids(self) -> list[int]:
        """The ids of the open questions, oldest first; those that were skipped come last."""

    @abstractmethod
    def question(self, id: int) -> Question:
        """Return a question and all that is known of it.

        Parameters
        ----------
        id
            What `Ledger.ask` returned.

        Examples
        --------
        >>> from quercus.ledger import Ledger
        >>> Ledger().question(7)
        Traceback (most recent call last):
            ...
        quercus.ledger.errors.UnknownQuestion: there is no question 7; nothing was asked yet.
        """

    @abstractmethod
    def questions(self) -> Iterator[Question]:
        """Give all questions, in order of ids."""

    @abstractmethod
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
        >>> id = ledger.ask({"age": 41}, row=0, covered=1, prediction="no")
        >>> ledger.to_arrow().select(["id", "status", "prediction", "x.age"]).to_pylist()
        [{'id': 1, 'status': 'open', 'prediction': 'no', 'x.age': 41.0}]
        """

    def __len__(self) -> int:
        return self.asked

    def __repr__(self) -> str:
        waiting = self.asked - self.answered - self.expired
        counts = f"asked={self.asked}, open={waiting}, answered={self.answered}, expired={self.expired}"
        return f"{type(self).__name__}({counts}, spent={self.spent:g})"

    def _check_id(self, id: Any) -> int:
        asked = self.asked
        if isinstance(id, bool) or not hasattr(id, "__index__") or not 1 <= id <= asked:
            held = f"the ledger holds 1 to {asked}" if asked else "nothing was asked yet"
            raise UnknownQuestion(f"there is no question {id!r}; {held}.")
        return int(id)

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
        from quercus.ledger.arrow import to_frame

        return to_frame(self.to_arrow(), backend)

    def write(self, path: PathLike) -> None:
        """Write all questions to a Parquet file, or to one of Arrow if it ends with ``.arrow``, at once or not at all.

        Parameters
        ----------
        path
            Of the file. `Ledger.read` reads Parquet files, and so does anything that reads Parquet.

        Examples
        --------
        >>> import tempfile
        >>> from quercus.ledger import Ledger
        >>> ledger = Ledger()
        >>> id = ledger.ask({"age": 41}, row=0, covered=1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ledger.write(f"{folder}/questions.parquet")
        ...     Ledger.read(f"{folder}/questions.parquet").question(1).features
        {'age': 41.0}
        """
        from quercus.ledger.arrow import write_table

        write_table(self.to_arrow(), Path(path))


def read_place(store: object) -> str | None:
    """Return where a ledger is kept as text, None if that is in memory."""
    place = os.fspath(store) if isinstance(store, os.PathLike) else store
    if place is not None and not isinstance(place, str):
        raise TypeError(
            f"store={short(store)} is a {type(store).__name__}; give the name of a file, the address of a database, or "
            "None: in memory."
        )
    return place
