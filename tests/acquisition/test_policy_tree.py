"""The policy as a tree: against all rows that there can be, against cases, and as it is drawn."""

import itertools
import json
import math
import xml.etree.ElementTree as ET
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

import quercus as qc
from quercus.acquisition import REFER, policy_unroll
from quercus.acquisition.layout import UNKNOWN
from quercus.acquisition.policy_outcomes import Names, Outcome, Span, join_parts
from tests.acquisition.fakes import PRICES, Buyer, BuyerEngine, patients, posterior

VALUES = {
    "colour": ["red", "green", "blue"],
    "size": [1.0, 2.0, 4.0],
    "shape": ["round", "square"],
    "weight": [0.0, 1.0],
}
WHOLE = {"depth": 9, "reach": 0.0}
# The first cases are the plain ones; each of the others has one thing more.
MODELS = {
    "plain": {},
    "prices": {"costs": {"colour": 3, "size": 0.5, "weight": 2}},
    "free": {"costs": {"colour": 0, "size": 0}},
    "group": {"costs": {"look": 2.5}, "groups": {"look": ["colour", "shape"]}},
    "order": {"requires": {"colour": ["weight"]}},
    "budget": {"costs": {"size": 2}, "budget": 3, "worth": None},
    "loss": {"loss": {"yes": {"no": 5.0}, "no": {"yes": 1.0}}},
    "refer": {"refer": 0.2},
    "uncertain": {"confidence": 0.6, "gain": 0.05, "worth": None},
    "thrifty": {"costs": {"colour": 3, "size": 0.5, "weight": 2}, "worth": 8.0},
    "us": {"objective": "us", "confidence": 0.8, "worth": None},
    "ec2": {"objective": "ec2", "classes": "uniform", "worth": None},
    "eced": {"objective": "eced"},
    "thresholds": {"numeric": "thresholds", "confidence": 0.9, "worth": None},
    "thresholds in a group": {"numeric": "thresholds", "groups": {"all": ["size", "weight"]}},
    "exp3": {"numeric": "exp3"},
}


def history(seed, rows=150):
    """Rows of which every feature tells something, and with holes."""
    draw = np.random.default_rng(seed)
    labels = draw.choice(["no", "yes", "maybe"], rows, p=[0.5, 0.3, 0.2]).tolist()
    table = {}
    for name, values in VALUES.items():
        tilt = {label: draw.dirichlet(np.ones(len(values)) * 0.7) for label in ("no", "yes", "maybe")}
        column = [values[draw.choice(len(values), p=tilt[label])] for label in labels]
        table[name] = [None if draw.random() < 0.1 else value for value in column]
    return table, labels


def fitted(seed=0, **changes):
    return qc.UtilityTree(**changes).fit(*history(seed))


def chances(model, seed):
    """Return P(class) and P(value | class) as the specification has them, counted from the history."""
    table, labels = history(seed)
    classes = dict.fromkeys(labels)
    number = Counter(labels)
    share = {y: 1 / 3 if model.classes == "uniform" else (number[y] + 1) / (len(labels) + 3) for y in classes}
    theta = {}
    for name, values in VALUES.items():
        seen = Counter((y, x) for y, x in zip(labels, table[name], strict=True) if x is not None)
        # Numbers in ten tenths of their range have bins that are always empty, and keep a part of the prior.
        bins = 10 if model.numeric != "quantiles" and isinstance(values[0], float) else len(values)
        for y in classes:
            total = sum(seen[y, x] for x in values)
            theta |= {(y, name, x): (2 / bins + seen[y, x]) / (2 + total) for x in values}
    return share, theta


def ten_values(model, name):
    """Return a value in each bin of a number: what thresholds can tell apart."""
    edges = model._state.edges[model.schema_.names.index(name)].tolist()
    return [*edges, edges[-1] + 1]


def simulate(model, seed):
    """Return expected cost, accuracy, loss and share referred over all rows that there can be."""
    share, theta = chances(model, seed)
    values = dict(VALUES)
    if model.numeric != "quantiles":
        for name in ("size", "weight"):
            values[name] = ten_values(model, name)
            where = {
                x: next(v for v, top in enumerate([*values[name][:-1], math.inf]) if x <= top) for x in VALUES[name]
            }
            for y in share:
                empty = 1 - sum(theta[y, name, x] for x in VALUES[name])
                spread = dict.fromkeys(range(10), empty / (10 - len(VALUES[name])))
                spread |= {where[x]: theta[y, name, x] for x in VALUES[name]}
                theta |= {(y, name, values[name][v]): p for v, p in spread.items()}
    rows = [dict(zip(values, row, strict=True)) for row in itertools.product(*values.values())]
    result = model.purchases({name: [row[name] for row in rows] for name in values})
    sums = np.zeros(4)
    for row, answer, cost in zip(rows, result.answers, result.cost, strict=True):
        joint = {y: p * math.prod(theta[y, name, x] for name, x in row.items()) for y, p in share.items()}
        answer = model.predict_one(row) if model.refer is not None else answer
        right = joint.get(answer, 0.0)
        table = model.loss or {}
        lost = sum(p * (table.get(y, {}).get(answer, 1.0) if y != answer else 0.0) for y, p in joint.items())
        whole = sum(joint.values())
        referred = whole if answer is REFER else 0.0
        sums += [whole * cost, right, referred * model.refer if referred else lost, referred]
    return sums.tolist()


