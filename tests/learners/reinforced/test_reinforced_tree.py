"""The reinforced tree as its users meet it."""

import pickle

import numpy as np
import pytest

from quercus import REFER, ReinforcedTree
from quercus.checks.data import adversarial_stream

ROWS = [{"fever": "high", "shoes": "red"}, {"fever": "none", "shoes": "red"}] * 60
LABELS = ["ill", "well"] * 60


def test_a_case_from_the_first_question_to_the_label():
    model = ReinforcedTree(costs={"fever": 3, "shoes": 1}).partial_fit(ROWS, LABELS)
    case = model.open(explore=False)
    assert case.question == "fever"
    case.answer("high")
    assert (case.question, case.stopped, case.prediction, case.cost) == (None, "worth", "ill", 3.0)
    assert "stopped: what is left would cost more" in str(case.explain())
    model.learn(case, "ill")
    assert case.stopped == "closed"


def test_what_is_known_is_not_paid_for():
    model = ReinforcedTree(costs={"fever": 3, "shoes": 1}).partial_fit(ROWS, LABELS)
    case = model.open({"fever": "none"}, explore=False)
    assert (case.question, case.prediction, case.cost) == (None, "well", 0.0)


def test_a_refused_question_leads_to_the_next():
    model = ReinforcedTree(worth=None).partial_fit(ROWS, LABELS)
    case = model.open(explore=True)
    first = case.question
    case.refuse(first)
    assert case.question not in (first, None)


def test_why_it_stops():
    rows, labels = adversarial_stream(1500)
    stops = set()
    for given in ({"trusted": 5}, {"questions": 1}, {"budget": 0.5}, {"worth": 0.001}):
        tree = ReinforcedTree(**given).partial_fit(rows, labels)
        for row in rows[:100]:
            case = tree.open(explore=False)
            while (question := case.question) is not None:
                case.answer(row[question])
            stops.add(case.stopped)
    assert {"questions", "budget", "worth", "rare"} <= stops
    case = ReinforcedTree(questions=1).partial_fit(rows, labels).open(explore=False)
    case.answer(rows[0][case.question])
    assert "stopped: it has asked as many questions as it may" in str(case.explain())


def test_before_anything_is_learned_it_asks_what_is_named():
    model = ReinforcedTree(costs={"mri": 500, "blood": 20}, groups={"blood": ["hb", "crp"]})
    case = model.open()
    assert case.question is not None
    case.order("mri")
    model.learn(case, "ill")
    assert model.open().prediction == "ill"


def test_rewards_decide_about_answers_and_persons():
    rows = [{"x": "a"}] * 10
    labels = ["fine"] * 8 + ["bad"] * 2
    assert ReinforcedTree().partial_fit(rows, labels).predict_one({"x": "a"}) == "fine"
    careful = ReinforcedTree(rewards={"bad": (0.0, -9.0)}).partial_fit(rows, labels)
    assert careful.predict_one({"x": "a"}) == "bad"
    assert careful.predict(rows)[0] == "bad"
    assert ReinforcedTree(refer=0.1).partial_fit(rows, labels).predict_one({"x": "a"}) is REFER


def test_more_valuable_answers_are_worth_more_questions():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (4000, 3)).astype(float)
    y = X[:, 0].astype(int) ^ ((X[:, 1] == 1) & (rng.random(4000) < 0.3))
    cheap = ReinforcedTree(worth=0.5, nominal=range(3)).partial_fit(X, y)
    dear = ReinforcedTree(worth=50.0, nominal=range(3)).partial_fit(X, y)
    assert cheap.purchases(X[:100]).cost.max() == 0
    assert dear.purchases(X[:100]).cost.min() >= 1


def test_new_prices_count_at_once():
    rows = [{"fever": row["fever"]} for row in ROWS]
    model = ReinforcedTree(worth=10.0).partial_fit(rows, LABELS)
    assert model.purchases(rows[:1]).cost[0] == 1
    model.set_costs({"fever": 100})
    assert model.purchases(rows[:1]).cost[0] == 0


def test_examples_of_a_class_may_count_less():
    rows, labels = [{"x": "a"}] * 30, ["often"] * 20 + ["seldom"] * 10
    even = ReinforcedTree(rates={"often": 0.25}).partial_fit(rows, labels)
    assert even.predict_one({"x": "a"}) == "seldom"


def test_old_examples_fade_with_a_least_learning_rate():
    rows = [{"x": "a"}] * 2000
    labels = ["old"] * 1500 + ["new"] * 500
    assert ReinforcedTree().partial_fit(rows, labels).predict_one({"x": "a"}) == "old"
    assert ReinforcedTree(alpha=0.01).partial_fit(rows, labels).predict_one({"x": "a"}) == "new"


