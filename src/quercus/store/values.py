"""Plain Python values as JSON and back, with their exact types.

JSON objects stand for dicts with string keys. Everything JSON has no word for is an object with one key that starts
with ``$``: ``{"$tuple": [1, 2]}``, ``{"$float": "nan"}``. Reading builds only the values listed here, never an object
by its name.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from quercus.store.errors import ModelFileError

LARGEST_ARRAY = 2**20  # bytes; larger arrays belong among the tensors
DEEPEST = 50
_JSON_INT = 2**63
_NUMBERS = "biuf"


def encode(value: Any, where: str) -> Any:
    """Return ``value`` in the form that :func:`json.dumps` takes.

    Parameters
    ----------
    value
        None, bool, int, float, str, list, tuple, set, frozenset, range, dict, numpy scalar or small numpy array.
    where
        What to call the value in an error, such as ``"parameter 'loss'"``.

    Examples
    --------
    >>> encode({0: {1: 5.0}}, "parameter 'loss'")
    {'$dict': [[0, {'$dict': [[1, 5.0]]}]]}
    >>> encode(print, "parameter 'score'")
    Traceback (most recent call last):
        ...
    TypeError: parameter 'score' holds a builtin_function_or_method, which a model file cannot keep; pickle can keep it.
    """
    return _encode(value, where, 0)


def _encode(value: Any, where: str, depth: int) -> Any:
    if depth > DEEPEST:
        raise TypeError(f"{where} is nested deeper than {DEEPEST}, or holds itself; make it flat.")
    kind = type(value)
    if value is None or kind is bool or kind is str:
        return value
    if kind is int:
        return value if -_JSON_INT <= value < _JSON_INT else {"$int": hex(value)}
    if kind is float:
        return value if math.isfinite(value) else {"$float": repr(value)}
    if kind is list:
        return [_encode(item, where, depth + 1) for item in value]
    if kind in (tuple, set, frozenset):
        return {f"${kind.__name__}": [_encode(item, where, depth + 1) for item in value]}
    if kind is range:
        return {"$range": [_encode(part, where, depth + 1) for part in (value.start, value.stop, value.step)]}
    if kind is dict:
        return _encode_dict(value, where, depth)
    if isinstance(value, np.generic) or kind is np.ndarray:
        return _encode_numpy(value, where)
    raise TypeError(f"{where} holds a {kind.__name__}, which a model file cannot keep; pickle can keep it.")


def _encode_dict(value: dict[Any, Any], where: str, depth: int) -> dict[str, Any]:
    if all(type(key) is str and not key.startswith("$") for key in value):
        return {key: _encode(item, where, depth + 1) for key, item in value.items()}
    pairs = [[_encode(key, where, depth + 1), _encode(item, where, depth + 1)] for key, item in value.items()]
    return {"$dict": pairs}


def _encode_numpy(value: Any, where: str) -> dict[str, Any]:
    array = np.asarray(value)
    if array.nbytes > LARGEST_ARRAY:
        raise TypeError(
            f"{where} holds an array of {array.nbytes} bytes, more than the {LARGEST_ARRAY} a header takes."
        )
    tag = "$array" if isinstance(value, np.ndarray) else "$scalar"
    if array.dtype.kind == "U":
        width = array.dtype.itemsize // 4
        return {tag: [f"<U{width}", list(array.shape), array.ravel().tolist()]}
    if array.dtype.kind not in _NUMBERS or array.dtype.itemsize > 8:
        raise TypeError(
            f"{where} holds numpy {array.dtype} values, which a model file cannot keep; pickle can keep it."
        )
    little = array.astype(array.dtype.newbyteorder("<"))
    return {tag: [little.dtype.str, list(array.shape), little.tobytes().hex()]}


def decode(value: Any) -> Any:
    """Return what :func:`encode` was given.

    Examples
    --------
    >>> decode({"$tuple": [1, {"$float": "-inf"}]})
    (1, -inf)
    """
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    tags = [key for key in value if key.startswith("$")]
    if not tags:
        return {key: decode(item) for key, item in value.items()}
    if len(value) != 1:
        raise ModelFileError(f"its header mixes {tags[0]!r} with other entries.")
    return _decode_tagged(tags[0], value[tags[0]])


def _decode_tagged(tag: str, value: Any) -> Any:
    if tag == "$int":
        return int(value, 16)
    if tag == "$float":
        return float(value)
    if tag == "$dict":
        return {decode(key): decode(item) for key, item in value}
    if tag == "$tuple":
        return tuple(decode(item) for item in value)
    if tag == "$set":
        return {decode(item) for item in value}
    if tag == "$frozenset":
        return frozenset(decode(item) for item in value)
    if tag == "$range":
        return range(*decode(value))
    if tag in ("$array", "$scalar"):
        array = _decode_numpy(*value)
        return array if tag == "$array" else array[()]
    raise ModelFileError(f"its header holds a value of kind {tag!r}, unknown to this quercus.")


def _decode_numpy(dtype_text: str, shape: list[int], content: Any) -> np.ndarray[Any, Any]:
    dtype = np.dtype(dtype_text)
    if dtype.kind == "U":
        # A hostile width must not decide how much memory is taken.
        if len(content) * dtype.itemsize > LARGEST_ARRAY:
            raise ModelFileError("its header holds an array that is too large for a header.")
        return np.array(content, dtype=dtype.newbyteorder("=")).reshape(shape)
    if dtype.kind not in _NUMBERS:
        raise ModelFileError(f"its header holds an array of {dtype_text!r}.")
    return np.frombuffer(bytes.fromhex(content), dtype=dtype).astype(dtype.newbyteorder("=")).reshape(shape)
