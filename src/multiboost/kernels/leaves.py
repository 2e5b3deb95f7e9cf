"""Reading the leaves of a grown tree."""

import numpy as np

from .compiler import INLINE, njit
from .team import next_item


@njit(**INLINE)
def _sum_one_label(rows, start, end, pull, curvature):
    """Sums of G and H over rows[start:end] where there is one label."""
    sum_g = sum_h = 0.0
    h = curvature if curvature.shape[0] > 0 else pull
    for r in range(start, end):
        i = np.uintp(rows[r])
        sum_g += pull[i, 0]
        sum_h += abs(h[i, 0])
    return sum_g, sum_h


def read_leaves(sync, node, n_nodes, rows, pull, curvature, leaf, sums):
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
                    sum_g[0], sum_h[0] = _sum_one_label(rows, node[item].start, node[item].drawn, pull, curvature)
                    item = next_item(sync)
                    continue
                for r in range(node[item].start, node[item].drawn):
                    g = pull[rows[r]]
                    h = curvature[rows[r]] if curvature.shape[0] > 0 else g
                    for k in range(n_labels):
                        sum_g[k] += g[k]
                        sum_h[k] += abs(h[k])
        item = next_item(sync)
