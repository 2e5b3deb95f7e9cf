"""TREEBASE: Hamming trees, grown best leaf first (Kegl 2011, 3.4.4)."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np

from ..kernels.dtypes import NODE, apart
from ..kernels.grow import grow
from .bytes_touched import bytes_of_growth
from .classifier import BaseClassifier, Dag
from .from_classifier import FromClassifier
from .learner import BaseLearner
from .problem import Problem
from .product import Product
from .stump import Cut, Stump

_KEPT_TOUCHED = 64  # samples of a node whose histogram is kept where most columns are searched only if touched


class Tree(BaseLearner):
    """Hamming tree: cuts of a base learner, a vote vector in every leaf.

    Parameters
    ----------
    n_leaves : int or None, default=None
        Leaves of the tree; N leaves take N - 1 cuts.  None leaves the size to the
        estimator: twice the number of labels, at least 20 and at most 64, and fewer for
        tables with fewer than 25 rows to a leaf.
    base : Stump, Selector, Indicator, FromClassifier or Product of them, default=None
        What cuts a node; None means ``Stump()``.
    """

    name, size, least = "tree", "n_leaves", 2

    def __init__(self, n_leaves=None, base=None):
        self.n_leaves = n_leaves
        self.base = base

    def fit(self, problem: Problem) -> BaseClassifier | None:
        """The tree; a constant where no cut of the root gains anything."""
        base = self.base or Stump()
        if isinstance(base, Cut):
            return grow_tree(problem, self.n_leaves, base)
        term = (base.base or Stump()) if isinstance(base, Product) else base
        if isinstance(term, (Cut, FromClassifier)):
            return _grow_with(base, problem, self.n_leaves)
        raise ValueError(
            f"Tree(base={base!r}): a tree is cut by base classifiers of the form v phi(x): Stump(), Selector(), "
            "Indicator(), FromClassifier(...) or a Product of them"
        )


def grow_tree(problem: Problem, n_leaves: int, cut: Cut) -> BaseClassifier | None:
    """Grow a tree of stumps, selectors or indicators in the kernel and read it back."""
    layout, criterion, record = problem.layout, problem.criterion, problem.record
    blocks, payload = layout.blocks, record.payload
    if blocks.column.size == 0:
        return None
    tree, subsets, calls, loops, bound_loops = problem.growth(n_leaves, cut)
    rows, bounds = problem.rows_for(tree)
    keep_rows = _keep_rows(layout, payload)
    leaf = problem.empty_leaf(1)
    # The fixed-point sums are as good as doubles, and votes need no H.
    exact = criterion.factorised and criterion.fine and problem.labels is None
    sums = np.empty((2, 0 if exact else n_leaves, apart(problem.n_labels, np.float64)))
    # A stump is cut even where a constant would have the larger edge (3.4.2).
    forced = criterion.factorised and n_leaves == 2
    n_nodes = problem.team.run(
        grow, calls, blocks, payload, loops, bounds, bound_loops, cut.kinds, subsets, problem.ridge, forced, rows,
        problem.rows.drawn.size, n_leaves, keep_rows, tree, record.g if exact else problem.pull, record.h, leaf[0],
        sums, alone=problem.is_small,
    )  # fmt: skip
    if n_nodes == 1 and n_leaves == 2:
        return None
    if layout.workspace.on_disk:
        touched = bytes_of_growth(problem, tree.node[:n_nodes], n_leaves, keep_rows, not exact)
        problem.scratch.touched += touched
    node = tree.node[:n_nodes]
    left = node["left"]
    is_leaf = left < 0
    leaves = np.flatnonzero(is_leaf)
    tests = np.flatnonzero(~is_leaf)
    if exact:
        total = tree.total[:n_nodes, : problem.n_labels]
        if problem.virtual is not None and problem.virtual.labels is not None:
            total = total * problem.virtual.labels
        sum_g = total[leaves] / record.scale_g
        sum_h = np.zeros_like(sum_g)
    else:
        sum_g, sum_h = sums[:, : leaves.size, : problem.n_labels].copy()

    number = np.empty(n_nodes, NODE)  # of a node among tests, or ~ among leaves
    number[tests] = np.arange(tests.size)
    number[leaves] = ~np.arange(leaves.size)
    child = np.stack([number[left[tests]], number[left[tests] + 1]], axis=1)  # (0, 2) for a constant
    votes = criterion.votes(sum_g, sum_h)
    if criterion.factorised:
        node_g = total if exact else _sums_of_nodes(sum_g, tests, left, number)
        for first in left[tests]:  # leaves vote as the cut above them (3.47)
            pair = node_g[first : first + 2]
            for side, vote in zip((first, first + 1), criterion.votes_of_cut(pair, np.abs(pair)), strict=True):
                if number[side] < 0:
                    votes[~number[side]] = vote
    set_start, sets = _sets_of(layout.binner, node, tests, subsets)
    dag = Dag(
        feature=node["feature"][tests].astype(NODE),
        threshold=layout.binner.thresholds(node["feature"][tests], node["below"][tests], node["above"][tests]),
        missing_right=node["missing_right"][tests] != 0,
        child=child,
        gain=node["gain"][tests] / record.unit,
        values=votes,
        set_start=set_start,
        sets=sets,
        node=tests,
    )
    return BaseClassifier([dag], leaf, 0, sum_g, sum_h, criterion.score(sum_g, sum_h, votes))


def _keep_rows(layout, payload) -> int:
    """Samples of a node from which its histogram is kept for subtraction: where building it anew costs more.

    Building costs its samples' additions, subtraction the rows of the histogram, which are slow outside of the cache.
    Of touched columns these are only those that the smaller child touches, which is less than building costs.
    """
    if layout.mostly_touched:
        return _KEPT_TOUCHED
    bytes_kept = layout.blocks.n_rows * payload.width * payload.dense.itemsize
    return int((1.0 if bytes_kept < 1 << 20 else 3.0) * layout.blocks.n_rows / max(1.0, layout.row_codes))


def _sets_of(binner, node, tests, subsets) -> tuple[np.ndarray, np.ndarray]:
    """Sets of categories of the nominal tests, one after the other, and where each begins."""
    start = np.full(tests.size, -1, np.intp)
    sets = []
    n_bytes = 0
    for k, number in enumerate(tests if subsets.node.size > 0 else ()):
        bins = binner.columns[node["feature"][number]]
        if not bins.nominal:
            continue
        right = np.unpackbits(subsets.node[number], count=bins.n_bins, bitorder="little").astype(bool)
        sets.append(bins.set_of(right, bool(node["missing_right"][number])))
        start[k] = n_bytes
        n_bytes += sets[-1].size
    return start, np.concatenate(sets) if sets else np.zeros(0, np.uint8)


def _sums_of_nodes(sum_g, tests, left, number) -> np.ndarray:
    """Sums of G of all nodes from those of the leaves, (nodes, K)."""
    sums = np.zeros((number.size, sum_g.shape[1]))
    sums[number < 0] = sum_g[~number[number < 0]]
    for node in tests[::-1]:  # children come after their parents
        sums[node] = sums[left[node]] + sums[left[node] + 1]
    return sums


class _Leaf:
    """A leaf that waits to be cut by something other than a stump."""

    def __init__(self, problem: Problem, rows: np.ndarray, left_out: np.ndarray, votes: np.ndarray | None):
        self.rows, self.left_out = rows, left_out
        self.sum_g, self.sum_h = problem.sums(rows)
        self.votes = votes  # those of the cut above, if leaves vote so
        self.cut: Any = None
        self.child_votes: tuple = (None, None)
        self.gain = -np.inf

    def search(self, base, problem: Problem, edge_problem: Problem) -> None:
        """Find the best cut and what it would bring."""
        criterion = problem.criterion
        if self.rows.size < 2:
            return
        cut = base.fit(edge_problem.on_rows(self.rows, self.left_out))
        if cut is None:
            return
        right = parity(cut, self.rows)
        if right.all() or not right.any():
            return
        self.cut, self.right, self.left_out_right = cut, right, parity(cut, self.left_out)
        g, h = problem.sums(self.rows[right])
        sum_g, sum_h = np.stack([self.sum_g - g, g]), np.stack([self.sum_h - h, h])
        if criterion.factorised:
            self.child_votes = tuple(criterion.votes_of_cut(sum_g, sum_h))
        own_g, own_h = self.sum_g[None], self.sum_h[None]
        now = criterion.score(own_g, own_h, criterion.votes(own_g, own_h))
        self.gain = criterion.score_of_cut(sum_g, sum_h) - now


def parity(cut: BaseClassifier, rows: np.ndarray) -> np.ndarray:
    """Where the product of the terms' phi is +1; in a stump's DAG leaf 1 is the right one."""
    return (cut.leaf[:, rows] == 0).sum(axis=0) % 2 == 0


def _grow_with(base, problem: Problem, n_leaves: int) -> BaseClassifier | None:
    """TREEBASE with any base learner of the form v phi(x), Figure 3.10.

    The base learner proposes its cut by the edge; leaf votes and gains follow the
    problem's own criterion.
    """
    edge_problem = problem.for_edge()
    root = _Leaf(problem, problem.rows.drawn.astype(np.intp), problem.rows.left_out.astype(np.intp), None)
    root.search(base, problem, edge_problem)
    nodes: list[_Leaf] = [root]
    children: dict[int, tuple[int, int]] = {}
    queue = [(-root.gain, 0)] if root.gain > 0 else []
    while queue and len(children) < n_leaves - 1:
        _, number = heapq.heappop(queue)
        node = nodes[number]
        pair = []
        for right, votes in zip((False, True), node.child_votes, strict=True):
            new = _Leaf(problem, node.rows[node.right == right], node.left_out[node.left_out_right == right], votes)
            if len(children) < n_leaves - 2:
                new.search(base, problem, edge_problem.turned(len(nodes)))
            if new.gain > 0:
                heapq.heappush(queue, (-new.gain, len(nodes)))
            pair.append(len(nodes))
            nodes.append(new)
        children[number] = (pair[0], pair[1])
    return _read_dag(problem, nodes, children)


def _read_dag(problem: Problem, nodes: list[_Leaf], children: dict[int, tuple[int, int]]) -> BaseClassifier:
    leaves = [k for k in range(len(nodes)) if k not in children]
    leaf = problem.empty_leaf(1)
    for k, number in enumerate(leaves):
        leaf[0, nodes[number].rows] = leaf[0, nodes[number].left_out] = k
    sum_g = np.stack([nodes[k].sum_g for k in leaves])
    sum_h = np.stack([nodes[k].sum_h for k in leaves])
    votes = problem.criterion.votes(sum_g, sum_h)
    for k, number in enumerate(leaves):
        if nodes[number].votes is not None:
            votes[k] = nodes[number].votes

    entry = {number: ~k for k, number in enumerate(leaves)}
    first = 0
    for number in children:  # parents come before their children
        entry[number] = first
        first += 2 * len(nodes[number].cut.terms) - 1
    feature, threshold, missing_right, child, gain, set_start, node = [], [], [], [], [], [], []
    sets: list[np.ndarray] = []
    phi: list = []
    n_bytes = 0
    for number, (a, b) in children.items():
        terms = nodes[number].cut.terms
        exits = (entry[a], entry[b])
        here = entry[number]
        for t, term in enumerate(terms):
            begin = n_bytes if term.set_start[0] >= 0 else -1
            column = term.feature[0] if term.feature[0] >= 0 else ~len(phi)
            phi += term.phi
            sets.append(term.sets)
            n_bytes += term.sets.size
            # Two copies of each test but the first: parity so far odd, even.
            for odd in range(1 if t == 0 else 2):
                last = t == len(terms) - 1
                ahead = here + (1 if t == 0 else 2 - odd)
                targets = []
                for right in (0, 1):
                    now_odd = odd ^ (1 - right)  # a left turn flips the sign
                    targets.append(exits[1 - now_odd] if last else ahead + now_odd)
                feature.append(column)
                threshold.append(term.threshold[0])
                set_start.append(begin)
                missing_right.append(term.missing_right[0])
                child.append(targets)
                gain.append(nodes[number].gain / len(terms) if odd == 0 else 0.0)
                node.append(number + t)
                here += 1
    dag = Dag(
        feature=np.array(feature, NODE),
        threshold=np.array(threshold, np.float64),
        missing_right=np.array(missing_right, np.bool_),
        child=np.array(child, NODE).reshape(-1, 2),
        gain=np.array(gain, np.float64),
        values=votes,
        set_start=np.array(set_start, np.intp),
        sets=np.concatenate(sets) if sets else np.zeros(0, np.uint8),
        phi=phi,
        node=np.array(node, np.intp),
    )
    return BaseClassifier([dag], leaf, 0, sum_g, sum_h, problem.criterion.score(sum_g, sum_h, votes))
