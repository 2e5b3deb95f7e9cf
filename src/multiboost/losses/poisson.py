"""Poisson loss: counts."""

import numpy as np

from . import register
from .pair import RealLoss

_LARGEST = 500.0  # of a score: exp(F) stays finite, and so do its sums


@register
class Poisson(RealLoss):
    """exp(f) - y f, minus the logarithm of a Poisson probability but for a constant; the answer is exp(f)."""

    name = "poisson"
    is_log = True

    @staticmethod
    def value(y, f, a):
        return np.exp(min(f, _LARGEST)) - y * f

    @staticmethod
    def pull(y, f, a):
        return y - np.exp(min(f, _LARGEST))

    @staticmethod
    def curvature(y, f, a):
        return np.exp(min(f, _LARGEST))

    def losses(self, scores, target):
        rate = np.exp(np.minimum(scores, _LARGEST))
        return target.signed * (rate - target.wanted * scores)

    def check(self, y):
        negative = np.argwhere(y < 0)
        if negative.size:
            i, t = negative[0]
            raise ValueError(f"loss='poisson' is for counts, and y[{i}] is {y[i, t]:g}; counts are at least 0")
        if not np.nansum(y) > 0:
            raise ValueError("loss='poisson': all counts of y are 0; there is nothing to learn")

    def constant(self, y, weight, a):
        mean = np.average(y, weights=weight)
        return np.log(mean) if mean > 0 else -10.0

    def levels(self, target):
        """The weight of one row."""
        return np.full(target.n_labels, 1.0 / target.n_pairs)

    def least(self, target):
        y = target.wanted
        safe = np.where(y > 0, y, 1.0)
        return np.where(target.signed > 0, target.signed * (y - y * np.log(safe)), 0.0)

    def refit(self, leaf, n_leaves, state, drawn):
        """ln(counts / rates) of each leaf, the exact minimum, with the mean count of one row more on both sides."""
        w = state.weighted if drawn is None else state.weighted * drawn[:, None]
        values = np.zeros((n_leaves, state.n_labels))
        for k in range(state.n_labels):
            counts = np.bincount(leaf, w[:, k] * state.wanted[:, k], n_leaves)
            rates = np.bincount(leaf, w[:, k] * np.exp(np.minimum(state.scores[:, k], _LARGEST)), n_leaves)
            more = state.level[k] * counts.sum() / w[:, k].sum()
            values[:, k] = np.log((counts + more) / (rates + more)) if more > 0 else 0.0
        return values