@pytest.mark.sampled(7)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_what_it_expects_is_what_happens_over_all_rows(name, seed):
    model = fitted(seed, **MODELS[name])
    tree = model.tree(**WHOLE)
    expected = [tree.cost, tree.accuracy, tree.loss, tree.root.referred]
    assert expected == pytest.approx(simulate(model, seed), abs=1e-9)
    assert tree.unfinished == 0


def run(model, path):
    """Answer a case with what leads down a path; return the case and what it asked."""
    case, asked = model.open(explore=False), []
    for node in path[1:]:
        asked.append(case.question)
        assert case.question is not None
        case.answer(dict(node.values))
    return case, asked


@pytest.mark.parametrize("name", MODELS)
def test_a_case_asks_the_same_and_gives_the_same_answer(name):
    model = fitted(3, **MODELS[name])
    tree = model.tree(**WHOLE)
    assert len(tree.leaves()) > 1
    for leaf in tree.leaves():
        path = tree.path(leaf.id)
        case, asked = run(model, path)
        assert asked == [node.question for node in path[:-1]]
        assert case.cost == pytest.approx(sum(node.price for node in path[:-1]))
        assert case.question == leaf.question
        if leaf.kind == "formality":
            case.answer({feature: next(iter(VALUES[feature])) for feature in model._prices.features(leaf.question)})
            assert case.question is None
        assert case.prediction == leaf.answer
        assert leaf.stop in (case.stopped, None)


@given(
    st.integers(0, 10**6),
    st.integers(0, 4),
    st.sampled_from([0.0, 0.02, 0.1, 0.4]),
    st.sampled_from(["plain", "prices", "group", "thresholds", "loss", "refer"]),
)
@settings(max_examples=40, deadline=None)
def test_a_tree_that_was_cut_gives_bounds(seed, depth, reach, name):
    model = fitted(seed, **{**MODELS[name], "confidence": 0.97, "worth": None})
    whole, cut = model.tree(**WHOLE), model.tree(depth=depth, reach=reach)
    assert cut.cost <= whole.cost + 1e-9
    assert cut.questions <= whole.questions + 1e-9
    assert cut.loss >= whole.loss - 1e-9
    if name not in ("loss", "refer"):
        assert cut.accuracy <= whole.accuracy + 1e-9
    assert max(node.depth for node in cut.nodes) <= depth
    for node in cut.nodes:
        assert 0 <= node.unfinished <= 1 + 1e-12
        assert sum(node.probabilities.values()) == pytest.approx(1)
        children = cut.children(node)
        assert bool(children) == (node.kind == "question")
        if children:
            assert node.reach >= reach
            assert sum(child.reach for child in children) == pytest.approx(node.reach)
            assert node.cost == pytest.approx(
                node.price + sum(child.reach * child.cost for child in children) / node.reach
            )
    ends = sum(leaf.reach for leaf in cut.leaves() if leaf.kind == "cut")
    assert cut.unfinished == pytest.approx(ends)


def test_at_depth_0_only_the_first_question_is_known():
    tree = fitted().tree(depth=0)
    assert [node.kind for node in tree.nodes] == ["cut"]
    assert (tree.questions, tree.cost, tree.unfinished) == (1, 1, 1)
    assert "at least 1 question for at least 1 a case" in str(tree)
    assert "100% of cases go on" in str(tree)


def test_neighbouring_bins_that_lead_to_the_same_are_one_branch():
    draw = np.random.default_rng(0)
    x = draw.uniform(0, 8, 2_000)
    tree = qc.UtilityTree().fit({"x": x}, np.where((x > 3) & (x < 5), "in", "out")).tree()
    assert (tree.leaves()[0].answer, tree.leaves()[0].kind) == ("out", "answer")
    assert [node.branch.count("x") for node in tree.leaves()] == [1] * len(tree.leaves())
    ends = [node.values["x"] for node in tree.leaves()]
    assert ends == sorted(ends)
    assert 3 <= len(tree.leaves()) <= 5
    answers = [(node.answer, node.stop) for node in tree.leaves()]
    assert all(one != other for one, other in itertools.pairwise(answers))


