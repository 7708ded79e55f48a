"""The one decorator for compiled code.

``@kernel`` marks a function that other kernels call. ``@kernel(returns, *arguments)`` marks an entry point: it is
compiled for exactly these types when it is first called, and kept on disk for later processes (`cache`).
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numba
import numpy as np
from numba.core.options import DefaultOptions

from quercus.compile.cache import CACHE_VARIABLE, cache_folder, modules_of
from quercus.compile.entry import ENTRIES, EntryKernel
from quercus.compile.records import as_interpreted

__all__ = [
    "CACHE_VARIABLE",
    "ENTRIES",
    "EntryKernel",
    "array_type",
    "cache_folder",
    "kernel",
    "record_maker",
    "specialize",
]

# Inner kernels are not called from Python.
_INNER = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
# Numba has this option for itself; where it is gone, calls cost a little more and nothing else changes.
_NO_REFCOUNT = {"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {}


def kernel(*signature: Any, inline: bool = False, no_refcount: bool = False) -> Any:
    """Compile a function with numba: cached, without the interpreter lock.

    Parameters
    ----------
    signature
        Nothing for a function that only other kernels call; otherwise the numba type that is returned, then those of
        the arguments.
    inline
        Copy the function into each of its callers: a call with many arrays costs 50 ns, which counts in a loop over
        rows.
    no_refcount
        The function makes and returns no arrays: those that it is given are its caller's. That spares counting who
        holds them, which costs some ns per array and call.

    Examples
    --------
    >>> from numba import types
    >>> @kernel
    ... def double(x):
    ...     return 2 * x
    >>> @kernel(types.float64, types.float64)
    ... def quadruple(x):
    ...     return double(double(x))
    >>> quadruple(1.5)
    6.0
    """
    if len(signature) == 1 and callable(signature[0]) and not isinstance(signature[0], numba.types.Type):
        return numba.njit(**_INNER)(signature[0])
    if not signature:
        return numba.njit(**_INNER, **(_NO_REFCOUNT if no_refcount else {}), forceinline=inline)
    returns, *arguments = signature
    return lambda function: EntryKernel(function, returns(*arguments))


def array_type(dtype: Any, dimensions: int, readonly: bool = False) -> numba.types.Array:
    """Return the numba type of a C-ordered array, of records too.

    Parameters
    ----------
    dtype
        Of its elements, as numpy knows it.
    dimensions
        Their number.
    readonly
        Whether kernels only read it.

    Examples
    --------
    >>> array_type(np.float64, 2)
    Array(float64, 2, 'C', False, aligned=True)
    """
    return numba.types.Array(numba.from_dtype(np.dtype(dtype)), dimensions, "C", readonly=readonly)


def record_maker(dtype: Any) -> Any:
    """Return an inner kernel that makes an array of one record of zeros, whose fields are attributes.

    Parameters
    ----------
    dtype
        Of the record, as numpy knows it.

    Examples
    --------
    >>> from numba import types
    >>> make_pair = record_maker([("first", np.int64), ("second", np.int64)])
    >>> @kernel(types.int64, types.int64)
    ... def add_one(x):
    ...     pair = make_pair()[0]
    ...     pair.first, pair.second = x, 1
    ...     return pair.first + pair.second
    >>> add_one(2)
    3
    """
    record = np.dtype(dtype)

    def make() -> Any:
        return np.zeros(1, record)

    return (lambda: as_interpreted(make())) if numba.config.DISABLE_JIT else kernel(make)


def specialize(original: Any, name: str, **replaced: Any) -> Any:
    """Return a kernel of the same source in which some of the functions that it calls are others.

    numba cannot cache a kernel that takes functions as arguments, and one that branches between them would make
    everybody compile all of them.

    Parameters
    ----------
    original
        Kernel: an inner one or an entry point.
    name
        Its name, by which it is kept on disk.
    replaced
        Functions, by the names under which the source calls them.

    Examples
    --------
    >>> from numba import types
    >>> @kernel
    ... def change(x):
    ...     return 2 * x
    >>> @kernel(types.float64, types.float64)
    ... def apply(x):
    ...     return change(x)
    >>> @kernel
    ... def negate(x):
    ...     return -x
    >>> apply(1.5), specialize(apply, "apply_negation", change=negate)(1.5)
    (3.0, -1.5)
    """
    is_entry = isinstance(original, EntryKernel)
    source = original.__wrapped__ if is_entry else getattr(original, "py_func", original)
    code = source.__code__.replace(co_name=name, co_qualname=name)
    function = FunctionType(code, source.__globals__ | replaced, name, source.__defaults__, source.__closure__)
    function.__doc__ = source.__doc__
    originals = (getattr(value, "py_func", value) for value in replaced.values())
    function.replaced_in = tuple(  # type: ignore[attr-defined]
        dict.fromkeys(module for inner in originals for module in modules_of(inner) if module != function.__module__)
    )
    return EntryKernel(function, original.signature) if is_entry else kernel(function)
