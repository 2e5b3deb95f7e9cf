"""The search for the best cut of a block from its histogram; of the edge also see ``edge``.

A cut after bin b sends the bins 0..b to the left, the rest to the right, and says on
which side missing values go.
"""

from typing import NamedTuple

import numpy as np

from .blocks import bin_of, column_of
from .compiler import INNER, ONCE, njit
from .criteria import cut_score, is_factorised, line_scores
from .dtypes import apart
from .extremes import greater, lesser
from .lanes import add_lanes, copy, is_zero, subtract_lanes, zero


@njit(**INNER)
def scan_rows(
    criterion, ridge, half, total, histogram, first, n_rows, miss, has_missing, all_rows, left, other, best_left, line
):
    """The best cut between ``n_rows`` histogram rows from element ``first`` on.

    left : IN what is left of the first row already; scratch
    miss : (width,) sum over missing values, of use where ``has_missing``
    all_rows : whether these are all rows of the column, so that a cut after the last of them would be of no use
    other : scratch, (width,)
    best_left : OUT, (width,), what the best cut sends to the left
    line : of use to `scan_rows_of_one`

    Returns
    -------
    score, row, missing_right
        The cut is after ``row``, -1 where there is none.  On equal scores the lower cut
        wins, then missing on the right.
    """
    width = total.size
    last = n_rows - 1
    while last >= 0 and is_zero(histogram, first + last * width, width):
        last -= 1
    # Without missing values a cut after the last row is no cut; its score says so, except
    # where votes are v phi(x): there it is that of the constant classifier.
    end = last if (all_rows or is_factorised(criterion)) and not has_missing else last + 1
    best, best_row, best_missing = -np.inf, -1, 1
    for row in range(end):
        at = first + row * width
        if is_zero(histogram, at, width):
            continue
        # Half by half, as the criteria read them back.
        for k in range(0, width, half):
            add_lanes(left, k, histogram, at + k, half)
        for side in range(2 if has_missing and row < last else 1):
            if side == 1:
                copy(other, 0, left, 0, width)
                add_lanes(other, 0, miss, 0, width)
            score = cut_score(criterion, other if side == 1 else left, total, half, ridge)
            if score > best:
                best, best_row, best_missing = score, row, 1 - side
                copy(best_left, 0, other if side == 1 else left, 0, width)
    return best, best_row, best_missing


# One label has two numbers a row.  They are added up first; then all scores are computed together, in vector code.


class Line(NamedTuple):
    """Room for the rows of a column, of one thread."""

    sums: np.ndarray  # (2, rows) of the payload
    scores: np.ndarray  # (rows,) float64


def new_line(n_rows, n_threads, dtype):
    """Room for so many rows; every thread's is on cache lines of its own."""
    return Line(np.empty((n_threads, 2, apart(n_rows, dtype)), dtype), np.empty((n_threads, apart(n_rows, np.float64))))


@njit(**INNER)
def _best_of_line(criterion, ridge, total, sums, n, extra_a, extra_b, scores):
    """The first of the best of n cuts, and its score; ``extra`` is added to what they send to the left."""
    line_scores(criterion, sums, n, extra_a, extra_b, total, ridge, scores)
    best, at = -np.inf, -1
    for k in range(n):
        if scores[k] > best:
            best, at = scores[k], k
    return best, at


@njit(**INNER)
def scan_rows_of_one(
    criterion, ridge, half, total, histogram, first, n_rows, miss, has_missing, all_rows, left, other, best_left, line
):
    """`scan_rows` where there is one label, and the payload has two numbers."""
    sums, scores = line
    begin, last = 0, n_rows - 1
    while last >= 0 and histogram[first + 2 * last] == 0 and histogram[first + 2 * last + 1] == 0:
        last -= 1
    while begin < last and histogram[first + 2 * begin] == 0 and histogram[first + 2 * begin + 1] == 0:
        begin += 1
    n = (last if all_rows and not has_missing else last + 1) - begin
    if n <= 0:
        return -np.inf, -1, 1
    a, b, at = left[0], left[1], first + 2 * begin
    for k in range(n):
        a += histogram[at]
        b += histogram[at + 1]
        sums[0, k], sums[1, k] = a, b
        at += 2
    none = a - a
    best, row = _best_of_line(criterion, ridge, total, sums, n, none, none, scores)
    missing_right, extra_a, extra_b = 1, none, none
    if has_missing:
        score, k = _best_of_line(criterion, ridge, total, sums, last - begin, miss[0], miss[1], scores)
        if score > best or (score == best and k < row):
            best, row, missing_right, extra_a, extra_b = score, k, 0, miss[0], miss[1]
    if row < 0:
        return best, -1, 1
    best_left[0], best_left[1] = sums[0, row] + extra_a, sums[1, row] + extra_b
    return best, begin + row, missing_right


@njit(**ONCE)
def read_missing(column, histogram, at, width, miss):
    """Whether the node has missing values in a column; OUT miss: their sum."""
    has_missing = column.missing != 0 and not is_zero(histogram, at, width)
    if has_missing:
        copy(miss, 0, histogram, at, width)
    return has_missing


