"""Absolute loss: medians."""

import numpy as np

from ..kernels.residuals import leaf_quantiles
from . import register
from .pair import RealLoss, quantile_of


@register
class Absolute(RealLoss):
    """|y - f| (Murphy 2012, Table 16.1); a leaf's value is the median of its residuals (Friedman 2001)."""

    name = "absolute"

    @staticmethod
    def value(y, f, a):
        return abs(y - f)

    @staticmethod
    def pull(y, f, a):
        return 1.0 if y > f else (-1.0 if y < f else 0.0)

    @staticmethod
    def curvature(y, f, a):
        return 1.0

    def losses(self, scores, target):
        return target.signed * np.abs(target.wanted - scores)

    def constant(self, y, weight, a):
        return quantile_of(y, weight, 0.5)

    def refit(self, leaf, n_leaves, state, drawn):
        return leaf_quantiles(leaf, n_leaves, state, np.full(state.n_labels, 0.5), drawn)
