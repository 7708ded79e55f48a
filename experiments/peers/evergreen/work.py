"""What several tables share."""

from __future__ import annotations

from typing import Any

import numpy as np


def mean_error(values: Any) -> str:
    """Return the mean in points with its standard error over runs."""
    values = 100 * np.asarray(values, np.float64)
    error = f" ({values.std(ddof=1) / np.sqrt(len(values)):.2f})" if len(values) > 1 else ""
    return f"{values.mean():+.2f}{error}"
