"""Sums and search of the columns that a leaf touches.

In a wide sparse block, as of the words of texts, the rows of a leaf leave the frequent bin in a few columns only.  In
all others they are in one bin, so that no cut parts them.  Such a block keeps a list of the columns that the rows of a
leaf *touch*.  Only these are set to zero, subtracted and searched: what a leaf costs follows the values that its rows
have.  A column that is not listed holds whatever another leaf has left there.

Sums of frequent bins are made when a column is searched, as what the others leave of the leaf's total.

Of Z there is a bound of what a column can gain, in two multiplications and a root for each label.  Columns whose bound
does not reach the best cut so far are not searched; of texts, these are almost all.

The tree is that of the plain search, bit for bit.  All that a column offers which is not touched is a cut with nothing
on one side, which has no gain.
"""

from typing import NamedTuple

import numpy as np

from .compiler import ONCE, njit
from .criteria import bound_slopes, gain_bound, has_bound
from .dtypes import apart
from .histogram import add_up
from .lanes import copy, is_zero, subtract_lanes, zero
from .scan import read_missing, scan_rows

_SLACK = 2.0**-16  # of a bound, in units of the leaf's score, whose sums are of single precision


class Touched(NamedTuple):
    """Lists of touched columns, one for each place of the pool of histograms."""

    owner: np.ndarray  # (histogram rows,) int32, the column ("slot") of each
    slots: np.ndarray  # (places + 2, slots) int32; the list of a block begins where its columns begin
    counts: np.ndarray  # (places + 2, blocks) intp, columns in each list
    listed: np.ndarray  # (slots,) bool, scratch, False
    slopes: np.ndarray  # (threads, width and more) float32, scratch


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
    )


@njit(**ONCE)
def sum_touched(blocks, b, payload, loops, rows, start, end, histogram, base, touched, place):
    """Histogram of block ``b`` over ``rows[start:end]``, of the touched columns, without frequent bins; lists these."""
    block, width = blocks.block[b], payload.width
    codes, row_start, owner, listed = blocks.codes, blocks.row_start, touched.owner, touched.listed
    first_code, offsets, origin = np.uintp(block.start), np.uintp(block.first), np.uintp(block.origin)
    for r in range(np.uintp(start), np.uintp(end)):
        i = offsets + np.uintp(rows[r])
        for k in range(first_code + np.uintp(row_start[i]), first_code + np.uintp(row_start[i + np.uintp(1)])):
            listed[np.uintp(owner[origin + np.uintp(codes[k])])] = True
    slots, count = touched.slots[place], block.slot
    for slot in range(block.slot, block.slot_end):  # in their order, as memory is read faster so
        if listed[slot]:
            listed[slot] = False
            slots[count] = slot
            count += 1
            column = blocks.column[slot]
            before, after = column.frequent, column.last - column.code - column.frequent
            zero(histogram, base + column.code * width, before * width)
            zero(histogram, base + (column.last + 1 - after) * width, after * width)
    touched.counts[place, b] = count - block.slot
    add_up(blocks, block, payload, loops, rows, start, end, histogram, base)


@njit(**ONCE)
def subtract_touched(blocks, b, width, parent, child, base, touched, child_place):
    """The sibling's histogram in place of the parent's; its list stays that of the parent, which is long enough."""
    first = blocks.block[b].slot
    for k in range(first, first + touched.counts[child_place, b]):
        column = blocks.column[touched.slots[child_place, k]]
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
def scan_touched(
    criterion, blocks, b, is_open, ridge, half, total, own, histogram, base, touched, place, slopes, scratch, best_left
):
    """The best cut of the listed columns of block ``b``; arguments and result as of ``scan.scan_block``.

    own : the score of the leaf uncut
    slopes : scratch, (width,) float32
    """
    width, columns, slots = total.size, blocks.column, touched.slots[place]
    first = blocks.block[b].slot
    miss, left, other, column_left = scratch[0], scratch[1], scratch[2], scratch[3]
    best, best_slot, best_bin, best_missing = -np.inf, -1, -1, 1
    if has_bound(criterion):
        bound_slopes(criterion, total, half, slopes)
    for k in range(first, first + touched.counts[place, b]):
        slot = np.intp(slots[k])
        column = columns[slot]
        if not is_open[slot]:
            continue
        if has_bound(criterion) and best > own:
            bound = _SLACK * abs(own)
            for row in range(column.code, column.last + 1):
                if row != column.code + column.frequent:
                    bound += gain_bound(criterion, histogram, base + row * width, slopes, half)
            if own + bound < best:
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
