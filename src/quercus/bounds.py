"""A former name of `quercus.statistics`, for one more release."""

import warnings
from functools import cache
from typing import Any


def __getattr__(name: str) -> Any:
    from quercus.statistics import credible

    value = getattr(credible, name)
    _warn()
    return value


@cache
def _warn() -> None:
    message = "quercus.bounds is now called quercus.statistics."
    warnings.warn(message, DeprecationWarning, stacklevel=3)
