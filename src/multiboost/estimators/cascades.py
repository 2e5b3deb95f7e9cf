"""Cascades: most rows are negatives, and are rejected as early as possible."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from ..kernels.team import Team
from ..lean.cascades import (
    Undecided,
    balanced_order,
    soft_budget,
    soft_thresholds,
    stage_threshold,
    wald_thresholds,
)
from ..model.ensemble import Ensemble
from ..model.model import Columns, Model
from ..model.policy import cascade_policy
from ..model.rearranged import joined, rounds_of
from .adaboost_mh import AdaBoostMHClassifier
from .labelled import Labelled
from .lean_classifier import LeanClassifier
from .parameters import documented
from .threads import thread_count
from .validation import check_table, learn_table


class _Cascade(LeanClassifier):
    """Cascades have no weights of classes but those of their estimator."""

    @property
    def class_weight(self):
        """The class weights of the estimator's training."""
        return self._template().class_weight


class _OneEnsemble(_Cascade):
    """A cascade whose stages are the base classifiers of one ensemble."""

    def _staged(self, model: Model, ensemble: Ensemble, table, team: Team) -> Iterator[np.ndarray]:
        """Scores after each round, (n,)."""
        rows = ensemble.rows(table, 0, table.n_rows)
        scores = np.tile(ensemble.initial, (table.n_rows, 1))
        for t in range(ensemble.n_rounds):
            ensemble.add_scores(rows, scores, t, t + 1, team)
            yield scores[:, 0].copy()


@documented
class SoftCascadeClassifier(_OneEnsemble):
    """One ensemble, and after each base classifier a threshold below which rows are rejected.

    How many positives of the training set may be lost up to each base classifier is a budget, see ``alpha``.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    model_ : Model
        The base classifiers in their order, and ``model_.policy``.
    thresholds_ : ndarray (n_estimators_,)
    classes_, plan_, n_features_in_, feature_names_in_
        As those of the estimator.  The second class is the one that is looked for.

    Notes
    -----
    `decision_function` is the score for rows that were not rejected, plus a constant that puts them above all others;
    of rows that were rejected it is the score when they were, minus that constant.

    References
    ----------
    L. Bourdev, J. Brandt, "Robust object detection via soft cascade", CVPR 2005; B. Kegl, 2011, 3.6.2.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from multiboost import AdaBoostMHClassifier, SoftCascadeClassifier
    >>> X, y = make_classification(1000, weights=[0.9], random_state=0)
    >>> full = AdaBoostMHClassifier("stump", n_estimators=100).fit(X, y)
    >>> cascade = SoftCascadeClassifier(full, target_tpr=0.95).fit(X, y)
    >>> bool(cascade.predict(X)[y == 1].mean() >= 0.95)
    True
    """

    def __init__(self, estimator=None, n_rounds=None, alpha=0.0, target_tpr=0.98, reorder=True, n_jobs=None):
        self.estimator = estimator
        self.n_rounds = n_rounds
        self.alpha = alpha
        self.target_tpr = target_tpr
        self.reorder = reorder
        self.n_jobs = n_jobs

    def fit(self, X, y):
        """Order the base classifiers and set the thresholds; before that fit the estimator, if it is not fitted.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)

        Returns
        -------
        self
        """
        self.check_parameters()
        base = self._base(X, y)
        table, label = self._rows(base, X, y)
        model: Model = base.model_
        wanted = model.n_rounds if self.n_rounds is None else self.n_rounds
        if wanted > model.n_rounds:
            raise ValueError(f"n_rounds={wanted} is more than the {model.n_rounds} base classifiers of the estimator")
        with Team(thread_count(self.n_jobs)) as team:
            order = np.arange(wanted)
            if self.reorder:
                votes = np.stack([v[:, 0].copy() for v in model.rounds(table, team)], axis=1)
                order = balanced_order(votes, np.where(label == 1, 1.0, -1.0), wanted)
            ensemble = rounds_of(model.ensemble, order)
            positives = table.take(np.flatnonzero(label == 1))
            budget = soft_budget(wanted, float(self.alpha), float(self.target_tpr))
            thresholds = soft_thresholds(self._staged(model, ensemble, positives, team), budget)
        self._take(base, cascade_policy(thresholds, None, None, {"target_tpr": float(self.target_tpr)}), ensemble)
        return self

    @property
    def thresholds_(self) -> np.ndarray:
        """Below which scores are rejected, after each base classifier."""
        return np.nextafter(self.model_.walker.policy.cuts[1:, 0], np.inf)


