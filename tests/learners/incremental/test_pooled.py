"""The compiled tree that keeps its rows against the plain one: same nodes, same counts, same evaluations."""

import itertools

import numpy as np
import pytest

from quercus.learners.incremental.intervals import reach_pair
from quercus.learners.incremental.kernels import find_leaves
from quercus.learners.incremental.layout import (
    CREDIBLE,
    CUTS,
    CUTS_AND_EVALUATIONS,
    HOEFFDING_INTERVAL,
    LABEL,
    MAJORITY,
    NEEDS_CAPACITY,
    NEEDS_RESIZE,
    NO_CORRECTION,
    SIZE_LABELS,
    SIZE_POOL,
    SIZE_VOLUME,
)
from quercus.learners.incremental.pooled.kernels import run_pool_rows
from quercus.learners.incremental.pooled.state import PooledState
from quercus.rows import DONE, LEARN, PREDICT, RESUME, Rows
from quercus.statistics.credible import MEASURES, evaluate_rows, find_table
from quercus.statistics.layout import IMPURITY
from tests.learners.incremental.oracle.credible import PoolTree

BOUNDS = {"credible": CREDIBLE, "hoeffding": HOEFFDING_INTERVAL}
CORRECTIONS = {None: NO_CORRECTION, "cuts": CUTS, "cuts+looks": CUTS_AND_EVALUATIONS}
SIZES = {"pool": SIZE_POOL, "labels": SIZE_LABELS, "volume": SIZE_VOLUME}


def make_tree(features, *, criterion="entropy", bound="credible", correction=None, size="pool", delta=0.3, min_leaf=1,
              max_bytes=2**26):  # fmt: skip
    pooling = {
        "measure": MEASURES[criterion],
        "bound": BOUNDS[bound],
        "correction": CORRECTIONS[correction],
        "size": SIZES[size],
        "delta": delta,
        "min_leaf": min_leaf,
    }
    settings = {"leaf": MAJORITY, "buffer_rows": 2, "grace": 1.0, "alpha": 1.0, "rule": CREDIBLE, "scale": 0.1}
    tree = PooledState.begin(settings, max_bytes, pooling=pooling)
    tree.add_features(features)
    return tree


def learn(tree, X, y, w=None, places=None, nominal=None, classes=8, predict=False):
    """Do what a learner does: call the kernel, make a place where it stops."""
    X, y = np.ascontiguousarray(X, np.float64), np.asarray(y, np.int64)
    w = np.ones(len(y)) if w is None else np.asarray(w, np.float64)
    nominal = [False] * X.shape[1] if nominal is None else nominal
    table = find_table(float(tree.pooling["delta"][0]), int(tree.pooling["measure"][0]))
    order, loss = np.arange(classes), np.empty((0, 0))
    answers = np.full(len(y) if predict else 0, -1)
    proba = np.zeros((len(answers), classes))
    mode = (LEARN if places is None else LABEL) | (PREDICT if predict else 0)
    places = np.empty(0, np.int64) if places is None else np.asarray(places, np.int64)
    rows = Rows(X, y=y, weight=w, answers=answers, proba=proba)
    row = resume = 0
    while row < len(y):
        row = run_pool_rows(tree.ref, rows.ref, places, order, loss, table, row, len(y), mode | resume)
        stopped = tree.options["stopped"][0]
        resume = RESUME if stopped in (NEEDS_RESIZE, NEEDS_CAPACITY) else 0
        if stopped == NEEDS_RESIZE:
            tree.fit_row(X[row], int(y[row]), nominal)
        elif stopped == NEEDS_CAPACITY:
            tree.ensure_capacity()
        else:
            assert stopped == DONE
    return answers, proba


def mixed_pool(rng, rows=40, classes=2, missing=0.1, noise=0.15):
    """Ties, a coarse column, a constant, categories; labels that follow two of the columns."""
    X = np.column_stack(
        [
            rng.normal(size=rows).round(1),
            rng.integers(0, 4, rows),
            rng.choice(4, rows, p=[0.4, 0.3, 0.2, 0.1]),
            rng.random(rows),
            np.full(rows, 2.0),
        ]
    ).astype(float)
    y = (X[:, 0] > 0).astype(int) + (X[:, 2] == 1) * (classes > 2) + (X[:, 1] > 2) * (classes > 3)
    mixed = rng.random(rows) < noise
    y[mixed] = rng.integers(0, classes, mixed.sum())
    X[rng.random(X.shape) < missing] = np.nan
    number_by_arrival(X[:, 2])
    return X, number_by_arrival(y.astype(float)).astype(int)