def test_its_policy_can_be_looked_at():
    rows, labels = adversarial_stream(2000)
    tree = ReinforcedTree(costs={"amount": 2.0}).partial_fit(rows, labels)
    policy = tree.tree()
    assert policy.root.question is not None
    assert sum(node.reach for node in policy.nodes if node.depth == 1) == pytest.approx(1.0)
    assert "digraph" in policy.to_dot()
    result = tree.purchases(rows)
    assert policy.cost == pytest.approx(result.cost.mean(), rel=0.2)


def test_groups_in_its_policy():
    rng = np.random.default_rng(0)
    rows = [{"a": int(a), "b": str(b)} for a, b in rng.integers(0, 2, (500, 2))]
    labels = [int(row["a"]) ^ int(row["b"]) for row in rows]
    tree = ReinforcedTree(groups={"both": ["a", "b"]}).partial_fit(rows, labels)
    words = str(tree.tree())
    assert "ask both" in words
    assert "a <= 0.5, b == '1'" in words


def test_a_copy_goes_on_alone():
    rows, labels = adversarial_stream(600)
    tree = ReinforcedTree().partial_fit(rows[:300], labels[:300])
    copied = pickle.loads(pickle.dumps(tree))
    before = tree.predict_proba(rows)
    copied.partial_fit(rows[300:], labels[300:])
    np.testing.assert_array_equal(tree.predict_proba(rows), before)


REFUSED = {
    "questions": (0, "questions=0 is out of range"),
    "updates": ("all", "updates='all' is unknown"),
    "backup": (None, "backup=None is unknown"),
    "gamma": (0.0, "gamma=0.0 is out of range"),
    "explore": (1.5, "explore=1.5 is out of range"),
    "alpha": (-0.1, "alpha=-0.1 is out of range"),
    "trusted": (-1, "trusted=-1 is out of range"),
    "bins": (1, "bins=1 is out of range"),
    "worth": (0.0, "worth=0.0 is out of range"),
    "start": ("high", "start='high'"),
    "rewards": ((5,), "is no pair of finite numbers; give .right, wrong."),
    "rates": ({"ill": 0.0}, "rates..ill..=0.0 is out of range"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_arguments_that_make_no_sense(name):
    value, words = REFUSED[name]
    with pytest.raises(ValueError, match=words):
        ReinforcedTree(**{name: value}).partial_fit(ROWS, LABELS)


def test_states_had_another_name():
    tree = ReinforcedTree().partial_fit(ROWS, LABELS)
    with pytest.warns(DeprecationWarning, match="situations_ is now called states_"):
        assert tree.situations_ == tree.states_ > 1


def test_bins_stay():
    tree = ReinforcedTree().partial_fit(ROWS, LABELS)
    with pytest.raises(ValueError, match="bins was changed from 5 to 8 after the first row was learned; set it back"):
        tree.set_params(bins=8).partial_fit(ROWS, LABELS)


CHANGES = {
    "groups": ({"blood": ["fever", "shoes"]}, "groups cannot be changed for features that were learned"),
    "adaptive": (1.5, "adaptive=1.5 is neither True nor False"),
    "loss": ("x", "loss must be a table"),
    "rewards": (5, "is no pair of finite numbers"),
    "total": ({}, "total={} is out of range"),
    "refer": (-1, "refer=-1 is out of range"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_that_makes_no_sense_is_refused_and_changes_nothing(name):
    tree = ReinforcedTree().partial_fit(ROWS, LABELS)
    value, words = CHANGES[name]
    before, kept = tree.get_params()[name], tree.state_arrays()
    tree.set_params(**{name: value})
    with pytest.raises((ValueError, TypeError), match=words):
        tree.partial_fit(ROWS[:1], ["dying"])
    with pytest.raises((ValueError, TypeError), match=words):
        tree.predict(ROWS)
    tree.set_params(**{name: before})
    assert tree.classes_.tolist() == ["ill", "well"]
    assert all((kept[key] == array).all() for key, array in tree.state_arrays().items())
    assert tree.predict(ROWS[:2]).tolist() == ["ill", "well"]


def test_groups_that_are_changed_in_place_are_noticed():
    tree = ReinforcedTree(groups={"blood": ["fever"]}).partial_fit(ROWS, LABELS)
    expected = tree.predict(ROWS).tolist()
    tree.groups["blood"].append("shoes")
    for use in (tree.predict, tree.purchases, lambda rows: tree.partial_fit(rows, LABELS), lambda rows: tree.open()):
        with pytest.raises(ValueError, match="groups cannot be changed for features that were learned"):
            use(ROWS)
    tree.groups["blood"].pop()
    assert tree.predict(ROWS).tolist() == expected
    # Another name is the same item.
    assert tree.set_params(groups={"liquid": ["fever"]}).predict(ROWS).tolist() == expected


def test_a_loss_counts_from_its_setting_on():
    rows, labels = [{"x": "a"}] * 10, ["fine"] * 8 + ["bad"] * 2
    tree = ReinforcedTree().partial_fit(rows, labels)
    assert tree.set_params(loss={"bad": {"fine": 9.0}}).predict_one({"x": "a"}) == "bad"
    assert tree.set_params(loss=None).predict_one({"x": "a"}) == "fine"
