"""How many bytes of arrays of a number for each row a round reads and writes: counted, not measured.

What counts are rows times what a pass over them looks at.  What decides for a table on the disk is how often it is gone
through; histograms and nodes stay in memory and do not count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .problem import Problem

_PARTED = 20  # bytes of a row that is parted: its code, its side, and its number, read and written twice


def bytes_of_growth(problem: Problem, node: np.ndarray, n_leaves: int, keep_rows: int, reads_pull: bool) -> float:
    """Of a tree: histograms, partitions, and sums over the leaves.

    Parameters
    ----------
    problem : Problem
    node : ndarray (nodes,) GROWING
    n_leaves : int
        That were asked for: the last two are not searched.
    keep_rows : int
        Nodes of fewer rows have no histogram that is kept.
    reads_pull : bool
        Whether leaves are summed from G and H.
    """
    payload, blocks = problem.record.payload, problem.layout.blocks
    number = payload.dense.itemsize
    of_payload = payload.lanes * number + (4 + number if payload.one_hot else 0)
    searched = blocks.codes.itemsize * problem.layout.row_codes + blocks.block.size * (of_payload + 4)
    drawn, rows = node["drawn"] - node["start"], node["end"] - node["start"]
    total = searched * drawn[0]
    parents = np.flatnonzero(node["left"] >= 0)
    for parent in parents:
        left = node["left"][parent]
        small, large = sorted(drawn[left : left + 2])
        total += _PARTED * rows[parent]
        if len(parents) + 1 < n_leaves or left + 2 < len(node):
            subtracted = node["kept"][parent] and large >= keep_rows
            total += searched * (small if subtracted else small + large)
    n_matrices = 0 if not reads_pull else 2 if problem.record.h.size else 1
    return float(total + rows[0] * (8 + 8 * n_matrices * problem.n_labels))


def bytes_of_update(problem: Problem, normalised: bool) -> float:
    """Of F += h, and of G, H and the payload after it."""
    record, n = problem.record, problem.n_rows
    pairs = problem.n_labels * (2 + 2 + 2 + 2 * normalised) + (2 * problem.n_labels if record.h.size else 0)
    return float(n * (8 * pairs + 4) + record.payload.dense.nbytes)
