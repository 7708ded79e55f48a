"""How a utility tree learns and plans: its arguments as numbers, its state, and what its kernels are told."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from quercus.acquisition.engine import CaseEngine, Status
from quercus.acquisition.layout import AUTO_WORTH, CASE, GENERATOR, UNKNOWN
from quercus.acquisition.policy_outcomes import Outcome
from quercus.acquisition.rows import CaseRows
from quercus.engine import Floats, Known
from quercus.learners.utility.arguments import CLASSES, NUMERICS, OBJECTIVES, check_arguments, check_range_names
from quercus.learners.utility.kernels.cases import learn_rows, run_cases
from quercus.learners.utility.kernels.layout import SETTINGS
from quercus.learners.utility.outcomes import find_outcomes
from quercus.learners.utility.state import UtilityState
from quercus.rows import Rows
from quercus.state import StateError
from quercus.store import Model, ModelFileError
from quercus.store.states import read_state, rename_fields

_HYPOTHESES = 500
# What fields of records and dimensions were called in files of quercus 0.1.
_FIELDS = {"cells": "bins", "cell": "bin", "room": "capacity"}
_ALL_ASKED: Status = np.empty(0, np.uint8)


class UtilityEngine(CaseEngine):
    """The engine of `quercus.UtilityTree`, whose arguments ``params`` has."""

    def check(self, params: Any) -> None:
        """Raise an error for an argument that makes no sense."""
        super().check(params)
        check_arguments(params)
        state: UtilityState | None = vars(params).get("_state")
        if state is not None and params.lookahead > 1 and not state.is_paired:
            raise ValueError("lookahead=2 needs pairs that were counted from the first row on; make a new learner.")

    def check_names(self, params: Any, names: list[str]) -> None:
        """Raise an error if ranges are given for what is no feature."""
        check_range_names(params, names)

    def settings(self, params: Any) -> npt.NDArray[np.void]:
        """Return the arguments as kernels take them."""
        settings: npt.NDArray[np.void] = np.zeros(1, SETTINGS)
        for name in ("lookahead", "gain", "prior", "forget"):
            settings[name] = getattr(params, name)
        settings["objective"] = OBJECTIVES[params.objective]
        is_cut = params.objective == "ec2"
        settings["hypotheses"] = params.hypotheses if params.hypotheses is not None else _HYPOTHESES if is_cut else 0
        settings["select"] = params.select or 0
        settings["uniform"] = CLASSES[params.classes]
        settings["confidence"] = math.inf if params.confidence is None else params.confidence
        settings["is_relative"] = params.worth == "auto"
        settings["worth"] = AUTO_WORTH if params.worth == "auto" else params.worth or 0.0
        settings["budget"] = params._left(params.budget, 0.0, shared=False)
        settings["total"] = params._left(None, 0.0) + params.spent_
        return settings

    def new_state(self, params: Any, features: int, classes: int) -> UtilityState:
        """Return the state of a tree that has learned nothing."""
        numeric, limit = NUMERICS[params.numeric], int(params.max_bytes)
        return UtilityState.empty(numeric, params.bins, features, params.seed, params.lookahead > 1, limit)

    def load_state(self, params: Any, model: Model) -> UtilityState:
        """Rebuild the state from a file; refuse what does not fit together."""
        model = rename_fields(model, _FIELDS)
        features = model.array("features", UtilityState.features.dtype)
        if "asked" not in (model.arrays["features"].dtype.names or ()):
            # Files of the time when it was not counted how often a feature was asked for.
            features["asked"] = features["known"]
            options = model.array("options", UtilityState.options.dtype)
            options["rows"] = max(features["known"].tolist(), default=0)
            model = replace(model, arrays=model.arrays | {"features": features, "options": options})
            if params.objective != "ec2":
                # Other objectives had a number of hypotheses then, but no use for it.
                params.hypotheses = None
        state = read_state(model, UtilityState, max_bytes=int(params.max_bytes))
        state.max_bytes = int(params.max_bytes)
        try:
            state.check_schema(params.schema_)
        except StateError as error:
            raise ModelFileError(str(error)) from error
        if (state.numeric, state.bins) != (NUMERICS[params.numeric], params.bins):
            raise ModelFileError("its arrays were made for other arguments numeric and bins.")
        if params.lookahead > 1 and not state.is_paired:
            raise ModelFileError("its arrays hold no pairs, which lookahead=2 needs.")
        return state

    def widen(self, state: UtilityState, features: int, classes: int) -> None:
        """Make room for features, and count so many classes as known."""
        state.add_features(features)
        if classes:
            state.declare_classes(classes)

    def width(self, state: UtilityState) -> int:
        """Return how many features there is room for."""
        return len(state.features)

    def fit_row(self, state: UtilityState, params: Any, row: Floats, label: int, known: Known) -> None:
        """Make room for what a row brings: all of it or nothing."""
        state.max_bytes = int(params.max_bytes)
        state.fit_row(row, label, known.kinds, find_ranges(params.ranges, params.schema_.names))

    def learn_rows(self, state: UtilityState, params: Any, rows: Rows, known: Known, start: int, stop: int) -> int:
        """Learn all values of rows; return the first row that there is no room for."""
        return int(learn_rows(state.ref, params._settings_now(), rows.ref, _ALL_ASKED, start, stop, 1))

    def run_cases(
        self, state: UtilityState, params: Any, rows: CaseRows, known: Known, start: int, stop: int, mode: int
    ) -> int:
        """Run cases of rows, or a step of them, or learn the one case (CASE).

        It returns the first row that there is no room for.
        """
        settings = params._settings_now()
        if mode & CASE:
            # Of a case all that is known is learned; what came back missing was asked for, too.
            history, names = rows.history, params.schema_.names[: rows.width]
            asked = np.array([history is not None and name in history.values for name in names], np.uint8)
            whole = Rows(rows.X, y=rows.y, weight=rows.weight)
            return int(learn_rows(state.ref, settings, whole.ref, asked, start, stop, 1))
        prices = params._price_list(rows.width)
        generators = np.zeros(2, GENERATOR)
        return int(run_cases(state.ref, settings, prices.ref, rows.ref, generators, start, stop, mode))

    def outcomes(self, model: Any, row: Floats, status: Status, item: int) -> list[Outcome]:
        """Return what may come back if an item is bought, by the mean; values that are missing are left out."""
        unknown = [place for place in model._prices.members[item] if status[place] == UNKNOWN]
        return find_outcomes(model._state, model.prior, model.schema_, model._posterior, row, status, unknown)


def find_ranges(ranges: Mapping[str, tuple[float, float]] | None, names: list[str]) -> dict[int, tuple[float, float]]:
    """Return the ranges of features by position, as far as there are such features.

    Parameters
    ----------
    ranges
        As they were given.
    names
        Of the features.

    Examples
    --------
    >>> find_ranges({"age": (0, 100), "mri": (0, 1)}, ["sex", "age"])
    {1: (0.0, 100.0)}
    """
    places = {name: place for place, name in enumerate(names)}
    return {places[name]: (float(low), float(high)) for name, (low, high) in (ranges or {}).items() if name in places}
