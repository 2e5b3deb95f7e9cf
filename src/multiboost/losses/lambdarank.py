"""LambdaRank: pairs of documents, weighed by what their exchange would do to NDCG."""

from dataclasses import dataclass

import numpy as np

from ..kernels.queries import add_all_pairs, add_pairs
from . import Loss, register


def sweep(state, first, last, shift, sums):
    """G and H, halves of the derivatives of the loss of `LambdaRank`; the weights of pairs do not take part in them."""
    cut, discount = int(state.level[0]), state.level[1:]
    for i in range(first, last):
        state.pull[i] = state.curvature[i] = 0.0
    risk = 0.0
    query = np.searchsorted(state.group_start, first)
    while state.group_start[query] < last:
        begin, end = state.group_start[query], state.group_start[query + 1]
        risk += add_pairs(
            state.scores, state.weighted, state.wanted, discount, cut, state.order, begin, end,
            state.pull, state.curvature,
        )  # fmt: skip
        query += 1
    total_g = 0.0
    total_h = 0.0
    for i in range(first, last):
        total_g += abs(state.pull[i])
        total_h += state.curvature[i]
    sums[0], sums[1], sums[2] = total_g, total_h, risk


@register
@dataclass(frozen=True)
class LambdaRank(Loss):
    """Sum over pairs of documents, a better than b, of |Delta| log(1 + exp(-2 (F_a - F_b))).

    Delta is the change of the query's NDCG if the two changed places: (z_a - z_b) (c_i - c_j) over the best DCG, with
    gains z and discounts c of the positions that scores give them now (Burges, Ragno and Le 2006; Burges 2010).

    Parameters
    ----------
    positions : int
        One document of every pair is at the first positions; the best DCG is theirs, too.
    """

    name = "lambdarank"
    positions: int = 30
    sweep = staticmethod(sweep)
    has_curvature = True
    of_queries = True

    def __post_init__(self):
        if not (isinstance(self.positions, (int, float)) and self.positions >= 1 and self.positions % 1 == 0):
            raise ValueError(f"lambdarank: positions must be a whole number of at least 1; got {self.positions!r}")

    def levels(self, target):
        """How many positions count, and the discounts of all positions."""
        longest = int(np.diff(target.group_start).max(initial=0))
        return np.concatenate([[float(self.positions)], 1.0 / np.log2(2.0 + np.arange(longest))])

    def risk(self, scores, target):
        return self.pairs(scores, target)[0]

    def pairs(self, scores: np.ndarray, target) -> tuple[float, np.ndarray, np.ndarray]:
        """The loss, and G and H of every document, (n,)."""
        n, level = len(scores), self.levels(target)
        columns = (np.ascontiguousarray(matrix[:, 0]) for matrix in (scores, target.signed, target.wanted))
        pull, curvature = np.zeros(n), np.zeros(n)
        loss = add_all_pairs(
            *columns, level[1:].copy(), int(level[0]), target.group_start, np.arange(n), pull, curvature
        )
        return loss, pull, curvature
