"""Every question, label or feature: what was known when it was asked, its price and propensity, and its answer.

A `Ledger` is a database: one file of SQLite, or PostgreSQL by its address. Every change is on the disk before its call
returns; what was asked and answered is never rewritten, and a correction is another answer. The tables are those of
`quercus.ledger.tables`; anything that reads SQLite or PostgreSQL reads them without quercus. A `QuestionLog` is a table
of questions in memory or in a Parquet file: what `quercus.evaluate` keeps, and what a ledger exports.
"""

from __future__ import annotations

from quercus.ledger.errors import (
    AnswerConflict,
    JournalWarning,
    KeyConflict,
    LabelMismatch,
    LedgerClosed,
    LedgerFileError,
    LedgerLocked,
    QuestionExpired,
    UnknownQuestion,
)
from quercus.ledger.ledger import Ledger
from quercus.ledger.log import QuestionLog
from quercus.ledger.question import Answer, Lesson, Opinion, Question

__all__ = [
    "Answer",
    "AnswerConflict",
    "JournalWarning",
    "KeyConflict",
    "LabelMismatch",
    "Ledger",
    "LedgerClosed",
    "LedgerFileError",
    "LedgerLocked",
    "Lesson",
    "Opinion",
    "Question",
    "QuestionExpired",
    "QuestionLog",
    "UnknownQuestion",
]
