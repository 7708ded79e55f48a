"""Random numbers: a generator is four 64-bit numbers in the state of a learner, seeded through numpy's SeedSequence."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


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
