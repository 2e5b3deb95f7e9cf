"""One sigmoid for all labels (Kegl 2011, 3.52), under the thesis's target functions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .calibrator import CALIBRATORS, Calibrator, numbers, softmax
from .formula import Formula
from .goals import GOALS, Rows
from .scaling import minimum

_STEEP = np.geomspace(0.05, 50.0, 13)  # a of the grid, in units of one over the spread of the scores
_STEEPEST = 50.0  # of ln a: some target functions fall for ever as a grows
_SHIFTS = np.linspace(0.0, 1.0, 11)  # b of the grid, as quantiles of the scores


@CALIBRATORS.register
@dataclass
class Sigmoid(Calibrator):
    """p_l is proportional to s(f_l) = 1 / (1 + exp(-a (f_l - b))), with two numbers a > 0 and b for the whole model.

    They make a target function small, which need not be convex: the best point of a coarse grid is where L-BFGS begins.

    Parameters
    ----------
    goal : {"ls", "ewls", "el", "ell", "sn"}, default="ls"
        The log-loss; the log-loss weighted by the entropy; the expected squared distance of labels; the squared
        distance of the expected label; minus a soft DCG.  The last three are for labels that are ordered.
    C : float, default=2.0
        The power of the entropy.
    sigma : float, default=0.01
        The width of a position.
    """

    name = "sigmoid"
    shared = True

    goal: str = "ls"
    C: float = 2.0
    sigma: float = 0.01

    def __post_init__(self):
        if self.goal not in GOALS:
            raise ValueError(f"goal must be one of {', '.join(map(repr, GOALS))}; got {self.goal!r}")
        if not self.C >= 0:
            raise ValueError(f"C must be at least 0; got {self.C!r}")
        if not self.sigma > 0:
            raise ValueError(f"sigma must be above 0; got {self.sigma!r}")
        self.slope, self.shift = 1.0, 0.0

    def _learn(self, z, true, weight, groups):
        self.__post_init__()
        if not len(z):
            return
        rows = Rows.of(true, weight, groups)
        seen = z[np.isfinite(z)]
        spread = max(float(seen.std()), 1e-12)

        def loss(theta):
            return self._loss(z, rows, *theta)

        grid = [np.array([u, b]) for u in np.log(_STEEP / spread) for b in np.quantile(seen, _SHIFTS)]
        best = min(grid, key=lambda theta: loss(theta)[0])
        found = minimum(loss, best)
        if not loss(found)[0] <= loss(best)[0]:
            found = best
        self.slope, self.shift = float(np.exp(min(found[0], _STEEPEST))), float(found[1])

    def _loss(self, z: np.ndarray, rows: Rows, log_a: float, b: float) -> tuple[float, np.ndarray]:
        """The target function of (ln a, b) and its slopes, per row."""
        P, along = sigmoids(z, np.exp(min(log_a, _STEEPEST)), b)
        value, slopes = GOALS[self.goal](P, rows, self.C, self.sigma)
        # d p_l = p_l (d ln s_l - sum_m p_m d ln s_m)
        found = [(slopes * P * (d - (P * d).sum(axis=1, keepdims=True))).sum() for d in along]
        return value / len(z), np.array(found) / len(z)

    def probabilities(self, scores):
        return sigmoids(scores, self.slope, self.shift)[0]

    def formula(self, k):
        return Formula(logistic=np.repeat([[self.slope], [-self.slope * self.shift]], k, axis=1))

    def state(self):
        return {"slope": np.array([self.slope]), "shift": np.array([self.shift])}

    def restore(self, state):
        self.__post_init__()
        if state:
            found = numbers(state, {"slope": (1,), "shift": (1,)})
            self.slope, self.shift = float(found["slope"][0]), float(found["shift"][0])


def sigmoids(z: np.ndarray, a: float, b: float) -> tuple[np.ndarray, list[np.ndarray]]:
    """P, and the slopes of ln s along ln a and along b, (n, k) each."""
    here = np.isfinite(z)
    t = a * (np.where(here, z, 0.0) - b)
    P = softmax(np.where(here, -np.logaddexp(0.0, -t), -np.inf))
    rest = np.exp(-np.logaddexp(0.0, t))  # 1 - s
    return P, [rest * t, -a * rest]
