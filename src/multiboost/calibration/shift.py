"""SHIFT (Kegl 2011, 3.51)."""

from __future__ import annotations

import numpy as np

from .calibrator import CALIBRATORS, Calibrator, numbers
from .formula import Formula


@CALIBRATORS.register
class Shift(Calibrator):
    """p_l is proportional to (1 + f_l / S) / 2, where S is the largest that a score can be.

    A booster's scores come divided by the sum of the sizes of all its votes, which for discrete votes is the sum of
    the alphas: then S is 1.  Of other scores S is the largest size that was seen.
    """

    name, shared, unit, learns = "shift", True, "size", False

    def __init__(self):
        self.bound = 1.0

    def _learn(self, z, true, weight, groups):
        self.bound = float(np.abs(z[np.isfinite(z)]).max(initial=1.0))

    def probabilities(self, scores):
        shifted = 0.5 * (1.0 + np.clip(scores / self.bound, -1.0, 1.0))
        total = shifted.sum(axis=1, keepdims=True)
        # Where all scores are the least there can be, nothing is known.
        return np.where(total > 0, shifted / np.where(total > 0, total, 1.0), 1.0 / scores.shape[1])

    def formula(self, k):
        return Formula(curves=(np.array([[-self.bound, self.bound], [0.0, 1.0]]),) * k)

    def state(self):
        return {"bound": np.array([self.bound])}

    def restore(self, state):
        self.bound = float(numbers(state, {"bound": (1,)})["bound"][0]) if state else 1.0
        if not self.bound > 0:
            raise ValueError("bound of a shift")