def test_categories_that_lead_to_the_same_are_one_branch():
    jobs = [f"job {number}" for number in range(12)]
    tree = qc.UtilityTree().fit({"job": jobs * 40}, ["yes" if job == "job 7" else "no" for job in jobs * 40]).tree()
    assert [node.branch for node in tree.leaves()] == ["job in 'job 0', 'job 1', 'job 2', 8 others", "job == 'job 7'"]
    assert [node.reach for node in tree.leaves()] == pytest.approx([11 / 12, 1 / 12], abs=0.02)


def test_a_question_that_changes_no_answer_is_a_formality():
    table = {"x": ["a", "b"] * 100}
    labels = ["no"] * 140 + (["no", "yes"] * 30)
    tree = qc.UtilityTree(confidence=0.99, worth=None, costs={"x": 4}).fit(table, labels).tree()
    assert [(node.kind, node.question, node.answer) for node in tree.nodes] == [("formality", "x", "no")]
    assert (tree.cost, tree.questions, tree.unfinished) == (4, 1, 0)
    assert "ask x (4), then answer 'no' in any case" in str(tree)


def test_a_group_of_many_outcomes_lumps_the_rare_ones():
    draw = np.random.default_rng(1)
    ill = draw.random(800) < 0.4
    table = {f"v{i}": draw.normal(0.4 * ill, 1.0).round(2) for i in range(4)}
    model = qc.UtilityTree(groups={"blood": list(table)}).fit(table, np.where(ill, "ill", "well"))
    row, status = np.full(4, np.nan), np.zeros(4, np.uint8)
    outcomes = model.engine.outcomes(model, row, status, 0)
    assert len(outcomes) == 33
    assert sum(outcome.probability for outcome in outcomes) == pytest.approx(1)
    assert outcomes[-1].values == {}
    tree = model.tree()
    rest = tree.nodes[-1]
    assert (rest.branch, rest.kind, rest.question) == ("anything else", "cut", None)
    assert rest.reach == pytest.approx(outcomes[-1].probability)
    mixed = sum(node.reach * node.probabilities["ill"] for node in tree.nodes[1:])
    assert mixed == pytest.approx(tree.root.probabilities["ill"])
    assert tree.unfinished >= rest.reach
    assert tree.cost == 1


def test_a_free_feature_of_which_nothing_is_known_has_one_outcome():
    table, labels = history(0)
    model = qc.UtilityTree(costs={"new": 0}).fit({**table, "new": [None] * len(labels)}, labels)
    tree = model.tree()
    assert tree.root.question == "new"
    assert [(node.branch, node.values) for node in tree.children(tree.root)] == [("new: any value", {"new": None})]
    case, asked = run(model, tree.path(tree.leaves()[0].id))
    assert asked[0] == "new"
    assert case.cost == len(asked) - 1


class ToldEngine(BuyerEngine):
    """An engine of somebody else, with the one method more that a tree needs."""

    def outcomes(self, model, row, status, item):
        q, theta = posterior(model._state, row, status, None)
        unknown = [f for f in model._prices.members[item] if status[f] == UNKNOWN]
        outcomes = []
        for bins in itertools.product(*(model._state.bins(f) for f in unknown)):
            pairs = list(zip(unknown, bins, strict=True))
            p = sum(q[y] * math.prod(theta[y, f][v] for f, v in pairs) for y in range(len(q)))
            parts = tuple(Names(model._prices.names[f], (v,), 0) for f, v in pairs)
            outcomes.append(Outcome(p, {f: float(v) for f, v in pairs}, parts))
        return outcomes


class Told(Buyer):
    engine = ToldEngine()


def test_any_learner_that_buys_has_a_tree():
    model = Told(**PRICES).fit(*patients())
    tree = model.tree(depth=3)
    assert tree.root.question == "age"
    assert tree.learner == "Told"
    for leaf in tree.leaves():
        path = tree.path(leaf.id)
        assert run(model, path)[1] == [node.question for node in path[:-1]]


def test_nothing_changes_by_looking():
    model = fitted(objective="ec2")
    before = {name: array.copy() for name, array in model._arrays().items()}
    model.tree()
    assert all(np.array_equal(before[name], array) for name, array in model._arrays().items())
    assert (model.spent_, model._opened) == (0, 0)


def test_prices_of_now_count():
    model = fitted(confidence=0.8, worth=None)
    cheap = model.tree(**WHOLE)
    model.set_costs(dict.fromkeys(VALUES, 10))
    dear = model.tree(**WHOLE)
    assert dear.cost == pytest.approx(10 * cheap.cost)
    assert [node.question for node in dear.nodes] == [node.question for node in cheap.nodes]


