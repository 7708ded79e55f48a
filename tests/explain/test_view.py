"""The tree as data: what it accepts, how it is walked and cut."""

from __future__ import annotations

import itertools
from dataclasses import FrozenInstanceError, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quercus.explain import Leaf, Node, Test, TreeView
from tests.explain import trees

LEAF = Leaf("majority", True, (0.0, 1.0), False, 1.0)

shapes = st.builds(
    lambda leaves, seed: trees.grow(leaves, ("no", "yes", "maybe"), trees.plain_test, seed),
    st.integers(1, 60),
    st.integers(0, 10**6),
)


@pytest.mark.parametrize(
    ("test", "passed", "text"),
    [
        (Test("age", "<=", 41.0), True, "age <= 41"),
        (Test("age", "<=", 41.0), False, "age > 41"),
        (Test("job", "==", "clerk"), True, "job == 'clerk'"),
        (Test("job", "==", "clerk"), False, "job != 'clerk'"),
        (Test("member", "==", True), False, "member != True"),
        (Test("code", "==", 1234567), True, "code == 1234567"),
        (Test("x", "<=", 1 / 3), True, "x <= 0.333333"),
        (Test("day", "<=", 20190101.5), False, "day > 20190101.5"),
        (Test("x", "<=", -2.5e-9), True, "x <= -2.5e-09"),
        (Test("x", "<=", -0.0), True, "x <= 0"),
        (Test("a\nb", "==", "c\td"), True, "a\\nb == 'c\\td'"),
        (Test("job", "in", ("clerk", "cook")), True, "job in {'clerk', 'cook'}"),
        (Test("job", "in", ("clerk", "cook")), False, "job not in {'clerk', 'cook'}"),
        (Test("code", "in", tuple(range(5))), True, "code in {0, 1, 2, 3, 4}"),
        (Test("code", "in", tuple(range(1300))), True, "code in {0, 1, 2, 3, 4, ... 1,295 more}"),
        (Test("job", "in", ()), True, "job is missing"),
        (Test("job", "in", ()), False, "job is known"),
        (Test("age", "<=", float("inf")), True, "age is known"),
        (Test("age", "<=", float("inf")), False, "age is missing"),
    ],
)
def test_a_test_reads_as_it_holds_on_each_side(test, passed, text):
    assert test.text(passed) == text


def test_data_cannot_be_changed():
    view = trees.three_leaves()
    for thing, name in ((view, "rows"), (view.root, "gain"), (view.root.test, "value"), (LEAF, "growing")):
        with pytest.raises(FrozenInstanceError):
            setattr(thing, name, 1)


def test_shares_of_full_and_empty_nodes():
    node = trees.three_leaves().root
    assert node.total == 150
    assert node.shares == (0.4, 0.6)
    assert replace(node, counts=(0.0, 0.0)).shares == (0.0, 0.0)


def test_walks():
    view = trees.three_leaves()
    assert [child.id for child in view.children(view.root)] == [1, 2]
    assert view.children(view.node(2)) == ()
    assert [node.id for node in view.path(4)] == [0, 1, 4]
    assert [node.id for node in view.leaves()] == [3, 4, 2]
    assert (view.depth, view.n_leaves, view.leaves_below()) == (2, 3, (3, 2, 1, 1, 1))
    assert repr(view) == "<TreeView of ConfidenceTree: 3 leaves, depth 2, 150 rows learned>"


@given(shapes)
@settings(max_examples=50, deadline=None)
def test_children_and_paths_agree(view):
    for node in view.nodes:
        path = view.path(node.id)
        assert path[0] is view.root
        assert len(path) == node.depth + 1
        for parent, child in itertools.pairwise(path):
            assert view.children(parent)[child.side == "right"] is child
    assert len(view.leaves()) == view.n_leaves == view.leaves_below()[0]


def test_unknown_node_is_named():
    with pytest.raises(ValueError, match="no node 99 in this view of 5 nodes"):
        trees.three_leaves().path(99)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda nodes: (), "at least one node"),
        (lambda nodes: (nodes[0], nodes[4], *nodes[1:4]), "node 2 is out of order"),
        (lambda nodes: nodes[:4], "node 0 has no right child"),
        (lambda nodes: (*nodes, nodes[4]), "node 2 is out of order"),
        (lambda nodes: (*nodes[:4], replace(nodes[4], id=3)), "two nodes have the same id"),
        (lambda nodes: (*nodes[:4], replace(nodes[4], counts=(1.0,))), "node 2 has 1 counts for 2 classes"),
        (lambda nodes: (*nodes[:4], replace(nodes[4], leaf=None)), "node 2 has neither a test nor a leaf"),
    ],
)
def test_broken_trees_are_refused(change, message):
    view = trees.three_leaves()
    with pytest.raises(ValueError, match=message):
        replace(view, nodes=change(view.nodes))


@given(shapes, st.none() | st.integers(0, 8), st.none() | st.integers(1, 40))
@settings(max_examples=80, deadline=None)
def test_pruning_keeps_every_leaf_counted_and_every_limit(view, max_depth, max_nodes):
    small = view.pruned(max_depth, max_nodes)
    assert small.n_leaves == view.n_leaves
    assert small.root.counts == view.root.counts
    assert max_depth is None or small.depth <= max_depth
    assert max_nodes is None or len(small.nodes) <= max_nodes
    assert small.pruned(max_depth, max_nodes) is small
    assert {node.id for node in small.nodes} <= {node.id for node in view.nodes}
    for node in small.nodes:
        assert bool(node.hidden_leaves) == (not node.is_leaf and not small.children(node))


@given(shapes)
@settings(max_examples=30, deadline=None)
def test_pruning_twice_hides_the_same_leaves(view):
    assert view.pruned(max_depth=4).pruned(max_depth=2) == view.pruned(max_depth=2)


def test_pruning_opens_what_most_examples_go_through():
    view = trees.many_leaves()
    small = view.pruned(max_nodes=41)
    opened = [node.total for node in small.nodes if small.children(node)]
    assert len(small.nodes) == 41
    assert min(opened) >= max(node.total for node in small.nodes if node.hidden_leaves)


@pytest.mark.parametrize("limit", [{"max_depth": -1}, {"max_nodes": 0}])
def test_senseless_limits_are_refused(limit):
    with pytest.raises(ValueError, match=f"{next(iter(limit))} is .*; give"):
        trees.three_leaves().pruned(**limit)


def test_a_whole_view_is_returned_as_it_is():
    view = trees.three_leaves()
    assert view.pruned() is view
    assert view.pruned(max_depth=2, max_nodes=5) is view


def test_deep_chain_needs_no_recursion():
    view = trees.deep_chain(5000)
    assert view.depth == 5000
    assert len(view.path(view.nodes[-1].id)) == 5001
    assert view.pruned(max_depth=3).nodes[-1].hidden_leaves == 4998


def test_ids_need_not_start_at_zero():
    view = TreeView("T", ("a",), (), (Node(17, -1, None, 0, None, True, (1.0,), "a", 0.0, LEAF),), 1)
    assert view.path(17) == [view.root]
