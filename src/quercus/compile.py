"""The one decorator for compiled code.

``@kernel`` marks a function that other kernels call. ``@kernel(returns, *arguments)`` marks an entry point: it is
compiled for exactly these types when it is first called, and kept on disk for later processes. numba decides by the
file of the entry point alone whether its cache is fresh; here the key is a hash over every file of the package that
holds kernels, so that an edit in a *called* file is never run stale.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

import numba
import numpy as np
from numba.core import event
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.options import DefaultOptions

from quercus.locking import lock_file
from quercus.records import as_compiled

CACHE_VARIABLE = "QUERCUS_CACHE"
_UNUSED_DAYS = 60
# Inner kernels are not called from Python: leaving out the code for that spares a third of the compile time.
_INNER = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
# Numba has this option for itself; where it is gone, calls cost a little more and nothing else changes.
_BORROWS = {"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {}
# A process that is stopped while it compiles must not hold up others for ever.
_MOST_WAITING = 120.0


def kernel(*signature: Any, inline: bool = False, borrows: bool = False) -> Any:
    """Compile a function with numba: cached, without the interpreter lock.

    Parameters
    ----------
    signature
        Nothing for a function that only other kernels call; otherwise the numba type that is returned, then those of
        the arguments.
    inline
        Copy the function into each of its callers: a call with many arrays costs 50 ns, which counts in a loop over
        rows.
    borrows
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
        return numba.njit(**_INNER, **(_BORROWS if borrows else {}), inline="always" if inline else "never")
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


