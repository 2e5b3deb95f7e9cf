"""Probabilities for any classifier: ours, or one of scikit-learn's kind."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from ..boosting.out_of_fold import Part, best_method, calibration_of
from ..boosting.ruler import Ruler
from ..calibration import CALIBRATORS, Calibration
from ..calibration.calibration import Question
from ..data.kinds import Binary, LabelKind, MultiClass, as_labels, recognise
from ..data.target import Target
from .labels import LabelBooster
from .validation import check_weights
from .wishes import part_of

_LEAST = 1e-15  # of a probability, before its logarithm is taken


def _has(name: str):
    return lambda self: hasattr(getattr(self, "estimator_", self.estimator), name)


class Calibrated(ClassifierMixin, BaseEstimator):
    """A classifier with calibrated probabilities; its answers and scores stay as they are.

    Parameters
    ----------
    estimator : classifier
        Fitted where ``cv`` is None.  With ``cv`` one that is not fitted is fitted on all rows.
    method : str or Calibrator, default="auto"
        As the parameter ``calibration`` of `MultiBoostClassifier`.
    cv : int, splitter or None, default=None
        None: ``fit`` learns from its rows, which the estimator must not have been trained on.  Else clones are fitted
        without a fold each, and the calibration learns from their scores of the folds: as many fits as folds.

    Attributes
    ----------
    estimator_ : classifier
        What predicts.  One of ours is a copy that has the calibration, so that ``estimator_.save`` keeps it.
    calibration_ : Calibration
    classes_ : ndarray or list of ndarray

    Notes
    -----
    Scores are those of our boosters; of other classifiers the logarithms of ``predict_proba``, or ``decision_function``
    where there is none.  Multi-label targets are columns of 0 and 1; unknown labels (NaN) take no part.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from multiboost import Calibrated
    >>> X, y = load_wine(return_X_y=True)
    >>> clf = Calibrated(GaussianNB(), "temperature", cv=5).fit(X, y)
    >>> clf.predict_proba(X[:2]).shape
    (2, 3)
    """

    def __init__(self, estimator, method="auto", cv=None):
        self.estimator = estimator
        self.method = method
        self.cv = cv

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X, y, sample_weight=None):
        """Learn the calibration.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : labels
        sample_weight : array of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        labels = as_labels(y)
        check_consistent_length(X, labels)
        weight = check_weights(sample_weight, len(labels))
        part_of("method", CALIBRATORS, None if self.method == "auto" else self.method)
        if self.cv is None:
            check_is_fitted(self.estimator)
            estimator = self.estimator
            kind = _kind_of(estimator, labels)
            scores = _scores(estimator, kind, X)
        else:
            estimator = self.estimator if _is_fitted(self.estimator) else _fitted(self.estimator, X, y, weight)
            kind = _kind_of(estimator, labels)
            scores = self._out_of_fold(kind, X, y, labels, weight)
        named = best_method(kind) if isinstance(self.method, str) and self.method == "auto" else self.method
        method = part_of("method", CALIBRATORS, named)
        target = Target(kind, labels, "uniform", weight)
        if isinstance(estimator, LabelBooster):
            # Rows that were not trained on stand for the training set: their scores are about as large.
            ruler = Ruler.of(target, scores[0], float(estimator.model_.sizes()[-1]))
            calibration = calibration_of(method, [Part(target, scores[0], ruler)])
            estimator = estimator.recalibrated(calibration, ruler.slope(method.unit))
        else:
            asked = [Question(z, *answer) for z, answer in zip(scores, target.answers(), strict=True)]
            calibration = Calibration.fit(method, asked)
        self.estimator_, self.calibration_, self.classes_, self._kind = (
            estimator,
            calibration,
            kind.public_classes,
            kind,
        )
        return self

    def _out_of_fold(self, kind: LabelKind, X, y, labels: np.ndarray, weight) -> list[np.ndarray]:
        """Scores of every row by a clone that has not seen it."""
        parts, rows = [], []
        for inside, outside in check_cv(self.cv, labels, classifier=True).split(np.zeros(len(labels)), labels):
            some = None if weight is None else weight[inside]
            fold = _fitted(self.estimator, _safe_indexing(X, inside), _safe_indexing(y, inside), some)
            parts.append(_scores(fold, kind, _safe_indexing(X, outside)))
            rows.append(outside)
        order = np.concatenate(rows)
        if order.size != len(labels) or np.unique(order).size != order.size:
            raise ValueError("cv must hold out every row once")
        place = np.argsort(order)
        return [np.concatenate(of_all)[place] for of_all in zip(*parts, strict=True)]

    def predict(self, X):
        """What the classifier says; the calibration has no part in it.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray
        """
        check_is_fitted(self)
        return self.estimator_.predict(X)

    @available_if(_has("decision_function"))
    def decision_function(self, X):
        """The classifier's own scores.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray
        """
        check_is_fitted(self)
        return self.estimator_.decision_function(X)

    def predict_proba(self, X):
        """Calibrated probabilities.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples, n_labels), or list of ndarray
            As ``MultiBoostClassifier.predict_proba``.
        """
        check_is_fitted(self)
        if isinstance(self.estimator_, LabelBooster):
            return self.estimator_.predict_proba(X)
        answers = self.calibration_.probabilities(_scores(self.estimator_, self._kind, X))
        return self._kind.probabilities(self._kind.label_probabilities(answers))


