"""Inner kernels that are linked alone: their entry optimises and emits them, once for all.

numba optimises a function and emits machine code for it, and then again as a part of each of its callers. Kernels that
are never called from Python need neither. This replaces private parts of numba, and so it is only done for versions
with which all tests have passed; with others numba's own way is taken, which makes the same code, but more slowly.
"""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numba
from numba.core import codegen, cpu, typed_passes

KNOWN = ("0.68.",)
_linking = threading.local()
_linked: weakref.WeakSet[Any] = weakref.WeakSet()


@contextmanager
def linked_only() -> Iterator[None]:
    """Link inner kernels that are compiled in the block, and no more.

    Examples
    --------
    >>> with linked_only():
    ...     pass
    """
    if not _install():
        yield
        return
    _linking.on = True
    try:
        yield
    finally:
        _linking.on = False


@cache
def _install() -> bool:
    """Teach numba to leave libraries of inner kernels as they are; return whether it is a version that is known."""
    if not numba.__version__.startswith(KNOWN):
        return False
    finalize = codegen.CPUCodeLibrary.finalize
    get_executable = cpu.CPUContext.get_executable
    run_pass = typed_passes.BaseNativeLowering.run_pass
    # Nobody can call an inner kernel from Python: any address will do.
    nowhere = ctypes.cast(ctypes.pythonapi.Py_GetVersion, ctypes.c_void_p).value

    def finalize_linked(library: Any) -> None:
        if library not in _linked:
            finalize(library)
            return
        library._raise_if_finalized()
        for other in dict.fromkeys(library._linking_libraries):
            library._reload_init.update(other._reload_init)
            library._final_module.link_in(other._get_module_for_linking(), preserve=True)
        library._finalized = True

    def get_no_executable(context: Any, library: Any, fndesc: Any, env: Any) -> Any:
        if library not in _linked:
            return get_executable(context, library, fndesc, env)
        name = fndesc.qualname.split(".")[-1]
        return numba.core.cpu._dynfunc.make_function(fndesc.lookup_module(), name, "inner", nowhere, env, (library,))

    def run_pass_linked(lowering: Any, state: Any) -> Any:
        is_inner = state.flags.no_cpython_wrapper and state.flags.no_cfunc_wrapper
        if is_inner and getattr(_linking, "on", False):
            if state.library is None:
                state.library = state.targetctx.codegen().create_library(state.func_id.func_qualname)
                state.library.enable_object_caching()
            _linked.add(state.library)
        return run_pass(lowering, state)

    codegen.CPUCodeLibrary.finalize = finalize_linked
    cpu.CPUContext.get_executable = get_no_executable
    typed_passes.BaseNativeLowering.run_pass = run_pass_linked
    return True
