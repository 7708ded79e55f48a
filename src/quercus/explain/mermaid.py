"""A tree as a Mermaid flowchart, which Markdown pages on many sites draw."""

from __future__ import annotations

import re

from quercus.explain.captions import GREY, box, colours, node_name
from quercus.explain.nodes import Node
from quercus.explain.view import TreeView

# Not special: letters and digits, a few signs, the dot of a number, an underscore inside a word.
_SPECIAL = re.compile(r"[^\w ,%()='.]|\.(?!\d)|(?<![^\W_])_|_(?![^\W_])")


def to_mermaid(view: TreeView, max_depth: int | None = None, max_nodes: int | None = 127) -> str:
    """Write a tree as a Mermaid flowchart.

    Parameters
    ----------
    view
        The tree.
    max_depth
        Deepest node to show; None for no limit.
    max_nodes
        Most nodes to show; what most examples go through comes first; None for no limit. Mermaid itself refuses more
        than 500 edges unless told otherwise.

    Examples
    --------
    >>> from quercus.explain import Leaf, Node, TreeView
    >>> leaf = Node(0, -1, None, 0, None, True, (9.0,), "a", 0.0, Leaf("majority", True, (0.4, 1.0), False, 9.0))
    >>> print(to_mermaid(TreeView("HoeffdingTree", ("a",), (), (leaf,), 9)))
    flowchart TD
      n0(["'a'<br/>9 labels#58; 'a' 9 (100%)<br/>not yet certain"])
      style n0 fill:#0072B233,stroke:#0072B2
    """
    shown = view.pruned(max_depth, max_nodes)
    colour = dict(zip(shown.classes, colours(shown), strict=True))
    lines = ["flowchart TD"]
    for node in shown.nodes:
        text = "<br/>".join(_escape(line) for line in box(shown, node, 40))
        opening, closing = ("([", "])") if node.is_leaf else ("[[", "]]") if node.hidden_leaves else ("[", "]")
        lines.append(f'  {node_name(node.id)}{opening}"{text}"{closing}')
    lines += [_edge(shown, node) for node in shown.nodes[1:]]
    for node in shown.nodes:
        if node.is_leaf:
            hue = colour.get(node.prediction, GREY)
            lines.append(f"  style {node_name(node.id)} fill:{hue}33,stroke:{hue}")
    return "\n".join(lines)


def _edge(view: TreeView, node: Node) -> str:
    parent = view.node(node.parent)
    left = node.side == "left"
    text = ("yes" if left else "no") + (" (missing)" if parent.missing_left == left else "")
    return f'  {node_name(parent.id)} -->|"{text}"| {node_name(node.id)}'


def _escape(text: str) -> str:
    """Write everything that Mermaid, Markdown or HTML could read as its own as a character number."""
    # Mermaid breaks the line at a backslash before an n, even where the backslash is a number: keep the two apart.
    return _SPECIAL.sub(lambda found: "#92;#8203;" if found[0] == "\\" else f"#{ord(found[0])};", text)
