import gc
import math

import pytest

from quercus.acquisition.history import Step
from tests.acquisition.fakes import PRICES, Buyer, fitted, patients


def state_of(case):
    return case.to_dict(), case._model.spent_


def refused(case, call, error, words):
    """The call raises, and nothing has changed."""
    before = state_of(case)
    with pytest.raises(error, match=words):
        call()
    assert state_of(case) == before


def test_a_case_from_the_first_question_to_learning():
    model = fitted(confidence=0.9)
    case = model.open({"age": 41}, explore=False)
    assert case.question == "blood"
    assert case.question == "blood"
    assert case.price == 20.0
    assert case.stopped is None
    case.answer({"hb": 13.1, "crp": None})
    assert (case.cost, case.bought, case.known) == (20.0, {"blood": 20.0}, {"age": 41, "hb": 13.1})
    asked = ["blood"]
    while case.question is not None:
        asked.append(case.question)
        case.answer("cook" if case.question == "job" else 1)
    assert asked[-1] == "mri"
    assert case.stopped == "confident"
    assert case.prediction == "ill"
    assert sum(case.probabilities.values()) == pytest.approx(1.0)
    assert list(case.probabilities) == ["ill", "well"]
    assert case.cost == sum(case.bought.values()) == model.spent_
    said, shares = case.prediction, case.probabilities
    rows = sum(model._state.n)
    model.learn(case, "well")
    assert sum(model._state.n) == rows + 1
    assert (case.question, case.stopped) == (None, "closed")
    assert (case.prediction, case.probabilities) == (said, shares)


def test_what_is_known_costs_nothing_and_is_not_asked_for():
    model = fitted(confidence=None, gain=0.0)
    case = model.open({"hb": 12, "crp": 1.0, "mri": 1, "age": None, "job": math.nan})
    assert case.known == {"hb": 12, "crp": 1.0, "mri": 1}
    assert case.question == "age"
    assert case.cost == 0
    case.answer(3)
    assert case.question == "job"


def test_a_group_costs_its_price_however_much_of_it_is_known():
    case = fitted().open({"hb": 12})
    case.order("blood")
    assert (case.waiting, case.cost) == (["crp"], 20.0)


def test_results_left_out_of_a_group_stay_ordered():
    case = fitted().open({"age": 4}, explore=False)
    assert case.question == "blood"
    case.answer({"crp": 1})
    assert case.waiting == ["hb"]
    assert case.question != "blood"
    case.receive(hb=None)
    assert case.waiting == []
    assert "hb" not in case.known


@pytest.mark.parametrize("nothing", [None, math.nan])
def test_no_result_costs_the_same_and_is_not_asked_again(nothing):
    case = fitted().open({"age": 4}, explore=False)
    assert case.question == "blood"
    case.answer(nothing)
    assert (case.cost, case.waiting, case.known) == (20.0, [], {"age": 4})
    assert case.question not in ("blood", None)


def test_refusals_cost_nothing_and_are_not_asked_again():
    case = fitted().open({"age": 4}, explore=False)
    assert case.question == "blood"
    case.refuse("blood")
    case.refuse("blood")
    assert (case.cost, case.bought) == (0.0, {})
    assert case.question not in ("blood", None)
    case.order("blood")  # people change their minds
    assert case.waiting == ["hb", "crp"]
    assert not case._history.refused


def test_orders_whose_results_come_in_any_order():
    case = fitted().open()
    case.order("mri", "blood")
    assert (case.waiting, case.cost) == (["mri", "hb", "crp"], 520.0)
    case.receive({"crp": 1})
    case.receive(mri=1.0, hb=12)
    assert case.known == {"crp": 1, "mri": 1.0, "hb": 12}
    case.receive(mri=1)
    assert [step.kind for step in case.explain().steps] == ["known", "bought", "bought", "came", "came"]


def test_requirements_wait_for_results():
    model = fitted(requires={"mri": ["blood"]}, confidence=None, gain=0.0)
    case = model.open({"age": 4, "job": "cook"})
    refused(case, lambda: case.order("mri"), ValueError, "'mri' requires 'blood', of which there is no result yet")
    case.order("blood")
    refused(case, lambda: case.order("mri"), ValueError, "requires 'blood'")
    assert case.question is None
    case.receive(hb=12, crp=None)
    assert case.question == "mri"
    other = model.open({"age": 4, "job": "cook"})
    other.refuse("blood")
    assert other.question == "mri"


