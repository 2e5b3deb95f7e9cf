"""Sums of G and H over the pieces of columns, and of their products with powers of the place in a piece.

What a base learner needs that puts a function of one column together from pieces: steps, lines, splines.  Every column
is added up by one thread, in the order of the rows, so that the number of threads leaves no trace.
"""

from typing import NamedTuple

import numpy as np

from .compiler import OPTIONS, njit
from .team import next_item

# Bits are promised: no multiplication may be fused with an addition.
_EXACT = {**OPTIONS, "fastmath": False}


class Places(NamedTuple):
    """Where the rows of a table are in the pieces of its columns."""

    start: np.ndarray  # (columns + 1,) intp, the entries of each column
    row: np.ndarray  # (entries,) ROW, rising in a column
    piece: np.ndarray  # (entries,) uint32, numbered from the first piece of the column on
    place: np.ndarray  # (entries,) float64, in the piece; (0,) where nobody asks
    first_piece: np.ndarray  # (columns + 1,) intp
    rest: np.ndarray  # (columns,) intp, the piece of all rows without an entry, -1: all rows have one
    rest_place: np.ndarray  # (columns,) float64


@njit(**_EXACT)
def add_moments(tid, n_threads, sync, places, columns, pull, curvature, degree, total_g, total_h, seen, sum_g, sum_h):
    """Moments of some columns.

    columns : (chosen,) intp
    pull, curvature : (n, K) G and H; rows that take no part have zeros
    degree : of the functions that will be fitted; G is needed up to this power, H up to twice that
    total_g, total_h : (K,) sums of G and H over all rows
    seen : room to work in, (threads, 2, K and more)
    sum_g : OUT (pieces, K, degree + 1)
    sum_h : OUT (pieces, K, 2 degree + 1)
    """
    n_labels = pull.shape[1]
    item = next_item(sync)
    while item < columns.size:
        j = columns[item]
        begin = places.first_piece[j]
        for piece in range(begin, places.first_piece[j + 1]):
            for k in range(n_labels):
                for p in range(degree + 1):
                    sum_g[piece, k, p] = 0.0
                for p in range(2 * degree + 1):
                    sum_h[piece, k, p] = 0.0
        seen_g, seen_h = seen[tid, 0], seen[tid, 1]
        for k in range(n_labels):
            seen_g[k] = seen_h[k] = 0.0
        has_rest = places.rest[j] >= 0
        for e in range(places.start[j], places.start[j + 1]):
            i = np.uintp(places.row[e])
            piece = np.uintp(begin + np.intp(places.piece[e]))
            x = places.place[e] if degree > 0 else 0.0
            for k in range(n_labels):
                g, h = pull[i, k], curvature[i, k]
                if has_rest:
                    seen_g[k] += g
                    seen_h[k] += h
                power = 1.0
                for p in range(degree + 1):
                    sum_g[piece, k, p] += g * power
                    sum_h[piece, k, p] += h * power
                    power *= x
                for p in range(degree + 1, 2 * degree + 1):
                    sum_h[piece, k, p] += h * power
                    power *= x
        if has_rest:
            piece = begin + places.rest[j]
            for k in range(n_labels):
                g, h = total_g[k] - seen_g[k], max(total_h[k] - seen_h[k], 0.0)
                power = 1.0
                for p in range(degree + 1):
                    sum_g[piece, k, p] += g * power
                    sum_h[piece, k, p] += h * power
                    power *= places.rest_place[j]
                for p in range(degree + 1, 2 * degree + 1):
                    sum_h[piece, k, p] += h * power
                    power *= places.rest_place[j]
        item = next_item(sync)
