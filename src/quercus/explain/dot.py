"""A tree in the language of Graphviz."""

from __future__ import annotations

from collections.abc import Sequence

from quercus.explain.boxes import Box
from quercus.explain.captions import boxes, node_name, summary
from quercus.explain.view import TreeView


def to_dot(view: TreeView, max_depth: int | None = None, max_nodes: int | None = None) -> str:
    r"""Write a tree for Graphviz; ``dot -Tsvg`` draws it.

    Thick edges carry many examples; a ``?`` marks the branch that examples with a missing value take.

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
    >>> from quercus.explain import Leaf, Node, TreeView
    >>> leaf = Node(0, -1, None, 0, None, True, (9.0,), "a", 0.0, Leaf("majority", True, (0.4, 1.0), False, 9.0))
    >>> print(to_dot(TreeView("HoeffdingTree", ("a",), (), (leaf,), 9)))
    digraph tree {
      label="HoeffdingTree: 1 leaf, depth 0, 9 rows learned"; labelloc=t; fontname="Helvetica,Arial,sans-serif";
      node [shape=box, style="rounded,filled", fillcolor="#FFFFFF", fontname="Helvetica,Arial,sans-serif", fontsize=11];
      edge [fontname="Helvetica,Arial,sans-serif", fontsize=10, arrowhead=none, color="#888888"];
      n0 [label="'a'\n9 labels: 'a' 9 (100%)\nnot yet certain", fillcolor="#0072B240"];
    }
    """
    return write_dot(summary(view), boxes(view.pruned(max_depth, max_nodes), 60, " ?"))


def write_dot(title: str, nodes: Sequence[Box]) -> str:
    r"""Write the boxes of a tree of any kind for Graphviz."""
    font = 'fontname="Helvetica,Arial,sans-serif"'
    lines = [
        "digraph tree {",
        f'  label="{_escape(title)}"; labelloc=t; {font};',
        f'  node [shape=box, style="rounded,filled", fillcolor="#FFFFFF", {font}, fontsize=11];',
        f'  edge [{font}, fontsize=10, arrowhead=none, color="#888888"];',
    ]
    for node in nodes:
        text = r"\n".join(_escape(line) for line in node.lines)
        look = "" if node.hue is None else f', fillcolor="{node.hue}40"'
        look += ', style="rounded,dashed"' if node.dashed else ""
        lines.append(f'  {node_name(node.id)} [label="{text}"{look}];')
    for node in nodes[1:]:
        ends = f"{node_name(node.parent)} -> {node_name(node.id)}"
        lines.append(f'  {ends} [label="  {_escape(node.branch)}", penwidth={0.8 + 7 * node.share:.2f}];')
    return "\n".join([*lines, "}"])


def _escape(text: str) -> str:
    """Keep quotes, backslashes and what looks like an HTML entity from meaning anything."""
    return text.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
