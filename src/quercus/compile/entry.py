"""Compiled functions that Python calls."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from quercus.compile.cache import KernelCache, cache_folder, modules_of
from quercus.compile.linking import linked_only
from quercus.compile.notices import announced, say, subject
from quercus.compile.records import as_interpreted

# All there are, in the order in which they were made: what `quercus warm` compiles.
ENTRIES: list[EntryKernel] = []


class EntryKernel:
    """A compiled function with one fixed signature, compiled or loaded from disk at its first call.

    Parameters
    ----------
    function
        As it was written.
    signature
        As numba knows it.

    Examples
    --------
    >>> from numba import types
    >>> double = EntryKernel(lambda x: 2 * x, types.int64(types.int64))
    >>> double(4)
    8
    """

    def __init__(self, function: Callable[..., Any], signature: Any) -> None:
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self.__wrapped__ = function
        self.signature = signature
        self._compiled: Any = None
        self._lock = threading.Lock()
        # The same in every process that has imported the same.
        self.key = f"{function.__module__}:{function.__qualname__}"
        ENTRIES.append(self)

    def __call__(self, *arguments: Any) -> Any:
        """Run the kernel."""
        return (self._compiled or self.prepare())(*arguments)

    def prepare(self) -> Any:
        """Compile it, or load it from disk, if that has not been done; return what is called."""
        with self._lock:
            if self._compiled is None:
                self._compiled = self._interpret if numba.config.DISABLE_JIT else self._compile()
        return self._compiled

    def _interpret(self, *arguments: Any) -> Any:
        """Run the Python source, for debugging; records are given the attributes that they have in compiled code."""
        # Whole numbers wrap around there without a word.
        with np.errstate(over="ignore"):
            return self.__wrapped__(*map(as_interpreted, arguments))

    def _compile(self) -> Any:
        function = self.__wrapped__
        compiled = numba.njit(nogil=True, no_cfunc_wrapper=True)(function)
        uncached = compiled._cache
        with announced(function), linked_only():
            # A full disk or a damaged file must not stop anybody from learning: at the second try the files are written
            # anew, at the third there are none.
            for _ in range(2 if cache_folder(*modules_of(function)) is not None else 0):
                try:
                    compiled._cache = KernelCache(function)
                    with compiled._cache.turn(self._wait):
                        compiled.compile(self.signature)
                    break
                except Exception:
                    for path in compiled._cache.files:
                        path.unlink(missing_ok=True)
                    compiled._cache = uncached
            compiled.compile(self.signature)
        compiled.disable_compile()
        return compiled

    def _wait(self) -> None:
        say(f"another process compiles {subject(self.__wrapped__)}, waiting ...")
