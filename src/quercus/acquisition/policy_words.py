"""A policy tree in words: what stands in its lines and boxes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from quercus.acquisition.history import Label
from quercus.acquisition.layout import REFER
from quercus.explain.boxes import Box, Face
from quercus.explain.captions import GREY, pick_colours
from quercus.explain.page import write_html
from quercus.explain.picture import SQUEEZE, fit_head, head_space, make_bar, pixels
from quercus.explain.text import tree_column
from quercus.explain.words import (
    distinct_names,
    others,
    pad,
    plural,
    shorten,
    show_count,
    show_name,
    show_number,
    show_share,
    show_value,
    width,
)

if TYPE_CHECKING:
    from quercus.acquisition.policy import PolicyNode, PolicyTree

_LINE = 120
_LEAST = 32  # columns that stay for what a node does, however deep it is
_CONDITION = 44
_WORD = 24
_GAP = 120
_NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d+(?![\w.])")
# Why it answers, in a few words; `quercus.acquisition.explaining` has the sentences.
_STOPS = {
    "confident": "sure enough",
    "region": "nothing would change that",
    "gain": "nothing else tells enough",
    "budget": "no money for more",
    "nothing left": "nothing left to ask",
    "worth": "more would not pay",
    "questions": "no more questions",
    "rare": "seldom met",
}


def summary(tree: PolicyTree) -> str:
    """Say in a line what the policy costs and brings, as the model expects.

    Parameters
    ----------
    tree
        A tree.

    Examples
    --------
    >>> from quercus import UtilityTree
    >>> summary(UtilityTree(confidence=0.9).fit([["a"], ["b"]] * 20, ["no", "yes"] * 20).tree())
    'UtilityTree expects to ask 1 question for 1 a case, to be right in 95% of cases'
    """
    root = tree.root
    least, most = ("at least ", "at most ") if root.unfinished > 0 else ("", "")
    asks = f"{least}{_amount(root.questions)} question{'' if root.questions == 1 else 's'}"
    # With a loss, or a person to ask, the best answer need not be the most probable one: then there is no bound.
    bound = "about " if tree.has_loss and least else least
    right = f"to be right in {bound}{show_share(root.accuracy)} of cases"
    parts = [f"{show_name(tree.learner)} expects to ask {asks} for {least}{_amount(root.cost)} a case", right]
    if root.referred > 0:
        parts.append(f"to give {show_share(root.referred)} to a person")
    if tree.has_loss:
        parts.append(f"to lose {most}{_amount(root.loss)}")
    return ", ".join(parts)


def write_text(tree: PolicyTree, shown: PolicyTree) -> str:
    """Draw a tree with lines and letters.

    Parameters
    ----------
    tree, shown
        All of it, and the part to draw.

    Examples
    --------
    >>> from quercus import UtilityTree
    >>> tree = UtilityTree(confidence=0.9).fit([["a"], ["b"]] * 20, ["no", "yes"] * 20).tree()
    >>> print(write_text(tree, tree))
    UtilityTree expects to ask 1 question for 1 a case, to be right in 95% of cases
    what came back  reach  to pay  right  what it does then
    all              100%       1    95%  ask x0 (1)
    ├─ x0 == 'a'      50%       0    95%  answer 'no': sure enough
    └─ x0 == 'b'      50%       0    95%  answer 'yes': sure enough
    """
    captions = ["all", *(shorten(node.branch, _CONDITION) for node in shown.nodes[1:])]
    columns = [
        ["what came back", *tree_column(shown.nodes, captions)],
        ["reach", *(show_share(node.reach) for node in shown.nodes)],
        ["to pay", *(_money(node) for node in shown.nodes)],
        ["right", *(_right(tree, node) for node in shown.nodes)],
        ["what it does then", *(action(node) for node in shown.nodes)],
    ]
    if tree.has_loss:
        columns.insert(4, ["loss", *(_amount(node.loss) for node in shown.nodes)])
    if tree.has_visits:
        columns.insert(-1, ["met", *("" if node.visits is None else show_count(node.visits) for node in shown.nodes)])
        columns.insert(-1, ["worth", *("" if node.value is None else _amount(node.value) for node in shown.nodes)])
    wide = [max(map(width, column)) for column in columns]
    lines = [summary(tree)]
    rest = max(_LINE - sum(wide[:-1]) - 2 * len(wide[:-1]), _LEAST)
    for first, *numbers, last in zip(*columns, strict=True):
        middle = "  ".join(" " * (space - width(text)) + text for text, space in zip(numbers, wide[1:-1], strict=True))
        lines.append(f"{pad(first, wide[0])}  {middle}  {shorten(last, rest)}".rstrip())
    return "\n".join([*lines, *footnotes(tree, shown)])


def footnotes(tree: PolicyTree, shown: PolicyTree) -> list[str]:
    """Say what is not in the tree, and what is not in the part of it that is drawn.

    Parameters
    ----------
    tree, shown
        All of it, and the part that is drawn.

    Examples
    --------
    >>> from quercus import UtilityTree
    >>> tree = UtilityTree(confidence=0.9).fit([["a"], ["b"]] * 20, ["no", "yes"] * 20).tree(depth=0)
    >>> footnotes(tree, tree)
    ['+ at least: 100% of cases go on at ...; a larger depth or a smaller reach follows them']
    """
    found = []
    if tree.unfinished > 0:
        share = show_share(tree.unfinished)
        found.append(f"+ at least: {share} of cases go on at ...; a larger depth or a smaller reach follows them")
    if shown is not tree:
        found.append(f"{len(shown.nodes):,} of {plural(len(tree.nodes), 'node')} shown")
    return found


def action(node: PolicyNode) -> str:
    """Say what the policy does at a node.

    Parameters
    ----------
    node
        Of a tree.

    Examples
    --------
    >>> from quercus import UtilityTree
    >>> tree = UtilityTree(confidence=0.9).fit([["a"], ["b"]] * 20, ["no", "yes"] * 20).tree()
    >>> [action(node) for node in tree.nodes]
    ['ask x0 (1)', "answer 'no': sure enough", "answer 'yes': sure enough"]
    """
    if node.kind == "answer":
        # That a person is the cheapest answer is not being sure of one.
        is_odd = node.answer is REFER and node.stop == "confident"
        return _answer(node) if node.stop is None or is_odd else f"{_answer(node)}: {_STOPS.get(node.stop, node.stop)}"
    asks = _question(node)
    if node.kind == "formality":
        return f"{asks}, then {_answer(node)} in any case"
    if node.kind == "cut":
        return f"{asks} ... so far {_label(node)}"
    return f"{asks}, hides {plural(node.hidden_leaves, 'leaf')}" if node.hidden_leaves else asks


def boxes(tree: PolicyTree, columns: int) -> list[Box]:
    """Return all nodes as graph languages draw them.

    Parameters
    ----------
    tree
        A tree.
    columns
        Longest line in a box.

    Examples
    --------
    >>> from quercus import UtilityTree
    >>> tree = UtilityTree(confidence=0.9).fit([["a"], ["b"]] * 20, ["no", "yes"] * 20).tree()
    >>> boxes(tree, 40)[1].lines
    ("answer 'no': sure enough", 'reach 50%, right 95%')
    """
    found = []
    for node in tree.nodes:
        look = _hue(tree, node), _goes_on(node)
        said = [action(node), _expected(tree, node), *_met(node)]
        lines = tuple(shorten(line, columns) for line in said)
        branch = shorten(node.short, columns)
        found.append(Box(node.id, node.parent, node.depth, lines, branch, node.reach, *look))
    return found


def write_page(tree: PolicyTree, shown: PolicyTree, page: bool) -> str:
    """Draw a tree as HTML.

    Parameters
    ----------
    tree, shown
        All of it, and the part to draw.
    page
        Return a whole page.

    Examples
    --------
    >>> from quercus import UtilityTree
    >>> tree = UtilityTree(confidence=0.9).fit([["a"], ["b"]] * 20, ["no", "yes"] * 20).tree()
    >>> write_page(tree, tree, False)[:26]
    '<div class="quercus-tree" '
    """
    hues = _hues(tree)
    coloured = [label for label, hue in hues.items() if hue != GREY]
    names = distinct_names([show_value(label) for label in coloured], 28)
    named = [(hues[label], name) for label, name in zip(coloured, names, strict=True)]
    grey = list(hues.values()).count(GREY)
    legend = [*named, (GREY, others(grey))] if grey else named
    said = [
        "a question has its price beside it, an answer how sure it is",
        "bars show what is probable, lines how many come there",
        *(["boxes tell how often that was met, and what it is worth from there on"] if tree.has_visits else []),
        *map(escape, footnotes(tree, shown)),
    ]
    branches = _branches(shown.nodes)
    faces = [_face(tree, node, branches[node.id]) for node in shown.nodes]
    gap = max([_GAP, *(22 + SQUEEZE * pixels(face.branch, 10.5) for face in faces)])
    return write_html(summary(tree), legend, said, faces, gap, page=page)


def _branches(nodes: Sequence[PolicyNode]) -> dict[int, str]:
    """Write what leads to each node, with fewer digits where it is long; never so that two of a parent become alike."""
    children: dict[int, list[PolicyNode]] = {}
    for node in nodes:
        children.setdefault(node.parent, []).append(node)
    found: dict[int, str] = {}
    for below in children.values():
        texts = [node.short for node in below]
        rounded = [_NUMBER.sub(_few_digits, text) if width(text) > _CONDITION else text for text in texts]
        kept = rounded if len(set(rounded)) == len(set(texts)) else texts
        found.update(zip([node.id for node in below], distinct_names(kept, _CONDITION), strict=True))
    return found


def _few_digits(number: re.Match[str]) -> str:
    return f"{float(number[0]):.4g}"


def _face(tree: PolicyTree, node: PolicyNode, branch: str) -> Face:
    """Return a node as a picture draws it."""
    ends = node.kind in ("answer", "formality")
    corner = _right(tree, node) if ends else "" if node.price is None else show_number(node.price)
    text = _label(node) if ends else "..." if node.question is None else f"{show_name(node.question)}?"
    left = f"reach {show_share(node.reach)}"
    right = _STOPS.get(node.stop or "", "") if node.kind == "answer" else f"to pay {_money(node)}"
    if node.visits is not None:
        # There is room for two; the line shows how many come there, and pointing at the box tells the rest.
        left, _, right = _met(node)[0].partition(", ")
    classes = (f"{show_value(label)} {show_share(share)}" for label, share in node.probabilities.items())
    return Face(
        id=node.id,
        parent=node.parent,
        depth=node.depth,
        head=fit_head(lambda columns: shorten(text, columns), head_space(corner)),
        corner=corner,
        bar=make_bar(list(_hues(tree).values()), list(node.probabilities.values())),
        left=left,
        right=right,
        title="\n".join([node.branch, action(node), _expected(tree, node), *_met(node), ", ".join(classes)]).strip(),
        branch=branch,
        share=node.reach,
        hue=_hue(tree, node),
        dashed=_goes_on(node),
    )


def _hues(tree: PolicyTree) -> dict[Label, str]:
    return dict(zip(tree.classes, pick_colours(list(tree.root.probabilities.values())), strict=True))


def _hue(tree: PolicyTree, node: PolicyNode) -> str | None:
    """Return the colour of the answer of a node at which it changes no more."""
    if node.kind not in ("answer", "formality"):
        return None
    return GREY if node.answer is None or node.answer is REFER else _hues(tree).get(node.answer, GREY)


def _goes_on(node: PolicyNode) -> bool:
    return node.kind == "cut" or node.hidden_leaves > 0


def _expected(tree: PolicyTree, node: PolicyNode) -> str:
    paid = f", to pay {_money(node)}" if node.cost > 0 else ""
    return f"reach {show_share(node.reach)}, right {_right(tree, node)}{paid}"


def _met(node: PolicyNode) -> list[str]:
    """Say how often a node was met and what it is worth, if that is known."""
    if node.visits is None:
        return []
    if not node.visits:
        return ["never met"]
    times = "once" if node.visits == 1 else f"{show_count(node.visits)} times"
    return [f"met {times}" + ("" if node.value is None else f", worth {_amount(node.value)}")]


def _right(tree: PolicyTree, node: PolicyNode) -> str:
    if node.referred == 1 and not node.unfinished:
        return "-"
    return show_share(node.accuracy) + ("" if tree.has_loss else _more(node))


def _question(node: PolicyNode) -> str:
    if node.question is None or node.price is None:
        return "ask more"
    price = show_number(node.price) if node.price else "free"
    return f"ask {shorten(show_name(node.question), _WORD)} ({price})"


def _answer(node: PolicyNode) -> str:
    return "give to a person" if node.answer is REFER else f"answer {_label(node)}"


def _label(node: PolicyNode) -> str:
    return "a person" if node.answer is REFER else shorten(show_value(node.answer), _WORD)


def _money(node: PolicyNode) -> str:
    return _amount(node.cost) + _more(node)


def _more(node: PolicyNode) -> str:
    return "+" if node.unfinished > 0 else ""


def _amount(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value + 0.0:.3g}"
