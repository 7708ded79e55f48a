"""What one sees of an evergreen tree: it must be what the tree does."""

from __future__ import annotations

import json
import math
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest

import quercus as qc
from quercus import EvergreenTree
from quercus.explain import to_svg
from quercus.explain.words import show_share, width
from quercus.learners.evergreen.additive.engine import find_contributions
from quercus.learners.evergreen.explaining import EXPERTS, Contribution, EvergreenExplanation, show_weights
from quercus.learners.evergreen.layout import IDLE
from quercus.learners.evergreen.view import weigh_experts, weigh_parts

JOBS = ("clerk", "nurse", "cook", "smith", "judge")


def make_rows(n, classes=2, cities=40, seed=0):
    """Return rows with missing values, of which a third of the cities, a job and the age tell the class."""
    rng = np.random.default_rng(seed)
    city, job, age = rng.integers(0, cities, n), rng.integers(0, 5, n), rng.normal(40, 10, n)
    score = 2.0 * (city % 3 == 0) + (job == 1) + (age > 45) + rng.normal(0, 0.3, n)
    y = np.clip((score / 4.5 * classes).astype(int), 0, classes - 1)
    X = pd.DataFrame({"city": [f"city {c}" for c in city], "job": [JOBS[j] for j in job], "age": age})
    X.loc[rng.random(n) < 0.1, "city"] = None
    X.loc[rng.random(n) < 0.1, "age"] = np.nan
    return X, np.array([f"class {k:02d}" for k in y])


CASES = {
    "two classes": (3000, 2, 40),
    "many categories": (4000, 2, 400),
    "26 classes": (3000, 26, 12),
    "one class": (300, 1, 12),
    "one leaf": (20, 2, 12),
}
COST = {"class 01": {"class 00": 9.0}}


def make_plain(**given):
    """Return a tree that answers by itself, without single features."""
    tree = EvergreenTree(**given)
    tree._ablate = frozenset({"singles"})
    return tree


def grow(make, case):
    X, y = make_rows(*CASES[case])
    return make(loss=COST if case == "two classes" else None).partial_fit(X, y), X[:700]


@pytest.fixture(scope="module", params=CASES)
def grown(request):
    return grow(EvergreenTree, request.param)


@pytest.fixture(scope="module", params=CASES)
def plain(request):
    return grow(make_plain, request.param)


def examples(X):
    return [{name: x for name, x in row.items() if x is not None and x == x} for row in X.to_dict("records")]


def follow(view, x):
    """Return the leaf of an example by the tests of a view alone."""
    node = view.root
    while not node.is_leaf:
        value, test = x.get(node.test.feature), node.test
        if value is None:
            passed = node.missing_left
        else:
            passed = value <= test.value if test.op == "<=" else value in test.categories
        node = view.children(node)[not passed]
    return node


def test_a_view_shows_the_paths_and_answers_of_the_tree(plain):
    tree, X = plain
    view, answers, proba = tree.view(), tree.predict(X), tree.predict_proba(X)
    leaves, counts = tree.regions(X)
    for x, answer, shares, leaf in zip(examples(X), answers, proba, leaves.tolist(), strict=True):
        node = follow(view, x)
        assert node.id == leaf
        assert node.prediction == answer
        assert node.leaf.probability == pytest.approx(shares[view.classes.index(answer)], rel=1e-9)
        assert node.counts == tuple(counts[leaf])
    assert view.n_leaves == tree.n_leaves_ == len(view.leaves())
    assert view.depth == tree.depth_
    assert view.root.total == view.rows


def test_children_have_what_their_parents_have(grown):
    view = grown[0].view()
    for node in view.nodes:
        if not node.is_leaf:
            assert sum(child.total for child in view.children(node)) == node.total
            assert node.test.op != "in" or len(node.test.value) != 1


def test_there_are_trees_with_sets_and_with_late_categories():
    X, y = make_rows(*CASES["many categories"])
    tree = EvergreenTree().partial_fit(X, y)
    names = list(tree.schema_.categories[0])
    tests = [node.test for node in tree.view().nodes if node.test is not None and node.test.op == "in"]
    assert len(names) > 300
    assert max(len(test.value) for test in tests) > 50
    assert not any(set(names[253:]) & set(test.value) for test in tests)


