"""Rows with known labels, as theory sees them: pairs of a sample and a label, and what each round says of them."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from ..data.kinds import LabelKind
from ..data.table import Table
from ..data.target import Target
from ..estimators.threads import thread_count
from ..estimators.validation import check_table, check_weights
from ..kernels.team import Team


def check_classifier(clf, what: str) -> None:
    """Refuse whatever has no labels, and so no margins."""
    check_is_fitted(clf)
    if not isinstance(clf.model_.kind, LabelKind):
        raise ValueError(f"{what} is about labels, and {type(clf).__name__} predicts numbers")


def target_of(clf, y, sample_weight=None) -> Target:
    """Labels and initial weights W0 as ``fit`` has made them, but for ``label_weight``.

    Parameters
    ----------
    clf : fitted classifier
    y : labels as in ``fit``
    sample_weight : array (n,) or None
    """
    labels = np.asarray(y)
    weight = check_weights(sample_weight, len(labels))
    weighting = "auto" if clf.weighting == "given" else clf.weighting
    return Target(clf.model_.kind, labels, weighting, weight, class_weight=clf.class_weight)


def checked(clf, X, target: Target) -> Table:
    """X as the model reads it."""
    table = check_table(clf, X)
    check_consistent_length(np.empty(table.n_rows), target.signed)
    return table


def said(clf, table: Table) -> np.ndarray:
    """What each round says of each row, in units of its largest vote: (n, K, T), in [-1, 1]."""
    model = clf.model_
    found = np.empty((table.n_rows, model.kind.n_labels, model.n_rounds))
    with Team(thread_count(clf.n_jobs)) as team:
        for t, votes in enumerate(model.rounds(table, team)):
            found[:, :, t] = votes / (model.ensemble.size[t] or 1.0)
    return found