@documented
class WaldBoostClassifier(_OneEnsemble):
    """One ensemble, and after each base classifier Wald's sequential test: reject, accept, or look at the next one.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    model_ : Model
        The base classifiers, and ``model_.policy``.
    classes_, plan_, n_features_in_, feature_names_in_
        As those of the estimator.  The second class is the one that is looked for.

    Notes
    -----
    The rates hold on the training set: of the positives at most false_negative / (1 - false_positive) are rejected on
    the way, of the negatives at most false_positive / (1 - false_negative) accepted.  Rows that are not decided at the
    end are answered by the sign of their score.

    References
    ----------
    J. Sochman, J. Matas, "WaldBoost: learning for time constrained sequential detection", CVPR 2005.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from multiboost import AdaBoostMHClassifier, WaldBoostClassifier
    >>> X, y = make_classification(1000, weights=[0.9], random_state=0)
    >>> full = AdaBoostMHClassifier("stump", n_estimators=100).fit(X, y)
    >>> cascade = WaldBoostClassifier(full, false_negative=0.05).fit(X, y)
    >>> bool(cascade.n_evaluated(X[y == 0]).mean() < 50)
    True
    """

    def __init__(self, estimator=None, false_negative=0.02, false_positive=0.0, n_jobs=None):
        self.estimator = estimator
        self.false_negative = false_negative
        self.false_positive = false_positive
        self.n_jobs = n_jobs

    def fit(self, X, y, *, negatives=None):
        """Set the thresholds; before that fit the estimator, if it is not fitted.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        negatives : iterable of tables (n, n_features), default=None
            More negatives, batch by batch.  Those that are not decided so far join the training set's, as soon as half
            of these are decided: thresholds of late base classifiers then have as many to go by as early ones.

        Returns
        -------
        self
        """
        self.check_parameters()
        base = self._base(X, y)
        table, label = self._rows(base, X, y)
        ensemble = base.model_.ensemble
        wanted, source = int((label == 0).sum()), iter(negatives if negatives is not None else ())
        with Team(thread_count(self.n_jobs)) as team:

            def add(rows, scores, t):
                ensemble.add_scores(rows, scores, t, t + 1, team)

            def begin(table) -> Undecided:
                return Undecided(ensemble.rows(table, 0, table.n_rows), ensemble.start(table.n_rows), add)

            def refill(pool: Undecided, reject, accept) -> None:
                if not 0 < len(pool.rows) <= wanted // 2:
                    return
                while len(pool.rows) < wanted and (batch := next(source, None)) is not None:
                    new = begin(check_table(base, batch))
                    for t, (low, high) in enumerate(zip(reject, accept, strict=True)):
                        f = new.after(t)
                        new.keep((f >= low) & (f <= high))
                    if len(new.rows):
                        pool.join(new.rows, new.scores)

            positive, negative = (begin(table.take(np.flatnonzero(label == k))) for k in (1, 0))
            reject, accept = wald_thresholds(
                positive, negative, ensemble.n_rounds, float(self.false_negative), float(self.false_positive), refill
            )
        about = {"false_negative": float(self.false_negative), "false_positive": float(self.false_positive)}
        reject[-1], accept[-1] = -np.inf, np.inf  # at the end the sign decides
        self._take(base, cascade_policy(reject, accept, None, about))
        return self


