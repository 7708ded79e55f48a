"""What an expert knows, told to the model: counted as written, useful at once, refused as a whole where it is wrong."""

import math

import numpy as np
import pytest

import quercus as qc
from quercus import UtilityTree
from tests.learners.utility.test_utility_naive import (
    NAMES,
    Follower,
    assert_same_state,
    learn_both,
    make_both,
    make_stream,
)

FIRST = {
    "a": {"yes": {0.0: 1, 1.0: 2, 2.5: 1}, "no": {0.0: 4, 1.0: 1}},
    "b": {"yes": {"red": 30, "blue": 70}, "other": {"blue": 1, "grey": 0, "red": 2}},
    "c": {"no": {3.0: 0.5, 4.0: 0.5}, "yes": {4.0: 1}},
    "d": {"no": {"x": 1, "y": 3}},
    "e": {"no": {k / 10: 1 + k for k in range(10)}, "yes": {k / 10: 1 for k in range(10)}},
}
LATER = {"b": {"yes": {"white": 5, "blue": 5}, "new": {"blue": 1}}, "a": {"no": {-1.0: 3, 0.5: 1}}}
VARIANTS = {
    "plain": {},
    "few bins": {"bins": 3},
    "thresholds": {"numeric": "thresholds", "ranges": {"e": (0, 1)}},
    "forgetting": {"forget": 0.02},
    "uniform classes": {"classes": "uniform", "objective": "eced"},
}


def by_place(table):
    return {NAMES.index(name): by_label for name, by_label in table.items()}


def believe_both(tree, plain, table, weight=10.0, classes=None):
    tree.add_prior(table, weight, classes=classes)
    plain.add_prior(by_place(table), weight, classes)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("weight", [10.0, 3, None])
@pytest.mark.parametrize("variant", VARIANTS)
def test_beliefs_are_counted_as_the_page_says(variant, weight):
    rows, labels, weights = make_stream(np.random.default_rng(5), 90)
    tree, plain = make_both(**VARIANTS[variant])
    believe_both(tree, plain, FIRST, weight, {"no": 2, "yes": 6})
    assert_same_state(tree, plain)
    steps = Follower(tree, plain, rows[0], explore=False, seed=1).run()
    for start in range(0, 90, 30):
        learn_both(tree, plain, rows[start : start + 30], labels[start : start + 30], weights[start : start + 30])
        assert_same_state(tree, plain)
        believe_both(tree, plain, LATER, weight)
        assert_same_state(tree, plain)
        for explore in (False, True):
            steps += Follower(tree, plain, rows[start], explore, seed=start).run()
    assert steps > 4


def test_a_few_numbers_make_bins_at_once():
    tree = UtilityTree().add_prior({"fever": {"ill": {37: 1, 39: 3, 40: 1}, "well": {36: 1, 37: 4}}})
    assert tree._state.edges[0, :3].tolist() == [36.5, 38.0, 39.5]
    assert tree.open({"fever": 39.4}).prediction == "ill"
    assert tree.open({"fever": 36.8}).prediction == "well"


def environment(rows, seed):
    """Three classes, ten features of two to four values, as a table and as rows that follow it."""
    rng = np.random.default_rng(7)
    shares = {f"f{k}": rng.dirichlet(np.ones(2 + k % 3), 3) for k in range(10)}
    frequent = np.array([0.5, 0.3, 0.2])
    table = {
        name: {f"class {y}": {f"v{v}": float(p) for v, p in enumerate(part[y])} for y in range(3)}
        for name, part in shares.items()
    }
    rng = np.random.default_rng(seed)
    y = rng.choice(3, rows, p=frequent)
    X = {name: [f"v{rng.choice(len(part[c]), p=part[c])}" for c in y] for name, part in shares.items()}
    return table, {f"class {c}": float(p) for c, p in enumerate(frequent)}, X, np.array([f"class {c}" for c in y])


def test_the_truth_told_is_worth_as_much_as_many_rows():
    table, classes, X, y = environment(6000, seed=1)
    test, rest = ({name: column[part] for name, column in X.items()} for part in (slice(2000), slice(2000, None)))
    stated = UtilityTree().add_prior(table, 100.0, classes=classes)
    trained = UtilityTree().partial_fit(rest, y[2000:])
    found = {}
    for name, model in (("stated", stated), ("trained", trained)):
        bought = model.purchases(test)
        found[name] = (float((bought.answers == y[:2000]).mean()), float(bought.cost.mean()))
    # Twice the standard error of a share of 2,000.
    noise = 2 * math.sqrt(0.25 / 2000)
    assert found["stated"][0] > found["trained"][0] - noise
    assert found["stated"][0] > 0.75
    assert found["stated"][1] == pytest.approx(found["trained"][1], rel=0.1)
    # With a weight of ten it is sure of less, and no worse.
    weak = UtilityTree().add_prior(table, classes=classes).purchases(test)
    assert (weak.answers == y[:2000]).mean() > found["trained"][0] - noise


def test_it_asks_for_what_helps_at_once():
    table = {
        "fever": {"flu": {"yes": 9, "no": 1}, "cold": {"yes": 1, "no": 9}},
        "shoes": {"flu": {"red": 1, "blue": 1}, "cold": {"red": 1, "blue": 1}},
    }
    model = UtilityTree(costs={"shoes": 0.5, "taste": 2}).add_prior(table)
    assert model.schema_.names == ["shoes", "taste", "fever"]
    case = model.open(explore=False)
    assert case.question == "fever"
    case.answer("yes")
    assert (case.prediction, case.stopped) == ("flu", "worth")
    exploring = model.open()
    assert exploring.question == "taste", "of which nothing is known"