def number_by_arrival(codes):
    """Number categories or classes in the order in which they come, in place."""
    known = codes[~np.isnan(codes)]
    numbers = {value: k for k, value in enumerate(dict.fromkeys(known.tolist()))}
    codes[~np.isnan(codes)] = [numbers[value] for value in known.tolist()]
    return codes


NOMINAL = [False, False, True, False, False]
KINDS = ["nominal" if nominal else "numeric" for nominal in NOMINAL]


def plain_row(row):
    return [
        None if np.isnan(x) else (f"c{int(x)}" if nominal else float(x))
        for x, nominal in zip(row, NOMINAL, strict=True)
    ]


def same_state(a, b):
    """Compare all that is saved, and all that follows from it."""
    ours, theirs = a.to_arrays(), b.to_arrays()
    assert [name for name in ours if ours[name].tobytes() != theirs[name].tobytes()] == []
    n, nodes = a.n_rows, int(a.options["nodes"][0])
    assert a.sorted.tobytes() == b.sorted.tobytes()
    assert a.boxes[:nodes].tobytes() == b.boxes[:nodes].tobytes()
    assert a.heads[:nodes].tobytes() == b.heads[:nodes].tobytes()
    assert a.links[:, :n].tobytes() == b.links[:, :n].tobytes()


def same_tree(tree, naive):
    nodes = tree.to_arrays()["nodes"]
    assert len(nodes) == len(naive.tree)
    for at, plain in enumerate(naive.tree):
        node = nodes[at]
        counts = naive.counts_of(naive.rows_of(at))
        if plain.cut is None:
            assert node["left"] == 0
            np.testing.assert_allclose(tree.counts[at, : len(naive.classes)], counts[: len(naive.classes)], rtol=1e-12)
        else:
            threshold = float(plain.cut.at[1:]) if isinstance(plain.cut.at, str) else plain.cut.at
            assert (node["feature"], node["left"]) == (plain.cut.feature, plain.left)
            assert node["threshold"] == threshold
            assert bool(node["missing_left"]) == plain.missing_left
        assert node["slot"] == -1
        assert tree.regions["evaluations"][at] == plain.evaluations


def grow_both(X, y, w, settings, joined=()):
    """Grow both trees on a pool, label by label; rows in ``joined`` come later, with their labels."""
    pooled = np.setdiff1d(np.arange(len(y)), joined)
    # Categories are numbered as they join the pool.
    X[[*pooled, *joined], 2] = number_by_arrival(X[[*pooled, *joined], 2])
    tree = make_tree(X.shape[1], **settings)
    tree.join(X[pooled], NOMINAL)
    naive = PoolTree([plain_row(row) for row in X[pooled]], KINDS, **settings)
    for k in range(len(y)):
        row, label, weight = X[k : k + 1], y[k : k + 1], w[k : k + 1]
        if k in joined:
            learn(tree, row, label, weight, nominal=NOMINAL)
            naive.label(naive.add(plain_row(X[k])), int(y[k]), float(w[k]))
        else:
            place = int(np.searchsorted(pooled, k))
            learn(tree, row, label, weight, places=[place], nominal=NOMINAL)
            naive.label(place, int(y[k]), float(w[k]))
        if k % 5 == 4:
            same_tree(tree, naive)
    same_tree(tree, naive)
    return tree, naive


