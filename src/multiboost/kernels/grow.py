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

import numpy as np
from numba import from_dtype, njit, typeof, types

from .ahead import wait
from .blocks import BLOCK, COLUMN, Blocks
from .dtypes import COARSE, CODE, EDGE, FINE, NODE, SIGN
from .edge import SHORT, short_of
from .extremes import greater, lesser
from .growing import (
    BORDER,
    FINALISTS,
    FIRST,
    FOUND,
    PARENT,
    SECOND,
    SUBTRACT,
    TAKEN,
    Pieces,
    comes_by_subtraction,
    new_subsets,
    new_tree,
)
from .histogram import Payload, build_histogram, build_wide_histogram, sum_payload
from .hopefuls import begin_bounds, bound_numbers, search_hopefuls
from .lanes import ONCE, OPTIONS, add_lanes, copy, zero
from .leaves import read_leaves
from .partition import partition
from .piece import call, compiled
from .scan import leaf_score, scan_block, scan_fine
from .subset import NOMINAL, NUMERIC, keep_set, search_nominal
from .team import SYNC_SIZE, barrier, next_item


def with_pieces(tree, blocks, payload, short, subsets):
    """The tree with the pieces that it is grown with."""
    size, kind = types.intp, typeof(tree)
    part = compiled(
        partition, size, size, types.int64[::1], typeof(blocks), typeof(subsets), size, typeof(tree.spare), kind
    )
    search = _bound_piece(tree, blocks, short) if short is not None else 0
    wait()  # another process may be compiling the others, see `compile_growth`
    begin = finalists = 0
    if short is not None:
        begin, finalists = _edge_pieces(tree, blocks, payload, short)
    else:
        search, finalists = _number_pieces(tree, blocks, payload)
    nominals = _nominal_pieces(tree, blocks, payload, subsets)
    return tree._replace(pieces=Pieces(part.address, _leaves_piece(tree), search, finalists, begin, *nominals))


# Addresses of the pieces, 0 where there is nothing to search.


def _leaves_piece(tree):
    matrix = types.float64[:, ::1]
    return compiled(
        read_leaves, types.int64[::1], typeof(tree.node), types.intp, typeof(tree.spare), matrix, matrix,
        from_dtype(np.dtype(NODE))[::1], types.float64[:, :, ::1],
    ).address  # fmt: skip


def _bound_piece(tree, blocks, short):
    size = types.intp
    return compiled(
        bound_numbers, size, size, size, typeof(blocks), typeof(short), typeof(tree.spare), typeof(tree)
    ).address  # fmt: skip


def _edge_pieces(tree, blocks, payload, short):
    """Those that begin and end the search by bounds."""
    size, sync, rows = types.intp, types.int64[::1], typeof(tree.spare)
    begin = compiled(begin_bounds, size, size, sync, size, typeof(short), rows, typeof(tree))
    hopefuls = compiled(
        search_hopefuls, size, size, sync, typeof(blocks), typeof(payload), typeof(short), types.boolean, rows,
        typeof(tree), typeof(tree.scratch[0]),
    )  # fmt: skip
    return begin.address, hopefuls.address


def _number_pieces(tree, blocks, payload):
    """Those that search blocks of numbers without bounds, and the finalists of coarse ones."""
    size, block = types.intp, blocks.block
    room = (
        typeof(blocks), typeof(payload), size, types.float64, typeof(tree.spare), typeof(tree), typeof(tree.scratch[0])
    )  # fmt: skip
    search = finalists = 0
    if (block["nominal"] == 0).any():
        search = compiled(_search_numbers, size, size, *room).address
    if (block["shift"] > 0).any():
        finalists = compiled(_search_finalists, size, size, types.int64[::1], *room).address
    return search, finalists


def _nominal_pieces(tree, blocks, payload, subsets):
    """Those that search blocks of nominal columns, and one such column."""
    if not (blocks.block["nominal"] > 0).any():
        return 0, 0
    size, number, lane, scratch = types.intp, types.float64, typeof(payload.dense), typeof(tree.scratch[0])
    nominals = compiled(
        _search_nominals, size, size, typeof(blocks), typeof(payload), typeof(subsets), size, number,
        typeof(tree.spare), typeof(tree), scratch,
    )  # fmt: skip
    nominal = compiled(
        search_nominal, typeof(subsets), size, size, typeof(blocks.column), from_dtype(BLOCK), size, number, size,
        lane, lane, size, scratch, from_dtype(FOUND), lane, allocates=True,
    )  # fmt: skip
    return nominals.address, nominal.address


