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

from functools import cache

import numpy as np
from numba import from_dtype, typeof, types

from .blocks import BLOCK, COLUMN, Blocks
from .calls import Calls, call, has
from .compiler import ONCE, OPTIONS, compiled, njit
from .criteria import bound_slopes, has_bound
from .dtypes import COARSE, CODE, FINE, NODE, SIGN
from .edge import ROUNDED, new_bounds
from .edge_search import begin_bounds, bound_numbers, search_candidates
from .extremes import greater, lesser
from .growing import FINALISTS, ONE_LABEL, comes_by_subtraction, line_of, new_subsets, new_tree, open_to
from .histogram import Payload, build_histogram, build_wide_histogram, no_loops, sum_payload
from .lanes import add_lanes, copy, zero
from .leaves import read_leaves
from .partition import partition
from .scan import leaf_score, scan_block, scan_fine, scan_rows, scan_rows_of_one
from .subset import NOMINAL, NUMERIC, keep_set, search_nominal
from .team import barrier, new_sync, next_item
from .touched import list_touched, scan_touched, subtract_touched, sum_touched
from .warm import wait


def _kinds(tree, blocks, payload, loops, bounds, bound_loops, subsets) -> dict[str, tuple]:
    """Types of the arguments of what `grow` calls."""
    size, sync, rows = types.intp, types.int64[::1], typeof(tree.spare)
    matrix, scratch, leaf = types.float64[:, ::1], typeof(tree.scratch[0]), from_dtype(np.dtype(NODE))[::1]
    search = (
        typeof(blocks), typeof(payload), typeof(loops), types.float64, rows, typeof(tree), scratch
    )  # fmt: skip
    kinds: dict[str, tuple] = {
        "partition": (size, size, sync, typeof(blocks), typeof(subsets), size, rows, typeof(tree)),
        "leaves": (sync, typeof(tree.node), size, rows, matrix, matrix, leaf, types.float64[:, :, ::1]),
        "numbers": (size, size, size, *search),
        "touched": (size, size, size, *search),
        "finalists": (size, size, sync, *(kind for kind in search if kind != typeof(loops))),
        "nominals": (size, size, size, typeof(subsets), *search),
        "rate": (size, size, types.float64, typeof(tree), scratch),
    }  # fmt: skip
    if bounds is not None:
        kinds["begin"] = (size, size, sync, size, typeof(bounds), rows, typeof(tree))
        kinds["bounds"] = (size, size, size, typeof(blocks), typeof(bounds), typeof(bound_loops), rows, typeof(tree))
        kinds["candidates"] = (
            size, size, sync, typeof(blocks), typeof(payload), typeof(bounds), types.boolean, rows, typeof(tree),
            scratch,
        )  # fmt: skip
    return kinds


# What does not depend on the criterion.
_COMMON = {
    "partition": partition,
    "leaves": read_leaves,
    "begin": begin_bounds,
    "bounds": bound_numbers,
    "candidates": search_candidates,
}
_HERE = (
    "partition",
    "leaves",
    "bounds",
)  # the others may be compiled by another process in the first fit of all, see ``warm``


def needed_of(blocks, bounded) -> dict[str, bool]:
    """Which searches a table needs; ``bounded``: whether numbers are searched by bounds."""
    block = blocks.block
    return {
        "numbers": not bounded and bool(((block["nominal"] == 0) & (block["touched"] == 0)).any()),
        "touched": not bounded and bool((block["touched"] > 0).any()),
        "finalists": not bounded and bool((block["shift"] > 0).any()),
        "nominals": bool((block["nominal"] > 0).any()),
        "rate": True,
    }


def growth_calls(criterion, keep, tree, blocks, payload, loops, bounds, bound_loops, subsets) -> Calls:
    """What `grow` calls for a table: no more than it needs is compiled.

    criterion : name
    keep : whether its code may be kept on disk
    """
    searches, needed = _searches(criterion, payload.width == ONE_LABEL), needed_of(blocks, bounds is not None)
    functions = _COMMON | {name: searches[name] if needed[name] else None for name in needed}
    kinds = _kinds(tree, blocks, payload, loops, bounds, bound_loops, subsets)
    for name in kinds:
        if name in _HERE:
            compiled(functions[name], *kinds[name])
    wait()  # another process may be compiling the others
    made = {}
    for name, kind in kinds.items():
        function = functions[name]
        kept = keep or name in _COMMON
        made[name] = None if function is None else compiled(function, *kind, keep=kept), kind
    return Calls(**made)


