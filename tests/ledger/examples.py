"""What the tests of the ledger share."""

import dataclasses
from datetime import UTC, datetime, timedelta

START = datetime(2026, 1, 1, tzinfo=UTC)


def at(minutes):
    return START + timedelta(minutes=minutes)


def ask(ledger, features=None, **given):
    """Ask something at the first moment, about the first row unless told otherwise."""
    given = {"row": 0, "covered": 1, "time": START} | given
    return ledger.ask({"age": 41.0, "job": "clerk"} if features is None else features, **given)


def contents(ledger):
    """Everything a ledger tells, as plain values that can be compared."""
    questions = [dataclasses.asdict(question) for question in ledger.questions()]
    assert questions == [dataclasses.asdict(ledger.question(id)) for id in range(1, len(ledger) + 1)]
    # equal values of two types, as 1 and True, are not the same here
    typed = [{name: (type(value).__name__, value) for name, value in question.items()} for question in questions]
    for question in typed:
        features = question["features"][1]
        question["features"] = {name: (type(value).__name__, value) for name, value in features.items()}
        # Tables have no column for what nobody named.
        question["features"] = {n: v for n, v in question["features"].items() if v[1] is not None}
    return typed, (ledger.asked, ledger.answered, ledger.expired, ledger.spent, ledger.open_ids)


def fill(ledger):
    """One question of each fate, and two asked at once."""
    ask(ledger, worth=0.5, propensity=0.25, prediction="no", probability=0.75, state=b"first")
    ask(ledger, {"age": None, "job": "cook", "ok": True}, row=2, covered=2, price=2.5, expires=at(5))
    ask(ledger, {"age": 29}, row=3, covered=3, price=0.1, explored=True)
    ask(ledger, {"note": "λ\0\n\"'"}, row=3, covered=3)
    ledger.ask_rows(
        {"age": [1.5, float("nan")], "job": ["cook", None]},
        row=[5, 6],
        covered=[5, 5],
        time=at(1),
        answers=["yes", None],
        state=b"second",
    )
    ledger.answer(3, "yes", time=at(2))
    ledger.expire(at(5), refund=True)
    ledger.answer(1, "no", time=at(3))
    ledger.expire_one(4)
    ledger.note_change(3, True)
    return ledger


def abandon(ledger):
    """Leave a ledger as a killed process does: nothing is tidied up, and its locks are gone."""
    database = ledger._database
    if database.is_server:
        database._connection.connection.driver_connection.pgconn.finish()
    else:
        database._lock.close()