def _search_numbers(b, k, blocks, payload, criterion, ridge, rows, tree, scratch):
    """Histogram of one block of numbers for new leaf ``k``, and its best cut."""
    block, number = blocks.block[b], tree.plan[FIRST + k]
    node, total, base = tree.node[number], tree.total[number], block.origin * payload.width
    histogram = tree.pool[node.place]
    if not comes_by_subtraction(tree, tree.pool, k, block, payload.width, base):
        build_histogram(blocks, block, payload, rows, node.start, node.taken, total, histogram, base, scratch[0])
    found = tree.found[k, b]
    found.score, found.slot, found.bin, found.missing_right = scan_block(
        blocks.column, block, criterion, ridge, payload.half, total, histogram, base, scratch, tree.found_left[k, b],
        tree.coarse[k],
    )  # fmt: skip


def _search_nominals(b, k, blocks, payload, subsets, criterion, ridge, rows, tree, scratch):
    """The same for a block of nominal columns."""
    block, number = blocks.block[b], tree.plan[FIRST + k]
    node, total, base = tree.node[number], tree.total[number], block.origin * payload.width
    histogram = tree.pool[node.place]
    if comes_by_subtraction(tree, tree.pool, k, block, payload.width, base):
        pass
    elif block.wide > 0:
        build_wide_histogram(blocks.codes, block, payload, rows, node.start, node.taken, histogram, base)
    else:
        build_histogram(blocks, block, payload, rows, node.start, node.taken, total, histogram, base, scratch[0])
    arguments = (
        subsets, k, b, blocks.column, block, criterion, ridge, payload.half, total, histogram, base, scratch,
        tree.found[k, b], tree.found_left[k, b],
    )  # fmt: skip
    call(tree.pieces.nominal, arguments)


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
            count = lesser(count + 1, FINALISTS)
    for at in range(count, FINALISTS):
        finalists[at] = -1


