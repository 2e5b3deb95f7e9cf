"""The best cut by the edge: bounds of all columns first, then the few that may win, exactly.

Discrete votes are searched in every bin, in sums of 64 bits.  Most of that work goes to
columns which lose by far, so the search has two steps:

1. `bound_rows` adds up a *rounded* payload, 32 bits wide, over groups of bins.  At the root of a stump
   it leaves out the lightest rows.  Let the rounded edges at the two borders of a group be a and b, and let the
   rows inside have the mass m.  To move a row from one side to the other changes the edge by at most twice
   its mass.  So no cut inside has a rounded edge above (a + b) / 2 + m.  What rounding and the rows left
   out can change is the *slack*.
2. `exact_cut` searches columns bin by bin, those with the largest bounds first, in the
   groups that may win, until no bound reaches the best edge found.

The result is that of searching everything, ties included.  Leaving out light rows and pruning by
what they could still add is the idea of Appel et al. (2013).
"""

from typing import NamedTuple

import numpy as np

from .blocks import bin_of, column_of
from .compiler import INNER, ONCE, njit
from .criteria import edge_score
from .dtypes import FINE_BITS, apart, lanes
from .extremes import greater, lesser
from .histogram import Payload
from .lanes import add_lanes, add_signed, copy, new_scratch, sign_of, zero

ROUNDED, ROUNDED_BITS = np.int32, 29  # of the total weight; one bit is left for edge and mass together
_NO_CUT = -1


class Bounds(NamedTuple):
    """The rounded payload of the edge, and the room of its search."""

    payload: Payload  # ROUNDED; the labels, then the mass of the row, at least 1
    n_labels: int
    drop: int  # its unit is 2**drop units of the exact payload
    mass: np.ndarray  # (n,) int64, sum of |payload| over the labels, in exact units
    lost: np.ndarray  # (chunks,) int64, sums of |exact - rounded|, in exact units
    heavy: int  # at the root the first so many rows are summed,
    light: int  # and the others, light ones, have this mass, in exact units
    rounding: int  # what a rounded edge of all rows may be off, in exact units
    histogram: np.ndarray  # (threads, largest block) ROUNDED, where there is no pool
    pool: np.ndarray  # (places + 2, all histogram rows * width) ROUNDED, as that of the tree; no places: no pool
    total: np.ndarray  # (2, width) ROUNDED, of the new leaves
    partial: np.ndarray  # (threads, 2, width and more) ROUNDED, each thread's on cache lines of its own
    work: np.ndarray  # (threads, 4 or more, width) ROUNDED
    borders: np.ndarray  # (threads, 3, rows of the largest block and more) ROUNDED, see `_bound_column`
    row_bound: np.ndarray  # (2, histogram rows) ROUNDED
    bound: np.ndarray  # (2, slots) int64: the largest of its column, in exact units; below 0: done
    first_bin: np.ndarray  # (histogram rows,) intp, first of the bins that share the row
    fine: np.ndarray  # (threads, most bins * width) int64
    present: np.ndarray  # (threads, most bins) bool


def new_bounds(payload, n_labels, blocks, first_bin, n_threads, n_chunks):
    """A rounded payload that is not filled yet, and room for its search."""
    n, width = payload.dense.size // payload.lanes, payload.width
    return Bounds(
        payload=payload,
        n_labels=n_labels,
        drop=FINE_BITS - ROUNDED_BITS,
        mass=np.zeros(n, np.int64),
        lost=np.zeros(n_chunks, np.int64),
        heavy=n,
        light=0,
        rounding=0,
        pool=np.empty((0, 0), ROUNDED),
        total=np.zeros((2, width), ROUNDED),
        partial=np.zeros((n_threads, 2, apart(width, ROUNDED)), ROUNDED),
        work=new_scratch(n_threads, width, ROUNDED),
        **_room(blocks, first_bin, n_threads, width, n_labels),
    )


