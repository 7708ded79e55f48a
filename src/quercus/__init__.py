"""Online decision trees for streams whose labels and features cost money.

The public names are loaded on first use, so that ``import quercus`` imports neither numba nor scikit-learn.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from quercus.registry import LEARNERS

if TYPE_CHECKING:
    from quercus import checks, explain, streams
    from quercus.evaluation import Repeats, Run, evaluate, repeat
    from quercus.learners.confidence import ConfidenceTree
    from quercus.learners.hoeffding import HoeffdingTree
    from quercus.store import ModelFileError, load

__version__ = "0.1.0"

_SUBPACKAGES = ("checks", "explain", "streams")
_NAMES = {
    **LEARNERS,
    "evaluate": "quercus.evaluation",
    "repeat": "quercus.evaluation",
    "Run": "quercus.evaluation",
    "Repeats": "quercus.evaluation",
    "load": "quercus.store",
    "ModelFileError": "quercus.store",
}
__all__ = [  # noqa: RUF022 - in the order in which a user meets them
    "ConfidenceTree",
    "HoeffdingTree",
    "load",
    "ModelFileError",
    "evaluate",
    "repeat",
    "Run",
    "Repeats",
    "checks",
    "explain",
    "streams",
    "__version__",
]


def __getattr__(name: str) -> Any:
    if name in _SUBPACKAGES:
        return importlib.import_module(f"quercus.{name}")
    if name in _NAMES:
        value = getattr(importlib.import_module(_NAMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'quercus' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
