"""Steps: how far to go along a base classifier."""

from __future__ import annotations

import numpy as np

LARGEST_EDGE = 1.0 - 1e-12  # of a perfect base classifier: alpha stays below 14.2


class AlphaStep:
    """alpha = 1/2 ln((1 + gamma) / (1 - gamma)), eq. (3.34), times a learning rate."""

    def __init__(self, learning_rate: float = 1.0):
        self.learning_rate = learning_rate

    def size(self, edge: float) -> float:
        edge = min(edge, LARGEST_EDGE)
        return self.learning_rate * 0.5 * float(np.log((1.0 + edge) / (1.0 - edge)))


class RateStep:
    """A fixed share of the votes, which have their own size already."""

    def __init__(self, learning_rate: float):
        self.learning_rate = learning_rate

    def size(self, edge: float) -> float:
        return self.learning_rate
