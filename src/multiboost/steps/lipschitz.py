"""The step of AnyBoost's theorem."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .step import STEPS, Step


@STEPS.register
@dataclass(frozen=True)
class LipschitzStep(Step):
    """alpha = <G, h> / (L ||h||^2), where L bounds the curvature of the loss (Mason et al. 1999).

    <G, h> = sum G h and ||h||^2 = sum W0 h^2 over all pairs.  Every round lowers the risk by at least
    <G, h>^2 / (2 L ||h||^2), and the run ends where <G, h> is not positive.  The exponential loss has no such L.
    """

    name = "lipschitz"
    ending = "the gradient has no positive inner product with the best base classifier"

    def size(self, h, edge, run):
        votes = h.outputs()
        inner = float((run.pull * votes).sum())
        norm = float((np.abs(run.target.signed) * votes**2).sum())
        return inner / (run.plan.loss.largest_curvature * norm)

    def check(self, loss, criterion):
        if loss.largest_curvature is None:
            raise ValueError(
                f"step='lipschitz' needs a loss of bounded curvature, such as loss='logistic'; the {loss.name} loss "
                "has no bound. step='line-search' takes any loss"
            )
