"""Rows that have almost all of the weight first, light ones last: bounds of the edge may leave these out.

Weights are told apart by their binary logarithm only.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .compiler import INNER, OPTIONS, njit

SIZES = 63  # of positive numbers of 64 bits


@intrinsic
def _leading_zeros(typingctx, number):
    def codegen(context, builder, signature, args):
        return builder.ctlz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), codegen


@njit(**INNER)
def _size(mass):
    """Binary logarithm, rounded down; 0 of 0."""
    return 63 - _leading_zeros(mass | 1)


@njit(**INNER)
def _border(sums, counts, share):
    """The least size of what is heavy; smaller ones have together at most ``share`` of the sum.

    Returns
    -------
    border, n_heavy, light
        The size, how many have it or more, and the sum of the others.
    """
    total = np.int64(0)
    n_heavy = np.intp(0)
    for size in range(SIZES):
        total += sums[size]
        n_heavy += counts[size]
    limit = np.int64(share * total)
    light, border = np.int64(0), 0
    while border < SIZES - 1 and light + sums[border] <= limit:
        light += sums[border]
        n_heavy -= counts[border]
        border += 1
    return border, n_heavy, light


@njit(**OPTIONS)
def light_rows_last(mass, rows, share, sizes, out):
    """OUT out: the rows, heavy ones first; light are those which together have at most ``share`` of the mass.

    Rows keep their order.

    sizes : scratch, (2, SIZES) int64, zeros

    Returns
    -------
    n_heavy, light_mass
    """
    sums, counts = sizes[0], sizes[1]
    for r in range(rows.size):
        size = _size(mass[rows[r]])
        sums[size] += mass[rows[r]]
        counts[size] += 1
    border, n_heavy, light = _border(sums, counts, share)
    least = np.int64(1) << border if border > 0 else np.int64(0)
    to_heavy, to_light = np.intp(0), n_heavy
    for r in range(rows.size):
        if mass[rows[r]] >= least:
            out[to_heavy] = rows[r]
            to_heavy += 1
        else:
            out[to_light] = rows[r]
            to_light += 1
    return n_heavy, light