def _is_fitted(estimator) -> bool:
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    return True


def _fitted(estimator, X, y, weight):
    fresh = clone(estimator)
    return fresh.fit(X, y) if weight is None else fresh.fit(X, y, sample_weight=weight)


def _kind_of(estimator, labels: np.ndarray) -> LabelKind:
    """What the labels mean; of ours, and of one class column, what the classifier has learned."""
    if isinstance(estimator, LabelBooster):
        return estimator.model_.kind
    if labels.ndim == 1:
        classes = np.asarray(estimator.classes_)
        return (Binary if len(classes) == 2 else MultiClass)([classes])
    return recognise(labels)


def _scores(estimator, kind: LabelKind, X) -> list[np.ndarray]:
    """Of ours F, (n, K); of others the scores of the answers to each question, (n, answers)."""
    if isinstance(estimator, LabelBooster):
        return [_columns(estimator._scores(X), estimator.model_.kind.classes, kind)]
    if hasattr(estimator, "predict_proba"):
        found, logs = estimator.predict_proba(X), True
    elif hasattr(estimator, "decision_function"):
        found, logs = estimator.decision_function(X), False
    else:
        raise ValueError(f"{type(estimator).__name__} has neither predict_proba nor decision_function")
    if kind.is_single:
        return [_aligned(_pair(found, logs), estimator.classes_, kind.classes[0], logs)]
    several = found if isinstance(found, list) else list(np.asarray(found).T)
    names = estimator.classes_ if isinstance(found, list) else [None] * len(several)
    return [
        _aligned(_pair(z, logs), c, np.asarray(kind.answer_values(q)), logs)
        for q, (z, c) in enumerate(zip(several, names, strict=True))
    ]


def _pair(found, logs: bool) -> np.ndarray:
    """Scores of the answers, (n, answers), also where there is a number for the second one only."""
    z = np.asarray(found, np.float64)
    if logs:
        z = np.stack([1.0 - z, z], axis=1) if z.ndim == 1 else z
        return np.log(np.maximum(z, _LEAST))
    return np.stack([-z / 2, z / 2], axis=1) if z.ndim == 1 else z


def _aligned(z: np.ndarray, seen, classes: np.ndarray, logs: bool) -> np.ndarray:
    """Columns of all classes; one that a clone has not seen has the least score there is."""
    if seen is None or (len(seen) == len(classes) and np.array_equal(seen, classes)):
        return z
    column = np.searchsorted(classes, seen)
    if len(seen) == 1 or z.shape[1] != len(seen):
        raise ValueError("a fold has rows of one class only; use fewer folds")
    whole = np.full((len(z), len(classes)), np.log(_LEAST) if logs else z.min() - 1.0)
    whole[:, column] = z
    return whole


def _columns(scores: np.ndarray, seen: list[np.ndarray], kind: LabelKind) -> np.ndarray:
    """F with the columns of a model that has seen all classes."""
    if all(np.array_equal(a, b) for a, b in zip(seen, kind.classes, strict=True)):
        return scores
    if not kind.tasks:
        raise ValueError("a fold has rows of one class only; use fewer folds")
    whole = np.full((len(scores), kind.n_labels), scores.min() - 1.0)
    start = 0
    for part, of_task, classes in zip(kind.tasks, seen, kind.classes, strict=True):
        width = 1 if len(seen) == 1 and len(of_task) == 2 else len(of_task)
        own = scores[:, start : start + width]
        start += width
        whole[:, part.start + np.searchsorted(classes, of_task)] = np.hstack([-own, own]) if width == 1 else own
    return whole