def shares_of(tree, path, label):
    """Return, by the formulas alone, what each node of a path predicts of a class, and what the tree's experts do."""
    arrays, classes = tree._state.tree, tree._state.classes
    nodes, k = arrays.nodes, list(tree.schema_.labels).index(label)
    p = [(arrays.counts[0, k] + 1 / classes) / (nodes["n"][0] + 1)]
    for v in path[1:]:
        p.append((arrays.counts[v, k] + 2 * p[-1] + 1 / classes) / (nodes["n"][v] + 3))
    whole = p[-1]
    for j in range(len(path) - 2, -1, -1):
        odds = nodes["stop_odds"][path[j]]
        whole += odds / (1 + odds) * (p[j] - whole)
    late = None
    for v in reversed(path):
        counted, total = arrays.recent[v, k] / nodes["scale"][v], nodes["total"][v] / nodes["scale"][v]
        here = (counted + whole) / (total + 1)
        late = here if late is None else late + nodes["stop"][v] * (here - late)
    return p, dict(zip(EXPERTS, (whole, p[-1], late), strict=False))


def mixed_by_all(tree, reason, by_tree):
    """Return class probabilities by the parts of an explanation: experts of the tree, and single features on top."""
    share, weights = reason.experts[EXPERTS[3]], weigh_experts(tree._state.options[0])
    assert [reason.experts[name] for name in EXPERTS[:3]] == pytest.approx([(1 - share) * w for w in weights])
    B = [sum(w * q for w, q in zip(weights, tells.values(), strict=True)) for tells in by_tree]
    if share == 0:
        return B
    sums = tree._state.additive.sums[0]
    places = [tree.schema_.labels.index(label) for label in tree.classes_.tolist()]
    answer = tree.schema_.labels.index(reason.prediction)
    row = tree._read_one({one.feature: one.value for one in reason.contributions})[0]
    own = [find_contributions(tree._state.additive, row, k, answer).sum() for k in places]
    z = np.array([sums["trees_weight"] * math.log(max(q, 1e-4)) + one for q, one in zip(B, own, strict=True)])
    S = np.exp(z - z.max()) / np.exp(z - z.max()).sum()
    return [(1 - share) * q + share * one for q, one in zip(B, S, strict=True)]


def test_the_parts_of_an_explanation_make_up_the_answer(grown):
    tree, X = grown
    view = tree.view()
    for x, shares in zip(examples(X)[:40], tree.predict_proba(X), strict=False):
        reason = tree.explain_one(x)
        path = [node.id for node in view.path(follow(view, x).id)]
        assert [step.test for step in reason.path] == [view.node(v).test for v in path[:-1]]
        assert list(reason.depths) == list(range(len(path)))
        assert sum(reason.depths.values()) == pytest.approx(1)
        assert sum(reason.experts.values()) == pytest.approx(1)
        by_tree = []
        for label, share in zip(tree.classes_, shares, strict=True):
            p, experts = shares_of(tree, path, label)
            assert math.fsum(w * q for w, q in zip(reason.depths.values(), p, strict=True)) == pytest.approx(
                experts["all prunings"]
            )
            by_tree.append(experts)
            assert reason.probabilities[label] == share
        assert mixed_by_all(tree, reason, by_tree) == pytest.approx(shares.tolist(), abs=1e-9)


def test_single_features_speak_for_the_answer_against_the_next_best(grown):
    tree, X = grown
    for x in examples(X)[:10]:
        reason = tree.explain_one(x)
        ranked = sorted(reason.probabilities, key=lambda label: -reason.probabilities[label])
        if reason.experts[EXPERTS[3]] == 0 or len(ranked) == 1:
            assert reason.contributions == ()
            continue
        assert reason.against == next(label for label in ranked if label != reason.prediction)
        assert {one.feature: one.value for one in reason.contributions if one.value is not None} == x
        sizes = [abs(one.log_odds) for one in reason.contributions]
        assert sizes == sorted(sizes, reverse=True)


def test_recent_labels_count_where_labels_come_in_runs():
    rng = np.random.default_rng(0)
    y = np.repeat(rng.integers(0, 2, 60), 25)
    tree = make_plain().partial_fit(rng.random((len(y), 2)), y)
    reason = tree.explain_one({"x0": 0.5, "x1": 0.5})
    assert reason.experts["recent labels"] > 0.9
    assert str(reason).splitlines()[-1].endswith(f"recent labels {show_share(reason.experts['recent labels'])}")
    tree._state.options["recent_loss"] += 1e5
    reason = tree.explain_one({"x0": 0.5, "x1": 0.5})
    assert reason.experts["recent labels"] == 0
    assert "recent labels" not in str(reason)


