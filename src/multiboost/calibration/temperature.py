"""One factor for all scores."""

from __future__ import annotations

import numpy as np

from .calibrator import CALIBRATORS, Calibrator, log_softmax, numbers, softmax
from .formula import Formula

_RANGE = -6.0, 6.0  # of ln c
_NEAR = 1e-4  # as exact as ln c has to be


@CALIBRATORS.register
class Temperature(Calibrator):
    """softmax(c z), with the c of least log-loss (Guo et al. 2017; 1 / c is called the temperature).

    Few rows, or rows without any mistake, say little.  So ln c has a prior, Normal(0, 1): its penalty is (ln c)^2 / 2.
    """

    name, shared = "temperature", True

    def __init__(self):
        self.factor = 1.0

    def _learn(self, z, true, weight, groups):
        self.factor = best_factor(z, true, weight)

    def probabilities(self, scores):
        return softmax(self.factor * scores)

    def formula(self, k):
        return Formula(self.factor)

    def state(self):
        return {"factor": np.array([self.factor])}

    def restore(self, state):
        self.factor = float(numbers(state, {"factor": (1,)})["factor"][0]) if state else 1.0
        if not self.factor > 0:
            raise ValueError("factor of a temperature")


def log_losses(z: np.ndarray, true: np.ndarray) -> np.ndarray:
    """-ln p of the right answers under softmax(z), (n,)."""
    return -log_softmax(z)[np.arange(len(z)), true]


def best_factor(z: np.ndarray, true: np.ndarray, weight: np.ndarray) -> float:
    """c of the least log-loss of softmax(c z), with its prior; 1 of no rows."""

    def loss(x: float) -> float:  # convex in c
        return 0.5 * x * x + float((weight * log_losses(np.exp(x) * z, true)).sum())

    return float(np.exp(_least(loss, *_RANGE))) if len(z) else 1.0


def refinement(z: np.ndarray, true: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Log-losses of rows after the best factor, (n,): what no factor can mend (Berta, Holzmueller, Bach 2025)."""
    return log_losses(best_factor(z, true, weight) * z, true)


def _least(function, low: float, high: float) -> float:
    """Where a function with one valley is least, by the golden section."""
    golden = (5**0.5 - 1) / 2
    a, b = high - golden * (high - low), low + golden * (high - low)
    at_a, at_b = function(a), function(b)
    while high - low > _NEAR:
        if at_a <= at_b:
            high, b, at_b = b, a, at_a
            a = high - golden * (high - low)
            at_a = function(a)
        else:
            low, a, at_a = a, b, at_b
            b = low + golden * (high - low)
            at_b = function(b)
    return (low + high) / 2
