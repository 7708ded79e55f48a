"""A tree as text for a terminal."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from quercus.explain.boxes import Placed, last_children
from quercus.explain.captions import answers, brief, footnotes, shares, state, summary, tested
from quercus.explain.nodes import Node
from quercus.explain.view import TreeView
from quercus.explain.words import pad, plural, shorten, shorten_among, show_count, show_share, show_value, width

_LINE = 120
_LEVELS = 9  # a deeper branch shows its depth as a number and only the innermost levels of its lines
_CONDITION = 36


def to_text(view: TreeView, max_depth: int | None = None, max_nodes: int | None = 63) -> str:
    """Draw a tree with lines and letters, at most 120 columns wide.

    Each line is a node: how examples come to it, its labels, its answer if it is a leaf, its classes. A ``?`` marks
    the branch that examples with a missing value take.

    Parameters
    ----------
    view
        The tree.
    max_depth
        Deepest node to show; None for no limit.
    max_nodes
        Most nodes to show; what most examples go through comes first; None for no limit.

    Examples
    --------
    >>> from quercus.explain import Leaf, Node, Test, TreeView
    >>> leaf = Leaf("majority", True, (0.2, 0.9), False, 10.0)
    >>> print(to_text(TreeView("ConfidenceTree", ("no", "yes"), ("age",), (
    ...     Node(0, -1, None, 0, Test("age", "<=", 41.0), True, (8.0, 12.0), "yes", 0.1, None),
    ...     Node(1, 0, "left", 1, None, True, (1.0, 9.0), "yes", 0.0, leaf),
    ...     Node(2, 0, "right", 1, None, True, (7.0, 3.0), "no", 0.0, leaf),
    ... ), rows=20)))
    ConfidenceTree: 2 leaves, depth 1, 20 rows learned
    ? also if missing  labels  answer  classes
    all                    20          'yes' 12 (60%), 'no' 8 (40%)
    ├─ age <= 41 ?         10  'yes'   'yes' 9 (90%), 'no' 1 (10%)
    └─ age > 41            10  'no'    'no' 7 (70%), 'yes' 3 (30%)
    """
    shown = view.pruned(max_depth, max_nodes)
    trees = _tree_column(shown)
    key = "? also if missing" if len(trees) > 1 else ""
    labels = [show_count(node.total) for node in shown.nodes]
    given = answers(shown)
    answered = [_answer(node, given) for node in shown.nodes]
    wide = max(map(width, [key, *trees])), max(6, *map(len, labels)), max(6, *map(width, answered))
    head = f"{key:{wide[0]}}  {'labels':>{wide[1]}}  {pad('answer', wide[2])}  classes"
    rest = _LINE - sum(wide) - 6
    lines = [shorten(summary(view), _LINE), head]
    for node, tree, count, answer in zip(shown.nodes, trees, labels, answered, strict=True):
        line = f"{pad(tree, wide[0])}  {count:>{wide[1]}}  {pad(answer, wide[2])}  {shares(shown, node, rest)}"
        lines.append(line.rstrip())
    if shown is not view:
        lines.append(f"{len(shown.nodes):,} of {plural(len(view.nodes), 'node')} shown")
    return "\n".join(lines + footnotes(view))


def _answer(node: Node, names: Collection[str]) -> str:
    if node.hidden_leaves:
        return f"({state(node)})"
    if not node.is_leaf:
        return ""
    if node.prediction is None:
        return "none yet"
    chance = None if node.leaf is None else node.leaf.probability
    return shorten_among(show_value(node.prediction), 18, names) + ("" if chance is None else f" {show_share(chance)}")


def _tree_column(view: TreeView) -> list[str]:
    """Return, for each node, the lines that lead to it and the test that it passed."""
    captions, names = ["all"], tested(view)
    for node in view.nodes[1:]:
        parent, first = view.node(node.parent), node.side == "left"
        condition = "" if parent.test is None else brief(parent.test, first, _CONDITION, names=names)
        is_asked = parent.test is not None and parent.test.asks_missing
        captions.append(condition + (" ?" if parent.missing_left == first and not is_asked else ""))
    return tree_column(view.nodes, captions)


def tree_column(nodes: Sequence[Placed], captions: Sequence[str]) -> list[str]:
    r"""Return, for each node of a tree of any kind, the lines that lead to it and its caption."""
    column = [captions[0]]
    last = last_children(nodes)
    below = {nodes[0].id: ""}
    for node, caption in zip(nodes[1:], captions[1:], strict=True):
        more = node.id not in last
        start = below[node.parent]
        below[node.id] = (start + ("│  " if more else "   "))[-3 * _LEVELS :]
        if node.depth - 1 > _LEVELS:
            start = f"⋯{node.depth}".ljust(6) + start[6:]
        column.append(f"{start}{'├─' if more else '└─'} {caption}")
    return column
