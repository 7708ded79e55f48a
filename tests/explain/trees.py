"""Trees built by hand for the tests of the renderers."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable
from dataclasses import replace

from quercus.explain import Leaf, Node, Test, TreeView

HOSTILE = (
    'a"b|c<d>\n',
    "x]];--> y{{}}",
    "`md` **b** #35; &lt;",
    "\\N\\l\x00\u202e",
    "名前",
    "<script>alert(1)</script>",
    "__end__",
    "1. end",
)


def grow(
    leaves: int, classes: tuple[Hashable, ...], test: Callable[[int], Test], seed: int = 0, chain: bool = False
) -> TreeView:
    """Build a tree with this many leaves by splitting random ones (or always the last) and summing up counts."""
    draw = random.Random(seed)
    children: dict[int, tuple[int, int]] = {}
    ends = [0]
    while len(ends) < leaves:
        split = ends.pop() if chain else ends.pop(draw.randrange(len(ends)))
        new = 2 * len(children) + 1
        children[split] = (new, new + 1)
        ends += [new, new + 1]
    counts = {end: _counts(draw, len(classes)) for end in ends}
    for node in sorted(children, reverse=True):
        left, right = children[node]
        counts[node] = tuple(a + b for a, b in zip(counts[left], counts[right], strict=True))
    nodes = []
    stack: list[tuple[int, int, str | None, int]] = [(0, -1, None, 0)]
    while stack:
        at, parent, side, depth = stack.pop()
        best = max(range(len(classes)), key=lambda c: counts[at][c]) if classes else None
        leaf = None if at in children else _leaf(draw)
        asked = test(at) if at in children else None
        label = None if best is None else classes[best]
        nodes.append(
            Node(at, parent, side, depth, asked, draw.random() < 0.5, counts[at], label, 0.1 if asked else 0.0, leaf)
        )
        if at in children:
            left, right = children[at]
            stack += [(right, at, "right", depth + 1), (left, at, "left", depth + 1)]
    features = tuple(dict.fromkeys(node.test.feature for node in nodes if node.test))
    return TreeView("ConfidenceTree", classes, features, tuple(nodes), int(nodes[0].total))


def _counts(draw: random.Random, classes: int) -> tuple[float, ...]:
    main = draw.randrange(classes) if classes else 0
    return tuple(float(draw.randrange(100, 900) if c == main else draw.randrange(0, 120)) for c in range(classes))


def _leaf(draw: random.Random) -> Leaf:
    by = draw.choice(["majority", "naive Bayes"])
    return Leaf(by, draw.random() < 0.9, (0.52, 0.81), draw.random() < 0.6, float(draw.randrange(500)))


def plain_test(node: int) -> Test:
    names = ("age", "balance", "previous_contacts", "duration")
    if node % 4 == 3:
        return Test("job", "==", ("clerk", "nurse", "student")[node % 3])
    return Test(names[node % 4], "<=", round(17.3 + 13.37 * node, 2))


def hostile_test(node: int) -> Test:
    name = HOSTILE[node % len(HOSTILE)]
    return Test(name, "==", HOSTILE[(node + 1) % len(HOSTILE)]) if node % 2 else Test(name, "<=", 0.1 + 0.2)


def set_test(node: int) -> Test:
    name = ("city", HOSTILE[node % len(HOSTILE)])[node % 2]
    if node % 5 == 4:
        return Test(name, "in", ())
    return Test(name, "in", tuple(HOSTILE[: 2 + node % 4]) + tuple(f"city {c}" for c in range(node % 3 * 40)))


def one_leaf() -> TreeView:
    return grow(1, ("no", "yes"), plain_test)


def three_leaves() -> TreeView:
    """Return the tree that the exact outputs in the tests show."""
    leaf = Leaf("majority", True, (0.58, 0.84), True, 48.0)
    unsure = replace(leaf, answered_by="naive Bayes", consistent=False, interval=(0.4, 0.7))
    nodes = (
        Node(0, -1, None, 0, Test("age", "<=", 41.0), True, (60.0, 90.0), "yes", 0.12, None),
        Node(1, 0, "left", 1, Test("job", "==", "clerk"), False, (20.0, 80.0), "yes", 0.05, None),
        Node(3, 1, "left", 2, None, True, (14.0, 34.0), "yes", 0.0, leaf),
        Node(4, 1, "right", 2, None, True, (6.0, 46.0), "yes", 0.0, leaf),
        Node(2, 0, "right", 1, None, True, (40.0, 10.0), "no", 0.0, unsure),
    )
    return TreeView("ConfidenceTree", ("no", "yes"), ("age", "job"), nodes, 150)


def many_leaves() -> TreeView:
    return grow(200, ("no", "yes", "maybe"), plain_test, seed=3)


def many_classes() -> TreeView:
    return grow(12, tuple(f"class {c}" for c in range(22)), plain_test, seed=1)


def hostile() -> TreeView:
    return grow(8, HOSTILE, hostile_test, seed=2)


def sets() -> TreeView:
    """Return a tree of sets of categories, whose leaves do not say how certain they are."""
    view = grow(12, ("no", "yes"), set_test, seed=4)
    result = Leaf("all prunings", True, None, None, 10.0, 0.815)
    return replace(view, nodes=tuple(node if node.leaf is None else replace(node, leaf=result) for node in view.nodes))


def deep_chain(depth: int = 5000) -> TreeView:
    return grow(depth + 1, (False, True), plain_test, chain=True)


def nothing_learned() -> TreeView:
    leaf = Leaf("majority", True, (0.0, 1.0), False, 0.0)
    return TreeView("HoeffdingTree", (), (), (Node(0, -1, None, 0, None, True, (), None, 0.0, leaf),), 0)


ALL = {
    "one leaf": one_leaf,
    "three leaves": three_leaves,
    "many leaves": many_leaves,
    "many classes": many_classes,
    "hostile": hostile,
    "sets": sets,
    "deep chain": deep_chain,
    "nothing learned": nothing_learned,
}
