"""Margins: how sure the votes are of what is right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..estimators.threads import thread_count
from ..kernels.team import Team
from .rows import check_classifier, checked, target_of


@dataclass(frozen=True)
class MarginDistribution:
    """Normalised margins of some rows, each in [-1, 1]: below 0 is wrong, 1 is a unanimous vote.

    Good for: seeing that boosting goes on to push rows away from the border after all of them are right, and for
    comparing steps (AdaBoost, arc-gv) on the same base learner.  Not good for: comparing different base learners; large
    trees have large margins, and may be worse on other rows.

    Attributes
    ----------
    values : ndarray (m,)
        From small to large: F Y / (sum of the sizes of all votes) of every known pair of a sample and a label, or of
        classes half of (score of the right one - best other one) / sum.
    weight : ndarray (m,)
        Total 1.
    """

    values: np.ndarray
    weight: np.ndarray

    @property
    def minimum(self) -> float:
        """The smallest margin: what arc-gv makes as large as it can be."""
        return float(self.values[0])

    def below(self, theta: float) -> float:
        """The share of the weight with a margin below theta: the margin error."""
        return float(self.weight[: np.searchsorted(self.values, theta, side="left")].sum())


def margins(clf, X, y, sample_weight=None, *, of_classes: bool = False) -> MarginDistribution:
    """The margins of a classifier on rows with known labels.

    Parameters
    ----------
    clf : fitted classifier
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
    y : labels as in ``fit``
    sample_weight : array (n,), default=None
    of_classes : bool, default=False
        A margin for every task of a sample instead of every label.

    Returns
    -------
    MarginDistribution
    """
    check_classifier(clf, "margins")
    model, target = clf.model_, target_of(clf, y, sample_weight)
    table = checked(clf, X, target)
    if of_classes and not model.kind.tasks:
        raise ValueError("of_classes=True needs classes; labels that stand alone have a margin each: leave it out")
    with Team(thread_count(clf.n_jobs)) as team:
        scores = model.scores(table, team) / model.sizes()[-1]
    if of_classes:
        values, weight = _of_classes(scores, target)
    else:
        known = target.signed != 0
        values, weight = (scores * np.sign(target.signed))[known], np.abs(target.signed[known])
    order = np.argsort(values, kind="stable")
    return MarginDistribution(values[order], weight[order] / weight.sum())


def _of_classes(scores: np.ndarray, target) -> tuple[np.ndarray, np.ndarray]:
    values, weight = [], []
    for t, part in enumerate(target.kind.tasks):
        rows = np.flatnonzero((target.task_class[:, t] >= 0) & (target.task_weight[:, t] > 0))
        own = target.task_class[rows, t] - part.start
        others = scores[rows, part].copy()
        right = others[np.arange(rows.size), own]
        others[np.arange(rows.size), own] = -np.inf
        values.append(0.5 * (right - others.max(axis=1)))
        weight.append(target.task_weight[rows, t])
    return np.concatenate(values), np.concatenate(weight)
