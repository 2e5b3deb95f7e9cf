"""The pinball loss: quantiles."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

import numpy as np

from ..kernels.residuals import leaf_quantiles
from . import register
from .pair import RealLoss, quantile_of


@register
@dataclass(frozen=True)
class Quantile(RealLoss):
    """a (y - f) above the quantile, (1 - a) (f - y) below it, for one a or several (Koenker and Bassett 1978).

    A leaf's value is the quantile of its residuals.

    Parameters
    ----------
    quantile : float, or list of float
        In (0, 1).  Several are learned side by side in the same trees, and answered in order.
    """

    quantile: float | tuple[float, ...] = 0.5
    name = "quantile"

    def __post_init__(self):
        given = self.quantile if isinstance(self.quantile, (list, tuple, np.ndarray)) else [self.quantile]
        if len(given) == 0:
            raise ValueError("quantile must be a number in (0, 1) or a list of them; got an empty list")
        for level in given:
            if not isinstance(level, Real) or isinstance(level, bool) or not 0 < level < 1:
                raise ValueError(f"quantile must be a number in (0, 1) or a list of them; got {level!r}")
        if len(set(given)) < len(given):
            raise ValueError(f"quantile names a level twice: {list(given)}")
        if not isinstance(self.quantile, Real):  # hashable, in order, and the same after a file
            object.__setattr__(self, "quantile", tuple(sorted(float(level) for level in given)))

    @property
    def quantiles(self) -> tuple[float, ...]:
        """All of them, from small to large."""
        return self.quantile if isinstance(self.quantile, tuple) else (float(self.quantile),)

    @staticmethod
    def value(y, f, a):
        return a * (y - f) if y > f else (1.0 - a) * (f - y)

    @staticmethod
    def pull(y, f, a):
        return a if y > f else (a - 1.0 if y < f else 0.0)

    @staticmethod
    def curvature(y, f, a):
        return 1.0

    def levels(self, target):
        return np.tile(self.quantiles, target.n_labels // len(self.quantiles))

    def losses(self, scores, target):
        rest, a = target.wanted - scores, self.levels(target)
        return target.signed * np.maximum(a * rest, (a - 1.0) * rest)

    def constant(self, y, weight, a):
        return quantile_of(y, weight, a)

    def refit(self, leaf, n_leaves, state, drawn):
        return leaf_quantiles(leaf, n_leaves, state, state.level, drawn)
