"""What is heavy: rows, or pairs of row and label, that have almost all of the weight.

Weights are told apart by their binary logarithm only.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from .dtypes import ROW
from .extremes import greater
from .lanes import ALLOCATING, INNER

_SAMPLE = 512  # rows that are looked at to see how heavy a heavy pair is
_SIZES = 63  # of positive numbers of 64 bits


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
def _border(sums, share):
    """The least size of what is heavy; smaller ones have together at most ``share`` of the sum."""
    limit = np.int64(share * sums.sum())
    light, border = np.int64(0), 0
    while border < _SIZES - 1 and light + sums[border] <= limit:
        light += sums[border]
        border += 1
    return border


@njit(**ALLOCATING)
def heavy_first(mass, rows, share, out):
    """OUT out: the rows, heavy ones first; light are those which together have at most ``share`` of the mass.

    Rows keep their order.

    Returns
    -------
    n_heavy, light_mass
    """
    sums = np.zeros(_SIZES, np.int64)
    counts = np.zeros(_SIZES, np.intp)
    for r in range(rows.size):
        size = _size(mass[rows[r]])
        sums[size] += mass[rows[r]]
        counts[size] += 1
    border = _border(sums, share)
    n_heavy = counts[border:].sum()
    least = np.int64(1) << border if border > 0 else np.int64(0)
    to_heavy, to_light = np.intp(0), n_heavy
    for r in range(rows.size):
        if mass[rows[r]] >= least:
            out[to_heavy] = rows[r]
            to_heavy += 1
        else:
            out[to_light] = rows[r]
            to_light += 1
    return n_heavy, sums[:border].sum()


@njit(**ALLOCATING)
def look_for_pairs(payload, n_labels, rows, share):
    """The least weight of a heavy pair, and how many there may be: what some of the rows say."""
    sums = np.zeros(_SIZES, np.int64)
    counts = np.zeros(_SIZES, np.intp)
    step = greater(1, rows.size // _SAMPLE)
    for r in range(0, rows.size, step):
        at = np.intp(rows[r]) * payload.lanes
        for k in range(n_labels):
            weight = abs(payload.dense[at + k])
            sums[_size(weight)] += weight
            counts[_size(weight)] += 1
    border = _border(sums, share)
    return np.int64(1) << border, counts[border:].sum() * step


@njit(**ALLOCATING)
def heavy_pairs(payload, mass, n_labels, rows, least, with_rows):
    """Pairs at least as heavy as ``least``, label by label; then, if ``with_rows``, the rows that have one.

    Returns
    -------
    first, row
        As in ``pairs.Pairs``.
    light_mass
        Of the other pairs.
    """
    count = np.zeros(n_labels + 1, np.intp)
    light = np.int64(0)
    for r in range(rows.size):
        i = np.intp(rows[r])
        light += mass[i]
        if mass[i] < least:
            continue
        weights = payload.dense[i * payload.lanes : i * payload.lanes + n_labels]
        n_heavy = np.int64(0)
        for k in range(n_labels):
            heavy = np.int64(abs(weights[k]) >= least)
            count[k] += heavy
            n_heavy += heavy
            light -= abs(weights[k]) * heavy
        count[n_labels] += with_rows and n_heavy > 0
    first = np.zeros(n_labels + 2, np.intp)
    for k in range(n_labels + 1):
        first[k + 1] = first[k] + count[k]
    row = np.empty(first[n_labels + 1], ROW)
    place = first.copy()
    for r in range(rows.size):
        i = np.intp(rows[r])
        if mass[i] < least:
            continue
        weights = payload.dense[i * payload.lanes : i * payload.lanes + n_labels]
        any_heavy = False
        for k in range(n_labels):
            if abs(weights[k]) >= least:
                row[place[k]] = rows[r]
                place[k] += 1
                any_heavy = True
        if with_rows and any_heavy:
            row[place[n_labels]] = rows[r]
            place[n_labels] += 1
    return first, row, light
