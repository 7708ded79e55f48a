"""The tables of a ledger: the same on SQLite and on PostgreSQL.

Times are microseconds since 1970 in UTC. Values and labels are JSON, which keeps 1, true and "1" apart. What is told of
a row, a question or an answer is written once; only what became of a question changes, and an answer is never changed
or deleted: a correction is another answer.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
)

# The newest migration in `quercus.ledger.migrations`.
VERSION = "0001"

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)
# SQLite numbers rows by an INTEGER key, and by no other.
_NUMBER = BigInteger().with_variant(Integer, "sqlite")


def _number(name: str, *constraints: ForeignKey, key: bool = False, nullable: bool = False) -> Column[int]:
    if key:
        return Column(name, _NUMBER, *constraints, primary_key=True, autoincrement=False)
    return Column(name, BigInteger, *constraints, nullable=nullable)


store = Table(
    "store",
    metadata,
    Column("id", Integer, CheckConstraint("id = 1", name="one"), primary_key=True, autoincrement=False),
    # Who may write: each opening for writing has a number of its own. And how often was written.
    _number("opening"),
    _number("writes"),
    Column("label_type", String(8)),
    # What whoever asks keeps with it: its settings as JSON; budget and random generator.
    Column("about", Text),
    Column("state", LargeBinary, nullable=False),
)

row = Table(
    "row",
    metadata,
    _number("id", key=True),
    # The application's own name of it.
    Column("key", Text, unique=True),
    Column("features", Text, nullable=False),
)

case = Table(
    "case",
    metadata,
    _number("id", key=True),
    _number("row_id", ForeignKey("row.id")),
    _number("opened_at"),
    Column("closed", Boolean, nullable=False),
    # What it takes to go on with it, as JSON.
    Column("state", Text, nullable=False),
)

question = Table(
    "question",
    metadata,
    _number("id", key=True),
    _number("row_id", ForeignKey("row.id")),
    Column("kind", String(8), nullable=False),
    # Of a question for a feature: its name. Of one that a case asked: the case.
    Column("question", Text),
    _number("case_id", ForeignKey("case.id"), nullable=True),
    # Where they differ from those of the row.
    Column("features", Text),
    # The row's place in the stream or pool, from 0; rows that could have been asked up to there; answers learned then.
    _number("place"),
    _number("covered"),
    _number("learned"),
    _number("asked_at"),
    _number("expires", nullable=True),
    Column("price", Float(53), nullable=False),
    Column("worth", Float(53)),
    Column("propensity", Float(53)),
    Column("explored", Boolean, nullable=False),
    Column("prediction", Text),
    Column("probability", Float(53)),
    Column("why", Text),
    Column("status", String(8), nullable=False),
    _number("answered_at", nullable=True),
    Column("answer", Text),
    _number("answer_order", nullable=True),
    Column("refunded", Boolean, nullable=False),
    Column("changed", Boolean),
    _number("skips"),
)
Index(
    "ix_question_open",
    question.c.id,
    sqlite_where=question.c.status == "open",
    postgresql_where=question.c.status == "open",
)
Index("ix_question_order", question.c.answer_order, unique=True)
Index(None, question.c.row_id)
Index(None, question.c.case_id)

answer = Table(
    "answer",
    metadata,
    Column("id", _NUMBER, primary_key=True),
    _number("question_id", ForeignKey("question.id")),
    Column("who", Text),
    _number("came_at"),
    Column("value", Text, nullable=False),
    # Which answer it corrects; a second opinion corrects none.
    _number("corrects", ForeignKey("answer.id"), nullable=True),
)
Index(None, answer.c.question_id)

snapshot = Table(
    "snapshot",
    metadata,
    # Answers that the model had learned.
    _number("learned", key=True),
    _number("made_at"),
    Column("model", LargeBinary, nullable=False),
)

# What became of questions beside their answers: skipped, given up, withdrawn.
event = Table(
    "event",
    metadata,
    Column("id", _NUMBER, primary_key=True),
    _number("question_id", ForeignKey("question.id"), nullable=True),
    _number("happened_at"),
    Column("what", String(16), nullable=False),
    Column("who", Text),
)
