"""Bounds of the edge from heavy pairs: what is left of the short payload when boosting has gone on for long.

After some thousand rounds almost all weight is on two or three labels of each row, and
most lanes of the payload are next to nothing.  Then the short payload is also a list of its heavy pairs
(row, label), label by label, and a block's histogram is made for one label at a time: a
single addition where rows take one for every label, in a histogram that fits into the first-level cache.
What the light pairs could change is part of the slack, see ``edge``.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from .dtypes import ROW
from .extremes import greater, lesser
from .heavy import count_pairs, list_pairs
from .lanes import INNER, OPTIONS, prefetch, zero

_AHEAD, _LINE = np.uintp(4), np.uintp(32)  # pairs, and codes of a cache line


class Pairs(NamedTuple):
    """Heavy pairs, and the room in which they are added up."""

    first: np.ndarray  # (labels + 2,) intp; those of label k are first[k] up to first[k + 1], then rows, for their mass
    row: np.ndarray  # ROW
    value: np.ndarray  # of the short payload, see `read_values` and `turn_values`
    total: np.ndarray  # (labels + 1,) int64, sums of values
    mass: np.ndarray  # (histogram rows,) of the rows that have pairs: the same whatever the signs of labels
    has_mass: np.ndarray  # (blocks,) bool, whether it is known
    piece: int  # address of ``edge.bound_pairs``; 0: there are no pairs


def new_pairs(first, row, dtype, blocks, piece) -> Pairs:
    """Room for what is known of pairs."""
    return Pairs(
        first=first,
        row=row,
        value=np.empty(row.size, dtype),
        total=np.zeros(first.size - 1, np.int64),
        mass=np.zeros(blocks.n_rows, dtype),
        has_mass=np.full(blocks.block.size, first[-1] == first[-2]),
        piece=piece,
    )


def no_pairs(dtype, blocks) -> Pairs:
    return new_pairs(np.zeros(2, np.intp), np.zeros(0, ROW), dtype, blocks, 0)


def find_pairs(payload, mass, n_labels, rows, least, with_rows) -> tuple[np.ndarray, np.ndarray, int]:
    """Pairs at least as heavy as ``least``; then, if ``with_rows``, the rows that have one.

    Returns
    -------
    first, row
        As in `Pairs`.
    light : int
        Mass of the other pairs.
    """
    count = np.zeros(n_labels + 1, np.intp)
    light = count_pairs(payload, mass, rows, least, count)
    if not with_rows:
        count[n_labels] = 0
    first = np.concatenate([np.zeros(1, np.intp), np.cumsum(count)])
    row = np.empty(first[-1], ROW)
    list_pairs(payload, mass, rows, least, with_rows, first[:-1].copy(), row)
    return first, row, light


@njit(**OPTIONS)
def read_values(pairs, payload):
    """OUT pairs.value, pairs.total: of the short payload."""
    for k in range(pairs.first.size - 1):
        total = np.int64(0)
        for p in range(pairs.first[k], pairs.first[k + 1]):
            value = payload.dense[np.intp(pairs.row[p]) * payload.lanes + k]
            pairs.value[p] = value
            total += value
        pairs.total[k] = total


@njit(**OPTIONS)
def turn_values(pairs, sign, turned):
    """OUT turned.value, turned.total: labels of samples whose sign is -1 are multiplied by it, their mass is not."""
    n_labels = pairs.first.size - 2
    for k in range(n_labels):
        total = np.int64(0)
        for p in range(pairs.first[k], pairs.first[k + 1]):
            m = sign[pairs.row[p]]
            value = (pairs.value[p] ^ m) - m
            turned.value[p] = value
            total += value
        turned.total[k] = total
    for p in range(pairs.first[n_labels], pairs.first[n_labels + 1]):
        turned.value[p] = pairs.value[p]
    turned.total[n_labels] = pairs.total[n_labels]


@njit(**INNER)
def add_pairs(blocks, block, pairs, k, sums):
    """OUT sums: of label ``k`` over the histogram rows of one block."""
    codes, row_start = blocks.codes, blocks.row_start
    first_code, stride, offsets = np.uintp(block.start), np.uintp(block.stride), np.uintp(block.first)
    shift = np.uintp(block.shift)
    zero(sums, 0, block.origin_end - block.origin)
    last = np.uintp(greater(pairs.first[k], pairs.first[k + 1] - 1))
    for p in range(np.uintp(pairs.first[k]), np.uintp(pairs.first[k + 1])):
        i, near = np.uintp(pairs.row[p]), np.uintp(pairs.row[lesser(p + _AHEAD, last)])
        if stride > np.uintp(0):
            begin, ahead = first_code + i * stride, first_code + near * stride
            stop = begin + stride
        else:
            begin = first_code + np.uintp(row_start[offsets + i])
            ahead = first_code + np.uintp(row_start[offsets + near])
            stop = first_code + np.uintp(row_start[offsets + i + np.uintp(1)])
        prefetch(codes, np.intp(ahead))
        prefetch(codes, np.intp(ahead + _LINE))
        value = pairs.value[p]
        for c in range(begin, stop):
            sums[np.uintp(codes[c]) >> shift] += value
    if block.stride == 0:
        for slot in range(block.slot, block.slot_end):
            column = blocks.column[slot]
            rest = pairs.total[k]
            for row in range(column.code >> block.shift, (column.last >> block.shift) + 1):
                rest -= sums[row]
            sums[(column.code + column.frequent) >> block.shift] += rest
