"""Exponential loss: AdaBoost.MH."""

import numpy as np

from ..kernels.arithmetic import exp
from ..kernels.extremes import lesser
from . import Loss, register


def sweep(state, first, last, shift, sums):
    """G = W0 Y exp(-F Y - shift); its loss is the sum of |G|."""
    first, last = first * state.n_labels, last * state.n_labels
    weighted, scores, pull = state.weighted[first:last], state.scores[first:last], state.pull[first:last]
    total = 0.0
    for k in range(weighted.size):
        y = 1.0 if weighted[k] > 0 else -1.0
        w = weighted[k] * exp(lesser(-scores[k] * y - shift, 0.0))
        pull[k] = w
        total += abs(w)
    sums[0] = sums[2] = total


@register
class Exponential(Loss):
    """W0 exp(-F Y) (Kegl 2011, eq. 3.13)."""

    name = "exponential"
    sweep = staticmethod(sweep)
    shifted = normalised = True

    def best_constant(self, target):
        """Half the log odds of each label."""
        positive, negative = np.maximum(target.signed, 0.0).sum(axis=0), np.maximum(-target.signed, 0.0).sum(axis=0)
        tiny = np.abs(target.signed).sum() / max(1, np.count_nonzero(target.signed))
        return 0.5 * np.log((positive + tiny) / (negative + tiny))

    def risk(self, scores, target):
        weighted = target.signed
        with np.errstate(over="ignore"):  # far on the wrong side the loss is infinite, and may say so
            return float((np.abs(weighted) * np.exp(-scores * np.sign(weighted))).sum())
