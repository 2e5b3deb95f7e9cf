"""Sums of the payload per (column, bin): the one loop in which training spends its time.

The *payload* of a sample is what a criterion needs of it, in fixed point:

- PULL: G, ``half`` lanes;
- PULL_AND_CURVATURE: G and H, two halves;
- WEIGHTS: W- and W+, two halves; where each sample has exactly one positive label, W+ is
  given as one number and the label's position (``one_hot``), which saves almost half
  of the additions.

Histogram rows have ``width`` lanes: ``half`` for PULL, ``2 * half`` otherwise.

Under the edge a sample may count with the opposite sign: virtual labels, see `Problem.without`.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from numba import from_dtype, typeof, types

from .blocks import BLOCK, wide_code
from .calls import Calls, call
from .compiler import ONCE, compiled, njit
from .dtypes import COARSE, CODE, FINE, ROW, SIGN
from .extremes import greater, lesser
from .lanes import add_lanes, add_one_hot_row, add_row, add_signed, copy, prefetch, sign_of, subtract_lanes, zero


class Payload(NamedTuple):
    """What is added up; see the module's docstring."""

    dense: np.ndarray  # (n * lanes,) COARSE or FINE
    lanes: int  # dense lanes per sample: width, or half where one_hot
    step: int  # of these, that are added in one pass, see `lanes_of_a_pass`
    one_hot: bool
    positive: np.ndarray  # (n,) int32 position of W+ in the histogram row
    weight: np.ndarray  # (n,) W+ of the positive label
    half: int
    width: int
    sign: np.ndarray | None = None  # of the edge: (n,) SIGN, -1 where G of a sample counts as -G, else 0


MOST = 16  # lanes that are added at once
_NEAR, _FAR = np.uintp(6), np.uintp(12)  # rows ahead


@cache
def _add_rows(n):
    """The loop over rows for ``n`` lanes, from ``lane`` on.

    With many labels it runs several times, each for some of the lanes: an addition of any
    length would take five times as long.
    Unsigned indices, because a signed one is checked for counting from the end.
    """

    def add_rows(codes, row_start, block, payload, rows, start, end, histogram, base, lane):
        first_code = np.uintp(block.start)
        stride = np.uintp(block.stride)
        offsets = np.uintp(block.first)
        dense, lanes = payload.dense, np.uintp(payload.lanes)
        width, shift, base = payload.width, np.intp(block.shift), base + lane
        one_hot = payload.one_hot and lane == 0
        last = np.uintp(greater(start, end - 1))
        for r in range(np.uintp(start), np.uintp(end)):
            i = np.uintp(rows[r])
            # A node's rows are scattered, and the processor does not guess which come next.
            near = np.uintp(rows[lesser(r + _NEAR, last)])
            prefetch(dense, np.intp(near * lanes))
            if stride > np.uintp(0):
                prefetch(codes, np.intp(first_code + near * stride))
            else:
                prefetch(codes, np.intp(first_code + np.uintp(row_start[offsets + near])))
                prefetch(row_start, np.intp(offsets + np.uintp(rows[lesser(r + _FAR, last)])))
            if stride > np.uintp(0):
                begin = first_code + i * stride
                stop = begin + stride
            else:
                begin = first_code + np.uintp(row_start[offsets + i])
                stop = first_code + np.uintp(row_start[offsets + i + np.uintp(1)])
            source, sign = np.intp(i * lanes) + lane, sign_of(payload.sign, np.intp(i))
            begin, stop = np.intp(begin), np.intp(stop)
            if one_hot:
                position, weight = np.intp(payload.positive[i]), payload.weight[i]
                add_one_hot_row(
                    histogram, base, width, codes, begin, stop, shift, dense, source, n, sign, position, weight
                )
            else:
                add_row(histogram, base, width, codes, begin, stop, shift, dense, source, n, sign)

    return add_rows