def test_wrong_calls_say_so_and_change_nothing():
    case = fitted().open({"age": 4}, explore=False)
    refused(case, lambda: case.answer(3), ValueError, "no question is open.*read case.question")
    assert case.question == "blood"
    refused(case, lambda: case.answer(3), TypeError, "the group 'blood', and 3 is no dict.*'hb', 'crp'")
    refused(case, lambda: case.answer({"mri": 3}), ValueError, "'mri' is not in 'blood'")
    refused(case, lambda: case.answer({"hb": "low"}), ValueError, "column 'hb' is numeric but holds 'low'")
    refused(case, lambda: case.answer({"hb": 12, "crp": math.inf}), ValueError, "column 'crp' holds inf")
    refused(case, lambda: case.answer({"hb": [12]}), TypeError, "a list")
    refused(case, lambda: case.refuse("hb"), ValueError, "'hb' cannot be bought alone; it is in the group 'blood'")
    refused(case, lambda: case.refuse("age"), ValueError, "'age' is known already")
    refused(case, lambda: case.refuse("heart"), ValueError, "nothing named 'heart' to buy; there are 'age', 'blood'")
    refused(case, lambda: case.refuse(3), TypeError, "3 is no name")
    refused(case, case.order, ValueError, "names nothing")
    refused(case, lambda: case.order("mri", "mri"), ValueError, "twice")
    refused(case, lambda: case.order("mri", "age"), ValueError, "'age' is known already")
    refused(case, lambda: case.order("mri", "crp"), ValueError, "in the group 'blood'")
    refused(case, lambda: case.receive(mri=1), ValueError, "'mri' was not ordered")
    refused(case, lambda: case.receive(heart=1), ValueError, "no feature 'heart'; the features are 'age'")
    refused(case, lambda: case.receive({"hb": 1}, hb=2), ValueError, "given twice")
    refused(case, lambda: case.receive([1]), TypeError, "a dict of values")
    refused(case, lambda: case.receive(age=5), ValueError, "'age' has the result 4 and now gets 5; a result stays")
    case.order("mri")
    refused(case, lambda: case.order("mri"), ValueError, "'mri' is bought already, for 500")
    refused(case, lambda: case.refuse("mri"), ValueError, "'mri' is bought and cannot be refused")
    refused(case, lambda: case.receive(mri=1, job="cook"), ValueError, "'job' was not ordered.*waits for 'mri'")
    case.receive(mri=None)
    refused(case, lambda: case.receive(mri=1), ValueError, "came back without a result and now gets 1")


def test_a_second_answer_is_refused():
    case = fitted().open({"age": 4}, explore=False)
    assert case.question == "blood"
    case.answer({"hb": 12, "crp": 1})
    refused(case, lambda: case.answer({"hb": 12, "crp": 1}), ValueError, "the last one is answered")
    while case.question is not None:
        case.answer(None)
    refused(case, lambda: case.answer(1), ValueError, r"asks for nothing more \(gain\)")


def test_a_single_feature_may_be_answered_by_a_dict():
    case = fitted().open({"age": 4}, explore=False)
    case.refuse("blood")
    case.refuse("job")
    assert case.question == "mri"
    case.answer({"mri": 1})
    assert case.known["mri"] == 1


def test_a_new_category_is_fine():
    model = fitted()
    case = model.open({"job": "pilot", "age": 4})
    assert case.prediction in ("ill", "well")
    model.learn(case, "ill")
    assert model.schema_.categories[4][-1] == "pilot"


def test_a_closed_case_takes_nothing():
    model = fitted()
    case, learned = model.open(), model.open({"age": 3})
    case.order("mri")
    case.cancel()
    model.learn(learned, "ill")
    for call in (
        lambda case: case.answer(1),
        lambda case: case.order("blood"),
        lambda case: case.receive(mri=1),
        lambda case: case.refuse("blood"),
        lambda case: case.cancel(),
        lambda case: model.learn(case, "ill"),
    ):
        refused(case, lambda call=call: call(case), ValueError, "closed: it was cancelled; open a new one")
        refused(learned, lambda call=call: call(learned), ValueError, "closed: it was learned from")
    assert case.cost == model.spent_ == 500.0


def test_learning_refuses_what_is_no_case_of_this_model_and_no_label():
    model, other = fitted(), fitted()
    case = model.open({"age": 3})
    refused(case, lambda: other.learn(case, "ill"), ValueError, r"of another model; .* resume\(case.to_dict\(\)\)")
    refused(case, lambda: model.learn({"age": 3}, "ill"), TypeError, "a dict is no case")
    refused(case, lambda: model.learn(case, None), ValueError, "label.*missing")
    refused(case, lambda: model.learn(case, 3), ValueError, "labels were str and are now int")
    refused(case, lambda: model.learn(case, "ill", -1), ValueError, "weight")
    assert case.stopped != "closed"
    other.learn(other.resume(case.to_dict()), "ill")


