"""A base regressor that is right where it is near: the weak learner of median boosting."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from ..kernels.dtypes import NODE
from ..kernels.residuals import leaf_quantiles
from .classifier import BaseClassifier, Dag
from .learner import BaseLearner
from .problem import Problem
from .tree import Tree


class Within(BaseLearner):
    """h is learned from numbers, and awarded +1 where |y - h(x)| <= eps, else -1 (Kegl 2003).

    A base learner of `MedianBoostRegressor` only.  What boosting sees is the award of every row; what the model keeps
    is h.  h is a tree grown by weighted least squares, with weighted medians in its leaves.

    Parameters
    ----------
    eps : float, default=1.0
        In units of the target's spread.
    base : BaseLearner or None, default=None
        What h is; None is a tree of eight leaves.
    """

    name = "within"
    needs_values = True

    def __init__(self, eps=1.0, base=None):
        self.eps = eps
        self.base = base

    def fit(self, problem: Problem) -> BaseClassifier | None:
        """The regressor with its awards, None where nothing can be cut."""
        found = self.regressor(problem)
        if found is None:
            return None
        hit = self.is_hit(found.outputs(), problem.wanted)[:, 0]
        sum_g = np.stack(
            [problem.pull[problem.rows.drawn][hit[problem.rows.drawn] == side].sum(axis=0) for side in (0, 1)]
        )
        leaf = problem.empty_leaf(1)
        leaf[0] = hit
        votes = np.array([[-1.0], [1.0]])
        edge = float((votes * sum_g).sum())
        return BaseClassifier([_award(votes)], leaf, 0, sum_g, np.abs(sum_g), edge, kept=found.terms)

    def is_hit(self, said: np.ndarray, wanted) -> np.ndarray:
        """Whether what is said is within eps of what is wanted."""
        return np.abs(wanted - said) <= self.eps

    def regressor(self, problem: Problem) -> BaseClassifier | None:
        """h: least squares under the weights of the round, and medians in the leaves of a tree."""
        if problem.wanted is None:
            raise ValueError(
                "the base learner 'within' is that of MedianBoostRegressor, which has numbers to be near to"
            )
        h = (self.base or Tree(8)).fit(problem.least_squares())
        if h is None or len(h.terms) > 1 or h.is_curved:
            return h
        weight = np.abs(problem.pull)
        state = SimpleNamespace(weighted=weight, wanted=problem.wanted, scores=np.zeros(weight.shape), n_labels=1)
        drawn = None
        if problem.rows.left_out.size > 0:
            drawn = np.zeros(problem.n_rows, bool)
            drawn[problem.rows.drawn] = True
        return h.with_votes(leaf_quantiles(h.leaf[0], len(h.votes), state, np.array([0.5]), drawn))


def _award(votes: np.ndarray) -> Dag:
    """Two leaves that no test leads to: which one a row is in, its number says."""
    empty = np.zeros(0)
    return Dag(
        feature=empty.astype(NODE), threshold=empty, missing_right=empty.astype(np.bool_), child=np.zeros((0, 2), NODE),
        gain=empty, values=votes, set_start=empty.astype(np.intp), sets=empty.astype(np.uint8),
    )  # fmt: skip
