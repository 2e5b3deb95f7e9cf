"""Edges beyond an offset."""

from __future__ import annotations

from dataclasses import dataclass

from .alpha import alpha_of, check_discrete
from .step import STEPS, Step


@STEPS.register
@dataclass(frozen=True)
class OffsetStep(Step):
    """alpha of the edge minus alpha of theta: marginal AdaBoost, and the step of regularised boosting.

    alpha = 1/2 ln((1 + gamma) / (1 - gamma)) - 1/2 ln((1 + theta) / (1 - theta)) (Raetsch and Warmuth 2002, Kegl and
    Wang 2004).  It aims at margins of theta instead of 0, and ends when no edge is above theta.

    Parameters
    ----------
    theta : float
        From 0, which is AdaBoost, to below 1.
    """

    theta: float = 0.05
    name = "offset"

    def __post_init__(self):
        if not 0 <= self.theta < 1:
            raise ValueError(f"theta of the step 'offset' must be at least 0 and below 1; got {self.theta!r}")

    @property
    def ending(self):
        return f"no base classifier has an edge above theta = {self.theta:g}"

    def size(self, h, edge, run):
        return alpha_of(edge) - alpha_of(self.theta) if edge > self.theta else 0.0

    def check(self, loss, criterion):
        check_discrete(self, loss, criterion)
