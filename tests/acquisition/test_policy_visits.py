"""How often the nodes of a policy were met, and what they are worth: against counts, and as it is drawn."""

import json
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import fields, replace

import numpy as np
import pytest

import quercus as qc
from quercus.acquisition import PolicyNode
from tests.acquisition.test_policy_tree import VALUES, fitted, history

# As published but for rewards of 0 and -1 that count in full: what a state is worth can be counted by hand.
COUNTED = {"rewards": None, "gamma": 1.0, "backup": "counts", "trusted": 5}
JOBS = {"cook": (20, 4), "clerk": (3, 30), "nurse": (12, 1)}


def learned(**changes):
    rows = [(job, label) for job, (no, yes) in JOBS.items() for label in ["no"] * no + ["yes"] * yes]
    model = qc.ReinforcedTree.paper(**{**COUNTED, **changes})
    return model.fit({"job": [job for job, _ in rows]}, [label for _, label in rows])


def test_visits_and_values_are_those_that_can_be_counted():
    tree = learned().tree()
    assert [(node.branch, node.visits) for node in tree.nodes] == [
        ("", 70),
        ("job in 'cook', 'nurse'", 37),
        ("job == 'clerk'", 33),
    ]
    assert tree.nodes[1].value == pytest.approx(-(4 + 1) / 37)
    assert tree.nodes[2].value == pytest.approx(-3 / 33)
    assert tree.root.value == pytest.approx(-(4 + 1 + 3) / 70)


def test_a_weight_counts_as_so_many_visits_and_rewards_as_values():
    rows, labels = {"job": ["cook", "clerk"] * 20}, ["no", "yes"] * 20
    model = qc.ReinforcedTree.paper(gamma=1.0, backup="counts", rewards=(3.0, -7.0))
    tree = model.fit(rows, labels, sample_weight=[0.5, 2.0] * 20).tree()
    assert [node.visits for node in tree.nodes] == [50, 10, 40]
    assert [node.value for node in tree.nodes] == pytest.approx([3, 3, 3])


@pytest.mark.parametrize("changes", [{}, {"groups": {"look": ["colour", "shape"]}}, {"costs": {"size": 3}}])
def test_every_branch_of_one_outcome_is_its_state(changes):
    model = qc.ReinforcedTree.paper(**{**COUNTED, **changes})
    model.buy_and_learn(*history(1, rows=2_000))
    tree = model.tree(depth=9, reach=0.0)
    assert tree.root.visits == 2_000
    assert len(tree.nodes) > 3
    for node in tree.nodes:
        assert node.visits is not None
        assert (node.value is None) == (node.visits == 0)
        below = [child.visits for child in tree.children(node)]
        assert sum(below) <= node.visits


def test_what_was_never_met_has_no_value_and_does_not_count_in_a_mean(monkeypatch):
    known = {0: (50.0, -0.2), 1: (30.0, -0.5), 2: (0.0, None), 3: (10.0, -0.1)}

    def recall(self, model, row, status):
        return (90.0, -0.4) if np.isnan(row[0]) else known[int(row[0])]

    monkeypatch.setattr(type(qc.UtilityTree.engine), "recall", recall)
    jobs = ["a", "b", "c", "d"]
    tree = qc.UtilityTree().fit({"job": jobs * 30}, ["no", "no", "no", "yes"] * 30).tree()
    assert [node.branch for node in tree.nodes[1:]] == ["job in 'a', 'b', 'c'", "job == 'd'"]
    assert [node.visits for node in tree.nodes] == [90, 80, 10]
    assert tree.nodes[1].value == pytest.approx((50 * -0.2 + 30 * -0.5) / 80)
    known.update({0: (0.0, None), 1: (0.0, None)})
    tree = qc.UtilityTree().fit({"job": jobs * 30}, ["no", "no", "no", "yes"] * 30).tree()
    assert (tree.nodes[1].visits, tree.nodes[1].value) == (0, None)
    assert "never met" in tree.to_dot()
    assert "never met" in tree.to_html()
    assert json.loads(json.dumps(tree.to_dict()))["nodes"][1]["value"] is None


def test_the_rest_of_many_outcomes_tells_nothing():
    draw = np.random.default_rng(0)
    ill = draw.random(4_000) < 0.4
    table = {f"v{i}": draw.normal(0.8 * ill, 1.0) for i in range(4)}
    model = qc.ReinforcedTree.paper(**COUNTED, groups={"blood": list(table)})
    tree = model.fit(table, np.where(ill, "ill", "well")).tree()
    rest = next(node for node in tree.nodes if node.branch == "anything else")
    assert (rest.visits, rest.value) == (None, None)
    assert "visits" not in rest.to_dict()
    assert tree.has_visits
    assert len(str(tree).splitlines()) >= 2 + len(tree.nodes)
    ET.fromstring(tree.to_html())


def test_all_forms_tell_it_plainly():
    tree = learned().tree()
    lines = str(tree).splitlines()
    assert lines[1].split()[-6:] == ["met", "worth", "what", "it", "does", "then"]
    assert lines[2].split()[-5:-3] == ["70", "-0.114"]
    pictures = tree.to_html().split("<svg")[1:]  # one for wide places, one for narrow ones
    assert len(pictures) == 2
    for drawn in (tree.to_dot(), tree.to_mermaid().replace("#45;", "-"), *pictures):
        assert drawn.count("met 37 times, worth -0.135") == 1
    assert tree.to_html().count("<text") == tree.to_html().count("</text>")
    assert ">met 37 times<" in tree.to_html()
    assert ">worth -0.135<" in tree.to_html()
    state = json.loads(json.dumps(tree.to_dict()))["nodes"]
    assert [node["visits"] for node in state] == [70, 37, 33]
    assert state[0]["value"] == tree.root.value
    once = replace(tree, nodes=(replace(tree.root, visits=1.0), *tree.nodes[1:]))
    assert "met once, worth" in once.to_dot()
    many = replace(tree, nodes=(replace(tree.root, visits=12_345.0, value=-4_321.5), *tree.nodes[1:]))
    assert "met 12,345 times, worth -4,32" in many.to_dot()


def test_a_smaller_tree_keeps_them():
    tree = learned().tree().pruned(max_nodes=1)
    assert (tree.root.visits, len(tree.nodes)) == (70, 1)


def test_a_utility_tree_tells_nothing_of_it():
    tree = fitted().tree()
    assert not tree.has_visits
    names = {part.name for part in fields(PolicyNode)} - {"visits", "value"}
    assert all(set(node) == names for node in tree.to_dict()["nodes"])
    for drawn in (str(tree), tree.to_dot(), tree.to_mermaid(), tree.to_html()):
        assert " met" not in drawn
        assert "worth" not in drawn
    assert set(VALUES) >= {node.question for node in tree.nodes if node.question}


def test_a_file_brings_them_back(tmp_path):
    model = learned()
    model.save(tmp_path / "model.quercus")
    again = qc.load(tmp_path / "model.quercus")
    assert again.tree().to_dict() == model.tree().to_dict()
    assert Counter(node.visits for node in again.tree().nodes)[70] == 1
