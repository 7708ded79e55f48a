"""Structs that kernels make themselves, of members of any type."""

from __future__ import annotations

import sys
from typing import Any

import numba
from numba.core.datamodel import default_manager, models
from numba.experimental import structref

from quercus.state.refcounts import StructType


class Bundle:
    """What inner kernels hand on under fixed names: one pointer, where a named tuple would be an argument for each.

    Subclasses annotate the members; a kernel makes one of members of any type, in the order of their declaration, and
    keeps it as long as it needs what is in it: arrays that are read of it are gone with it.

    Parameters
    ----------
    members
        In the order of their declaration.

    Examples
    --------
    >>> import numpy as np
    >>> from numba import types
    >>> from quercus.compile import kernel
    >>> class Sums(Bundle):
    ...     sums: Any
    ...     weight: Any
    >>> @kernel
    ... def add_up(sums):
    ...     return sums.weight * sums.sums.sum()
    >>> @kernel(types.float64, types.int64)
    ... def add_ones(classes):
    ...     return add_up(Sums(np.ones(classes), 2.0))
    >>> float(add_ones(3))
    6.0
    """

    def __init__(self, *members: Any) -> None:
        # Only where nothing is compiled.
        for name, member in zip(self.__annotations__, members, strict=True):
            setattr(self, name, member)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if not numba.config.DISABLE_JIT:
            kind = type(f"{cls.__name__}Type", (StructType,), {"__module__": cls.__module__})
            # numba finds it there when it loads a compiled kernel.
            setattr(sys.modules[cls.__module__], kind.__name__, kind)
            default_manager.register(kind, models.StructRefModel)
            structref.define_constructor(cls, kind, list(cls.__annotations__))
