"""Pieces: kernels that are compiled apart from those that call them.

What a kernel calls is compiled with it, whether this training gets there or not, and
optimised again in every caller.  A piece is compiled when it is first asked for and kept on
disk; kernels are given its address.  A call costs what a call of a C function costs, so
pieces are for what takes microseconds.
"""

from functools import cache

from llvmlite import ir
from numba import cfunc, types
from numba.core import cgutils
from numba.extending import intrinsic

from .lanes import OPTIONS

_OPTIONS = {name: OPTIONS[name] for name in ("cache", "error_model", "fastmath", "_nrt")}


@cache
def compiled(function, *kinds, allocates=False):
    """``function``, which returns nothing, compiled for arguments of these numba types."""
    return cfunc(types.void(*kinds), **{**_OPTIONS, "_nrt": allocates})(function)


@intrinsic
def call(typingctx, address, arguments):
    """Call the piece at an address; the types of the arguments are those it was compiled for."""

    def codegen(context, builder, signature, args):
        values = cgutils.unpack_tuple(builder, args[1])
        kind = ir.FunctionType(context.get_value_type(types.void), [value.type for value in values])
        builder.call(builder.inttoptr(args[0], kind.as_pointer()), values)
        return context.get_dummy_value()

    return types.void(types.intp, arguments), codegen
