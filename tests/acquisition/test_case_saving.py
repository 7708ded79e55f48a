import copy
import json
import random

import pytest

from quercus.ledger import Ledger
from tests.acquisition.fakes import fitted


def full():
    """A case with all that a case can have."""
    model = fitted(confidence=None)
    case = model.open({"age": 4})
    case.order("blood")
    case.receive(hb=12)
    case.refuse("job")
    assert case.question == "mri"
    return model, case


def test_a_saved_case_is_plain_json_and_goes_on():
    model, case = full()
    state = json.loads(json.dumps(case.to_dict(), allow_nan=False))
    again = model.resume(state)
    assert again.to_dict() == case.to_dict() == state
    assert (again.waiting, again.cost, again.known, again.bought) == (case.waiting, case.cost, case.known, case.bought)
    again.answer(1)  # the question that was seen before saving
    assert again.known["mri"] == 1
    with pytest.raises(ValueError, match="asks for nothing more"):
        model.resume(again.to_dict()).answer(1)


@pytest.mark.parametrize("how", ["learned", "cancelled"])
def test_a_closed_case_is_kept_as_it_was(how):
    model, case = full()
    if how == "learned":
        model.learn(case, "ill")
    else:
        case.cancel()
    again = model.resume(json.loads(json.dumps(case.to_dict())))
    assert again.stopped == "closed"
    assert (again.prediction, again.probabilities) == (case.prediction, case.probabilities)
    assert str(again.explain()) == str(case.explain())
    with pytest.raises(ValueError, match="closed"):
        model.learn(again, "ill")


def test_labels_keep_their_types():
    for labels in ([0, 1], [False, True], ["0", "1"]):
        model = fitted().fit({"age": [1.0, 2.0], "hb": [1.0, 2.0], "crp": [1.0, 2.0], "mri": [0.0, 1.0]}, labels)
        case = model.open({"mri": 1})
        model.learn(case, labels[1])
        again = model.resume(json.loads(json.dumps(case.to_dict())))
        assert [type(label) for label in again.probabilities] == [type(label) for label in labels]
        assert type(again.explain().label) is type(labels[1])


