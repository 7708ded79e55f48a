"""The utility tree as a learner: the contract, its arguments, what it keeps and refuses."""

import numpy as np
import pytest
from sklearn.base import clone

from quercus.checks import all_checks
from quercus.checks.data import adversarial_stream
from quercus.learners.utility import UtilityTree
from quercus.store import ModelFileError
from quercus.store.files import read_model

LEARNERS = {
    "paper": UtilityTree.paper(classes="learned", hypotheses=20),
    "forgetting": UtilityTree(forget=0.01, worth=None, bins=4, objective="us", select=2),
    "exp3": UtilityTree(numeric="exp3", objective="eced"),
    "ahead": UtilityTree(lookahead=2, bins=4, features="open", max_bytes=2**24),
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("check", list(all_checks()), ids=lambda check: check.__name__.removeprefix("check_"))
@pytest.mark.parametrize("name", LEARNERS)
def test_the_contract(name, check):
    check(LEARNERS[name])


def same(first, second):
    a, b = first.state_arrays(), second.state_arrays()
    return a.keys() == b.keys() and all(a[name].tobytes() == b[name].tobytes() for name in a)


@pytest.mark.parametrize("name", LEARNERS)
def test_saved_in_the_middle_it_buys_the_same(name, tmp_path):
    rows, labels = adversarial_stream(1400)
    learner = clone(LEARNERS[name])
    learner.buy_and_learn(rows[:1000], labels[:1000])
    learner.save(tmp_path / "model.quercus")
    loaded = UtilityTree._from_model(read_model(tmp_path / "model.quercus"))
    assert same(learner, loaded)
    assert loaded.spent_ == learner.spent_
    result = [one.buy_and_learn(rows[1000:], labels[1000:]) for one in (learner, loaded)]
    for first, second in zip(*result, strict=True):
        np.testing.assert_array_equal(first, second)
    assert same(learner, loaded)


DAMAGES = {
    "bins": lambda a: a["options"]["bins"].fill(9),
    "classes": lambda a: a["options"]["classes"].fill(9),
    "generator": lambda a: [a["options"][name].fill(0) for name in ("g0", "g1", "g2", "g3")],
    "first": lambda a: a["features"]["first"].fill(3),
    "bins of a feature": lambda a: a["features"]["bins"].fill(99),
    "slot": lambda a: a["features"]["slot"].fill(0),
    "unsorted": lambda a: np.copyto(a["edges"], a["edges"][:, ::-1].copy()),
    "paired": lambda a: a["options"]["paired"].fill(1),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_file_that_makes_no_sense_is_refused(damage, tmp_path):
    learner = UtilityTree().partial_fit(*adversarial_stream(200))
    learner.save(tmp_path / "model.quercus")
    model = read_model(tmp_path / "model.quercus")
    model.arrays.update({name: array.copy() for name, array in model.arrays.items()})
    UtilityTree._from_model(model)
    DAMAGES[damage](model.arrays)
    with pytest.raises(ModelFileError, match=r"its |it has room|there are more classes"):
        UtilityTree._from_model(model)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"objective": "gini"}, "choose 'ig', 'us', 'ec2', 'eced' or 'random'"),
        ({"numeric": "bins"}, "choose 'quantiles', 'thresholds' or 'exp3'"),
        ({"classes": "even"}, "choose 'learned' or 'uniform'"),
        ({"bins": 1}, "bins=1 is out of range"),
        ({"bins": 65}, "bins=65 is out of range"),
        ({"prior": 0}, "prior=0 is out of range"),
        ({"gain": -1}, "gain=-1 is out of range"),
        ({"worth": "much"}, "worth='much' is out of range"),
        ({"worth": -1}, "worth=-1 is out of range; give a number above 0"),
        ({"worth": 0}, "worth=0 is out of range; give a number above 0"),
        ({"worth": float("nan")}, "worth=nan is out of range"),
        ({"worth": float("inf")}, "worth=inf is out of range"),
        ({"worth": True}, "worth=True is out of range"),
        ({"confidence": 1.5}, "confidence=1.5 is out of range"),
        ({"hypotheses": 0}, "hypotheses=0 is out of range"),
        ({"lookahead": 3}, "lookahead=3 is out of range"),
        ({"lookahead": 2, "objective": "us"}, "lookahead=2 is for objective='ig', not 'us'"),
        ({"forget": 0.9}, "forget=0.9 is out of range"),
        ({"max_bytes": 0}, "max_bytes=0 is out of range"),
        ({"seed": -1}, "seed=-1 is no seed"),
        ({"loss": 3}, "loss must be a table"),
        ({"ranges": {"x0": (0, 1)}}, "ranges are for numeric='thresholds' or 'exp3'"),
        ({"ranges": {"x0": (1, 0)}, "numeric": "thresholds"}, "give \\(low, high\\), the smaller number first"),
        ({"ranges": {"x0": ("a", "b")}, "numeric": "thresholds"}, "give \\(low, high\\), the smaller number first"),
        ({"ranges": {"x9": (0, 1)}, "numeric": "thresholds"}, "ranges names 'x9', which is no feature"),
        ({"budget": -1}, "budget=-1 is out of range"),
        ({"costs": {"x9": 1}}, "costs names 'x9'"),
    ],
)
def test_arguments_that_make_no_sense(arguments, message):
    tree = UtilityTree(**arguments)
    for learn in (tree.partial_fit, tree.buy_and_learn):
        with pytest.raises(ValueError, match=message):
            learn([[1.0, 2.0]], ["a"])
        assert tree.predict_one({"x0": 1.0}) is None