def _room(blocks, first_bin, n_threads, width, n_labels):
    """What depends on the blocks that are searched."""
    block_rows = int((blocks.block["origin_end"] - blocks.block["origin"]).max(initial=0))
    most_bins = int(blocks.column["n_bins"].max(initial=0))
    return {
        "histogram": np.empty((n_threads, block_rows * width), ROUNDED),
        "borders": np.zeros((n_threads, 3, apart(block_rows, ROUNDED)), ROUNDED),
        "row_bound": np.empty((2, blocks.n_rows), ROUNDED),
        "bound": np.empty((2, blocks.column.size), np.int64),
        "first_bin": first_bin,
        "fine": np.empty((n_threads, most_bins * lanes(n_labels)), np.int64),
        "present": np.empty((n_threads, most_bins), np.bool_),
    }


def bounds_on(bounds, blocks, first_bin):
    """The same rounded payload, for a search of other blocks."""
    return bounds._replace(**_room(blocks, first_bin, bounds.partial.shape[0], bounds.payload.width, bounds.n_labels))


@njit(**INNER)
def _edge(left, total, payload, mass_lane):
    """Rounded edge: all lanes but that of the mass."""
    return np.int64(edge_score(left, total, payload.width)) - abs(
        np.int64(total[mass_lane]) - 2 * np.int64(left[mass_lane])
    )


@njit(**INNER)
def _end_bin(bounds, column, block, g):
    """The bin after those of the column's histogram row ``g``."""
    if g + 1 == column.n_rows:
        return column.n_bins
    return bounds.first_bin[block.origin + (column.code >> block.shift) + g + 1]


@njit(**INNER)
def _is_group(bounds, column, block, g):
    """Whether the column's histogram row ``g`` has several bins."""
    return _end_bin(bounds, column, block, g) - bounds.first_bin[block.origin + (column.code >> block.shift) + g] > 1


@njit(**INNER)
def slack_of(bounds, number, n_rows):
    """What the rounded edges of a node of so many rows may be off, in exact units.

    A number is rounded by at most half a unit: small nodes lose far less than all rows together.  Of the root
    only heavy rows may be summed.
    """
    rounding = lesser(bounds.rounding, n_rows * bounds.n_labels << (bounds.drop - 1))
    return rounding + bounds.light if number == 0 else rounding


