"""Bounds and hopefuls: how a team searches the cuts of new leaves by the edge, see ``edge``.

A column is hopeful while its bound reaches the best edge that was found.
"""

import numpy as np
from numba import njit

from .edge import bound_rows, exact_cut, slack_of
from .extremes import greater, lesser
from .growing import FIRST, MORE, comes_by_subtraction
from .histogram import build_histogram, sum_payload
from .lanes import ONCE, add_lanes, copy, zero
from .piece import call
from .team import barrier, next_item


def begin_bounds(tid, n_threads, sync, n_blocks, short, rows, tree):
    """Forget the last leaves; OUT short.total: sums over the rows of the new ones, where heavy."""
    for k in range(2):
        number = tree.plan[FIRST + k]
        if number < 0:
            continue
        start, end = tree.node[number].start, tree.node[number].taken
        if number == 0:
            end = short.heavy
        size = -(-(end - start) // n_threads)
        begin = lesser(end, start + tid * size)
        sum_payload(short.payload, rows, begin, lesser(end, begin + size), short.partial[tid, k])
    barrier(n_threads, sync)
    if tid == 0:
        for k in range(2):
            for slot in range(short.bound.shape[1]):
                short.bound[k, slot] = -1
            for place in range(n_blocks, tree.found.shape[1]):
                tree.found[k, place].slot = -1
            zero(short.total[k], 0, short.payload.width)
            for t in range(n_threads):
                add_lanes(short.total[k], 0, short.partial[t, k], 0, short.payload.width)
    barrier(n_threads, sync)


def bound_numbers(tid, b, k, blocks, short, rows, tree):
    """Bounds of the edges of the cuts of one block of numbers in new leaf ``k``."""
    block, payload, work, borders = blocks.block[b], short.payload, short.work[tid], short.borders[tid]
    number = tree.plan[FIRST + k]
    node = tree.node[number]
    slack = slack_of(short, number, node.taken - node.start)
    if number == 0 and short.pairs.piece != 0:
        call(short.pairs.piece, (blocks, b, short, k, slack, short.histogram[tid], borders))
        return
    in_pool = short.pool.shape[0] > 0
    base = block.origin * payload.width if in_pool else 0
    histogram = short.pool[node.place] if in_pool else short.histogram[tid]
    sampled = number == 0 and short.heavy < node.taken
    if not in_pool or not comes_by_subtraction(tree, short.pool, k, block, payload.width, base):
        end = short.heavy if sampled else node.taken
        build_histogram(blocks, block, payload, rows, node.start, end, short.total[k], histogram, base, work[3])
    bound_rows(blocks, block, short, k, histogram, base, sampled, slack, work, borders)


@njit(**ONCE)
def _choose_hopefuls(blocks, short, n_threads, tree, stump):
    """The columns with the largest bounds of those that may win, one for each thread; whether there are any.

    A column is a candidate once: its bound is then set to none.
    """
    any_left = False
    for k in range(2):
        number = tree.plan[FIRST + k]
        if number < 0:
            continue
        least = np.int64(0)
        if not stump:  # a cut has to gain something
            least = np.int64(tree.node[number].score) + 1
        for place in range(tree.found.shape[1]):
            found = tree.found[k, place]
            if found.slot >= 0:
                least = greater(least, np.int64(found.score))
        tree.least[k] = least
        for place in range(n_threads):
            best = -1
            for slot in range(short.bound.shape[1]):
                if short.bound[k, slot] >= least and (best < 0 or short.bound[k, slot] > short.bound[k, best]):
                    best = slot
            tree.finalists[k, place] = best
            if best >= 0:
                short.bound[k, best] = -1
                any_left = True
    return any_left


@njit(**ONCE)
def _search_hopeful(tid, n_threads, blocks, item, payload, short, rows, tree, scratch):
    """Exact search of one column in one new leaf; kept where it beats what is at its place."""
    k, place = item // n_threads, item % n_threads
    number = tree.plan[FIRST + k]
    slot = tree.finalists[k, place]
    if number < 0 or slot < 0:
        return
    node = tree.node[number]
    at = blocks.block.size + place
    found = tree.found[k, at]
    slack = slack_of(short, number, node.taken - node.start)
    score, b, missing_right = exact_cut(
        blocks, slot, short, tid, k, payload, rows, node.start, node.taken, slack, tree.least[k], tree.total[number],
        scratch[1:], scratch[0],
    )  # fmt: skip
    if b < 0 or score < tree.least[k]:
        return
    if found.slot < 0 or score > found.score or (
        score == found.score and blocks.column[slot].feature < blocks.column[found.slot].feature
    ):  # fmt: skip
        found.score, found.slot, found.bin, found.missing_right = score, slot, b, missing_right
        copy(tree.found_left[k, at], 0, scratch[0], 0, payload.width)


def search_hopefuls(tid, n_threads, sync, blocks, payload, short, stump, rows, tree, scratch):
    """From bounds to the best cuts of the new leaves."""
    while True:
        if tid == 0:
            tree.plan[MORE] = _choose_hopefuls(blocks, short, n_threads, tree, stump)
        barrier(n_threads, sync)
        if tree.plan[MORE] == 0:
            break
        item = next_item(sync)
        while item < 2 * n_threads:
            _search_hopeful(tid, n_threads, blocks, item, payload, short, rows, tree, scratch)
            item = next_item(sync)
        barrier(n_threads, sync)
