"""Page-Hinkley: the sum of what values exceed their mean by, against its lowest point.

Page, "Continuous Inspection Schemes", Biometrika 41, 1954; in the form with a fading sum that MOA and river have.
"""

from __future__ import annotations

from typing import ClassVar

from quercus.arguments import check_number
from quercus.drift.compiled import CompiledDetector, Floats
from quercus.drift.kernels import EXCESS, LOWEST_EXCESS, PAGE_HINKLEY_CODE, PAGE_HINKLEY_WIDTH


class PageHinkley(CompiledDetector):
    """Finds a rise of the mean; it does not warn.

    Each value adds what it exceeds the mean by, less `delta`, to a sum that fades by `alpha`. A change is found when
    that sum is more than `threshold` above its lowest point. After a change it begins anew with the next value.

    Parameters
    ----------
    delta
        How much of a rise is no change.
    threshold
        How far the sum may rise; larger means fewer false alarms and longer delays.
    alpha
        What is left of the sum after each value.
    least
        With fewer values the state is ``"stable"``.

    Attributes
    ----------
    state
        ``"stable"`` or ``"change"``.
    n, mean
        Number and mean of the values since the last change.

    References
    ----------
    E. S. Page: Continuous Inspection Schemes. Biometrika 41, 1954.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> errors = np.concatenate([rng.random(2_000) < 0.2, rng.random(2_000) < 0.4])
    >>> PageHinkley().update_many(errors).changes
    array([2118])
    """

    _KIND: ClassVar[int] = PAGE_HINKLEY_CODE
    _WIDTH: ClassVar[int] = PAGE_HINKLEY_WIDTH

    def __init__(self, delta: float = 0.005, threshold: float = 50.0, alpha: float = 0.9999, least: int = 30) -> None:
        self.delta = delta
        self.threshold = threshold
        self.alpha = alpha
        self.least = least

    def _check_arguments(self) -> None:
        check_number("delta", self.delta, least=0)
        check_number("threshold", self.threshold, least=0)
        check_number("alpha", self.alpha, least=0, above=True, most=1)
        check_number("least", self.least, least=1)

    def _settings(self) -> list[float]:
        return [self.delta, self.threshold, self.alpha, self.least]

    def _is_sound(self, state: Floats) -> bool:
        return bool(state[EXCESS] >= state[LOWEST_EXCESS])