def test_bad_calls_are_refused(monkeypatch):
    with pytest.raises(NotFittedError):
        qc.UtilityTree(costs={"age": 1}).tree()
    model = fitted(worth=None)
    for wrong in ({"depth": -1}, {"depth": 2.5}, {"reach": -0.1}, {"reach": 1.5}):
        with pytest.raises((ValueError, TypeError), match=next(iter(wrong))):
            model.tree(**wrong)
    monkeypatch.setattr(policy_unroll, "MOST_NODES", 20)
    with pytest.raises(
        ValueError, match="more than 20 nodes with depth=9 and reach=0; give a smaller depth or a larger"
    ):
        model.tree(**WHOLE)
    with pytest.raises(ValueError, match="no node 99"):
        model.tree(depth=1).path(99)


def test_parts_join_only_as_neighbours():
    low, middle, high = Span("x", -math.inf, 1.0), Span("x", 1.0, 2.0), Span("x", 2.0, math.inf)
    assert join_parts((low,), (middle,)) == join_parts((middle,), (low,)) == (Span("x", -math.inf, 2.0),)
    assert join_parts((low,), (high,)) is None
    assert join_parts((low, low), (middle, middle)) is None
    assert join_parts((low,), (Span("z", 1.0, 2.0),)) is None
    assert join_parts((low,), (Names("x", ("a",), 2),)) is None
    assert join_parts((Names("x", ("a",), 2),), (low,)) is None
    assert join_parts((), ()) is None


def test_text_shows_every_node_and_keeps_to_the_line():
    model = fitted(confidence=0.99, worth=None, costs={"colour": 3, "size": 0})
    tree = model.tree()
    lines = tree.to_text(max_nodes=None).splitlines()
    assert lines[0].startswith("UtilityTree expects to ask")
    assert len(lines) - 2 - (tree.unfinished > 0) == len(tree.nodes)
    assert max(map(len, lines[1:])) <= 120
    assert "ask size (free)" in lines[2]
    short = tree.to_text(max_nodes=9).splitlines()
    assert short[-1].endswith(f" of {len(tree.nodes)} nodes shown")
    assert any("hides" in line for line in short)
    assert repr(tree) == f"<PolicyTree of {lines[0]}>"


def test_a_pruned_tree_keeps_its_numbers_and_counts_what_it_hides():
    tree = fitted(confidence=0.99, worth=None).tree(**WHOLE)
    small = tree.pruned(max_depth=1)
    assert small.cost == tree.cost
    assert sum(node.hidden_leaves or 1 for node in small.nodes[1:]) == len(tree.leaves())
    assert tree.pruned() is tree
    assert len(tree.pruned(max_nodes=1).nodes) == 1


def test_a_person_and_a_loss_are_told():
    tree = fitted(**MODELS["refer"]).tree(**WHOLE)
    assert 0 < tree.root.referred < 1
    assert "to a person, to lose" in str(tree).splitlines()[0]
    assert "give to a person" in str(tree)
    assert "REFER" in {node["answer"] for node in json.loads(json.dumps(tree.to_dict()))["nodes"]}
    assert " loss " in str(fitted(**MODELS["loss"]).tree()).splitlines()[1]


def test_data_is_json_and_whole():
    tree = fitted(costs={"size": 0}).tree()
    state = json.loads(json.dumps(tree.to_dict()))
    assert [node["parent"] for node in state["nodes"]] == [node.parent for node in tree.nodes]
    assert state["cost"] == tree.cost == state["nodes"][0]["cost"]
    assert state["classes"] == ["maybe", "no", "yes"]


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", 'a"b|c]\n', "名前"])
def test_pictures_are_well_formed_whatever_the_names(name):
    table, labels = history(0)
    renamed = {name: table["colour"], "size": table["size"], "job": [name if x else None for x in table["shape"]]}
    tree = qc.UtilityTree(confidence=0.99, worth=None).fit(renamed, [f"{name} {y}" for y in labels]).tree(reach=0.0)
    drawn = tree._repr_html_()
    ET.fromstring(drawn)
    assert "<script>" not in drawn
    wide, narrow = drawn.split("<svg")[1:]
    assert wide.count("<title>") == narrow.count("<title>") == len(tree.pruned(max_nodes=31).nodes)
    assert wide.count("<path") == wide.count("<title>") - 1
    dot, mermaid = tree.to_dot(), tree.to_mermaid(max_nodes=None)
    assert dot.count(" -> ") == len(tree.nodes) - 1
    assert mermaid.count(" -->|") == len(tree.nodes) - 1
    assert len(dot.splitlines()) == 5 + 2 * len(tree.nodes) - 1
    assert tree.to_html(page=True).startswith("<!DOCTYPE html>")
