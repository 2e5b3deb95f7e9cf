"""Any binary classifier as phi: h(x) = alpha v phi(x)."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from sklearn.base import clone

from .classifier import BaseClassifier
from .learner import BaseLearner
from .partition import two_leaves
from .problem import Problem

_STARTS = 8  # random votes that are tried before the first fit
_IMPROVEMENT = 1e-10  # relative; below this, rounding would keep the alternation going


class Phi:
    """A fitted binary classifier as a column of -1 and +1.

    Parameters
    ----------
    estimator : fitted classifier of the classes -1 and 1
    """

    def __init__(self, estimator):
        self.estimator = estimator

    def values(self, X) -> np.ndarray:
        """phi of every row, -1.0 or +1.0."""
        return np.where(self.estimator.predict(X) > 0, 1.0, -1.0)


class FromClassifier(BaseLearner):
    """A base learner from any binary classifier of scikit-learn's interface.

    Given phi, the best votes are v = sign(sum over samples of G phi) (Kegl 2011, 3.35);
    given v, phi is learned on virtual labels, the sign of s_i = sum over labels of v G, with
    weights |s_i|.  The two alternate until the edge stops growing.  So a binary classifier
    becomes a multi-class and multi-label one.

    Parameters
    ----------
    estimator : classifier
        Sees the rows of X as the user passes them, data frames included; a pipeline hands
        weights to its last step.  One that takes no ``sample_weight`` is
        trained on rows drawn with probability proportional to their weights.
    n_cycles : int, default=10
        Most fits of the classifier in a round.

    Notes
    -----
    A model of such base classifiers holds fitted scikit-learn objects and has no model file.
    """

    name, size = "classifier", "n_cycles"

    def __init__(self, estimator=None, n_cycles=10):
        self.estimator = estimator
        self.n_cycles = n_cycles

    def fit(self, problem: Problem) -> BaseClassifier | None:
        """The best h, None where all virtual labels are the same."""
        rows = problem.rows.drawn
        X = problem.layout.table.native_rows(rows)
        pull = problem.pull[rows]
        v = _first_votes(pull, problem.seed)
        best, found = -np.inf, None
        for _ in range(self.n_cycles):
            phi = self._learn(X, pull @ v, problem.seed)
            if phi is None:
                break
            signs = phi.values(X)
            edges = signs @ pull
            edge = float(np.abs(edges).sum())
            if edge <= best + _IMPROVEMENT * abs(best if np.isfinite(best) else 0.0):
                break
            best, found = edge, (phi, signs)
            v = np.where(edges > 0, 1.0, -1.0)
        if found is None:
            return None
        return _classifier(problem, rows, *found)

    def _learn(self, X, signed: np.ndarray, seed: int) -> Phi | None:
        """phi given the virtual labels times weights; None where there is one label only."""
        weight = np.abs(signed)
        labels = np.where(signed > 0, 1, -1)
        known = weight > 0
        if not known.any() or np.all(labels[known] == labels[known][0]):
            return None
        if not known.all():
            X, labels, weight = _rows(X, np.flatnonzero(known)), labels[known], weight[known]
        weight = weight / weight.mean()
        estimator = _seeded(clone(self.estimator), seed)
        keyword = _weight_keyword(estimator)
        try:
            if keyword is None:
                drawn = np.random.default_rng(seed).choice(weight.size, weight.size, p=weight / weight.sum())
                drawn.sort()
                if np.all(labels[drawn] == labels[drawn[0]]):
                    return None
                estimator.fit(_rows(X, drawn), labels[drawn])
            else:
                estimator.fit(X, labels, **{keyword: weight})
        except (TypeError, ValueError) as error:
            raise ValueError(f"FromClassifier: {type(self.estimator).__name__} cannot be trained: {error}") from error
        return Phi(estimator)


def _first_votes(pull: np.ndarray, seed: int) -> np.ndarray:
    """Votes that leave phi the largest edge to win, sum_i |s_i|: that of a phi without errors.

    BESTINDICATOR with a category for every sample: from the leading direction of G and from
    random votes, v = sign(G' u) and u = sign(G v) in turn.
    """
    n_labels = pull.shape[1]
    if n_labels == 1:
        return np.ones(1)
    _, directions = np.linalg.eigh(pull.T @ pull)
    starts = np.vstack([directions[:, -1], np.random.default_rng(seed).normal(size=(_STARTS, n_labels))])
    best, found = -1.0, np.ones(n_labels)
    for start in starts:
        v = np.where(start > 0, 1.0, -1.0)
        edge = -1.0
        while True:
            s = pull @ v
            one_sided = np.all(s >= 0) or np.all(s <= 0)  # nothing for phi to tell apart
            now = 0.0 if one_sided else float(np.abs(s).sum())
            if now <= edge * (1 + _IMPROVEMENT):
                break
            edge = now
            if edge > best:
                best, found = edge, v
            v = np.where(np.sign(s) @ pull > 0, 1.0, -1.0)
    return found


def _weight_keyword(estimator) -> str | None:
    """How ``fit`` takes weights, None where it does not."""
    if hasattr(estimator, "steps"):
        name, last = estimator.steps[-1]
        keyword = _weight_keyword(last)
        return None if keyword is None else f"{name}__{keyword}"
    return "sample_weight" if "sample_weight" in inspect.signature(estimator.fit).parameters else None


def _seeded(estimator, seed: int):
    """The same estimator with a number for every random state that is left open."""
    open_states = {
        name: seed
        for name, value in estimator.get_params(deep=True).items()
        if name.rpartition("__")[2] == "random_state" and value is None
    }
    return estimator.set_params(**open_states)


def _rows(X: Any, rows: np.ndarray):
    """Some rows of whatever the user has passed."""
    from ..data.table import as_table

    return as_table(X).native_rows(rows)


def _classifier(problem: Problem, rows: np.ndarray, phi: Phi, signs: np.ndarray) -> BaseClassifier:
    """h with the votes of the problem's criterion: one test, two leaves."""
    right = np.zeros(problem.n_rows, bool)
    right[rows] = signs > 0
    left_out = problem.rows.left_out
    if left_out.size > 0:
        right[left_out] = phi.values(problem.layout.table.native_rows(left_out)) > 0
    return two_leaves(problem, right, phi=[phi])
