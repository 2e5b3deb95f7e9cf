"""What the theory of AdaBoost says of a run: products of Z, and numbers of rounds."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, exp, log, prod, sqrt

import numpy as np

from ..steps import AlphaStep
from .rows import check_classifier, target_of


@dataclass(frozen=True)
class Bounds:
    """Bounds on the training error of a run with exponential loss.

    Good for: seeing that a run does what the theory says, and how far its bounds are from the truth.  Not good for:
    choosing the number of rounds, or anything about other rows than those of training.  The bounds are far above the
    error, and a test error may fall long after the training error is zero.

    Attributes
    ----------
    n_rounds : int
    product_of_z : float
        The product of Z of all rounds: the exponential risk, and at least the weight of the wrong labels.
    error_bound : float
        At least the training error: the product of Z, and of one class out of K >= 3 with half of the weight on the
        right one, sqrt(K - 1) times it (Kegl 2011, section 3.3.2).
    training_error : float
        That of the run.
    smallest_edge : float
        delta, of all rounds.
    edge_bound : float or None
        exp(-1/2 sum of squared edges), at least the product of Z; None unless votes are discrete with steps alpha.
    rounds_for_labels : int or None
        Rounds after which all labels are right, if every edge is at least delta: ceil(2 ln(1 / w) / delta^2) + 1, w the
        least weight of a label.  None without y, without steps alpha, or where delta is not positive.
    rounds_for_classes : int or None
        The same for one class out of K: ceil(2 ln(n sqrt(K - 1)) / delta^2) + 1.
    """

    n_rounds: int
    product_of_z: float
    error_bound: float
    training_error: float
    smallest_edge: float
    edge_bound: float | None
    rounds_for_labels: int | None
    rounds_for_classes: int | None

    def __str__(self) -> str:
        lines = [
            f"after {self.n_rounds} rounds the training error is {self.training_error:.4g}",
            f"product of Z {self.product_of_z:.4g}: the error is at most {self.error_bound:.4g}",
            f"smallest edge {self.smallest_edge:.4g}",
        ]
        if self.edge_bound is not None:
            lines.append(f"by the edges alone the product of Z is at most {self.edge_bound:.4g}")
        for rounds, what in ((self.rounds_for_labels, "labels"), (self.rounds_for_classes, "classes")):
            if rounds is not None:
                lines.append(f"with such edges all {what} are right after {rounds} rounds")
        return "\n".join(lines)


def bounds(clf, y=None, sample_weight=None) -> Bounds:
    """Bounds on the training error of a classifier.

    Parameters
    ----------
    clf : fitted classifier
        With exponential loss, whose rounds have seen all rows.
    y : labels of the training set, default=None
        For the numbers of rounds, which depend on the weights of the labels.
    sample_weight : array (n,), default=None
        As in ``fit``.

    Returns
    -------
    Bounds

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multiboost import AdaBoostMHClassifier
    >>> from multiboost.theory import bounds
    >>> X, y = load_iris(return_X_y=True)
    >>> found = bounds(AdaBoostMHClassifier("stump", n_estimators=20).fit(X, y), y)
    >>> found.training_error <= found.error_bound
    True
    """
    check_classifier(clf, "bounds")
    history, kind = clf.history_, clf.model_.kind
    z = history.get("Z", np.zeros(0))
    if clf.plan_.loss.name != "exponential" or len(z) == 0 or not np.isfinite(z).all():
        raise ValueError(
            "bounds need Z of every round: train with loss='exponential' and subsample=1.0, and do not prune before"
        )
    product, edges = prod(z.tolist()), history["edge"]
    delta, n_labels = float(edges.min()), kind.n_labels
    weighting = kind.weighting if clf.weighting == "auto" else clf.weighting
    of_classes = kind.is_single and len(kind.tasks) == 1 and weighting == "half"
    by_edges = isinstance(clf.plan_.step, AlphaStep) and clf.plan_.step.learning_rate == 1 and delta > 0
    by_edges = by_edges and clf.plan_.criterion == "edge"
    labels = classes = None
    if y is not None and by_edges:
        weights = np.abs(target_of(clf, y, sample_weight).signed)
        labels = _rounds(1.0 / float(weights[weights > 0].min()), delta)
        if of_classes and sample_weight is None and clf.class_weight is None:
            classes = _rounds(len(weights) * sqrt(n_labels - 1), delta)
    return Bounds(
        n_rounds=len(z),
        product_of_z=product,
        error_bound=sqrt(n_labels - 1) * product if of_classes else product,
        training_error=float(history["training_error"][-1]),
        smallest_edge=delta,
        edge_bound=exp(-0.5 * float(edges @ edges)) if by_edges else None,
        rounds_for_labels=labels,
        rounds_for_classes=classes,
    )


def _rounds(ratio: float, delta: float) -> int:
    """T* = ceil(2 ln(ratio) / delta^2) + 1: exp(-T delta^2 / 2) is below 1 / ratio."""
    return ceil(2.0 * log(ratio) / delta**2) + 1
