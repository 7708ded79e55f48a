"""What an array of a state holds: its type, its dimensions, and which values make sense."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from quercus.compile import array_type

Sizes = Mapping[str, int]


@dataclass(frozen=True)
class Real:
    """Numbers between two limits; finite unless said otherwise.

    Parameters
    ----------
    dtype
        As numpy knows it.
    low, high
        The least and the largest.
    nan, inf
        Whether these are allowed too; infinite numbers within the limits.

    Examples
    --------
    >>> Real(low=0.0).find_fault(np.array([0.5, -1.0]), {})
    'holds numbers below 0'
    >>> Real(nan=True).find_fault(np.array([math.nan, -1.0]), {})
    """

    dtype: Any = np.float64
    low: float = -math.inf
    high: float = math.inf
    nan: bool = False
    inf: bool = False

    def find_fault(self, values: npt.NDArray[Any], used: Sizes) -> str | None:
        """Return what is wrong with some values, None if nothing is.

        Parameters
        ----------
        values
            Of this type.
        used
            How much of each dimension is used.
        """
        missing = np.isnan(values)
        if missing.any() and not self.nan:
            return "holds NaN"
        known = values[~missing] if self.nan else values
        if not self.inf and np.isinf(known).any():
            return "holds infinite numbers"
        return _find_excess(known, self.low, self.high)


@dataclass(frozen=True)
class Whole:
    """Whole numbers between two limits.

    Parameters
    ----------
    dtype
        As numpy knows it.
    low, high
        The least and the largest; None: whatever the type holds.

    Examples
    --------
    >>> Whole(high=3).find_fault(np.array([0, 4]), {})
    'holds numbers above 3'
    """

    dtype: Any = np.int64
    low: int | None = 0
    high: int | None = None

    def find_fault(self, values: npt.NDArray[Any], used: Sizes) -> str | None:
        """Return what is wrong with some values, None if nothing is.

        Parameters
        ----------
        values
            Of this type.
        used
            How much of each dimension is used.
        """
        return _find_excess(values, self.low, self.high)


@dataclass(frozen=True)
class Index:
    """Places in a dimension; -1 is none.

    Parameters
    ----------
    dim
        Into which dimension the values point.
    dtype
        As numpy knows it.
    optional
        Whether -1 is allowed.

    Examples
    --------
    >>> Index("node").find_fault(np.array([-1, 2]), {"node": 2})
    "points outside of the 2 of 'node'"
    """

    dim: str
    dtype: Any = np.int32
    optional: bool = True

    def find_fault(self, values: npt.NDArray[Any], used: Sizes) -> str | None:
        """Return what is wrong with some values, None if nothing is.

        Parameters
        ----------
        values
            Of this type.
        used
            How much of each dimension is used.
        """
        least = -1 if self.optional else 0
        if values.size and (int(values.min()) < least or int(values.max()) >= used[self.dim]):
            return f"points outside of the {used[self.dim]} of {self.dim!r}"
        return None


@dataclass(frozen=True)
class AnyRecord:
    """Records of any values, in arrays that are only handed to kernels and never read from files.

    Parameters
    ----------
    dtype
        As numpy knows it.

    Examples
    --------
    >>> AnyRecord(np.dtype([("price", float)])).find_fault(np.zeros(1), {})
    """

    dtype: Any

    def find_fault(self, values: npt.NDArray[Any], used: Sizes) -> str | None:
        """Return None: nothing is known of them.

        Parameters
        ----------
        values
            Of this type.
        used
            How much of each dimension is used.
        """
        return None


Kind = Real | Whole | Index | AnyRecord


class Field:
    """One array of a state.

    Parameters
    ----------
    kind
        `Real`, `Whole`, `Index` or a numpy type (finite numbers; whole numbers from 0 on), or a dict of such by name:
        then the array is of records.
    dims
        Names of its dimensions, or numbers.
    fill
        What new places hold; of records a dict, where it is not 0.
    saved
        Whether it is state; what follows from other arrays is made anew by `State.rebuild`.
    readonly
        Whether kernels only read it.
    blank
        Whether new places hold anything: kernels write them before they read them.

    Examples
    --------
    >>> field = Field({"left": Index("node"), "n": np.float64}, "node", fill={"left": -1})
    >>> field.new({"node": 2}).tolist()
    [(-1, 0.0), (-1, 0.0)]
    >>> field.find_fault(np.array([(-1, 1.0), (2, 1.0)], field.dtype), {"node": 2})
    "'left' points outside of the 2 of 'node'"
    """

    def __init__(
        self,
        kind: Kind | Mapping[str, Any] | Any,
        *dims: str | int,
        fill: Any = 0,
        saved: bool = True,
        readonly: bool = False,
        blank: bool = False,
    ) -> None:
        self.parts: dict[str, Kind] = {k: _as_kind(v) for k, v in kind.items()} if isinstance(kind, Mapping) else {}
        self.kind = None if self.parts else _as_kind(kind)
        self.dtype = (
            np.dtype([(name, part.dtype) for name, part in self.parts.items()], align=True)
            if self.kind is None
            else np.dtype(self.kind.dtype)
        )
        self.dims = dims
        self.fill: dict[Any, Any] = dict(fill) if isinstance(fill, Mapping) else {...: fill}
        self.saved = saved
        self.readonly = readonly
        self.blank = blank
        self.name = ""

    @property
    def numba_type(self) -> Any:
        """As kernels take it."""
        return array_type(self.dtype, len(self.dims), readonly=self.readonly)

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, state: Any, owner: type | None = None) -> Any:
        return self if state is None else state._held.arrays[self.name]

    def __set__(self, state: Any, array: Any) -> None:
        state.replace(**{self.name: array})

    def shape(self, sizes: Sizes) -> tuple[int, ...]:
        """Return its shape for these sizes of dimensions.

        Parameters
        ----------
        sizes
            By name.
        """
        return tuple([dim if isinstance(dim, int) else sizes[dim] for dim in self.dims])

    def nbytes(self, sizes: Sizes) -> int:
        """Return the bytes that it takes.

        Parameters
        ----------
        sizes
            Of dimensions, by name.
        """
        return math.prod(self.shape(sizes)) * self.dtype.itemsize

    def new(self, sizes: Sizes) -> npt.NDArray[Any]:
        """Return a new array.

        Parameters
        ----------
        sizes
            Of dimensions, by name.
        """
        if self.blank:
            return np.empty(self.shape(sizes), self.dtype)
        array = np.zeros(self.shape(sizes), self.dtype)
        for name, value in self.fill.items():
            if value != 0:
                array[name] = value
        return array

    def resized(self, array: npt.NDArray[Any], sizes: Sizes) -> npt.NDArray[Any]:
        """Return a new array that begins with what there is of another one.

        Parameters
        ----------
        array
            What is kept, as far as there is room for it.
        sizes
            Of dimensions, by name.
        """
        shape = self.shape(sizes)
        # What comes beside that which is kept is 0.
        new = np.zeros(shape, self.dtype) if self.blank and shape[1:] != array.shape[1:] else self.new(sizes)
        kept = tuple(slice(min(old, now)) for old, now in zip(array.shape, new.shape, strict=True))
        new[kept] = array[kept]
        return new

    def find_misfit(self, array: Any) -> str | None:
        """Return what is wrong with the type of an array, or its number of dimensions or those that are fixed.

        Parameters
        ----------
        array
            Anything.
        """
        if not isinstance(array, np.ndarray) or array.dtype != self.dtype:
            return f"holds {getattr(array, 'dtype', type(array).__name__)}, not {self.dtype}"
        fixed = [dim for dim in self.dims if isinstance(dim, int)]
        if array.ndim != len(self.dims) or fixed != [
            n for n, dim in zip(array.shape, self.dims, strict=True) if isinstance(dim, int)
        ]:
            return f"has the shape {array.shape}, not {self.dims}".replace("'", "")
        return None

    def find_fault(self, array: npt.NDArray[Any], used: Sizes) -> str | None:
        """Return what is wrong with the values of an array, None if nothing is.

        Parameters
        ----------
        array
            Of this type.
        used
            How much of each dimension is used.
        """
        if self.kind is not None:
            return self.kind.find_fault(array, used)
        faults = ((name, part.find_fault(array[name], used)) for name, part in self.parts.items())
        return next((f"{name!r} {fault}" for name, fault in faults if fault is not None), None)


def _as_kind(kind: Any) -> Kind:
    if isinstance(kind, Real | Whole | Index | AnyRecord):
        return kind
    dtype = np.dtype(kind)
    if dtype.names is not None:
        return AnyRecord(dtype)
    if dtype.kind == "f":
        return Real(dtype)
    if dtype.kind in "iu":
        return Whole(dtype)
    raise TypeError(f"an array of a state holds numbers; {dtype} is none.")


def _find_excess(values: npt.NDArray[Any], low: float | None, high: float | None) -> str | None:
    if low is not None and (values < low).any():
        return f"holds numbers below {low:g}"
    if high is not None and (values > high).any():
        return f"holds numbers above {high:g}"
    return None
