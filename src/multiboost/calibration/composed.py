"""Platt's sigmoid and isotonic regression: scikit-learn's, one for each class against the others.

scikit-learn is asked when they are fitted.  What it finds is kept as numbers, so that a model predicts without it.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from .calibrator import CALIBRATORS, Calibrator, numbers, softmax
from .formula import Formula


class _OneAgainstTheRest(Calibrator):
    """A curve for every class, divided by the sum of all; for two classes one curve of the log odds."""

    def _learn(self, z, true, weight, groups):
        self._begin()
        if not len(z):
            return
        for column, is_true in self._columns(z, true):
            self._append(*self._curve(column, is_true, weight))

    def probabilities(self, scores):
        if not self.n_curves:
            return np.full(scores.shape, 1.0 / scores.shape[1])
        if scores.shape[1] == 2:
            p = self._read(0, scores[:, 1] - scores[:, 0])
            return np.stack([1.0 - p, p], axis=1)
        P = np.stack([self._read(c, scores[:, c]) for c in range(scores.shape[1])], axis=1)
        total = P.sum(axis=1, keepdims=True)
        return np.where(total > 0, P / np.where(total > 0, total, 1.0), 1.0 / scores.shape[1])

    def _columns(self, z: np.ndarray, true: np.ndarray):
        if z.shape[1] == 2:
            yield z[:, 1] - z[:, 0], true == 1
        else:
            yield from ((z[:, c], true == c) for c in range(z.shape[1]))

    @property
    @abstractmethod
    def n_curves(self) -> int: ...

    @abstractmethod
    def _begin(self) -> None: ...

    @abstractmethod
    def _curve(self, column, is_true, weight): ...

    @abstractmethod
    def _append(self, *curve) -> None: ...

    @abstractmethod
    def _read(self, curve: int, column: np.ndarray) -> np.ndarray: ...


@CALIBRATORS.register
class Platt(_OneAgainstTheRest):
    """1 / (1 + exp(a f + b)), Platt's targets and scikit-learn's fit."""

    name = "platt"

    def __init__(self):
        self._begin()

    def _begin(self):
        self.slope, self.offset = np.zeros(0), np.zeros(0)

    @property
    def n_curves(self):
        return self.slope.size

    def _curve(self, column, is_true, weight):
        from sklearn.calibration import CalibratedClassifierCV

        if is_true.all() or not is_true.any():  # a class that no row has, or all have: its share after one row of each
            share = (is_true.sum() + 1) / (len(is_true) + 2)
            return 0.0, -float(np.log(share / (1.0 - share)))
        rows = np.arange(len(column))
        found = CalibratedClassifierCV(_given_scores(), method="sigmoid", cv=[(rows, rows)], ensemble=True)
        found.fit(column[:, None], is_true.astype(int), sample_weight=weight)
        curve = found.calibrated_classifiers_[0].calibrators[0]
        return float(curve.a_), float(curve.b_)

    def _append(self, a, b):
        self.slope, self.offset = np.append(self.slope, a), np.append(self.offset, b)

    def _read(self, curve, column):
        return np.exp(-np.logaddexp(0.0, self.slope[curve] * column + self.offset[curve]))

    def probabilities(self, scores):
        if scores.shape[1] == 2 or not self.n_curves:
            return super().probabilities(scores)
        # By logarithms: no class is so unlikely that its share is lost.
        return softmax(-np.logaddexp(0.0, self.slope * scores + self.offset))

    def formula(self, k):
        a, b = -self.slope, -self.offset
        if not self.n_curves:
            a = b = np.zeros(k)
        elif k == 2:
            a, b = np.append(a, a), np.append(-b, b)
        return Formula(logistic=np.stack([a, b]), against=True)

    def state(self):
        return {"slope": self.slope, "offset": self.offset}

    def restore(self, state):
        self._begin()
        if state:
            k = state["slope"].size
            found = numbers(state, {"slope": (k,), "offset": (k,)})
            self.slope, self.offset = found["slope"], found["offset"]


@CALIBRATORS.register
class Isotonic(_OneAgainstTheRest):
    """The best curve that never falls, scikit-learn's ``IsotonicRegression``."""

    name = "isotonic"

    def __init__(self):
        self._begin()

    def _begin(self):
        self.knots, self.heights, self.start = np.zeros(0), np.zeros(0), np.zeros(1, np.intp)

    @property
    def n_curves(self):
        return self.start.size - 1

    def _curve(self, column, is_true, weight):
        from sklearn.isotonic import IsotonicRegression

        found = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(column, is_true, weight)
        return found.X_thresholds_, found.y_thresholds_

    def _append(self, knots, heights):
        self.knots, self.heights = np.append(self.knots, knots), np.append(self.heights, heights)
        self.start = np.append(self.start, self.knots.size)

    def _read(self, curve, column):
        part = slice(self.start[curve], self.start[curve + 1])
        return np.interp(column, self.knots[part], self.heights[part])

    def formula(self, k):
        if not self.n_curves:
            return Formula(curves=(np.array([[0.0], [1.0]]),) * k, against=True)
        curves = np.split(np.stack([self.knots, self.heights]), self.start[1:-1], axis=1)
        if k == 2:
            curves = [np.stack([-self.knots, 1.0 - self.heights])[:, ::-1], *curves]
        return Formula(curves=tuple(curves), against=True)

    def state(self):
        return {"knots": self.knots, "heights": self.heights, "start": self.start}

    def restore(self, state):
        self._begin()
        if state:
            n = state["knots"].size
            found = numbers(state, {"knots": (n,), "heights": (n,), "start": (None,)})
            start = found["start"].astype(np.intp)
            if len(start) < 1 or start[0] != 0 or start[-1] != n or (np.diff(start) < 1).any():
                raise ValueError("start of an isotonic calibration")
            self.knots, self.heights, self.start = found["knots"], found["heights"], start


def _given_scores():
    """A classifier, as scikit-learn sees it, whose score is its only column."""
    from sklearn.base import BaseEstimator, ClassifierMixin

    class GivenScores(ClassifierMixin, BaseEstimator):
        classes_ = np.array([0, 1])

        def fit(self, X, y, sample_weight=None):
            return self

        def decision_function(self, X):
            return X[:, 0]

    return GivenScores()
