"""Growing a Hamming tree, best leaf first (TREEBASE, Kegl 2011, Figure 3.10).

One call grows one tree on all threads of a team.  A leaf in the queue knows its best
cut and the gain of making it; the leaf with the largest gain is cut, its rows are
partitioned, and the cuts of the two new leaves are searched.  Only the smaller child's
histogram is built from rows, the other's is parent minus child, in the parent's place.

A gain is what a cut adds to the best that the leaf could do uncut.  With discrete votes
this is the edge over that of the leaf's best constant vote, as in the C++ program, whose
trees are followed step by step in the tests; Figure 3.10 has the edge of the parent's
votes in its place.

A stump is a tree of two leaves.
"""

from typing import NamedTuple

import numpy as np
from numba import from_dtype, njit, typeof, types

from .ahead import wait
from .blocks import BLOCK, COLUMN, Blocks, bin_of, column_of
from .dtypes import COARSE, CODE, EDGE, NODE, ROW, apart
from .edge import bound_block, exact_cut, slack_of
from .histogram import Payload, build_histogram, subtract_histogram, sum_payload
from .lanes import INNER, ONCE, OPTIONS, add_lanes, copy, new_scratch, zero
from .piece import call, compiled
from .scan import COARSE_CUT, leaf_score, scan_block, scan_fine
from .subset import NOMINAL, NUMERIC, Subsets, in_set, keep_set, search_nominal
from .team import SYNC_SIZE, barrier, next_item

FINALISTS = 4  # coarse columns that are searched bin by bin
_ALONE = 4096  # nodes below this many rows are partitioned by one thread


GROWING = np.dtype(
    [
        ("start", np.intp),  # the node's rows are rows[start:end];
        ("taken", np.intp),  # sums are over rows[start:taken], the samples of the round
        ("end", np.intp),
        ("left", np.intp),  # number of the left child, the right one is next; -1 in leaves
        ("feature", np.intp),  # cut column in the user's table
        ("slot", np.intp),  # the same in the blocks
        ("bin", np.intp),  # last bin on the left; of a made cut, one that has samples
        ("next_bin", np.intp),  # of a made cut: first bin on the right that has samples
        ("missing_right", np.intp),
        ("place", np.intp),  # where the node's histogram is in the pool
        ("kept", np.intp),  # whether it stays there
        ("gain", np.float64),  # of the best cut, whether made or not
        ("score", np.float64),  # of the node as a leaf
    ]
)
FOUND = np.dtype([("score", np.float64), ("slot", np.intp), ("bin", np.intp), ("missing_right", np.intp)])


class Pieces(NamedTuple):
    """Addresses of what is compiled apart, see ``piece``; 0 where it is not needed."""

    partition: int = 0  # `_partition`
    search: int = 0  # `_search_block`
    finalists: int = 0  # `_search_finalists`
    nominal: int = 0  # `search_nominal`


class Tree(NamedTuple):
    """A growing tree: 2 N - 1 nodes for N leaves, and the scratch of the growth.

    Nodes are numbered as they are born.
    """

    node: np.ndarray  # (nodes,) GROWING
    total: np.ndarray  # (nodes, width) payload sums
    best_left: np.ndarray  # (nodes, width) payload sums left of the best cut
    pool: np.ndarray  # (places + 2, all histogram rows * width); the last two are not kept
    coarse: np.ndarray  # (2, slots) COARSE_CUT, of the new leaves
    finalists: np.ndarray  # (2, FINALISTS) intp, coarse columns to be searched bin by bin
    found: np.ndarray  # (2, blocks + FINALISTS) FOUND, best cuts of the new leaves
    found_left: np.ndarray  # (2, blocks + FINALISTS, width)
    fine: np.ndarray  # (threads, 16 * width)
    partial: np.ndarray  # (threads, width and more) payload sums, each thread's on cache lines of its own
    scratch: np.ndarray  # (threads, 4 or more, width)
    spare: np.ndarray  # (n,) ROW, for partitioning
    right: np.ndarray  # (n,) bool, for partitioning
    parts: np.ndarray  # (threads, 8) intp, of a partition: see _mark
    plan: np.ndarray  # (7,) intp, what the leader tells the team
    least: np.ndarray  # (2,) int64, edges that cuts of the new leaves have to reach
    pieces: Pieces


