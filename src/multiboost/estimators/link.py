"""From scores to probabilities: p = softmax(c F) within a task, p = 1 / (1 + exp(-c F)) for labels that stand alone.

In theory a score is half the log odds of its label, and the slope c is 2; in practice it is less, see
``boosting.sharpness``.
"""

from __future__ import annotations

import numpy as np

from ..boosting.sharpness import STEEPEST
from ..data.target import TargetKind


def early_slope(slope: float, votes: float, votes_so_far: float) -> float:
    """The slope for the first rounds of a model: margins grow with the votes, and the slope falls as they grow."""
    return min(STEEPEST, slope * votes / votes_so_far)


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
