"""Losses that are a sum over pairs of a sample and a label: three formulas, and the rest follows.

With y what is wanted (a number, or a label that is +1 or -1), f the score and a a number of the loss, all of one pair:

    value(y, f, a)        the loss
    pull(y, f, a)         minus its derivative along f
    curvature(y, f, a)    its second derivative, or another positive number where that is 0

They are plain functions of numbers, or functions that numba has compiled already.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import ClassVar

import numpy as np

from ..kernels.compiler import is_ours, part_of_kernels
from . import Loss

_POINTS = 200  # at which the formulas of a loss from elsewhere are compared
_STEP = 1e-4
_HIGHEST = 8.0  # the best constant of a label, at most
_FAR = 3.0  # such points are this far from 0
_HALVINGS = 60  # of an interval that holds the best constant


@cache
def _sweep(value, pull, curvature, of_numbers: bool) -> Callable:
    """The sweep of a loss, see `Loss`."""
    value, pull, curvature = part_of_kernels(value), part_of_kernels(pull), part_of_kernels(curvature)

    def sweep(state, first, last, shift, sums):
        n_labels = state.n_labels
        total_g = 0.0
        total_h = 0.0
        risk = 0.0
        for i in range(first, last):
            for k in range(n_labels):
                at = i * n_labels + k
                w = abs(state.weighted[at])
                if w > 0.0:
                    y = state.wanted[at] if of_numbers else (1.0 if state.weighted[at] > 0.0 else -1.0)
                    f, a = state.scores[at], state.level[k]
                    g, h = w * pull(y, f, a), w * curvature(y, f, a)
                    state.pull[at] = g
                    state.curvature[at] = h
                    total_g += abs(g)
                    total_h += h
                    risk += w * value(y, f, a)
                else:
                    state.pull[at] = 0.0
                    state.curvature[at] = 0.0
        sums[0], sums[1], sums[2] = total_g, total_h, risk

    sweep.__module__ = value.__module__  # what is not ours is not kept on disk
    return sweep


class PairLoss(Loss):
    """A sum over pairs.

    Attributes
    ----------
    value, pull, curvature : callable
        Static methods ``(y, f, a)``, see above.
    """

    value: ClassVar[Callable]
    pull: ClassVar[Callable]
    curvature: ClassVar[Callable]
    has_curvature = True

    def __init_subclass__(cls, **options) -> None:
        super().__init_subclass__(**options)
        if all(hasattr(cls, name) for name in ("value", "pull", "curvature")):
            cls.sweep = staticmethod(_sweep(cls.value, cls.pull, cls.curvature, cls.of_numbers))

    def losses(self, scores: np.ndarray, target) -> np.ndarray:
        """Weighted loss of each pair, (n, K)."""
        y = target.wanted if self.of_numbers else np.where(target.signed > 0, 1.0, -1.0)
        with np.errstate(over="ignore"):  # far on the wrong side a loss may be infinite
            found = np.vectorize(self.value, otypes=[np.float64])(y, scores, self.levels(target))
        return np.where(target.signed != 0, np.abs(target.signed) * found, 0.0)

    def best_constant(self, target):
        """Where the slope of the risk along the score of a label is 0, by halving; at most `_HIGHEST` from 0."""
        if self.of_numbers:
            return self.initial_scores(target)
        positive, negative = np.maximum(target.signed, 0.0).sum(axis=0), np.maximum(-target.signed, 0.0).sum(axis=0)
        found = np.zeros(target.n_labels)
        for k, level in enumerate(self.levels(target)):
            low, high = -_HIGHEST, _HIGHEST
            for _ in range(_HALVINGS):
                found[k] = 0.5 * (low + high)
                up = positive[k] * self.pull(1.0, found[k], level) + negative[k] * self.pull(-1.0, found[k], level)
                low, high = (found[k], high) if up > 0 else (low, found[k])
        return found

    def risk(self, scores, target):
        return float(self.losses(scores, target).sum())

    def check_formulas(self) -> None:
        """Refuse formulas that do not fit together; those of other packages are checked before their first run.

        Raises
        ------
        ValueError
            It names the formula and the point.
        """
        if is_ours(self.value):
            return
        rng = np.random.default_rng(0)
        wanted = rng.normal(size=_POINTS) if self.of_numbers else rng.choice([-1.0, 1.0], _POINTS)
        for y, f in zip(wanted.tolist(), rng.uniform(-_FAR, _FAR, _POINTS).tolist(), strict=True):
            found = [float(formula(y, f, 0.5)) for formula in (self.value, self.pull, self.curvature)]
            for name, number in zip(("value", "pull", "curvature"), found, strict=True):
                if not np.isfinite(number):
                    raise ValueError(f"loss {self.name!r}: {name}({y:.4g}, {f:.4g}) is {number}; it must be finite")
            if found[2] < 0:
                raise ValueError(f"loss {self.name!r}: curvature({y:.4g}, {f:.4g}) is {found[2]:.4g}, below 0")
            slope = (self.value(y, f + _STEP, 0.5) - self.value(y, f - _STEP, 0.5)) / (2 * _STEP)
            if abs(slope + found[1]) > 1e-3 * (1 + abs(slope)):
                raise ValueError(
                    f"loss {self.name!r}: pull({y:.4g}, {f:.4g}) is {found[1]:.6g}, but minus the slope of value is "
                    f"{-slope:.6g} there"
                )


class RealLoss(PairLoss):
    """A loss of numbers."""

    of_numbers = True

    def check(self, y: np.ndarray) -> None:
        """Refuse targets that cannot be, (n, targets) with NaN where unknown."""

    def spread(self, y: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
        """Center and scale of a target: its median, and the mean distance from it."""
        center = quantile_of(y, weight, 0.5)
        return center, _positive(float(np.average(np.abs(y - center), weights=weight)))

    def initial_scores(self, target):
        """The best constant of every label."""
        return np.array([self._constant(target, k) for k in range(target.n_labels)])

    def _constant(self, target, k: int) -> float:
        known = target.signed[:, k] > 0
        y, w, a = target.wanted[known, k], target.signed[known, k], self.levels(target)[k]
        if y.size == 0:
            return 0.0
        return float(self.constant(y, w, a))

    def constant(self, y: np.ndarray, weight: np.ndarray, a: float) -> float:
        """The best constant of one label: between the least and the largest number, where the pull changes its sign."""
        pull = np.vectorize(self.pull, otypes=[np.float64])
        low, high = float(y.min()), float(y.max())
        if weight @ pull(y, low, a) <= 0 or weight @ pull(y, high, a) >= 0:
            return float(np.average(y, weights=weight))  # not there: boosting finds it
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if weight @ pull(y, middle, a) > 0 else (low, middle)
        return 0.5 * (low + high)

    def least(self, target) -> np.ndarray:
        """The least that the loss of each pair can be, (n, K)."""
        return np.zeros(target.signed.shape)


def _positive(scale: float) -> float:
    """A scale that one can divide by."""
    return scale if scale > 0 else 1.0


def quantile_of(values: np.ndarray, weights: np.ndarray, level: float) -> float:
    """The weighted quantile: the middle of all that have at most ``level`` of the weight below and 1 - level above."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order])
    part = level * below[-1]
    slack = 1e-9 * below[-1]
    low, high = np.searchsorted(below, [part - slack, part + slack])
    return 0.5 * float(values[order[low]] + values[order[min(high, values.size - 1)]])
