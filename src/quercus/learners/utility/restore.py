"""The state of a utility tree out of a model file."""

from __future__ import annotations

from dataclasses import replace

from quercus.learners.utility.state import UtilityState
from quercus.schema import Schema
from quercus.state import StateError
from quercus.store import Model, ModelFileError
from quercus.store.states import read_state


def restore_state(model: Model, schema: Schema, max_bytes: int) -> UtilityState:
    """Rebuild the state of a utility tree; refuse what does not fit together.

    Parameters
    ----------
    model
        What the file holds.
    schema
        What the learner knows of its features and classes.
    max_bytes
        Limit of the tree.
    """
    if is_early(model):
        features = model.array("features", UtilityState.features.dtype)
        features["asked"] = features["known"]
        options = model.array("options", UtilityState.options.dtype)
        options["rows"] = max(features["known"].tolist(), default=0)
        model = replace(model, arrays=model.arrays | {"features": features, "options": options})
    state = read_state(model, UtilityState, max_bytes=max_bytes)
    try:
        state.check_schema(schema)
    except StateError as error:
        raise ModelFileError(str(error)) from error
    return state


def is_early(model: Model) -> bool:
    """Return whether a file is of the time when it was not counted how often a feature was asked for.

    Parameters
    ----------
    model
        What the file holds.

    Examples
    --------
    >>> is_early(Model("UtilityTree", {}, {}, {"features": UtilityState.empty(0, 8, 3, None).features}, {}))
    False
    """
    return "asked" not in (model.arrays["features"].dtype.names or ())
