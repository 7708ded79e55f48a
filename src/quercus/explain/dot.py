"""A tree in the language of Graphviz."""

from __future__ import annotations

from quercus.explain.captions import GREY, box, colours, node_name, summary
from quercus.explain.nodes import Node
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
    shown = view.pruned(max_depth, max_nodes)
    fill = dict(zip(shown.classes, colours(shown), strict=True))
    font = 'fontname="Helvetica,Arial,sans-serif"'
    lines = [
        "digraph tree {",
        f'  label="{_escape(summary(view))}"; labelloc=t; {font};',
        f'  node [shape=box, style="rounded,filled", fillcolor="#FFFFFF", {font}, fontsize=11];',
        f'  edge [{font}, fontsize=10, arrowhead=none, color="#888888"];',
    ]
    for node in shown.nodes:
        text = r"\n".join(_escape(line) for line in box(shown, node, 60))
        look = f', fillcolor="{fill.get(node.prediction, GREY)}40"' if node.is_leaf else ""
        look += ', style="rounded,dashed"' if node.hidden_leaves else ""
        lines.append(f'  {node_name(node.id)} [label="{text}"{look}];')
    lines += [_edge(shown, node) for node in shown.nodes[1:]]
    return "\n".join([*lines, "}"])


def _edge(view: TreeView, node: Node) -> str:
    parent = view.node(node.parent)
    left = node.side == "left"
    text = ("yes" if left else "no") + (" ?" if parent.missing_left == left else "")
    thick = 0.8 + 7 * (node.total / view.root.total if view.root.total > 0 else 0.0)
    return f'  {node_name(parent.id)} -> {node_name(node.id)} [label="  {text}", penwidth={thick:.2f}];'


def _escape(text: str) -> str:
    """Keep quotes, backslashes and what looks like an HTML entity from meaning anything."""
    return text.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
