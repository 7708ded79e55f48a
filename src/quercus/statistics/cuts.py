"""Where to cut between two values, compiled."""

from __future__ import annotations

from quercus.compile import kernel


@kernel(inline=True)
def cut_between(a: float, b: float) -> float:
    """Return a number m with a <= m < b, in the middle if floats allow: halves, since a large sum may overflow."""
    middle = 0.5 * a + 0.5 * b
    return middle if a <= middle < b else a
