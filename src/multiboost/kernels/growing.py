"""A growing tree: its nodes, what is known of their cuts, and the scratch of the growth.

Whoever grows a tree makes room for it once and uses it again in every round.
"""

from typing import NamedTuple

import numpy as np

from .compiler import ONCE, njit
from .dtypes import ROW, apart
from .histogram import subtract_histogram
from .lanes import new_scratch
from .scan import COARSE_CUT, Line, new_line
from .subset import Subsets, new_room
from .touched import Touched, new_touched

ONE_LABEL = 2  # width of a payload that has two numbers
FINALISTS = 4  # coarse columns that are searched bin by bin

# What the leader tells the team.
PLAN = np.dtype(
    [
        ("parent", np.intp),  # the leaf to cut, -1: none
        ("subtract", np.intp),  # whether the second new leaf's histogram comes by subtraction
        ("more", np.intp),  # whether there are more columns to search
        ("border", np.intp),  # where the parent's rows are parted
        ("drawn", np.intp),  # how many of those on the left are samples of the round
    ]
)
GROWING = np.dtype(
    [
        ("start", np.intp),  # the node's rows are rows[start:end];
        ("drawn", np.intp),  # sums are over rows[start:drawn], the samples of the round
        ("end", np.intp),
        ("left", np.intp),  # number of the left child, the right one is next; -1 in leaves
        ("feature", np.intp),  # cut column in the user's table
        ("slot", np.intp),  # the same in the blocks
        ("bin", np.intp),  # last bin on the left of the best cut
        ("below", np.intp),  # of a made cut: the last bin on the left that has rows,
        ("above", np.intp),  # and the first one on the right
        ("missing_right", np.intp),
        ("place", np.intp),  # where the node's histogram is in the pool
        ("kept", np.intp),  # whether it stays there
        ("gain", np.float64),  # of the best cut, whether made or not
        ("score", np.float64),  # of the node as a leaf
    ]
)
FOUND = np.dtype([("score", np.float64), ("slot", np.intp), ("bin", np.intp), ("missing_right", np.intp)])


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
    line: Line  # arrays of (threads, ...); of no rows where there are several labels
    spare: np.ndarray  # (n,) ROW, for partitioning
    parts: np.ndarray  # (threads, 8) intp, of a partition: see ``partition``
    plan: np.ndarray  # (1,) PLAN
    new: np.ndarray  # (2,) intp, the new leaves, -1: none
    open: np.ndarray  # (m, slots) bool, columns that may be cut: node i may cut open[i % m]
    open_block: np.ndarray  # (blocks,) bool, whether a block has one of them
    least: np.ndarray  # (2,) int64, edges that cuts of the new leaves have to reach
    touched: Touched


def new_subsets(n_leaves, blocks, n_labels, seed, width, dtype, n_threads):
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
        room=new_room(n_threads, n_bytes, n_labels, width, dtype),
    )


def _fresh(key, size, dtype):
    return np.empty(size, dtype)


def new_tree(n_rows, n_leaves, blocks, width, dtype, n_threads, pool_bytes, room=_fresh):
    """Room for a tree of at most ``n_leaves`` leaves; used again for every round.

    room : where the pool comes from: function (key, size, dtype)
    """
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
        pool=room(("pool", np.dtype(dtype).num), (places + 2) * size, dtype).reshape(places + 2, size),
        coarse=np.zeros((2, blocks.column.size), COARSE_CUT),
        finalists=np.empty((2, n_finalists), np.intp),
        found=found,
        found_left=np.empty((2, n_found, width), dtype),
        fine=np.empty((n_threads, 16 * width), dtype),
        partial=np.empty((n_threads, apart(width, dtype)), dtype),
        scratch=new_scratch(n_threads, width, dtype),
        line=new_line(blocks.column["n_rows"].max(initial=16) if width == ONE_LABEL else 0, n_threads, dtype),
        spare=np.empty(n_rows, ROW),
        parts=np.zeros((n_threads, 8), np.intp),
        plan=np.zeros(1, PLAN),
        new=np.zeros(2, np.intp),
        open=np.ones((1, blocks.column.size), np.bool_),
        open_block=np.ones(blocks.block.size, np.bool_),
        least=np.zeros(2, np.int64),
        touched=new_touched(blocks, places + 2, n_threads, width),
    )


@njit(**ONCE)
def line_of(tree, tid):
    """The room of one thread for a line of cuts."""
    return Line(tree.line.sums[tid], tree.line.scores[tid])


@njit(**ONCE)
def open_to(tree, number):
    """The columns that a node may cut, (slots,) bool."""
    return tree.open[number % tree.open.shape[0]]


@njit(**ONCE)
def comes_by_subtraction(tree, pool, k, block, width, base):
    """Whether the histogram of new leaf ``k`` comes by subtraction, and then is there."""
    if k == 0 or tree.plan[0].subtract == 0:
        return False
    first, second = tree.node[tree.new[0]], tree.node[tree.new[1]]
    subtract_histogram(block, width, pool[second.place], pool[first.place], base)
    return True