def test_another_model_takes_a_case_if_it_has_its_features():
    _, case = full()
    assert fitted(seed=5).resume(case.to_dict()).known == case.known
    small = fitted(costs=None, groups=None).fit({"age": [1.0, 2.0], "mri": [0.0, 1.0]}, ["x", "y"])
    with pytest.raises(ValueError, match="no feature 'hb'; the features are 'age', 'mri'"):
        small.resume(case.to_dict())
    texts = fitted(groups=None, costs=None).fit({"age": ["x", "y"], "hb": [1.0, 2.0], "crp": [0.0, 1.0]}, ["x", "y"])
    with pytest.raises(ValueError, match="column 'age' is nominal but holds the number 4"):
        texts.resume(case.to_dict())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda state: state.pop("quercus_case"), "quercus_case is None"),
        (lambda state: state.update(quercus_case=2), "written by format 2.*upgrade quercus"),
        (lambda state: state.update(seed="7"), "seed is '7'"),
        (lambda state: state.update(seed=2**60), "seed is"),
        (lambda state: state.update(number=-1), "number is -1"),
        (lambda state: state.update(explore=None), "explore is None"),
        (lambda state: state.update(budget=-2), "budget is -2"),
        (lambda state: state.update(steps={}), "steps is {}"),
        (lambda state: state.update(steps=[]), "steps is"),
        (lambda state: state["steps"].pop(0), r"steps\[0\].kind is 'bought'"),
        (lambda state: state["steps"].append({"kind": "known"}), r"steps\[4\].kind is 'known'"),
        (lambda state: state["steps"].append(state["steps"][1]), r"in steps\[4\] 'blood' is bought twice"),
        (lambda state: state["steps"].append(state["steps"][2]), r"in steps\[4\] 'hb' has a result without"),
        (lambda state: state["steps"][1].update(price=float("nan")), r"steps\[1\].price is nan"),
        (lambda state: state["steps"][1].update(price="20"), r"steps\[1\].price is '20'"),
        (lambda state: state["steps"][1].update(features="hb"), r"steps\[1\].features is 'hb'"),
        (lambda state: state["steps"][1].update(features=["hb", "hb"]), r"steps\[1\].features"),
        (lambda state: state["steps"][1].pop("item"), r"steps\[1\].item is None"),
        (lambda state: state["steps"][1].update(worth="much"), r"steps\[1\].worth is 'much'"),
        (lambda state: state["steps"][2].update(results=[1]), r"steps\[2\].results is \[1\]"),
        (lambda state: state["steps"][2].update(results={"hb": [1]}), r"steps\[2\].results\['hb'\] is \[1\]"),
        (lambda state: state["steps"][2].update(results={"hb": "low"}), "column 'hb' is numeric but holds 'low'"),
        (lambda state: state["steps"][0]["results"].update(heart=1), "no feature 'heart'"),
        (lambda state: state["steps"][3].update(item="heart"), "no feature 'heart'"),
        (lambda state: state["steps"][0].update(prediction=[]), r"steps\[0\].prediction is \[\]"),
        (lambda state: state.update(asking={"item": "heart", "price": 1}), "asks for 'heart', which it cannot buy"),
        (lambda state: state.update(asking={"item": "blood", "price": 1}), "asks for 'blood', which it cannot buy"),
        (lambda state: state.update(asking={"item": "mri"}), "asking.price is None"),
        (lambda state: state.update(asking={"price": 3}), "asking.item is None"),
        (lambda state: state.update(asking=[]), r"asking is \[\]"),
        (lambda state: state.update(closed={}), "closed.probabilities is None"),
        (lambda state: state.update(closed={"probabilities": [], "stopped": "x"}), "closed.stopped is 'x'"),
        (lambda state: state.update(closed={"probabilities": [["x"]]}), "closed.probabilities"),
        (lambda state: state.update(closed={"probabilities": [], "next": ["x"]}), "closed.next"),
        (lambda state: state.update(ledger={"blood": "1"}), r"ledger\['blood'\] is '1'"),
        (lambda state: state.update(ledger={}), "ledger is {}"),
    ],
)
def test_damage_is_named(change, words):
    model, case = full()
    state = copy.deepcopy(case.to_dict())
    change(state)
    with pytest.raises(ValueError, match=words):
        model.resume(state)


def test_what_is_no_case_at_all_is_refused():
    model, _ = full()
    for wrong in (None, [], "case", 3, {3: 4}):
        with pytest.raises(ValueError, match="this is no saved case"):
            model.resume(wrong)


def test_random_damage_gives_an_error_or_a_case():
    model, case = full()
    model.learn(case, "ill")
    text = json.dumps(case.to_dict())
    draw = random.Random(3)
    for _ in range(300):
        state = json.loads(text)
        spot, key = _pick(state, draw)
        spot[key] = draw.choice([None, "x", -1, 0, 1.5, [], {}, True, [1], {"x": 1}])
        try:
            again = model.resume(state)
        except (ValueError, KeyError):
            continue
        json.dumps(again.to_dict())
        str(again.explain())


def _pick(state, draw):
    """Any place in nested lists and dicts."""
    spots = []

    def walk(part):
        for key in part if isinstance(part, dict) else range(len(part)):
            spots.append((part, key))
            if isinstance(part[key], dict | list):
                walk(part[key])

    walk(state)
    return draw.choice(spots)


def test_a_ledger_has_to_come_with_its_case():
    model, ledger = fitted(), Ledger()
    case = model.open({"age": 4}, ledger=ledger)
    with pytest.raises(ValueError, match="notes its purchases in a ledger"):
        model.resume(case.to_dict())
    case.order("mri")
    again = model.resume(case.to_dict(), ledger=ledger)
    again.receive(mri=1)
    assert ledger.answered == 1
    other = Ledger()
    other.ask({}, row=1, covered=1, kind="feature", question="age")
    with pytest.raises(ValueError, match="is not for 'mri'"):
        model.resume(case.to_dict(), ledger=other)
    plain = model.open({"age": 4})
    model.resume(plain.to_dict(), ledger=ledger)
    plain.order("mri")
    with pytest.raises(ValueError, match="has bought without a ledger"):
        model.resume(plain.to_dict(), ledger=ledger)
