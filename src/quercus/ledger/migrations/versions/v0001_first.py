"""The first form of the tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "row",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("key", sa.Text(), nullable=True),
        sa.Column("features", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_row")),
        sa.UniqueConstraint("key", name=op.f("uq_row_key")),
    )
    op.create_table(
        "snapshot",
        sa.Column("learned", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("made_at", sa.BigInteger(), nullable=False),
        sa.Column("model", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("learned", name=op.f("pk_snapshot")),
    )
    op.create_table(
        "store",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("opening", sa.BigInteger(), nullable=False),
        sa.Column("writes", sa.BigInteger(), nullable=False),
        sa.Column("label_type", sa.String(length=8), nullable=True),
        sa.Column("about", sa.Text(), nullable=True),
        sa.Column("state", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_store")),
    )
    op.create_table(
        "case",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("row_id", sa.BigInteger(), nullable=False),
        sa.Column("opened_at", sa.BigInteger(), nullable=False),
        sa.Column("closed", sa.Boolean(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["row_id"], ["row.id"], name=op.f("fk_case_row_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_case")),
    )
    op.create_table(
        "question",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("row_id", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(length=8), nullable=False),
        sa.Column("question", sa.Text(), nullable=True),
        sa.Column("case_id", sa.BigInteger(), nullable=True),
        sa.Column("features", sa.Text(), nullable=True),
        sa.Column("place", sa.BigInteger(), nullable=False),
        sa.Column("covered", sa.BigInteger(), nullable=False),
        sa.Column("learned", sa.BigInteger(), nullable=False),
        sa.Column("asked_at", sa.BigInteger(), nullable=False),
        sa.Column("expires", sa.BigInteger(), nullable=True),
        sa.Column("price", sa.Float(precision=53), nullable=False),
        sa.Column("worth", sa.Float(precision=53), nullable=True),
        sa.Column("propensity", sa.Float(precision=53), nullable=True),
        sa.Column("explored", sa.Boolean(), nullable=False),
        sa.Column("prediction", sa.Text(), nullable=True),
        sa.Column("probability", sa.Float(precision=53), nullable=True),
        sa.Column("why", sa.Text(), nullable=True),
        sa.Column("status", sa.String(length=8), nullable=False),
        sa.Column("answered_at", sa.BigInteger(), nullable=True),
        sa.Column("answer", sa.Text(), nullable=True),
        sa.Column("answer_order", sa.BigInteger(), nullable=True),
        sa.Column("refunded", sa.Boolean(), nullable=False),
        sa.Column("changed", sa.Boolean(), nullable=True),
        sa.Column("skips", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["case_id"], ["case.id"], name=op.f("fk_question_case_id")),
        sa.ForeignKeyConstraint(["row_id"], ["row.id"], name=op.f("fk_question_row_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_question")),
    )
    op.create_index(
        "ix_question_open",
        "question",
        ["id"],
        unique=False,
        sqlite_where=sa.text("status = 'open'"),
        postgresql_where=sa.text("status = 'open'"),
    )
    op.create_index("ix_question_order", "question", ["answer_order"], unique=True)
    op.create_index(op.f("ix_question_case_id"), "question", ["case_id"], unique=False)
    op.create_index(op.f("ix_question_row_id"), "question", ["row_id"], unique=False)
    op.create_table(
        "answer",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("question_id", sa.BigInteger(), nullable=False),
        sa.Column("who", sa.Text(), nullable=True),
        sa.Column("came_at", sa.BigInteger(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("corrects", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["corrects"], ["answer.id"], name=op.f("fk_answer_corrects")),
        sa.ForeignKeyConstraint(["question_id"], ["question.id"], name=op.f("fk_answer_question_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_answer")),
    )
    op.create_index(op.f("ix_answer_question_id"), "answer", ["question_id"], unique=False)
    op.create_table(
        "event",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("question_id", sa.BigInteger(), nullable=True),
        sa.Column("happened_at", sa.BigInteger(), nullable=False),
        sa.Column("what", sa.String(length=16), nullable=False),
        sa.Column("who", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["question_id"], ["question.id"], name=op.f("fk_event_question_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_event")),
    )
