"""A tree as a Mermaid flowchart, which Markdown pages on many sites draw."""

from __future__ import annotations

import re
from collections.abc import Sequence

from quercus.explain.boxes import Box
from quercus.explain.captions import boxes, node_name
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
    return write_mermaid(boxes(view.pruned(max_depth, max_nodes), 40, " (missing)"))


def write_mermaid(nodes: Sequence[Box]) -> str:
    """Write the boxes of a tree of any kind as a Mermaid flowchart."""
    lines = ["flowchart TD"]
    for node in nodes:
        text = "<br/>".join(_escape(line) for line in node.lines)
        opening, closing = ("[[", "]]") if node.dashed else ("[", "]") if node.hue is None else ("([", "])")
        lines.append(f'  {node_name(node.id)}{opening}"{text}"{closing}')
    for node in nodes[1:]:
        lines.append(f'  {node_name(node.parent)} -->|"{_escape(node.branch)}"| {node_name(node.id)}')
    for node in nodes:
        if node.hue is not None:
            lines.append(f"  style {node_name(node.id)} fill:{node.hue}33,stroke:{node.hue}")
    return "\n".join(lines)


def _escape(text: str) -> str:
    """Write everything that Mermaid, Markdown or HTML could read as its own as a character number."""
    # Mermaid breaks the line at a backslash before an n, even where the backslash is a number: keep the two apart.
    return _SPECIAL.sub(lambda found: "#92;#8203;" if found[0] == "\\" else f"#{ord(found[0])};", text)
