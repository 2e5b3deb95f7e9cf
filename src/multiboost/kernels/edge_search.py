"""How a team searches the cuts of new leaves by the edge: bounds, then candidates, see ``edge``.

A column is a candidate while its bound reaches the best edge that was found.
"""

import numpy as np

from .compiler import ONCE, njit
from .edge import bound_rows, exact_cut, slack_of
from .extremes import greater, lesser
from .growing import comes_by_subtraction, open_to
from .histogram import build_histogram, sum_payload
from .lanes import add_lanes, copy, zero
from .team import barrier, next_item


def begin_bounds(tid, n_threads, sync, n_blocks, bounds, rows, tree):
    """Forget the last leaves; OUT bounds.total: sums over the rows of the new ones, at the root without light rows."""
    item = next_item(sync)
    while item < 2 * n_threads:
        k, part = item // n_threads, item % n_threads
        number = tree.new[k]
        if number >= 0:
            start, end = tree.node[number].start, bounds.heavy if number == 0 else tree.node[number].drawn
            size = -(-(end - start) // n_threads)
            begin = lesser(end, start + part * size)
            sum_payload(bounds.payload, rows, begin, lesser(end, begin + size), bounds.partial[part, k])
        item = next_item(sync)
    if not barrier(tid, n_threads, sync):
        return
    if tid == 0:
        for k in range(2):
            for slot in range(bounds.bound.shape[1]):
                bounds.bound[k, slot] = -1
            for place in range(n_blocks, tree.found.shape[1]):
                tree.found[k, place].slot = -1
            zero(bounds.total[k], 0, bounds.payload.width)
            for t in range(n_threads):
                add_lanes(bounds.total[k], 0, bounds.partial[t, k], 0, bounds.payload.width)


def bound_numbers(tid, b, k, blocks, bounds, loops, rows, tree):
    """Bounds of the edges of the cuts of one block of numbers in new leaf ``k``."""
    block, payload, work, borders = blocks.block[b], bounds.payload, bounds.work[tid], bounds.borders[tid]
    number = tree.new[k]
    node = tree.node[number]
    slack = slack_of(bounds, number, node.drawn - node.start)
    in_pool = bounds.pool.shape[0] > 0
    base = block.origin * payload.width if in_pool else 0
    histogram = bounds.pool[node.place] if in_pool else bounds.histogram[tid]
    sampled = number == 0 and bounds.heavy < node.drawn
    if not in_pool or not comes_by_subtraction(tree, bounds.pool, k, block, payload.width, base):
        end = bounds.heavy if sampled else node.drawn
        build_histogram(blocks, block, payload, loops, rows, node.start, end, bounds.total[k], histogram, base, work[3])
    bound_rows(blocks, block, open_to(tree, number), bounds, k, histogram, base, sampled, slack, work, borders)


@njit(**ONCE)
def _choose_candidates(blocks, bounds, n_threads, tree, forced):
    """The columns with the largest bounds of those that may win, one for each thread; whether there are any.

    A column is a candidate once: its bound is then set to none.
    """
    any_left = False
    for k in range(2):
        number = tree.new[k]
        if number < 0:
            continue
        least = np.int64(0)
        if not forced:  # a cut has to gain something
            least = np.int64(tree.node[number].score) + 1
        for place in range(tree.found.shape[1]):
            found = tree.found[k, place]
            if found.slot >= 0:
                least = greater(least, np.int64(found.score))
        tree.least[k] = least
        for place in range(n_threads):
            best = -1
            for slot in range(bounds.bound.shape[1]):
                if bounds.bound[k, slot] >= least and (best < 0 or bounds.bound[k, slot] > bounds.bound[k, best]):
                    best = slot
            tree.finalists[k, place] = best
            if best >= 0:
                bounds.bound[k, best] = -1
                any_left = True
    return any_left


@njit(**ONCE)
def _search_candidate(tid, n_threads, blocks, item, payload, bounds, rows, tree, scratch):
    """Exact search of one column in one new leaf; kept where it beats what is at its place."""
    k, place = item // n_threads, item % n_threads
    number = tree.new[k]
    slot = tree.finalists[k, place]
    if number < 0 or slot < 0:
        return
    node = tree.node[number]
    at = blocks.block.size + place
    found = tree.found[k, at]
    slack = slack_of(bounds, number, node.drawn - node.start)
    score, b, missing_right = exact_cut(
        blocks, slot, bounds, tid, k, payload, rows, node.start, node.drawn, slack, tree.least[k], tree.total[number],
        scratch[1:], scratch[0],
    )  # fmt: skip
    if b < 0 or score < tree.least[k]:
        return
    if found.slot < 0 or score > found.score or (
        score == found.score and blocks.column[slot].feature < blocks.column[found.slot].feature
    ):  # fmt: skip
        found.score, found.slot, found.bin, found.missing_right = score, slot, b, missing_right
        copy(tree.found_left[k, at], 0, scratch[0], 0, payload.width)


def search_candidates(tid, n_threads, sync, blocks, payload, bounds, forced, rows, tree, scratch):
    """From bounds to the best cuts of the new leaves."""
    while True:
        if tid == 0:
            tree.plan[0].more = _choose_candidates(blocks, bounds, n_threads, tree, forced)
        if not barrier(tid, n_threads, sync) or tree.plan[0].more == 0:
            return
        item = next_item(sync)
        while item < 2 * n_threads:
            _search_candidate(tid, n_threads, blocks, item, payload, bounds, rows, tree, scratch)
            item = next_item(sync)
        if not barrier(tid, n_threads, sync):
            return
