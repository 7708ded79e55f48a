"""Blocks of one transaction that fail inside, and go on."""

import pytest

from quercus.ledger import Ledger, LedgerFileError, records
from tests.conftest import new_database


def fail_inside(ledger):
    with ledger.together():
        ledger.answer(ledger.ask({"a": 2}, row=1, covered=2), "yes")
        raise ZeroDivisionError


def test_a_block_inside_another_fails_alone(any_store):
    store = any_store
    with Ledger(store) as ledger:
        with ledger.together():
            ledger.ask({"a": 1}, row=0, covered=1, price=2.0)
            with pytest.raises(ZeroDivisionError):
                fail_inside(ledger)
            assert (ledger.asked, ledger.answered, ledger.spent) == (1, 0, 2.0)
            assert ledger.ask({"a": 3}, row=2, covered=3) == 2
        assert [question.features for question in ledger.questions()] == [{"a": 1.0}, {"a": 3.0}]
        assert ledger.answer(2, 7)
    if store is not None:
        with Ledger(store) as ledger:
            assert (ledger.asked, ledger.answered, ledger.spent) == (2, 1, 3.0)


@pytest.mark.parametrize("make", [lambda: None, new_database])
def test_a_statement_that_fails_in_a_block_undoes_nothing_else(make, monkeypatch):
    ledger = Ledger(make())
    insert = records.insert_question

    def insert_twice(connection, row, question):
        insert(connection, row, question)
        insert(connection, row, question)

    with ledger.together():
        ledger.ask({"a": 1}, row=0, covered=1)
        with monkeypatch.context() as broken:
            broken.setattr(records, "insert_question", insert_twice)
            with pytest.raises(LedgerFileError, match="could not be used"):
                ledger.ask({"a": 2}, row=1, covered=2)
        assert ledger.ask({"a": 3}, row=1, covered=2) == 2
    assert [question.features for question in ledger.questions()] == [{"a": 1.0}, {"a": 3.0}]
    assert ledger.asked == 2
