"""Cuts of nominal columns: one value against the rest, or a subset of the values.

A subset is a vector u over the categories, +1 on the right and -1 on the left (Kegl 2011,
3.4.3); bins of missing values are one more category.  Whether the constant u is a candidate
is for the base learner to say; only where votes are v phi(x) has it something to win.

All ``criteria`` are convex functions of the sums on one side.  A convex function
is largest at a corner of what subsets can sum to, and there the subset is the set of all
categories on one side of a plane through the origin: those with a . s > 0, where s are a
category's own sums and a is the criterion's slope.  So for every criterion

- with one label two numbers per category remain, the planes are the cuts of the categories
  in the order of G / H, and a scan over these is exact;
- with more labels, going back and forth between the slope of the subset and the subset
  of the slope never goes down.  For the edge the slope is the vote vector v, and this is
  BESTINDICATOR (Figure 3.8): v = sign(Gamma' u) (3.45), u = sign(Gamma v) (3.46).

The starts of that search are the best cut along the leading direction of Gamma (where H is known
centred and weighted, the order of Coppersmith, Hong and Hosking 1999), the best
selector, and random subsets.  Where it ends, single categories change sides while that
helps: of random problems of 9 to 12 categories and 2 to 10 labels the best of all subsets
was found in 96 % or more for every criterion, and without such moves in 64 to 92 %.  Up to
``EXHAUSTIVE`` categories all subsets are tried; with the edge and up to ``_ALL_VOTES`` labels
all vote vectors are.
"""

from typing import NamedTuple

import numpy as np

from .compiler import INNER, ONCE, njit
from .criteria import PULL, WEIGHTS, cut_score, cut_slope, is_factorised, layout_of
from .extremes import greater, lesser
from .lanes import add_lanes, copy, is_zero, subtract_lanes, zero

EXHAUSTIVE = 8  # categories in a node up to which all subsets are tried
_ALL_VOTES = 3  # labels up to which all vote vectors are tried
_RANDOM_SIDES = 1 << 16  # categories times random starts: with very many the other starts are as good
_POWER_STEPS = 8  # of the power iteration for the leading direction
_MOST_STEPS = 50  # of one ascent; a handful is usual
_CLIMB = 128  # categories up to which they also move one at a time; beyond, it gained less than 0.1 %
_MOST_SWEEPS = 20  # of such moves over all categories

NUMERIC, NOMINAL = 1, 2  # which columns may be cut, as bits


class Room(NamedTuple):
    """Scratch of the search, a row for each thread; of one thread, that row."""

    present: np.ndarray  # (bins,) intp, bins that have samples
    right: np.ndarray  # (bins,) bool, the side of each of them
    best: np.ndarray  # (bins,) bool, the best sides so far
    key: np.ndarray  # (bins,) float64, what the categories are ordered by
    order: np.ndarray  # (2, bins) intp
    bits: np.ndarray  # (bytes,) uint8, the best set of a column
    other: np.ndarray  # (width,) sums of the left side of a cut that may be no better
    slope: np.ndarray  # (width,) float64
    direction: np.ndarray  # (2, labels) float64, along which categories are ordered, and the next one


class Subsets(NamedTuple):
    """Nominal cuts of a growing tree: sets of bins that go right, eight to a byte."""

    found: np.ndarray  # (2, blocks, bytes) uint8, best sets of the new leaves
    node: np.ndarray  # (nodes, bytes) uint8, of the best cut of each node
    n_labels: int
    n_starts: int  # random starts of a subset; below 0: one value against the rest
    constant: bool  # whether all categories may go to one side
    seed: int
    room: Room


def new_room(n_threads, n_bytes, n_labels, width, dtype):
    """Scratch for columns of up to 8 * ``n_bytes`` bins."""
    size = 8 * n_bytes
    return Room(
        present=np.empty((n_threads, size), np.intp),
        right=np.empty((n_threads, size), np.bool_),
        best=np.empty((n_threads, size), np.bool_),
        key=np.empty((n_threads, size)),
        order=np.empty((n_threads, 2, size), np.intp),
        bits=np.empty((n_threads, n_bytes), np.uint8),
        other=np.empty((n_threads, width), dtype),
        slope=np.empty((n_threads, width)),
        direction=np.empty((n_threads, 2, n_labels)),
    )


