"""Model files that no learner would write, with a right checksum: mutations of files that learners wrote.

A mutation follows from the file and a number, so that each can be made again.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from quercus.store import Model, write_model

Array = np.ndarray[Any, Any]
Draw = np.random.Generator
_ODD_VALUES: list[Any] = [None, True, False, 0, -1, 1, 2, 2**31, 2**63, 2**70, 0.5, -0.5, 1e308, math.nan, math.inf]
_ODD_VALUES += ["", "x", "x0", [], {}, (), [""], [0], {"": 0}, {"a": {"b": 1.0}}, [[]], "quercus"]
_ODD_FLOATS = [math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, 0.0, -0.0, -1.0, 1e18, 2.0**53, 0.5, 1.0, 1e-300]


def mutated(name: str, models: Sequence[Model], number: int) -> tuple[Model, list[str]]:
    """Return a mutation of the first of some models, and in words what was done to it.

    Parameters
    ----------
    name
        Of the file; with the number it tells which mutation.
    models
        The model, and others whose parts may be put into it.
    number
        Any.
    """
    draw = np.random.default_rng([crc32(name.encode()), number])
    model = copy.deepcopy(models[0])
    result: list[str] = []
    steps = 1 if draw.random() < 0.7 else int(draw.integers(2, 5))
    while len(result) < steps:
        change = _pick(draw, _CHANGES, _WEIGHTS)
        model, words = change(model, models[1:], draw)
        if words:
            result.append(words)
    return model, result


def write(model: Model, path: Path) -> None:
    """Write a model as a learner would."""
    write_model(
        path,
        learner=model.learner,
        parameters=model.parameters,
        schema=model.schema,
        arrays=model.arrays,
        extra=model.extra,
    )


def _pick(draw: Draw, choices: Sequence[Any], weights: Sequence[float] | None = None) -> Any:
    shares = None if weights is None else np.array(weights) / sum(weights)
    return choices[int(draw.choice(len(choices), p=shares))]


def _pick_column(model: Model, draw: Draw) -> tuple[str, str | None]:
    """Return the name of an array that is not empty, and of one of its fields if it is of records."""
    name = _pick(draw, [name for name, array in model.arrays.items() if array.size])
    fields = model.arrays[name].dtype.names
    return name, None if fields is None else _pick(draw, fields)


def _change_values(model: Model, _others: Sequence[Model], draw: Draw) -> tuple[Model, str]:
    """Change some numbers of an array, or of one field of its records."""
    name, field = _pick_column(model, draw)
    array = model.arrays[name].copy()
    part = array if field is None else array[field]
    flat = part.reshape(-1).copy()
    words = _pick(draw, _ON_VALUES)(flat, _sizes(model), draw)
    part[...] = flat.reshape(part.shape)
    where = name if field is None else f"{name}/{field}"
    return replace(model, arrays=model.arrays | {name: array}), f"{where}: {words}"


def _sizes(model: Model) -> list[int]:
    return sorted({size for array in model.arrays.values() for size in array.shape})


def _odd_number(value: Any, dtype: np.dtype[Any], flat: Array, sizes: list[int], draw: Draw) -> Any:
    """Return a number that may be wrong in the place of another one."""
    if dtype.kind == "b":
        return not value
    near = [value + value, _pick(draw, flat)]
    if dtype.kind == "f":
        with np.errstate(all="ignore"):
            near += [value + 1, value - 1, -value, np.nextafter(value, np.inf), value * 1e9]
        return _pick(draw, [*_ODD_FLOATS, *near])
    value, limits, size = int(value), np.iinfo(dtype), _pick(draw, sizes)
    odd = [value - 1, value + 1, -value, 0, 1, -1, -2, 2, 3, limits.min, limits.max, limits.max - 1, size, size - 1]
    odd += [size + 1, int(near[1]), int(draw.integers(0, 2 * size + 2)), int(draw.integers(2**63))]
    return (_pick(draw, odd) - limits.min) % 2 ** (8 * dtype.itemsize) + limits.min


def _change_some(flat: Array, sizes: list[int], draw: Draw) -> str:
    count = min(int(_pick(draw, [1, 1, 1, 2, 5])), flat.size)
    result = []
    for place in draw.choice(flat.size, count, replace=False):
        old = flat[place].item()
        flat[place] = _odd_number(flat[place], flat.dtype, flat, sizes, draw)
        result.append(f"[{place}] {old!r} -> {flat[place].item()!r}")
    return ", ".join(result)


def _change_all(flat: Array, sizes: list[int], draw: Draw) -> str:
    flat[:] = _odd_number(_pick(draw, flat), flat.dtype, flat, sizes, draw)
    return f"all {flat[0].item()!r}"


def _swap_two(flat: Array, _sizes: list[int], draw: Draw) -> str:
    one, other = draw.integers(0, flat.size, 2)
    flat[[one, other]] = flat[[other, one]]
    return f"[{one}] and [{other}] exchanged"


def _reorder(flat: Array, _sizes: list[int], draw: Draw) -> str:
    words = _pick(draw, ["permuted", "reversed", "rolled", "sorted", "drawn"])
    new = {
        "permuted": lambda: draw.permutation(flat),
        "reversed": lambda: flat[::-1],
        "rolled": lambda: np.roll(flat, int(_pick(draw, [1, -1]))),
        "sorted": lambda: np.sort(flat),
        "drawn": lambda: draw.choice(flat, flat.size),
    }[words]()
    flat[:] = new.copy()
    return str(words)


def _copy_run(flat: Array, _sizes: list[int], draw: Draw) -> str:
    length = int(draw.integers(1, flat.size + 1))
    one, other = draw.integers(0, flat.size - length + 1, 2)
    flat[other : other + length] = flat[one : one + length].copy()
    return f"{length} from [{one}] copied to [{other}]"


_ON_VALUES: list[Callable[[Array, list[int], Draw], str]] = [
    *[_change_some] * 6,
    _change_all,
    _swap_two,
    _reorder,
    _copy_run,
]


def _change_shape(model: Model, _others: Sequence[Model], draw: Draw) -> tuple[Model, str]:
    """Give an array another shape or type."""
    name = _pick(draw, list(model.arrays))
    array, odd = model.arrays[name], draw.random()
    if odd < 0.1:
        return replace(model, arrays={other: model.arrays[other] for other in model.arrays if other != name}), (
            f"{name}: left out"
        )
    if odd < 0.25 and array.dtype.names is None:
        dtype = _pick(draw, ["f8", "f4", "i8", "i4", "u1", "u4", "?"])
        with np.errstate(all="ignore"):
            new = array.astype(dtype)
    elif odd < 0.4:
        new = _pick(draw, [array.reshape(-1), array.T.copy(), array[None], array.reshape(-1)[:1]])
    else:
        axis = int(draw.integers(0, max(array.ndim, 1)))
        size = array.shape[axis] if array.ndim else 1
        new = _resized(np.atleast_1d(array), axis, int(_pick(draw, [0, 1, size - 1, size + 1, 2 * size, 3])))
    return replace(model, arrays=model.arrays | {name: new}), f"{name}: {new.dtype.kind}{new.shape}"


def _resized(array: Array, axis: int, size: int) -> Array:
    """Cut an array, or put copies of its last entries or zeros behind them."""
    old = array.shape[axis]
    if size <= old or old == 0:
        shape = (*array.shape[:axis], max(size, 0), *array.shape[axis + 1 :])
        return array.take(np.arange(max(size, 0)), axis) if size <= old else np.zeros(shape, array.dtype)
    return array.take(np.minimum(np.arange(size), old - 1), axis)


def _change_size(model: Model, _others: Sequence[Model], draw: Draw) -> tuple[Model, str]:
    """Resize all arrays that are of the same size, and perhaps everything that tells this size."""
    size = _pick(draw, [size for size in _sizes(model) if size])
    new = int(_pick(draw, [size - 1, size + 1, 0, 1, 2 * size]))
    arrays, counted = dict(model.arrays), draw.random() < 0.5
    for name, array in model.arrays.items():
        for axis in range(array.ndim):
            if array.shape[axis] == size:
                arrays[name] = _resized(arrays[name], axis, new)
        if counted and array.dtype.names is not None and array.size == 1:
            arrays[name] = arrays[name].copy()
            for field in array.dtype.names:
                if array.dtype[field].kind in "iu" and array.dtype[field].shape == () and array[field][0] == size:
                    arrays[name][field] = new
    extra = _with_number(model.extra, size, new) if counted else model.extra
    return replace(model, arrays=arrays, extra=extra), f"size {size} -> {new}{', and what counts it' * counted}"


def _with_number(value: Any, old: int, new: int) -> Any:
    if isinstance(value, dict):
        return {key: _with_number(item, old, new) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_with_number(item, old, new) for item in value)
    return new if value == old and not isinstance(value, bool) else value


def _change_header(model: Model, _others: Sequence[Model], draw: Draw) -> tuple[Model, str]:
    """Change one thing in the parameters, the schema or what else the header holds."""
    part = _pick(draw, ["parameters", "schema", "extra"], [2, 2, 1])
    result: list[str] = [part]
    if not getattr(model, part):
        return replace(model, **{part: {"x": _pick(draw, _ODD_VALUES)}}), f"{part} 'x'"
    return replace(model, **{part: _odd_value(getattr(model, part), draw, result, 0)}), " ".join(result)


def _odd_value(value: Any, draw: Draw, result: list[str], depth: int) -> Any:
    if isinstance(value, dict | list | tuple) and value and (depth == 0 or draw.random() < 0.7):
        if isinstance(value, dict):
            key = _pick(draw, list(value))
            result.append(f"{key!r}")
            if draw.random() < 0.1:
                result.append("left out")
                return {name: item for name, item in value.items() if name != key}
            return value | {key: _odd_value(value[key], draw, result, depth + 1)}
        place = int(draw.integers(len(value)))
        result.append(f"[{place}]")
        items, odd = list(value), draw.random()
        if odd < 0.15:
            result.append("left out")
            del items[place]
        elif odd < 0.3:
            result.append("twice")
            items.insert(place, items[place])
        elif odd < 0.4:
            result.append("exchanged")
            items[place], items[-1] = items[-1], items[place]
        else:
            items[place] = _odd_value(items[place], draw, result, depth + 1)
        return type(value)(items)
    new = _pick(draw, _ODD_VALUES)
    if isinstance(value, int | float) and not isinstance(value, bool) and draw.random() < 0.7:
        new = _pick(draw, [value + 1, value - 1, -value, 2 * value, value * 10**6, value / 2, float(value), 0, 1, 2, 3])
    elif isinstance(value, bool) and draw.random() < 0.7:
        new = not value
    result.append(f"{value!r} -> {new!r}"[:200])
    return new


def _transplant(model: Model, others: Sequence[Model], draw: Draw) -> tuple[Model, str]:
    """Take a part of another file."""
    if not others:
        return model, ""
    other = _pick(draw, others)
    part = _pick(draw, ["parameters", "schema", "extra", "arrays"])
    mine, theirs = getattr(model, part), getattr(other, part)
    names = [name for name in theirs if name in mine and (part == "arrays" or theirs[name] != mine[name])]
    if draw.random() < 0.2 or not names:
        return replace(model, **{part: copy.deepcopy(theirs)}), f"{part} of another file"
    name = _pick(draw, names)
    return replace(model, **{part: mine | {name: copy.deepcopy(theirs[name])}}), f"{part} {name!r} of another file"


_CHANGES = [_change_values, _change_shape, _change_size, _change_header, _transplant]
_WEIGHTS = [12, 2, 1, 4, 1]
