"""Detectors whose steps are compiled: settings and state are arrays, the loop over values is one kernel."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from quercus.drift.base import STATES, Detector, Found, read_value, read_values
from quercus.drift.kernels import CHANGE, CODE, COUNT, SUM, WARNING, watch_values

Floats = npt.NDArray[np.float64]


class CompiledDetector(Detector):
    """Base of the detectors of quercus."""

    _KIND: ClassVar[int]
    _WIDTH: ClassVar[int]

    def _settings(self) -> list[float]:
        """Return the arguments as the kernel takes them."""
        raise NotImplementedError  # abstract

    def _is_sound(self, state: Floats) -> bool:
        """Tell whether a state from outside can be gone on from."""
        raise NotImplementedError  # abstract

    @property
    def state(self) -> str:
        """``"stable"``, ``"warning"`` or ``"change"``: what the last value led to."""
        return STATES[int(self._read(CODE))]

    @property
    def n(self) -> int:
        """How many values are looked at: those since the last change, or in the window."""
        return int(self._read(COUNT))

    @property
    def mean(self) -> float:
        """The mean of these values; NaN if there are none."""
        return self._read(SUM) / self.n if self.n else math.nan

    def update(self, value: float) -> str:
        """Take in one value; return the state.

        Parameters
        ----------
        value
            1 for a wrong answer, 0 for a right one, or any number between.
        """
        self._watch(np.array([read_value(value)]), stops=False)
        return self.state

    def update_many(self, values: Any) -> Found:
        """Take in values in order; tell where the state was ``"warning"`` and where ``"change"``.

        Parameters
        ----------
        values
            As in `update`.
        """
        codes, _ = self._watch(read_values(values), stops=False)
        return Found(np.flatnonzero(codes == WARNING), np.flatnonzero(codes == CHANGE))

    def update_until(self, values: Any) -> int:
        """Take in values up to the first that brings another state or a change; return how many were taken in.

        Parameters
        ----------
        values
            As in `update`.
        """
        return self._watch(read_values(values), stops=True)[1]

    def reset(self) -> None:
        """Forget everything."""
        self.__dict__.pop("_row", None)

    def state_array(self) -> Floats:
        """Return a copy of all that the detector knows; `restore_array` goes on from it."""
        row: Floats = vars(self).get("_row", np.zeros(self._WIDTH)).copy()
        return row

    def restore_array(self, state: Floats) -> Self:
        """Go on from what `state_array` gave.

        Parameters
        ----------
        state
            The array.
        """
        self._check_arguments()
        given = np.array(state, np.float64)
        if given.shape != (self._WIDTH,) or not np.isfinite(given).all() or not self._agrees(given):
            raise ValueError(f"this is no state of {type(self).__name__}; give what state_array() returned.")
        self._row = given
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return the detector, with all that it knows, as plain values."""
        return {
            "detector": type(self).__name__,
            "parameters": self.get_params(),
            "state": self.state_array().tolist(),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return the detector that `to_dict` described.

        Parameters
        ----------
        values
            What `to_dict` gave.
        """
        name = values.get("detector")
        if name != cls.__name__:
            raise ValueError(f"this describes {name!r}, not {cls.__name__!r}; call the from_dict of its own class.")
        return cls(**values["parameters"]).restore_array(np.array(values["state"], np.float64))

    def _agrees(self, state: Floats) -> bool:
        """Tell whether the numbers of a state agree with each other."""
        whole = state[COUNT] == np.floor(state[COUNT]) and state[CODE] in range(len(STATES))
        # Sums of fractions may be off by a rounding error.
        return bool(whole and 0.0 <= state[SUM] <= state[COUNT] * (1.0 + 1e-9) and self._is_sound(state))

    def _read(self, place: int) -> float:
        row = vars(self).get("_row")
        return 0.0 if row is None else float(row[place])

    def _watch(self, values: Floats, stops: bool) -> tuple[npt.NDArray[np.int8], int]:
        if "_row" not in vars(self):
            self._check_arguments()
            self._row = np.zeros(self._WIDTH)
        codes = np.empty(len(values), np.int8)
        taken = watch_values(self._KIND, np.array(self._settings(), np.float64), self._row, values, codes, stops)
        return codes, int(taken)