@njit(**ONCE)
def _own(room, tid):
    """The scratch of one thread."""
    return Room(
        room.present[tid], room.right[tid], room.best[tid], room.key[tid], room.order[tid], room.bits[tid],
        room.other[tid], room.slope[tid], room.direction[tid],
    )  # fmt: skip


class Sums(NamedTuple):
    """The sums of the categories that are present, and what a score needs besides."""

    ridge: float
    half: int
    histogram: np.ndarray
    first: int  # element of bin 0
    total: np.ndarray


@njit(**INNER)
def _score(criterion, sums, left):
    return cut_score(criterion, left, sums.total, sums.half, sums.ridge)


@njit(**INNER)
def _sum_left(sums, present, right, left):
    """OUT left: what the categories on the left sum to; returns how many are on the right."""
    width = sums.total.size
    zero(left, 0, width)
    n_right = 0
    for c in range(present.size):
        if right[c]:
            n_right += 1
        else:
            add_lanes(left, 0, sums.histogram, sums.first + present[c] * width, width)
    return n_right


@njit(**INNER)
def _ascend(criterion, sums, present, right, left, slope):
    """Back and forth between slope and subset while the score grows.

    right : IN/OUT sides; left : OUT their sums.  Returns their score, -inf for a constant.
    """
    n = present.size
    width = sums.total.size
    best = -np.inf
    steps = 0
    while True:
        n_right = _sum_left(sums, present, right, left)
        if n_right == 0 or n_right == n:
            return -np.inf
        score = _score(criterion, sums, left)
        if score <= best or steps == _MOST_STEPS:
            return score
        best = score
        steps += 1
        cut_slope(criterion, left, sums.total, sums.half, sums.ridge, slope)
        for c in range(n):
            at = sums.first + present[c] * width
            along = 0.0
            for k in range(width):
                along += slope[k] * np.float64(sums.histogram[at + k])
            right[c] = along <= 0.0


@njit(**INNER)
def _climb(criterion, sums, present, right, left, score):
    """One category at a time to the other side, where the score grows by it.

    right, left : IN/OUT sides and the sums of the left; score : theirs.  Returns the new score.
    """
    n = present.size
    width = sums.total.size
    n_right = 0
    for c in range(n):
        n_right += right[c]
    for _ in range(_MOST_SWEEPS):
        before = score
        for c in range(n):
            if n_right == (1 if right[c] else n - 1):
                continue  # nothing would be left on its side
            at = sums.first + present[c] * width
            if right[c]:
                add_lanes(left, 0, sums.histogram, at, width)
            else:
                subtract_lanes(left, 0, sums.histogram, at, width)
            moved = _score(criterion, sums, left)
            if moved > score:
                score = moved
                n_right += -1 if right[c] else 1
                right[c] = not right[c]
            elif right[c]:
                subtract_lanes(left, 0, sums.histogram, at, width)
            else:
                add_lanes(left, 0, sums.histogram, at, width)
        if score == before:
            break
    return score


@njit(**INNER)
def _improve(criterion, sums, present, right, left, slope):
    """The best that a start leads to: `_ascend`, and `_climb` where categories are few."""
    score = _ascend(criterion, sums, present, right, left, slope)
    if present.size <= _CLIMB and score > -np.inf:
        score = _climb(criterion, sums, present, right, left, score)
    return score


@njit(**INNER)
def _sort(key, order, spare, n):
    """order[:n] = 0..n-1 sorted by key, ties in order: a merge sort from the bottom."""
    for i in range(n):
        order[i] = i
    size = 1
    while size < n:
        for begin in range(0, n, 2 * size):
            middle, end = lesser(begin + size, n), lesser(begin + 2 * size, n)
            i, j = begin, middle
            for k in range(begin, end):
                if i < middle and (j >= end or key[order[i]] <= key[order[j]]):
                    spare[k] = order[i]
                    i += 1
                else:
                    spare[k] = order[j]
                    j += 1
        for k in range(n):
            order[k] = spare[k]
        size *= 2


