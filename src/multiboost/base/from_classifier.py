"""Any binary classifier as phi: h(x) = alpha v phi(x)."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from sklearn.base import clone

from .classifier import BaseClassifier, Curve
from .learner import BaseLearner
from .partition import two_leaves
from .pieces import ladder
from .problem import Problem

_STARTS = 8  # random votes that are tried before the first fit
_IMPROVEMENT = 1e-10  # relative; below this, rounding would keep the alternation going


class Phi:
    """A fitted binary classifier as a column: -1 and +1, or how sure it is.

    Parameters
    ----------
    estimator : fitted classifier of the classes -1 and 1
    scale : float or None
        What its decisions are divided by; None where its answers are taken.
    """

    def __init__(self, estimator, scale: float | None = None):
        self.estimator = estimator
        self.scale = scale

    def values(self, X) -> np.ndarray:
        """phi of every row."""
        if self.scale is None:
            return np.where(self.estimator.predict(X) > 0, 1.0, -1.0)
        return _decisions(self.estimator, X) / self.scale


def _decisions(estimator, X) -> np.ndarray:
    """How sure a binary classifier is, above 0 for its class 1: ``decision_function``, else 2 p - 1."""
    if hasattr(estimator, "decision_function"):
        found = np.asarray(estimator.decision_function(X), np.float64).reshape(-1)
    else:
        found = 2.0 * np.asarray(estimator.predict_proba(X), np.float64)[:, 1] - 1.0
    if not np.isfinite(found).all():
        raise ValueError(f"FromClassifier: decisions of {type(estimator).__name__} are not finite")
    return found


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
    output : {"sign", "decision"}, default="sign"
        phi is the classifier's answer, -1 or +1; or its ``decision_function`` (without one 2 p - 1 of
        ``predict_proba``), divided by the largest absolute value in training.

    Notes
    -----
    With decisions h(x) = v phi(x) is confidence-rated: v are signs for discrete votes, and one Newton step per label
    for real ones.  alpha of the edge is then the minimum of a bound of Z (Schapire and Singer 1999), step="line-search"
    that of Z itself.  Trees and products take answers only.

    A model of such base classifiers holds fitted scikit-learn objects and has no model file.
    """

    name, size = "classifier", "n_cycles"
    needs_values = True

    def __init__(self, estimator=None, n_cycles=10, output="sign"):
        self.estimator = estimator
        self.n_cycles = n_cycles
        self.output = output

    @property
    def criteria(self) -> tuple[str, ...]:  # type: ignore[override]
        return () if self.output == "sign" else ("newton", "edge", "ternary")

    @property
    def never_in(self) -> tuple[str, ...]:  # type: ignore[override]
        return () if self.output == "sign" else ("tree", "product")

    def check(self) -> None:
        if self.output not in ("sign", "decision"):
            raise ValueError(f"output of FromClassifier must be 'sign' or 'decision'; got {self.output!r}")
        able = any(hasattr(self.estimator, name) for name in ("decision_function", "predict_proba"))
        if self.output == "decision" and not able:
            raise ValueError(
                f"FromClassifier: {type(self.estimator).__name__} has neither decision_function nor predict_proba; "
                "use output='sign'"
            )

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
            if self.output == "decision":
                far = float(np.abs(_decisions(phi.estimator, X)).max())
                phi = Phi(phi.estimator, far if far > 0 else 1.0)
            values = phi.values(X)
            edges = values @ pull
            edge = float(np.abs(edges).sum())
            if edge <= best + _IMPROVEMENT * abs(best if np.isfinite(best) else 0.0):
                break
            best, found = edge, (phi, values)
            v = np.where(edges > 0, 1.0, -1.0)
        if found is None:
            return None
        return (_classifier if self.output == "sign" else _confident)(problem, rows, *found)

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


def _confident(problem: Problem, rows: np.ndarray, phi: Phi, decisions: np.ndarray) -> BaseClassifier:
    """h = v phi(x) with a real phi: one leaf, whose votes are lines through 0."""
    place = np.empty(problem.n_rows)
    place[rows] = decisions
    left_out = problem.rows.left_out
    if left_out.size > 0:
        place[left_out] = phi.values(problem.layout.table.native_rows(left_out))
    pull = problem.pull[rows]
    sum_g = decisions @ pull
    h = problem.record.h[rows] if problem.record.h.size else np.abs(pull)
    if problem.criterion.factorised:
        votes = np.where(sum_g > 0, 1.0, -1.0)
        score = float(np.abs(sum_g).sum())
    else:
        votes = sum_g / (decisions**2 @ h + problem.criterion.ridge)
        score = float((sum_g * votes).sum())
    values = np.stack([np.zeros(problem.n_labels), votes])
    dag = ladder(-1, np.zeros(1), 0, score, values, 1)
    dag.child[:] = -1  # one leaf on both sides
    dag.phi, dag.curve = [phi], Curve(-1, 1, np.zeros(2))
    leaf = np.zeros((1, problem.n_rows), dag.child.dtype)
    return BaseClassifier([dag], leaf, 0, sum_g[None], h.sum(axis=0)[None], score, place=place)
