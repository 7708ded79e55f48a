"""Numbers that look as if drawn by chance and belong to what they are made from; compiled."""

from __future__ import annotations

import numpy as np

from quercus.compile import kernel


@kernel
def mix_bits(x: np.uint64) -> np.uint64:
    """Return a number of which every bit depends on every bit of x: the last part of splitmix64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
