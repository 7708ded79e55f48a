"""What values add to a boosted answer: against the definition of Shapley values, over all subsets of features."""

import itertools
import math

import numpy as np
import pytest

import quercus as qc
from quercus.learners.evergreen.boosting.explaining import find_boosted
from quercus.learners.evergreen.boosting.layout import STAGES


def rows(classes, seed=0, n=300):
    random = np.random.default_rng(seed)
    X = np.column_stack([random.normal(size=n), random.integers(0, 5, n), random.normal(size=n), random.normal(size=n)])
    X[random.random(n) < 0.1, 0] = np.nan
    y = ((X[:, 2] + (X[:, 1] == 3) + np.nan_to_num(X[:, 0])) > 0).astype(int)
    return X, y + (X[:, 3] > 1) if classes == 3 else y


class Slow:
    """The score of one class against another when only some features are known, tree by tree."""

    def __init__(self, boost, label, other):
        self.trees, self.nodes, self.label, self.other = boost.trees, boost.trees.nodes, label, other
        stages = [s for s, rounds in enumerate(STAGES) if s == 0 or STAGES[s - 1] < boost.trees.trees]
        weights = {s: math.exp(-boost.losses[s]) for s in stages}
        self.shares = [
            sum(weight for s, weight in weights.items() if STAGES[s] > t or s == stages[-1]) / sum(weights.values())
            for t in range(boost.trees.trees)
        ]

    def weight(self, v):
        left = int(self.nodes[v]["left"])
        return self.nodes[v]["weight"] if left == 0 else self.weight(left) + self.weight(left + 1)

    def goes_left(self, node, x):
        if node["set"] < 0:
            return x <= node["threshold"] or (math.isnan(x) and node["missing_left"] == 1)
        code = 0 if math.isnan(x) else int(x) + 1
        return int(self.trees.sets[node["set"]][code // 64]) >> code % 64 & 1 == 1

    def leaf(self, values):
        if len(values) == 1:
            return values[0] * ((self.label == 1) - (self.other == 1))
        return values[self.label] - values[self.other]

    def expect(self, v, row, known):
        node, left = self.nodes[v], int(self.nodes[v]["left"])
        if left == 0:
            return self.leaf(self.trees.values[node["leaf"]])
        if node["feature"] in known:
            return self.expect(left + (not self.goes_left(node, row[node["feature"]])), row, known)
        both = [(self.weight(child), self.expect(child, row, known)) for child in (left, left + 1)]
        return sum(weight * value for weight, value in both) / sum(weight for weight, _ in both)

    def score(self, row, known):
        return sum(
            share * self.expect(root, row, known) for share, root in zip(self.shares, self.trees.roots, strict=False)
        )

    def shapley(self, row, f):
        others, total = [g for g in range(len(row)) if g != f], 0.0
        for size in range(len(others) + 1):
            share = math.factorial(size) * math.factorial(len(others) - size) / math.factorial(len(row))
            for known in itertools.combinations(others, size):
                total += share * (self.score(row, (*known, f)) - self.score(row, known))
        return total


@pytest.mark.parametrize(("classes", "pair"), [(2, (1, 0)), (2, (0, 1)), (3, (2, 0))])
def test_contributions_are_shapley_values(classes, pair):
    X, y = rows(classes)
    model = qc.EvergreenBoost(nominal=[1], rounds=6, depth=4).partial_fit(X, y)
    slow = Slow(model._state.boost, *pair)
    for i in (0, 7):
        row = model._read_one({f"x{j}": X[i, j] for j in range(4)})[0]
        found = find_boosted(model._state.boost, row, *pair)
        np.testing.assert_allclose(found, [slow.shapley(row, f) for f in range(4)], atol=1e-12)


def test_contributions_sum_up_to_the_score_over_that_of_an_unknown_row():
    X, y = rows(3)
    model = qc.EvergreenBoost(nominal=[1], rounds=13).partial_fit(X, y)
    slow, row = Slow(model._state.boost, 1, 0), model._read_one({f"x{j}": X[5, j] for j in range(4)})[0]
    found = find_boosted(model._state.boost, row, 1, 0)
    assert found.sum() == pytest.approx(slow.score(row, range(4)) - slow.score(row, ()))


def test_an_explanation_names_the_parts_and_both_answers():
    X, y = rows(2)
    model = qc.EvergreenBoost(nominal=[1]).partial_fit(X, np.array(["no", "yes"])[y])
    reason = model.explain_one({"x0": 2.0, "x1": 3, "x2": 1.0})
    assert reason.prediction == "yes"
    assert reason.against == "no"
    assert sum(reason.parts.values()) == pytest.approx(1)
    assert "boosted trees, for 'yes' against 'no': " in str(reason)
    assert [one["feature"] for one in reason.to_dict()["boosted"]] == [one.feature for one in reason.boosted]
    assert next(one for one in reason.boosted if one.feature == "x3").text().startswith("x3 is missing")


def test_before_the_first_fit_the_tree_answers_alone():
    X, y = rows(2, n=20)
    reason = qc.EvergreenBoost(nominal=[1]).partial_fit(X, y).explain_one({"x0": 1.0})
    assert reason.boosted == ()
    assert reason.parts["the tree"] == 1
    assert "boosted" not in str(reason)
