"""The coefficient of the edge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .step import STEPS, Step

LARGEST_EDGE = 1.0 - 1e-12  # of a perfect base classifier: alpha stays below 14.2


@STEPS.register
@dataclass(frozen=True)
class AlphaStep(Step):
    """alpha = 1/2 ln((1 + gamma) / (1 - gamma)) of the edge gamma (Kegl 2011, eq. 3.34), times a learning rate.

    Parameters
    ----------
    learning_rate : float
    """

    learning_rate: float = 1.0
    name = "alpha"

    def size(self, h, edge, run):
        edge = min(edge, LARGEST_EDGE)
        return self.learning_rate * 0.5 * float(np.log((1.0 + edge) / (1.0 - edge)))
