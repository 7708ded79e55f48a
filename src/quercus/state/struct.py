"""Arrays that kernels take as one argument.

numba makes a struct out of them that is passed by reference: a call with forty arrays costs what one with three does,
and inner kernels pass it on for nothing.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any, ClassVar

import numba
from numba.core.datamodel import default_manager, models
from numba.experimental import structref

from quercus.compile import kernel
from quercus.compile.records import as_interpreted
from quercus.state.fields import Field
from quercus.state.refcounts import StructType


class Struct:
    """Arrays under fixed names; a subclass declares each as a `Field`, and parts that are structs as a `Part`.

    Examples
    --------
    >>> import numpy as np
    >>> from numba import types
    >>> class Rows(Struct):
    ...     X = Field(np.float64, "row", "feature", readonly=True)
    ...     y = Field(np.int64, "row", readonly=True)
    >>> @kernel(types.float64, Rows.numba_type)
    ... def add_up(rows):
    ...     return rows.X.sum() + rows.y[0]
    >>> float(add_up(Rows.make(X=np.ones((3, 2)), y=np.array([4, 0, 0]))))
    10.0
    """

    fields: ClassVar[dict[str, Field]] = {}
    parts: ClassVar[dict[str, Part]] = {}
    numba_type: ClassVar[Any]
    _make: ClassVar[Any]
    _names: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        declared = {name: value for base in reversed(cls.__mro__) for name, value in vars(base).items()}
        cls.fields = {name: value for name, value in declared.items() if isinstance(value, Field)}
        cls.parts = {name: value for name, value in declared.items() if isinstance(value, Part)}
        cls._names = (*cls.fields, *cls.parts)
        if cls.fields or cls.parts:
            cls.numba_type, cls._make = _register(cls)

    @classmethod
    def make(cls, **members: Any) -> Any:
        """Return what kernels take.

        Parameters
        ----------
        members
            The arrays, and for each part what `make` has returned for it.
        """
        if numba.config.DISABLE_JIT:
            # The same names; records have attributes, as in compiled code.
            return SimpleNamespace(**{name: as_interpreted(member) for name, member in members.items()})
        return cls._make(*[members[name] for name in cls._names])

    @classmethod
    def inner(cls) -> Any:
        """Return the function by which kernels make one; it takes the members in the order of their declaration.

        A kernel that makes a struct hands it on to others and keeps it as long as they need it: arrays that are read
        of it are gone with it.

        Examples
        --------
        >>> from numba import types
        >>> import numpy as np
        >>> class Sums(Struct):
        ...     sums = Field(np.float64, "class")
        >>> make_sums = Sums.inner()
        >>> @kernel
        ... def add_up(sums):
        ...     return sums.sums.sum()
        >>> @kernel(types.float64, types.int64)
        ... def add_ones(classes):
        ...     return add_up(make_sums(np.ones(classes)))
        >>> float(add_ones(3))
        3.0
        """
        if numba.config.DISABLE_JIT:
            return lambda *members: cls.make(**dict(zip(cls._names, members, strict=True)))
        return kernel(cls._make.__wrapped__)


class Part:
    """A struct, or a state, inside of another one.

    Parameters
    ----------
    kind
        Its class.
    """

    def __init__(self, kind: Any) -> None:
        self.kind = kind
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, state: Any, owner: type | None = None) -> Any:
        return self if state is None else state._held.parts[self.name]

    def __set__(self, state: Any, part: Any) -> None:
        state.replace(**{self.name: part})


def _register(cls: Any) -> tuple[Any, Any]:
    """Return the numba type of a struct, and the compiled function that makes one from its members."""
    name = cls.__qualname__.replace(".", "_").replace("<locals>", "")
    kind = type(f"{name}Type", (StructType,), {"__module__": cls.__module__})
    # numba finds it there when it loads a compiled kernel.
    setattr(sys.modules[cls.__module__], kind.__name__, kind)
    default_manager.register(kind, models.StructRefModel)
    members = {name: field.numba_type for name, field in cls.fields.items()}
    members |= {name: part.kind.numba_type for name, part in cls.parts.items()}
    numba_type = kind(list(members.items()))
    structref.define_boxing(kind, type(f"{name}Ref", (structref.StructRefProxy,), {}))
    # The constructor of numba's own would be compiled anew in every process.
    lines = [f"def make({', '.join(members)}):", " made = new(kind)", *(f" made.{m} = {m}" for m in members)]
    scope: dict[str, Any] = {"new": structref.new, "kind": numba_type, "__name__": cls.__module__}
    exec("\n".join([*lines, " return made"]), scope)
    function = scope["make"]
    function.__name__ = function.__qualname__ = f"make_{name}"
    return numba_type, kernel(numba_type, *members.values())(function)