def test_what_may_be_changed_at_any_time():
    rows, labels = adversarial_stream(800)
    tree = UtilityTree().partial_fit(rows, labels)
    dear = tree.purchases(rows).cost.mean()
    assert tree.set_params(worth=3.0).purchases(rows).cost.mean() < dear
    assert tree.set_params(worth="auto").purchases(rows).cost.mean() == dear
    assert tree.set_params(worth=None, confidence=0.6).purchases(rows).cost.mean() < dear
    assert tree.set_params(budget=1.0).purchases(rows).cost.max() == 1.0
    with pytest.raises(ValueError, match="bins was changed from 8 to 4 after the first row was learned; set it back"):
        tree.set_params(bins=4).partial_fit(rows, labels)
    with pytest.raises(ValueError, match="lookahead=2 needs pairs that were counted from the first row on"):
        tree.set_params(bins=8, lookahead=2).predict(rows)


def test_prices_decide():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 600)
    X = {"sure": np.where(rng.random(600) < 0.02, 1 - y, y), "cheap": np.where(rng.random(600) < 0.1, 1 - y, y)}
    names = list(X)
    even = UtilityTree().partial_fit(X, y).purchases(X)
    dear = UtilityTree(costs={"sure": 50}, budget=10).partial_fit(X, y).purchases(X)
    assert even.bought.mean(axis=0)[names.index("sure")] == 1
    assert dear.bought.mean(axis=0).tolist() == [0, 1]


def test_a_category_beyond_the_memory():
    X = [[f"c{i}"] for i in range(5000)]
    tree = UtilityTree(max_bytes=30_000)
    with pytest.raises(MemoryError, match=r"another category or feature needs .* max_bytes=30,000; give the learner"):
        tree.partial_fit(X, [i % 2 for i in range(5000)])
    assert tree.nbytes <= 30_000
    assert tree.predict([["c1"]]).shape == (1,)


def test_following_a_change():
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, (6000, 3))
    late = np.arange(6000) >= 5000
    y = X[np.arange(6000), late.astype(int)] > 0
    wrong = [(tree.buy_and_learn(X, y).answers != y)[late].mean() for tree in (UtilityTree(), UtilityTree(forget=0.01))]
    assert wrong[1] < wrong[0] / 1.5


def test_a_loss_decides():
    X = np.random.default_rng(3).uniform(-1, 1, (300, 2))
    y = np.where(X[:, 0] > 0.8, "fraud", "fine")
    dear = UtilityTree(loss={"fraud": {"fine": 1000.0}}).partial_fit(X, y)
    plain = UtilityTree().partial_fit(X, y)
    assert (dear.predict(X) == "fraud").sum() > (plain.predict(X) == "fraud").sum()


def test_it_learns_from_nothing_but_what_it_buys():
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 3000)
    X = rng.normal(size=(3000, 6))
    X[:, 2] += 2 * y
    tree = UtilityTree()
    result = tree.buy_and_learn(X, y)
    late = slice(2000, None)
    assert (result.answers == y)[late].mean() > 0.8
    assert result.bought[late].mean(axis=0)[2] > 0.99
    assert result.cost[late].mean() < 3.5
