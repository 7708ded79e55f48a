"""One walk over a tree, several renderers: plain words, text, dot, mermaid, SVG and HTML."""

import warnings
from typing import Any

from quercus.explain.dot import to_dot
from quercus.explain.explanation import Explanation, PathStep
from quercus.explain.mermaid import to_mermaid
from quercus.explain.nodes import Leaf, Node, Test
from quercus.explain.page import to_html
from quercus.explain.svg import to_svg
from quercus.explain.text import to_text
from quercus.explain.view import TreeView

__all__ = [
    "Explanation",
    "Leaf",
    "Node",
    "PathStep",
    "Test",
    "TreeView",
    "to_dot",
    "to_html",
    "to_mermaid",
    "to_svg",
    "to_text",
]


def __getattr__(name: str) -> Any:
    if name == "Step":
        warnings.warn("quercus.explain.Step is now called PathStep.", DeprecationWarning, stacklevel=2)
        return PathStep
    raise AttributeError(f"module 'quercus.explain' has no attribute {name!r}")
