"""What a lean classifier spares: how many base classifiers rows need, and what that costs in quality."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .detection import threshold_at

RATES = (0.1, 0.01, 0.001)
_ROUNDS = 60  # of a curve, at most


@dataclass
class Need:
    """Base classifiers that the rows of a group need.

    Attributes
    ----------
    name : str
        A class, or "all rows".
    n_rows : int
    mean : float
    quantiles : list of float
        The median, nine tenths and the most.
    at_most, share : list
        The share of the rows that need at most so many.
    """

    name: str
    n_rows: int
    mean: float
    quantiles: list[float]
    at_most: list[int]
    share: list[float]


@dataclass
class Detection:
    """True positives at a fixed rate of false positives.

    Attributes
    ----------
    fpr : float
    rounds, tpr : list
        Of the ensemble that is cut off after so many base classifiers, for all rows.
    lean_cost, lean_tpr : float
        Of the lean classifier: the mean number of base classifiers that negatives need, and its true positives.
    """

    fpr: float
    rounds: list[int]
    tpr: list[float]
    lean_cost: float
    lean_tpr: float


@dataclass
class LeanEvaluation:
    """How much of a model some rows need.

    Attributes
    ----------
    about : dict
        How the policy was found.
    n_rounds : int
    needs : list of Need
        Of all rows, and of each class.
    used : list of float
        The share of the rows for which each base classifier was evaluated.
    differ : float or None
        The share of the answers that differ from those of all base classifiers; None where these are no ensemble.
    detection : list of Detection
        Of two classes.
    """

    about: dict[str, Any]
    n_rounds: int
    needs: list[Need]
    used: list[float]
    differ: float | None
    detection: list[Detection] = field(default_factory=list)


def lean_evaluation(clf, X, y) -> LeanEvaluation | None:
    """How much of a classifier rows need, by class; None where it has no policy.

    Parameters
    ----------
    clf : fitted classifier
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
    y : labels as in ``fit``

    Returns
    -------
    LeanEvaluation or None

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from multiboost import MultiBoostClassifier
    >>> from multiboost.evaluation.lean import lean_evaluation
    >>> X, y = make_classification(3000, random_state=0)
    >>> clf = MultiBoostClassifier("stump", n_estimators=100).fit(X[:1000], y[:1000])
    >>> found = lean_evaluation(clf.early_exit(X[1000:2000], 0.01), X[2000:], y[2000:])
    >>> [need.name for need in found.needs], found.needs[0].mean < 60, found.differ < 0.02
    (['all rows', '0', '1'], True, True)
    """
    check_is_fitted(clf)
    model = clf.model_
    policy = getattr(model, "policy", None)
    if policy is None:
        return None
    paths = clf.paths(X)
    evaluated = paths.sum(axis=1)
    groups: dict[str, np.ndarray] = {"all rows": np.ones(len(evaluated), bool)}
    code = model.kind.encode(y)[:, 0] if model.kind.is_single else None
    if code is not None:
        groups |= {str(name): code == k for k, name in enumerate(model.kind.classes[0].tolist())}
    needs = [_need(name, evaluated[rows]) for name, rows in groups.items() if rows.any()]
    found = LeanEvaluation(
        dict(policy.about), model.n_rounds, needs, paths.mean(axis=0).tolist(), None if policy.restart.any() else 0.0
    )
    scores = np.asarray(clf.decision_function(X))
    if code is not None and model.ensemble.n_labels == 1 and len(np.unique(code)) == 2:
        cost = float(evaluated[code == 0].mean())
        rates = [r for r in RATES if r * (code == 0).sum() >= 1]
        found.detection = [Detection(r, [], [], cost, _tpr(scores, code, r)) for r in rates]
    if found.differ is not None:
        _whole(found, clf, X, code, scores)
    return found


def _need(name: str, evaluated: np.ndarray) -> Need:
    at_most, count = np.unique(evaluated, return_counts=True)
    return Need(
        name,
        len(evaluated),
        float(evaluated.mean()),
        np.quantile(evaluated, [0.5, 0.9, 1.0], method="higher").tolist(),
        at_most.tolist(),
        (np.cumsum(count) / len(evaluated)).tolist(),
    )


def _tpr(scores: np.ndarray, code: np.ndarray, fpr: float) -> float:
    return float((scores[code == 1] > threshold_at(scores[code == 0], fpr)).mean())


def _whole(found: LeanEvaluation, clf, X, code, lean: np.ndarray) -> None:
    """What the same base classifiers say where all rows see the first of them, and all of them."""
    n = found.n_rounds
    rounds = set(np.unique(np.geomspace(1, n, min(n, _ROUNDS)).round().astype(int)).tolist())
    for t, scores in enumerate(clf.staged_decision_function(X), start=1):
        if t in rounds:
            for each in found.detection:
                each.rounds.append(t)
                each.tpr.append(_tpr(scores, code, each.fpr))
    answers = [clf.model_.answer(each.reshape(len(each), -1)).reshape(len(each), -1) for each in (scores, lean)]
    found.differ = float((answers[0] != answers[1]).any(axis=1).mean())