@njit(**ONCE)
def _choose_finalists(blocks, is_open, coarse, finalists):
    """The coarse columns with the best cuts, best first; ties go to the earlier column."""
    columns = blocks.column
    count = 0
    for slot in range(columns.size):
        if not is_open[slot] or blocks.block[columns[slot].block].shift == 0:
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
def _search_finalist(scan, criterion, tid, blocks, item, payload, ridge, rows, tree, scratch):
    """Bin by bin search of one coarse column in one new leaf."""
    k, place = item // FINALISTS, item % FINALISTS
    number = tree.new[k]
    if number < 0:
        return
    node = tree.node[number]
    at = blocks.block.size + place
    found = tree.found[k, at]
    slot = tree.finalists[k, place]
    found.slot = slot
    if slot >= 0:
        found.score, found.bin, found.missing_right = scan_fine(
            scan, criterion, blocks, slot, tree.coarse[k, slot].row, payload, ridge, rows, node.start, node.drawn,
            tree.total[number], tree.pool[node.place], tree.fine[tid], scratch, line_of(tree, tid),
            tree.found_left[k, at],
        )  # fmt: skip


@cache
def _searches(criterion, one_label):
    """The kernels that depend on the criterion, by the names by which `grow` calls them."""
    scan = scan_rows_of_one if one_label else scan_rows

    def numbers(tid, b, k, blocks, payload, loops, ridge, rows, tree, scratch):
        """Histogram of one block of numbers for new leaf ``k``, and its best cut."""
        block, number = blocks.block[b], tree.new[k]
        node, total, base = tree.node[number], tree.total[number], block.origin * payload.width
        histogram = tree.pool[node.place]
        if not comes_by_subtraction(tree, tree.pool, k, block, payload.width, base):
            build_histogram(
                blocks, block, payload, loops, rows, node.start, node.drawn, total, histogram, base, scratch[0]
            )
        found = tree.found[k, b]
        found.score, found.slot, found.bin, found.missing_right = scan_block(
            scan, criterion, blocks.column, block, open_to(tree, number), ridge, payload.half, total, histogram, base,
            scratch, line_of(tree, tid), tree.found_left[k, b], tree.coarse[k],
        )  # fmt: skip

    def touched(tid, b, k, blocks, payload, loops, ridge, rows, tree, scratch):
        """`numbers` of the columns that the new leaf touches."""
        lists, first, base = tree.touched, tree.node[tree.new[0]], blocks.block[b].origin * payload.width
        node, total = tree.node[tree.new[k]], tree.total[tree.new[k]]
        histogram = tree.pool[node.place]
        slopes, bounds, subtracted = lists.slopes[tid], lists.bounds[tid], k == 1 and tree.plan[0].subtract != 0
        if has_bound(criterion):
            bound_slopes(criterion, total, payload.half, slopes)
        if has_bound(criterion) or not subtracted:
            list_touched(criterion, blocks, b, payload, rows, node.start, node.drawn, lists, node.place, slopes, bounds)
        if subtracted:
            subtract_touched(blocks, b, payload.width, histogram, tree.pool[first.place], base, lists, first.place)
        else:
            sum_touched(blocks, b, payload, loops, rows, node.start, node.drawn, histogram, base, lists, node.place)
        found = tree.found[k, b]
        found.score, found.slot, found.bin, found.missing_right = scan_touched(
            criterion, blocks, b, open_to(tree, tree.new[k]), ridge, payload.half, total, node.score, histogram, base,
            lists, node.place, slopes, bounds, scratch, tree.found_left[k, b],
        )  # fmt: skip

    def nominals(tid, b, k, subsets, blocks, payload, loops, ridge, rows, tree, scratch):
        """The same for a block of nominal columns."""
        block, number = blocks.block[b], tree.new[k]
        node, total, base = tree.node[number], tree.total[number], block.origin * payload.width
        histogram = tree.pool[node.place]
        if comes_by_subtraction(tree, tree.pool, k, block, payload.width, base):
            pass
        elif block.wide > 0:
            build_wide_histogram(blocks.codes, block, payload, rows, node.start, node.drawn, histogram, base)
        else:
            build_histogram(
                blocks, block, payload, loops, rows, node.start, node.drawn, total, histogram, base, scratch[0]
            )
        search_nominal(
            criterion, tid, subsets, k, b, blocks.column, block, open_to(tree, number), ridge, payload.half, total,
            histogram, base, scratch, tree.found[k, b], tree.found_left[k, b],
        )  # fmt: skip

    def finalists(tid, n_threads, sync, blocks, payload, ridge, rows, tree, scratch):
        """From coarse cuts to the best cuts of the new leaves: see ``scan``."""
        if tid == 0:
            for k in range(2):
                if tree.new[k] >= 0:
                    _choose_finalists(blocks, open_to(tree, tree.new[k]), tree.coarse[k], tree.finalists[k])
        if not barrier(tid, n_threads, sync):
            return
        item = next_item(sync)
        while item < 2 * FINALISTS:
            _search_finalist(scan, criterion, tid, blocks, item, payload, ridge, rows, tree, scratch)
            item = next_item(sync)
        barrier(tid, n_threads, sync)

    def rate(number, half, ridge, tree, scratch):
        """OUT score of a node as a leaf."""
        tree.node[number].score = leaf_score(criterion, ridge, half, tree.total[number], scratch[0])

    return {"numbers": numbers, "touched": touched, "nominals": nominals, "finalists": finalists, "rate": rate}


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
    """Two new leaves; returns how many places of the pool are in use."""
    a, b = n_nodes, n_nodes + 1
    parent, left, right = tree.node[number], tree.node[a], tree.node[b]
    parent.left = a
    left.left = right.left = -1
    n_right = parent.drawn - parent.start - n_left
    left.start, left.drawn, left.end = parent.start, parent.start + n_left, border
    right.start, right.drawn, right.end = border, border + n_right, parent.end
    for k in range(tree.total.shape[1]):
        tree.total[a, k] = tree.best_left[number, k]
        tree.total[b, k] = tree.total[number, k] - tree.best_left[number, k]
    n_places = tree.pool.shape[0] - 2
    small, large = (a, b) if n_left <= n_right else (b, a)
    tree.node[small].kept = n_kept < n_places and lesser(n_left, n_right) >= keep_rows
    tree.node[small].place = n_kept if tree.node[small].kept else n_places
    tree.node[large].kept = parent.kept
    tree.node[large].place = parent.place if parent.kept else n_places + 1
    tree.new[0], tree.new[1] = small, large
    tree.plan[0].subtract = parent.kept and greater(n_left, n_right) >= keep_rows
    return n_kept + tree.node[small].kept


