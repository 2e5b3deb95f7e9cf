"""The partition of a node's rows by its cut."""

import numpy as np

from .blocks import bin_of, column_of
from .compiler import ONCE, njit
from .extremes import greater, lesser
from .subset import in_set
from .team import barrier, next_item

_ALONE = 4096  # nodes below this many rows are partitioned by one thread


@njit(**ONCE)
def _deal_numbers(source, first, stride, border, rows, begin, stop, last, spare, place):
    """`_deal` for rows[begin:stop] of a column of numbers without missing values.

    A code minus the first one on the right is below zero on the left.  As numbers without a sign those are the larger
    ones: the largest is the last code on the left, the least is the first one on the right.

    border : the first code on the right
    last : where the first row that goes right is put
    place : where the next row that goes left is put, and the largest and the least difference so far
    """
    to_left, largest, least = place
    for r in range(np.uintp(begin), np.uintp(stop)):
        i = rows[r]
        difference = np.uint64(source[first + np.uintp(i) * stride]) - border
        # No branch: every other one would be mispredicted.
        spare[to_left] = i
        spare[to_left + (np.uintp(last) - r)] = i
        to_left += np.uintp(difference >> np.uint64(63))
        largest, least = greater(largest, difference), lesser(least, difference)
    return to_left, largest, least


@njit(**ONCE)
def _deal(blocks, subsets, number, node, rows, begin, stop, spare, part):
    """Rows of rows[begin:stop] that go left to the front of spare[begin:stop], the others to its end, backwards.

    OUT part: how many go left, the last bin there, the first bin on the right, how many
    samples of the round have no value, how many of them go left, and how many others have no value.
    """
    # Numbers, not records: the compiler cannot know that writing to ``spare`` leaves those alone.
    slot, cut_bin, missing_right, drawn = node.slot, node.bin, node.missing_right != 0, np.uintp(node.drawn)
    column = blocks.column[slot]
    n_bins, nominal = column.n_bins, column.nominal > 0
    source, first, stride, code = column_of(blocks, slot)
    n_missing, n_stray = 0, 0
    if stride > np.uintp(0) and not nominal and column.missing == 0:
        middle, last = lesser(greater(node.drawn, begin), stop), stop - 1
        border = np.uint64(code + cut_bin + 1)
        place = np.uintp(begin), np.uint64(0), ~np.uint64(0)
        place = _deal_numbers(source, first, stride, border, rows, begin, middle, last, spare, place)
        n_drawn = np.intp(place[0]) - begin
        to_left, largest, least = _deal_numbers(
            source, first, stride, border, rows, middle, stop, last, spare, place
        )  # fmt: skip
        n_left = np.intp(to_left) - begin
        low = np.intp(largest + border) - code if n_left > 0 else -1
        high = np.intp(least + border) - code if n_left < stop - begin else n_bins
    else:
        to_left, to_right, low, high, n_drawn = np.uintp(begin), np.uintp(stop - 1), -1, n_bins, 0
        for r in range(np.uintp(begin), np.uintp(stop)):
            i = rows[r]
            if stride > np.uintp(0):
                b = np.intp(source[first + np.uintp(i) * stride]) - code
            else:
                b = bin_of(blocks, slot, np.intp(i))
            goes = b > cut_bin
            if b >= n_bins:
                goes = missing_right
                n_missing += r < drawn
                n_stray += r >= drawn
            elif nominal:
                goes = in_set(subsets, number, b)
            else:
                low = greater(low, -1 if goes else b)
                high = lesser(high, b if goes else n_bins)
            spare[to_left] = spare[to_right] = i
            to_left += np.uintp(not goes)
            to_right -= np.uintp(goes)
            n_drawn += not goes and r < drawn
        n_left = np.intp(to_left) - begin
    part[0], part[1], part[2], part[3], part[4], part[5] = n_left, low, high, n_missing, n_drawn, n_stray


@njit(**ONCE)
def _gather(rows, begin, stop, spare, n_left, to_left, to_right):
    """Rows that `_deal` has dealt, in their order, to their places: the left ones, then the right ones."""
    for k in range(np.uintp(n_left)):
        rows[np.uintp(to_left) + k] = spare[np.uintp(begin) + k]
    for k in range(np.uintp(stop - begin - n_left)):
        rows[np.uintp(to_right) + k] = spare[np.uintp(stop - 1) - k]


def partition(tid, n_threads, sync, blocks, subsets, number, rows, tree):
    """Stable partition of a node's rows, left side first: samples of the round stay before others.

    Sets the node's bins below and above the cut, and, in the plan, the border.
    """
    node, spare, parts = tree.node[number], tree.spare, tree.parts
    start, end = node.start, node.end
    n_parts = 1 if end - start < _ALONE else n_threads
    if tid >= n_parts:
        return
    size = -(-(end - start) // n_parts)
    numeric, n_bins = blocks.column[node.slot].nominal == 0, blocks.column[node.slot].n_bins
    border, low, high, n_missing, n_drawn = start, -1, n_bins, 0, 0
    for attempt in range(2):
        t = next_item(sync)
        while t < n_parts:
            begin = lesser(start + t * size, end)
            _deal(blocks, subsets, number, node, rows, begin, lesser(begin + size, end), spare, parts[t])
            t = next_item(sync)
        if not barrier(tid, n_parts, sync):
            return
        border, low, high, n_missing, n_drawn, n_stray = start, -1, n_bins, 0, 0, 0
        for t in range(n_parts):
            border += parts[t, 0]
            low, high = greater(low, parts[t, 1]), lesser(high, parts[t, 2])
            n_missing += parts[t, 3]
            n_drawn += parts[t, 4]
            n_stray += parts[t, 5]
        if n_missing > 0 or not numeric:
            break
        # No sample of the round has a missing value: those outside of it, and later ones, go with the majority.
        majority = 2 * n_drawn < node.drawn - start
        if attempt == 1 or n_stray == 0 or majority == (node.missing_right != 0):
            break
        if not barrier(tid, n_parts, sync):
            return
        if tid == 0:
            node.missing_right = majority
        if not barrier(tid, n_parts, sync):
            return
    t = next_item(sync)
    while t < n_parts:
        begin = lesser(start + t * size, end)
        before = 0
        for s in range(t):
            before += parts[s, 0]
        stop = lesser(begin + size, end)
        _gather(rows, begin, stop, spare, parts[t, 0], start + before, border + (begin - start) - before)
        t = next_item(sync)
    if not barrier(tid, n_parts, sync):
        return
    if tid == 0:
        node.below, node.above = low, high
        if n_missing == 0 and numeric:
            node.missing_right = 2 * n_drawn < node.drawn - start
        plan = tree.plan[0]
        plan.border, plan.drawn = border, n_drawn