def twin(original: Any, name: str, **replaced: Any) -> Any:
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
    >>> apply(1.5), twin(apply, "apply_negation", change=negate)(1.5)
    (3.0, -1.5)
    """
    is_entry = isinstance(original, EntryKernel)
    source = original.__wrapped__ if is_entry else getattr(original, "py_func", original)
    code = source.__code__.replace(co_name=name, co_qualname=name)
    function = FunctionType(code, source.__globals__ | replaced, name, source.__defaults__, source.__closure__)
    function.__doc__ = source.__doc__
    return EntryKernel(function, original.signature) if is_entry else kernel(function)


class EntryKernel:
    """A compiled function with one fixed signature, compiled or loaded from disk at its first call."""

    def __init__(self, function: Callable[..., Any], signature: Any) -> None:
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self.__wrapped__ = function
        self.signature = signature
        self._compiled: Any = None
        self._lock = threading.Lock()

    def __call__(self, *arguments: Any) -> Any:
        """Run the kernel."""
        return (self._compiled or self._prepare())(*arguments)

    def _prepare(self) -> Any:
        with self._lock:
            if self._compiled is None:
                self._compiled = self._interpret if numba.config.DISABLE_JIT else self._compile()
        return self._compiled

    def _interpret(self, *arguments: Any) -> Any:
        """Run the Python source, for debugging; as in compiled code, overflows are silent."""
        with np.errstate(all="ignore"):
            return self.__wrapped__(*map(as_compiled, arguments))

    def _compile(self) -> Any:
        compiled = numba.njit(nogil=True, no_cfunc_wrapper=True)(self.__wrapped__)
        uncached = compiled._cache
        with _announced(self.__name__):
            # A full disk or a damaged file must not stop anybody from learning: at the second try the files are written
            # anew, at the third there are none.
            for _ in range(2 if cache_folder() is not None else 0):
                try:
                    compiled._cache = _Cache(compiled.py_func)
                    with _turn(self.__name__, compiled._cache):
                        compiled.compile(self.signature)
                    break
                except Exception:
                    _forget(compiled._cache)
                    compiled._cache = uncached
            compiled.compile(self.signature)
        compiled.disable_compile()
        return compiled


@contextmanager
def _turn(name: str, cache: Any) -> Iterator[None]:
    """Let one process at a time compile a kernel: those that wait then load it from disk."""
    with ExitStack() as stack:
        # Without locks, as on some shared disks, everybody compiles.
        with suppress(OSError):
            path = Path(cache.cache_path) / f".{cache._impl.filename_base}.lock"
            file = stack.enter_context(open(path, "ab"))
            _wait_for(file.fileno(), name)
        yield


def _wait_for(descriptor: int, name: str) -> None:
    started = time.monotonic()
    told = False
    while time.monotonic() - started < _MOST_WAITING:
        try:
            return lock_file(descriptor)
        except BlockingIOError:
            if not told:
                print(f"quercus: another process compiles {name}, waiting ...", file=sys.stderr, flush=True)
            told = True
            time.sleep(0.05)
    return None


def _forget(cache: Any) -> None:
    for path in Path(cache.cache_path).glob(f"{cache._impl.filename_base}*"):
        path.unlink(missing_ok=True)


class _announced(event.Listener):  # type: ignore[misc]  # noqa: N801 - used as a context manager
    """Says on stderr that something is being compiled, if it really is (numba's event) and not loaded from disk."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._started: float | None = None

    def on_start(self, event: Any) -> None:
        """Say so once, however many functions follow."""
        if self._started is None:
            self._started = time.perf_counter()
            print(f"quercus: compiling {self._name} (once per installation) ...", file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        """Nothing: the end of the whole compilation is announced by ``__exit__``."""

    def __enter__(self) -> None:
        event.register("numba:compile", self)

    def __exit__(self, *failure: Any) -> None:
        event.unregister("numba:compile", self)
        if self._started is not None and failure[0] is None:
            seconds = time.perf_counter() - self._started
            print(f"quercus: compiled {self._name} in {seconds:.1f} s", file=sys.stderr, flush=True)


class _Locator:
    """Where numba keeps a compiled kernel: one folder per state of the kernel sources."""

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        self._line = function.__code__.co_firstlineno
        self._py_file = function.__code__.co_filename
        self._folder = folder

    @classmethod
    def from_function(cls, function: Callable[..., Any], _source: str) -> _Locator | None:
        folder = cache_folder()
        return None if folder is None else cls(function, folder)

    def ensure_cache_path(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return source_hash()

    def get_disambiguator(self) -> str:
        return str(self._line)


class _CacheImpl(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_Locator,)


class _Cache(FunctionCache):  # type: ignore[misc]
    _impl_class = _CacheImpl


@cache
def source_hash() -> str:
    """Return a hash over every file of the package that holds kernels or what they are built from.

    Examples
    --------
    >>> len(source_hash())
    16
    """
    package = Path(__file__).parent
    digest = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    for path in sorted(package.rglob("*.py")):
        text = path.read_bytes()
        if b"@kernel" in text or path.name == "layout.py" or path.name.startswith("state"):
            digest.update(path.relative_to(package).as_posix().encode() + b"\0" + text)
    return digest.hexdigest()[:16]


@cache
def cache_folder() -> Path | None:
    """Return the folder for compiled kernels, or None where nothing can be written.

    ``$QUERCUS_CACHE`` if set, otherwise ``quercus`` in the user's cache folder.

    Examples
    --------
    >>> folder = cache_folder()
    >>> folder is None or folder.name == source_hash()
    True
    """
    chosen = os.environ.get(CACHE_VARIABLE)
    try:
        root = Path(chosen) if chosen else _user_cache() / "quercus"
        folder = root / source_hash()
        fresh = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".write-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except (OSError, RuntimeError):
        return None
    if fresh:
        _remove_unused(root, keep=folder)
    os.utime(folder)
    return folder


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _remove_unused(root: Path, keep: Path) -> None:
    limit = time.time() - _UNUSED_DAYS * 86400
    for folder in root.iterdir():
        is_ours = len(folder.name) == len(keep.name) and all(c in "0123456789abcdef" for c in folder.name)
        if is_ours and folder != keep and folder.is_dir() and folder.stat().st_mtime < limit:
            shutil.rmtree(folder, ignore_errors=True)
