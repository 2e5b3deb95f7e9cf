"""Scores of raw rows: walk every DAG, add up the votes of the leaves."""

import numpy as np
from numba import njit

from .lanes import ALLOCATING, INLINE
from .team import next_item

_TILE = 64  # rows that go through all rounds together, so that a DAG stays in the cache


@njit(**INLINE)
def _leaf_of(node, x, feature, threshold, missing_right, child, set_start, sets):
    """Follow the tests from ``node`` to a leaf; x is one row."""
    while node >= 0:
        k = np.uintp(node)
        value = x[np.uintp(feature[k])]
        right = value > threshold[k]
        if np.isnan(value):
            right = missing_right[k]
        elif sets.size > 0 and set_start[k] >= 0:
            category = np.uintp(value)
            right = (sets[np.uintp(set_start[k]) + (category >> np.uintp(3))] >> (category & np.uintp(7))) & 1 != 0
        node = child[k, np.uintp(right)]
    return ~node


@njit(**ALLOCATING)
def add_scores(
    tid,
    n_threads,
    sync,
    X,
    feature,
    threshold,
    missing_right,
    child,
    set_start,
    sets,
    values,
    root,
    first_term,
    begin,
    end,
    scores,
):
    """scores (n, K) += rounds ``begin`` to ``end`` of the ensemble.

    Round t is the product of the terms first_term[t] up to first_term[t + 1]; a term
    begins at ``root``: a test, or ~ the number of a leaf.  A nominal column holds the
    numbers of categories; a test of it has a set of those that go right, eight to a byte,
    from ``set_start`` on (-1: a test of a number).
    """
    n, n_labels = scores.shape
    tile = next_item(sync)
    while tile * _TILE < n:
        first, last = tile * _TILE, min(n, tile * _TILE + _TILE)
        for t in range(begin, end):
            a, b = first_term[t], first_term[t + 1]
            for i in range(first, last):
                x = X[i]
                leaf = _leaf_of(root[a], x, feature, threshold, missing_right, child, set_start, sets)
                if b == a + 1:
                    for k in range(n_labels):
                        scores[i, k] += values[leaf, k]
                else:
                    product = values[leaf].copy()
                    for term in range(a + 1, b):
                        other = _leaf_of(root[term], x, feature, threshold, missing_right, child, set_start, sets)
                        for k in range(n_labels):
                            product[k] *= values[other, k]
                    for k in range(n_labels):
                        scores[i, k] += product[k]
        tile = next_item(sync)
