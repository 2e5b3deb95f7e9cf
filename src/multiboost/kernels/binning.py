"""Kernels of the binner and of the packing into blocks."""

import numpy as np

from .compiler import ALLOCATING, OPTIONS, njit


def distinct(values, limit):
    """The distinct finite values of a column, unsorted, and whether there are more.

    Stops as soon as there are more than ``limit``: a continuous column costs a few
    hundred look-ups, not a sort.
    """
    values = np.ascontiguousarray(values, np.float64)
    size = 1 << int(4 * limit + 3).bit_length()
    found = np.empty(limit, np.float64)
    count = _distinct(values, values.view(np.uint64), np.zeros(size, np.int32), found)
    return found[: min(count, limit)], count > limit


@njit(**OPTIONS)
def _distinct(values, bits, table, found):
    """OUT found: the distinct values; how many there are, or one more than there is room for.

    table : zeros, a power of two of them; OUT, 1 + the place of a value in ``found``
    """
    limit = found.size
    last = np.uintp(table.size - 1)
    count = 0
    before = np.nan
    for i in range(values.size):
        x = values[i]
        if np.isnan(x) or x == before:
            continue
        before = x
        key = bits[i] if x != 0 else np.uint64(0)  # -0.0 has other bits than 0.0
        slot = np.uintp((key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(33)) & last
        while table[slot] > 0 and found[table[slot] - 1] != x:
            slot = (slot + np.uintp(1)) & last
        if table[slot] == 0:
            if count == limit:
                return limit + 1
            found[count] = x if x != 0 else 0.0
            count += 1
            table[slot] = count
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


@njit(**OPTIONS)
def digitise(values, cuts, n_bins, bins):
    """OUT bins: the number of cuts below each value; n_bins where it is missing."""
    for i in range(values.size):
        x = values[i]
        if np.isnan(x):
            bins[i] = n_bins
            continue
        low, high = 0, cuts.size
        while low < high:
            middle = (low + high) >> 1
            if cuts[middle] < x:
                low = middle + 1
            else:
                high = middle
        bins[i] = low


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
