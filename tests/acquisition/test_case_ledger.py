import json
import math

import pytest

from quercus.ledger import Ledger
from tests.acquisition.fakes import fitted


def test_every_purchase_is_a_row():
    model, ledger = fitted(), Ledger()
    model.open()
    case = model.open({"age": 4}, explore=False, ledger=ledger)
    assert case.question == "blood"
    assert ledger.asked == 0
    before = case.prediction, case.probabilities[case.prediction]
    case.answer({"hb": 12, "crp": None})
    row = ledger.question(1)
    assert (row.kind, row.question, row.price, row.row) == ("feature", "blood", 20.0, 1)
    assert (row.propensity, row.explored, row.status) == (1.0, False, "answered")
    assert row.features == {"age": 4.0}
    assert (row.prediction, row.probability) == before
    assert row.worth == case.explain().steps[1].worth > 0
    assert json.loads(row.answer) == {"hb": 12.0, "crp": None}
    case.order("mri")
    row = ledger.question(2)
    assert (row.status, row.worth, row.propensity, row.features["hb"]) == ("open", None, None, 12.0)
    case.receive(mri=1)
    assert ledger.question(2).answer == 1.0
    assert ledger.spent == case.cost == model.spent_


def test_exploring_is_noted():
    ledger = Ledger()
    case = fitted().open({"age": 4}, ledger=ledger)
    assert case.question
    case.answer(None)
    assert ledger.question(1).explored


def test_refused_ones_are_withdrawn():
    ledger = Ledger()
    case = fitted().open({"age": 4}, ledger=ledger)
    case.refuse("mri")
    case.refuse("mri")
    row = ledger.question(1)
    assert (row.question, row.status, row.refunded) == ("mri", "expired", True)
    assert (ledger.asked, ledger.spent, case.cost) == (1, 0.0, 0.0)
    case.order("mri")
    assert ledger.spent == 500.0


def test_what_comes_back_without_a_result_stays_paid():
    ledger = Ledger()
    case = fitted().open({"age": 4}, ledger=ledger)
    case.order("mri", "blood")
    case.receive(mri=None, hb=math.nan)
    assert [ledger.question(id).status for id in (1, 2)] == ["expired", "open"]
    case.receive(crp=None)
    assert [ledger.question(id).status for id in (1, 2)] == ["expired", "expired"]
    assert ledger.spent == case.cost == 520.0


@pytest.mark.parametrize("close", [lambda case: case.cancel(), lambda case: case._model.learn(case, "ill")])
def test_closing_gives_up_what_has_not_come(close):
    ledger = Ledger()
    case = fitted().open({"age": 4}, ledger=ledger)
    case.order("mri", "blood")
    case.receive(hb=3)
    close(case)
    assert ledger.open_ids == []
    assert ledger.spent == 520.0


def test_values_that_a_ledger_cannot_hold_are_refused_before_anything_is_bought():
    model, ledger = fitted(), Ledger()
    case = model.open({"age": 4}, explore=False, ledger=ledger)
    assert case.question == "blood"
    before = case.to_dict()
    with pytest.raises(ValueError, match="no float holds exactly"):
        case.answer({"hb": 2**53 + 1})
    with pytest.raises(ValueError, match="no float holds exactly"):
        model.open({"hb": 2**53 + 1}, ledger=ledger)
    assert (case.to_dict(), ledger.asked, model.spent_, model._opened) == (before, 0, 0.0, 1)


def test_a_ledger_that_takes_nothing_leaves_the_case_as_it_was():
    model, ledger = fitted(), Ledger()
    case = model.open({"age": 4}, explore=False, ledger=ledger)
    assert case.question == "blood"
    ledger.close()
    before = case.to_dict()
    for call in (lambda: case.answer(None), lambda: case.order("mri"), lambda: case.refuse("mri")):
        with pytest.raises(ValueError, match="ledger is closed"):
            call()
        assert (case.to_dict(), model.spent_) == (before, 0.0)
