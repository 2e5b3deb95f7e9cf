"""How sure probabilities may be.

Boosting drives the margins of the training set far beyond half the log odds: the ranking of scores is right, their
size is not.  So probabilities are made of c F, with the slope

    c = min(2, s / M),    M the (weighted) median margin of the training set.

2 is the slope of theory.  The *sharpness* s is the median margin that log odds should have: large where classes are
easy to tell apart, small where they are not.  It is measured on held-out rows where plans are compared
anyway (``trial``), as the one that gives them the least log-loss: the best slope falls with every round, the best
sharpness hardly changes.  Elsewhere it is 6.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..data.kinds import LabelKind
from ..data.target import Target
from ..model.model import STEEPEST
from .plan import SHARPNESS

_RANGE = float(np.log(0.1)), float(np.log(60.0))  # where the best sharpness is looked for
_PAIRS = 1 << 22  # of rows and labels whose margins are looked at


def slope_of(sharpness: float, median: float) -> float:
    """The slope c for a median margin."""
    return STEEPEST if median <= sharpness / STEEPEST else sharpness / median


def median_margin(target: Target, scores: np.ndarray) -> float:
    """Weighted median of the margins; 0 where there are no labels.

    The margin of a task is the true class's score minus the best other one; of a label that stands alone it is F Y.

    Parameters
    ----------
    target : Target
    scores : ndarray (n, K)
    """
    if not isinstance(target.kind, LabelKind):
        return 0.0
    step = -(-scores.size // _PAIRS)  # of a very large set every step-th row will do
    scores, signed = scores[::step], target.signed[::step]
    margins, weights = [], []
    for t in range(len(target.kind.tasks)):
        true, weight = target.task_class[::step, t], target.task_weight[::step, t]
        rows = np.flatnonzero((true >= 0) & (weight > 0))
        margins.append(target.kind.lead(scores[rows], t, true[rows] - target.kind.tasks[t].start))
        weights.append(weight[rows])
    if not margins:
        known = signed != 0
        margins.append(scores[known] * np.sign(signed[known]))
        weights.append(np.abs(signed[known]))
    return _weighted_median(np.concatenate(margins), np.concatenate(weights))


def _weighted_median(values: np.ndarray, weights: np.ndarray) -> float:
    """The smallest value with half of the weight at or below it."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order])
    # Half, but for rounding: a repeated sample and one of weight two must agree.
    return float(values[order[np.searchsorted(below, below[-1] * (0.5 - 1e-9))]])


def log_loss(target: Target, scores: np.ndarray, slope: float) -> float:
    """Sum of -log p of what is true, in samples of mean weight; of labels that stand alone, of all known ones."""
    losses, weights = [], []
    for t, part in enumerate(target.kind.tasks):
        true, weight = target.task_class[:, t], target.task_weight[:, t]
        rows = np.flatnonzero((true >= 0) & (weight > 0))
        z = slope * scores[rows, part]
        z -= z.max(axis=1, keepdims=True)
        own = z[np.arange(rows.size), true[rows] - part.start]
        losses.append(np.log(np.exp(z).sum(axis=1)) - own)
        weights.append(weight[rows])
    if not losses:
        known = target.signed != 0
        losses.append(np.logaddexp(0.0, -slope * scores[known] * np.sign(target.signed[known])))
        weights.append(np.abs(target.signed[known]))
    weight = np.concatenate(weights)
    return float(np.concatenate(losses) @ weight / weight.mean()) if weight.size else 0.0


def best_sharpness(held_out: list[tuple[float, Target, np.ndarray]]) -> float:
    """The sharpness with the least log-loss of held-out rows.

    Few rows, or rows without any mistake, say little.  So ln s has a prior, Normal(ln 6, 1): its penalty is
    (ln(s / 6))^2 / 2.

    Parameters
    ----------
    held_out : list of (median, target, scores)
        Of each part: the median margin of its training rows; labels and scores of its held-out rows.
    """

    known = [part for part in held_out if part[0] > 0]

    def loss(x: float) -> float:  # convex in the slope, for which it must not end at 2
        s = float(np.exp(x))
        penalty = 0.5 * (x - np.log(SHARPNESS)) ** 2
        return penalty + sum(log_loss(target, scores, s / median) for median, target, scores in known)

    return float(np.exp(_least(loss, *_RANGE))) if known else SHARPNESS


def _least(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a function with one valley is least, by the golden section, to a thousandth of the interval."""
    golden = (5**0.5 - 1) / 2
    a, b = high - golden * (high - low), low + golden * (high - low)
    at_a, at_b = function(a), function(b)
    for _ in range(15):
        if at_a <= at_b:
            high, b, at_b = b, a, at_a
            a = high - golden * (high - low)
            at_a = function(a)
        else:
            low, a, at_a = a, b, at_b
            b = low + golden * (high - low)
            at_b = function(b)
    return (low + high) / 2
