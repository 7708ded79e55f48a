"""What the states of all learners share that are flat arrays under fixed names."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


class FlatArrays:
    """Arrays under the names that a subclass lists, which kernels work on and files hold.

    Examples
    --------
    >>> class Counts(FlatArrays):
    ...     NAMES = ("counts",)
    >>> state = Counts()
    >>> state.counts = np.zeros(3)
    >>> state.nbytes, list(state.used())
    (24, ['counts'])
    """

    NAMES: tuple[str, ...] = ()

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Unpickled arrays may be read-only or borrowed; a learner must be able to go on learning and to resize them.
        for name, value in state.items():
            setattr(self, name, np.require(value, requirements=["W", "O"]) if name in self.NAMES else value)

    @property
    def learning(self) -> tuple[Any, ...]:
        """The arrays in the order in which kernels take them."""
        # Fetched for each row that is learned alone: a quarter of the time of a loop in Python.
        return tuple(map(vars(self).__getitem__, self.NAMES))

    @property
    def nbytes(self) -> int:
        """Bytes allocated."""
        return sum(int(getattr(self, name).nbytes) for name in self.NAMES)

    def used(self) -> dict[str, npt.NDArray[Any]]:
        """Return the used part of every array by name; here all of it, what is spare being zero."""
        return {name: getattr(self, name) for name in self.NAMES}


def enlarged(array: npt.NDArray[Any], shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """Return a larger array that begins with this one, the rest being zero.

    Parameters
    ----------
    array
        What is kept.
    shape
        Of the result, at least as large in every direction.

    Examples
    --------
    >>> enlarged(np.ones(2), (4,)).tolist()
    [1.0, 1.0, 0.0, 0.0]
    """
    larger = np.zeros(shape, array.dtype)
    larger[tuple(slice(n) for n in array.shape)] = array
    return larger
