"""Streams of rows and labels: generators, files, named data sets and what is already in memory.

The public names are loaded on first use; importing this imports none of numba, scikit-learn, pandas and pyarrow.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quercus.streams.arff import ARFF
    from quercus.streams.base import Stream
    from quercus.streams.coerce import as_stream
    from quercus.streams.generators import (
        LED,
        SEA,
        GaussianPair,
        Generator,
        Hyperplane,
        Multiplexer,
        NaiveBayes,
        Noise,
        RandomTree,
        Stagger,
    )
    from quercus.streams.memory import MemoryStream
    from quercus.streams.named import Available, available, load
    from quercus.streams.readers import CSV, Parquet, read

_NAMES = {
    "load": "named",
    "available": "named",
    "Available": "named",
    "as_stream": "coerce",
    "read": "readers",
    "CSV": "readers",
    "Parquet": "readers",
    "ARFF": "arff",
    "Stream": "base",
    "MemoryStream": "memory",
    "Generator": "generators",
    "RandomTree": "generators",
    "SEA": "generators",
    "Hyperplane": "generators",
    "LED": "generators",
    "Stagger": "generators",
    "GaussianPair": "generators",
    "Multiplexer": "generators",
    "NaiveBayes": "generators",
    "Noise": "generators",
}
__all__ = [  # noqa: RUF022 - in the order in which a user meets them
    "load",
    "available",
    "Available",
    "as_stream",
    "read",
    "CSV",
    "Parquet",
    "ARFF",
    "Stream",
    "MemoryStream",
    "Generator",
    "RandomTree",
    "SEA",
    "Hyperplane",
    "LED",
    "Stagger",
    "GaussianPair",
    "Multiplexer",
    "NaiveBayes",
    "Noise",
]


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        value = getattr(importlib.import_module(f"quercus.streams.{_NAMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'quercus.streams' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
