"""Arrays on their way to a learner and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def name_columns(X: Any, names: Sequence[str], learner: Any) -> Any:
    """Return an array as a table if a learner of ours is to see its first rows, so that it learns the names.

    Examples
    --------
    >>> from quercus import HoeffdingTree
    >>> name_columns(np.zeros((1, 2)), ["age", "height"], HoeffdingTree()).column_names
    ['age', 'height']
    """
    from quercus.classifier import Classifier

    numbered = list(names) == [f"x{j}" for j in range(len(names))]
    is_new = isinstance(learner, Classifier) and not hasattr(learner, "schema_")
    if numbered or not is_new or not isinstance(X, np.ndarray):
        return X
    import pyarrow as pa

    return pa.table([pa.array(np.ascontiguousarray(column)) for column in X.T], names=list(names))


def clean_probabilities(matrix: NDArray[np.float64]) -> int:
    """Make the rows of a matrix sum to 1, or to 0 where they cannot be probabilities; return how many cannot.

    Examples
    --------
    >>> matrix = np.array([[1.0, 3.0], [np.nan, 1.0], [0.0, 0.0]])
    >>> clean_probabilities(matrix)
    1
    >>> matrix
    array([[0.25, 0.75],
           [0.  , 0.  ],
           [0.  , 0.  ]])
    """
    impossible = ~((matrix >= 0) & (matrix < np.inf)).all(axis=1)
    matrix[impossible] = 0
    totals = matrix.sum(axis=1, keepdims=True)
    np.divide(matrix, totals, out=matrix, where=totals > 0)
    return int(impossible.sum())
