"""The utility tree as a learner: its arguments as numbers, its state, and what its kernels are told."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from quercus.acquisition.compiled import FIRST_SLICE, CompiledLearner, Out, Settings, Told
from quercus.acquisition.layout import GENERATOR, UNKNOWN
from quercus.acquisition.model import Status
from quercus.acquisition.policy_outcomes import Outcome
from quercus.acquisition.price_list import list_prices
from quercus.acquisition.prices import Prices
from quercus.acquisition.rows import CaseRows
from quercus.interrupts import uninterrupted
from quercus.learners.utility.arguments import CLASSES, NUMERICS, OBJECTIVES, WORTH, check_arguments, check_range_names
from quercus.learners.utility.kernels.cases import learn_rows, run_cases
from quercus.learners.utility.kernels.layout import SETTINGS
from quercus.learners.utility.outcomes import find_outcomes
from quercus.learners.utility.restore import is_early, restore_state
from quercus.learners.utility.state import UtilityState
from quercus.predictor import Floats
from quercus.schema import Schema
from quercus.store import Model

# Arguments that may be changed at any time, or whose change has to be noticed.
_SETTINGS = (
    *("objective", "classes", "hypotheses", "lookahead", "confidence", "gain", "worth", "prior", "forget", "budget"),
    *("select", "numeric", "bins", "ranges", "loss", "max_bytes", "seed"),
)
_HYPOTHESES = 500


class UtilityLearner(CompiledLearner):
    """Base of `UtilityTree`: everything but its constructor."""

    objective: str
    confidence: float | None
    gain: float
    worth: float | str | None
    numeric: str
    bins: int
    ranges: Mapping[str, tuple[float, float]] | None
    prior: float
    classes: str
    hypotheses: int | None
    lookahead: int
    select: int | None
    forget: float
    max_bytes: int
    _utility: UtilityState
    # The prices as kernels take them, kept until they change.
    _listed: tuple[Prices, int, Any] | None = None
    # What follows from the arguments, kept until they change.
    _settings: tuple[tuple[Any, ...], npt.NDArray[np.void]] | None = None

    def _check_arguments(self) -> None:
        check_arguments(self)

    def _read_settings(self) -> npt.NDArray[np.void]:
        """Return the arguments that may be changed at any time, as kernels take them."""
        given = tuple(getattr(self, name) for name in _SETTINGS)
        if self._settings is None or self._settings[0] != given:
            self._check_arguments()
            if (self._utility.numeric, self._utility.bins) != (NUMERICS[self.numeric], self.bins):
                raise ValueError("numeric and bins cannot be changed after the first row; make a new learner.")
            if self.lookahead > 1 and not self._utility.is_paired:
                raise ValueError("lookahead=2 needs pairs that were counted from the first row on; make a new learner.")
            settings: npt.NDArray[np.void] = np.zeros(1, SETTINGS)
            for name in ("lookahead", "gain", "prior", "forget"):
                settings[name] = getattr(self, name)
            settings["objective"] = OBJECTIVES[self.objective]
            settings["hypotheses"] = self._count_hypotheses()
            settings["select"] = self.select or 0
            settings["uniform"] = CLASSES[self.classes]
            settings["confidence"] = math.inf if self.confidence is None else self.confidence
            settings["is_relative"] = self.worth == "auto"
            settings["worth"] = WORTH if self.worth == "auto" else self.worth or 0.0
            settings["budget"] = self._left(self.budget, 0.0, shared=False)
            settings["total"] = math.inf
            self._settings = (given, settings)
        return self._settings[1]

    def _count_hypotheses(self) -> int:
        if self.hypotheses is None:
            return _HYPOTHESES if self.objective == "ec2" else 0
        return self.hypotheses

    def _learn_batch(self, X: Any, y: Any, classes: Any, sample_weight: Any, predict: bool = False, **more: Any) -> Any:
        if self.ranges and not self._is_fitted():
            added = self._new_schema().read(X, learn=True).additions
            check_range_names(self, added.names if added else [])
        return super()._learn_batch(X, y, classes, sample_weight, predict, **more)

    def _begin(self, features: int) -> None:
        self._utility = self._new_state(features)
        self._slice = FIRST_SLICE

    def _new_state(self, features: int) -> UtilityState:
        return UtilityState.empty(NUMERICS[self.numeric], self.bins, features, self.seed, self.lookahead > 1)

    def _take_over(self, schema: Schema, state: UtilityState) -> None:
        """Go on with another state."""
        with uninterrupted():
            self.schema_, self._utility = schema, state
            self._slice = FIRST_SLICE
            self._note_schema()
            self._find_prices()

    def _declare_classes(self, classes: int) -> None:
        self._utility.declare_classes(classes, int(self.max_bytes))

    def _learn_whole(self, settings: Settings, told: Told, asked: Status) -> int:
        X, y, weight = told
        return int(learn_rows(self._utility.ref, settings, CaseRows.of(X=X, y=y, weight=weight, asked=asked), 1))

    def _make_room(self, row: Floats, label: int) -> None:
        ranges = self._ranges_by_place(self.schema_)
        self._utility.make_room(row, label, self.schema_.kinds, ranges, int(self.max_bytes))

    def _widen(self, features: int) -> None:
        self._utility.add_features(features, int(self.max_bytes))

    def _ranges_by_place(self, schema: Schema) -> dict[int, tuple[float, float]]:
        places = {name: place for place, name in enumerate(schema.names)}
        given = self.ranges or {}
        return {places[name]: (float(low), float(high)) for name, (low, high) in given.items() if name in places}

    def _outcomes(self, row: Floats, status: Status, item: int) -> list[Outcome]:
        self._read_settings()
        unknown = [place for place in self._prices.members[item] if status[place] == UNKNOWN]
        return find_outcomes(self._utility, self.prior, self.schema_, self._believe, row, status, unknown)

    def _width(self) -> int:
        return len(self._utility.features)

    def _run_cases(
        self, settings: Settings, told: Told, out: Out, mode: int, spent: Floats, decisions: npt.NDArray[np.void]
    ) -> int:
        X, y, weight = told
        answers, proba, cost, status = out
        rows = CaseRows.of(
            X=X,
            y=y,
            weight=weight,
            order=self._order,
            loss=self._loss,
            spent=spent,
            answers=answers,
            proba=proba,
            cost=cost,
            status=status,
            decisions=decisions,
        )
        generators = np.zeros(2, GENERATOR)
        return int(run_cases(self._utility.ref, settings, self._list_prices(), rows, generators, mode))

    def _list_prices(self) -> Any:
        prices, width = self._prices, self._width()
        if self._listed is None or self._listed[0] is not prices or self._listed[1] != width:
            self._listed = (prices, width, list_prices(prices, width))
        return self._listed[2]

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return self._utility.to_arrays()

    def _restore(self, model: Model) -> None:
        self._check_arguments()
        self._utility = restore_state(model, self.schema_, int(self.max_bytes))
        if is_early(model) and self.objective != "ec2":
            # Other objectives had a number of hypotheses then, but no use for it.
            self.hypotheses = None
        self._slice = FIRST_SLICE
        self._read_settings()
        self._find_prices()

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name not in ("_settings", "_listed")}
