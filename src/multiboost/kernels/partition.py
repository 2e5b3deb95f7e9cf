"""The partition of a node's rows by its cut."""

import numpy as np

from .blocks import bin_of, column_of
from .compiler import ONCE, njit
from .extremes import greater, lesser
from .subset import in_set
from .team import barrier, next_item

_ALONE = 4096  # nodes below this many rows are partitioned by one thread


@njit(**ONCE)
def _mark(blocks, subsets, number, node, rows, begin, stop, right, part):
    """OUT right: which of rows[begin:stop] go right.

    OUT part: how many go left, the last bin there, the first bin on the right, how many
    samples of the round have no value, how many of them go left, and how many others have no value.
    """
    # Numbers, not records: the compiler cannot know that writing to ``right`` leaves those alone.
    slot, cut_bin, missing_right, drawn = node.slot, node.bin, node.missing_right != 0, np.uintp(node.drawn)
    n_bins, nominal = blocks.column[slot].n_bins, blocks.column[slot].nominal > 0
    source, first, stride, code = column_of(blocks, slot)
    n_left, low, high, n_missing, n_drawn, n_stray = 0, -1, n_bins, 0, 0, 0
    for r in range(np.uintp(begin), np.uintp(stop)):
        if stride > np.uintp(0):
            b = np.intp(source[first + np.uintp(rows[r]) * stride]) - code
        else:
            b = bin_of(blocks, slot, np.intp(rows[r]))
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
        right[r] = goes
        n_left += not goes
        n_drawn += not goes and r < drawn
    part[0], part[1], part[2], part[3], part[4], part[5] = n_left, low, high, n_missing, n_drawn, n_stray


@njit(**ONCE)
def _part_some(blocks, subsets, number, node, rows, spare, begin, stop, to_left, to_right, part):
    """Part rows[begin:stop]: those on the left move to rows[to_left:], the others to spare[to_right:].

    OUT part: how many rows go left, the last bin there, the first bin on the right, and how many have no value.
    """
    # Numbers, not records: the compiler cannot know that writing to ``rows`` leaves those alone.
    slot, cut_bin, missing_right = node.slot, node.bin, node.missing_right != 0
    n_bins, nominal = blocks.column[slot].n_bins, blocks.column[slot].nominal > 0
    source, first, stride, code = column_of(blocks, slot)
    left, right, low, high, n_missing = np.uintp(to_left), np.uintp(to_right), -1, n_bins, 0
    for r in range(np.uintp(begin), np.uintp(stop)):
        row = rows[r]
        if stride > np.uintp(0):
            b = np.intp(source[first + np.uintp(row) * stride]) - code
        else:
            b = bin_of(blocks, slot, np.intp(row))
        missing = b >= n_bins
        goes = missing_right if missing else b > cut_bin
        if nominal:
            if not missing:
                goes = in_set(subsets, number, b)
        else:
            low = greater(low, -1 if goes | missing else b)
            high = lesser(high, b if goes & (not missing) else n_bins)
        n_missing += missing
        # No branch: every other one would be mispredicted.  What is written on the left was read before.
        rows[left] = row
        spare[right] = row
        left += np.uintp(not goes)
        right += np.uintp(goes)
    part[0], part[1], part[2], part[3] = np.intp(left) - to_left, low, high, n_missing


@njit(**ONCE)
def _part_alone(blocks, subsets, number, rows, tree):
    """`partition` by one thread: each row is moved once or twice."""
    node, spare, part, plan = tree.node[number], tree.spare, tree.parts[0], tree.plan[0]
    numeric, n_bins = blocks.column[node.slot].nominal == 0, blocks.column[node.slot].n_bins
    start, drawn, end = node.start, node.drawn, node.end
    border, low, high = start, -1, n_bins
    for outside in range(2):  # samples of the round, then the others
        begin, stop = (drawn, end) if outside else (start, drawn)
        _part_some(blocks, subsets, number, node, rows, spare, begin, stop, border, begin - border, part)
        border += part[0]
        low, high = greater(low, part[1]), lesser(high, part[2])
        if not outside:
            plan.drawn = part[0]
            # No sample of the round has a missing value: those outside of it, and later ones, go with the majority.
            if part[3] == 0 and numeric:
                node.missing_right = 2 * part[0] < drawn - start
    for r in range(np.uintp(border), np.uintp(end)):
        rows[r] = spare[r - np.uintp(border)]
    node.below, node.above, plan.border = low, high, border


def partition(tid, n_threads, sync, blocks, subsets, number, rows, tree):
    """Stable partition of a node's rows, left side first: samples of the round stay before others.

    Sets the node's bins below and above the cut, and, in the plan, the border.
    """
    node, spare, right, parts = tree.node[number], tree.spare, tree.right, tree.parts
    start, end = node.start, node.end
    n_parts = 1 if end - start < _ALONE else n_threads
    if n_parts == 1:
        if tid == 0:
            _part_alone(blocks, subsets, number, rows, tree)
        return
    size = -(-(end - start) // n_parts)
    numeric, n_bins = blocks.column[node.slot].nominal == 0, blocks.column[node.slot].n_bins
    border, low, high, n_missing, n_drawn = start, -1, n_bins, 0, 0
    for attempt in range(2):
        t = next_item(sync)
        while t < n_parts:
            begin = lesser(start + t * size, end)
            _mark(blocks, subsets, number, node, rows, begin, lesser(begin + size, end), right, parts[t])
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
        to_left, to_right = start + before, border + (begin - start) - before
        for r in range(begin, lesser(begin + size, end)):
            # No branch: every other one would be mispredicted.
            goes = np.intp(right[r])
            spare[np.uintp(to_left + goes * (to_right - to_left))] = rows[r]
            to_right += goes
            to_left += 1 - goes
        t = next_item(sync)
    if not barrier(tid, n_parts, sync):
        return
    t = next_item(sync)
    while t < n_parts:
        begin = lesser(start + t * size, end)
        for r in range(begin, lesser(begin + size, end)):
            rows[r] = spare[r]
        t = next_item(sync)
    if not barrier(tid, n_parts, sync):
        return
    if tid == 0:
        node.below, node.above = low, high
        if n_missing == 0 and numeric:
            node.missing_right = 2 * n_drawn < node.drawn - start
        plan = tree.plan[0]
        plan.border, plan.drawn = border, n_drawn