def new_subsets(n_leaves, blocks, n_labels, seed):
    """Room for the sets of nominal cuts; of no bytes where no column is nominal."""
    nominal = blocks.column[blocks.column["nominal"] > 0]
    n_bytes = int((nominal["n_bins"] + nominal["missing"] + 7).max(initial=0)) // 8
    return Subsets(
        found=np.zeros((2, blocks.block.size, n_bytes), np.uint8),
        node=np.zeros((2 * n_leaves - 1, n_bytes), np.uint8),
        n_labels=n_labels,
        n_starts=0,
        constant=False,
        seed=seed,
    )


def new_tree(n_rows, n_leaves, blocks, width, dtype, n_threads, pool_bytes):
    """Room for a tree of at most ``n_leaves`` leaves; used again for every round."""
    nodes = 2 * n_leaves - 1
    size = blocks.n_rows * width
    places = int(max(0, min(n_leaves, pool_bytes // max(1, size * np.dtype(dtype).itemsize))))
    if n_leaves <= 2:
        places = 0  # a stump has no children to search
    n_finalists = max(FINALISTS, n_threads)
    n_found = blocks.block.size + n_finalists
    found = np.zeros((2, n_found), FOUND)
    found["slot"] = -1
    return Tree(
        node=np.zeros(nodes, GROWING),
        total=np.zeros((nodes, width), dtype),
        best_left=np.zeros((nodes, width), dtype),
        pool=np.empty((places + 2, size), dtype),
        coarse=np.zeros((2, blocks.column.size), COARSE_CUT),
        finalists=np.empty((2, n_finalists), np.intp),
        found=found,
        found_left=np.empty((2, n_found, width), dtype),
        fine=np.empty((n_threads, 16 * width), dtype),
        partial=np.empty((n_threads, apart(width, dtype)), dtype),
        scratch=new_scratch(n_threads, width, dtype),
        spare=np.empty(n_rows, ROW),
        right=np.empty(n_rows, np.bool_),
        parts=np.zeros((n_threads, 8), np.intp),
        plan=np.zeros(7, np.intp),
        least=np.zeros(2, np.int64),
        pieces=Pieces(),
    )


def with_pieces(tree, blocks, payload, subsets, bounds):
    """The tree with the pieces that it is grown with; ``bounds``: numbers are searched by ``edge``."""
    size, kind = types.intp, typeof(tree)
    partition = compiled(
        _partition, size, size, types.int64[::1], typeof(blocks), typeof(subsets), size, typeof(tree.spare), kind
    ).address
    wait()  # another process may be compiling the others, see `compile_growth`
    return tree._replace(pieces=Pieces(partition, *_search_pieces(tree, blocks, payload, subsets, bounds)))


def _search_pieces(tree, blocks, payload, subsets, bounds):
    """Addresses of the pieces that search blocks, finalists and nominal columns, 0 where they are not needed."""
    size, number = types.intp, types.float64
    block, lane, scratch = blocks.block, typeof(payload.dense), typeof(tree.scratch[0])
    room = (typeof(blocks), typeof(payload)), (size, number, typeof(tree.spare), typeof(tree), scratch)
    any_nominal = (block["nominal"] > 0).any()
    search = finalists = nominal = 0
    if any_nominal:
        nominal = compiled(
            search_nominal, typeof(subsets), size, size, typeof(blocks.column), from_dtype(BLOCK), size, number, size,
            lane, lane, size, scratch, from_dtype(FOUND), lane, allocates=True,
        ).address  # fmt: skip
    if any_nominal or not bounds:
        search = compiled(_search_block, size, *room[0], size, typeof(subsets), *room[1]).address
    if not bounds and (block["shift"] > 0).any():
        finalists = compiled(_search_finalists, size, size, types.int64[::1], *room[0], *room[1]).address
    return search, finalists, nominal


# What the plan says: the leaf to cut, the new leaves, whether the second one's histogram
# comes by subtraction, whether there are more columns to search, where the parent's rows are parted, and
# how many of those on the left are samples of the round.
_PARENT, _FIRST, _SECOND, _SUBTRACT, _MORE, _BORDER, _TAKEN = 0, 1, 2, 3, 4, 5, 6


def _search_block(b, blocks, payload, kinds, subsets, criterion, ridge, rows, tree, scratch):
    """Histograms of one block for the new leaves, and their best cuts."""
    block = blocks.block[b]
    if kinds & (NOMINAL if block.nominal > 0 else NUMERIC) == 0:
        return
    width, half = payload.width, payload.half
    base = block.origin * width
    for k in range(2):
        number = tree.plan[_FIRST + k]
        if number < 0:
            continue
        node = tree.node[number]
        total = tree.total[number]
        histogram = tree.pool[node.place]
        if k == 1 and tree.plan[_SUBTRACT] != 0:
            sibling = tree.node[tree.plan[_FIRST]]
            subtract_histogram(block, width, histogram, tree.pool[sibling.place], base)
        else:
            build_histogram(blocks, block, payload, rows, node.start, node.taken, total, histogram, base, scratch[0])
        if block.nominal > 0:
            arguments = (
                subsets, k, b, blocks.column, block, criterion, ridge, half, total, histogram, base, scratch,
                tree.found[k, b], tree.found_left[k, b],
            )  # fmt: skip
            call(tree.pieces.nominal, arguments)
        else:
            found = tree.found[k, b]
            found.score, found.slot, found.bin, found.missing_right = scan_block(
                blocks.column, block, criterion, ridge, half, total, histogram, base,
                scratch, tree.found_left[k, b], tree.coarse[k],
            )  # fmt: skip


@njit(**ONCE)
def _choose_finalists(blocks, coarse, finalists):
    """The coarse columns with the best cuts, best first; ties go to the earlier column."""
    columns = blocks.column
    count = 0
    for slot in range(columns.size):
        if blocks.block[columns[slot].block].shift == 0:
            continue
        at = count
        while at > 0:
            rival = finalists[at - 1]
            if coarse[slot].score < coarse[rival].score or (
                coarse[slot].score == coarse[rival].score and columns[slot].feature > columns[rival].feature
            ):
                break
            if at < FINALISTS:
                finalists[at] = rival
            at -= 1
        if at < FINALISTS:
            finalists[at] = slot
            count = min(count + 1, FINALISTS)
    for at in range(count, FINALISTS):
        finalists[at] = -1


@njit(**ONCE)
def _search_finalist(tid, blocks, item, payload, criterion, ridge, rows, tree, scratch):
    """Bin by bin search of one coarse column in one new leaf."""
    k, place = item // FINALISTS, item % FINALISTS
    number = tree.plan[_FIRST + k]
    if number < 0:
        return
    node = tree.node[number]
    at = blocks.block.size + place
    found = tree.found[k, at]
    slot = tree.finalists[k, place]
    found.slot = slot
    if slot >= 0:
        found.score, found.bin, found.missing_right = scan_fine(
            blocks, slot, tree.coarse[k, slot].row, payload, criterion, ridge, rows, node.start, node.taken,
            tree.total[number], tree.pool[node.place], tree.fine[tid], scratch, tree.found_left[k, at],
        )  # fmt: skip


def _search_finalists(tid, n_threads, sync, blocks, payload, criterion, ridge, rows, tree, scratch):
    """From coarse cuts to the best cuts of the new leaves: see ``scan``."""
    if tid == 0:
        for k in range(2):
            if tree.plan[_FIRST + k] >= 0:
                _choose_finalists(blocks, tree.coarse[k], tree.finalists[k])
    barrier(n_threads, sync)
    item = next_item(sync)
    while item < 2 * FINALISTS:
        _search_finalist(tid, blocks, item, payload, criterion, ridge, rows, tree, scratch)
        item = next_item(sync)
    barrier(n_threads, sync)


@njit(**INNER)
def _bound_leaves(tid, blocks, b, short, kinds, rows, tree):
    """Bounds of the edges of one block's cuts in the new leaves."""
    if kinds & NUMERIC == 0:
        return
    for k in range(2):
        number = tree.plan[_FIRST + k]
        if number < 0:
            continue
        node = tree.node[number]
        sampled = number == 0 and short.heavy < node.taken
        end = short.heavy if sampled else node.taken
        bound_block(blocks, blocks.block[b], short, tid, k, rows, node.start, end, sampled, slack_of(short, number))


@njit(**INNER)
def _begin_edge(tid, n_threads, sync, n_blocks, short, rows, tree):
    """Forget the last leaves; OUT short.total: sums over the rows of the new ones, where heavy."""
    for k in range(2):
        number = tree.plan[_FIRST + k]
        if number < 0:
            continue
        start, end = tree.node[number].start, tree.node[number].taken
        if number == 0:
            end = short.heavy
        size = -(-(end - start) // n_threads)
        begin = min(end, start + tid * size)
        sum_payload(short.payload, rows, begin, min(end, begin + size), short.partial[tid, k])
    barrier(n_threads, sync)
    if tid == 0:
        short.bound[:] = -1
        for k in range(2):
            for place in range(n_blocks, tree.found.shape[1]):
                tree.found[k, place].slot = -1
            zero(short.total[k], 0, short.payload.width)
            for t in range(n_threads):
                add_lanes(short.total[k], np.intp(0), short.partial[t, k], np.intp(0), short.payload.width)
    barrier(n_threads, sync)


@njit(**INNER)
def _choose_hopefuls(blocks, short, n_threads, tree, stump):
    """The columns with the largest bounds of those that may win, one for each thread; whether there are any.

    A column is a candidate once: its bound is then set to none.
    """
    any_left = False
    for k in range(2):
        number = tree.plan[_FIRST + k]
        if number < 0:
            continue
        least = np.int64(0)
        if not stump:  # a cut has to gain something
            least = np.int64(tree.node[number].score) + 1
        for place in range(tree.found.shape[1]):
            found = tree.found[k, place]
            if found.slot >= 0:
                least = max(least, np.int64(found.score))
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


@njit(**INNER)
def _search_hopeful(tid, n_threads, blocks, item, payload, short, rows, tree, scratch):
    """Exact search of one column in one new leaf; kept where it beats what is at its place."""
    k, place = item // n_threads, item % n_threads
    number = tree.plan[_FIRST + k]
    slot = tree.finalists[k, place]
    if number < 0 or slot < 0:
        return
    node = tree.node[number]
    at = blocks.block.size + place
    found = tree.found[k, at]
    score, b, missing_right = exact_cut(
        blocks, slot, short, tid, k, payload, rows, node.start, node.taken, slack_of(short, number), tree.least[k],
        tree.total[number], scratch[1:], scratch[0],
    )  # fmt: skip
    if b < 0 or score < tree.least[k]:
        return
    if found.slot < 0 or score > found.score or (
        score == found.score and blocks.column[slot].feature < blocks.column[found.slot].feature
    ):  # fmt: skip
        found.score, found.slot, found.bin, found.missing_right = score, slot, b, missing_right
        copy(tree.found_left[k, at], 0, scratch[0], 0, payload.width)


@njit(**INNER)
def _search_edge(tid, n_threads, sync, blocks, payload, short, rows, tree, stump, scratch):
    """From bounds to the best cuts of the new leaves: see ``edge``."""
    while True:
        if tid == 0:
            tree.plan[_MORE] = _choose_hopefuls(blocks, short, n_threads, tree, stump)
        barrier(n_threads, sync)
        if tree.plan[_MORE] == 0:
            break
        item = next_item(sync)
        while item < 2 * n_threads:
            _search_hopeful(tid, n_threads, blocks, item, payload, short, rows, tree, scratch)
            item = next_item(sync)
        barrier(n_threads, sync)


@njit(**ONCE)
def _choose_cut(columns, found, found_left, node, best_left):
    """The best of the cuts found becomes the new leaf's candidate; returns where it is."""
    best = -1
    for at in range(found.size):
        slot = found[at].slot
        if slot < 0:
            continue
        if best < 0 or found[at].score > found[best].score or (
            found[at].score == found[best].score and columns[slot].feature < columns[found[best].slot].feature
        ):  # fmt: skip
            best = at
    if best < 0:
        node.gain = -np.inf
        return best
    node.gain = found[best].score - node.score
    node.slot = found[best].slot
    node.feature = columns[node.slot].feature
    node.bin = found[best].bin
    node.missing_right = found[best].missing_right
    copy(best_left, 0, found_left[best], 0, best_left.size)
    return best


@njit(**ONCE)
def _mark(blocks, subsets, number, node, rows, begin, stop, right, part):
    """OUT right: which of rows[begin:stop] go right.

    OUT part: how many go left, the last bin there, the first bin on the right, how many
    samples of the round have no value, how many of them go left, and how many others have no value.
    """
    # Numbers, not records: the compiler cannot know that writing to ``right`` leaves those alone.
    slot, cut_bin, missing_right, taken = node.slot, node.bin, node.missing_right != 0, np.uintp(node.taken)
    n_bins, nominal = blocks.column[slot].n_bins, blocks.column[slot].nominal > 0
    source, first, stride, code = column_of(blocks, slot)
    n_left, low, high, n_missing, n_taken, n_stray = 0, -1, n_bins, 0, 0, 0
    for r in range(np.uintp(begin), np.uintp(stop)):
        if stride > np.uintp(0):
            b = np.intp(source[first + np.uintp(rows[r]) * stride]) - code
        else:
            b = bin_of(blocks, slot, np.intp(rows[r]))
        goes = b > cut_bin
        if b >= n_bins:
            goes = missing_right
            n_missing += r < taken
            n_stray += r >= taken
        elif nominal:
            goes = in_set(subsets, number, b)
        else:
            low = max(low, -1 if goes else b)
            high = min(high, b if goes else n_bins)
        right[r] = goes
        n_left += not goes
        n_taken += not goes and r < taken
    part[0], part[1], part[2], part[3], part[4], part[5] = n_left, low, high, n_missing, n_taken, n_stray


def _partition(tid, n_threads, sync, blocks, subsets, number, rows, tree):
    """Stable partition of a node's rows, left side first: samples of the round stay before others.

    Sets the node's bin and next_bin to the nearest bins that have rows, and, in the plan,
    the border.
    """
    node, spare, right, parts = tree.node[number], tree.spare, tree.right, tree.parts
    start, end = node.start, node.end
    n_parts = 1 if end - start < _ALONE else n_threads
    if tid >= n_parts:
        return
    size = -(-(end - start) // n_parts)
    begin = min(start + tid * size, end)
    stop = min(begin + size, end)
    numeric, n_bins = blocks.column[node.slot].nominal == 0, blocks.column[node.slot].n_bins
    for attempt in range(2):
        _mark(blocks, subsets, number, node, rows, begin, stop, right, parts[tid])
        if n_parts > 1:
            barrier(n_threads, sync)
        before, border, low, high, n_missing, n_taken, n_stray = 0, start, -1, n_bins, 0, 0, 0
        for t in range(n_parts):
            before += parts[t, 0] if t < tid else 0
            border += parts[t, 0]
            low, high = max(low, parts[t, 1]), min(high, parts[t, 2])
            n_missing += parts[t, 3]
            n_taken += parts[t, 4]
            n_stray += parts[t, 5]
        if n_missing > 0 or not numeric:
            break
        # Of the samples none lacks a value: others, and values missing later, go with the majority.
        majority = 2 * n_taken < node.taken - start
        if attempt == 1 or n_stray == 0 or majority == (node.missing_right != 0):
            break
        if n_parts > 1:
            barrier(n_threads, sync)
        if tid == 0:
            node.missing_right = majority
        if n_parts > 1:
            barrier(n_threads, sync)
    to_left, to_right = start + before, border + (begin - start) - before
    for r in range(begin, stop):
        # No branch: every other one would be mispredicted.
        goes = np.intp(right[r])
        spare[np.uintp(to_left + goes * (to_right - to_left))] = rows[r]
        to_right += goes
        to_left += 1 - goes
    if n_parts > 1:
        barrier(n_threads, sync)
    for r in range(begin, stop):
        rows[r] = spare[r]
    if n_parts > 1:
        barrier(n_threads, sync)
    if tid == 0:
        node.bin, node.next_bin = low, high
        if n_missing == 0 and numeric:
            node.missing_right = 2 * n_taken < node.taken - start
        tree.plan[_BORDER], tree.plan[_TAKEN] = border, n_taken


@njit(**ONCE)
def _split(keep_rows, tree, number, border, n_left, n_nodes, n_kept):
    """Two new leaves; returns how many places of the pool are taken."""
    a, b = n_nodes, n_nodes + 1
    parent, left, right = tree.node[number], tree.node[a], tree.node[b]
    parent.left = a
    left.left = right.left = -1
    n_right = parent.taken - parent.start - n_left
    left.start, left.taken, left.end = parent.start, parent.start + n_left, border
    right.start, right.taken, right.end = border, border + n_right, parent.end
    for k in range(tree.total.shape[1]):
        tree.total[a, k] = tree.best_left[number, k]
        tree.total[b, k] = tree.total[number, k] - tree.best_left[number, k]
    n_places = tree.pool.shape[0] - 2
    small, large = (a, b) if n_left <= n_right else (b, a)
    tree.node[small].kept = n_kept < n_places and min(n_left, n_right) >= keep_rows
    tree.node[small].place = n_kept if tree.node[small].kept else n_places
    tree.node[large].kept = parent.kept
    tree.node[large].place = parent.place if parent.kept else n_places + 1
    tree.plan[_FIRST], tree.plan[_SECOND] = small, large
    tree.plan[_SUBTRACT] = parent.kept and max(n_left, n_right) >= keep_rows
    return n_kept + tree.node[small].kept


@njit(**INNER)
def _sum_one_label(rows, start, end, pull, curvature):
    """Sums of G and H over rows[start:end] where there is one label."""
    sum_g = sum_h = 0.0
    h = curvature if curvature.shape[0] > 0 else pull
    for r in range(start, end):
        i = np.uintp(rows[r])
        sum_g += pull[i, 0]
        sum_h += abs(h[i, 0])
    return sum_g, sum_h


@njit(**ONCE)
def _read_leaves(sync, node, n_nodes, rows, pull, curvature, leaf, sums):
    """OUT leaf: the leaf of every row, in the order of their nodes.

    OUT sums (2, leaves, K and more): sums of G and H over each leaf, unless there is no room
    for them.
    """
    item = next_item(sync)
    while item < n_nodes:
        if node[item].left < 0:
            number = 0
            for k in range(item):
                number += node[k].left < 0
            for r in range(node[item].start, node[item].end):
                leaf[rows[r]] = number
            if sums.shape[1] > 0:
                sum_g, sum_h = sums[0, number], sums[1, number]
                n_labels = pull.shape[1]
                for k in range(n_labels):
                    sum_g[k] = sum_h[k] = 0.0
                if n_labels == 1:
                    sum_g[0], sum_h[0] = _sum_one_label(rows, node[item].start, node[item].taken, pull, curvature)
                    item = next_item(sync)
                    continue
                for r in range(node[item].start, node[item].taken):
                    g = pull[rows[r]]
                    h = curvature[rows[r]] if curvature.shape[0] > 0 else g
                    for k in range(n_labels):
                        sum_g[k] += g[k]
                        sum_h[k] += abs(h[k])
        item = next_item(sync)


@njit(**OPTIONS)
def grow(
    tid,
    n_threads,
    sync,
    blocks,
    payload,
    short,
    kinds,
    subsets,
    criterion,
    ridge,
    rows,
    n_taken,
    n_leaves,
    keep_rows,
    tree,
    pull,
    curvature,
    leaf,
    sums,
):
    """Grow a tree on ``rows`` (IN/OUT, permuted so that a leaf's rows are contiguous).

    Returns the number of nodes: 1 where no cut has a gain, else 2 * leaves - 1.

    short : Short under EDGE, else None
    kinds : NUMERIC, NOMINAL or both, the columns that may be cut
    n_taken : the first so many rows are the samples of the round, others are only given leaves
    keep_rows : histograms of nodes with fewer samples are not kept for subtraction
    pull, curvature : G and H; H is |G| where it has no rows
    leaf, sums : OUT, see `_read_leaves`
    """
    width, half = payload.width, payload.half
    scratch = tree.scratch[tid]
    # A stump is cut even where a constant would have the larger edge (3.4.2).
    stump = criterion == EDGE and n_leaves == 2
    plan = tree.plan
    n_nodes = 1
    n_kept = 0
    size = -(-n_taken // n_threads)
    sum_payload(payload, rows, min(n_taken, tid * size), min(n_taken, tid * size + size), tree.partial[tid])
    barrier(n_threads, sync)
    if tid == 0:
        zero(tree.total[0], 0, width)
        for t in range(n_threads):
            add_lanes(tree.total[0], np.intp(0), tree.partial[t], np.intp(0), width)
        root = tree.node[0]
        root.start, root.taken, root.end, root.left = 0, n_taken, rows.size, -1
        root.kept = tree.pool.shape[0] > 2 and n_taken >= keep_rows
        root.place = 0 if root.kept else tree.pool.shape[0] - 2
        n_kept = root.kept
        root.score = 0.0 if stump else leaf_score(criterion, ridge, half, tree.total[0], scratch[0])
        plan[_PARENT], plan[_FIRST], plan[_SECOND], plan[_SUBTRACT] = -1, 0, -1, 0
    barrier(n_threads, sync)
    while True:
        if short is not None:
            _begin_edge(tid, n_threads, sync, blocks.block.size, short, rows, tree)
        item = next_item(sync)
        while item < blocks.block.size:
            if short is None or blocks.block[item].nominal > 0:
                call(tree.pieces.search, (item, blocks, payload, kinds, subsets, criterion, ridge, rows, tree, scratch))
            elif short is not None:
                _bound_leaves(tid, blocks, item, short, kinds, rows, tree)
            item = next_item(sync)
        barrier(n_threads, sync)
        if short is not None:
            _search_edge(tid, n_threads, sync, blocks, payload, short, rows, tree, stump, scratch)
        elif tree.pieces.finalists != 0 and kinds & NUMERIC != 0:
            call(tree.pieces.finalists, (tid, n_threads, sync, blocks, payload, criterion, ridge, rows, tree, scratch))
        if tid == 0:
            for k in range(2):
                number = plan[_FIRST + k]
                if number >= 0:
                    at = _choose_cut(
                        blocks.column, tree.found[k], tree.found_left[k], tree.node[number], tree.best_left[number]
                    )
                    if at >= 0 and blocks.column[tree.node[number].slot].nominal > 0:
                        keep_set(subsets, k, at, number)
            best = -1
            for number in range(n_nodes):
                node = tree.node[number]
                if node.left < 0 and node.gain > 0 and (best < 0 or node.gain > tree.node[best].gain):
                    best = number
            plan[_PARENT] = best
        barrier(n_threads, sync)
        parent = plan[_PARENT]
        if parent < 0:
            break
        call(tree.pieces.partition, (tid, n_threads, sync, blocks, subsets, parent, rows, tree))
        if tid == 0:
            n_kept = _split(keep_rows, tree, parent, plan[_BORDER], plan[_TAKEN], n_nodes, n_kept)
            for number in range(n_nodes, n_nodes + 2):
                tree.node[number].score = leaf_score(criterion, ridge, half, tree.total[number], scratch[0])
        n_nodes += 2
        barrier(n_threads, sync)
        if (n_nodes + 1) // 2 >= n_leaves:
            break
    _read_leaves(sync, tree.node, n_nodes, rows, pull, curvature, leaf, sums)
    return n_nodes


def compile_growth():
    """Compile `grow` for real votes and the search of a block, without growing anything; see ``ahead``."""
    blocks = Blocks(
        np.zeros(0, CODE), np.zeros(0, np.uint32), np.zeros(1, BLOCK), np.zeros(1, COLUMN), np.zeros(0, CODE)
    )
    payload = Payload(np.zeros(0, COARSE), 1, False, np.zeros(0, np.int32), np.zeros(0, COARSE), 1, 1)
    tree, subsets = new_tree(0, 2, blocks, 1, COARSE, 1, 0), new_subsets(2, blocks, 1, 0)
    _search_pieces(tree, blocks, payload, subsets, bounds=False)
    matrix = np.zeros((0, 1))
    arguments = (
        0, 1, np.zeros(SYNC_SIZE, np.int64), blocks, payload, None, NUMERIC, subsets, EDGE, 0.0, tree.spare, 0, 2, 0,
        tree, matrix, matrix, np.zeros(0, NODE), np.zeros((2, 0, 1)),
    )  # fmt: skip
    grow.compile(tuple(typeof(argument) for argument in arguments))
