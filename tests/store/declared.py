"""Damage that declarations of states forbid, made to any model file, with a right checksum."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from quercus.state import Field, Index, Real, State, Whole
from quercus.store import Model

Array = np.ndarray[Any, Any]
_NO_SIZES = (-1, True, 0.5, "x", None, 2**29)


class Declared(NamedTuple):
    """An array of a file: its name there, how it is declared, and of which state it is."""

    file: str
    name: str
    field: Field
    state: State


class Damage(NamedTuple):
    """What was done to a file. Of states of one class, which are all read in one way, ``what`` is the same."""

    what: str
    how: str
    model: Model


def find_states(value: Any, seen: set[int] | None = None) -> Iterator[State]:
    """Yield the states inside of anything, not those that are parts of others."""
    seen = set() if seen is None else seen
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, State):
        yield value
    elif isinstance(value, list | tuple | dict):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from find_states(inner, seen)
    elif type(value).__module__.startswith("quercus.") and not isinstance(value, type):
        yield from find_states(getattr(value, "__dict__", {}), seen)


def find_declared(learner: Any, file: Model) -> dict[str, Declared]:
    """Return how the arrays of a file that was just loaded are declared; those that no state declares are left out."""
    found: dict[str, Declared] = {}
    for state in find_states(vars(learner)):
        inside, arrays = list(_arrays_of(state)), state.to_arrays()
        first = inside[0][0]
        for prefix in [name.removesuffix(first) for name in file.arrays if name.endswith(first)]:
            if all(_is_same(file.arrays.get(prefix + name), arrays[name]) for name, _, _ in inside):
                for name, own, owner in inside:
                    found.setdefault(prefix + name, Declared(prefix + name, own, owner.fields[own], owner))
    return found


def _arrays_of(state: State, prefix: str = "") -> Iterator[tuple[str, str, State]]:
    """Yield the arrays that a state saves, those of its parts included: their names in it, their own, and whose."""
    yield from ((f"{prefix}{name}", name, state) for name, field in state.fields.items() if field.saved)
    for name, part in state._held.parts.items():
        yield from _arrays_of(part, f"{prefix}{name}/")


def _is_same(one: Array | None, other: Array) -> bool:
    return (
        one is not None and one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    )


def find_damages(file: Model, declared: Mapping[str, Declared]) -> Iterator[Damage]:
    """Yield what no learner may load: arrays of other forms or values than are declared, sizes that are none."""
    for name, array in file.arrays.items():
        others = {other: held for other, held in file.arrays.items() if other != name}
        one = declared.get(name)
        what = name if one is None else f"{type(one.state).__name__}.{one.name}"
        yield Damage(what, "missing", replace(file, arrays=others))
        for how, changed in [*_of_form(array), *_of_dimensions(one, array), *_of_values(one, array)]:
            yield Damage(what, how, replace(file, arrays=others | {name: changed}))
    for place, sizes in _find_sizes(file.extra):
        for dim in sizes:
            for size in _NO_SIZES:
                extra = _changed(file.extra, [*place, "sizes", dim], size)
                yield Damage(f"size {re.sub(r'[0-9]+', '#', dim)}", repr(size), replace(file, extra=extra))


def _of_form(array: Array) -> Iterator[tuple[str, Array]]:
    yield "of one more dimension", array[None].copy()
    names = array.dtype.names
    if names is None:
        with np.errstate(over="ignore"):
            yield "of another type", array.astype(_other_type(array.dtype))
        return
    types = [(name, _other_type(array.dtype[name]) if name == names[-1] else array.dtype[name]) for name in names]
    changed = np.zeros(array.shape, np.dtype(types, align=True))
    for name in names:
        changed[name] = array[name]
    yield f"its {names[-1]} of another type", changed


def _other_type(dtype: Any) -> Any:
    return np.float64 if dtype == np.float32 else np.float32


def _of_dimensions(one: Declared | None, array: Array) -> Iterator[tuple[str, Array]]:
    """Yield longer and shorter arrays, where something else tells how long they are."""
    dims = one.field.dims if one else range(min(array.ndim, 1))
    for axis, dim in enumerate(dims):
        if array.shape[axis] and (one is None or isinstance(dim, int) or _is_shared(one, dim)):
            yield f"one less of {dim}", array.take(np.arange(array.shape[axis] - 1), axis)
            yield f"one more of {dim}", np.concatenate([array, array.take([-1], axis)], axis)


def _is_shared(one: Declared, dim: str) -> bool:
    others = [field for name, field in one.state.fields.items() if name != one.name and field.saved]
    return dim in one.state.counters or any(dim in field.dims for field in others)


def _of_values(one: Declared | None, array: Array) -> Iterator[tuple[str, Array]]:
    if one and array.size:
        for name, kind in one.field.parts.items() or [(..., one.field.kind)]:
            for value in forbidden(kind, one.state.used):
                changed = array.copy()
                column = changed[name]
                column[(-1,) * column.ndim] = value
                yield f"{'' if name is ... else name} {value}", changed


def forbidden(kind: Any, used: Mapping[str, int]) -> list[Any]:
    """Return the values next to those that are allowed, as far as the type holds them."""
    if isinstance(kind, Real):
        dtype = np.dtype(kind.dtype).type
        values = [] if kind.nan else [np.nan]
        values += [value for value, end in ((-np.inf, kind.low), (np.inf, kind.high)) if end != value or not kind.inf]
        ends = ((kind.low, -np.inf), (kind.high, np.inf))
        with np.errstate(over="ignore"):
            return values + [np.nextafter(dtype(end), dtype(beyond)) for end, beyond in ends if np.isfinite(end)]
    low, high = None, None
    if isinstance(kind, Whole):
        low, high = kind.low, kind.high
    elif isinstance(kind, Index):
        low, high = -1 if kind.optional else 0, used[kind.dim] - 1
    limits = np.iinfo(kind.dtype)
    below = [low - 1] if low is not None and low > limits.min else []
    return below + ([high + 1] if high is not None and high < limits.max else [])


def _find_sizes(extra: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], dict[str, int]]]:
    if isinstance(extra, dict):
        for name, value in extra.items():
            if name == "sizes" and isinstance(value, dict):
                yield place, value
            else:
                yield from _find_sizes(value, (*place, name))


def _changed(values: Any, place: list[str], value: Any) -> Any:
    return value if not place else values | {place[0]: _changed(values[place[0]], place[1:], value)}
