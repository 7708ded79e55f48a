"""Where compiled kernels are kept: a folder for each state of the sources that an entry point is built from.

numba decides by the file of the entry point alone whether its cache is fresh; here the key is a hash over that file and
every file of the package that it imports, directly or not. An edit in a *called* file is never run stale, and one in a
file that has nothing to do with it leaves an entry as it is.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.runtime import rtsys

from quercus.compile.linking import KNOWN
from quercus.locking import lock_file

CACHE_VARIABLE = "QUERCUS_CACHE"
_UNUSED_DAYS = 60
# A process that is stopped while it compiles must not hold up others for ever.
_MOST_WAITING = 120.0
_PACKAGE = Path(__file__).parents[1]
_IMPORT = re.compile(r"^from (quercus[\w.]*) import (\([^)]*\)|[^\n]*)", re.MULTILINE)
# What these say of compiling, and where they keep it, does not change what comes out.
_ASIDE = frozenset({"compile/cache.py", "compile/entry.py", "compile/notices.py", "compile/records.py"})


class _Locator:
    """Tells numba where a compiled kernel is kept."""

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        self._line = function.__code__.co_firstlineno
        self._py_file = function.__code__.co_filename
        self._folder = folder

    @classmethod
    def from_function(cls, function: Callable[..., Any], _source: str) -> _Locator | None:
        folder = cache_folder(*modules_of(function))
        return None if folder is None else cls(function, folder)

    def ensure_cache_path(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return self._folder.name

    def get_disambiguator(self) -> str:
        return str(self._line)


class _CacheImpl(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_Locator,)


class KernelCache(FunctionCache):  # type: ignore[misc]
    """numba's cache for the functions of an entry point, in the folder of the sources that it is built from."""

    _impl_class = _CacheImpl

    @property
    def files(self) -> Iterator[Path]:
        """All that it keeps."""
        return Path(self.cache_path).glob(f"{self._impl.filename_base}*")

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load a kernel from disk; return None if it is not there.

        Parameters
        ----------
        sig, target_context
            As numba has them.
        """
        # numba gets ready to compile first, which takes as long as all that is needed to load a model and answer.
        if numba.__version__.startswith(KNOWN):
            rtsys.initialize(target_context)
            with self._guard_against_spurious_io_errors():
                found = self._load_overload(sig, target_context)
                if found is not None:
                    return found
        return super().load_overload(sig, target_context)

    @contextmanager
    def turn(self, wait: Callable[[], None]) -> Iterator[None]:
        """Let one process at a time compile: those that wait then load it from disk.

        Parameters
        ----------
        wait
            Called once where another process is at it.
        """
        with ExitStack() as stack:
            # Without locks, as on some shared disks, everybody compiles.
            with suppress(OSError):
                path = Path(self.cache_path) / f".{self._impl.filename_base}.lock"
                file = stack.enter_context(open(path, "ab"))
                _wait_for(file.fileno(), wait)
            yield


def _wait_for(descriptor: int, wait: Callable[[], None]) -> None:
    started = time.monotonic()
    is_warned = False
    while time.monotonic() - started < _MOST_WAITING:
        try:
            return lock_file(descriptor)
        except BlockingIOError:
            if not is_warned:
                wait()
            is_warned = True
            time.sleep(0.05)
    return None


def modules_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the modules that a function of an entry point stands in: its own, and where its parts were replaced.

    Parameters
    ----------
    function
        As it was written.

    Examples
    --------
    >>> modules_of(modules_of)
    ('quercus.compile.cache',)
    """
    return (function.__module__, *getattr(function, "replaced_in", ()))


def find_sources(*modules: str) -> list[Path]:
    """Return the files of the package that modules are built from: their own, and all that these import.

    Parameters
    ----------
    modules
        Full names.

    Examples
    --------
    >>> [path.name for path in find_sources("quercus.locking")]
    ['locking.py']
    """
    found: dict[Path, None] = {}
    waiting = list(modules)
    while waiting:
        path = _find_file(waiting.pop())
        if path is not None and path not in found:
            found[path] = None
            waiting.extend(_imported(path))
    return sorted(found)


@cache
def _imported(path: Path) -> list[str]:
    """Return the modules of the package that a file imports when it is loaded."""
    modules: list[str] = []
    for module, names in _IMPORT.findall(path.read_text(encoding="utf-8")):
        members = [f"{module}.{name}" for name in re.findall(r"\w+", names)]
        inner = [member for member in members if _find_file(member) is not None]
        modules += inner if len(inner) == len(members) else [module, *inner]
    return modules


@cache
def _find_file(module: str) -> Path | None:
    package, *parts = module.split(".")
    place = _PACKAGE.joinpath(*parts)
    if package != "quercus":
        return None
    return next((path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()), None)


@cache
def source_hash(*modules: str) -> str:
    """Return a hash over every file that modules are built from, and what compiles it.

    Parameters
    ----------
    modules
        Full names.

    Examples
    --------
    >>> len(source_hash("quercus.statistics")), source_hash("quercus.ask") == source_hash("quercus.ledger")
    (16, False)
    """
    # Checking bounds makes other code.
    checked = " boundscheck" if numba.config.BOUNDSCHECK else ""
    digest = hashlib.sha256(f"{numba.__version__}{checked} {sys.version} {' '.join(modules)}".encode())
    for path in find_sources(*modules):
        name = path.relative_to(_PACKAGE).as_posix()
        if name not in _ASIDE:
            digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def cache_folder(*modules: str) -> Path | None:
    """Return the folder for kernels that are built from modules, or None where nothing can be written.

    It is in ``$QUERCUS_CACHE`` if set, otherwise in ``quercus`` in the user's cache folder.

    Parameters
    ----------
    modules
        Full names.

    Examples
    --------
    >>> folder = cache_folder("quercus.ask.kernels")
    >>> folder is None or folder.name == source_hash("quercus.ask.kernels")
    True
    """
    chosen = os.environ.get(CACHE_VARIABLE)
    try:
        root = Path(chosen) if chosen else _user_cache() / "quercus"
        folder = root / source_hash(*modules)
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
        with suppress(OSError):
            if is_ours and folder != keep and folder.is_dir() and folder.stat().st_mtime < limit:
                shutil.rmtree(folder, ignore_errors=True)
