from __future__ import annotations

import datetime
import enum
from collections import OrderedDict
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from quercus.schema import Schema
from quercus.schema.columns import plain
from tests.schema.learning import DATE, FRAME, NAN, learn_one, learned


class Color(enum.StrEnum):
    RED = "red"


CELLS = [
    (1.5, 1.5),
    (3, 3.0),
    (True, 1.0),
    (np.float64(1.5), 1.5),
    (np.float32(0.1), float(np.float32(0.1))),
    (np.longdouble(1.5), 1.5),
    (np.int8(3), 3.0),
    (np.uint64(2**63), 2.0**63),
    (np.bool(True), 1.0),
    (Decimal("1.5"), 1.5),
    (Fraction(1, 4), 0.25),
    (np.array(2.5), 2.5),
    (None, NAN),
    (NAN, NAN),
    (np.float32("nan"), NAN),
    (Decimal("nan"), NAN),
    (pd.NA, NAN),
    (pd.NaT, NAN),
    (np.datetime64("NaT"), NAN),
    ("red", 0.0),
    (np.str_("red"), 0.0),
    (Color.RED, 0.0),
]


@pytest.mark.parametrize(("value", "expected"), CELLS)
def test_one_cell_of_any_type(value, expected):
    nominal = plain(value) == "red"
    first = "red" if nominal else 1.0
    schema = learned([{"a": first, "b": 1.0, "c": 2.0}])
    row = np.empty(3)
    assert schema.read_one({"a": value, "b": 1.0, "c": 2.0}, row, True) is None
    np.testing.assert_array_equal(row, [expected, 1, 2])
    np.testing.assert_array_equal(schema.read([{"a": value}], learn=True).X[0, 0], expected)
    np.testing.assert_array_equal(learn_one(Schema(), {"a": value}), [expected])


BAD_CELLS = [
    (np.inf, ValueError, "column 'a' holds inf; replace it with NaN"),
    (np.float64(-np.inf), ValueError, "column 'a' holds -inf; replace it with NaN"),
    (10**400, ValueError, "column 'a' holds a number beyond the range of floats;"),
    (Decimal("1e999"), ValueError, "column 'a' holds inf; replace it with NaN"),
    (Fraction(10**400), ValueError, "column 'a' holds a number beyond the range of floats;"),
    ("abc", ValueError, "column 'a' is numeric but holds 'abc'; make it a number"),
    (1j, ValueError, "Complex data not supported"),
    (b"abc", TypeError, "column 'a' holds b'abc', a bytes"),
    ([1], TypeError, "column 'a' holds [1], a list"),
    (np.array([1.0]), TypeError, "column 'a' holds array([1.]), a ndarray"),
    (np.timedelta64(3, "s"), TypeError, "a timedelta64"),
    (datetime.timedelta(3), TypeError, "its seconds"),
    (DATE, TypeError, "a date"),
]


@pytest.mark.parametrize(("value", "kind", "message"), BAD_CELLS)
@pytest.mark.parametrize("rest", [{"b": 1.0, "c": 2.0}, {"b": 1.0}])
def test_one_bad_cell(value, kind, message, rest):
    schema = learned([{"a": 1.0, "b": 1.0, "c": 2.0}])
    state = schema.to_dict()
    for x in ({"a": value} | rest, rest | {"a": value}):
        with pytest.raises(kind) as error:
            schema.read_one(x, np.empty(3), True)
        assert message in str(error.value)
    assert schema.to_dict() == state


def test_numbers_that_cancel_out_are_still_too_large():
    schema = learned([{"a": 1, "b": 1}])
    for pair in ({"a": 10**400, "b": -(10**400)}, {"a": np.inf, "b": -np.inf}):
        with pytest.raises(ValueError, match="column 'a' holds"):
            schema.read_one(pair, np.empty(2), True)


def test_one_example_with_unknown_keys():
    schema = learned(FRAME)
    for x in ({"a": 1.0, "b": 1.0, "d": 1.0}, {"a": 1.0, "b": 1.0, "c": 1.0, "d": None}, {"d": 1}):
        with pytest.raises(
            ValueError, match=r"unknown feature 'd'; the features are 'a', 'b', 'c'\. .*features=\"open\""
        ):
            schema.read_one(x, np.empty(3), True)


def test_one_example_is_a_mapping():
    schema = learned(FRAME)
    assert learn_one(schema, OrderedDict(c=1, a=2, b=3)).tolist() == [2, 3, 1]
    for x in ([1, 2, 3], None, "abc", np.zeros(3), [("a", 1)]):
        with pytest.raises(TypeError, match="an example is a dict"):
            schema.read_one(x, np.empty(3), True)
    np.testing.assert_array_equal(learn_one(schema, {}), [NAN] * 3)
    with pytest.raises(ValueError, match="the first example is an empty dict"):
        Schema().read_one({}, np.empty(0), True)
