"""Random numbers: a generator is four 64-bit numbers in the state of a learner, seeded through numpy's SeedSequence."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from quercus.compile import kernel

# What splitmix64 adds before each number: 2^64 over the golden ratio.
GOLDEN = 0x9E3779B97F4A7C15


def new_generator(seed: int | None) -> npt.NDArray[np.uint64]:
    """Return the state of a new generator.

    Parameters
    ----------
    seed
        The same number gives the same generator; None draws fresh entropy.

    Examples
    --------
    >>> new_generator(7).tolist() == new_generator(7).tolist()
    True
    >>> new_generator(None).tolist() == new_generator(None).tolist()
    False
    """
    return np.asarray(np.random.SeedSequence(seed).generate_state(4, np.uint64), np.uint64)


@kernel
def draw_uniform(a: Any) -> float:
    """Return a number in [0, 1): xoshiro256++ (D. Blackman, S. Vigna, 2021), whose state is in the record."""
    total = a.g0 + a.g3
    result = ((total << np.uint64(23)) | (total >> np.uint64(41))) + a.g0
    t = a.g1 << np.uint64(17)
    a.g2 ^= a.g0
    a.g3 ^= a.g1
    a.g1 ^= a.g2
    a.g0 ^= a.g3
    a.g2 ^= t
    a.g3 = (a.g3 << np.uint64(45)) | (a.g3 >> np.uint64(19))
    return float(result >> np.uint64(11)) * 2.0**-53


@kernel
def mix_bits(x: np.uint64) -> np.uint64:
    """Return a number of which every bit depends on every bit of x: the end of splitmix64 (G. Steele et al., 2014)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