# Coarse blocks: a histogram row sums eight neighbouring bins.  All cuts between rows are scored.  The few columns
# whose best cut is best are then searched bin by bin, in the two rows on either side of that cut.  Histograms
# are an eighth of the size, so that a node costs what its rows cost and no more.

COARSE_CUT = np.dtype([("score", np.float64), ("row", np.intp)])  # a cut after a row


@njit(**ONCE)
def scan_block(
    scan, criterion, columns, block, is_open, ridge, half, total, histogram, base, scratch, line, best_left, coarse
):
    """The best cut of one block, or, where it is coarse, of each of its columns.

    scan : `scan_rows` or `scan_rows_of_one`
    is_open : (slots,) bool, the columns that may be cut
    scratch : (4, width)
    best_left : OUT, (width,), what the best cut sends to the left
    coarse : OUT, COARSE_CUT records of the columns of a coarse block; one whose samples are all
        in one row has the score of no cut

    Returns
    -------
    score, slot, bin, missing_right
        ``slot`` is -1 where no cut separates anything, and in coarse blocks; ``bin`` is the last on
        the left.  On equal scores the column that comes first in the user's table wins.
    """
    width, shift = total.size, block.shift
    miss, left, other, column_left = scratch[0], scratch[1], scratch[2], scratch[3]
    best, best_slot, best_bin, best_missing = -np.inf, -1, -1, 1
    for slot in range(block.slot, block.slot_end):
        if not is_open[slot]:
            continue
        column = columns[slot]
        first = column.code >> shift
        n_rows = (column.n_bins + (1 << shift) - 1) >> shift
        has_missing = read_missing(column, histogram, base + (column.last >> shift) * width, width, miss)
        zero(left, 0, width)
        score, row, missing_right = scan(
            criterion, ridge, half, total, histogram, base + first * width, n_rows, miss, has_missing, False, left,
            other, column_left, line,
        )  # fmt: skip
        if shift > 0:
            coarse[slot].score = score
            coarse[slot].row = first + greater(row, 0)
        elif row >= 0 and (
            score > best or best_slot < 0 or (score == best and column.feature < columns[best_slot].feature)
        ):
            best, best_slot, best_bin, best_missing = score, slot, row, missing_right
            copy(best_left, 0, column_left, 0, width)
    return best, best_slot, best_bin, best_missing


@njit(**ONCE)
def scan_fine(
    scan,
    criterion,
    blocks,
    slot,
    row,
    payload,
    ridge,
    rows,
    start,
    end,
    total,
    histogram,
    fine,
    scratch,
    line,
    best_left,
):
    """The best cut of one column of a coarse block in the rows ``row`` and ``row + 1``.

    fine : scratch, (16 * width,)
    Other arguments as in `scan_block`; returns score, bin, missing_right.
    """
    width = total.size
    column = blocks.column[slot]
    base = blocks.block[column.block].origin * width
    first = column.code >> 3
    begin = (row - first) * 8
    frequent = column.frequent
    zero(fine, 0, fine.size)
    # Numbers, not records: the compiler cannot know that writing to ``fine`` leaves those alone.
    n_bins, lanes, one_hot = column.n_bins, payload.lanes, payload.one_hot
    source, first_code, stride, code = column_of(blocks, slot)
    for r in range(np.uintp(start), np.uintp(end)):
        i = np.intp(rows[r])
        if stride > np.uintp(0):
            b = np.intp(source[first_code + np.uintp(i) * stride]) - code - begin
        else:
            b = bin_of(blocks, slot, i) - begin
        if 0 <= b < 16 and b + begin < n_bins and b + begin != frequent:
            add_lanes(fine, b * width, payload.dense, i * lanes, lanes)
            if one_hot:
                fine[b * width + payload.positive[i]] += payload.weight[i]
    if 0 <= frequent - begin < 16:
        # Not stored in sparse blocks: what the others leave of its coarse row.
        at = (frequent - begin) * width
        add_lanes(fine, at, histogram, base + (first + (frequent >> 3)) * width, width)
        for b in range((frequent - begin) & ~7, ((frequent - begin) & ~7) + 8):
            if b != frequent - begin:
                subtract_lanes(fine, at, fine, b * width, width)
    miss, left, other = scratch[0], scratch[1], scratch[2]
    has_missing = read_missing(column, histogram, base + (column.last >> 3) * width, width, miss)
    zero(left, 0, width)
    for k in range(first, row):
        add_lanes(left, 0, histogram, base + k * width, width)
    n_rows = lesser(16, column.n_bins - begin)
    score, b, missing_right = scan(
        criterion, ridge, payload.half, total, fine, 0, n_rows, miss, has_missing, False, left, other, best_left, line
    )
    return score, begin + b, missing_right


@njit(**INNER)
def leaf_score(criterion, ridge, half, total, zeros):
    """What a node brings as a leaf: the score of no cut; OUT zeros: (width,)."""
    zero(zeros, 0, total.size)
    return cut_score(criterion, zeros, total, half, ridge)
