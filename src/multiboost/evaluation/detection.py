"""How good against how much: quality of lean classifiers over the base classifiers that they evaluate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass
class LeanRun:
    """What one classifier reaches.

    Attributes
    ----------
    quality, cost : float
        On the training set: TPR, NDCG or the like, and the mean number of base classifiers that were evaluated.
    test_quality, test_cost : float
        On the test set.
    """

    quality: float
    cost: float
    test_quality: float
    test_cost: float


@dataclass
class LeanCurve:
    """Quality on the test set over the mean number of base classifiers.

    Attributes
    ----------
    cost : ndarray (points,)
        Rising budgets: the mean number of evaluations on the training set.
    quality : ndarray (points,)
        On the test set, of the run that was chosen for the budget.
    test_cost : ndarray (points,)
        Of the same run.
    name : str
        What the quality is.
    """

    cost: np.ndarray
    quality: np.ndarray
    test_cost: np.ndarray
    name: str = "quality"

    def at(self, budget: float) -> float:
        """The quality for a budget; NaN where no run is as cheap."""
        within = np.flatnonzero(self.cost <= budget)
        return float(self.quality[within[-1]]) if within.size else float("nan")


def selected(runs: Sequence[LeanRun], name: str = "quality") -> LeanCurve:
    """For each budget the best run, by the rule of the thesis (Kegl 2011, 3.6.2).

    For a budget N it is the run with the best quality on the training set among those whose cost there is at most N,
    k*(N) = argmax over N_k <= N of p_k.  Drawn is its quality on the test set.

    Parameters
    ----------
    runs : sequence of LeanRun
    name : str
        What the quality is.
    """
    points: list[LeanRun] = []
    budgets = []
    for run in sorted(runs, key=lambda run: (run.cost, -run.quality)):
        if not points or run.quality > points[-1].quality:
            points.append(run)
            budgets.append(run.cost)
    return LeanCurve(
        np.array(budgets), np.array([r.test_quality for r in points]), np.array([r.test_cost for r in points]), name
    )


def detection_run(clf, X_train, y_train, X_test, y_test, *, fpr: float) -> LeanRun:
    """True positive rate at a false positive rate, and the mean number of evaluations on negatives.

    The threshold is set for the false positive rate of the test set, as in the thesis, and serves the training set,
    too.

    Parameters
    ----------
    clf : fitted binary classifier
    X_train, y_train, X_test, y_test
    fpr : float
    """
    positive = clf.classes_[1]
    test_scores = np.asarray(clf.decision_function(X_test))
    threshold = threshold_at(test_scores[np.asarray(y_test) != positive], fpr)
    found = []
    for X, y in ((X_train, y_train), (X_test, y_test)):
        is_positive = np.asarray(y) == positive
        scores = test_scores if X is X_test else np.asarray(clf.decision_function(X))
        found += [float((scores[is_positive] > threshold).mean()), float(clf.n_evaluated(X)[~is_positive].mean())]
    return LeanRun(*found)


def threshold_at(negative: np.ndarray, fpr: float) -> float:
    """The lowest threshold above which at most this share of the negatives is."""
    allowed = int(np.floor(fpr * len(negative) + 1e-9))
    return float(np.sort(negative)[::-1][allowed]) if allowed < len(negative) else -np.inf


def detection_curve(classifiers, X_train, y_train, X_test, y_test, *, fpr: float) -> LeanCurve:
    """TPR against mean evaluations on negatives at a fixed FPR, with the rule of `selected`.

    Parameters
    ----------
    classifiers : sequence of fitted binary classifiers
        Of one kind, with different parameters.
    X_train, y_train, X_test, y_test
    fpr : float

    Returns
    -------
    LeanCurve
    """
    runs = [detection_run(clf, X_train, y_train, X_test, y_test, fpr=fpr) for clf in classifiers]
    return selected(runs, f"TPR at FPR {fpr:g}")


def staged_detection_curve(clf, X_test, y_test, *, fpr: float, rounds: int | None = None) -> LeanCurve:
    """The same for an ensemble that is cut off: after each round, all rows having seen all of them.

    Parameters
    ----------
    clf : fitted binary classifier
    X_test, y_test
    fpr : float
    rounds : int or None
        How many; None: all.
    """
    is_positive = np.asarray(y_test) == clf.classes_[1]
    quality = []
    for t, scores in enumerate(clf.staged_decision_function(X_test), start=1):
        quality.append(float((scores[is_positive] > threshold_at(scores[~is_positive], fpr)).mean()))
        if t == rounds:
            break
    cost = np.arange(1.0, len(quality) + 1)
    return LeanCurve(cost, np.array(quality), cost, f"TPR at FPR {fpr:g}")


def quality_curve(classifiers, measure: Callable, train, test, name: str = "quality") -> LeanCurve:
    """Any quality against the mean number of evaluations, such as NDCG, with the rule of `selected`.

    Parameters
    ----------
    classifiers : sequence of fitted classifiers
    measure : callable
        From a classifier, X and y to a number; more is better.
    train, test : tuple (X, y)
    name : str
        What is measured.
    """
    runs = []
    for clf in classifiers:
        found = [(float(measure(clf, X, y)), float(np.mean(clf.n_evaluated(X)))) for X, y in (train, test)]
        runs.append(LeanRun(*found[0], *found[1]))
    return selected(runs, name)
