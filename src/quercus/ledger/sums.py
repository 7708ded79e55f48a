"""A running sum of money without rounding: the same in whatever order prices came and were taken back."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

# A float is a whole number of this many bits times a power of two.
_BITS = 53
_HALF = 26


class ExactSum:
    """A sum kept as floats that do not overlap, so that nothing is lost.

    Examples
    --------
    >>> total = ExactSum()
    >>> for price in [0.1] * 10 + [1e16, -1e16]:
    ...     total.add(price)
    >>> total.value
    1.0
    """

    __slots__ = ("_parts",)

    def __init__(self) -> None:
        self._parts: list[float] = []

    @property
    def value(self) -> float:
        """The sum, rounded once."""
        return math.fsum(self._parts)

    def add(self, amount: float) -> None:
        """Add an amount, which may be negative.

        Examples
        --------
        >>> total = ExactSum()
        >>> total.add(2.5)
        >>> total.value
        2.5
        """
        kept = 0
        for part in self._parts:
            large, small = (amount, part) if abs(amount) >= abs(part) else (part, amount)
            amount = large + small
            rest = small - (amount - large)
            if rest:
                self._parts[kept] = rest
                kept += 1
        self._parts[kept:] = [amount]

    def add_many(self, amounts: NDArray[np.float64]) -> None:
        """Add amounts: those of one exponent as whole numbers.

        Examples
        --------
        >>> total = ExactSum()
        >>> total.add_many(np.full(1000, 0.1))
        >>> total.value
        100.0
        """
        fractions, exponents = np.frexp(amounts)
        whole = np.ldexp(fractions, _BITS).astype(np.int64)
        for exponent in np.unique(exponents).tolist():
            group = whole[exponents == exponent]
            # in two halves, whose sums stay within 64 bits
            total = (int((group >> _HALF).sum()) << _HALF) + int((group & (2**_HALF - 1)).sum())
            rounded = float(total)
            self.add(math.ldexp(rounded, exponent - _BITS))
            self.add(math.ldexp(float(total - int(rounded)), exponent - _BITS))