@njit(**INNER)
def _scan_order(criterion, sums, present, key, order, right, left, best_left):
    """The best cut of the categories in the order of ``key``; OUT right: its sides."""
    n = present.size
    width = sums.total.size
    _sort(key, order[0], order[1], n)
    zero(left, 0, width)
    best, last = -np.inf, 0
    for i in range(n - 1):
        add_lanes(left, 0, sums.histogram, sums.first + present[order[0, i]] * width, width)
        score = _score(criterion, sums, left)
        if score > best:
            best, last = score, i
            copy(best_left, 0, left, 0, width)
    for i in range(n):
        right[order[0, i]] = i > last
    return best


@njit(**INNER)
def _pull_of(criterion, sums, at, k):
    """G of one label in the category at element ``at``: its vote, minus that of the node where H is known."""
    half, total, h = sums.half, sums.total, sums.histogram
    if layout_of(criterion) == PULL:
        return np.float64(h[at + k])
    if layout_of(criterion) == WEIGHTS:
        g, weight = np.float64(h[at + half + k]) - h[at + k], np.float64(h[at + half + k]) + h[at + k]
        node_g, node_weight = np.float64(total[half + k]) - total[k], np.float64(total[half + k]) + total[k]
    else:
        g, weight = np.float64(h[at + k]), np.float64(h[at + half + k])
        node_g, node_weight = np.float64(total[k]), np.float64(total[half + k])
    return g - weight * node_g / node_weight if node_weight > 0 else 0.0


@njit(**INNER)
def _weight_of(criterion, sums, at):
    """H of a category, all labels together; 1 where there is no H."""
    if layout_of(criterion) == PULL:
        return 1.0
    weight = 0.0
    for k in range(0 if layout_of(criterion) == WEIGHTS else sums.half, sums.total.size):
        weight += sums.histogram[at + k]
    return greater(weight, 1.0)


@njit(**INNER)
def _order_along(criterion, sums, present, n_labels, direction, key):
    """OUT key: where each category lies along a direction, per weight."""
    for c in range(present.size):
        at = sums.first + present[c] * sums.total.size
        along = 0.0
        for k in range(n_labels):
            along += direction[k] * _pull_of(criterion, sums, at, k)
        key[c] = along / _weight_of(criterion, sums, at)


@njit(**INNER)
def _leading_direction(criterion, sums, present, n_labels, direction, new):
    """OUT direction: along which the categories differ most, by power iteration; ``new`` is scratch."""
    width = sums.total.size
    largest = -1.0
    for c in range(present.size):
        at = sums.first + present[c] * width
        size = 0.0
        for k in range(n_labels):
            size += _pull_of(criterion, sums, at, k) ** 2
        size /= _weight_of(criterion, sums, at)
        if size > largest:
            largest = size
            for k in range(n_labels):
                direction[k] = _pull_of(criterion, sums, at, k)
    for _ in range(_POWER_STEPS if n_labels > 1 else 0):
        for k in range(n_labels):
            new[k] = 0.0
        for c in range(present.size):
            at = sums.first + present[c] * width
            along = 0.0
            for k in range(n_labels):
                along += direction[k] * _pull_of(criterion, sums, at, k)
            along /= _weight_of(criterion, sums, at)
            for k in range(n_labels):
                new[k] += along * _pull_of(criterion, sums, at, k)
        norm = 0.0
        for k in range(n_labels):
            norm += new[k] * new[k]
        norm = np.sqrt(norm)
        if norm == 0.0:
            break
        for k in range(n_labels):
            direction[k] = new[k] / norm


