"""The compiled evergreen tree and the plain one side by side."""

import numpy as np
import pytest

from quercus import EvergreenTree
from quercus.learners.evergreen.additive.state import COEFFICIENT, COUNT
from quercus.learners.evergreen.layout import CATCHING, GROWING, IDLE, REPLAYING
from tests.learners.evergreen.oracle.tree import NaiveEvergreen

CATEGORIES = 300


def make_rows(rng, count, kinds, missing=0.1, classes=3, noise=0.2):
    """Rows of numbers (few or many values), categories (few or many) and holes, and labels that depend on them."""
    columns = []
    for kind in kinds:
        if kind == "few":
            column = rng.integers(0, 6, count).astype(float)
        elif kind == "heavy":
            column = np.where(rng.random(count) < 0.7, 0.0, rng.normal(size=count))
        elif kind == "moving":
            column = rng.normal(size=count) + np.linspace(0, 6, count)
        elif kind == "category":
            column = rng.integers(0, 7, count).astype(float)
        elif kind == "categories":
            column = np.minimum(rng.geometric(0.02, count), CATEGORIES).astype(float)
        else:
            column = rng.normal(size=count)
        columns.append(column)
    X = np.stack(columns, axis=1)
    score = sum(np.argsort(np.argsort(column)) / count for column in X.T)
    y = np.digitize(score + 0.5 * np.sin(3 * X[:, 0]), np.linspace(0.6, len(kinds) - 0.6, classes - 1))
    y = np.where(rng.random(count) < noise, rng.integers(0, classes, count), y)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def make_both(kinds, **given):
    nominal = [f for f, kind in enumerate(kinds) if kind.startswith("categor")]
    rows = given.pop("rows", None)
    tree = EvergreenTree(nominal=nominal, **given)
    seed = int(np.random.SeedSequence(given.get("seed", 0)).generate_state(1, np.uint64)[0])
    shared = {name: value for name, value in given.items() if name in ("bins", "keep")}
    plain = NaiveEvergreen(
        ["nominal" if f in nominal else "numeric" for f in range(len(kinds))],
        seed=seed,
        rows=rows,
        adaptive=given.get("adaptive", True),
        **shared,
    )
    return tree, plain


class Follower:
    """Feeds both, row by row, and lets the plain one do large growths where the compiled one does them."""

    def __init__(self, tree, plain, rows=None):
        self.tree, self.plain, self.rows = tree, plain, rows
        self.codes = [{} for _ in plain.numeric]
        self.labels = {}
        self.growths = 0

    def learn(self, row, label, weight=1.0):
        if weight > 0:
            values = [self._value(f, x) for f, x in enumerate(row)]
            number = self.labels.setdefault(label, len(self.labels))
            self.plain.learn(values, number, weight)
        self.tree.partial_fit([row], [label], sample_weight=[weight])
        if self.rows is not None:
            # So that a small reservoir is full while there is memory for nodes.
            self.tree._state.options["most_rows"] = self.rows
        self._follow()

    def _value(self, f, x):
        if np.isnan(x):
            return None
        return float(x) if self.plain.numeric[f] else self.codes[f].setdefault(float(x), len(self.codes[f]))

    def _known(self, f, x):
        """A category that was never learned is a later one."""
        is_new = not np.isnan(x) and not self.plain.numeric[f] and float(x) not in self.codes[f]
        return CATEGORIES if is_new else self._value(f, x)

    def _follow(self):
        """A large growth of the plain tree is where the compiled one is."""
        option = self.tree._state.options[0]
        stage, plain = int(option["stage"]), self.plain
        if stage != IDLE and plain.growth is None:
            assert plain.due
            plain.begin()
            self.growths += 1
        if plain.growth is None:
            return
        if stage in (REPLAYING, CATCHING) or stage == IDLE:
            if plain.growth.tree is None:
                plain.finish()
            left = 0 if stage == IDLE else int(option["rows"] - option["position"])
            more = len(plain.growth.recent) + len(plain.reservoir) - plain.growth.since - left
            plain.catch_up(more)
        assert (plain.growth is None) == (stage == IDLE)
        assert stage != GROWING or plain.growth.tree is None


def assert_same_answers(follower, X):
    tree, plain = follower.tree, follower.plain
    order = [follower.labels[label] for label in tree.classes_.tolist()]
    found = tree.predict_proba(X)
    for row, shares in zip(X, found, strict=True):
        expected = plain.answer([follower._known(f, x) for f, x in enumerate(row)])
        np.testing.assert_allclose(shares, np.array(expected)[order], rtol=1e-7, atol=1e-10)


def assert_same_tree(follower):
    """Every node: its test, its counts, its weights."""
    arrays, plain = follower.tree._state.tree, follower.plain
    waiting = [(0, plain.tree)]
    while waiting:
        v, node = waiting.pop()
        record = arrays.nodes[v]
        K = plain.K
        np.testing.assert_allclose(arrays.counts[v, :K], [node.N.get(k, 0.0) for k in range(K)], rtol=1e-9)
        recent = arrays.recent[v, :K] / record["scale"]
        np.testing.assert_allclose(recent, [node.M.get(k, 0.0) for k in range(K)], rtol=1e-7, atol=1e-12)
        assert (record["left"] > 0) == (node.cut is not None)
        if node.cut is None:
            continue
        np.testing.assert_allclose(record["stop_odds"], max(node.o, 1e-300), rtol=1e-5)
        np.testing.assert_allclose(record["stop"], node.h, rtol=1e-7)
        assert record["feature"] == node.cut.feature
        if node.cut.numeric:
            assert record["threshold"] == pytest.approx(node.cut.edge)
            assert bool(record["missing_left"]) == node.cut.missing_left
        waiting += [(int(record["left"]), node.left), (int(record["left"]) + 1, node.right)]
    assert_same_additive(follower.tree._state.additive, plain.additive)


def assert_same_additive(additive, plain):
    """Every bin of every feature: its edges, counts, coefficients and visits; weights and losses."""
    K, sums = plain.K, additive.sums[0]
    assert additive.is_on
    assert sums["seen"] == plain.n
    for name, value in (
        ("trees_weight", plain.a),
        ("sum_weight", plain.b),
        ("trees_loss", plain.L_B),
        ("loss", plain.L_S),
    ):
        assert sums[name] == pytest.approx(value, rel=1e-7, abs=1e-9)
    assert additive.totals[1, :K] == pytest.approx([plain.T[k] for k in range(K)], rel=1e-9)
    for f, column in enumerate(additive.columns):
        assert additive.limits[f, : column["edges"]].tolist() == pytest.approx(plain.bin_edges[f])
        for bin_id in range(column["capacity"]):
            at = column["first"] + bin_id
            assert additive.visits[at] == pytest.approx(plain.v[f, bin_id], rel=1e-9)
            for line, table in ((COEFFICIENT, plain.V), (COUNT, plain.N)):
                expected = [table[f, bin_id, k] for k in range(K)]
                np.testing.assert_allclose(additive.table[at, line, :K], expected, rtol=1e-6, atol=1e-8)
