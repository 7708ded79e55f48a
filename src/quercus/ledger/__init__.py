"""Every question, label or feature: what was known when it was asked, its price and propensity, and its answer.

A ledger in a folder is a row of journals, ``journal-000001.arrows``, ``journal-000002.arrows``, ..., one per session.
They are the truth, and they only grow: every change is written and forced to the disk before its call returns, and
nothing is rewritten or deleted. A journal that was cut off, by a kill or a power cut, is read up to its last whole
batch. Each is an Arrow IPC stream of events (`quercus.ledger.events`), readable without quercus::

    events = polars.read_ipc_stream("folder/journal-000001.arrows")
    events = pyarrow.ipc.open_stream("folder/journal-000001.arrows").read_pandas()

(Of one that was cut off, ``pyarrow.ipc.open_stream(...)`` gives the whole batches one by one before it fails.)

For everyday reading, closing a ledger writes ``ledger.parquet``, a row per question: a snapshot that may be older than
the journals. ``ledger.lock`` is held by the process that writes; the system gives it free when that process ends.
"""

from __future__ import annotations

from quercus.ledger.errors import (
    AnswerConflict,
    JournalWarning,
    LabelMismatch,
    LedgerClosed,
    LedgerFileError,
    LedgerLocked,
    QuestionExpired,
    UnknownQuestion,
)
from quercus.ledger.ledger import Ledger
from quercus.ledger.question import Answer, Question

__all__ = [
    "Answer",
    "AnswerConflict",
    "JournalWarning",
    "LabelMismatch",
    "Ledger",
    "LedgerClosed",
    "LedgerFileError",
    "LedgerLocked",
    "Question",
    "QuestionExpired",
    "UnknownQuestion",
]
