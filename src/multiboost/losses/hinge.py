"""The squared hinge loss."""

import numpy as np

from . import register
from .pair import PairLoss


@register
class Hinge(PairLoss):
    """max(0, 1 - F Y)^2: margins beyond 1 cost nothing, others as in least squares."""

    name = "hinge"
    largest_curvature = 2.0

    @staticmethod
    def value(y, f, a):
        gap = max(1.0 - y * f, 0.0)
        return gap * gap

    @staticmethod
    def pull(y, f, a):
        return 2.0 * y * max(1.0 - y * f, 0.0)

    @staticmethod
    def curvature(y, f, a):
        return 2.0 if y * f < 1.0 else 0.0

    def losses(self, scores, target):
        return np.abs(target.signed) * np.maximum(1.0 - scores * np.sign(target.signed), 0.0) ** 2