def test_believed_features_are_completed_by_rows_if_these_may_bring_new_ones():
    table = {"fever": {"flu": {"yes": 9, "no": 1}}}
    with pytest.raises(ValueError, match="unknown feature 'age'; the features are 'fever'"):
        UtilityTree().add_prior(table).learn_one({"fever": "yes", "age": 40}, "flu")
    model = UtilityTree(features="open").add_prior(table)
    model.learn_one({"age": 40, "fever": "no"}, "cold")
    model.add_prior({"spots": {"flu": {"red": 1}}})
    assert model.schema_.names == ["fever", "age", "spots"]
    assert model.classes_.tolist() == ["cold", "flu"]


def test_class_odds_alone():
    model = UtilityTree(costs={"fever": 1}).add_prior(classes={"flu": 1, "cold": 3}, weight=6.0)
    assert model.open(explore=False).probabilities == pytest.approx({"cold": 5.5 / 8, "flu": 2.5 / 8})
    model.add_prior(classes={"flu": 3}, weight=None)
    assert model.open(explore=False).probabilities == pytest.approx({"cold": 0.5, "flu": 0.5})
    assert model._state.options["rows"][0] == 0


def test_saved_with_what_it_was_told(tmp_path):
    table, classes, X, y = environment(300, seed=2)
    model = UtilityTree().add_prior(table, classes=classes)
    model.save(tmp_path / "model.quercus")
    loaded = qc.load(tmp_path / "model.quercus")
    for one in (model, loaded):
        one.buy_and_learn(X, y)
    for name, array in model.state_arrays().items():
        assert array.tobytes() == loaded.state_arrays()[name].tobytes()
    # Learning from the start forgets it.
    assert model.fit(X, y)._state.counts.sum() == 3000


WRONG = [
    (({"fevre": {"ill": {"no": 1}}},), "unknown feature 'fevre'; the features are 'fever', 'age'"),
    (({"fever": {"ill": {"no": 1, "yes": -1}}},), r"table\['fever'\]\['ill'\]\['yes'\]=-1 is out of range"),
    (({"fever": {"ill": {"no": math.nan}}},), r"table\['fever'\]\['ill'\]\['no'\]=nan is out of range"),
    (({"fever": {"ill": {"no": math.inf}}},), "=inf is out of range"),
    (({"fever": {"ill": {"no": "often"}}},), "='often' is out of range"),
    (({"fever": {"ill": {"no": 0, "yes": 0}}},), r"table\['fever'\]\['ill'\] is all zero"),
    (({"fever": {"ill": {}}},), r"table\['fever'\]\['ill'\] is empty"),
    (({"fever": {}},), r"table\['fever'\] is empty"),
    (({},), "table is empty"),
    ((), "the prior is empty"),
    (({"fever": {"ill": {None: 1}}},), "holds None, a missing value"),
    (({"age": {"ill": {"old": 1}}},), "column 'age' is numeric but holds 'old'"),
    (({"fever": {"new": {"worse": 1}, 3: {"no": 1}}},), "labels were str"),
    (({"fever": {"ill": {"no": 1}}}, 0), "weight=0 is out of range"),
    (({"fever": {"ill": {"no": 1}}}, math.inf), "weight=inf is out of range"),
    (({"fever": [1]},), r"table\['fever'\]=\[1\] is no dict"),
    ((3,), "table=3 is no dict"),
    (({4: {"ill": {"no": 1}}},), "table holds the name 4"),
]


@pytest.mark.parametrize(("given", "message"), WRONG)
def test_what_makes_no_sense_changes_nothing(given, message):
    model = UtilityTree().partial_fit({"fever": ["no", "yes"], "age": [4.0, 5.0]}, ["ill", "well"])
    before = {name: array.tobytes() for name, array in model.state_arrays().items()}
    schema = repr(model.schema_.to_dict())
    with pytest.raises((ValueError, TypeError), match=message):
        model.add_prior(*given)
    assert {name: array.tobytes() for name, array in model.state_arrays().items()} == before
    assert repr(model.schema_.to_dict()) == schema


def test_an_empty_model_stays_empty_where_it_refuses():
    with pytest.raises(ValueError, match="the model knows no features; name them in the table or in costs"):
        UtilityTree().add_prior(classes={"ill": 1})
    with pytest.raises(ValueError, match="classes is all zero"):
        UtilityTree(costs={"age": 1}).add_prior(classes={"ill": 0})
    model = UtilityTree(numeric="thresholds", ranges={"aeg": (0, 100)})
    with pytest.raises(ValueError, match="ranges names 'aeg', which is no feature"):
        model.add_prior({"age": {"ill": {40: 1}}})
    grouped = UtilityTree(groups={"age": ["birth", "now"]})
    with pytest.raises(ValueError, match="the group 'age' has the name of a feature"):
        grouped.add_prior({"age": {"ill": {40: 1}}})
    small = UtilityTree(max_bytes=2000)
    with pytest.raises(MemoryError, match="max_bytes=2,000"):
        small.add_prior({"job": {"ill": {f"job {k}": 1 for k in range(1000)}}})
    for one in (model, grouped, small):
        assert one.predict_one({"age": 1}) is None


def test_it_had_another_name():
    classes = {"flu": 1, "cold": 3}
    with pytest.warns(DeprecationWarning, match="believe is now called add_prior"):
        old = UtilityTree(costs={"fever": 1}).believe(classes=classes)
    new = UtilityTree(costs={"fever": 1}).add_prior(classes=classes)
    assert old.predict_proba_one({}) == new.predict_proba_one({})
