"""How the answer for one row came about: the same as what predicts, and nothing changes by asking."""

import json
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

import quercus as qc
from quercus.acquisition import REFER
from tests.acquisition.test_policy_tree import MODELS, VALUES, history

COUNTED = {"rewards": None, "gamma": 1.0, "backup": "counts", "trusted": 5}
REINFORCED = {
    "plain": {},
    "counted": None,
    "prices": {"costs": {"colour": 3, "size": 0.5, "weight": 2}},
    "group": {"costs": {"look": 2.5}, "groups": {"look": ["colour", "shape"]}},
    "order": {"requires": {"colour": ["weight"]}},
    "budget": {"costs": {"size": 2}, "budget": 3},
    "loss": {"loss": {"yes": {"no": 5.0}, "no": {"yes": 1.0}}},
    "rewards": {"rewards": (5, -5)},
    "refer": {"refer": 0.2},
}
_MADE: dict[str, object] = {}


def made(name):
    """Return a learned model; each is learned once, and no test changes it."""
    if name not in _MADE:
        kind, _, which = name.partition(" ")
        if kind == "utility":
            _MADE[name] = qc.UtilityTree(**MODELS[which]).fit(*history(3))
        else:
            changes = REINFORCED[which]
            model = qc.ReinforcedTree.paper(**COUNTED) if changes is None else qc.ReinforcedTree(**changes)
            _MADE[name] = model.fit(*history(3, rows=400))
    return _MADE[name]


NAMES = [*(f"utility {name}" for name in MODELS), *(f"reinforced {name}" for name in REINFORCED)]
ROWS = st.fixed_dictionaries(
    {}, optional={name: st.sampled_from([*values, None]) for name, values in VALUES.items()}
) | st.fixed_dictionaries({name: st.sampled_from(values) for name, values in VALUES.items()})


@given(st.sampled_from(NAMES), ROWS)
@settings(max_examples=200, deadline=None)
def test_it_tells_what_predict_does(name, x):
    model = made(name)
    before = (model.spent_, model._opened, {key: part.tobytes() for key, part in model._arrays().items()})
    result = model.explain_one(x)
    assert result.prediction == model.predict_one(x)
    assert result.probabilities == pytest.approx(model.predict_proba_one(x))
    bought = model.purchases({feature: [x.get(feature)] for feature in VALUES})
    features = {f for item in result.bought for f in model._prices.features(item)}
    assert features == {f for f, is_bought in zip(VALUES, bought.bought[0], strict=True) if is_bought}
    assert result.cost == pytest.approx(bought.cost[0])
    assert (model.spent_, model._opened, {key: part.tobytes() for key, part in model._arrays().items()}) == before


@pytest.mark.parametrize("name", NAMES)
def test_it_asks_what_a_case_asks(name):
    model = made(name)
    x = {feature: values[-1] for feature, values in VALUES.items()}
    result, case, asked = model.explain_one(x), model.open(explore=False), []
    while case.question is not None:
        asked.append((case.question, case.price))
        case.answer({feature: x[feature] for feature in model._prices.features(case.question)})
    assert [(each.question, each.price) for each in result.asked] == asked
    assert (result.stopped, result.steps, result.next) == (case.stopped, case.explain().steps, case.explain().next)
    rest = {item: model._prices.price(item) for item in model._prices.items if item not in case.bought}
    assert result.not_bought == rest


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("utility")])
def test_a_utility_tree_weighs_the_answer_after_one_question(name):
    model = made(name)
    result = model.explain_one({})
    assert result.asked
    first = model.tree(depth=0).root
    after = model.tree(depth=1, reach=0.0).root
    assert result.asked[0].at_once == pytest.approx(-first.loss)
    assert result.asked[0].asking == pytest.approx(-after.loss)


def test_a_reinforced_tree_weighs_all_that_follows():
    model = made("reinforced counted")
    result, root = model.explain_one({"colour": "red"}), model.tree().root
    assert result.asked[0].asking == pytest.approx(root.value)
    assert result.asked[0].at_once == pytest.approx(max(root.probabilities.values()) - 1)
    assert result.asked[0].asking == result.steps[1].worth
    assert result.asked[0].asking > result.asked[0].at_once


