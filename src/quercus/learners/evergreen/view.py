"""An evergreen tree as plain data: its paths, what each of its nodes would answer, and a `TreeView` of it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from quercus.engine import Floats, Integers
from quercus.explain import Leaf, Node, Test, TreeView
from quercus.learners.evergreen.additive.engine import weigh_additive
from quercus.learners.evergreen.explaining import EXPERTS, show_weights
from quercus.learners.evergreen.frozen_state import FrozenEvergreenState
from quercus.learners.evergreen.layout import (
    LAST_CATEGORY,
    LEAST_PART,
    LEAVES_ALONE,
    MISSING,
    NO_AGGREGATE,
    NO_RECENT,
)
from quercus.learners.evergreen.state import EvergreenState, EvergreenTreeState
from quercus.schema import Schema

FEWER = "the tree grew from the rows that were kept then, and has learned all that came since"


AnyTree = EvergreenState | FrozenEvergreenState


def trace_path(tree: EvergreenTreeState, row: Floats) -> list[int]:
    """Return the nodes that an example goes through.

    Parameters
    ----------
    tree
        Its arrays.
    row
        Values by feature; NaN if missing, codes of categories.

    Examples
    --------
    >>> import quercus as qc
    >>> tree = qc.EvergreenTree().partial_fit([[x] for x in range(40)], [x > 19 for x in range(40)])
    >>> trace_path(tree._state.tree, np.array([7.0])), trace_path(tree._state.tree, np.array([33.0]))
    ([0, 1], [0, 2])
    """
    path, nodes = [0], tree.nodes
    while left := int(nodes["left"][path[-1]]):
        v = path[-1]
        x, place = float(row[nodes["feature"][v]]), int(nodes["set"][v])
        if place >= 0:
            goes_left = _codes_left(tree, place) >> _code(x) & 1 == 1
        else:
            goes_left = bool(x <= nodes["threshold"][v] or (math.isnan(x) and nodes["missing_left"][v]))
        path.append(left + (not goes_left))
    return path


def find_leaves(tree: EvergreenTreeState, X: Floats) -> Integers:
    """Return the leaf that each row lies in.

    Parameters
    ----------
    tree
        Its arrays.
    X
        Rows, as in `trace_path`.

    Examples
    --------
    >>> import quercus as qc
    >>> tree = qc.EvergreenTree().partial_fit([[x] for x in range(40)], [x > 19 for x in range(40)])
    >>> find_leaves(tree._state.tree, np.array([[7.0], [33.0], [8.0]])).tolist()
    [1, 2, 1]
    """
    nodes, leaves = tree.nodes, np.zeros(len(X), np.int64)
    moving = np.arange(len(X) if nodes["left"][0] else 0)
    while len(moving):
        node = nodes[leaves[moving]]
        x = X[moving, node["feature"]]
        is_missing, nominal = np.isnan(x), node["set"] >= 0
        goes_left = np.where(is_missing, node["missing_left"] != 0, x <= node["threshold"])
        later = np.where(x < 0.0, LAST_CATEGORY, np.minimum(x + 1.0, LAST_CATEGORY))
        codes = np.where(is_missing, MISSING, later)[nominal].astype(np.int64)
        words = tree.sets[node["set"][nominal], codes >> 6]
        goes_left[nominal] = (words >> (codes & 63).astype(np.uint64)) & np.uint64(1) != 0
        leaves[moving] = node["left"] + ~goes_left
        moving = moving[nodes["left"][leaves[moving]] > 0]
    return leaves


def weigh_experts(option: Any) -> tuple[float, float, float]:
    """Return how much all prunings, the leaf and recent labels count in the answers.

    Parameters
    ----------
    option
        The record of the tree.

    Examples
    --------
    >>> weigh_experts(EvergreenState.empty().options[0])
    (0.3333333333333333, 0.3333333333333333, 0.3333333333333333)
    """
    losses = [float(option[name]) for name in ("loss", "leaf_loss", "recent_loss")]
    prunings, leaf, recent = (math.exp(min(losses) - loss) for loss in losses)
    prunings = 0.0 if option["without"] & NO_AGGREGATE else prunings
    recent = 0.0 if option["without"] & NO_RECENT else recent
    if recent <= LEAST_PART * (prunings + leaf + recent):
        recent = 0.0
    total = prunings + leaf + recent
    return prunings / total, leaf / total, recent / total


def weigh_depths(tree: EvergreenTreeState, path: list[int]) -> list[float]:
    """Return how much each node of a path counts in the average over all prunings.

    Parameters
    ----------
    tree
        Its arrays.
    path
        As `trace_path` gives it.

    Examples
    --------
    >>> import quercus as qc
    >>> tree = qc.EvergreenTree().partial_fit([[x] for x in range(40)], [x > 19 for x in range(40)])
    >>> [round(weight, 3) for weight in weigh_depths(tree._state.tree, [0, 1])]
    [0.0, 1.0]
    """
    weights, rest = [], 1.0
    for odds in tree.nodes["stop_odds"][path[:-1]].tolist():
        part = odds / (1.0 + odds)
        weights.append(rest * part)
        rest *= 1.0 - part
    return [*weights, rest]


def node_proba(state: AnyTree) -> Floats:
    """Return the class probabilities by class id that each node would give, without the additive model, as a leaf.

    Parameters
    ----------
    state
        The tree.

    Examples
    --------
    >>> import quercus as qc
    >>> tree = qc.EvergreenTree().partial_fit([[x] for x in range(40)], [x > 19 for x in range(40)])
    >>> [tree.schema_.labels[k] for k in node_proba(tree._state)[1:].argmax(axis=1)]
    [False, True]
    """
    tree, nodes, classes = state.tree, state.tree.nodes, int(state.options["classes"][0])
    counts, even = tree.counts[:, :classes], 1.0 / max(classes, 1)
    by_prunings, by_leaf, by_recent = weigh_experts(state.options[0])
    go, stop, mass = 1.0 / (1.0 + nodes["stop_odds"]), nodes["stop"], nodes["total"] + nodes["scale"]
    # A frozen tree keeps no recent counts that do not count.
    late = tree.recent[:, :classes] / mass[:, None] if by_recent > 0.0 else np.zeros_like(counts)
    own = nodes["scale"] / mass
    shares = (counts + even) / (nodes["n"] + 1.0)[:, None]
    # What nodes above add, and what is left for those below; of recent labels also how much all prunings count.
    above, rest = np.zeros_like(shares), np.ones(len(nodes))
    late_above, own_above, late_rest = np.zeros_like(shares), np.zeros(len(nodes)), np.ones(len(nodes))
    for depth in range(int(nodes["depth"].max())):
        parents = np.flatnonzero((nodes["depth"] == depth) & (nodes["left"] > 0))
        for v, child in ((parents, nodes["left"][parents] + side) for side in range(2)):
            shares[child] = (counts[child] + 2.0 * shares[v] + even) / (nodes["n"][child] + 3.0)[:, None]
            above[child] = above[v] + (rest[v] * (1.0 - go[v]))[:, None] * shares[v]
            rest[child] = rest[v] * go[v]
            part = late_rest[v] * stop[v]
            late_above[child] = late_above[v] + part[:, None] * late[v]
            own_above[child] = own_above[v] + part * own[v]
            late_rest[child] = late_rest[v] * (1.0 - stop[v])
    prunings = above + rest[:, None] * shares
    recent = late_above + late_rest[:, None] * late + (own_above + late_rest * own)[:, None] * prunings
    return np.asarray(by_prunings * prunings + by_leaf * shares + by_recent * recent, np.float64)


def view_tree(state: AnyTree, schema: Schema, learner: str, loss: Floats, growing: bool) -> TreeView:
    """Return the tree as plain data, with the classes in sorted order.

    Parameters
    ----------
    state
        The tree.
    schema
        Names of features, categories and classes.
    learner
        Name of the learner.
    loss
        Loss table by class id, empty for 0/1 loss.
    growing
        Whether it goes on learning.

    Examples
    --------
    >>> import quercus as qc
    >>> tree = qc.EvergreenTree().partial_fit([[x] for x in range(40)], [x > 19 for x in range(40)])
    >>> view_tree(tree._state, tree.schema_, "tree", np.empty((0, 0)), True)
    <TreeView of tree: 2 leaves, depth 1, 40 rows learned>
    """
    labels, order = schema.classes_sorted()
    nodes, known = state.tree.nodes, int(state.options["classes"][0])
    proba = np.zeros((len(nodes), len(order)))
    proba[:, :known] = node_proba(state)
    merit = proba if len(loss) == 0 else -(proba @ loss)
    answers = order[np.argmax(merit[:, order], axis=1)] if known else np.zeros(len(nodes), np.int64)
    built, waiting, readable = [], [(0, -1)], is_readable(state)
    while waiting:
        v, parent = waiting.pop()
        answer, left = int(answers[v]), int(nodes["left"][v])
        label, chance = (schema.labels[answer], float(proba[v, answer])) if known else (None, None)
        leaf = _leaf(state, v, growing, None if readable else chance)
        built.append(_node(state, schema, order, v, parent, label, leaf, proba[v] if readable else None))
        if left:
            waiting += [(left + 1, v), (left, v)]
    seen = int(state.options["seen"][0])
    beside = "" if readable or not known else f"every answer: {show_weights(weigh_parts(state))}"
    return TreeView(learner, tuple(labels.tolist()), tuple(schema.names), tuple(built), seen, FEWER, beside)


def weigh_parts(state: AnyTree) -> dict[str, float]:
    """Return how much each part counts in an answer, by the names that explanations have.

    Parameters
    ----------
    state
        The tree.

    Examples
    --------
    >>> weigh_parts(EvergreenState.empty())["the leaf"]
    0.3333333333333333
    """
    by_additive = weigh_additive(state.additive)
    shares = [(1.0 - by_additive) * share for share in weigh_experts(state.options[0])]
    return dict(zip(EXPERTS, (*shares, by_additive), strict=True))


def is_readable(state: AnyTree) -> bool:
    """Return whether the leaves alone answer, as they are shown.

    Parameters
    ----------
    state
        The tree.

    Examples
    --------
    >>> is_readable(EvergreenState.empty())
    False
    """
    return int(state.options["without"][0]) & LEAVES_ALONE == LEAVES_ALONE


def view_path(state: AnyTree, schema: Schema, path: list[int], answer: Any) -> list[Node]:
    """Return the nodes of a path as plain data; the last one has the answer, the others have none.

    Parameters
    ----------
    state
        The tree.
    schema
        Names of features, categories and classes.
    path
        As `trace_path` gives it.
    answer
        What the tree answers.

    Examples
    --------
    >>> import quercus as qc
    >>> tree = qc.EvergreenTree().partial_fit([[x] for x in range(40)], [x > 19 for x in range(40)])
    >>> [node.prediction for node in view_path(tree._state, tree.schema_, [0, 2], True)]
    [None, True]
    """
    _, order = schema.classes_sorted()
    above = [-1, *path[:-1]]
    proba = node_proba(state) if is_readable(state) else None
    return [
        _node(
            state,
            schema,
            order,
            v,
            parent,
            answer if v == path[-1] else None,
            _leaf(state, v, True, None),
            None if proba is None else proba[v],
        )
        for v, parent in zip(path, above, strict=True)
    ]


def _node(
    state: AnyTree,
    schema: Schema,
    order: Integers,
    v: int,
    parent: int,
    answer: Any,
    leaf: Leaf | None,
    proba: Floats | None = None,
) -> Node:
    nodes, known = state.tree.nodes, int(state.options["classes"][0])
    test, missing_left = (None, True) if leaf is not None else _test(state, v, schema)
    counts = np.zeros(len(order))
    # Of a tree whose leaves alone answer, the shares that are shown are the probabilities that are answered.
    counts[:known] = state.tree.counts[v, :known] if proba is None else nodes["n"][v] * proba[:known]
    return Node(
        id=v,
        parent=parent,
        side=None if parent < 0 else "left" if nodes["left"][parent] == v else "right",
        depth=int(nodes["depth"][v]),
        test=test,
        missing_left=missing_left,
        counts=tuple(counts[order].tolist()),
        prediction=answer,
        gain=float(nodes["gain"][v]) if leaf is None else 0.0,
        leaf=leaf,
    )


def _leaf(state: AnyTree, v: int, growing: bool, chance: float | None) -> Leaf | None:
    if state.tree.nodes["left"][v]:
        return None
    # Its splits were chosen by the labels that it counts: no bounds on the true shares follow from these.
    return Leaf(
        "majority" if is_readable(state) else "all prunings",
        growing,
        None,
        None,
        float(state.tree.nodes["n"][v]),
        chance,
    )


def _test(state: AnyTree, v: int, schema: Schema) -> tuple[Test, bool]:
    """Return the test of an inner node, and whether it sends missing values left."""
    node = state.tree.nodes[v]
    name, place = schema.names[node["feature"]], int(node["set"])
    if place < 0:
        return Test(name, "<=", float(node["threshold"])), bool(node["missing_left"])
    bits, categories = _codes_left(state.tree, place), schema.categories[node["feature"]]
    chosen = tuple(category for number, category in enumerate(categories) if bits >> _code(number) & 1)
    test = Test(name, "==", chosen[0]) if len(chosen) == 1 else Test(name, "in", chosen)
    return test, bool(bits >> MISSING & 1)


def _codes_left(tree: EvergreenTreeState, place: int) -> int:
    """Return the codes of a set as the bits of a number."""
    return int.from_bytes(tree.sets[place].astype("<u8").tobytes(), "little")


def _code(x: float) -> int:
    """Return the code of a category; one that was never seen counts as one of the last."""
    if math.isnan(x):
        return MISSING
    return LAST_CATEGORY if x < 0 else min(int(x) + 1, LAST_CATEGORY)
