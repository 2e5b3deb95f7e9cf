"""Squared loss: L2Boosting."""

import numpy as np

from . import register
from .pair import RealLoss, _positive


@register
class Squared(RealLoss):
    """(y - f)^2 / 2 (Murphy 2012, Table 16.1)."""

    name = "squared"
    largest_curvature = 1.0

    @staticmethod
    def value(y, f, a):
        return 0.5 * (y - f) * (y - f)

    @staticmethod
    def pull(y, f, a):
        return y - f

    @staticmethod
    def curvature(y, f, a):
        return 1.0

    def losses(self, scores, target):
        return 0.5 * target.signed * (target.wanted - scores) ** 2

    def spread(self, y, weight):
        center = float(np.average(y, weights=weight))
        return center, _positive(float(np.sqrt(np.average((y - center) ** 2, weights=weight))))

    def constant(self, y, weight, a):
        return np.average(y, weights=weight)
