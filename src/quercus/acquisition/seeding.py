"""Random generators from the seeds of cases; compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from quercus.compile import kernel
from quercus.randomness import draw_uniform, mix_bits


@kernel
def seed_generator(generator: Any, seed: np.uint64) -> None:
    """Begin a generator: its four numbers are the next ones of splitmix64."""
    step = np.uint64(0x9E3779B97F4A7C15)
    generator.g0 = mix_bits(seed + step)
    generator.g1 = mix_bits(seed + step * np.uint64(2))
    generator.g2 = mix_bits(seed + step * np.uint64(3))
    generator.g3 = mix_bits(seed + step * np.uint64(4))


@kernel
def draw_seed(generator: Any) -> np.uint64:
    """Return the seed of a case, of 53 bits."""
    return np.uint64(draw_uniform(generator) * 2.0**53)
