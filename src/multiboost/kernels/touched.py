"""Sums and search of the columns that a leaf touches.

In a wide sparse block, as of the words of texts, the rows of a leaf leave the frequent bin in a few columns only.  In
all others they are in one bin, so that no cut parts them.  Such a block keeps a list of the columns that the rows of a
leaf *touch*.  Only these are set to zero, subtracted and searched: what a leaf costs follows the values that its rows
have.  A column that is not listed holds whatever another leaf has left there.

Sums of frequent bins are made when a column is searched, as what the others leave of the leaf's total.

Of Z there are two bounds of what a column can gain.  The first is a number for each row of the leaf, added up column
by column beside the list: histograms of columns that it leaves out are not even read.  The second takes two
multiplications and a root for each label of a histogram row.  The column with the largest first bound is searched
first.  Columns whose bounds do not reach the best cut so far are not searched; of texts, these are almost all.

The tree is that of the plain search, bit for bit.  All that a column offers which is not touched is a cut with nothing
on one side, which has no gain.
"""

from typing import NamedTuple

import numpy as np

from .compiler import ONCE, njit
from .criteria import gain_bound, has_bound, row_bound
from .dtypes import apart
from .extremes import greater, lesser
from .histogram import add_up
from .lanes import copy, is_zero, prefetch, subtract_lanes, zero
from .scan import read_missing, scan_rows

_AHEAD, _COLUMNS_AHEAD = np.uintp(4), 3  # rows and columns that are asked for before their turn
_LINE = 16  # numbers of a cache line
_SLACK = 2.0**-16  # of a bound, in units of the leaf's score, whose sums are of single precision


class Touched(NamedTuple):
    """Lists of touched columns, one for each place of the pool of histograms."""

    owner: np.ndarray  # (histogram rows,) int32, the column ("slot") of each
    slots: np.ndarray  # (places + 2, slots) int32; the list of a block begins where its columns begin
    counts: np.ndarray  # (places + 2, blocks) intp, columns in each list
    listed: np.ndarray  # (slots,) bool, scratch, False
    slopes: np.ndarray  # (threads, width and more) float32, of the node's bounds
    bounds: np.ndarray  # (threads, slots and more) float64, scratch, 0


def new_touched(blocks, n_places, n_threads, width):
    """Room for the lists of ``n_places`` places; of no bytes where no block has them."""
    if not (blocks.block["touched"] > 0).any():
        n_places = 0
    owner = np.zeros(blocks.n_rows if n_places > 0 else 0, np.int32)
    for block in blocks.block[blocks.block["touched"] > 0]:
        slots = np.arange(block["slot"], block["slot_end"])
        column = blocks.column[slots]
        owner[block["origin"] : block["origin_end"]] = np.repeat(slots, column["last"] + 1 - column["code"])
    return Touched(
        owner=owner,
        slots=np.empty((n_places, blocks.column.size), np.int32),
        counts=np.zeros((n_places, blocks.block.size), np.intp),
        listed=np.zeros(blocks.column.size, np.bool_),
        slopes=np.empty((n_threads, apart(width, np.float32)), np.float32),
        bounds=np.zeros((n_threads, apart(blocks.column.size if n_places > 0 else 0, np.float64))),
    )


@njit(**ONCE)
def _ask_for(array, at, n):
    """Ask for array[at : at + n] before it is needed."""
    for k in range(at, at + n, _LINE):
        prefetch(array, k)


@njit(**ONCE)
def _bound_of(payload, i, slopes):
    """The first bound of a row."""
    found = row_bound(payload.dense, i * payload.lanes, slopes, payload.lanes)
    if payload.one_hot:
        found += np.float64(payload.weight[i]) * slopes[payload.positive[i]]
    return found


@njit(**ONCE)
def list_touched(criterion, blocks, b, payload, rows, start, end, touched, place, slopes, bounds):
    """List the columns of block ``b`` that ``rows[start:end]`` touch.

    slopes : of the node, where the criterion has bounds
    bounds : OUT, (slots,) the first bound of each of these columns
    """
    block = blocks.block[b]
    codes, row_start, owner, listed = blocks.codes, blocks.row_start, touched.owner, touched.listed
    first_code, offsets, origin = np.uintp(block.start), np.uintp(block.first), np.uintp(block.origin)
    last = np.uintp(greater(start, end - 1))
    for r in range(np.uintp(start), np.uintp(end)):
        i = offsets + np.uintp(rows[r])
        if has_bound(criterion):
            _ask_for(payload.dense, np.intp(rows[lesser(r + _AHEAD, last)]) * payload.lanes, payload.lanes)
        of_row = _bound_of(payload, np.intp(rows[r]), slopes) if has_bound(criterion) else 0.0
        for k in range(first_code + np.uintp(row_start[i]), first_code + np.uintp(row_start[i + np.uintp(1)])):
            slot = np.uintp(owner[origin + np.uintp(codes[k])])
            listed[slot] = True
            if has_bound(criterion):
                bounds[slot] += of_row
    slots, count = touched.slots[place], block.slot
    for slot in range(block.slot, block.slot_end):  # in their order, as memory is read faster so
        if listed[slot]:
            listed[slot] = False
            slots[count] = slot
            count += 1
    touched.counts[place, b] = count - block.slot


