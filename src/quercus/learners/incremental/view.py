"""A growing tree's arrays as a `TreeView`: the one walk that all renderers share."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from quercus.explain import Leaf, Node, Test, TreeView
from quercus.learners.incremental.state import Floats, TreeState
from quercus.schema import Schema


def view_tree(tree: TreeState, schema: Schema, learner: str, loss: Floats) -> TreeView:
    """Return the tree as plain data, with the classes in sorted order.

    Parameters
    ----------
    tree
        Its arrays.
    schema
        Names of features, categories and classes.
    learner
        Name of the learner.
    loss
        Loss table by class id, empty for 0/1 loss.
    """
    labels, order = schema.classes_sorted()
    n = tree.alternate_subtrees
    beside = f"{n} alternate {'subtree' if n == 1 else 'subtrees'} on trial" if n else ""
    tree = tree.main()
    nodes = tree.to_arrays()["nodes"]
    counts = np.zeros((len(nodes), len(order)))
    counts[:, : tree.counts.shape[1]] = tree.counts[: len(nodes), : len(order)]
    parents = np.full(len(nodes), -1)
    for node in range(len(nodes) - 1, -1, -1):
        left = int(nodes["left"][node])
        if left:
            # Children have larger numbers than their parents, so both are complete by now.
            counts[node] = counts[left] + counts[left + 1]
            parents[left : left + 2] = node
    answers = _answers(counts, order, loss)
    built = []
    waiting = [0]
    while waiting:
        node = waiting.pop()
        left, parent = int(nodes["left"][node]), int(parents[node])
        side = None if parent < 0 else ("left" if nodes["left"][parent] == node else "right")
        built.append(
            Node(
                id=node,
                parent=parent,
                side=side,  # type: ignore[arg-type]
                depth=int(nodes["depth"][node]),
                test=_test(nodes[node], schema) if left else None,
                missing_left=bool(nodes["missing_left"][node]),
                counts=tuple(counts[node, order].tolist()),
                prediction=schema.labels[answers[node]],
                gain=float(nodes["gain"][node]),
                leaf=None if left else _leaf(tree, node, int(answers[node])),
            )
        )
        if left:
            waiting += [left + 1, left]
    rows, named = int(tree.options["time"][0]), (tuple(labels.tolist()), tuple(schema.names))
    return TreeView(learner, *named, tuple(built), rows, beside=beside)


def _answers(counts: Floats, order: npt.NDArray[np.int64], loss: Floats) -> npt.NDArray[np.int64]:
    """Return the class id that each node's counts answer."""
    total = counts.sum(axis=1, keepdims=True)
    shares = (counts + 1.0 / counts.shape[1]) / (total + 1.0)
    merit = shares if len(loss) == 0 else -(shares @ loss)
    answers: npt.NDArray[np.int64] = order[np.argmax(merit[:, order], axis=1)]
    return answers


def _test(node: Any, schema: Schema) -> Test:
    name = schema.names[node["feature"]]
    if node["nominal"]:
        return Test(name, "==", schema.categories[node["feature"]][int(node["threshold"])])
    return Test(name, "<=", float(node["threshold"]))


def _leaf(tree: TreeState, node: int, answer: int) -> Leaf:
    slot = int(tree.nodes["slot"][node])
    if slot < 0 and not tree.keeps_rows:
        return Leaf("majority", False, (0.0, 1.0), False, 0.0)
    option = tree.options[0]
    own = tree.counts[node] if tree.keeps_rows else tree.hist[slot, 0]
    m = float(own.sum())
    radius = consistency_radius(m, int(option["time"]))
    shares = np.sort(own / m)[::-1] if m > 0 else np.zeros(2)
    share = float(own[answer] / m) if m > 0 else 0.0
    gap = shares[0] - (shares[1] if len(shares) > 1 else 0.0)
    return Leaf(
        answered_by="naive Bayes" if tree.uses_bayes(slot) else "majority",
        growing=not option["full"],
        interval=(max(share - radius, 0.0), min(share + radius, 1.0)) if m > 0 else (0.0, 1.0),
        consistent=bool(gap / 2 > radius),
        labels_since_split=m,
    )


def consistency_radius(m: float, t: int) -> float:
    """Return the half-width of eq. (6) with delta = 1/t: how far the class shares of m labels may be off at time t.

    Parameters
    ----------
    m
        Weight of the labels in the leaf since it was made.
    t
        Rows learned by the whole tree.

    Examples
    --------
    >>> round(consistency_radius(100, 1000), 4)
    0.2693
    """
    return math.sqrt(math.log(2.0 * t * t) / (2.0 * m)) if m > 0 else math.inf
