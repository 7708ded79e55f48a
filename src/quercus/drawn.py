"""What models share that can be shown as a tree: text, graphs, pictures in notebooks."""

from __future__ import annotations

from typing import Any

from quercus.explain import TreeView, to_dot, to_html, to_mermaid, to_text
from quercus.predictor import Predictor


class DrawnTree(Predictor):
    """A model that is a tree, and shows it; a subclass says what there is to see.

    Examples
    --------
    >>> import quercus as qc
    >>> tree = qc.HoeffdingTree().partial_fit([[1.0], [2.0]], ["no", "yes"])
    >>> print(tree.to_text())
    HoeffdingTree: 1 leaf, depth 0, 2 rows learned
         labels  answer  classes
    all       2  'no'    'no' 1 (50%), 'yes' 1 (50%)
    """

    def view(self) -> TreeView:
        """Return the tree as plain data, for renderers and for programs."""
        raise NotImplementedError  # abstract

    def to_text(self, max_depth: int | None = None, max_nodes: int | None = 63) -> str:
        """Return the tree as text.

        Parameters
        ----------
        max_depth, max_nodes
            How much of it to show; the parts that most examples go through come first.
        """
        return to_text(self.view(), max_depth=max_depth, max_nodes=max_nodes)

    def to_dot(self) -> str:
        """Return the tree in Graphviz's language."""
        return to_dot(self.view())

    def to_mermaid(self) -> str:
        """Return the tree as a Mermaid flowchart."""
        return to_mermaid(self.view())

    def __str__(self) -> str:
        return self.to_text() if self._is_fitted() else repr(self)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        if not self._is_fitted():
            bundle: dict[str, Any] = super()._repr_mimebundle_(**options)
            return bundle
        view = self.view()
        return {"text/plain": to_text(view), "text/html": to_html(view)}

    def _name(self) -> str:
        return type(self).__name__