def lanes_of_a_pass(lanes: int) -> int:
    """How many lanes are added at once."""
    n_passes = -(-lanes // MOST)
    # A loop is compiled for each number of lanes, so equal passes need one loop only.
    return lanes // n_passes if n_passes == 1 or lanes % (4 * n_passes) == 0 else MOST


def loops_of(payload) -> Calls:
    """The loops that add up a payload: "whole" passes, and the "rest" of the lanes."""
    return _loops(typeof(payload), payload.step, payload.lanes % payload.step)


def no_loops(payload) -> Calls:
    """The same without loops: what is compiled for it can be called with them."""
    return _loops(typeof(payload), 0, 0)


def compile_loops() -> None:
    """Compile the loops for any number of labels, which are then kept on disk."""
    for dtype in (COARSE, FINE):
        for lanes in (1, 2, 4, 8, 12, 16):
            none, empty = np.zeros(0, np.int32), np.zeros(0, dtype)
            sign = np.zeros(0, SIGN) if dtype is FINE else None
            loops_of(Payload(empty, lanes, lanes, False, none, empty, lanes, lanes, sign))


@cache
def _loops(kind, step, rest):
    size = types.intp
    kinds = (
        from_dtype(np.dtype(CODE))[::1], types.uint32[::1], from_dtype(BLOCK), kind, from_dtype(np.dtype(ROW))[::1],
        size, size, kind[0], size, size,
    )  # fmt: skip
    lanes = {"whole": step, "rest": rest}
    return Calls(**{name: (compiled(_add_rows(n), *kinds) if n > 0 else None, kinds) for name, n in lanes.items()})


@njit(**ONCE)
def build_wide_histogram(codes, block, payload, rows, start, end, histogram, base):
    """As `build_histogram`, for the one column of a wide block."""
    width, lanes = payload.width, payload.lanes
    zero(histogram, base, (block.origin_end - block.origin) * width)
    for r in range(start, end):
        i = np.intp(rows[r])
        target = base + wide_code(codes, np.uintp(block.start + 2 * i)) * width
        add_signed(histogram, target, payload.dense, i * lanes, lanes, sign_of(payload.sign, i))
        if payload.one_hot:
            histogram[target + payload.positive[i]] += payload.weight[i]


@njit(**ONCE)
def add_up(blocks, block, payload, loops, rows, start, end, histogram, base):
    """The payload of ``rows[start:end]`` is added to the histogram, which is not set to zero."""
    step, lane = payload.step, np.intp(0)
    while lane < payload.lanes:
        arguments = (blocks.codes, blocks.row_start, block, payload, rows, start, end, histogram, base, lane)
        if lane + step <= payload.lanes:
            call(loops, "whole", arguments)
        else:
            call(loops, "rest", arguments)
        lane += step


@njit(**ONCE)
def build_histogram(blocks, block, payload, loops, rows, start, end, total, histogram, base, rest):
    """Histogram of one block (a BLOCK record) over ``rows[start:end]``.

    loops : see `loops_of`
    histogram : OUT, flat; the block's rows begin at element ``base``
    total : (width,) sum of the payload over the same rows
    rest : scratch, (width,)
    """
    width = payload.width
    zero(histogram, base, (block.origin_end - block.origin) * width)
    add_up(blocks, block, payload, loops, rows, start, end, histogram, base)
    if block.stride == 0:
        for slot in range(block.slot, block.slot_end):
            column = blocks.column[slot]
            copy(rest, 0, total, 0, width)
            for row in range(column.code >> block.shift, (column.last >> block.shift) + 1):
                subtract_lanes(rest, 0, histogram, base + row * width, width)
            frequent = (column.code + column.frequent) >> block.shift
            add_lanes(histogram, base + frequent * width, rest, 0, width)


@njit(**ONCE)
def subtract_histogram(block, width, parent, child, base):
    """The sibling's histogram in place of the parent's: parent -= child, both from ``base``."""
    n = (block.origin_end - block.origin) * width
    a = parent[base : base + n]
    b = child[base : base + n]
    for k in range(n):
        a[k] -= b[k]


@njit(**ONCE)
def sum_payload(payload, rows, start, end, total):
    """OUT total: sum of the payload over ``rows[start:end]``."""
    zero(total, 0, total.size)
    for r in range(start, end):
        i = np.intp(rows[r])
        add_signed(total, 0, payload.dense, i * payload.lanes, payload.lanes, sign_of(payload.sign, i))
        if payload.one_hot:
            total[payload.positive[i]] += payload.weight[i]
