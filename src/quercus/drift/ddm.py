"""DDM: an error rate that leaves its lowest point by some standard deviations.

Gama, Medas, Castillo & Rodrigues, "Learning with Drift Detection", SBIA 2004. Departure: as long as there was no error
at all, one is assumed, because the published rule takes the first error of a learner without errors for a change.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from quercus.arguments import check_number
from quercus.drift.compiled import CompiledDetector, Floats
from quercus.drift.kernels import COUNT, DDM_CODE, DDM_WIDTH, LOWEST, LOWEST_DEVIATION, LOWEST_RATE


class DDM(CompiledDetector):
    """Finds a rise of the error rate, and warns before.

    With p the error rate since the last change and s its standard deviation, it warns when ``p + s`` is above
    ``p_min + warning * s_min`` and finds a change above ``p_min + change * s_min``; ``p_min`` and ``s_min`` are from
    where ``p + s`` was lowest. After a change it begins anew with the next value.

    Parameters
    ----------
    warning, change
        How many standard deviations.
    least
        Up to this many values the state is ``"stable"``.

    Attributes
    ----------
    state
        ``"stable"``, ``"warning"`` or ``"change"``.
    n, mean
        Number and mean of the values since the last change.

    References
    ----------
    J. Gama, P. Medas, G. Castillo, P. Rodrigues: Learning with Drift Detection. SBIA 2004.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> errors = np.concatenate([rng.random(2_000) < 0.2, rng.random(2_000) < 0.4])
    >>> detector = DDM()
    >>> found = detector.update_many(errors)
    >>> found.changes
    array([2077])
    >>> detector.state, round(detector.mean, 2)
    ('stable', 0.4)
    """

    _KIND: ClassVar[int] = DDM_CODE
    _WIDTH: ClassVar[int] = DDM_WIDTH

    def __init__(self, warning: float = 2, change: float = 3, least: int = 30) -> None:
        self.warning = warning
        self.change = change
        self.least = least

    def _check_arguments(self) -> None:
        check_number("warning", self.warning, least=0)
        check_number("change", self.change, least=self.warning)
        check_number("least", self.least, least=1)

    def _settings(self) -> list[float]:
        return [self.warning, self.change, self.least]

    def _is_sound(self, state: Floats) -> bool:
        lowest = state[[LOWEST, LOWEST_RATE, LOWEST_DEVIATION]]
        return bool(state[COUNT] >= 0.0 and np.all(lowest >= 0.0))
