"""Calls of kernels that are compiled apart from those that call them.

What a kernel calls is compiled with it, whether this training gets there or not, and optimised again in every caller.
So kernels that are long, or that many trainings never reach, are compiled apart, when they are first needed.  Their
callers are given a `Calls`: addresses by name, and in its type the types of all their arguments.  A call with other
arguments is an error when the caller is compiled.  A call costs what that of a C function costs, so this is for what
takes microseconds.  Such kernels return nothing and must not raise: there is nobody to tell.

numba's own functions as arguments are checked in the same way, but to hand them to a kernel takes much longer each
time, see ``docs/notes/log.md``.
"""

import hashlib
from functools import cache

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import NativeValue, intrinsic, models, register_model, typeof_impl, unbox


class _CallsType(types.Type):
    """Names of kernels and the types of their arguments."""

    def __init__(self, kinds: tuple):
        self.kinds = kinds
        super().__init__(f"Calls({hashlib.sha256(str(kinds).encode()).hexdigest()})")

    def find(self, name: str) -> tuple[int, tuple]:
        """Number of a kernel and the types of its arguments."""
        names = [name for name, _ in self.kinds]
        if name not in names:
            raise TypingError(f"there is no call {name!r}, only {', '.join(names)}")
        return names.index(name), self.kinds[names.index(name)][1]


_type_of = cache(_CallsType)


class Calls:
    """Addresses of kernels for their callers.

    Parameters
    ----------
    **kernels : (compiled kernel or None, tuple of numba types)
        None where this training does not need it: see `has`.
    """

    def __init__(self, **kernels):
        self._numba_type_ = _type_of(tuple((name, tuple(kinds)) for name, (_, kinds) in kernels.items()))
        self._kernels = [kernel for kernel, _ in kernels.values()]  # alive as long as their addresses are
        self._addresses = np.array([0 if kernel is None else kernel.address for kernel in self._kernels], np.intp)
        self.place = self._addresses.ctypes.data


@typeof_impl.register(Calls)
def _(calls, context):
    return calls._numba_type_


@register_model(_CallsType)
class _CallsModel(models.PrimitiveModel):
    """A pointer to the addresses."""

    def __init__(self, manager, kind):
        super().__init__(manager, kind, ir.IntType(types.intp.bitwidth).as_pointer())


@unbox(_CallsType)
def _unbox(kind, calls, c):
    place = c.pyapi.object_getattr_string(calls, "place")
    pointer = c.pyapi.long_as_voidptr(place)
    c.pyapi.decref(place)
    return NativeValue(c.builder.bitcast(pointer, c.context.get_value_type(kind)))


def _address(builder, table, number):
    return builder.load(builder.gep(table, [ir.Constant(ir.IntType(32), number)]))


@intrinsic(prefer_literal=True)
def call(typingctx, calls, name, arguments):
    """Call a kernel by its name; ``arguments`` is a tuple."""
    if not isinstance(name, types.StringLiteral):
        return None
    number, kinds = calls.find(name.literal_value)
    found = tuple(types.unliteral(kind) for kind in arguments.types)
    if found != kinds:
        wrong = [f"argument {k} is {a}, not {b}" for k, (a, b) in enumerate(zip(found, kinds, strict=False)) if a != b]
        raise TypingError(f"{name.literal_value}: {len(found)} arguments, not {len(kinds)}; {'; '.join(wrong)}")

    def codegen(context, builder, signature, args):
        values = cgutils.unpack_tuple(builder, args[2])
        kind = ir.FunctionType(context.get_value_type(types.void), [value.type for value in values])
        builder.call(builder.inttoptr(_address(builder, args[0], number), kind.as_pointer()), values)
        return context.get_dummy_value()

    return types.void(calls, name, types.Tuple(kinds)), codegen


@intrinsic(prefer_literal=True)
def has(typingctx, calls, name):
    """Whether there is a kernel of this name."""
    if not isinstance(name, types.StringLiteral):
        return None
    number, _ = calls.find(name.literal_value)

    def codegen(context, builder, signature, args):
        address = _address(builder, args[0], number)
        return builder.icmp_signed("!=", address, ir.Constant(address.type, 0))

    return types.boolean(calls, name), codegen
