"""What a frozen evergreen tree remembers: what answers need."""

from __future__ import annotations

from quercus.learners.evergreen.additive.state import AdditiveState
from quercus.learners.evergreen.state import OPTIONS, EvergreenTreeState
from quercus.state import Field, Part, State, StateError


class FrozenEvergreenState(State):
    """A tree that answers and does nothing else.

    Examples
    --------
    >>> list(FrozenEvergreenState.parts)
    ['tree', 'additive']
    """

    options = Field(OPTIONS, 1)
    tree = Part(EvergreenTreeState)
    additive = Part(AdditiveState)

    def check(self) -> None:
        """Raise StateError where arrays do not fit together."""
        option, tree, additive = self.options[0], self.tree, self.additive
        if not (
            option["nodes"] == len(tree.nodes)
            and tree.sizes["label"] == option["classes"]
            and (option["without"] & 2 or len(tree.recent) == len(tree.nodes))
            and (not additive.is_on or additive.classes == option["classes"])
        ):
            raise StateError("its arrays do not fit together.")