def test_plain_words_and_plain_data():
    X, y = make_rows(3000)
    tree = EvergreenTree().partial_fit(X, y)
    city = next(c for c in tree.view().root.test.categories)
    reason = tree.explain_one({"city": city, "job": "nurse", "age": 51.0})
    lines = str(reason).splitlines()
    assert repr(reason) == str(reason)
    assert lines[0].startswith("predicts 'class 01' (")
    assert lines[1].startswith(f"  because city = '{city}', in {{'")
    assert any(line.startswith("  prunings count by depth: ") for line in lines)
    assert lines[-2].startswith("  single features, for 'class 01' against 'class 00': ")
    assert f"city = '{city}' (+" in lines[-2]
    assert lines[-1].startswith("  the answer: ")
    assert "true share" not in str(reason)
    data = json.loads(json.dumps(reason.to_dict()))
    assert data["experts"].keys() == set(EXPERTS)
    assert len(data["depths"]) == len(data["path"]) + 1
    assert {one["feature"] for one in data["contributions"]} == {"city", "job", "age"}
    assert city in data["path"][0]["categories"]


def test_missing_and_unseen_categories():
    X, y = make_rows(3000)
    tree = make_plain().partial_fit(X, y)
    new, missing = {"city": "nowhere", "job": "nurse", "age": 51.0}, {"job": "nurse", "age": 51.0}
    reason = tree.explain_one(new)
    assert not any(step.passed for step in reason.path if step.feature == "city")
    assert "because city = 'nowhere', not 'city " in str(reason)
    assert "city is missing, which goes with: city " in str(tree.explain_one(missing))
    leaves, _ = tree.regions(pd.DataFrame([new, {**missing, "city": None}]))
    view = tree.view()
    assert leaves.tolist() == [follow(view, new).id, follow(view, missing).id]
    assert reason.probabilities == tree.region_one(new)[0]
    assert view.node(int(leaves[0])).leaf.probability == pytest.approx(max(reason.probabilities.values()))


def test_whether_a_value_is_known_can_be_the_test():
    rng = np.random.default_rng(0)
    X, y = rng.random((600, 2)), rng.integers(0, 2, 600)
    X[y == 1, 0] = np.nan
    tree = EvergreenTree().partial_fit(X, y)
    root = tree.view().root
    assert (root.test.feature, root.test.op, root.missing_left) == ("x0", "<=", False)
    assert [child.shares for child in tree.view().children(root)] == [(1.0, 0.0), (0.0, 1.0)]
    words = pd.DataFrame({"job": np.where(y == 1, None, np.array(JOBS)[rng.integers(0, 5, 600)])})
    tree = EvergreenTree().partial_fit(words, y)
    assert tree.view().root.test.text() == "job is missing"
    assert "├─ job is missing  " in str(tree)
    assert "because job is missing\n" in str(tree.explain_one({}))
    assert "because job = 'cook', not missing\n" in str(tree.explain_one({"job": "cook"}))


def test_all_renderers_show_the_tree(grown):
    tree, _ = grown
    lines = str(tree).splitlines()
    assert lines[0].startswith("EvergreenTree: ")
    assert max(map(width, lines)) <= 120
    # What an answer is made of is told in the same words as of a single one.
    assert lines[-1] == f"every answer: {show_weights(weigh_parts(tree._state))}"
    assert len(tree.to_text(max_nodes=None).splitlines()) == 3 + len(tree._state.tree.nodes)
    ET.fromstring(to_svg(tree.view(), max_depth=None, max_nodes=None))
    assert tree.to_dot().count(" -> ") == len(tree._state.tree.nodes) - 1
    assert tree.to_mermaid().startswith("flowchart TD\n")
    assert "{" not in tree.to_mermaid()
    bundle = tree._repr_mimebundle_()
    assert bundle["text/plain"] == str(tree)
    assert bundle["text/html"].startswith("<div")


def test_gain_by_feature():
    rng = np.random.default_rng(1)
    X = rng.random((2000, 3))
    tree = EvergreenTree().partial_fit(X, (X[:, 1] > 0.5) ^ (rng.random(2000) < 0.05))
    nodes = [node for node in tree.view().nodes if node.test is not None]
    gains = [sum(node.gain for node in nodes if node.test.feature == name) for name in ("x0", "x1", "x2")]
    assert tree.feature_importances_ == pytest.approx(np.array(gains) / sum(gains))
    assert tree.feature_importances_[1] > 0.8
    assert EvergreenTree().partial_fit(X[:5], [0, 1, 0, 1, 0]).feature_importances_.tolist() == [0, 0, 0]


