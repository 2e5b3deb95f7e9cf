"""Kernels of the binner and of the packing into blocks."""

import numpy as np
from numba import njit

from .lanes import ALLOCATING, OPTIONS


@njit(**ALLOCATING)
def distinct(values, limit):
    """The distinct finite values of a column, unsorted, and whether there are more.

    Stops as soon as there are more than ``limit``: a continuous column costs a few
    hundred look-ups, not a sort.
    """
    size = 4
    while size < 4 * (limit + 1):
        size *= 2
    table = np.empty(size, np.float64)
    used = np.zeros(size, np.bool_)
    found = np.empty(limit, np.float64)
    count = 0
    key = np.empty(1, np.float64)
    bits = key.view(np.uint64)
    last = np.nan
    for i in range(values.size):
        x = values[i]
        if x == 0:
            x = 0.0  # not -0.0, which has other bits
        if np.isnan(x) or x == last:
            continue
        last = x
        key[0] = x
        h = bits[0] * np.uint64(0x9E3779B97F4A7C15)
        slot = np.intp(h >> np.uint64(33)) & (size - 1)
        while used[slot] and table[slot] != x:
            slot = (slot + 1) & (size - 1)
        if not used[slot]:
            if count == limit:
                return found, True
            used[slot] = True
            table[slot] = x
            found[count] = x
            count += 1
    return found[:count], False


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
def pack_dense(bins, n_bins, first, last, codes, start, stride, column):
    """Write one column's codes into a dense block; ``last`` is that of missing values."""
    for i in range(bins.size):
        codes[start + i * stride + column] = first + bins[i] if bins[i] < n_bins else last


@njit(**OPTIONS)
def count_rows(rows, counts):
    """counts[i + 1] += 1 for every entry of row i."""
    for k in range(rows.size):
        counts[np.intp(rows[k]) + 1] += 1


@njit(**OPTIONS)
def pack_sparse(rows, bins, n_bins, first, last, codes, start, cursor):
    """Append one column's entries to their rows in a sparse block."""
    for k in range(rows.size):
        i = np.intp(rows[k])
        codes[start + np.intp(cursor[i])] = first + bins[k] if bins[k] < n_bins else last
        cursor[i] += 1
