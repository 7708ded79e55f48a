"""Arrays as safetensors and back.

A plain array is one tensor of its name. A record array is one tensor per field, ``nodes/feature``, and its layout goes
into the header. Everything is made C-contiguous and little-endian first: safetensors writes other memory as it lies.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from quercus.store.errors import ModelFileError

Array = np.ndarray[Any, Any]

# Names of the safetensors format for the dtypes that a model may hold.
DTYPES = {
    "BOOL": "|b1",
    "I8": "|i1",
    "U8": "|u1",
    "I16": "<i2",
    "U16": "<u2",
    "I32": "<i4",
    "U32": "<u4",
    "I64": "<i8",
    "U64": "<u8",
    "F16": "<f2",
    "F32": "<f4",
    "F64": "<f8",
}
_CODES = {dtype: code for code, dtype in DTYPES.items()}


def split_arrays(arrays: Mapping[str, Array]) -> tuple[dict[str, Array], dict[str, Any]]:
    """Return the tensors to write, and for the header the layout of each array.

    Parameters
    ----------
    arrays
        Plain and record arrays by name.

    Examples
    --------
    >>> nodes = np.zeros(2, dtype=[("feature", "i4"), ("gain", "f8")])
    >>> tensors, layout = split_arrays({"nodes": nodes})
    >>> sorted(tensors), layout
    (['nodes/feature', 'nodes/gain'],
     {'nodes': {'fields': [['feature', '<i4', []], ['gain', '<f8', []]], 'align': False}})
    """
    tensors: dict[str, Array] = {}
    layout: dict[str, Any] = {}
    for name, given in arrays.items():
        array = _checked(name, given)
        parts = {name: array}
        layout[name] = None
        if array.dtype.names is not None:
            layout[name] = _describe(name, array.dtype)
            parts = {f"{name}/{field}": array[field] for field in array.dtype.names}
        for part, values in parts.items():
            if part in tensors:
                raise ValueError(f"two arrays would both be stored as {part!r}; rename one of them.")
            tensors[part] = _portable(part, values)
    return tensors, layout


def join_arrays(tensors: dict[str, Array], layout: Mapping[str, Any]) -> dict[str, Array]:
    """Put the arrays of :func:`split_arrays` together again; empties ``tensors``.

    Examples
    --------
    >>> counts = np.arange(3)
    >>> join_arrays(*split_arrays({"counts": counts}))["counts"]
    array([0, 1, 2])
    """
    arrays = {}
    for name, record in layout.items():
        if record is None:
            arrays[name] = _taken(tensors, name)
            continue
        fields = [(field, text, tuple(shape)) for field, text, shape in record["fields"]]
        values = {field: _taken(tensors, f"{name}/{field}") for field, _, _ in fields}
        arrays[name] = _records(name, np.dtype(fields, align=bool(record["align"])), values)
    if tensors:
        raise ModelFileError(f"it holds the array {sorted(tensors)[0]!r}, of which its header knows nothing.")
    return arrays


def adapt_records(name: str, array: Array, dtype: np.dtype[Any]) -> Array:
    """Return the records in today's layout: fields that an older file lacks are zero, unknown ones are refused.

    Parameters
    ----------
    name
        What to call the array in an error.
    array
        Records as they were in the file.
    dtype
        The layout wanted.

    Examples
    --------
    >>> old = np.array([(3,)], dtype=[("feature", "i4")])
    >>> adapt_records("nodes", old, np.dtype([("feature", "i4"), ("gain", "f8")]))
    array([(3, 0.)], dtype=[('feature', '<i4'), ('gain', '<f8')])
    """
    have, want = array.dtype.names, dtype.names
    if have is None or want is None:
        raise ModelFileError(f"its array {name!r} holds {array.dtype}, not {dtype}.")
    unknown = [field for field in have if field not in want]
    if unknown:
        raise ModelFileError(f"its array {name!r} has the field {unknown[0]!r} of a newer quercus; upgrade quercus.")
    result = np.zeros(array.shape, dtype=dtype)
    for field in have:
        if array.dtype[field] != dtype[field]:
            raise ModelFileError(f"its field '{name}/{field}' holds {array.dtype[field]}, not {dtype[field]}.")
        result[field] = array[field]
    return result


def digest(header: bytes, tensors: Mapping[str, Array]) -> str:
    """Return the sha256 of a header and of all tensors with their names, types and shapes.

    Examples
    --------
    >>> digest(b"", {})[:12]
    'e3b0c44298fc'
    """
    total = hashlib.sha256(header)
    for name in sorted(tensors):
        values = tensors[name].astype(tensors[name].dtype.newbyteorder("<"), copy=False)
        total.update(repr((name, values.dtype.str, values.shape)).encode("utf-8", "surrogatepass"))
        total.update(values.reshape(-1).view(np.uint8).data)
    return total.hexdigest()


def read_tensor(name: str, stored: Mapping[str, Any]) -> Array:
    """Return one tensor of ``safetensors.deserialize`` as a writable array in the machine's byte order.

    Examples
    --------
    >>> read_tensor("counts", {"dtype": "U16", "shape": [1], "data": bytes([1, 2])})
    array([513], dtype=uint16)
    """
    text = DTYPES.get(stored["dtype"])
    if text is None:
        raise ModelFileError(f"its array {name!r} holds {stored['dtype']} values, which no model has.")
    dtype = np.dtype(text)
    if dtype.kind == "b" and np.any(np.frombuffer(stored["data"], dtype=np.uint8) > 1):
        raise ModelFileError(f"its array {name!r} holds truth values other than 0 and 1.")
    values = np.frombuffer(stored["data"], dtype=dtype).reshape(stored["shape"])
    return values.astype(dtype.newbyteorder("="))


def _checked(name: str, given: Any) -> Array:
    if isinstance(given, np.ma.MaskedArray):
        raise TypeError(f"array {name!r} is masked, and a model file keeps no masks; store the mask as a second array.")
    if not isinstance(given, np.ndarray):
        raise TypeError(f"array {name!r} is a {type(given).__name__}; give a numpy array.")
    return np.asarray(given)


def _describe(name: str, dtype: np.dtype[Any]) -> dict[str, Any]:
    fields = []
    for field in dtype.names or ():
        base, shape = dtype[field].base, dtype[field].shape
        fields.append([field, _code(f"{name}/{field}", base), list(shape)])
    return {"fields": fields, "align": dtype.isalignedstruct}


def _code(name: str, dtype: np.dtype[Any]) -> str:
    text = str(dtype.newbyteorder("<").str)
    if text not in _CODES:
        raise TypeError(f"array {name!r} holds {dtype} values; a model file keeps booleans, integers and floats.")
    return text


def _portable(name: str, values: Array) -> Array:
    return values.astype(_code(name, values.dtype), order="C", copy=False)


def _taken(tensors: dict[str, Array], name: str) -> Array:
    if name not in tensors:
        raise ModelFileError(f"its array {name!r} is missing.")
    return tensors.pop(name)


def _records(name: str, dtype: np.dtype[Any], values: dict[str, Array]) -> Array:
    shapes = set()
    for field, part in values.items():
        inner = dtype[field].shape
        outer = part.shape[: part.ndim - len(inner)]
        if part.shape != outer + inner or part.dtype != dtype[field].base:
            raise ModelFileError(f"its array '{name}/{field}' does not have the type that its header says.")
        shapes.add(outer)
    if len(shapes) != 1:
        raise ModelFileError(f"the fields of its array {name!r} have different lengths.")
    # Padding is zero, so that equal records are equal bytes.
    result = np.zeros(shapes.pop(), dtype=dtype)
    for field, part in values.items():
        result[field] = part
    return result
