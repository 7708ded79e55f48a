"""Structs whose arrays kernels read without counting who holds them.

A struct of numba's counts that each time an array of it is read, in a way that processors have to agree on: half of the
time of kernels that take structs. Here what is read is borrowed: the struct, which its caller holds, holds its arrays
all the time. So no kernel may return an array of a struct, put it into one that lives longer, or use one of a struct
that it has made itself and needs for nothing else.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed, lower_getattr_generic, lower_setattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.experimental import structref


class StructType(types.StructRef):  # type: ignore[misc]
    """Base of the numba types of structs."""


@infer_getattr
class _Attributes(AttributeTemplate):  # type: ignore[misc]
    key = StructType

    def generic_resolve(self, kind: StructType, name: str) -> Any:
        return kind.field_dict.get(name)


@lower_getattr_generic(StructType)  # type: ignore[untyped-decorator]
def _read(context: Any, builder: Any, kind: StructType, struct: Any, name: str) -> Any:
    member, member_type = getattr(_find_data(context, builder, kind, struct), name), kind.field_dict[name]
    if not isinstance(member_type, types.Array):
        return impl_ret_borrowed(context, builder, member_type, member)
    array = context.make_array(member_type)(context, builder, member)
    # Nobody holds it, as far as numba knows.
    array.meminfo = cgutils.get_null_value(array.meminfo.type)
    return array._getvalue()


@lower_setattr_generic(StructType)  # type: ignore[untyped-decorator]
def _write(context: Any, builder: Any, signature: Any, arguments: Any, name: str) -> None:
    struct, value = arguments
    data, member_type = _find_data(context, builder, signature.args[0], struct), signature.args[0].field_dict[name]
    value = context.cast(builder, value, signature.args[1], member_type)
    context.nrt.incref(builder, member_type, value)
    context.nrt.decref(builder, member_type, getattr(data, name))
    setattr(data, name, value)


def _find_data(context: Any, builder: Any, kind: StructType, struct: Any) -> Any:
    return structref._Utils(context, builder, kind).get_data_struct(struct)
