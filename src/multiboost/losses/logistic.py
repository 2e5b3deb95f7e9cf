"""Logistic loss, label by label: LogitBoost."""

import numpy as np

from ..kernels.arithmetic import exp, log1p
from ..kernels.extremes import greater
from . import Loss, register


def sweep(state, first, last, shift, sums):
    """G = W0 Y sigma(-2 F Y) and H = 2 W0 sigma(2 F) sigma(-2 F), halves of the
    derivatives of W0 log(1 + exp(-2 F Y)).
    """
    first, last = first * state.n_labels, last * state.n_labels
    weighted, scores = state.weighted[first:last], state.scores[first:last]
    pull, curvature = state.pull[first:last], state.curvature[first:last]
    total_g = 0.0
    total_h = 0.0
    risk = 0.0
    for k in range(weighted.size):
        a = weighted[k]
        margin = 2.0 * scores[k] * (1.0 if a > 0 else -1.0)
        e = exp(-abs(margin))
        right = 1.0 / (1.0 + e)
        g = a * (e * right if margin > 0 else right)
        h = 2.0 * abs(a) * e * right * right
        pull[k] = g
        curvature[k] = h
        total_g += abs(g)
        total_h += h
        risk += abs(a) * (log1p(e) + greater(0.0, -margin))
    sums[0], sums[1], sums[2] = total_g, total_h, risk


@register
class Logistic(Loss):
    """W0 log(1 + exp(-2 F Y)) (Friedman et al. 2000)."""

    name = "logistic"
    sweep = staticmethod(sweep)
    has_curvature = True
    largest_curvature = 0.5

    def initial_scores(self, target):
        """Half the log odds of each label, the best constant."""
        weighted = target.signed
        positive = np.maximum(weighted, 0.0).sum(axis=0)
        negative = np.maximum(-weighted, 0.0).sum(axis=0)
        tiny = np.abs(weighted).sum() / max(1, np.count_nonzero(weighted))
        return 0.5 * np.log((positive + tiny) / (negative + tiny))

    def risk(self, scores, target):
        weighted = target.signed
        return float((np.abs(weighted) * np.logaddexp(0.0, -2.0 * scores * np.sign(weighted))).sum())
