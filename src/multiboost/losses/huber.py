"""Huber's loss: squares near, absolute values far away."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..kernels.residuals import huber_center, leaf_centers
from . import register
from .pair import RealLoss


@register
@dataclass(frozen=True)
class Huber(RealLoss):
    """r^2 / 2 for residuals r = y - f of a size up to delta, delta (|r| - delta / 2) beyond (Huber 1964).

    A leaf's value is the constant that minimises the loss of its rows.

    Parameters
    ----------
    delta : float
        In units of the target's mean distance from its median.
    """

    delta: float = 0.5
    name = "huber"
    largest_curvature = 1.0

    def __post_init__(self):
        if not self.delta > 0:
            raise ValueError(f"delta must be above 0; got {self.delta!r}")

    @staticmethod
    def value(y, f, a):
        r = abs(y - f)
        return 0.5 * r * r if r <= a else a * (r - 0.5 * a)

    @staticmethod
    def pull(y, f, a):
        return min(max(y - f, -a), a)

    @staticmethod
    def curvature(y, f, a):
        return 1.0

    def levels(self, target):
        return np.full(target.n_labels, float(self.delta))

    def losses(self, scores, target):
        r, a = np.abs(target.wanted - scores), self.delta
        return target.signed * np.where(r <= a, 0.5 * r * r, a * (r - 0.5 * a))

    def constant(self, y, weight, a):
        order = np.argsort(y, kind="stable")
        return huber_center(y[order], weight[order], a)

    def refit(self, leaf, n_leaves, state, drawn):
        return leaf_centers(leaf, n_leaves, state, drawn)