def test_what_a_label_policy_sees(grown):
    tree, X = grown
    leaves, counts = tree.regions(X)
    for x, leaf, shares in zip(examples(X)[:50], leaves, tree.predict_proba(X), strict=False):
        proba, support = tree.region_one(x)
        assert list(proba) == tree.classes_.tolist()
        assert list(proba.values()) == shares.tolist()
        assert support == counts[leaf].sum()
        smooth, _ = tree.region_one(x, by_counts=True)
        expected = (counts[leaf] + 1 / counts.shape[1]) / (support + 1)
        assert list(smooth.values()) == pytest.approx(expected.tolist())


def test_before_anything_was_learned():
    tree = EvergreenTree()
    assert tree.region_one({"a": 1.0}) == ({}, 0.0)
    leaves, counts = tree.regions([[1.0], [2.0]])
    assert leaves.tolist() == [0, 0]
    assert counts.shape == (1, 0)
    assert str(tree) == repr(tree)
    for look in (tree.view, tree.freeze, lambda: tree.explain_one({"a": 1.0}), lambda: tree.feature_importances_):
        with pytest.raises(Exception, match="not fitted yet"):
            look()


def test_a_growth_under_way_shows_the_tree_that_answers():
    rng = np.random.default_rng(2)
    X = rng.random((9000, 20))
    y = (X[:, 3] > 0.4) ^ (X[:, 7] > 0.5)
    tree, seen = make_plain(), 0
    while seen < 3300 or tree._state.options["stage"][0] == IDLE:
        tree.partial_fit(X[seen : seen + 10], y[seen : seen + 10], classes=[False, True])
        seen += 10
    view = tree.view()
    assert view.rows == view.root.total == seen
    leaves, _ = tree.regions(X[:300])
    assert [view.node(leaf).prediction for leaf in leaves.tolist()] == tree.predict(X[:300]).tolist()


def test_rows_that_were_thinned_out_are_told():
    rng = np.random.default_rng(3)
    X = rng.random((9000, 3))
    tree = EvergreenTree(max_bytes=2**18).partial_fit(X, X[:, 0] > 0.5)
    assert tree.rows_ < 9000
    assert "of 9,000 labels: the tree grew from the rows that were kept then" in str(tree)


def test_contributions_had_other_names():
    reason = EvergreenExplanation(
        "yes", {"yes": 1.0}, (), {}, None, None, "", contributions=(Contribution("age", 2, 0.5),)
    )
    with pytest.warns(DeprecationWarning, match="singles is now called contributions"):
        (single,) = reason.singles
    with pytest.warns(DeprecationWarning, match="told is now called log_odds"):
        assert single.told == 0.5


@pytest.mark.parametrize("loss", [None, {"class 00": {"class 01": 5.0}}])
def test_of_a_readable_tree_the_printed_leaves_are_the_model(loss, tmp_path):
    X, y = make_rows(3000)
    tree = EvergreenTree(readable=True, loss=loss).partial_fit(X, y)
    tree.save(tmp_path / "tree.quercus")
    for model in (tree, qc.load(tmp_path / "tree.quercus"), tree.freeze()):
        view = model.view()
        leaves = {node.id: node for node in view.nodes if node.is_leaf}
        proba, answers = model.predict_proba(X[:200]), model.predict(X[:200])
        for row, shares, answer in zip(X[:200].to_dict("records"), proba, answers, strict=True):
            node = view.root
            while not node.is_leaf:
                left, right = view.children(node)
                value = row[node.test.feature]
                if value is None or value != value:
                    goes_left = node.missing_left
                elif node.test.op == "<=":
                    goes_left = value <= node.test.value
                else:
                    goes_left = value in node.test.categories
                node = left if goes_left else right
            assert shares == pytest.approx(leaves[node.id].shares, abs=1e-9)
            assert answer == node.prediction
            costs = {
                a: sum(
                    p * (loss or {}).get(t, {}).get(a, float(a != t)) for t, p in zip(view.classes, shares, strict=True)
                )
                for a in view.classes
            }
            assert costs[answer] == pytest.approx(min(costs.values()))
        text = str(model)
        assert "every answer" not in text
        assert "rest on" not in text
    reason = tree.explain_one(X.iloc[0].to_dict())
    assert reason.experts == reason.depths == {}
    assert "the answer:" not in str(reason)
    with pytest.raises(TypeError, match="readable=1 is neither True nor False"):
        EvergreenTree(readable=1).partial_fit(X, y)