@njit(**ONCE)
def sum_touched(blocks, b, payload, loops, rows, start, end, histogram, base, touched, place):
    """Histogram of block ``b`` over ``rows[start:end]``, of the listed columns, without frequent bins."""
    block, width = blocks.block[b], payload.width
    for k in range(block.slot, block.slot + touched.counts[place, b]):
        column = blocks.column[touched.slots[place, k]]
        before, after = column.frequent, column.last - column.code - column.frequent
        if before > 0:
            zero(histogram, base + column.code * width, before * width)
        if after > 0:
            zero(histogram, base + (column.last + 1 - after) * width, after * width)
    add_up(blocks, block, payload, loops, rows, start, end, histogram, base)


@njit(**ONCE)
def subtract_touched(blocks, b, width, parent, child, base, touched, child_place):
    """The sibling's histogram in place of the parent's; the parent's list is long enough for it."""
    first, slots = blocks.block[b].slot, touched.slots[child_place]
    last = first + touched.counts[child_place, b] - 1
    for k in range(first, last + 1):
        column, next_one = blocks.column[slots[k]], blocks.column[slots[lesser(k + _COLUMNS_AHEAD, last)]]
        _ask_for(parent, base + (next_one.code + (next_one.frequent == 0)) * width, width)
        _ask_for(child, base + (next_one.code + (next_one.frequent == 0)) * width, width)
        for row in range(column.code, column.last + 1):
            if row != column.code + column.frequent:
                subtract_lanes(parent, base + row * width, child, base + row * width, width)


@njit(**ONCE)
def _fill_frequent(column, total, histogram, base, rest):
    """The sum of the frequent bin; returns whether there are others.  ``rest`` is scratch, (width,)."""
    width = total.size
    frequent, some = column.code + column.frequent, False
    copy(rest, 0, total, 0, width)
    for row in range(column.code, column.last + 1):
        if row != frequent and not is_zero(histogram, base + row * width, width):
            subtract_lanes(rest, 0, histogram, base + row * width, width)
            some = True
    copy(histogram, base + frequent * width, rest, 0, width)
    return some


@njit(**ONCE)
def _second_bound(criterion, column, histogram, base, slopes, half):
    """The second bound of a column, from its histogram."""
    bound = 0.0
    for row in range(column.code, column.last + 1):
        if row != column.code + column.frequent:
            bound += gain_bound(criterion, histogram, base + row * 2 * half, slopes, half)
    return bound


@njit(**ONCE)
def scan_touched(
    criterion, blocks, b, is_open, ridge, half, total, own, histogram, base, touched, place, slopes, bounds, scratch,
    best_left,
):  # fmt: skip
    """The best cut of the listed columns of block ``b``; arguments and result as of ``scan.scan_block``.

    own : the score of the leaf uncut
    slopes, bounds : as of `list_touched`; bounds become 0 again
    """
    width, columns, slots = total.size, blocks.column, touched.slots[place]
    first = blocks.block[b].slot
    miss, left, other, column_left = scratch[0], scratch[1], scratch[2], scratch[3]
    best, best_slot, best_bin, best_missing = -np.inf, -1, -1, 1
    last = first + touched.counts[place, b]
    top, most, reached = first, 0.0, own + _SLACK * abs(own)
    if has_bound(criterion):
        for k in range(first, last):
            slot = np.intp(slots[k])
            if bounds[slot] > most and is_open[slot]:
                top, most = k, bounds[slot]
        if top > first:
            slots[first], slots[top] = slots[top], slots[first]
    for k in range(first, last):
        slot = np.intp(slots[k])
        column, bound = columns[slot], bounds[slot]
        if has_bound(criterion):
            bounds[slot] = 0.0
        if not is_open[slot]:
            continue
        if has_bound(criterion):
            if bound <= 0.0 or reached + bound < best:
                continue
            if best > own and reached + _second_bound(criterion, column, histogram, base, slopes, half) < best:
                continue
        if not _fill_frequent(column, total, histogram, base, left):
            continue
        has_missing = read_missing(column, histogram, base + column.last * width, width, miss)
        zero(left, 0, width)
        score, row, missing_right = scan_rows(
            criterion, ridge, half, total, histogram, base + column.code * width, column.n_bins, miss, has_missing,
            True, left, other, column_left, None,
        )  # fmt: skip
        if row >= 0 and (
            score > best or best_slot < 0 or (score == best and column.feature < columns[best_slot].feature)
        ):
            best, best_slot, best_bin, best_missing = score, slot, row, missing_right
            copy(best_left, 0, column_left, 0, width)
    return best, best_slot, best_bin, best_missing
