"""Kernels of the binner and of the packing into blocks."""

import numpy as np

from .compiler import ALLOCATING, INLINE, OPTIONS, njit

_MEMORY = 12  # bits: so many values are remembered, 40 KB of them


@njit(**INLINE)
def _slot(bits, shift):
    """Where a number goes in a table of 2^(64 - shift) places.

    The upper bits of the product: the lower ones are zeros for whole numbers, whose bits as float64 end in zeros.
    """
    return np.uintp((bits * np.uint64(0x9E3779B97F4A7C15)) >> shift)


def distinct(values, limit):
    """The distinct finite values of a column, unsorted, and whether there are more.

    Stops as soon as there are more than ``limit``: a continuous column costs a few
    hundred look-ups, not a sort.
    """
    values = np.ascontiguousarray(values, np.float64)
    n_bits = int(4 * limit + 3).bit_length()
    found = np.empty(limit, np.float64)
    count = _distinct(values, values.view(np.uint64), np.uint64(64 - n_bits), np.full(1 << n_bits, np.nan), found)
    return found[: min(count, limit)], count > limit


@njit(**OPTIONS)
def _distinct(values, bits, shift, table, found):
    """OUT found: the distinct values; how many there are, or one more than there is room for.

    shift : see `_slot`
    table : NaN; OUT, the values at their slots or behind them
    """
    last = np.uintp(table.size - 1)
    count = 0
    for i in range(values.size):
        x = values[i]
        slot = _slot(bits[i], shift)
        if table[slot] == x or np.isnan(x):
            continue
        if x == 0:
            slot = np.uintp(0)  # -0.0 has other bits than 0.0
        while table[slot] != x:
            if np.isnan(table[slot]):
                if count == found.size:
                    return count + 1
                found[count] = table[slot] = x if x != 0 else 0.0
                count += 1
            else:
                slot = (slot + np.uintp(1)) & last
    return count


@njit(**ALLOCATING)
def quantile_ends(weights, max_bins):
    """Last value of each bin, so that bins of neighbouring values weigh about the same.

    A value heavier than its share gets a bin of its own and the rest is shared anew,
    so that no bins are lost to it.
    """
    rest = weights.sum()
    left = max_bins
    heavy = np.zeros(weights.size, np.bool_)
    found = True
    while found:
        found = False
        for k in range(weights.size):
            if not heavy[k] and left > 1 and weights[k] > rest / left:
                heavy[k] = found = True
                rest -= weights[k]
                left -= 1
    ends = np.empty(weights.size, np.intp)
    count = 0
    filled = 0.0
    for k in range(weights.size):
        if filled > 0 and (heavy[k] or (left > 1 and filled + weights[k] / 2 > rest / left)):
            ends[count] = k - 1
            count += 1
            rest -= filled
            left -= 1
            filled = 0.0
        if heavy[k]:
            ends[count] = k
            count += 1
        else:
            filled += weights[k]
    if filled > 0:
        ends[count] = weights.size - 1
        count += 1
    # Light values between heavy ones may make more bins than asked for: the lightest
    # neighbours are merged.
    while count > max_bins:
        best, least = 0, np.inf
        begin = 0
        for b in range(count - 1):
            weight = weights[begin : ends[b + 1] + 1].sum()
            if weight < least:
                best, least = b, weight
            begin = ends[b] + 1
        for b in range(best, count - 1):
            ends[b] = ends[b + 1]
        count -= 1
    return ends[:count]


def digitise(values, cuts, n_bins, bins):
    """OUT bins: the number of cuts below each value; n_bins where it is missing."""
    values = np.ascontiguousarray(values, np.float64)
    steps = int(cuts.size).bit_length()
    padded = np.full((1 << steps) - 1, np.inf)
    padded[: cuts.size] = cuts
    memory, bin_of = np.full(1 << _MEMORY, np.nan), np.empty(1 << _MEMORY, np.uint16)
    _digitise(
        values, values.view(np.uint64), padded, np.uintp(steps), n_bins, np.uint64(64 - _MEMORY), memory, bin_of, bins
    )


@njit(**OPTIONS)
def _digitise(values, bits, cuts, steps, n_bins, shift, memory, bin_of, bins):
    """OUT bins: see `digitise`.

    Many columns have few values, again and again: their bins are remembered.  The others are searched without a
    branch, as half of the branches would be foretold wrongly.

    cuts, steps : 2^steps - 1 of them, the last ones infinite
    shift : see `_slot`
    memory, bin_of : NaN and anything; OUT, values that were seen, and their bins
    """
    one = np.uintp(1)
    for i in range(values.size):
        x = values[i]
        slot = _slot(bits[i], shift)
        if memory[slot] == x:
            bins[i] = bin_of[slot]
        elif np.isnan(x):
            bins[i] = n_bins
        else:
            low, step = np.uintp(0), steps
            while step > 0:
                step -= one
                low += np.uintp(cuts[low + (one << step) - one] < x) << step
            memory[slot] = x
            bins[i] = bin_of[slot] = low


@njit(**OPTIONS)
def pack_dense(bins, code_of_bin, first, last, stride, place, codes):
    """Write one column's codes into rows ``first`` to ``last`` of a dense block.

    bins : of all rows
    code_of_bin : CODE, of each bin
    stride, place : codes of a row, and which of them is the column's
    codes : OUT, of the block
    """
    at = np.uintp(first) * np.uintp(stride) + np.uintp(place)
    for i in range(np.uintp(first), np.uintp(last)):
        codes[at] = code_of_bin[np.uintp(bins[i])]
        at += np.uintp(stride)


@njit(**OPTIONS)
def count_rows(rows, begins):
    """Add one to begins[i + 1] for every row i."""
    for k in range(rows.size):
        begins[np.uintp(rows[k]) + np.uintp(1)] += np.uint32(1)


@njit(**OPTIONS)
def pack_sparse(rows, bins, code_of_bin, codes, free):
    """Append one column's codes to their rows in a sparse block.

    bins : of these rows
    code_of_bin : CODE, of each bin
    codes : OUT, of the block
    free : IN and OUT, the next place of every row
    """
    for k in range(rows.size):
        i = np.uintp(rows[k])
        codes[np.uintp(free[i])] = code_of_bin[np.uintp(bins[k])]
        free[i] += np.uint32(1)
