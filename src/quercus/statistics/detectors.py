"""Change detectors: values come in one by one, a warning or a change is reported as soon as it is sure enough."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from quercus.arguments import check_choice, check_number
from quercus.estimator import Estimator
from quercus.statistics import detector_kernels as kernels

Floats = npt.NDArray[np.float64]
STATES = ("stable", "warning", "change")


class Found(NamedTuple):
    """Where a detector warned and where it found a change, as positions in what it was given.

    Examples
    --------
    >>> from quercus.statistics import DDM
    >>> found = DDM().update_many([0, 1] * 50 + [1] * 100)
    >>> found.warnings[0], found.changes[0]
    (np.int64(110), np.int64(125))
    """

    warnings: npt.NDArray[np.int64]
    changes: npt.NDArray[np.int64]


class Detector(Estimator):
    """Base of all change detectors: values in, ``"stable"``, ``"warning"`` or ``"change"`` out.

    A value is 1 for a wrong answer, 0 for a right one, or any number between. A detector of one's own has to give
    `update`, `reset` and `state`; the rest follows from these.

    Examples
    --------
    >>> class FiveWrong(Detector):
    ...     wrong = 0
    ...     def update(self, value):
    ...         self.wrong = (self.wrong % 5) + 1 if value else 0
    ...         return self.state
    ...     def reset(self):
    ...         self.wrong = 0
    ...     @property
    ...     def state(self):
    ...         return "change" if self.wrong == 5 else "stable"
    >>> FiveWrong().update_many([0, 1, 1, 1, 1, 1, 0]).changes.tolist()
    [5]
    """

    @property
    def state(self) -> str:
        """``"stable"``, ``"warning"`` or ``"change"``: what the last value led to."""
        raise NotImplementedError  # abstract

    def update(self, value: float) -> str:
        """Take in one value; return the state."""
        raise NotImplementedError  # abstract

    def reset(self) -> None:
        """Forget everything."""
        raise NotImplementedError  # abstract

    def update_many(self, values: Any) -> Found:
        """Take in values in order; tell where the state was ``"warning"`` and where ``"change"``."""
        states = [self.update(value) for value in _read_values(values).tolist()]
        where = {state: np.flatnonzero([each == state for each in states]) for state in STATES}
        return Found(where["warning"], where["change"])

    def update_until(self, values: Any) -> int:
        """Take in values up to the first that brings another state or a change; return how many were taken in."""
        before = self.state
        numbers = _read_values(values).tolist()
        for taken, value in enumerate(numbers, 1):
            state = self.update(value)
            if state != before or state == "change":
                return taken
        return len(numbers)

    def _check_arguments(self) -> None:
        """Raise ValueError for an argument that makes no sense."""


class CompiledDetector(Detector):
    """Base of the detectors of quercus: settings and state are arrays, the loop over values is one kernel."""

    _KIND: ClassVar[int]
    _WIDTH: ClassVar[int]

    def _settings(self) -> list[float]:
        """Return the arguments as the kernel takes them."""
        raise NotImplementedError  # abstract

    def _is_sound(self, state: Floats) -> bool:
        """Return whether a state from outside can be gone on from."""
        raise NotImplementedError  # abstract

    @property
    def state(self) -> str:
        """``"stable"``, ``"warning"`` or ``"change"``: what the last value led to."""
        return STATES[int(self._read(kernels.CODE))]

    @property
    def n(self) -> int:
        """How many values count: those since the last change, or in the window."""
        return int(self._read(kernels.COUNT))

    @property
    def mean(self) -> float:
        """The mean of these values; NaN if there are none."""
        return self._read(kernels.SUM) / self.n if self.n else math.nan

    def update(self, value: float) -> str:
        """Take in one value; return the state."""
        number = float(value)
        if not 0.0 <= number <= 1.0:
            raise _refusal("the value", number)
        self._update(np.array([number]), stops=False)
        return self.state

    def update_many(self, values: Any) -> Found:
        """Take in values in order; tell where the state was ``"warning"`` and where ``"change"``."""
        codes, _ = self._update(_read_values(values), stops=False)
        return Found(np.flatnonzero(codes == kernels.WARNING), np.flatnonzero(codes == kernels.CHANGE))

    def update_until(self, values: Any) -> int:
        """Take in values up to the first that brings another state or a change; return how many were taken in."""
        return self._update(_read_values(values), stops=True)[1]

    def reset(self) -> None:
        """Forget everything."""
        self.__dict__.pop("_row", None)

    def state_array(self) -> Floats:
        """Return a copy of all that the detector knows; `restore_array` goes on from it."""
        row: Floats = vars(self).get("_row", np.zeros(self._WIDTH)).copy()
        return row

    def restore_array(self, state: Floats) -> Self:
        """Go on from what `state_array` gave."""
        self._check_arguments()
        given = np.array(state, np.float64)
        if given.shape != (self._WIDTH,) or not np.isfinite(given).all() or not self._agrees(given):
            raise ValueError(f"this is no state of {type(self).__name__}; give what state_array() returned.")
        self._row = given
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return the detector, with all that it knows, as plain values."""
        state = self.state_array().tolist()
        return {"detector": type(self).__name__, "parameters": self.get_params(), "state": state}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return the detector that `to_dict` described."""
        name = values.get("detector")
        if name != cls.__name__:
            raise ValueError(f"this describes {name!r}, not {cls.__name__!r}; call the from_dict of its own class.")
        return cls(**values["parameters"]).restore_array(np.array(values["state"], np.float64))

    def _agrees(self, state: Floats) -> bool:
        """Return whether the numbers of a state agree with each other."""
        whole = state[kernels.COUNT] == np.floor(state[kernels.COUNT]) and state[kernels.CODE] in range(len(STATES))
        # Sums of fractions may be off by a rounding error.
        most = state[kernels.COUNT] * (1.0 + 1e-9)
        return bool(whole and 0.0 <= state[kernels.SUM] <= most and self._is_sound(state))

    def _read(self, place: int) -> float:
        row = vars(self).get("_row")
        return 0.0 if row is None else float(row[place])

    def _update(self, values: Floats, stops: bool) -> tuple[npt.NDArray[np.int8], int]:
        if "_row" not in vars(self):
            self._check_arguments()
            self._row = np.zeros(self._WIDTH)
        codes = np.empty(len(values), np.int8)
        settings = np.array(self._settings(), np.float64)
        taken = kernels.update_values(self._KIND, settings, self._row, values, codes, stops)
        return codes, int(taken)


class ADWIN(CompiledDetector):
    """Finds changes of a mean and keeps a window of the values since; it does not warn.

    Whenever the window can be cut into an older and a newer part whose means surely differ, the oldest values are
    dropped. That may happen several times for one change, because the newer part becomes clear only little by little.
    It is the variant ADWIN2, with buckets that double in size and the constants of MOA.

    Parameters
    ----------
    delta
        Probability with which a cut may be found where there is none.
    clock
        After how many values cuts are searched for.
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

    _KIND: ClassVar[int] = kernels.ADWIN_CODE
    _WIDTH: ClassVar[int] = kernels.ADWIN_WIDTH

    def __init__(self, delta: float = 0.002, clock: int = kernels.ADWIN_CLOCK, side: str = "rise") -> None:
        self.delta = delta
        self.clock = clock
        self.side = side

    @property
    def rose(self) -> bool | None:
        """Whether the mean rose when the window was last cut; None before the first cut."""
        return {0.0: None, 1.0: True, -1.0: False}[self._read(kernels.ROSE)]

    def _check_arguments(self) -> None:
        check_number("delta", self.delta, least=0, above=True, most=1)
        check_number("clock", self.clock, least=1)
        check_choice("side", self.side, ("rise", "both"))

    def _settings(self) -> list[float]:
        return [self.delta, self.clock, float(self.side == "both")]

    def _is_sound(self, state: Floats) -> bool:
        """Return whether numbers that the kernels use as an index or a size agree with each other."""
        filled = state[kernels.FILLED : kernels.SUMS]
        if not np.isin(filled, range(kernels.BUCKETS + 1)).all() or state[kernels.ROSE] not in {-1.0, 0.0, 1.0}:
            return False
        oldest = state[kernels.OLDEST]
        merged = oldest == 0.0 or (oldest > 0.0 and oldest % (1 << (kernels.LEVELS - 1)) == 0.0 and filled[-1] > 0.0)
        size = float(filled @ (1 << np.arange(kernels.LEVELS))) + oldest
        return bool(merged and state[kernels.COUNT] == size and 0.0 <= state[kernels.TICK] < self.clock)


