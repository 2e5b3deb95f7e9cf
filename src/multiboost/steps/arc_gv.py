"""The step to the largest minimum margin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .alpha import alpha_of, check_discrete
from .step import STEPS, Step


@STEPS.register
@dataclass(frozen=True)
class ArcGvStep(Step):
    """alpha of the edge minus alpha of the smallest margin so far (Breiman 1999).

    alpha = 1/2 ln((1 + gamma) / (1 - gamma)) - 1/2 ln((1 + rho) / (1 - rho)), where gamma is the edge and rho the
    smallest of all margins F Y / (sum of all alphas), or 0 while that is negative: so it begins as AdaBoost.

    With a base learner that finds the best edge the smallest margin becomes the largest possible one, the value of the
    game of ``theory.game_value``.  AdaBoost's need not.
    """

    name = "arc-gv"
    ending = "no base classifier has an edge above the smallest margin: that margin is the largest possible"

    def size(self, h, edge, run):
        return alpha_of(edge) - alpha_of(max(smallest_margin(run), 0.0))

    def check(self, loss, criterion):
        check_discrete(self, loss, criterion)


def smallest_margin(run) -> float:
    """The smallest margin of the known pairs, from -1 to 1; 0 before the first round."""
    total = float(np.sum(run.history["alpha"]))
    signed = run.target.signed
    margins = run.scores * np.sign(signed)
    return float(margins[signed != 0].min()) / total if total > 0 else 0.0