def test_cases_are_learned_from_in_any_order_with_open_orders():
    model = fitted()
    cases = [model.open({"age": age}) for age in range(3, 8)]
    for case in cases:
        case.order("mri")
    for case in reversed(cases):
        if case is not cases[0]:
            case.receive(mri=1)
        rows = sum(model._state.n)
        model.learn(case, "ill")
        assert sum(model._state.n) == rows + 1
    assert model.spent_ == 2500.0


def test_an_answer_belongs_to_the_question_that_was_seen():
    model = fitted(confidence=None)
    case = model.open({"age": 4}, explore=False)
    assert case.question == "blood"
    model.fit(
        {"age": [3.0, 4.0], "hb": [1.0, 1.0], "crp": [1.0, 1.0], "mri": [0.0, 1.0], "job": ["a", "a"]}, ["x", "y"]
    )
    fresh = model.open({"age": 4}, explore=False)
    assert fresh.question != "blood"
    assert case.question == "blood"
    case.answer({"hb": 1, "crp": 1})
    assert case.bought == {"blood": 20.0}


def test_new_prices_count_at_once_and_what_was_bought_keeps_its_own():
    model = fitted()
    case = model.open({"age": 4}, explore=False, budget=550)
    assert case.question == "blood"
    model.set_costs({"blood": 600})
    assert case.question not in ("blood", None)
    case.order("mri")
    model.set_costs({"mri": 1})
    assert case.bought == {"mri": 500.0}
    assert model.costs == {"mri": 1.0, "blood": 600.0, "age": 0.0}
    with pytest.raises(ValueError, match="neither a feature nor a group"):
        model.set_costs({"mri": 2, "heart": 3})
    assert model.costs["mri"] == 1.0
    assert PRICES["costs"]["mri"] == 500


def test_an_answer_in_hand_is_paid_at_the_price_that_was_asked():
    model = fitted()
    case = model.open({"age": 4}, explore=False, budget=25)
    assert case.question == "blood"
    model.set_costs({"blood": 600})
    case.answer({"hb": 12})
    assert case.cost == 20.0


def test_a_case_of_a_model_that_has_learned_other_features_says_so():
    model = Buyer().fit({"age": [3.0, 4.0], "mri": [0.0, 1.0]}, ["x", "y"])
    case = model.open({"age": 4})
    model.fit({"hb": [3.0, 4.0], "mri": [0.0, 1.0]}, ["x", "y"])
    with pytest.raises(ValueError, match="the case knows 'age', which this model has no feature of"):
        case.question  # noqa: B018
    case.cancel()
    assert case.stopped == "closed"


def test_thousands_of_cases_are_small():
    model = fitted()
    cases = [model.open({"age": age % 7}) for age in range(2000)]
    assert len({case._saved.seed for case in cases}) == 2000
    gc.collect()
    held = [gc.get_referents(cases[0]), gc.get_referents(cases[0]._history), gc.get_referents(cases[0]._saved)]
    assert not any(type(thing).__module__ == "numpy" for part in held for thing in part)
    assert len(str(cases[0].to_dict())) < 400
    model.learn(cases[1500], "ill")


def test_repr_does_not_plan():
    case = fitted().open()
    case._model._plan = None
    assert repr(case) == "Case(number=1, bought=0, cost=0, open)"


def test_steps_that_do_not_follow_are_refused():
    case = fitted().open({"age": 4})
    for step, words in (
        (Step(kind="known"), "after other steps"),
        (Step(kind="came", results={"hb": 1}), "without having been ordered"),
        (Step(kind="refused", item="age", features=("age",)), "after it was known"),
        (Step(kind="bought", item="mri", features=("mri",), results={"hb": 1}), "without having been ordered"),
    ):
        with pytest.raises(ValueError, match=words):
            case._history.take(step)
    assert len(case._history.steps) == 1


def test_fakes_learn_something():
    model = fitted()
    table, labels = patients(200, seed=1)
    rows = [dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True)]
    hits = sum(model.predict_one(row) == label for row, label in zip(rows, labels, strict=True))
    assert hits > 180


def test_groups_that_change_under_an_open_question():
    model = fitted(confidence=None)
    case = model.open({"age": 4, "hb": 12}, explore=False)
    assert case.question == "blood"
    model.set_params(groups={"blood": ["hb"]})
    refused(case, lambda: case.answer({"hb": 12}), ValueError, "brings nothing new")
    assert case.question not in ("blood", None)
    model.set_params(groups=None, costs=None)
    assert case.question != "blood"
