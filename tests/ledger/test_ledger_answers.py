"""Answers that come together, of one person or several."""

import pytest

from quercus.ledger import AnswerConflict, LabelMismatch, Ledger


def two(store=None):
    ledger = Ledger(store)
    ledger.ask_rows({"a": [1, 2]}, row=[0, 1], covered=[1, 2])
    return ledger


def test_the_first_labels_that_come_together_are_of_one_type():
    ledger = two()
    with pytest.raises(LabelMismatch, match="labels were str and the answer to question 2 is int"):
        ledger.answer_many([(1, "yes"), (2, 5)])
    assert ledger.open_ids == [1, 2]
    assert ledger.answer_many([(1, 4), (2, 5)]) == [1, 2]


def test_a_second_opinion_given_twice_at_once_is_one(any_store):
    ledger = two(any_store)
    ledger.answer(1, "yes", who="ada")
    with pytest.raises(AnswerConflict, match="has the answer 'no' and now gets 'odd'"):
        ledger.answer_many([(1, "no"), (1, "odd")], who="bob")
    assert len(ledger.opinions(1)) == 1
    assert ledger.answer_many([(1, "no"), (2, "no"), (1, "no")], who="bob") == [2]
    assert [(one.label, one.who) for one in ledger.opinions(1)] == [("yes", "ada"), ("no", "bob")]


@pytest.mark.parametrize(
    ("who", "error"), [(5, TypeError), (b"ada", TypeError), ("a\0b", ValueError), ("\ud800", ValueError)]
)
def test_a_person_has_a_name_that_every_database_keeps(who, error, any_store):
    ledger = two(any_store)
    ledger.answer(1, "yes")
    for act in (
        lambda: ledger.answer(2, "no", who=who),
        lambda: ledger.answer_many([(2, "no")], who=who),
        lambda: ledger.correct(1, "no", who=who),
        lambda: ledger.skip(2, who=who),
    ):
        with pytest.raises(error, match="who"):
            act()
    with pytest.raises((TypeError, ValueError), match="question"):
        ledger.ask({"a": 1}, row=2, covered=3, kind="feature", question=who)
    assert (ledger.asked, ledger.answered, ledger.question(1).answer, ledger.open_ids) == (2, 1, "yes", [2])
