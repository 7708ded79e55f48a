"""Where the best policy is known: the tree comes near it, and the printed rule does not on the multiplexer."""

import itertools

import numpy as np
import pytest

from quercus import ReinforcedTree
from quercus.evaluation import best_policy


def rows_of(joint):
    """Every combination of class and bins as a row, with its probability."""
    every = np.array(list(itertools.product(*map(range, joint.shape))))
    return every[:, 1:].astype(float), every[:, 0], joint.reshape(-1)


def noisy(label, features, noise):
    joint = np.zeros((2,) * (1 + features))
    for x in itertools.product((0, 1), repeat=features):
        joint[(label(x), *x)] = 1 - noise
        joint[(1 - label(x), *x)] = noise
    return joint / joint.sum()


def mixed(sizes, seed):
    """Classes and bins that depend on each other in no particular way."""
    return np.random.default_rng(seed).dirichlet(np.full(int(np.prod(sizes)), 0.3)).reshape(sizes)


def independent(prior, *tables):
    joint = np.array(prior)
    for place, table in enumerate(tables):
        joint = joint[..., None] * np.reshape(table, (len(prior), *(1,) * place, -1))
    return joint


MULTIPLEXER = noisy(lambda x: x[1 + x[0]], 3, 0.05)
GROUPS = {"costs": {"x3": 0.5, "g": 2.0}, "groups": {"g": ["x0", "x1"]}, "requires": {"x2": ["x3"]}}
# Distribution, what the learner is told, what an error costs, and how much more than the best policy it may cost.
PROBLEMS = {
    "multiplexer": (MULTIPLEXER, {"questions": 2}, 100.0, 1e-9),
    "xor": (noisy(lambda x: x[1] ^ x[3], 5, 0.0), {}, 50.0, 1e-9),
    "independent": (
        independent([0.7, 0.3], [[0.9, 0.1], [0.2, 0.8]], [[0.6, 0.3, 0.1], [0.1, 0.2, 0.7]]),
        {"costs": {"x0": 0.5, "x1": 2.0}},
        25.0,
        1e-9,
    ),
    "groups": (mixed((3, 2, 2, 3, 2), 0), GROUPS, 30.0, 0.35),
}


@pytest.mark.parametrize("backup", ["counts", "sample"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_it_comes_near_the_best_policy(name, backup):
    joint, given, error, allowed = PROBLEMS[name]
    X, y, chances = rows_of(joint)
    prices = {key: given[key] for key in ("costs", "groups", "requires") if key in given}
    best = best_policy((X, y, chances), price_of_error=error, most=given.get("questions", 3), **prices)
    drawn = np.random.default_rng(1).choice(len(y), 12_000, p=chances)
    tree = ReinforcedTree(worth=error, backup=backup, nominal=range(X.shape[1]), **given)
    tree.buy_and_learn(X[drawn], y[drawn])
    result = tree.purchases(X)
    found = (chances * (result.cost + error * (result.answers != y))).sum()
    assert best.value - 1e-9 <= found <= best.value + allowed
    # It would cost more to answer at once.
    assert found < error * (1 - joint.sum(axis=tuple(range(1, joint.ndim))).max())


def run_multiplexer(updates, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (6000, 3)).astype(float)
    y = np.where(X[:, 0] == 0, X[:, 1], X[:, 2]).astype(int) ^ (rng.random(6000) < 0.05)
    tree = ReinforcedTree.paper(questions=2, updates=updates, seed=seed, nominal=range(3))
    return (tree.buy_and_learn(X, y).answers == y)[3000:].mean()


@pytest.mark.parametrize("seed", range(3))
def test_the_printed_rule_is_biased(seed):
    assert run_multiplexer("anchored", seed) > 0.94
    assert run_multiplexer("single", seed) > 0.94
    assert run_multiplexer("lattice", seed) < 0.88