# Of a tree on a pool that chance has little part in, with a correction or without.
CASES = [(1, 2, "entropy", 1), (2, 2, "deviation", 0), (3, 3, "variance", 2), (4, 4, "entropy", 1)]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.parametrize("bound", BOUNDS)
def test_same_tree_as_the_plain_one(size, correction, bound):
    splits = 0
    for seed, classes, criterion, min_leaf in CASES:
        rng = np.random.default_rng([seed, len(size), len(str(correction))])
        X, y = mixed_pool(rng, classes=classes, noise=0.15 if correction is None else 0.0, missing=0.1 * (seed > 1))
        settings = {"size": size, "correction": correction, "bound": bound, "criterion": criterion}
        settings |= {"delta": 0.35 if correction is None else 0.49, "min_leaf": min_leaf}
        w = np.ones(len(y)) if seed % 2 else rng.integers(4, 24, len(y)) / 4.0
        # A correction asks for more labels than a small pool has.
        w *= 1 if correction is None else 4
        tree, _ = grow_both(X, y, w, settings, joined=np.arange(15, 40, 3) if seed > 2 else ())
        splits += int(tree.options["nodes"][0]) // 2
    assert splits >= 4


def test_weights_that_are_no_binary_fractions_grow_the_same_tree():
    rng = np.random.default_rng(3)
    X, y = mixed_pool(rng)
    w = rng.uniform(0.3, 4.0, len(y))
    tree, _ = grow_both(X, y, w, {"delta": 0.4, "min_leaf": 2.5})
    assert tree.options["nodes"][0] >= 5


def test_declared_classes_count():
    rng = np.random.default_rng(8)
    X, y = mixed_pool(rng, noise=0.05)
    tree = make_tree(5, delta=0.4)
    tree.join(X, NOMINAL)
    tree.declare_classes(3)
    learn(tree, X, y, places=np.arange(len(y)))
    naive = PoolTree([plain_row(row) for row in X], KINDS, delta=0.4, classes=[0, 1, 2])
    for place, label in enumerate(y.tolist()):
        naive.label(place, label)
    same_tree(tree, naive)


def test_many_labels_grow_the_same_tree_with_and_without_what_is_remembered():
    rng = np.random.default_rng(5)
    X = rng.random((1500, 3)).round(2)
    y = (rng.random(1500) < 0.35 + 0.3 * (X[:, 0] > 0.5)).astype(int)
    trees = []
    for rows in (1, 2**17):
        tree = make_tree(3, delta=1e-6, size="labels")
        tree.join(X, [False] * 3)
        tree.memo = np.zeros((rows, tree.memo.shape[1]))
        learn(tree, X, y, places=np.arange(1500))
        trees.append(tree)
    assert trees[0].options["nodes"][0] == 3
    assert tree.nodes["weight"][0] > 1100
    same_state(*trees)


def test_a_pruned_bound_is_never_above_the_true_one():
    reach = getattr(reach_pair, "py_func", reach_pair)
    rng = np.random.default_rng(0)
    total = np.concatenate([np.arange(12.0), 10.0 ** rng.uniform(-1, 5, 500)])
    few = total * rng.random(len(total)) * 0.5
    few[::3] = np.floor(few[::3])
    few[1::7] = 0.0
    few[2::7] = total[2::7] / 2
    rows = np.column_stack([few, total - few])
    for delta, (criterion, code) in itertools.product([0.49, 0.2, 0.01, 1e-6], MEASURES.items()):
        bounds = evaluate_rows(IMPURITY, rows, measure=code, delta=delta, upper=True)
        least = np.array([reach(code, k, t, delta) for k, t in zip(few, total, strict=True)])
        assert (least <= bounds * (1 + 1e-9)).all(), criterion
        assert np.median(least / bounds) > 0.5


def test_answers_come_before_the_label():
    rng = np.random.default_rng(2)
    X, y = mixed_pool(rng, rows=120, classes=3, noise=0.0)
    tree, plain = make_tree(5, size="labels", delta=0.4), make_tree(5, size="labels", delta=0.4)
    answers, proba = learn(tree, X, y, nominal=NOMINAL, classes=3, predict=True)
    for i in range(len(y)):
        classes = int(plain.options["classes"][0])
        if classes:
            leaf = np.zeros(1, np.int64)
            find_leaves(plain.nodes, X[i : i + 1], leaf)
            counts = plain.counts[leaf[0], :classes]
            shares = (counts + 1 / classes) / (counts.sum() + 1)
            np.testing.assert_allclose(proba[i, :classes], shares)
            assert answers[i] == shares.argmax()
        else:
            assert answers[i] == -1
        learn(plain, X[i : i + 1], y[i : i + 1], nominal=NOMINAL)
    same_state(tree, plain)