@njit(**OPTIONS)
def grow(
    tid,
    n_threads,
    sync,
    calls,
    blocks,
    payload,
    loops,
    bounds,
    bound_loops,
    kinds,
    subsets,
    ridge,
    forced,
    rows,
    n_drawn,
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

    calls, loops, bound_loops : see `growth_calls` and `histogram.loops_of`
    bounds : Bounds, or None where cuts are searched without
    kinds : NUMERIC, NOMINAL or both, the columns that may be cut
    forced : whether the root is cut even where a constant is better
    n_drawn : the first so many rows are the samples of the round, others are only given leaves
    keep_rows : histograms of nodes with fewer samples are not kept for subtraction
    pull, curvature : G and H; H is |G| where it has no rows
    leaf, sums : OUT, see `read_leaves`
    """
    width, half = payload.width, payload.half
    scratch = tree.scratch[tid]
    plan, new = tree.plan[0], tree.new
    n_nodes = 1
    n_kept = 0
    size = -(-n_drawn // n_threads)
    part = next_item(sync)
    while part < n_threads:
        begin = lesser(n_drawn, part * size)
        sum_payload(payload, rows, begin, lesser(n_drawn, begin + size), tree.partial[part])
        part = next_item(sync)
    if not barrier(tid, n_threads, sync):
        return 0
    if tid == 0:
        zero(tree.total[0], 0, width)
        for t in range(n_threads):
            add_lanes(tree.total[0], 0, tree.partial[t], 0, width)
        root = tree.node[0]
        root.start, root.drawn, root.end, root.left = 0, n_drawn, rows.size, -1
        root.kept = tree.pool.shape[0] > 2 and n_drawn >= keep_rows
        root.place = 0 if root.kept else tree.pool.shape[0] - 2
        n_kept = root.kept
        if forced:
            root.score = 0.0
        else:
            call(calls, "rate", (0, half, ridge, tree, scratch))
        new[0], new[1] = 0, -1
        plan.subtract = 0
    if not barrier(tid, n_threads, sync):
        return 0
    while True:
        if bounds is not None:
            call(calls, "begin", (tid, n_threads, sync, blocks.block.size, bounds, rows, tree))
            if not barrier(tid, n_threads, sync):
                return 0
        item = next_item(sync)
        while item < blocks.block.size:
            if not tree.open_block[item]:
                item = next_item(sync)
                continue
            nominal = blocks.block[item].nominal > 0
            # Both leaves by one thread, one after the other: the second's histogram may need that of the first.
            for k in range(2):
                if new[k] < 0 or kinds & (NOMINAL if nominal else NUMERIC) == 0:
                    continue
                if nominal:
                    arguments = (tid, item, k, subsets, blocks, payload, loops, ridge, rows, tree, scratch)
                    call(calls, "nominals", arguments)
                elif bounds is None:
                    if blocks.block[item].touched > 0:
                        call(calls, "touched", (tid, item, k, blocks, payload, loops, ridge, rows, tree, scratch))
                    else:
                        call(calls, "numbers", (tid, item, k, blocks, payload, loops, ridge, rows, tree, scratch))
                else:
                    call(calls, "bounds", (tid, item, k, blocks, bounds, bound_loops, rows, tree))
            item = next_item(sync)
        if not barrier(tid, n_threads, sync):
            return 0
        if bounds is not None:
            arguments = (tid, n_threads, sync, blocks, payload, bounds, forced, rows, tree, scratch)
            call(calls, "candidates", arguments)
        elif has(calls, "finalists") and kinds & NUMERIC != 0:
            arguments = (tid, n_threads, sync, blocks, payload, ridge, rows, tree, scratch)
            call(calls, "finalists", arguments)
        if tid == 0:
            for k in range(2):
                number = new[k]
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
            plan.parent = best
        if not barrier(tid, n_threads, sync):
            return 0
        parent = plan.parent
        if parent < 0:
            break
        call(calls, "partition", (tid, n_threads, sync, blocks, subsets, parent, rows, tree))
        if tid == 0:
            n_kept = _split(keep_rows, tree, parent, plan.border, plan.drawn, n_nodes, n_kept)
            for number in range(n_nodes, n_nodes + 2):
                call(calls, "rate", (number, half, ridge, tree, scratch))
        n_nodes += 2
        if not barrier(tid, n_threads, sync):
            return 0
        if (n_nodes + 1) // 2 >= n_leaves:
            break
    call(calls, "leaves", (sync, tree.node, n_nodes, rows, pull, curvature, leaf, sums))
    return n_nodes


def compile_growth(criteria, bounded, one_label):
    """Compile `grow` and about half of what it calls, without growing anything; see ``warm``.

    criteria : names, either "edge" alone or others
    bounded : whether numbers are then searched by bounds
    one_label : whether there is one label only
    """
    blocks = Blocks(
        np.zeros(0, CODE), np.zeros(0, np.uint32), np.zeros(1, BLOCK), np.zeros(1, COLUMN), np.zeros(0, CODE)
    )
    edge = "edge" in criteria
    number = FINE if edge else COARSE

    def payload_of(dtype, sign=None):
        return Payload(np.zeros(0, dtype), 1, 1, False, np.zeros(0, np.int32), np.zeros(0, dtype), 1, 1, sign)

    payload = payload_of(number, np.zeros(0, SIGN) if edge else None)
    tree = new_tree(0, 2, blocks, 1, number, 1, 0)
    subsets = new_subsets(2, blocks, 1, 0, 1, number, 1)
    loops, bounds, bound_loops = no_loops(payload), None, None
    if bounded:
        bounds = new_bounds(payload_of(ROUNDED), 1, blocks, np.zeros(0, np.intp), 1, 0)
        bound_loops = no_loops(bounds.payload)
    kinds = _kinds(tree, blocks, payload, loops, bounds, bound_loops, subsets)
    there = {"begin": begin_bounds, "candidates": search_candidates} if bounded else {}
    calls = Calls(
        **{name: (compiled(there[name], *kinds[name]) if name in there else None, kinds[name]) for name in kinds}
    )
    for criterion in () if bounded else criteria:
        compiled(_searches(criterion, one_label)["numbers"], *kinds["numbers"])
    matrix = np.zeros((0, 1))
    arguments = (
        0, 1, new_sync(1), calls, blocks, payload, loops, bounds, bound_loops, NUMERIC, subsets, 0.0,
        False, tree.spare, 0, 2, 0, tree, matrix, matrix, np.zeros(0, NODE), np.zeros((2, 0, 1)),
    )  # fmt: skip
    grow.compile(tuple(typeof(argument) for argument in arguments))
