"""The state of a learner out of a model file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

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


def part_of(model: Model, prefix: str) -> Model:
    """Return one of the states that a file holds, as a file of its own.

    Parameters
    ----------
    model
        What the file holds.
    prefix
        With which the names of its arrays and sizes begin.

    Examples
    --------
    >>> import numpy as np
    >>> whole = Model("Oak", {}, {}, {"left/n": np.array([1]), "n": np.array([2])}, {"sizes": {"left/class": 4}})
    >>> part = part_of(whole, "left/")
    >>> part.arrays, part.extra
    ({'n': array([1])}, {'sizes': {'class': 4}})
    """

    def take(values: Mapping[str, Any]) -> dict[str, Any]:
        return {name.removeprefix(prefix): value for name, value in values.items() if name.startswith(prefix)}

    sizes = model.extra.get("sizes")
    return replace(model, arrays=take(model.arrays), extra={"sizes": take(sizes)} if isinstance(sizes, Mapping) else {})


def rename_fields(model: Model, names: Mapping[str, str]) -> Model:
    """Return a file in which fields of records, and dimensions, have the names of today.

    Parameters
    ----------
    model
        What an older file holds.
    names
        Today's, by those of before.

    Examples
    --------
    >>> import numpy as np
    >>> old = Model("Oak", {}, {}, {"n": np.zeros(1, [("cells", int)])}, {"sizes": {"trees/0/cell": 4}})
    >>> new = rename_fields(old, {"cells": "bins", "cell": "bin"})
    >>> new.arrays["n"].dtype.names, new.extra
    (('bins',), {'sizes': {'trees/0/bin': 4}})
    """
    extra, sizes = model.extra, model.extra.get("sizes")
    if isinstance(sizes, Mapping):
        split = {dim: dim.rpartition("/") for dim in sizes}
        extra = extra | {"sizes": {a + b + names.get(c, c): sizes[dim] for dim, (a, b, c) in split.items()}}
    return replace(model, arrays={name: _renamed(one, names) for name, one in model.arrays.items()}, extra=extra)


def _renamed(records: npt.NDArray[Any], names: Mapping[str, str]) -> npt.NDArray[Any]:
    old: Any = records.dtype
    if old.names is None or not names.keys() & set(old.names):
        return records
    parts = {names.get(name, name): old.fields[name][:2] for name in old.names}
    formats, offsets = zip(*parts.values(), strict=True)
    dtype: Any = {"names": [*parts], "formats": formats, "offsets": offsets, "itemsize": old.itemsize}
    return records.view(np.dtype(dtype))
