"""What stands in the boxes and lines of every renderer."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from quercus.explain.boxes import Box
from quercus.explain.nodes import Node, Test
from quercus.explain.view import TreeView
from quercus.explain.words import (
    others,
    plural,
    ranked,
    shorten,
    shorten_among,
    show_count,
    show_name,
    show_share,
    show_value,
    width,
)

# Okabe and Ito's palette, which colour-blind readers can tell apart, those first that differ most in brightness.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
GREY = "#8C8C8C"
_PRETTY = {"<=": "≤", ">": ">", "==": "=", "!=": "≠", "in": "in", "not in": "not in", "is": "is"}


def summary(view: TreeView) -> str:
    """Say in a line what the tree is."""
    size = f"{plural(view.n_leaves, 'leaf')}, depth {view.depth}"
    return f"{show_name(view.learner)}: {size}, {plural(view.rows, 'row')} learned"


def brief(test: Test, passed: bool, columns: int, pretty: bool = False, names: Collection[str] = ()) -> str:
    """Write a test in at most this many columns; the comparison stays, and its feature is not taken for another."""
    name, sign, value = show_name(test.feature), test.sign(passed), test.shown(passed)
    sign = _PRETTY[sign] if pretty else sign
    space = columns - width(sign) - 2
    if width(name) + width(value) > space:
        columns = max(space - width(name), space // 2)
        value = shorten(test.shown(passed, columns), columns)
        name = shorten_among(name, space - width(value), names)
    return f"{name} {sign} {value}"


def tested(view: TreeView) -> set[str]:
    """Return the names of the features that are tested."""
    return {show_name(node.test.feature) for node in view.nodes if node.test is not None}


def answers(view: TreeView) -> set[str]:
    """Return the answers that leaves give, as they are written."""
    return {show_value(node.prediction) for node in view.nodes if node.is_leaf}


def shares(view: TreeView, node: Node, columns: int, most: int = 5) -> str:
    """List the classes of a node, the largest first, with counts and shares; only shares where room is short."""
    order = ranked(view.classes, node.counts)
    total = node.total
    all_names = [show_value(label) for label in view.classes]
    names = [shorten_among(show_value(label), 20, all_names) for label, _ in order[:most]]
    parts = [(show_count(count), show_share(count / total)) for _, count in order[:most]]
    full = [f"{name} {count} ({share})" for name, (count, share) in zip(names, parts, strict=True)]
    short = [f"{name} {share}" for name, (_, share) in zip(names, parts, strict=True)]
    lists = [_fitting(full, len(order), columns), _fitting(short, len(order), columns)]
    return max(lists, key=lambda shown: shown[0])[1]


def _fitting(parts: list[str], number: int, columns: int) -> tuple[int, str]:
    """Return how many of the parts fit in a line that also says how many more there are, and that line."""
    for kept in range(len(parts), 0, -1):
        rest = [others(number - kept)] if number > kept else []
        line = ", ".join(parts[:kept] + rest)
        if width(line) <= columns:
            return kept, line
    return 0, f"{number:,} classes" if parts else ""


def state(node: Node) -> str:
    """Say how sure a leaf is, or how many leaves a node hides."""
    if node.leaf is None:
        return f"hides {plural(node.hidden_leaves, 'leaf')}" if node.hidden_leaves else ""
    if node.prediction is None:
        return "nothing learned yet"
    sure = {None: "", True: "certain", False: "not yet certain"}[node.leaf.consistent]
    return ", ".join(filter(None, [sure, "" if node.leaf.growing else "stopped growing"]))


def box(view: TreeView, node: Node, columns: int, names: Collection[str]) -> list[str]:
    """Say the most important things about a node, in a few short lines."""
    counted = shares(view, node, columns, most=3)
    lines = [plural(node.total, "label") + (f": {counted}" if counted else "")]
    if node.is_leaf:
        lines.insert(
            0,
            "no answer yet" if node.prediction is None else shorten_among(show_value(node.prediction), columns, names),
        )
    elif node.test is not None:
        lines.insert(0, brief(node.test, True, columns, names=names))
    return [*lines, state(node)] if state(node) else lines


def boxes(view: TreeView, columns: int, missing: str) -> list[Box]:
    """Return all nodes of a view as graph languages draw them."""
    fill = dict(zip(view.classes, colours(view), strict=True))
    whole, features, labels = view.root.total, tested(view), answers(view)
    found = []
    for node in view.nodes:
        left = node.side == "left"
        branch = "" if node.side is None else ("yes" if left else "no")
        if node.side is not None and view.node(node.parent).missing_left == left:
            branch += missing
        hue = fill.get(node.prediction, GREY) if node.is_leaf else None
        share = node.total / whole if whole > 0 else 0.0
        lines = tuple(box(view, node, columns, labels if node.is_leaf else features))
        found.append(Box(node.id, node.parent, node.depth, lines, branch, share, hue, bool(node.hidden_leaves)))
    return found


def node_name(node_id: int) -> str:
    """Return a name for a node that graph languages take as it is."""
    return f"n{node_id}".replace("-", "_")


def details(view: TreeView, node: Node) -> list[str]:
    """Say everything about a node, in a few lines of any length."""
    counted = shares(view, node, 400, most=12)
    lines = [plural(node.total, "label") + (f": {counted}" if counted else "")]
    if node.leaf is None:
        if node.test is not None:
            way = "" if node.test.asks_missing else f"; missing values go to {node.test.text(node.missing_left)}"
            lines = [node.test.text(), *lines, f"gain {node.gain:.3g}{way}"]
        return [*lines, state(node)] if node.hidden_leaves else lines
    if node.prediction is None:
        return ["nothing learned yet"]
    answer, probability, sure = show_value(node.prediction), node.leaf.probability, state(node)
    if node.leaf.interval is not None:
        low, high = node.leaf.interval
        sure = f"true share of {answer} between {show_share(low)} and {show_share(high)}: {sure}"
    chance = "" if probability is None else f" ({show_share(probability)})"
    return [f"answers {answer}{chance}, by {node.leaf.answered_by}", *lines, *filter(None, [sure])]


def colours(view: TreeView) -> list[str]:
    """Give the largest classes a colour each and all others grey, in the order of the classes."""
    return pick_colours(view.root.counts)


def pick_colours(weights: Sequence[float]) -> list[str]:
    """Give the classes of largest weight a colour each and all others grey."""
    if len(weights) <= len(PALETTE):
        return list(PALETTE[: len(weights)])
    largest = sorted(range(len(weights)), key=lambda place: -weights[place])[: len(PALETTE)]
    chosen = dict(zip(sorted(largest), PALETTE, strict=True))
    return [chosen.get(place, GREY) for place in range(len(weights))]


def footnotes(view: TreeView) -> list[str]:
    """Say why the counts of a tree may be fewer than the rows that it learned, and what counts beside it."""
    lines = [view.beside] if view.beside else []
    if view.root.total < view.rows - 0.5:
        counted = f"{show_count(view.root.total)} of {view.rows:,} labels"
        lines.insert(0, f"the answers rest on {counted}: {view.fewer}")
    return lines
