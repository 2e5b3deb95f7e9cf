"""Queries: documents in the order of their scores, NDCG, and pairs of documents weighed by it.

Rows of a query are neighbours.  Their order is kept from one call to the next: scores change little in a round, and
what is nearly sorted is sorted quickly.  Of equal scores the lesser document comes first: so the order of the rows
leaves no trace.
"""

import numpy as np

from .arithmetic import exp, log1p
from .compiler import INNER, OPTIONS, njit
from .extremes import greater


@njit(**INNER)
def _sort(scores, gain, order, first, last):
    """Rows ``first`` to ``last`` by falling score, equal ones by rising gain; IN and OUT order, a permutation of them
    (Shell 1959).
    """
    gap = (last - first) // 2
    while gap > 0:
        for k in range(first + gap, last):
            row = order[k]
            s = scores[row]
            at = k
            while at - gap >= first:
                other = order[at - gap]
                if scores[other] > s:
                    break
                if scores[other] == s and (gain[other] < gain[row] or (gain[other] == gain[row] and other < row)):
                    break
                order[at] = other
                at -= gap
            order[at] = row
        gap //= 2


@njit(**OPTIONS)
def ndcg_of_queries(scores, gain, start, cut, order, found):
    """NDCG of every query, the mean over all orders of equal scores.

    scores : (n,) float64
    gain : (n,) float64, divided by the best DCG of the query
    start : (queries + 1,) intp
    cut : positions that count
    order : IN and OUT (n,) intp, rows of each query in the order of their scores
    found : OUT (queries,)
    """
    for q in range(start.size - 1):
        first, last = start[q], start[q + 1]
        _sort(scores, gain, order, first, last)
        total = 0.0
        k = first
        while k < last and k - first < cut:
            end, gains, discounts = k, 0.0, 0.0
            while end < last and scores[order[end]] == scores[order[k]]:
                gains += gain[order[end]]
                if end - first < cut:
                    discounts += 1.0 / np.log2(2.0 + (end - first))
                end += 1
            total += gains / (end - k) * discounts
            k = end
        found[q] = total


@njit(**INNER)
def add_pairs(scores, weight, gain, discount, cut, order, first, last, pull, curvature):
    """Pairs of documents of one query, rows ``first`` to ``last``: G and H are added to; returns the loss.

    discount : of the positions 1, 2, ...
    cut : of every pair one document is at these positions
    """
    n = float(scores.size)
    risk = 0.0
    _sort(scores, gain, order, first, last)
    for i in range(first, first + cut if first + cut < last else last):
        a = order[i]
        for j in range(i + 1, last):
            b = order[j]
            gap = gain[a] - gain[b]
            if gap == 0.0:
                continue
            w = n * weight[a] * weight[b] * abs(gap) * (discount[i - first] - discount[j - first])
            margin = 2.0 * (scores[a] - scores[b]) * (1.0 if gap > 0.0 else -1.0)
            e = exp(-abs(margin))
            right = 1.0 / (1.0 + e)
            g = w * (e * right if margin > 0.0 else right)
            h = 2.0 * w * e * right * right
            risk += w * (log1p(e) + greater(0.0, -margin))
            pull[a] += g if gap > 0.0 else -g
            pull[b] -= g if gap > 0.0 else -g
            curvature[a] += h
            curvature[b] += h
    return risk


@njit(**OPTIONS)
def add_all_pairs(scores, weight, gain, discount, cut, start, order, pull, curvature):
    """`add_pairs` of all queries; returns the loss."""
    risk = 0.0
    for q in range(start.size - 1):
        risk += add_pairs(scores, weight, gain, discount, cut, order, start[q], start[q + 1], pull, curvature)
    return risk
