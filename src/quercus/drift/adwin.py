"""ADWIN: a window that is as long as its mean does not change.

Bifet & Gavalda, "Learning from Time-Changing Data with Adaptive Windowing", SDM 2007 (the variant ADWIN2, with buckets
that double in size), with the constants of MOA.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from quercus.arguments import check_choice, check_number
from quercus.drift.compiled import CompiledDetector, Floats
from quercus.drift.kernels import (
    ADWIN_CLOCK,
    ADWIN_CODE,
    ADWIN_WIDTH,
    BUCKETS,
    COUNT,
    FILLED,
    LEVELS,
    OLDEST,
    ROSE,
    SQUARE_SUMS,
    SQUARES,
    SUM,
    SUMS,
    TICK,
)

_SIDES = ("rise", "both")


class ADWIN(CompiledDetector):
    """Finds changes of a mean and keeps a window of the values since; it does not warn.

    Whenever the window can be cut into an older and a newer part whose means surely differ, the oldest values are
    dropped. That may happen several times for one change, because the newer part becomes clear only little by little.

    Parameters
    ----------
    delta
        Probability with which a cut may be found where there is none.
    clock
        After how many values cuts are looked for.
    side
        What makes the state ``"change"``: ``"rise"``, only a mean that rose, since fewer errors are no reason to act;
        ``"both"``, also one that fell. The window is cut in either case.

    Attributes
    ----------
    state
        ``"stable"`` or ``"change"``.
    n, mean
        Number and mean of the values in the window.
    rose
        Whether the mean rose when the window was last cut; None before the first cut.

    References
    ----------
    A. Bifet, R. Gavalda: Learning from Time-Changing Data with Adaptive Windowing. SDM 2007.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> errors = np.concatenate([rng.random(2_000) < 0.2, rng.random(2_000) < 0.4])
    >>> detector = ADWIN()
    >>> detector.update_many(errors).changes[0]
    np.int64(2111)
    >>> detector.rose, round(detector.mean, 2)
    (True, 0.39)
    """

    _KIND: ClassVar[int] = ADWIN_CODE
    _WIDTH: ClassVar[int] = ADWIN_WIDTH

    def __init__(self, delta: float = 0.002, clock: int = ADWIN_CLOCK, side: str = "rise") -> None:
        self.delta = delta
        self.clock = clock
        self.side = side

    @property
    def rose(self) -> bool | None:
        """Whether the mean rose when the window was last cut; None before the first cut."""
        return {0.0: None, 1.0: True, -1.0: False}[self._read(ROSE)]

    def _check_arguments(self) -> None:
        check_number("delta", self.delta, least=0, above=True, most=1)
        check_number("clock", self.clock, least=1)
        check_choice("side", self.side, _SIDES)

    def _settings(self) -> list[float]:
        return [self.delta, self.clock, float(self.side == "both")]

    def _is_sound(self, state: Floats) -> bool:
        """Numbers that the kernels use as an index or a size must agree with each other."""
        filled = state[FILLED:SUMS]
        if not np.isin(filled, range(BUCKETS + 1)).all() or state[ROSE] not in {-1.0, 0.0, 1.0}:
            return False
        merged_whole = state[OLDEST] % (1 << (LEVELS - 1)) == 0.0
        merged = merged_whole and (state[OLDEST] == 0.0 or (state[OLDEST] > 0.0 and filled[-1] > 0.0))
        size = float(filled @ (1 << np.arange(LEVELS))) + state[OLDEST]
        return bool(merged and state[COUNT] == size and 0.0 <= state[TICK] < self.clock)


def are_sound_windows(windows: Floats) -> bool:
    """Return whether the buckets of every window add up to what it says that it holds.

    Parameters
    ----------
    windows
        One in each row.

    Examples
    --------
    >>> are_sound_windows(np.zeros((1, 7)))
    False
    """
    if windows.shape[1] != ADWIN_WIDTH or not np.isfinite(windows).all():
        return False
    if (np.delete(windows, ROSE, axis=1) < 0.0).any():
        return False
    filled = windows[:, FILLED : FILLED + LEVELS]
    count = filled @ 2.0 ** np.arange(LEVELS) + windows[:, OLDEST]
    sums = windows[:, SUMS : SUMS + LEVELS * BUCKETS].sum(axis=1)
    squares = windows[:, SQUARE_SUMS : SQUARE_SUMS + LEVELS * BUCKETS].sum(axis=1)
    return bool(
        (np.isin(filled, np.arange(BUCKETS + 1))).all()
        and (windows[:, OLDEST] * (filled[:, -1] == 0) == 0.0).all()
        and np.array_equal(count, windows[:, COUNT])
        and np.allclose(sums, windows[:, SUM])
        and np.allclose(squares, windows[:, SQUARES])
    )
