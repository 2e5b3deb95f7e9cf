"""What classifiers have beyond the body: labels, scores, probabilities, margins."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from ..data.kinds import LabelKind, as_labels, recognise, unknown_labels
from ..data.table import is_frame, refuse_lazy
from ..data.target import Target
from ..model.model import Model
from .booster import Booster
from .validation import refuse_unknown

_MANY = 20  # classes, from which on rare ones are worth a word


def _sensible(kind: LabelKind, labels: np.ndarray) -> LabelKind:
    """The same kind; a warning where classes look like numbers or identifiers."""
    if kind.is_single and len(kind.classes[0]) >= _MANY:
        classes, count = np.unique(labels, return_counts=True)
        if np.mean(count <= 2) > 0.5:
            what = "a number to be predicted? Then use MultiBoostRegressor"
            if classes.dtype.kind not in "iufb":
                what = "an identifier? Then it is not a class to be learned"
            warnings.warn(
                f"y has {len(classes)} classes in {len(labels)} rows, and most of them have one or two rows: is this "
                f"{what}",
                UserWarning,
                stacklevel=6,
            )
    return kind


class LabelBooster(ClassifierMixin, Booster):
    """A booster of labels: binary, multi-class, multi-label (indicator matrix) and multi-task (columns of classes)."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        return tags

    def fit(
        self,
        X,
        y,
        sample_weight=None,
        label_weight=None,
        *,
        init_scores=None,
        validation=None,
        callbacks=None,
        checkpoint=None,
        checkpoint_every=60.0,
        resume=None,
        provenance=None,
        **unknown,
    ):
        """Boost ``n_estimators`` rounds.

        A fit that fails, or is interrupted, leaves the estimator as it was.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Numbers, or names in nominal columns; NaN, None and NA are missing values.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            Classes; 0 and 1 in several columns are labels; other columns are tasks.  NaN,
            None and NA in several columns mean that the label is unknown.
        sample_weight : array of shape (n_samples,), default=None
        label_weight : array of shape (n_samples, n_labels), default=None
            A weight for every pair; multiplies the weights of ``weighting``, or replaces
            them where that is "given".
        init_scores : array of shape (n_samples,) or (n_samples, n_labels), default=None
            Scores F of each sample from which boosting starts.  The model says what to add to them: whoever predicts
            adds them to ``decision_function``.
        validation : tuple (X, y), (X, y, sample_weight) or (X, y, sample_weight, init_scores), default=None
            Adds ``validation_error`` and ``validation_risk`` to the history.
        callbacks : list of Callback, default=None
            `EarlyStopping`, `TimeLimit`, `Progress`, `Log`, `StopOnInterrupt`, or your own.
        checkpoint : str or path, default=None
            A file that is written every ``checkpoint_every`` seconds and at the end; it is a
            model file, too.
        checkpoint_every : float, default=60.0
        resume : str, path or bool, default=None
            A checkpoint to go on from; the result is that of a run without interruption,
            bit for bit.  True means ``checkpoint``, where there is such a file already.
        provenance : dict, default=None
            What to remember of the training data: it becomes ``data_`` and is kept in the model file.

        Returns
        -------
        self
        """
        refuse_unknown(self, unknown)
        return self._fit(
            X, y, sample_weight, label_weight, init_scores=init_scores, validation=validation, callbacks=callbacks,
            checkpoint=checkpoint, checkpoint_every=checkpoint_every, resume=resume, provenance=provenance,
        )  # fmt: skip

    def _kind(self, y):
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None")
        refuse_lazy(y, "y")
        names = None
        if is_frame(y) and hasattr(y, "columns"):
            names = [str(name) for name in getattr(y, "column_names", y.columns)]
        labels = as_labels(y)
        if labels.ndim == 2 and labels.shape[1] == 1:
            warnings.warn(
                "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
                "(n_samples,), for example using ravel().",
                DataConversionWarning,
                stacklevel=5,
            )
            labels, names = labels.ravel(), None
        if labels.ndim not in (1, 2):
            raise ValueError(f"y must have one or two dimensions; got shape {labels.shape}")
        if labels.ndim == 1 and labels.dtype.kind == "f" and not np.isfinite(labels).all():
            raise ValueError("Input y contains NaN or infinity; every sample of a single-label target needs its class")
        if labels.ndim == 1 and labels.dtype.kind == "O" and unknown_labels(labels).any():
            raise ValueError("Input y contains NaN or None; every sample of a single-label target needs its class")
        return labels, lambda sample_weight, pair_weight: _sensible(recognise(labels, names), labels)

    def _target(self, kind, y, sample_weight, pair_weight, *, training, qid=None):
        # Of a validation set there are no label weights.
        weighting = self.weighting if training or self.weighting != "given" else "uniform"
        return Target(kind, y, weighting, sample_weight, pair_weight, self.class_weight)

    def _attributes(self, model: Model) -> dict[str, Any]:
        return {"classes_": model.kind.public_classes, "slope_": model.slope}

    def decision_function(self, X):
        """Scores F: one for each label, or for binary targets one for the second class.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_labels)
            Labels of all tasks side by side for multi-task targets.
        """
        scores = self._scores(X)
        return self.model_.shaped(scores)

    def staged_decision_function(self, X):
        """`decision_function` after every round.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Yields
        ------
        ndarray
        """
        for scores in self._staged_scores(X):
            yield self.model_.shaped(scores).copy()

    def predict_proba(self, X):
        """Probabilities, softmax(c F) within a task, 1 / (1 + exp(-c F)) for labels.

        The slope c is ``slope_``: 2, the slope of theory, or less where the margins of the training set are large,
        min(2, s / median margin).  Where plans were compared, s is what gave the held-out rows the least log-loss,
        else 6.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or list of ndarray
            Rows sum to 1, except for multi-label targets, whose labels are independent;
            a list with one array per task for multi-task targets.
        """
        scores = self._scores(X)
        return self.model_.probabilities(scores)

    def predict_log_proba(self, X):
        """Logarithms of `predict_proba`.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray, or list of ndarray
        """
        p = self.predict_proba(X)
        tiny = np.finfo(np.float64).tiny
        if isinstance(p, list):
            return [np.log(np.maximum(q, tiny)) for q in p]
        return np.log(np.maximum(p, tiny))

    def staged_predict_proba(self, X):
        """`predict_proba` after every round.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Yields
        ------
        ndarray, or list of ndarray
        """
        for t, scores in enumerate(self._staged_scores(X), start=1):
            yield self.model_.probabilities(scores, t)

    def margins(self, X, y):
        """Margins F Y, divided by the sum of the sizes of all votes: from -1 to 1.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : labels as in ``fit``

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_labels)
            0 where a label is unknown.
        """
        scores = self._scores(X)
        model = self.model_
        return model.shaped(scores * model.kind.signs(model.kind.encode(y)) / model.sizes()[-1])

    def score(self, X, y, sample_weight=None):
        """Accuracy; for multi-label targets of all labels at once, for tasks their mean.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : labels as in ``fit``
        sample_weight : array of shape (n_samples,), default=None

        Returns
        -------
        float
        """
        check_is_fitted(self)
        kind = self.model_.kind
        if kind.is_single or not kind.tasks:
            return super().score(X, y, sample_weight)
        predicted, true = kind.encode(self.predict(X)), kind.encode(y)
        weight = np.ones(len(true)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        found = []
        for t in range(true.shape[1]):
            known = true[:, t] >= 0
            found.append(accuracy_score(true[known, t], predicted[known, t], sample_weight=weight[known]))
        return float(np.mean(found))
