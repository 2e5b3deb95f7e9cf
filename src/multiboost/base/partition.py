"""A base classifier of one test and two leaves, from the side of every sample."""

from __future__ import annotations

import numpy as np

from ..kernels.dtypes import NODE
from .classifier import BaseClassifier, Dag
from .problem import Problem


def two_leaves(
    problem: Problem, right: np.ndarray, *, feature: int = -1, threshold: float = 0.0, missing_right=False, phi=()
) -> BaseClassifier:
    """h with the votes of the problem's criterion on the two sides of a test.

    Parameters
    ----------
    problem : Problem
    right : ndarray (n,) of bool
        Which samples go right, also those that the round does not see.
    feature : int
        Column of the table; -1 is ``phi``.
    threshold : float
        x > threshold goes right.
    missing_right : bool
        Where missing values go.
    phi : sequence of Phi
        What is tested instead of a column.
    """
    criterion, drawn = problem.criterion, problem.rows.drawn
    leaf = problem.empty_leaf(1)
    leaf[0] = right
    goes = right[drawn]
    sides = [problem.sums(drawn[~goes]), problem.sums(drawn[goes])]
    sum_g, sum_h = (np.stack([side[k] for side in sides]) for k in (0, 1))
    votes = criterion.votes_of_cut(sum_g, sum_h)
    dag = Dag(
        feature=np.array([feature], NODE),
        threshold=np.array([threshold], np.float64),
        missing_right=np.array([missing_right], np.bool_),
        child=np.array([[-1, -2]], NODE),
        gain=np.array([np.abs(sum_g[1] - sum_g[0]).sum()]),
        values=votes,
        set_start=np.array([-1], np.intp),
        sets=np.zeros(0, np.uint8),
        phi=list(phi),
    )
    return BaseClassifier([dag], leaf, 0, sum_g, sum_h, criterion.score(sum_g, sum_h, votes))
