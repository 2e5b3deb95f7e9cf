"""Thresholds of cascades: a row is rejected as soon as its score is low, and may be accepted as soon as it is high.

Given are running scores of positive and negative rows.  All guarantees are of these rows, exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np


def soft_budget(n_rounds: int, alpha: float, target_tpr: float) -> np.ndarray:
    """The share of positives that may be lost up to each round, (rounds,).

    It is spent as v_j = exp(alpha j / N) for alpha >= 0, exp(-alpha (1 - j / N)) for alpha < 0, scaled so that all of
    it is 1 - target_tpr (Bourdev and Brandt, CVPR 2005; the formula in the thesis is never a rate).
    """
    j = np.arange(1, n_rounds + 1) / n_rounds
    spent = np.exp(alpha * j) if alpha >= 0 else np.exp(-alpha * (1.0 - j))
    return np.cumsum(spent / spent.sum()) * (1.0 - target_tpr)


def soft_thresholds(positive: Iterable[np.ndarray], budget: np.ndarray) -> np.ndarray:
    """Rejection thresholds of a SoftCascade, (rounds,).

    After each round the threshold is the score of the lowest positive that must not be lost: as many of those that are
    left are below it as the budget allows.

    Parameters
    ----------
    positive : iterable of ndarray (n,)
        Scores of the positives after each round.
    budget : ndarray (rounds,)
        See `soft_budget`.
    """
    thresholds = np.full(len(budget), -np.inf)
    left: np.ndarray | None = None
    for t, scores in enumerate(positive):
        left = np.ones(len(scores), bool) if left is None else left
        allowed = int(np.floor(budget[t] * len(left) + 1e-9)) - int((~left).sum())
        ordered = np.sort(scores[left])
        thresholds[t] = ordered[min(max(allowed, 0), len(ordered) - 1)]
        left &= scores >= thresholds[t]
    return thresholds


class Undecided:
    """Rows of a class that are not decided yet.

    Parameters
    ----------
    rows : ndarray (n, columns)
    scores : ndarray (n, 1)
        Before the first base classifier.
    add : callable
        ``add(rows, scores, t)`` adds base classifier t to the scores.

    Attributes
    ----------
    total : float
        How many rows of the class there would be, decided ones and all, if these had not been joined by new ones.
    """

    def __init__(self, rows: np.ndarray, scores: np.ndarray, add: Callable[[np.ndarray, np.ndarray, int], None]):
        self.rows, self.scores, self._add = rows, scores, add
        self.total = float(len(rows))

    def after(self, t: int) -> np.ndarray:
        """Scores after base classifier t, (n,)."""
        self._add(self.rows, self.scores, t)
        return self.scores[:, 0]

    def keep(self, stay: np.ndarray) -> None:
        """Only these rows are not decided."""
        self.rows, self.scores = self.rows[stay], self.scores[stay]

    def join(self, rows: np.ndarray, scores: np.ndarray) -> None:
        """New rows that have come as far: the share of the class that is not decided stays what it is.

        Parameters
        ----------
        rows : ndarray (m, columns)
        scores : ndarray (m, 1)
        """
        self.total *= (len(self.rows) + len(rows)) / len(self.rows)
        self.rows, self.scores = np.concatenate([self.rows, rows]), np.concatenate([self.scores, scores])


def wald_thresholds(
    positive: Undecided,
    negative: Undecided,
    n_rounds: int,
    false_negative: float,
    false_positive: float,
    refill: Callable[[Undecided, np.ndarray, np.ndarray], None] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Rejection and acceptance thresholds of WaldBoost, (rounds,) each.

    Wald's sequential test rejects where p(f | -) / p(f | +) >= A = (1 - false_positive) / false_negative and accepts
    where it is <= B = false_positive / (1 - false_negative) (Sochman and Matas, CVPR 2005).  The densities are those of
    the event "below" or "above the threshold", counted among the rows that are not decided yet, as shares of all rows
    of a class: so the rejected share of the positives is at most 1 / A, and the accepted share of the negatives at most
    B.

    Parameters
    ----------
    positive, negative : Undecided
        They are used up.
    n_rounds : int
    false_negative, false_positive : float
        Both may be 0: then nothing that a positive has is rejected, or nothing is accepted.
    refill : callable, default=None
        Called with the negatives and the thresholds so far before each base classifier: new negatives may join.
    """
    reject, accept = np.empty(n_rounds), np.empty(n_rounds)
    for t in range(n_rounds):
        if refill is not None:
            refill(negative, reject[:t], accept[:t])
        f, g = positive.after(t), negative.after(t)
        low = _lowest(f, g, positive.total, negative.total, false_negative / (1.0 - false_positive))
        high = np.inf
        if false_positive > 0:
            high = -_lowest(-g, -f, negative.total, positive.total, false_positive / (1.0 - false_negative))
            high = max(high, low)
        reject[t], accept[t] = low, high
        positive.keep((f >= low) & (f <= high))
        negative.keep((g >= low) & (g <= high))
    return reject, accept


def _lowest(kept: np.ndarray, lost: np.ndarray, n_kept: float, n_lost: float, ratio: float) -> float:
    """The largest threshold below which the share of ``kept`` is at most ratio times the share of ``lost``."""
    if not lost.size:
        return -np.inf
    if not kept.size:
        return np.inf
    candidates = np.sort(kept)  # a threshold at a kept row, which is not below it
    below_kept = np.arange(len(candidates))
    below_lost = np.searchsorted(np.sort(lost), candidates, side="left")
    good = np.flatnonzero((below_kept / n_kept <= ratio * below_lost / n_lost) & (below_lost > 0))
    return float(candidates[good[-1]]) if good.size else -np.inf


def stage_threshold(positive: np.ndarray, wanted_tpr: float) -> float:
    """The largest threshold that this share of the positives reaches.

    Parameters
    ----------
    positive : ndarray (n,)
    wanted_tpr : float
    """
    lost = int(np.floor((1.0 - wanted_tpr) * len(positive) + 1e-9))
    return float(np.sort(positive)[min(lost, len(positive) - 1)])


def balanced_order(votes: np.ndarray, signs: np.ndarray, n_rounds: int) -> np.ndarray:
    """The order in which a SoftCascade takes base classifiers: next is the one with the largest balanced edge.

    The edge is that of the weights exp(-y F) of the scores so far, with half of them on each class.

    Parameters
    ----------
    votes : ndarray (n, base classifiers)
        Of binary base classifiers.
    signs : ndarray (n,)
        +1 and -1.
    n_rounds : int
        How many are taken.
    """
    size = np.abs(votes).max(axis=0)
    score, free = np.zeros(len(signs)), np.ones(votes.shape[1], bool)
    order = []
    for _ in range(n_rounds):
        weight = np.exp(-(signs * score - (signs * score).min()))
        for sign in (-1, 1):
            weight[signs == sign] /= 2.0 * weight[signs == sign].sum()
        edge = (weight * signs) @ votes / np.where(size > 0, size, 1.0)
        edge[~free] = -np.inf
        best = int(edge.argmax())
        order.append(best)
        free[best] = False
        score += votes[:, best]
    return np.array(order)
