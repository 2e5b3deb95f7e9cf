"""What is heavy: rows, or pairs of row and label, that have almost all of the weight.

Weights are told apart by their binary logarithm only.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from .extremes import greater
from .lanes import INNER, OPTIONS

_SAMPLE = 512  # rows that are looked at to see how heavy a heavy pair is
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
def heavy_first(mass, rows, share, sizes, out):
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


@njit(**OPTIONS)
def look_for_pairs(payload, n_labels, rows, share, sizes):
    """The least weight of a heavy pair, and how many there may be: what some of the rows say.

    sizes : scratch, (2, SIZES) int64, zeros
    """
    sums, counts = sizes[0], sizes[1]
    step = greater(1, rows.size // _SAMPLE)
    for r in range(0, rows.size, step):
        at = np.intp(rows[r]) * payload.lanes
        for k in range(n_labels):
            weight = abs(payload.dense[at + k])
            sums[_size(weight)] += weight
            counts[_size(weight)] += 1
    border, n_heavy, _ = _border(sums, counts, share)
    return np.int64(1) << border, n_heavy * step


@njit(**OPTIONS)
def count_pairs(payload, mass, rows, least, count):
    """Pairs at least as heavy as ``least``, and the mass of the others.

    count : OUT, (labels + 1,) how many there are of each label, and rows that have one; zeros at first
    """
    n_labels = count.size - 1
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
        count[n_labels] += n_heavy > 0
    return light


@njit(**OPTIONS)
def list_pairs(payload, mass, rows, least, with_rows, place, out):
    """OUT out: rows of the pairs, label by label; then, if ``with_rows``, the rows that have one.

    place : (labels + 1,) where those of each label begin
    """
    n_labels = place.size - 1
    for r in range(rows.size):
        i = np.intp(rows[r])
        if mass[i] < least:
            continue
        weights = payload.dense[i * payload.lanes : i * payload.lanes + n_labels]
        any_heavy = False
        for k in range(n_labels):
            if abs(weights[k]) >= least:
                out[place[k]] = rows[r]
                place[k] += 1
                any_heavy = True
        if with_rows and any_heavy:
            out[place[n_labels]] = rows[r]
            place[n_labels] += 1
