"""Target calibration functions of the thesis (Kegl 2011, 3.5.3): what a calibration makes small.

Each gets probabilities P, (n, k), the right answers and the rows' weights, and returns its value and its slopes along
P.  Answers are ordered in EL, ELL and SN, where answer l stands for the grade 2^l - 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

_TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class Rows:
    """What is known of the rows.

    Attributes
    ----------
    true : ndarray (n,)
    weight : ndarray (n,)
    groups : list of ndarray
        Rows of each query; one of all rows where there are no queries.
    """

    true: np.ndarray
    weight: np.ndarray
    groups: list[np.ndarray]

    @classmethod
    def of(cls, true: np.ndarray, weight: np.ndarray, groups: np.ndarray | None) -> Rows:
        """With the rows of every query together."""
        if groups is None:
            return cls(true, weight, [np.arange(len(true))])
        return cls(true, weight, [np.flatnonzero(groups == g) for g in np.unique(groups)])


def log_sigmoid(P: np.ndarray, rows: Rows) -> tuple[float, np.ndarray]:
    """LS: the log-loss, sum_i -ln p_i(l_i)."""
    return entropy_weighted(P, rows, 0.0)


def entropy_weighted(P: np.ndarray, rows: Rows, power: float) -> tuple[float, np.ndarray]:
    """EWLS: sum_i -ln p_i(l_i) H(p_i)^C: sure rows count less.  C = 0 is LS."""
    i = np.arange(len(P))
    p, logs = np.maximum(P[i, rows.true], _TINY), np.log(np.maximum(P, _TINY))
    entropy = np.maximum(-(P * logs).sum(axis=1), _TINY)
    own, factor = -np.log(p), entropy**power
    slopes = (rows.weight * own * power * factor / entropy)[:, None] * -(logs + 1.0)
    slopes[i, rows.true] -= rows.weight * factor / p
    return float((rows.weight * own * factor).sum()), slopes


def expected_loss(P: np.ndarray, rows: Rows) -> tuple[float, np.ndarray]:
    """EL: sum_i sum_l (l - l_i)^2 p_i(l)."""
    far = (np.arange(P.shape[1]) - rows.true[:, None]) ** 2 * rows.weight[:, None]
    return float((far * P).sum()), far.astype(np.float64)


def expected_label(P: np.ndarray, rows: Rows) -> tuple[float, np.ndarray]:
    """ELL: sum_i (sum_l l p_i(l) - l_i)^2."""
    labels = np.arange(P.shape[1])
    off = (P * labels).sum(axis=1) - rows.true
    return float((rows.weight * off * off).sum()), 2.0 * (rows.weight * off)[:, None] * labels


def soft_ndcg(P: np.ndarray, rows: Rows, sigma: float) -> tuple[float, np.ndarray]:
    """SN: minus a soft DCG, -sum_i sum_j z_i c_j h(x_i, x of position j), over all queries.

    h = exp(-(v_i - v_j)^2 / sigma), normalised over the positions of a document; v_i = sum_l z_l p_i(l); position j has
    the discount c_j = 1 / log2(1 + j).  At a tiny sigma it is minus the DCG of the ranking by v.  As in the thesis it
    is not divided by the best DCG of a query.  Weights of rows take no part.
    """
    grades = 2.0 ** np.arange(P.shape[1]) - 1.0
    v = (P * grades).sum(axis=1)
    value, slope = 0.0, np.zeros(len(P))
    for group in rows.groups:
        own, gain = v[group], grades[rows.true[group]]
        discount = np.empty(len(group))
        discount[np.argsort(-own, kind="stable")] = 1.0 / np.log2(2.0 + np.arange(len(group)))
        gap = own[:, None] - own
        h = np.exp(-gap * gap / sigma)
        h /= h.sum(axis=1, keepdims=True)
        mean = (h * discount).sum(axis=1, keepdims=True)
        value -= float(gain @ mean[:, 0])
        pull = gain[:, None] * (discount - mean) * h * 2.0 * gap / sigma
        slope[group] = pull.sum(axis=1) - pull.sum(axis=0)
    return value, slope[:, None] * grades


GOALS: dict[str, Callable] = {
    "ls": lambda P, rows, C, sigma: log_sigmoid(P, rows),
    "ewls": lambda P, rows, C, sigma: entropy_weighted(P, rows, C),
    "el": lambda P, rows, C, sigma: expected_loss(P, rows),
    "ell": lambda P, rows, C, sigma: expected_label(P, rows),
    "sn": lambda P, rows, C, sigma: soft_ndcg(P, rows, sigma),
}
