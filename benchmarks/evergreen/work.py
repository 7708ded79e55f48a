"""What the tables of these benchmarks share."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.evergreen.contenders import Contender
from benchmarks.tables import problem


def mean_error(values: Any) -> str:
    """Return the mean in points with its standard error over runs."""
    values = 100 * np.asarray(values, np.float64)
    error = f" ({values.std(ddof=1) / np.sqrt(len(values)):.2f})" if len(values) > 1 else ""
    return f"{values.mean():+.2f}{error}"


def reason(contender: Contender) -> str | None:
    """Return why a contender is not there, None if it is."""
    return None if contender.problem is None else problem(contender.problem)
