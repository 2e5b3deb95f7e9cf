"""What lean classifiers have in common: a policy on the base classifiers of another classifier."""

from __future__ import annotations

from abc import ABC
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from ..data.kinds import as_labels
from ..kernels.team import Team
from ..kernels.walk import EVAL
from ..lean.dag import DecisionDag, dag_of
from ..lean.rates import upper_bound
from ..model.model import Model
from ..model.policy import Policy
from .adaboost_mh import AdaBoostMHClassifier
from .booster import check_length
from .labelled import Labelled
from .parameters import PARAMETERS
from .saving import saved_parameters
from .threads import thread_count
from .validation import check_table


class LeanClassifier(Labelled, ABC):
    """A policy on the base classifiers of another classifier; the body of all that are trained."""

    estimator: Any
    n_jobs: int | None

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = False
        tags.target_tags.multi_output = False
        return tags

    def check_parameters(self) -> None:
        """Refuse parameters that cannot be; ``fit`` does it first.

        Raises
        ------
        ValueError
            It names the parameter.
        """
        for name, value in self.get_params(deep=False).items():
            PARAMETERS[name].check(value)
        if self.estimator is not None and not isinstance(self.estimator, Labelled):
            raise ValueError(
                f"estimator must be a classifier of this package, such as AdaBoostMHClassifier('stump'); got "
                f"{type(self.estimator).__name__}"
            )
        thread_count(self.n_jobs)

    @property
    def weighting(self) -> str:
        """The initial weights of the estimator's training, by which risks are measured."""
        return self._template().weighting

    @property
    def votes(self) -> str:
        """Those of the estimator."""
        return self._template().votes

    def _template(self) -> Any:
        """The estimator, or the one that is used where there is none."""
        return AdaBoostMHClassifier("stump", n_estimators=1000) if self.estimator is None else self.estimator

    def _base(self, X, y) -> Labelled:
        """The classifier whose base classifiers are used: the one that is given, fitted if it is not."""
        given = self._template()
        if hasattr(given, "model_"):
            base = given
        else:
            base = clone(given)
            base.set_params(n_jobs=self.n_jobs)
            base.fit(X, y)
        kind = base.model_.kind
        if kind.name not in self._kinds:
            raise ValueError(
                f"{type(self).__name__} takes {' and '.join(self._kinds)} targets; the estimator has a {kind.name} one"
            )
        if base.model_.before is not None and not self._goes_on:
            raise ValueError(
                f"{type(self).__name__} sets thresholds of sums of votes, and the estimator starts from another model "
                "(init), whose scores have no bound; use early_exit or MDDAGClassifier, or leave out init"
            )
        return base

    _kinds: tuple[str, ...] = ("binary",)
    _goes_on = False  # from the scores of another model

    def _rows(self, base: Labelled, X, y) -> tuple[Any, np.ndarray]:
        """The table, and the numbers of the classes."""
        table, labels = check_table(base, X), as_labels(y)
        check_length(table, labels)
        return table, base.model_.kind.encode(labels)[:, 0]

    def _take(self, base: Labelled, policy: Policy, ensemble=None, state: dict | None = None) -> None:
        """Become the base classifiers with a policy."""
        model: Model = base.model_
        name = type(self).__name__
        found = replace(
            model,
            ensemble=model.ensemble if ensemble is None else ensemble,
            policy=replace(policy, about={"name": name, **policy.about}),
            state={} if state is None else state,
            estimator=name,
            parameters=saved_parameters(self),
        )
        self._become(found, base.plan_)

    def dag(self, X, groups) -> DecisionDag:
        """The decision DAG of some rows: states as nodes, actions as edges.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        groups : array of shape (n_samples,)
            What rows are told apart by: their classes, or sub-classes.

        Returns
        -------
        DecisionDag
        """
        check_is_fitted(self)
        table = check_table(self, X)
        model, policy = self.model_, self.model_.walker.policy
        n, n_rounds = table.n_rows, model.n_rounds
        with Team(thread_count(self.n_jobs)) as team:
            paths = model.walked(table, team, paths=True).paths
            states, cells = np.empty((n, n_rounds + 1)), np.empty((n, n_rounds + 1), np.intp)
            rows, scores = model.ensemble.rows(table, 0, n), model.ensemble.start(n, model.start(table, team))
            for t in range(n_rounds + 1):
                states[:, t] = scores[:, 0] if scores.shape[1] == 1 else np.ptp(np.sort(scores, axis=1)[:, -2:], axis=1)
                cuts = policy.cuts[min(t, len(policy.cuts) - 1)]
                cells[:, t] = _cells(scores, policy.state, cuts)
                here = np.flatnonzero(paths[:, t] == EVAL) if t < n_rounds else np.zeros(0, np.intp)
                if here.size:
                    own = scores[here]
                    model.ensemble.add_scores(rows[here], own, t, t + 1, team)
                    scores[here] = own
        return dag_of(paths, states, cells, np.asarray(groups))

    def path_groups(self, X):
        """Rows that need the same base classifiers.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        paths : ndarray of bool (n_paths, n_estimators_)
            All that occur, the most frequent first.
        number : ndarray of int (n_samples,)
            Which of them is each row's.
        """
        paths, number, count = np.unique(self.paths(X), axis=0, return_inverse=True, return_counts=True)
        order = np.argsort(-count, kind="stable")
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        return paths[order], place[number.ravel()]

    def threshold_for(self, X, y=None, *, fpr, confidence=None):
        """The threshold of `decision_function` for a rate of false positives.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array of shape (n_samples,), default=None
            Classes; rows of the second one are left out.  None: all rows are negatives.
        fpr : float
            The rate: of these rows at most this share is above the threshold.
        confidence : float, default=None
            With which the rate holds for rows drawn like these (Clopper and Pearson); None: it holds for these rows
            only.

        Returns
        -------
        float
            Scores above it are positive.
        """
        scores = np.asarray(self.decision_function(X))
        if scores.ndim != 1:
            raise ValueError("threshold_for is for binary targets")
        if y is not None:
            scores = scores[self.model_.kind.encode(y)[:, 0] == 0]
        ordered, n = np.sort(scores)[::-1], len(scores)
        allowed = int(np.floor(fpr * n + 1e-9))
        while confidence is not None and allowed >= 0 and upper_bound(allowed, n, confidence) > fpr:
            allowed -= 1
        if allowed < 0:
            raise ValueError(
                f"{n} negative rows cannot promise a rate of {fpr:g} with confidence {confidence:g}; give more of them"
            )
        return float(ordered[allowed]) if allowed < n else -np.inf


def _cells(scores: np.ndarray, state: str, cuts: np.ndarray) -> np.ndarray:
    """The cells of states, as the kernel has them."""
    if state in ("score", "labels"):
        numbers = scores
    else:
        leaders = np.sort(scores, axis=1)[:, :-3:-1]
        numbers = leaders if state == "leaders" else leaders[:, :1] - leaders[:, 1:]
    cell = np.zeros(len(scores), np.intp)
    for column in numbers.T:
        cell = cell * (len(cuts) + 1) + np.searchsorted(cuts, column, side="left")
    return cell