def test_rewards_are_the_unit_where_there_are_any():
    model = made("reinforced rewards")
    best = max(model.tree().root.probabilities.values())
    assert model.explain_one({}).asked[0].at_once == pytest.approx(5 * best - 5 * (1 - best))


class Watched(Mapping):
    """A row that notes what is read of it."""

    def __init__(self, values):
        self.values_, self.read = values, []

    def __getitem__(self, name):
        self.read.append(name)
        return self.values_[name]

    def __iter__(self):
        return iter(self.values_)

    def __len__(self):
        return len(self.values_)


@pytest.mark.parametrize("name", ["utility thrifty", "reinforced prices"])
def test_only_what_is_bought_is_read(name):
    x = Watched({feature: values[0] for feature, values in VALUES.items()})
    result = made(name).explain_one(x)
    assert x.read == list(result.bought)
    assert result.not_bought


def test_money_that_cases_share_is_left_alone_and_does_not_matter():
    table, labels = history(3)
    model = qc.UtilityTree(total=1.0).fit(table, labels)
    case = model.open(explore=False)
    assert case.question is not None
    case.answer(None)
    assert (model.spent_, model.open(explore=False).stopped) == (1, "budget")
    x = {feature: values[0] for feature, values in VALUES.items()}
    result = model.explain_one(x)
    assert result.cost == model.purchases({feature: [value] for feature, value in x.items()}).cost[0] > 0
    assert (model.spent_, result.stopped) == (1, "nothing left")


def test_the_text_reads_well():
    rows = {"job": ["cook", "clerk", "cook", "cook"] * 20, "blood": [1.0, 2.0, 1.0, 1.0] * 20}
    rows |= {f"v{i}": ["a"] * 80 for i in range(12)}
    model = qc.ReinforcedTree.paper(**COUNTED, costs={"blood": 7, "v0": 0}).fit(rows, ["no", "yes", "no", "no"] * 20)
    lines = str(model.explain_one({"job": "clerk", "blood": 2.0})).split("\n  ")
    assert lines[0].startswith("predicts 'yes' (")
    assert lines[1] == "nothing known at first: 'no' (75%)"
    assert lines[2].startswith("asked job for 1 (worth 0, answering at once -0.253): job = 'clerk'; then 'yes' (")
    assert lines[3].startswith("stopped: ")
    assert lines[4] == "not bought: blood (7), v0 (free), v1 (1), v2 (1), v3 (1), v4 (1), v5 (1), 6 others"
    assert len(lines) == 5
    assert repr(model.explain_one({})) == str(model.explain_one({}))
    assert "asked job for 1 (worth 0, answering at once -0.253): job without a result" in str(model.explain_one({}))


def test_all_of_it_is_data():
    result = made("utility group").explain_one({"colour": "red", "size": 1.0})
    state = json.loads(json.dumps(result.to_dict()))
    assert state["asked"] == [each._asdict() for each in result.asked]
    assert state["not_bought"] == dict(result.not_bought)
    assert state["prediction"] == result.prediction
    assert len(state["steps"]) == 1 + len(result.asked)


def test_a_person_may_be_the_answer():
    found = [made("utility refer").explain_one({"colour": value}) for value in VALUES["colour"]]
    found.append(made("utility refer").explain_one({}))
    referred = [result for result in found if result.prediction is REFER]
    assert referred
    assert str(referred[0]).startswith("to be given to a person (most probable: ")
    assert referred[0].to_dict()["prediction"] == "REFER"


def test_a_category_that_is_new_is_as_good_as_none():
    for name in ("utility plain", "reinforced plain"):
        model, x = made(name), dict.fromkeys(VALUES) | {"colour": "violet", "shape": "violet"}
        result = model.explain_one(x)
        assert result.prediction == model.predict_one(x)
        assert result.probabilities == pytest.approx(model.predict_proba_one(x))


def test_bad_calls_are_refused():
    for kind in (qc.UtilityTree, qc.ReinforcedTree):
        with pytest.raises(NotFittedError):
            kind(costs={"age": 1}).explain_one({"age": 1})
    model = made("utility plain")
    with pytest.raises(TypeError, match="an example is a dict"):
        model.explain_one([1, 2])
    with pytest.raises(ValueError, match="there is no feature 'weigth'"):
        model.explain_one({"weigth": 1.0})
    assert np.isfinite(model.spent_)
