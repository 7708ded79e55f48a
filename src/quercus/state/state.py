"""What a learner remembers: arrays whose dimensions grow, are saved and checked by one declaration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from quercus.state.struct import Struct

Array = npt.NDArray[Any]


class StateError(ValueError):
    """Arrays that are no state: which one, and what is wrong with it."""


class _Held(NamedTuple):
    """All that a state holds, so that it changes at once."""

    sizes: dict[str, int]
    arrays: dict[str, Array]
    parts: dict[str, State]
    ref: Any = None
    # What the parts held when `ref` was made.
    seen: tuple[tuple[State, _Held], ...] = ()
    # What kernels of other declarations take, by these.
    others: Mapping[type, Any] = MappingProxyType({})

    def is_current(self) -> bool:
        """Return whether no part has replaced anything since `ref` was made."""
        for part, held in self.seen:
            if part._held is not held or (held.seen and not held.is_current()):
                return False
        return self.ref is not None


class State(Struct):
    """Arrays that are declared once, each as a `Field`; states inside of it as `Part`.

    Subclasses may say how dimensions grow (``grows``: by which factor; of several, the first that fits), where it is
    counted how much of them is used (``counters``: an array of one record, and its field), how arrays depend on each
    other (`check`), and how to make those that are not saved (`rebuild`).

    Parameters
    ----------
    parts
        States inside of it, by name; None: new ones.
    sizes
        Of each dimension, by name.

    Examples
    --------
    >>> from quercus.state import Field, Index, Real
    >>> class TreeState(State):
    ...     grows = {"node": 2.0}
    ...     counters = {"node": ("head", "nodes")}
    ...     head = Field({"nodes": np.int64}, 1)
    ...     nodes = Field({"left": Index("node"), "n": np.float64}, "node", fill={"left": -1})
    ...     counts = Field(Real(low=0.0), "node", "class")
    >>> state = TreeState(node=3, **{"class": 2})
    >>> state.head["nodes"] = 1
    >>> state.nbytes, state.used, state.to_arrays()["counts"].shape
    (104, {'node': 1, 'class': 2}, (1, 2))
    >>> state.ensure(max_bytes=1_000, node=4), state.sizes["node"], state.ensure(max_bytes=1_000, node=10_000)
    (True, 6, False)
    >>> TreeState.from_arrays(state.to_arrays() | {"counts": np.array([[-1.0, 0.0]])})
    Traceback (most recent call last):
        ...
    quercus.state.state.StateError: its array 'counts' holds numbers below 0.
    """

    grows: ClassVar[Mapping[str, float | Sequence[float]]] = {}
    counters: ClassVar[Mapping[str, tuple[str, str]]] = {}
    dims: ClassVar[tuple[str, ...]] = ()
    _held: _Held

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        names = [dim for one in cls.fields.values() for dim in one.dims if isinstance(dim, str)]
        cls.dims = tuple(dict.fromkeys(names))

    def __init__(self, *, parts: Mapping[str, State] | None = None, **sizes: int) -> None:
        self._held = _Held(
            {dim: int(sizes[dim]) for dim in self.dims},
            {name: one.new(sizes) for name, one in self.fields.items()},
            dict(parts or {}),
        )

    @classmethod
    def holding(cls, **members: Any) -> Self:
        """Return a state of these arrays and parts; nothing is copied.

        Parameters
        ----------
        members
            By name: all of them.
        """
        state = cls.__new__(cls)
        arrays = {name: members[name] for name in cls.fields}
        state._held = _Held(cls._measure(arrays), arrays, {name: members[name] for name in cls.parts})
        return state

    def check(self) -> None:
        """Raise StateError where arrays do not fit together; what `Field` tells of each is checked before."""

    def rebuild(self) -> None:
        """Make the arrays that are not saved from those that are."""

    @property
    def sizes(self) -> dict[str, int]:
        """How large each dimension is, spare places included."""
        return dict(self._held.sizes)

    @property
    def used(self) -> dict[str, int]:
        """How much of each dimension is used."""
        held = self._held
        counted = {dim: int(held.arrays[name][part][0]) for dim, (name, part) in self.counters.items()}
        return held.sizes | counted

    @property
    def nbytes(self) -> int:
        """Bytes allocated, those of parts included."""
        held = self._held
        return sum(array.nbytes for array in held.arrays.values()) + sum(part.nbytes for part in held.parts.values())

    @property
    def ref(self) -> Any:
        """What kernels take; it is made anew only after an array was replaced."""
        held = self._held
        if held.is_current():
            return held.ref
        refs = {name: part.ref for name, part in held.parts.items()}
        seen = tuple((part, part._held) for part in held.parts.values())
        self._held = held._replace(ref=self.make(**held.arrays, **refs), seen=seen)
        return self._held.ref

    def ref_as(self, kind: type[Struct]) -> Any:
        """Return what kernels take that know some of the arrays only: those of a declaration that this one extends.

        Parameters
        ----------
        kind
            That declaration; it has no parts.
        """
        held = self._held
        if kind not in held.others:
            made = kind.make(**{name: held.arrays[name] for name in kind.fields})
            self._held = held = held._replace(others={**held.others, kind: made})
        return held.others[kind]

    def bytes_at(self, **sizes: int) -> int:
        """Return the bytes that it would take, parts included.

        Parameters
        ----------
        sizes
            Of dimensions that would be others than now.
        """
        wanted = self._held.sizes | sizes
        own = sum(one.nbytes(wanted) for one in self.fields.values())
        return own + sum(part.nbytes for part in self._held.parts.values())

    def peak_at(self, **sizes: int) -> int:
        """Return the bytes that are taken while it is resized: the arrays that change are there twice.

        Parameters
        ----------
        sizes
            Of dimensions that would be others than now.
        """
        changed = {dim for dim, size in sizes.items() if size != self._held.sizes[dim]}
        wanted = self._held.sizes | sizes
        return self.nbytes + sum(one.nbytes(wanted) for one in self.fields.values() if changed.intersection(one.dims))

    def resize(self, **sizes: int) -> None:
        """Give dimensions exactly these sizes: all of them, or where memory runs out none.

        Parameters
        ----------
        sizes
            By name.
        """
        arrays = self.resized(**sizes)
        if arrays:
            held = self._held
            whole = held.sizes | {dim: int(size) for dim, size in sizes.items()}
            self._held = _Held(whole, held.arrays | arrays, held.parts)

    def resized(self, **sizes: int) -> dict[str, Array]:
        """Return new arrays, by name, in the place of those that change where dimensions get these sizes.

        A state that moves what it holds while it grows changes them, and then takes them by `replace`.

        Parameters
        ----------
        sizes
            By name.
        """
        held = self._held
        wanted = held.sizes | {dim: int(size) for dim, size in sizes.items()}
        changed = {dim for dim, size in wanted.items() if size != held.sizes[dim]}
        return {
            name: one.resized(held.arrays[name], wanted)
            for name, one in self.fields.items()
            if changed.intersection(one.dims)
        }

    def ensure(self, max_bytes: int | None = None, copies: bool = False, **need: int) -> bool:
        """Make room by the factors of ``grows``; return False, and do nothing, where the limit forbids it.

        Parameters
        ----------
        max_bytes
            Limit for all arrays, None: none.
        copies
            Whether the limit also holds while arrays are copied.
        need
            The least sizes of dimensions, by name.
        """
        sizes = self._held.sizes
        short = {dim: size for dim, size in need.items() if size > sizes[dim]}
        if not short:
            return True
        choices = {dim: _as_factors(self.grows.get(dim, 1.0)) for dim in short}
        for k in range(max(map(len, choices.values()))):
            factors = {dim: factors[min(k, len(factors) - 1)] for dim, factors in choices.items()}
            wanted = {dim: max(size, int(sizes[dim] * factors[dim])) for dim, size in short.items()}
            taken = self.peak_at if copies else self.bytes_at
            if max_bytes is None or taken(**wanted) <= max_bytes:
                self.resize(**wanted)
                return True
        return False

    def replace(self, **members: Any) -> None:
        """Put other arrays, or parts, in the place of some; dimensions become as large as they say.

        Parameters
        ----------
        members
            By name; sizes on which they and the other arrays do not agree are an error.
        """
        held = self._held
        own = {name: members[name] for name in members if name in self.fields}
        arrays = held.arrays | own if own else held.arrays
        parts = held.parts | {name: members[name] for name in members if name in self.parts}
        unknown = members.keys() - arrays.keys() - self.parts.keys()
        if unknown:
            raise StateError(f"there is no array {min(unknown)!r}.")
        self._held = _Held(self._measure(arrays) if arrays is not held.arrays else held.sizes, arrays, parts)

    def to_arrays(self) -> dict[str, Array]:
        """Return the used part of every array that is saved, those of parts as ``part/name``; nothing is copied."""
        used, held = self.used, self._held
        arrays = {
            name: held.arrays[name][tuple(map(slice, one.shape(used)))]
            for name, one in self.fields.items()
            if one.saved
        }
        for name, part in held.parts.items():
            arrays |= {f"{name}/{inner}": array for inner, array in part.to_arrays().items()}
        return arrays

    def to_sizes(self) -> dict[str, int]:
        """Return the size of every dimension, those of parts as ``part/name``: what a file holds beside the arrays."""
        nested = {f"{name}/{dim}": n for name, part in self._held.parts.items() for dim, n in part.to_sizes().items()}
        return self.sizes | nested

    @classmethod
    def saved_types(cls) -> dict[str, np.dtype[Any]]:
        """Return the type of each array that `to_arrays` returns."""
        types = {name: one.dtype for name, one in cls.fields.items() if one.saved}
        for name, part in cls.parts.items():
            types |= {f"{name}/{inner}": dtype for inner, dtype in part.kind.saved_types().items()}
        return types

    @classmethod
    def from_arrays(
        cls,
        arrays: Mapping[str, Array],
        sizes: Mapping[str, int] | None = None,
        max_bytes: int | None = None,
        at_most: Mapping[str, int] | None = None,
    ) -> Self:
        """Rebuild a state; refuse, before anything is allocated, what does not fit together.

        Parameters
        ----------
        arrays
            As `to_arrays` returns them.
        sizes
            As `to_sizes` returns them; None: as large as the arrays.
        max_bytes
            Limit for what is allocated.
        at_most
            The largest sizes that dimensions may use.
        """
        sizes = sizes or {}
        parts = {
            name: one.kind.from_arrays(
                _of_part(name, arrays), _of_part(name, sizes), max_bytes, _of_part(name, at_most or {})
            )
            for name, one in cls.parts.items()
        }
        missing = [name for name, one in cls.fields.items() if one.saved and name not in arrays]
        if missing:
            raise StateError(f"its array {missing[0]!r} is missing.")
        saved = {name: arrays[name] for name, one in cls.fields.items() if one.saved}
        used = cls._measure(saved)
        wanted = {dim: _as_size(dim, sizes.get(dim, used.get(dim, 0)), used.get(dim, 0)) for dim in cls.dims}
        for dim, most in (at_most or {}).items():
            if used.get(dim, 0) > most:
                raise StateError(f"it has {used[dim]} of {dim!r}; there are {most}.")
        needed = sum(one.nbytes(wanted) for one in cls.fields.values()) + sum(part.nbytes for part in parts.values())
        if max_bytes is not None and needed > max_bytes:
            raise StateError(f"it needs {needed:,} bytes, more than max_bytes={max_bytes:,} allows.")
        for dim, (name, part) in cls.counters.items():
            if saved[name].shape != (1,) or int(saved[name][part][0]) != used[dim]:
                raise StateError(f"its array {name!r} does not tell how many of {dim!r} there are.")
        for name, array in saved.items():
            fault = cls.fields[name].find_fault(array, wanted | used)
            if fault is not None:
                raise StateError(f"its array {name!r} {fault}.")
        state = cls.__new__(cls)
        whole = {
            name: one.resized(saved[name], wanted) if one.saved else one.new(wanted) for name, one in cls.fields.items()
        }
        state._held = _Held(wanted, whole, parts)
        uses = state.used
        for dim in used:
            if uses[dim] != used[dim]:
                raise StateError(f"it uses {uses[dim]} of {dim!r}, of which its arrays hold {used[dim]}.")
        state.check()
        state.rebuild()
        return state

    def equals(self, other: State) -> bool:
        """Return whether another state holds the same, byte for byte, in what is used and saved.

        Parameters
        ----------
        other
            Another one.
        """
        own, others = self.to_arrays(), other.to_arrays()
        return own.keys() == others.keys() and all(
            array.dtype == others[name].dtype
            and array.shape == others[name].shape
            and array.tobytes() == others[name].tobytes()
            for name, array in own.items()
        )

    def copy(self) -> Self:
        """Return a state of its own that holds the same."""
        other = type(self).__new__(type(self))
        other.__setstate__(self.__getstate__())
        return other

    def __getstate__(self) -> dict[str, Any]:
        held = self._held
        rest = {name: value for name, value in vars(self).items() if name != "_held"}
        return {"sizes": held.sizes, "arrays": held.arrays, "parts": held.parts, "rest": rest}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Unpickled arrays may be read-only or borrowed; a learner must be able to go on learning.
        arrays = {name: np.array(array, order="C") for name, array in state["arrays"].items()}
        self._held = _Held(dict(state["sizes"]), arrays, {name: part.copy() for name, part in state["parts"].items()})
        vars(self).update(state["rest"])

    @classmethod
    def _measure(cls, arrays: Mapping[str, Array]) -> dict[str, int]:
        """Return the sizes of dimensions by the shapes of arrays, which have to agree."""
        sizes: dict[str, int] = {}
        for name, array in arrays.items():
            misfit = cls.fields[name].find_misfit(array)
            if misfit is not None:
                raise StateError(f"its array {name!r} {misfit}.")
            for dim, size in zip(cls.fields[name].dims, array.shape, strict=True):
                if isinstance(dim, str) and sizes.setdefault(dim, size) != size:
                    raise StateError(f"its array {name!r} has {size} of {dim!r}; others have {sizes[dim]}.")
        return sizes


def _as_factors(factors: float | Sequence[float]) -> Sequence[float]:
    return factors if isinstance(factors, Sequence) else (factors,)


def _as_size(dim: str, size: Any, used: int) -> int:
    if not isinstance(size, int) or isinstance(size, bool) or size < used:
        raise StateError(f"it has room for {size!r} of {dim!r}, of which it uses {used}.")
    return size


def _of_part(part: str, members: Mapping[str, Any]) -> dict[str, Any]:
    return {name.removeprefix(f"{part}/"): value for name, value in members.items() if name.startswith(f"{part}/")}
