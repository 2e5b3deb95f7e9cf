"""What can be asked of every fitted classifier: scores, probabilities, margins, and how much of the model rows need."""

from __future__ import annotations

import copy
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from ..calibration import Calibration
from ..kernels.team import Team
from ..kernels.walk import EVAL
from ..lean.exits import early_exit
from ..lean.lazy import columns_asked, predict_lazily
from ..model.model import Model
from ..model.walker import Walked
from .deciding import Deciding
from .parameters import check_number
from .threads import thread_count
from .validation import check_table


class Labelled(ClassifierMixin, Deciding):
    """A fitted classifier."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        return tags

    def _attributes(self, model: Model) -> dict[str, Any]:
        return {"classes_": model.kind.public_classes, "slope_": model.slope, "calibration_": model.calibration}

    def predict_proba(self, X):
        """Probabilities: scores times ``slope_``, calibrated by ``calibration_``.

        They say how sure the model is; `predict` does not look at them.

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

    # How much of the model rows need.

    def early_exit(self, X, max_disagreement=0.001, confidence=0.95):
        """A copy of this classifier whose rows leave as soon as their answer is settled, with a promise.

        Rows leave after the first rounds after which the margin of their answer is large enough.  How large is found on
        held-out rows, so that with this confidence, for rows drawn like them, at most this share of the answers differs
        from those of the whole model.  No labels are needed.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Rows that the model was not trained on, at least log(1 - confidence) / log(1 - max_disagreement) of them:
            2995 for the defaults.
        max_disagreement : float, default=0.001
        confidence : float, default=0.95

        Returns
        -------
        A fitted estimator of the same class
            It predicts faster, row by row (`compiled`) and many at once, and is saved and loaded like any other.  Its
            ``model_.policy.about`` says what was found.  Scores and probabilities are those of the rounds that a row
            needed; staged predictions and reports of rounds are still of all rounds.

        Examples
        --------
        >>> from sklearn.datasets import make_classification
        >>> from multiboost import MultiBoostClassifier
        >>> X, y = make_classification(3000, random_state=0)
        >>> clf = MultiBoostClassifier("stump", n_estimators=100).fit(X[:1000], y[:1000])
        >>> lean = clf.early_exit(X[1000:2000], max_disagreement=0.01)
        >>> bool(lean.n_evaluated(X[2000:]).mean() < 60)
        True
        """
        check_is_fitted(self)
        for name, value in (("max_disagreement", max_disagreement), ("confidence", confidence)):
            check_number(name, value, Real, 0, np.nextafter(1, 0), open_low=True)
        table = check_table(self, X)
        with Team(thread_count(self.n_jobs)) as team:
            policy = early_exit(self.model_, table, team, float(max_disagreement), float(confidence))
        lean = clone(self)
        lean._become(replace(self.model_, policy=policy), self.plan_)
        return lean

    def _walked(self, X, *, paths: bool) -> Walked:
        check_is_fitted(self)
        table = check_table(self, X)
        with Team(thread_count(self.n_jobs)) as team:
            return self.model_.walker.walked(table, team, paths=paths)

    def n_evaluated(self, X):
        """How many base classifiers every row needs: all of them, unless the model has a policy.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of int (n_samples,)
        """
        return self._walked(X, paths=False).n_evaluated

    def paths(self, X):
        """Which base classifiers every row needs.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of bool (n_samples, n_estimators_)
            Where a base classifier was evaluated; the others were skipped, or came after the row had left.
        """
        return self._walked(X, paths=True).paths[:, :-1] == EVAL

    def features_needed(self, X):
        """Which features every row needs: those that the base classifiers on its way ask for.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of bool (n_samples, n_features)
        """
        check_is_fitted(self)
        table = check_table(self, X)
        return columns_asked(self.model_, table.finite_rows(0, table.n_rows))

    def predict_lazy(self, rows, features):
        """Predict rows whose features are computed when the model asks for them, each at most once a row.

        Parameters
        ----------
        rows : iterable
            Anything: what the functions of ``features`` are given.
        features : dict of callable
            For columns, by name, or by position where the training table had no names: the function that computes the
            value of a row.  None and NaN are missing values.

        Returns
        -------
        LazyPrediction
            ``answers``, ``scores``, ``n_evaluated``, and by feature ``calls`` and ``seconds``.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from multiboost import MultiBoostClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> clf = MultiBoostClassifier("stump", n_estimators=3).fit(X, y)
        >>> found = clf.predict_lazy(X[:2], {j: lambda row, j=j: row[j] for j in range(4)})
        >>> found.answers
        array([0, 0])
        """
        check_is_fitted(self)
        return predict_lazily(self.model_, rows, features)

    def recalibrated(self, calibration: Calibration, slope: float):
        """A copy of the fitted estimator with other probabilities; see `Calibrated`.

        Parameters
        ----------
        calibration : Calibration
        slope : float
            Scores are multiplied by it before they are calibrated.

        Returns
        -------
        The same kind of estimator
        """
        check_is_fitted(self)
        other = copy.copy(self)
        other._become(replace(self.model_, calibration=calibration, slope=float(slope)), self.plan_)
        return other

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