@njit(**INNER)
def _best_selector(criterion, sums, present, right, left, best_left):
    """The best single value on the right; OUT right: sides, best_left: sums of the left."""
    width = sums.total.size
    best, chosen = -np.inf, 0
    for c in range(present.size):
        copy(left, 0, sums.total, 0, width)
        subtract_lanes(left, 0, sums.histogram, sums.first + present[c] * width, width)
        score = _score(criterion, sums, left)
        if score > best:
            best, chosen = score, c
            copy(best_left, 0, left, 0, width)
    for c in range(present.size):
        right[c] = c == chosen
    return best


@njit(**INNER)
def _best_of_all(criterion, sums, present, right, left, best_left):
    """Every subset, one change at a time (Gray code), the first category on the left."""
    n = present.size
    width = sums.total.size
    copy(left, 0, sums.total, 0, width)
    best, best_code = -np.inf, 0
    code = 0
    for step in range(1, 1 << (n - 1)):
        c = 0
        while (step >> c) & 1 == 0:
            c += 1
        code ^= 1 << c
        at = sums.first + present[c + 1] * width
        if (code >> c) & 1:
            subtract_lanes(left, 0, sums.histogram, at, width)
        else:
            add_lanes(left, 0, sums.histogram, at, width)
        score = _score(criterion, sums, left)
        if score > best:
            best, best_code = score, code
            copy(best_left, 0, left, 0, width)
    for c in range(n):
        right[c] = c > 0 and (best_code >> (c - 1)) & 1 != 0
    return best


@njit(**INNER)
def _random(state):
    """The next state and 64 random bits (splitmix64, Steele et al. 2014)."""
    state += np.uint64(0x9E3779B97F4A7C15)
    z = state
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state, z ^ (z >> np.uint64(31))


@njit(**INNER)
def _keep_better(score, best, right, best_right, left, best_left):
    if score > best:
        copy(best_right, 0, right, 0, right.size)
        copy(best_left, 0, left, 0, left.size)
        return score
    return best


