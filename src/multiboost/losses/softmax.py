"""Multinomial loss: all classes of a task compete."""

import numpy as np

from ..kernels.arithmetic import exp, log1p
from ..kernels.extremes import greater
from . import Loss, register


def sweep(state, first, last, shift, sums):
    """G = W (Y* - p) and H = 2 W p (1 - p), halves of the derivatives of -W ln p of the right class, where p is the
    softmax of 2 F within a task, Y* is 1 for the right class and W is the weight of the sample in the task.  Labels
    that stand alone have the logistic loss.
    """
    n_labels, n_tasks = state.n_labels, state.task_start.size - 1
    total_g = 0.0
    total_h = 0.0
    risk = 0.0
    for i in range(first, last):
        row = i * n_labels
        for t in range(n_tasks):
            begin, end = row + state.task_start[t], row + state.task_start[t + 1]
            true = state.task_class[i, t]
            w = state.task_weight[i, t] if true >= 0 else 0.0
            if w == 0.0:
                for k in range(begin, end):
                    state.pull[k] = state.curvature[k] = 0.0
                continue
            largest = state.scores[begin]
            for k in range(begin, end):
                largest = greater(largest, state.scores[k])
            total = 0.0
            for k in range(begin, end):
                e = exp(2.0 * (state.scores[k] - largest))
                state.pull[k] = e
                total += e
            for k in range(begin, end):
                p = state.pull[k] / total
                g = w * ((1.0 if k == row + true else 0.0) - p)
                h = 2.0 * w * p * (1.0 - p)
                state.pull[k], state.curvature[k] = g, h
                total_g += abs(g)
                total_h += h
            risk += w * (np.log(total) + 2.0 * (largest - state.scores[row + true]))
        if n_tasks == 0:
            for k in range(row, row + n_labels):
                a = state.weighted[k]
                margin = 2.0 * state.scores[k] * (1.0 if a > 0 else -1.0)
                e = exp(-abs(margin))
                right = 1.0 / (1.0 + e)
                g = a * (e * right if margin > 0 else right)
                h = 2.0 * abs(a) * e * right * right
                state.pull[k], state.curvature[k] = g, h
                total_g += abs(g)
                total_h += h
                risk += abs(a) * (log1p(e) + greater(0.0, -margin))
    sums[0], sums[1], sums[2] = total_g, total_h, risk


@register
class Softmax(Loss):
    """-W ln p of the right class, p = softmax(2 F) (Friedman et al. 2000, multi-class LogitBoost)."""

    name = "softmax"
    sweep = staticmethod(sweep)
    has_curvature = True

    def initial_scores(self, target):
        """Half the logarithms of the shares of the classes; of labels that stand alone half their log odds."""
        weighted = target.signed
        tiny = np.abs(weighted).sum() / max(1, np.count_nonzero(weighted))
        if not target.kind.tasks:
            positive, negative = np.maximum(weighted, 0.0).sum(axis=0), np.maximum(-weighted, 0.0).sum(axis=0)
            return 0.5 * np.log((positive + tiny) / (negative + tiny))
        found = np.zeros(target.n_labels)
        for t, part in enumerate(target.kind.tasks):
            true, weight = target.task_class[:, t], target.task_weight[:, t]
            mass = np.bincount(true[true >= 0], weight[true >= 0], target.n_labels)[part] + tiny
            log = 0.5 * np.log(mass)
            found[part] = log - log.mean()
        return found

    def risk(self, scores, target):
        if not target.kind.tasks:
            weighted = target.signed
            return float((np.abs(weighted) * np.logaddexp(0.0, -2.0 * scores * np.sign(weighted))).sum())
        total = 0.0
        for t, part in enumerate(target.kind.tasks):
            true, weight = target.task_class[:, t], target.task_weight[:, t]
            rows = np.flatnonzero((true >= 0) & (weight > 0))
            z = 2.0 * scores[rows, part]
            top = z.max(axis=1)
            own = z[np.arange(rows.size), true[rows] - part.start]
            total += float((weight[rows] * (np.log(np.exp(z - top[:, None]).sum(axis=1)) + top - own)).sum())
        return total
