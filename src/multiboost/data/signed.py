"""Samples of negative weight, as generators of events make them: what becomes of them before training.

Weights of both signs describe a density where it is positive once many samples are added up.  In a region that is not
too small their sum estimates it without bias (Andersen, Maier, "Unbiased elimination of negative weights in Monte Carlo
samples", 2021): so in such a region they may cancel.
"""

from __future__ import annotations

import numpy as np

RULES = ("error", "ignore", "annihilate", "keep")
_LEAST = 50  # samples in a cell
_SURE = 2.0  # standard deviations by which the sum of a cell has to be above 0


def annihilated(X: np.ndarray, nominal: np.ndarray, group: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Weights without negative ones, (n,): in the cells of a partition samples of one group cancel.

    The partition is a tree for each group.  A cell is cut at its median, along the column where the signs of the two
    sides differ most: |s / a - s' / a'|, s the sum of the weights and a that of their sizes.  It is cut as long as it
    has negative weights, both sides have enough samples, and their sums are above 0 for sure.  In a leaf with positive
    weights that add up to P and negative ones that add up to -N, positive ones are multiplied by (P - N) / P, and
    negative ones become 0: sums of leaves stay as they were.

    Parameters
    ----------
    X : ndarray (n, columns) float64
        NaN where a value is missing; numbers of categories in nominal columns.
    nominal : ndarray of bool (columns,)
    group : ndarray of int (n,)
        What samples must share to cancel: their class.
    weight : ndarray (n,)

    Raises
    ------
    ValueError
        Where the weights of a group do not add up to more than 0; its text ends with the number of the group.
    """
    found = weight.copy()
    for g in np.unique(group[weight < 0]):
        of_group = np.flatnonzero(group == g)
        if not weight[of_group].sum() > 0:
            raise NothingLeft(int(g), float(weight[of_group].sum()))
        todo = [of_group]
        while todo:
            rows = todo.pop()
            w = weight[rows]
            if not (w < 0).any():
                continue
            left = _best_cut(X[rows], nominal, w)
            if left is not None:
                todo += [rows[left], rows[~left]]
                continue
            positive = np.maximum(w, 0.0)
            found[rows] = positive * (max(w.sum(), 0.0) / positive.sum() if positive.any() else 0.0)
    return found


class NothingLeft(ValueError):
    """The weights of a group do not add up to more than 0.

    Parameters
    ----------
    group : int
    total : float
    """

    def __init__(self, group: int, total: float):
        super().__init__(f"the weights of group {group} add up to {total:g}")
        self.group, self.total = group, total


def _best_cut(X: np.ndarray, nominal: np.ndarray, w: np.ndarray) -> np.ndarray | None:
    """Which rows of a cell go to the left, (n,) bool; None where it is not to be cut."""
    n = len(w)
    if n < 2 * _LEAST:
        return None
    for j in np.flatnonzero(nominal):
        X[:, j] = _share_by_category(X[:, j], w)
    X[np.isnan(X)] = -np.inf
    median = np.partition(X, n // 2, axis=0)[n // 2]
    left = median > X
    few = left.sum(axis=0) < _LEAST  # the median is the least value, or nearly
    left[:, few] = X[:, few] <= median[few]
    sums = np.stack([w, np.abs(w), w * w, np.ones(n)])
    here = sums @ left
    there = sums.sum(axis=1, keepdims=True) - here
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = np.abs(here[0] / here[1] - there[0] / there[1])
    for s, _, squares, count in (here, there):
        gain[(count < _LEAST) | ~(s > _SURE * np.sqrt(np.maximum(squares, 0.0)))] = -1.0
    best = int(np.argmax(gain)) if gain.size else 0
    return left[:, best] if gain.size and gain[best] >= 0 else None


def _share_by_category(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """s / a of every row's category, so that names of categories have no influence; missing values are one, too."""
    code = np.where(np.isnan(x), 0, x + 1).astype(np.intp)
    total, size = np.bincount(code, w), np.bincount(code, np.abs(w))
    return (total / np.where(size > 0, size, 1.0))[code]
