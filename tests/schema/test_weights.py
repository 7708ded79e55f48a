from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from quercus.schema import read_weights
from tests.schema.learning import NAN


def test_weights():
    assert read_weights(None, 3).tolist() == [1, 1, 1]
    assert read_weights(2, 3).tolist() == [2, 2, 2]
    assert read_weights(np.float32(0.5), 2).tolist() == [0.5, 0.5]
    for weights in (
        [1, 0, 2.5],
        np.array([1, 0, 2.5], "f4"),
        pd.Series([1, 0, 2.5]),
        pl.Series([1.0, 0.0, 2.5]),
        (True, False, 2.5),
    ):
        out = read_weights(weights, 3)
        assert out.tolist() == [1, 0, 2.5]
        assert out.dtype == np.float64


@pytest.mark.parametrize(
    ("weights", "kind", "message"),
    [
        ([1, -1, 1], ValueError, "sample_weight holds -1.0 in row 1"),
        ([1, 1, NAN], ValueError, "sample_weight holds nan in row 2"),
        ([1, 1, None], ValueError, "sample_weight holds nan in row 2"),
        (np.array([np.inf, 1, 1]), ValueError, "sample_weight holds inf in row 0"),
        (-1, ValueError, "sample_weight holds -1.0 in row 0"),
        ([1, 1], ValueError, r"inconsistent numbers of samples: \[3, 2\]"),
        (np.ones((3, 2)), ValueError, r"sample_weight should be a 1d array, got an array of shape \(3, 2\)"),
        (["a", 1, 1], TypeError, "sample_weight holds 'a'"),
        ({"a": 1}, ValueError, "sample_weight should be a 1d array"),
        ("a", TypeError, "sample_weight holds 'a'"),
        ([[1], 1, 1], TypeError, r"sample_weight holds \[1\] in row 0"),
        (np.ones(3, complex), ValueError, "Complex data not supported"),
    ],
)
def test_bad_weights(weights, kind, message):
    with pytest.raises(kind, match=message):
        read_weights(weights, 3)
