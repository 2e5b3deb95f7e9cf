"""Arithmetic of the losses: free of branches and calls, so that loops over it become vector code."""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .compiler import INLINE, njit
from .extremes import greater

# Reassociation would undo the two-part reduction of the argument below.
_EXACT = {**INLINE, "fastmath": {"nsz", "contract"}}


@intrinsic
def _float_of_bits(typingctx, bits):
    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), codegen


@intrinsic
def _bits_of_float(typingctx, x):
    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), codegen


_MAGIC = 6755399441055744.0  # 1.5 * 2**52: doubles near it count in ones


@njit(**_EXACT)
def exp(x):
    """e^x for x <= 709 to three units in the last place; a constant below -650.

    Free of branches and calls, so that loops over it become vector code; the constant
    keeps weights of samples that were learned long ago out of the denormal range.
    """
    x = greater(x, -650.0)
    shifted = x * 1.4426950408889634 + _MAGIC
    k = shifted - _MAGIC
    r = (x - k * 6.93145751953125e-1) - k * 1.42860682030941723212e-6
    # e^r = cosh r + sinh r: two short series do not wait for each other, the steps of one long series do.
    q = r * r
    even = 1.0 / 479001600.0
    even = even * q + 1.0 / 3628800.0
    even = even * q + 1.0 / 40320.0
    even = even * q + 1.0 / 720.0
    even = even * q + 1.0 / 24.0
    even = even * q + 0.5
    even = even * q + 1.0
    odd = 1.0 / 39916800.0
    odd = odd * q + 1.0 / 362880.0
    odd = odd * q + 1.0 / 5040.0
    odd = odd * q + 1.0 / 120.0
    odd = odd * q + 1.0 / 6.0
    odd = odd * q + 1.0
    return (odd * r + even) * _float_of_bits((_bits_of_float(shifted) + 1023) << 52)


@njit(**INLINE)
def log1p(e):
    """log(1 + e) for 0 <= e <= 1 to 1e-13, by the series of 2 artanh(e / (2 + e))."""
    s = e / (2.0 + e)
    q = s * s
    p = 1.0 / 25.0
    p = p * q + 1.0 / 23.0
    p = p * q + 1.0 / 21.0
    p = p * q + 1.0 / 19.0
    p = p * q + 1.0 / 17.0
    p = p * q + 1.0 / 15.0
    p = p * q + 1.0 / 13.0
    p = p * q + 1.0 / 11.0
    p = p * q + 1.0 / 9.0
    p = p * q + 1.0 / 7.0
    p = p * q + 1.0 / 5.0
    p = p * q + 1.0 / 3.0
    return 2.0 * s * (p * q + 1.0)


@njit(**_EXACT)
def fixed(x, scale):
    """x in fixed point, to the nearest, for results below 2**51.

    Adding the magic number leaves the integer in the low bits; unlike a conversion this
    is vector code for 64 bits, too.
    """
    return _bits_of_float(x * scale + _MAGIC) - _bits_of_float(_MAGIC)
