"""From scores to probabilities."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, softmax

from ..data.target import TargetKind


def probabilities(kind: TargetKind, scores: np.ndarray):
    """Probabilities of classes or labels.

    A score is half the log odds of its label, so a label that stands alone has
    p = 1 / (1 + exp(-2 F)).  The labels of one task exclude each other:
    p = softmax(2 F) over the task, which for two classes is the same.

    Returns
    -------
    ndarray or list of ndarray
        (n, 2), (n, K), for multilabel (n, K) of independent probabilities, for
        multitask a list of (n, classes), one per task.
    """
    if kind.kind == "binary":
        p = expit(2.0 * scores[:, 0])
        return np.stack([1.0 - p, p], axis=1)
    if kind.kind == "multilabel":
        return expit(2.0 * scores)
    found = [softmax(2.0 * scores[:, part], axis=1) for part in kind.tasks]
    return found[0] if kind.kind == "multiclass" else found