@njit(**INNER)
def _bound_column(blocks, block, slot, bounds, k, borders, constant, has_missing, sampled, slack):
    """OUT bounds.row_bound[k], bounds.bound[k] of one column.

    borders : at the column's histogram rows, the edge of a cut after the row, the same with missing values on the
        left, and the mass of the row; at that of missing values, the edge of a cut that has nothing else on its left
    constant : edge of a cut that has nothing on its left
    sampled : whether not all rows of the node are in the sums; then no bin counts as empty
    """
    edges, beside, mass = borders[0], borders[1], borders[2]
    column = blocks.column[slot]
    first, last = column.code >> block.shift, column.last >> block.shift
    before, before_missing = np.int64(constant), np.int64(edges[last])
    covered = np.int64(mass[last]) if column.missing != 0 else np.int64(0)
    all_mass = np.int64(bounds.total[k, bounds.n_labels])
    best = np.int64(_NO_CUT)
    for g in range(column.n_rows):
        inside = np.int64(mass[first + g])
        covered += inside
        bound = np.int64(_NO_CUT)
        if inside > 0 or sampled:
            is_group = _is_group(bounds, column, block, g)
            # A cut with nothing on its right is none; a group may have others.
            is_last = g == column.n_rows - 1 if sampled else covered == all_mass
            edge = np.int64(edges[first + g])
            if is_group:
                bound = (before + edge + 1) // 2 + inside
            elif has_missing or not is_last:
                bound = edge
            before = edge
            if has_missing:
                edge = np.int64(beside[first + g])
                if is_group:
                    bound = greater(bound, (before_missing + edge + 1) // 2 + inside)
                elif not is_last:
                    bound = greater(bound, edge)
                before_missing = edge
        bounds.row_bound[k, block.origin + first + g] = bound
        best = greater(best, bound)
    bounds.bound[k, slot] = (best << bounds.drop) + slack if best >= 0 else best


@njit(**ONCE)
def bound_rows(blocks, block, is_open, bounds, k, histogram, base, sampled, slack, work, borders):
    """OUT bounds.row_bound[k], bounds.bound[k] of the columns of one block of numbers.

    histogram : bounds, of the node; the block's rows begin at element ``base``
    sampled : whether the histogram is not of all rows of the node
    work : scratch, (3 or more, width)
    borders : scratch, see `_bound_column`
    """
    payload = bounds.payload
    width = payload.width
    total = bounds.total[k]
    left, other, miss = work[0], work[1], work[2]
    mass_lane = bounds.n_labels
    zero(left, 0, width)
    constant = _edge(left, total, payload, mass_lane)
    for slot in range(block.slot, block.slot_end):
        if not is_open[slot]:
            continue
        column = blocks.column[slot]
        first, last = column.code >> block.shift, column.last >> block.shift
        has_missing = False
        if column.missing != 0:
            copy(miss, 0, histogram, base + last * width, width)
            has_missing = sampled or miss[mass_lane] > 0
            borders[0, last] = _edge(miss, total, payload, mass_lane)
            borders[2, last] = miss[mass_lane]
        zero(left, 0, width)
        for row in range(first, first + column.n_rows):
            at = base + row * width
            borders[2, row] = histogram[at + mass_lane]
            if histogram[at + mass_lane] == 0 and not sampled:
                continue
            add_lanes(left, 0, histogram, at, width)
            borders[0, row] = _edge(left, total, payload, mass_lane)
            if has_missing:
                copy(other, 0, left, 0, width)
                add_lanes(other, 0, miss, 0, width)
                borders[1, row] = _edge(other, total, payload, mass_lane)
        _bound_column(blocks, block, slot, bounds, k, borders, constant, has_missing, sampled, slack)


@njit(**ONCE)
def exact_cut(blocks, slot, bounds, tid, k, payload, rows, start, end, slack, least, total, scratch, best_left):
    """The best cut of one column among the groups whose bounds reach ``least``.

    payload, total : exact
    scratch : (3, width)
    best_left : OUT, (width,), what the best cut sends to the left

    Returns
    -------
    score, bin, missing_right
        As ``scan.scan_block``; ``bin`` is -1 where no cut separates anything.
    """
    width = payload.width
    column = blocks.column[slot]
    block = blocks.block[column.block]
    first = block.origin + (column.code >> block.shift)
    low, high = column.n_rows, -1
    for g in range(column.n_rows):
        bound = np.int64(bounds.row_bound[k, first + g])
        if bound >= 0 and (bound << bounds.drop) + slack >= least:
            low, high = lesser(low, g), g
    if high < 0:
        return -np.inf, -1, 1
    begin, stop = bounds.first_bin[first + low], _end_bin(bounds, column, block, high)
    fine, present = bounds.fine[tid], bounds.present[tid]
    miss, left, other = scratch[0], scratch[1], scratch[2]
    zero(miss, 0, width)
    zero(left, 0, width)
    present[: stop - begin] = False
    any_right, any_missing = False, False
    n_bins = column.n_bins
    source, first_code, stride, code = column_of(blocks, slot)
    for r in range(np.uintp(start), np.uintp(end)):
        i = np.intp(rows[r])
        if stride > np.uintp(0):
            b = np.intp(source[first_code + np.uintp(i) * stride]) - code
        else:
            b = bin_of(blocks, slot, i)
        sign = sign_of(payload.sign, i)
        if b >= n_bins:
            any_missing = True
            add_signed(miss, 0, payload.dense, i * width, width, sign)
        elif b < begin:
            add_signed(left, 0, payload.dense, i * width, width, sign)
        elif b < stop:
            if not present[b - begin]:  # what is in its place has been left there by an earlier search
                present[b - begin] = True
                zero(fine, (b - begin) * width, width)
            add_signed(fine, (b - begin) * width, payload.dense, i * width, width, sign)
        else:
            any_right = True
    last = stop - 1
    while last >= begin and not present[last - begin]:
        last -= 1
    best, best_bin, best_missing = -np.inf, -1, 1
    for b in range(begin, last + 1):
        if not present[b - begin]:
            continue
        add_lanes(left, 0, fine, (b - begin) * width, width)
        is_last = b == last and not any_right
        for side in range(2 if any_missing and not is_last else 1):
            if is_last and not any_missing:
                continue
            if side == 1:
                copy(other, 0, left, 0, width)
                add_lanes(other, 0, miss, 0, width)
            score = np.float64(edge_score(other if side == 1 else left, total, width))
            if score > best:
                best, best_bin, best_missing = score, b, 1 - side
                copy(best_left, 0, other if side == 1 else left, 0, width)
    return best, best_bin, best_missing