@njit(**ONCE)
def _best_indicator(criterion, sums, present, n_labels, n_starts, seed, room, left, best_left):
    """The best subset that the starts lead to; OUT room.best: its sides."""
    n = present.size
    right, best_right, key, order = room.right[:n], room.best[:n], room.key[:n], room.order
    if n <= EXHAUSTIVE and n_labels > 1:
        return _best_of_all(criterion, sums, present, best_right, left, best_left)
    direction, other, slope = room.direction[0], room.other, room.slope
    if is_factorised(criterion) and n_labels <= _ALL_VOTES:
        best = -np.inf
        for signs in range(1 << (n_labels - 1)):
            for k in range(n_labels):
                direction[k] = -1.0 if (signs >> k) & 1 else 1.0
            _order_along(criterion, sums, present, n_labels, direction, key)
            score = _scan_order(criterion, sums, present, key, order, right, left, other)
            best = _keep_better(score, best, right, best_right, other, best_left)
        return best
    _leading_direction(criterion, sums, present, n_labels, direction, room.direction[1])
    _order_along(criterion, sums, present, n_labels, direction, key)
    best = _scan_order(criterion, sums, present, key, order, best_right, left, best_left)
    if n_labels == 1:
        return best
    copy(right, 0, best_right, 0, n)
    score = _improve(criterion, sums, present, right, left, slope)
    best = _keep_better(score, best, right, best_right, left, best_left)
    score = _best_selector(criterion, sums, present, right, left, other)
    best = _keep_better(score, best, right, best_right, other, best_left)
    score = _improve(criterion, sums, present, right, left, slope)
    best = _keep_better(score, best, right, best_right, left, best_left)
    state = np.uint64(seed)
    bits = np.uint64(0)
    for _ in range(lesser(n_starts, _RANDOM_SIDES // n)):
        for c in range(n):
            if c % 64 == 0:
                state, bits = _random(state)
            right[c] = (bits >> np.uint64(c % 64)) & np.uint64(1) != np.uint64(0)
        score = _improve(criterion, sums, present, right, left, slope)
        best = _keep_better(score, best, right, best_right, left, best_left)
    return best


@njit(**ONCE)
def cut_nominal(criterion, column, sums, subsets, room, left, best_left, bits):
    """The best cut of one nominal column.

    left : scratch, (width,)
    best_left : OUT (width,), what goes left
    bits : OUT uint8, the bins that go right

    Returns
    -------
    score, missing_right
        The score is -inf where fewer than two categories have samples.  Bins without
        samples go where missing values go, or where none is missing, to the heavier side.
    """
    total, histogram, first = sums.total, sums.histogram, sums.first
    width = total.size
    n_all = column.n_bins + column.missing
    n = 0
    for b in range(n_all):
        if not is_zero(histogram, first + b * width, width):
            room.present[n] = b
            n += 1
    if n < 2:
        return -np.inf, 1
    present = room.present[:n]
    sides = room.best[:n]
    if subsets.n_starts < 0:
        score = _best_selector(criterion, sums, present, sides, left, best_left)
    else:
        seed = subsets.seed + column.feature
        score = _best_indicator(
            criterion, sums, present, subsets.n_labels, subsets.n_starts, seed, room, left, best_left
        )
        if sides[0]:  # the first category is on the left: a subset has one name only
            for c in range(n):
                sides[c] = not sides[c]
            copy(left, 0, total, 0, width)
            subtract_lanes(left, 0, best_left, 0, width)
            copy(best_left, 0, left, 0, width)
    if subsets.constant and is_factorised(criterion) and _score(criterion, sums, total) > score:
        score = _score(criterion, sums, total)
        copy(best_left, 0, total, 0, width)
        for c in range(n):
            sides[c] = False
        missing_right = False
    elif column.missing != 0 and present[n - 1] == column.n_bins:
        missing_right = sides[n - 1]
    else:
        balance = 0.0
        for c in range(n):
            at = first + present[c] * width
            for k in range(width):
                size = abs(np.float64(histogram[at + k]))
                balance += size if sides[c] else -size
        missing_right = balance > 0
    n_bytes = (n_all + 7) >> 3
    for k in range(n_bytes):
        bits[k] = 255 if missing_right else 0
    for c in range(n):
        b = present[c]
        if sides[c] != missing_right:
            bits[b >> 3] ^= np.uint8(1 << (b & 7))
    return score, np.intp(missing_right)


@njit(**ONCE)
def search_nominal(
    criterion,
    tid,
    subsets,
    k,
    b,
    columns,
    block,
    is_open,
    ridge,
    half,
    total,
    histogram,
    base,
    scratch,
    found,
    best_left,
):
    """The best cut of a block of nominal columns; OUT found, best_left and subsets.found[k, b].

    Other arguments as in ``scan.scan_block``; found is a FOUND record.
    """
    width = total.size
    found_bits = subsets.found[k, b]
    room = _own(subsets.room, tid)
    bits = room.bits
    found.score, found.slot, found.bin, found.missing_right = -np.inf, -1, -1, 1
    for slot in range(block.slot, block.slot_end):
        if not is_open[slot]:
            continue
        column = columns[slot]
        sums = Sums(ridge, half, histogram, base + column.code * width, total)
        score, missing_right = cut_nominal(criterion, column, sums, subsets, room, scratch[0], scratch[1], bits)
        if score > -np.inf and (
            score > found.score
            or found.slot < 0
            or (score == found.score and column.feature < columns[found.slot].feature)
        ):
            found.score, found.slot, found.missing_right = score, slot, missing_right
            copy(best_left, 0, scratch[1], 0, width)
            copy(found_bits, 0, bits, 0, bits.size)


@njit(**INNER)
def keep_set(subsets, k, b, number):
    """The set found in block ``b`` for new leaf ``k`` becomes that of its best cut."""
    copy(subsets.node[number], 0, subsets.found[k, b], 0, subsets.node.shape[1])


@njit(**INNER)
def in_set(subsets, number, b):
    """Whether bin ``b`` goes right in the cut of a node."""
    return (subsets.node[number, b >> 3] >> (b & 7)) & 1 != 0