@njit(**ONCE)
def _search_finalist(tid, blocks, item, payload, criterion, ridge, rows, tree, scratch):
    """Bin by bin search of one coarse column in one new leaf."""
    k, place = item // FINALISTS, item % FINALISTS
    number = tree.plan[FIRST + k]
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
            if tree.plan[FIRST + k] >= 0:
                _choose_finalists(blocks, tree.coarse[k], tree.finalists[k])
    barrier(n_threads, sync)
    item = next_item(sync)
    while item < 2 * FINALISTS:
        _search_finalist(tid, blocks, item, payload, criterion, ridge, rows, tree, scratch)
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
    tree.node[small].kept = n_kept < n_places and lesser(n_left, n_right) >= keep_rows
    tree.node[small].place = n_kept if tree.node[small].kept else n_places
    tree.node[large].kept = parent.kept
    tree.node[large].place = parent.place if parent.kept else n_places + 1
    tree.plan[FIRST], tree.plan[SECOND] = small, large
    tree.plan[SUBTRACT] = parent.kept and greater(n_left, n_right) >= keep_rows
    return n_kept + tree.node[small].kept


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
    leaf, sums : OUT, see `read_leaves`
    """
    width, half = payload.width, payload.half
    scratch = tree.scratch[tid]
    # A stump is cut even where a constant would have the larger edge (3.4.2).
    stump = criterion == EDGE and n_leaves == 2
    plan = tree.plan
    n_nodes = 1
    n_kept = 0
    size = -(-n_taken // n_threads)
    sum_payload(payload, rows, lesser(n_taken, tid * size), lesser(n_taken, tid * size + size), tree.partial[tid])
    barrier(n_threads, sync)
    if tid == 0:
        zero(tree.total[0], 0, width)
        for t in range(n_threads):
            add_lanes(tree.total[0], 0, tree.partial[t], 0, width)
        root = tree.node[0]
        root.start, root.taken, root.end, root.left = 0, n_taken, rows.size, -1
        root.kept = tree.pool.shape[0] > 2 and n_taken >= keep_rows
        root.place = 0 if root.kept else tree.pool.shape[0] - 2
        n_kept = root.kept
        root.score = 0.0 if stump else leaf_score(criterion, ridge, half, tree.total[0], scratch[0])
        plan[PARENT], plan[FIRST], plan[SECOND], plan[SUBTRACT] = -1, 0, -1, 0
    barrier(n_threads, sync)
    while True:
        if short is not None:
            call(tree.pieces.begin, (tid, n_threads, sync, blocks.block.size, short, rows, tree))
        item = next_item(sync)
        while item < blocks.block.size:
            nominal = blocks.block[item].nominal > 0
            # Both leaves by one thread, one after the other: the second's histogram may need that of the first.
            for k in range(2):
                if plan[FIRST + k] < 0 or kinds & (NOMINAL if nominal else NUMERIC) == 0:
                    continue
                if nominal:
                    arguments = (item, k, blocks, payload, subsets, criterion, ridge, rows, tree, scratch)
                    call(tree.pieces.nominals, arguments)
                elif short is None:
                    call(tree.pieces.search, (item, k, blocks, payload, criterion, ridge, rows, tree, scratch))
                else:
                    call(tree.pieces.search, (tid, item, k, blocks, short, rows, tree))
            item = next_item(sync)
        barrier(n_threads, sync)
        if short is not None:
            arguments = (tid, n_threads, sync, blocks, payload, short, stump, rows, tree, scratch)
            call(tree.pieces.finalists, arguments)
        elif tree.pieces.finalists != 0 and kinds & NUMERIC != 0:
            call(tree.pieces.finalists, (tid, n_threads, sync, blocks, payload, criterion, ridge, rows, tree, scratch))
        if tid == 0:
            for k in range(2):
                number = plan[FIRST + k]
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
            plan[PARENT] = best
        barrier(n_threads, sync)
        parent = plan[PARENT]
        if parent < 0:
            break
        call(tree.pieces.partition, (tid, n_threads, sync, blocks, subsets, parent, rows, tree))
        if tid == 0:
            n_kept = _split(keep_rows, tree, parent, plan[BORDER], plan[TAKEN], n_nodes, n_kept)
            for number in range(n_nodes, n_nodes + 2):
                tree.node[number].score = leaf_score(criterion, ridge, half, tree.total[number], scratch[0])
        n_nodes += 2
        barrier(n_threads, sync)
        if (n_nodes + 1) // 2 >= n_leaves:
            break
    call(tree.pieces.leaves, (sync, tree.node, n_nodes, rows, pull, curvature, leaf, sums))
    return n_nodes


def compile_growth(discrete=False, bounds=False):
    """Compile `grow` and about half of its pieces, without growing anything; see ``ahead``.

    discrete : whether votes are
    bounds : whether numbers are then searched by bounds
    """
    blocks = Blocks(
        np.zeros(0, CODE), np.zeros(0, np.uint32), np.zeros(1, BLOCK), np.zeros(1, COLUMN), np.zeros(0, CODE)
    )
    number = FINE if discrete else COARSE

    def payload_of(dtype, sign=None):
        return Payload(np.zeros(0, dtype), 1, False, np.zeros(0, np.int32), np.zeros(0, dtype), 1, 1, sign)

    payload = payload_of(number, np.zeros(0, SIGN) if discrete else None)
    tree, subsets = new_tree(0, 2, blocks, 1, number, 1, 0), new_subsets(2, blocks, 1, 0)
    short = None
    _leaves_piece(tree)
    if bounds:
        short = short_of(payload_of(SHORT), 1, blocks, np.zeros(0, np.intp), 1)
        _edge_pieces(tree, blocks, payload, short)
    else:
        _number_pieces(tree, blocks, payload)
    matrix = np.zeros((0, 1))
    arguments = (
        0, 1, np.zeros(SYNC_SIZE, np.int64), blocks, payload, short, NUMERIC, subsets, EDGE, 0.0, tree.spare, 0, 2, 0,
        tree, matrix, matrix, np.zeros(0, NODE), np.zeros((2, 0, 1)),
    )  # fmt: skip
    grow.compile(tuple(typeof(argument) for argument in arguments))
