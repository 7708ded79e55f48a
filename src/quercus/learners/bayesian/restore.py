"""A Bayesian forest from a file: what its arrays say must also fit the features and classes that it knows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from quercus.learners.bayesian.layout import NOMINAL, NUMERIC
from quercus.learners.bayesian.state import SplitState
from quercus.store import Model, ModelFileError
from quercus.store.states import read_state

_KINDS = {NUMERIC: "numeric", NOMINAL: "nominal"}
_State = TypeVar("_State", bound=SplitState)


def restore_state(model: Model, kinds: Mapping[str, type[_State]]) -> _State:
    """Rebuild the state of a forest; refuse what does not fit together.

    Parameters
    ----------
    model
        What the file holds.
    kinds
        Classes of the state, by the type of the numbers of the nodes, which need not be that of the arguments: these
        may have been changed since.
    """
    dtype = str(model.array("mu").dtype)
    if dtype not in kinds:
        raise ModelFileError(f"its array 'mu' holds {dtype}; there are {' and '.join(kinds)}.")
    state = read_state(model, kinds[dtype])
    known = zip(model.schema["kinds"], model.schema["categories"], strict=True)
    fits = state.classes <= len(model.schema["labels"]) and state.sizes["feature"] <= len(model.schema["names"])
    for feature, (kind, categories) in zip(state.features, known, strict=False):
        fits = fits and kind == _KINDS.get(int(feature["kind"]), kind) and feature["categories"] <= len(categories)
    if not fits:
        raise ModelFileError("its arrays do not fit together (schema).")
    return state
