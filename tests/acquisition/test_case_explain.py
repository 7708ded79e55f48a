import json

from tests.acquisition.fakes import Buyer, fitted


def test_the_text_tells_the_whole_case():
    model = fitted(budget=100)
    case = model.open({"age": 4}, explore=False)
    assert case.question == "blood"
    case.answer({"hb": 12, "crp": 1})
    case.refuse("job")
    assert case.stopped == "budget"
    lines = str(case.explain()).split("\n  ")
    assert lines[0].startswith("predicts 'ill' (")
    assert lines[0].endswith("%), for 20")
    assert lines[1].startswith("known at first: age = 4; then 'well' (")
    assert lines[2].startswith("bought blood for 20: hb = 12, crp = 1; then 'ill' (")
    assert lines[3] == "job could not be had"
    assert (
        lines[4] == "stopped: the money that is left buys nothing more; with more money it would ask for mri, for 500"
    )
    assert len(lines) == 5
    result = case.explain()
    assert (result.stopped, result.next, result.next_price, result.closed) == ("budget", "mri", 500.0, None)
    assert result.steps[1].probability == result.probabilities["ill"]
    model.learn(case, "ill")
    after = case.explain()
    assert str(after).split("\n  ")[:5] == lines
    assert str(after).endswith("closed: it was 'ill', which has been learned")
    assert (after.closed, after.label, after.probabilities) == ("learned", "ill", result.probabilities)


def test_orders_and_late_results_are_told_in_their_order():
    case = fitted().open()
    case.order("mri")
    case.order("blood")
    case.receive(crp=0)
    text = str(case.explain())
    assert "nothing known at first: 'well' (" in text
    assert text.index("ordered mri for 500") < text.index("ordered blood for 20") < text.index("came: crp = 0; then ")
    assert "still waiting for mri, hb" in text
    case.cancel()
    assert str(case.explain()).endswith("closed: cancelled, nothing was learned")
    case = fitted().open({"age": 3}, explore=False)
    assert case.question == "blood"
    case.answer({"crp": 0})
    assert "bought blood for 20: crp = 0, hb to come; then" in str(case.explain())


def test_what_is_too_dear_is_told_also_where_the_rest_tells_too_little():
    table = {"age": [1.0] * 20, "mri": [0.0, 1.0] * 10}
    model = Buyer(costs={"mri": 500}, gain=0.05).fit(table, ["x", "y"] * 10)
    result = model.open(explore=False, budget=10).explain()
    assert (result.stopped, result.next, result.next_price) == ("gain", "mri", 500.0)
    assert model.open({"mri": 1}, explore=False, budget=10).explain().next is None
    assert model.open({"mri": 1}, explore=False).explain().next is None


def test_looking_does_not_ask():
    case = fitted().open({"age": 4}, explore=False)
    before = case.to_dict()
    assert str(case.explain()).endswith("asks next for blood, for 20")
    assert case.explain().next == "blood"
    assert case.to_dict() == before
    case.cancel()
    assert "would have asked next for blood, for 20" in str(case.explain())


def test_before_any_learning():
    case = Buyer(costs={"age": 0, "mri": 5}).open()
    assert str(case.explain()) == (
        "predicts nothing yet: no label has been learned, without buying anything\n  asks next for age, for free"
    )


def test_a_case_for_a_person():
    text = str(fitted(refer=0.01).open({"mri": 1, "crp": 0}, explore=False).explain())
    assert text.startswith("to be given to a person (most probable: '")


def test_odd_names_stay_on_one_line():
    model = Buyer(confidence=None).fit({"a\nb": ["x\ny", "z"]}, ["p\nq", "r"])
    case = model.open({"a\nb": "x\ny"})
    assert len(str(case.explain()).split("\n")) == 3
    json.dumps(case.explain().to_dict())


def test_the_data_is_json():
    case = fitted(refer=0.01).open({"age": 4})
    case.order("blood")
    result = case.explain()
    assert json.loads(json.dumps(result.to_dict()))["prediction"] == "REFER"
    assert json.loads(json.dumps(result.to_dict()))["waiting"] == ["hb", "crp"]
    assert repr(result) == str(result)
