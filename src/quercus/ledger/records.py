"""What a ledger writes to its tables and reads from them, statement by statement."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple, NoReturn

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from quercus.ledger.question import Answer, Lesson, Opinion, Question
from quercus.ledger.statements import Statement
from quercus.ledger.tables import answer, case, event, question, row, snapshot, store
from quercus.ledger.values import from_micros, to_question

Values = dict[str, Any]
Columns = Mapping[str, Iterable[Any]]

# In the order of `Question`, times as microseconds and values as JSON.
_FEATURES = sa.func.coalesce(question.c.features, row.c.features).label("features")
QUESTIONS = sa.select(
    question.c.id,
    question.c.kind,
    question.c.place.label("row"),
    question.c.covered,
    question.c.asked_at,
    question.c.expires,
    question.c.price,
    question.c.worth,
    question.c.propensity,
    question.c.explored,
    question.c.prediction,
    question.c.probability,
    question.c.question,
    question.c.status,
    question.c.answered_at,
    question.c.answer,
    question.c.refunded,
    question.c.answer_order,
    question.c.changed,
    question.c.case_id.label("case"),
    row.c.key,
    _FEATURES,
).join(row, row.c.id == question.c.row_id)
_ONE = QUESTIONS.where(question.c.id == sa.bindparam("which"))
_THESE = QUESTIONS.where(question.c.id.in_(sa.bindparam("these", expanding=True)))
# Values in one statement: databases have their limits.
_PART = 1000
_ANSWERS = (
    sa.select(*(question.c[name] for name in ("id", "kind", "answer", "answer_order", "explored")), _FEATURES)
    .add_columns(case.c.state)
    .join(row, row.c.id == question.c.row_id)
    .outerjoin(case, case.c.id == question.c.case_id)
    .where(question.c.answer_order > sa.bindparam("after"))
    .order_by(question.c.answer_order)
)
_OF_KEY = sa.select(row.c.id, row.c.features).where(row.c.key == sa.bindparam("which"))
_INSERT_ROW = Statement(sa.insert(row), row.c.keys())
_INSERT_QUESTION = Statement(sa.insert(question), question.c.keys())
_INSERT_ANSWER = Statement(sa.insert(answer), ["question_id", "who", "came_at", "value", "corrects"])
_INSERT_EVENT = Statement(sa.insert(event), ["question_id", "happened_at", "what", "who"])
_CHANGE = sa.update(question).where(question.c.id == sa.bindparam("which"))
_SETTLE = Statement(
    _CHANGE.values(
        status="answered",
        answered_at=sa.bindparam("came_at"),
        answer=sa.bindparam("value"),
        answer_order=sa.bindparam("order"),
    )
)
_CORRECT = Statement(_CHANGE.values(answer=sa.bindparam("value"), changed=None))
_NOTE_CHANGE = Statement(_CHANGE.values(changed=sa.bindparam("is_changed")))
_GIVE_UP = Statement(_CHANGE.values(status="expired", refunded=sa.bindparam("refund")))
_SKIP = Statement(_CHANGE.values(skips=question.c.skips + 1))


class Counts(NamedTuple):
    """How far a ledger is."""

    asked: int
    features: int
    rows: int
    answered: int
    expired: int
    spent: Fraction
    state: bytes
    label_type: str | None
    about: str | None
    writes: int


def read_counts(connection: Connection) -> Counts:
    """Return how far a ledger is."""
    kept = connection.execute(sa.select(store.c.state, store.c.label_type, store.c.about, store.c.writes)).one()
    prices = sa.select(question.c.price, sa.func.count()).where(~question.c.refunded).group_by(question.c.price)
    return Counts(
        asked=_most(connection, question.c.id),
        features=_count(connection, question.c.kind == "feature"),
        rows=_most(connection, row.c.id),
        answered=_most(connection, question.c.answer_order),
        expired=_count(connection, question.c.status == "expired"),
        spent=sum((Fraction(price) * count for price, count in connection.execute(prices)), Fraction()),
        state=bytes(kept.state),
        label_type=kept.label_type,
        about=kept.about,
        writes=kept.writes,
    )


def count_writes(connection: Connection) -> int:
    """Return how often was written."""
    return int(connection.execute(sa.select(store.c.writes)).scalar_one())


def _count(connection: Connection, condition: sa.ColumnElement[bool]) -> int:
    return int(connection.execute(sa.select(sa.func.count()).select_from(question).where(condition)).scalar_one())


def read_open_labels(connection: Connection) -> list[Question]:
    """Return the open questions for labels, those that were skipped last."""
    chosen = QUESTIONS.where(question.c.status == "open", question.c.kind == "label")
    return _read(connection, chosen.order_by(question.c.skips, question.c.id))


def _most(connection: Connection, column: sa.Column[int]) -> int:
    return int(connection.execute(sa.select(sa.func.coalesce(sa.func.max(column), 0))).scalar_one())


def insert_row(connection: Connection, values: Values | None) -> None:
    """Add a row, if it is new."""
    if values is not None:
        _INSERT_ROW.run(connection, values)


def insert_question(connection: Connection, new_row: Values | None, values: Values) -> None:
    """Add a question, and its row if that is new."""
    insert_row(connection, new_row)
    _INSERT_QUESTION.run(connection, values)


def insert_rows(connection: Connection, rows: Columns, questions: Columns) -> None:
    """Add many rows, and questions about rows."""
    _INSERT_ROW.run_many(connection, rows)
    _INSERT_QUESTION.run_many(connection, questions)


def insert_answers(connection: Connection, answers: Columns) -> None:
    """Add answers."""
    _INSERT_ANSWER.run_many(connection, answers)


def settle_questions(connection: Connection, answers: Columns, order: Iterable[int]) -> None:
    """Give questions their answers, the so many-th of all."""
    if answers:
        _SETTLE.run_many(connection, {**answers, "which": answers["question_id"], "order": order})


def correct_question(connection: Connection, id: int, value: str) -> None:
    """Give a question another answer."""
    _CORRECT.run(connection, {"which": id, "value": value})


def note_changes(connection: Connection, changes: dict[int, bool]) -> None:
    """Note of questions whether their answers changed what the learner says."""
    if changes:
        _NOTE_CHANGE.run_many(connection, {"which": changes.keys(), "is_changed": changes.values()})


def give_up_question(connection: Connection, id: int, refund: bool, now: int) -> None:
    """End a question without an answer."""
    _GIVE_UP.run(connection, {"which": id, "refund": refund})
    note(connection, id, "withdrawn" if refund else "expired", None, now)


def skip_question(connection: Connection, id: int, who: str | None, now: int) -> None:
    """Put a question behind the others."""
    _SKIP.run(connection, {"which": id})
    note(connection, id, "skipped", who, now)


def note(connection: Connection, id: int, what: str, who: str | None, now: int) -> None:
    """Add an event."""
    _INSERT_EVENT.run(connection, {"question_id": id, "happened_at": now, "what": what, "who": who})


def find_key(connection: Connection, key: str) -> tuple[int, str] | None:
    """Return the row of a key and its features, None if there is none."""
    found = connection.execute(_OF_KEY, {"which": key}).one_or_none()
    return None if found is None else (found.id, found.features)


def find_questions(connection: Connection, key: str) -> list[Question]:
    """Return the questions about a row."""
    return _read(connection, QUESTIONS.where(row.c.key == key).order_by(question.c.id))


def read_these(connection: Connection, ids: Sequence[int]) -> list[Question]:
    """Return questions that are there, in any order."""
    if len(ids) == 1:
        return _read(connection, _ONE, which=ids[0])
    parts = (ids[start : start + _PART] for start in range(0, len(ids), _PART))
    return [found for part in parts for found in _read(connection, _THESE, these=part)]


def read_questions(connection: Connection, first: int, count: int) -> list[Question]:
    """Return questions from an id on."""
    return _read(connection, QUESTIONS.where(question.c.id.between(first, first + count - 1)).order_by(question.c.id))


def _read(connection: Connection, chosen: sa.Select[Any], **given: Any) -> list[Question]:
    return [to_question(found._asdict()) for found in connection.execute(chosen, given)]


def read_columns(connection: Connection) -> dict[str, Sequence[Any]]:
    """Return all questions by columns, values as they are stored."""
    names = [column.name for column in QUESTIONS.selected_columns]
    found = connection.execute(QUESTIONS.order_by(question.c.id)).all()
    return dict(zip(names, zip(*found, strict=True), strict=True)) if found else dict.fromkeys(names, ())


def read_open(connection: Connection) -> list[int]:
    """Return the ids of open questions, those that were skipped last."""
    chosen = sa.select(question.c.id).where(question.c.status == "open").order_by(question.c.skips, question.c.id)
    return list(connection.execute(chosen).scalars())


def read_due(connection: Connection, before: int) -> list[int]:
    """Return the ids of open questions whose last moment is not after this one."""
    chosen = sa.select(question.c.id).where(question.c.status == "open", question.c.expires <= before)
    return list(connection.execute(chosen.order_by(question.c.id)).scalars())


def read_settled(connection: Connection, after: int) -> list[Row[Any]]:
    """Return what an estimate of accuracy needs of the questions after one, up to the first that is open."""
    labels = question.c.kind == "label"
    first_open = sa.select(sa.func.min(question.c.id)).where(question.c.status == "open", labels)
    waiting = connection.execute(first_open.where(question.c.id > after)).scalar_one()
    columns = ("id", "place", "covered", "propensity", "status", "answer", "prediction")
    chosen = sa.select(*[question.c[name] for name in columns]).where(question.c.id > after, labels)
    if waiting is not None:
        chosen = chosen.where(question.c.id <= waiting)
    return list(connection.execute(chosen.order_by(question.c.id)))


def read_answers(connection: Connection, after: int) -> list[Answer]:
    """Return the answers after so many, in order of arrival, as they stand now."""
    return [
        Answer(found.id, json.loads(found.answer), found.answer_order)
        for found in connection.execute(_ANSWERS, {"after": after})
    ]


def read_lessons(connection: Connection, after: int) -> list[Lesson]:
    """Return the labels after so many answers, with what was known of their rows, in order of arrival."""
    return [
        Lesson(
            found.id,
            json.loads(found.features),
            json.loads(found.answer),
            bool(found.explored),
            found.answer_order,
            None if found.state is None else json.loads(found.state),
        )
        for found in connection.execute(_ANSWERS, {"after": after})
        if found.kind == "label"
    ]


def read_opinions(connection: Connection, id: int) -> list[Opinion]:
    """Return all answers to a question, oldest first."""
    chosen = sa.select(answer).where(answer.c.question_id == sa.bindparam("which")).order_by(answer.c.id)
    return [
        Opinion(found.id, json.loads(found.value), found.who, from_micros(found.came_at), found.corrects)
        for found in connection.execute(chosen, {"which": id})
    ]


def save_snapshot(connection: Connection, learned: int, model: bytes, keep: int, now: int) -> None:
    """Keep a model that has learned so many answers, the starting one, and the newest others."""
    connection.execute(sa.delete(snapshot).where(snapshot.c.learned == learned))
    connection.execute(sa.insert(snapshot), {"learned": learned, "made_at": now, "model": model})
    newest = sa.select(snapshot.c.learned).order_by(snapshot.c.learned.desc()).limit(keep)
    kept = [0, *connection.execute(newest).scalars()]
    connection.execute(sa.delete(snapshot).where(snapshot.c.learned.not_in(kept)))


def drop_snapshots(connection: Connection, since: int) -> None:
    """Forget the models that had learned this answer."""
    connection.execute(sa.delete(snapshot).where(snapshot.c.learned >= since))


def read_snapshots(connection: Connection) -> list[tuple[int, bytes]]:
    """Return all models, those that have learned most first."""
    chosen = sa.select(snapshot.c.learned, snapshot.c.model).order_by(snapshot.c.learned.desc())
    return [(found.learned, bytes(found.model)) for found in connection.execute(chosen)]


def insert_case(connection: Connection, new_row: Values | None, values: Values) -> None:
    """Add a case, and its row if that is new."""
    insert_row(connection, new_row)
    connection.execute(sa.insert(case), values)


def change_case(connection: Connection, id: int, **values: Any) -> None:
    """Change what a case knows, or close it."""
    if connection.execute(sa.update(case).where(case.c.id == id).values(**values)).rowcount != 1:
        _refuse_case(connection, id)


def read_cases(connection: Connection, key: str | None) -> list[tuple[int, str | None, bool, dict[str, Any]]]:
    """Return number, key, whether it is closed, and state of the cases about a row, or all open ones, oldest first."""
    columns = (case.c.id, row.c.key, case.c.closed, case.c.state)
    condition = ~case.c.closed if key is None else row.c.key == key
    chosen = sa.select(*columns).join(row, row.c.id == case.c.row_id).where(condition).order_by(case.c.id)
    return [(found.id, found.key, found.closed, json.loads(found.state)) for found in connection.execute(chosen)]


def _refuse_case(connection: Connection, id: Any) -> NoReturn:
    raise ValueError(f"there is no case {id!r}; the ledger holds {count_cases(connection)}, numbered from 1.")


def read_case(connection: Connection, id: int) -> dict[str, Any]:
    """Return the state of a case."""
    state = connection.execute(sa.select(case.c.state).where(case.c.id == id)).scalar_one_or_none()
    if state is None:
        _refuse_case(connection, id)
    found: dict[str, Any] = json.loads(state)
    return found


def find_label_of_case(connection: Connection, id: int) -> Question | None:
    """Return the question for the label of a case, None if there is none."""
    chosen = QUESTIONS.where(question.c.case_id == id, question.c.kind == "label").order_by(question.c.id).limit(1)
    return next(iter(_read(connection, chosen)), None)


def find_row_of_case(connection: Connection, id: int) -> tuple[int, str | None]:
    """Return the row that a case is about, and its key."""
    chosen = sa.select(row.c.id, row.c.key).join(case, case.c.row_id == row.c.id).where(case.c.id == id)
    found = connection.execute(chosen).one_or_none()
    if found is None:
        _refuse_case(connection, id)
    return found.id, found.key


def count_cases(connection: Connection) -> int:
    """Return how many cases there are."""
    return _most(connection, case.c.id)


def read_purchases(connection: Connection) -> list[float]:
    """Return the prices of features that were bought, in order."""
    bought = sa.select(question.c.price).where(question.c.kind == "feature", ~question.c.refunded)
    return list(connection.execute(bought.order_by(question.c.id)).scalars())


def save_about(connection: Connection, about: str) -> None:
    """Keep whose ledger it is."""
    connection.execute(sa.update(store).values(about=about))
