"""Header values come back as they were, type and all."""

from __future__ import annotations

import enum
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quercus.store import ModelFileError
from quercus.store.values import DEEPEST, LARGEST_ARRAY, decode, encode


def there_and_back(value):
    text = json.dumps(encode(value, "parameter 'p'"), allow_nan=False)
    return decode(json.loads(text))


def same(a, b) -> bool:
    """Equal in type and value, all the way down; NaN equals NaN, 0.0 does not equal -0.0."""
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))
    if isinstance(a, dict):
        return len(a) == len(b) and all(
            same(ka, kb) and same(va, vb) for (ka, va), (kb, vb) in zip(a.items(), b.items(), strict=True)
        )
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    return a == b


plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters())
keys = plain | st.tuples(plain, plain)
values = st.recursive(
    plain,
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(keys, inner),
    max_leaves=20,
)


@settings(max_examples=300, deadline=None)
@given(values)
def test_plain_values_come_back_exactly(value):
    assert same(there_and_back(value), value)


@pytest.mark.parametrize(
    "value",
    [
        math.inf,
        -math.inf,
        math.nan,
        -0.0,
        5e-324,
        2**63,
        -(2**63) - 1,
        10**5000,
        "\ud800",
        "$tuple",
        {"$tuple": [1]},
        {"$": 1, "a": 2},
        {0: {1: 5.0}, 1: {0: 1.0}},
        {True: 1, 2: 3, 2.5: 4, ("a", 1): 5, None: 6},
        {"b": 1, "a": 2},
        (),
        [[], ({},)],
        {1, 2, 3},
        frozenset({"a", (1, 2)}),
        range(3, 9, 2),
        np.float64(0.1),
        np.float32(0.1),
        np.float64("nan").item(),
        np.int8(-3),
        np.uint64(2**64 - 1),
        np.bool_(True),
        np.str_("oak"),
        np.str_(""),
        np.array([1.5, np.nan, np.inf]),
        np.array([[1, 2], [3, 4]], dtype=np.int16),
        np.array(3.0),
        np.zeros((0, 3), dtype=np.uint8),
        np.array(["ash", "beech"]),
        np.zeros(0, dtype="U4"),
        np.array([True, False]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_odd_values_come_back_exactly(value):
    assert same(there_and_back(value), value)


def test_big_endian_arrays_come_back_with_their_values():
    back = there_and_back(np.array([1.0, 2.0], dtype=">f8"))
    assert back.tolist() == [1.0, 2.0]
    assert back.dtype.isnative


class Colour(enum.IntEnum):
    RED = 1


class Text(str):
    __slots__ = ()


@pytest.mark.parametrize(
    "value",
    [
        print,
        object(),
        b"bytes",
        1j,
        Colour.RED,
        Text("a"),
        np.datetime64("2020-01-01"),
        np.array([object()]),
        np.zeros(2, dtype=[("a", "i4")]),
        np.longdouble(1) if np.dtype(np.longdouble).itemsize > 8 else 1j,
        [1, {2: print}],
    ],
    ids=lambda value: type(value).__name__,
)
def test_other_values_are_refused_by_the_parameter_s_name(value):
    with pytest.raises(TypeError, match=r"parameter 'p' .*pickle can keep it"):
        encode(value, "parameter 'p'")


def test_a_list_that_holds_itself_is_refused():
    loop: list = []
    loop.append(loop)
    with pytest.raises(TypeError, match=f"deeper than {DEEPEST}"):
        encode(loop, "parameter 'p'")


def test_an_array_too_large_for_a_header_is_refused():
    with pytest.raises(TypeError, match="parameter 'p' holds an array of"):
        encode(np.zeros(LARGEST_ARRAY, dtype=np.int16), "parameter 'p'")


@pytest.mark.parametrize(
    "value",
    [
        {"$module": "os"},
        {"$tuple": [], "$set": []},
        {"$tuple": [], "a": 1},
        {"$array": ["<U1000000", [3], ["a", "b", "c"]]},
        {"$array": ["|O", [1], "00" * 8]},
        {"$array": ["<M8[s]", [1], "00" * 8]},
    ],
    ids=lambda value: type(value).__name__,
)
def test_hostile_values_are_refused(value):
    with pytest.raises(ModelFileError):
        decode(value)
