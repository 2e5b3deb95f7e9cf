"""The exact minimum of the loss along a base classifier."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .alpha import LARGEST_EDGE, alpha_of
from .step import STEPS, Step

FARTHEST = alpha_of(LARGEST_EDGE)  # the step where the loss falls for ever


@STEPS.register
@dataclass(frozen=True)
class LineSearchStep(Step):
    """argmin over alpha > 0 of the risk of F + alpha h (Murphy 2012, eq. 16.52), times a learning rate.

    The risk is convex along h.  Its slope there is -sum G h, with G at F + alpha h; so at the minimum h has no edge
    left.  With the exponential loss and discrete votes that is AdaBoost's alpha.

    Parameters
    ----------
    learning_rate : float
    """

    learning_rate: float = 1.0
    name = "line-search"
    ending = "the loss does not fall along the best base classifier"

    def size(self, h, edge, run):
        from scipy.optimize import brentq  # here, for it takes a while and other steps do not need it

        votes = h.outputs()

        def descent(alpha):
            """sum G h, in units of sum |G h|: the factor changes from point to point, but not the root."""
            along = run.pull_at(run.scores + alpha * votes) * votes
            return float(along.sum() / max(np.abs(along).sum(), np.finfo(float).tiny))

        if descent(0.0) <= 0:
            return 0.0
        far = 1.0
        while descent(far) > 0:
            if far == FARTHEST:
                return self.learning_rate * FARTHEST
            far = min(2.0 * far, FARTHEST)
        return self.learning_rate * brentq(descent, 0.0, far, xtol=1e-15, rtol=4 * np.finfo(float).eps)
