"""The state of a learner out of a model file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from quercus.state import State, StateError
from quercus.store.errors import ModelFileError
from quercus.store.files import Model

S = TypeVar("S", bound=State)


def read_state(
    model: Model,
    kind: type[S],
    *,
    max_bytes: int | None = None,
    at_most: Mapping[str, int] | None = None,
    renamed: Mapping[str, str] | None = None,
    sizes: Mapping[str, int] | None = None,
) -> S:
    """Rebuild a state from a file; refuse what does not fit together.

    Parameters
    ----------
    model
        What the file holds.
    kind
        Class of the state.
    max_bytes
        Limit for what is allocated.
    at_most
        The largest sizes that dimensions may use.
    renamed
        What arrays are called in the file, where that is not what they are called now.
    sizes
        Of dimensions, spare places included; None: those in the file, or where it tells none as large as the arrays.

    Examples
    --------
    >>> import numpy as np
    >>> from quercus.state import Field
    >>> class Counts(State):
    ...     counts = Field(np.int64, "class")
    >>> model = Model("Oak", {}, {}, {"n": np.array([1, 2])}, {"sizes": {"class": 2}})
    >>> read_state(model, Counts, renamed={"counts": "n"}).counts.tolist()
    [1, 2]
    """
    names = renamed or {}
    arrays = {name: model.array(names.get(name, name), dtype) for name, dtype in kind.saved_types().items()}
    given = model.extra.get("sizes") if sizes is None else sizes
    try:
        return kind.from_arrays(arrays, given if isinstance(given, Mapping) else None, max_bytes, at_most)
    except StateError as error:
        raise ModelFileError(str(error)) from error