@documented
class ViolaJonesClassifier(_Cascade):
    """Stages, each an ensemble of its own: what a stage rejects is rejected, and only the last one can accept.

    A stage grows until, with a threshold that keeps enough positives, few enough negatives have passed all stages.  The
    next stage learns from all positives and from negatives that have passed.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    model_ : Model
        The base classifiers of all stages, and ``model_.policy``.
    stages_ : ndarray of int
        How many base classifiers each stage has.  ``model_.policy.about["reached"]`` says which of them meet their
        targets; others have ``max_rounds``.
    classes_, plan_, n_features_in_, feature_names_in_
        The second class is the one that is looked for.

    References
    ----------
    P. Viola, M. Jones, "Robust real-time face detection", IJCV 57, 2004; B. Kegl, 2011, 3.6.2.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from multiboost import ViolaJonesClassifier
    >>> X, y = make_classification(1000, weights=[0.9], random_state=0)
    >>> cascade = ViolaJonesClassifier(n_stages=3).fit(X, y)
    >>> bool(cascade.predict(X)[y == 1].mean() >= 0.99**3)
    True
    """

    def __init__(
        self, estimator=None, n_stages=10, stage_tpr=0.99, stage_fpr=0.6, min_rounds=2, max_rounds=200, n_jobs=None
    ):
        self.estimator = estimator
        self.n_stages = n_stages
        self.stage_tpr = stage_tpr
        self.stage_fpr = stage_fpr
        self.min_rounds = min_rounds
        self.max_rounds = max_rounds
        self.n_jobs = n_jobs

    def fit(self, X, y, *, validation=None, negatives=None):
        """Train stage after stage.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Columns of numbers.
        y : array of shape (n_samples,)
        validation : tuple (X, y), default=None
            On which rates are measured; None: the training set.
        negatives : iterable of arrays (n, n_features), default=None
            More negatives, batch by batch.  Those that pass all stages so far take the places of the negatives that
            were rejected.

        Returns
        -------
        self
        """
        self.check_parameters()
        X, columns = self._numbers(X)
        y = np.asarray(y)
        template = AdaBoostMHClassifier("stump") if self.estimator is None else self.estimator
        classes = np.unique(y)
        if len(classes) != 2:
            raise ValueError(f"ViolaJonesClassifier takes binary targets; y has {len(classes)} classes")
        if validation is None:
            XV, yv = X, y
        else:
            XV, yv = self._numbers(validation[0])[0], np.asarray(validation[1])
        source = iter(negatives if negatives is not None else ())
        n_negatives = int((y == classes[0]).sum())
        positives, pool = X[y == classes[1]], X[y == classes[0]]
        inside = np.ones(len(XV), bool)  # rows of the validation set that have passed
        stages: list[Labelled] = []
        thresholds: list[float] = []
        reached: list[bool] = []
        for m in range(1, self.n_stages + 1):
            pool = self._refilled(pool, n_negatives, source, stages, thresholds)
            if not len(pool) or not inside[yv == classes[0]].any():
                break
            stage, threshold, is_met = self._stage(template, positives, pool, classes, XV, yv, inside, m)
            reached.append(is_met)
            inside &= _scores(stage, XV) >= threshold
            pool = pool[_scores(stage, pool) >= threshold]
            stages.append(stage)
            thresholds.append(threshold)
        first = stages[0].model_
        stages[0]._become(replace(first, columns=columns, data=getattr(self.estimator, "data_", None)), stages[0].plan_)
        self._join(stages, thresholds, reached)
        return self

    def _numbers(self, X) -> tuple[np.ndarray, Columns]:
        """A table as an array, which stages learn from, and its columns."""
        table, columns = learn_table(self, X)
        if columns.categories is not None:
            raise ValueError("ViolaJonesClassifier takes columns of numbers, and X has nominal ones; leave them out")
        return np.asarray(table.rows(0, table.n_rows), np.float64), columns

    def _stage(self, template, positives, pool, classes, XV, yv, inside, m: int) -> tuple[Labelled, float, bool]:
        """A stage that meets its targets with as few base classifiers as possible, or has as many as it may.

        Also its threshold, and whether it meets them.
        """
        X = np.concatenate([positives, pool])
        y = np.repeat(classes[::-1], [len(positives), len(pool)])
        is_positive = yv == classes[1]
        stage = clone(template).set_params(warm_start=True, n_jobs=self.n_jobs)
        n_rounds = self.min_rounds
        while True:
            stage.set_params(n_estimators=n_rounds).fit(X, y)
            least = min(self.min_rounds, stage.n_estimators_)  # where nothing can be learned there are fewer
            for t, scores in enumerate(stage.staged_decision_function(XV), start=1):
                if t < least:
                    continue
                # Shares of all positives and negatives, through all stages.
                share = self.stage_tpr**m * is_positive.sum() / max(1, (inside & is_positive).sum())
                threshold = stage_threshold(scores[inside & is_positive], min(1.0, share))
                passed = inside & (scores >= threshold)
                if (passed & ~is_positive).sum() < self.stage_fpr**m * (~is_positive).sum():
                    return _first_rounds(stage, t), threshold, True
            if n_rounds >= self.max_rounds or stage.n_estimators_ < n_rounds:
                return stage, threshold, False
            n_rounds = min(2 * n_rounds, self.max_rounds)

    def _refilled(self, pool, wanted: int, source: Iterator, stages, thresholds) -> np.ndarray:
        """Negatives that have passed, with new ones from the source."""
        found = [pool]
        while sum(map(len, found)) < wanted:
            batch = next(source, None)
            if batch is None:
                break
            batch = np.asarray(batch, dtype=np.float64)
            for stage, threshold in zip(stages, thresholds, strict=True):
                if len(batch):
                    batch = batch[_scores(stage, batch) >= threshold]
            found.append(batch)
        return np.concatenate(found)[:wanted]

    def _join(self, stages: list[Labelled], thresholds: list[float], reached: list[bool]) -> None:
        ensemble = joined([stage.model_.ensemble for stage in stages])
        ends = np.cumsum([stage.n_estimators_ for stage in stages])
        reject = np.full(ensemble.n_rounds, -np.inf)
        reject[ends - 1] = thresholds
        restart = np.zeros(ensemble.n_rounds, bool)
        restart[ends[:-1]] = True
        about: dict[str, Any] = {"stages": np.diff(ends, prepend=0).tolist(), "reached": reached}
        self._take(stages[0], cascade_policy(reject, None, restart, about), ensemble)

    @property
    def stages_(self) -> np.ndarray:
        """How many base classifiers each stage has."""
        return np.array(self.model_.walker.policy.about["stages"])


def _scores(stage: Labelled, X: np.ndarray) -> np.ndarray:
    return np.asarray(stage.decision_function(X))


def _first_rounds(stage: Labelled, n_rounds: int) -> Labelled:
    """The stage after fewer rounds."""
    model = stage.model_
    stage._become(replace(model, ensemble=model.ensemble.head(n_rounds), history={}), stage.plan_)
    return stage
