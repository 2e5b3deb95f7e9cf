"""A parabola for the log odds of two answers."""

from __future__ import annotations

import numpy as np

from .calibrator import CALIBRATORS, Calibrator, numbers, softmax
from .formula import Formula
from .scaling import minimum
from .temperature import best_factor

_BEND = 0.1  # the square is taken in tens, so that its coefficient is about as large as the others


@CALIBRATORS.register
class Quadratic(Calibrator):
    """Two answers: the log odds are l + a + b l + c l^2, where l are those of the temperature.

    The coefficients have a ridge of 1 / n in the mean log-loss.  Beyond the rows that it was learned from the curve
    goes on as a straight line.  For labels there is one for each.
    """

    name = "quadratic"

    def __init__(self):
        self._begin()

    def _begin(self) -> None:
        self.factor, self.range, self.coefficients = 1.0, np.zeros(2), np.zeros(3)

    def _learn(self, z, true, weight, groups):
        self._begin()
        if z.shape[1] != 2:
            raise ValueError(f"calibration 'quadratic' is for two classes and for labels; got {z.shape[1]} classes")
        if not len(z):
            return
        self.factor = best_factor(z, true, weight)
        odds, sign, n = self._odds(z), 2.0 * true - 1.0, len(z)
        self.range = np.array([odds.min(), odds.max()])
        features = self._features(odds)

        def loss(theta):
            along = sign * (odds + features @ theta)
            value = (weight * np.logaddexp(0.0, -along)).sum() / n + theta @ theta / n
            pull = -weight * sign * np.exp(-np.logaddexp(0.0, along)) / n
            return value, pull @ features + 2.0 * theta / n

        self.coefficients = minimum(loss, np.zeros(3))

    def _odds(self, scores: np.ndarray) -> np.ndarray:
        return self.factor * (scores[:, 1] - scores[:, 0])

    def _features(self, odds: np.ndarray) -> np.ndarray:
        inside = np.clip(odds, *self.range)
        return np.stack([np.ones(len(odds)), odds, _BEND * (inside * inside + 2 * inside * (odds - inside))], axis=1)

    def probabilities(self, scores):
        odds = self._odds(scores)
        odds = odds + (self._features(odds) * self.coefficients).sum(axis=1)
        return softmax(np.stack([-odds / 2, odds / 2], axis=1))

    def formula(self, k):
        return Formula(self.factor, bend=np.concatenate([self.range, self.coefficients * [1.0, 1.0, _BEND]]))

    def state(self):
        return {"factor": np.array([self.factor]), "range": self.range, "coefficients": self.coefficients}

    def restore(self, state):
        self._begin()
        if state:
            found = numbers(state, {"factor": (1,), "range": (2,), "coefficients": (3,)})
            self.factor, self.range, self.coefficients = (
                float(found["factor"][0]),
                found["range"],
                found["coefficients"],
            )
