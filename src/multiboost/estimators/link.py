"""From scores to probabilities.

In theory a score is half the log odds of its label, p = 1 / (1 + exp(-2 F)).  In practice
boosting drives the margins of the training set far beyond that: the ranking of scores is
right, their size is not.  So scores are multiplied by a slope

    c = min(2, 6 / M),    M the (weighted) median margin of the training set,

and p = softmax(c F) within a task, p = 1 / (1 + exp(-c F)) for labels that stand alone.
The 6 was measured (``docs/defaults.md``): it is close to the best slope on held-out rows
of clean tables, and far better than 2 on all.
"""

from __future__ import annotations

import numpy as np

from ..data.target import Target, TargetKind

_MARGIN = 6.0
_LARGEST = 2.0
_PAIRS = 1 << 22  # of rows and labels whose margins are looked at


def slope_of(target: Target, scores: np.ndarray) -> float:
    """The slope c from the training set.

    The margin of a task is the true class's score minus the best other one; of a label
    that stands alone it is F Y.

    Parameters
    ----------
    target : Target
    scores : ndarray (n, K)
        Scores of the training set.
    """
    step = -(-scores.size // _PAIRS)  # of a very large set every step-th row will do
    scores, signed = scores[::step], target.signed[::step]
    margins, weights = [], []
    for t, part in enumerate(target.kind.tasks):
        true, weight = target.task_class[::step, t], target.task_weight[::step, t]
        rows = np.flatnonzero((true >= 0) & (weight > 0))
        rivals = scores[rows, part]
        column = true[rows] - part.start
        own = rivals[np.arange(rows.size), column]
        rivals[np.arange(rows.size), column] = -np.inf
        margins.append(own - rivals.max(axis=1))
        weights.append(weight[rows])
    if not margins:
        known = signed != 0
        margins.append(scores[known] * np.sign(signed[known]))
        weights.append(np.abs(signed[known]))
    median = _weighted_median(np.concatenate(margins), np.concatenate(weights))
    return _LARGEST if median <= _MARGIN / _LARGEST else _MARGIN / median


def _weighted_median(values: np.ndarray, weights: np.ndarray) -> float:
    """The smallest value with half of the weight at or below it."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order])
    # Half, but for rounding: a repeated sample and one of weight two must agree.
    return float(values[order[np.searchsorted(below, below[-1] * (0.5 - 1e-9))]])


def probabilities(kind: TargetKind, scores: np.ndarray, slope: float):
    """Probabilities of classes or labels.

    Returns
    -------
    ndarray or list of ndarray
        (n, 2), (n, K), for multilabel (n, K) of independent probabilities, for
        multitask a list of (n, classes), one per task.
    """
    from scipy.special import expit, softmax  # here, for it takes a while and classes do not need it

    if kind.kind == "binary":
        p = expit(slope * scores[:, 0])
        return np.stack([1.0 - p, p], axis=1)
    if kind.kind == "multilabel":
        return expit(slope * scores)
    found = [softmax(slope * scores[:, part], axis=1) for part in kind.tasks]
    return found[0] if kind.kind == "multiclass" else found


def shaped(kind: TargetKind, scores: np.ndarray) -> np.ndarray:
    """Scores as users see them: of a binary target one column, (n,).

    Parameters
    ----------
    kind : TargetKind
    scores : ndarray (n, K)
    """
    return scores[:, 0] if kind.kind == "binary" else scores


def decisions(kind: TargetKind, scores: np.ndarray) -> np.ndarray:
    """Classes; 0 and 1 for labels, one column per task for tasks.

    Parameters
    ----------
    kind : TargetKind
    scores : ndarray (n, K)
    """
    if kind.kind == "binary":
        return kind.decode((scores[:, 0] > 0).astype(np.intp))
    if kind.kind == "multilabel":
        return (scores > 0).astype(np.intp)
    number = np.stack([scores[:, part].argmax(axis=1) for part in kind.tasks], axis=1)
    return kind.decode(number[:, 0] if kind.kind == "multiclass" else number)