class DDM(CompiledDetector):
    """Finds a rise of the error rate, and warns before.

    With p the error rate since the last change and s its standard deviation, it warns when ``p + s`` is above
    ``p_min + warning * s_min`` and finds a change above ``p_min + change * s_min``; ``p_min`` and ``s_min`` are from
    where ``p + s`` was lowest. After a change it begins anew with the next value. Departure: as long as there was no
    error at all, one is assumed, because the published rule takes the first error of a learner for a change.

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

    _KIND: ClassVar[int] = kernels.DDM_CODE
    _WIDTH: ClassVar[int] = kernels.DDM_WIDTH

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
        lowest = state[[kernels.LOWEST, kernels.LOWEST_RATE, kernels.LOWEST_DEVIATION]]
        return bool(state[kernels.COUNT] >= 0.0 and np.all(lowest >= 0.0))


class PageHinkley(CompiledDetector):
    """Finds a rise of the mean; it does not warn.

    Each value adds what it exceeds the mean by, less `delta`, to a sum that fades by `alpha`. A change is found when
    that sum is more than `threshold` above its lowest point. After a change it begins anew with the next value. This is
    the form with a fading sum that MOA and river have.

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

    _KIND: ClassVar[int] = kernels.PAGE_HINKLEY_CODE
    _WIDTH: ClassVar[int] = kernels.PAGE_HINKLEY_WIDTH

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
        return bool(state[kernels.EXCESS] >= state[kernels.LOWEST_EXCESS])


def _read_values(values: Any) -> Floats:
    """Return values as an array; refuse what is not a number from 0 to 1."""
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"values have {array.ndim} dimensions; give them in one, in the order of the stream.")
    sound = (array >= 0.0) & (array <= 1.0)
    if not sound.all():
        place = int(np.argmin(sound))
        raise _refusal(f"value {place}", float(array[place]))
    return array


def _refusal(what: str, number: float) -> ValueError:
    return ValueError(
        f"{what} is {number}; give numbers from 0 to 1, such as 1 for a wrong answer and 0 for a right one."
    )
