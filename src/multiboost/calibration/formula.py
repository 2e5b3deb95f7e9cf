"""What a calibrator has learned as a formula, for whoever writes it in another language."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class Formula:
    """Probabilities of k answers from their scores s: one factor, then one of three forms.

    =====================  =============================================================================================
    form                   p
    =====================  =============================================================================================
    plain                  softmax(z), where z = factor s
    ``weights``, ``bias``  softmax(x + W x + b), where x = max(log softmax(z), least)
    ``bend``               two answers, l = z_1 - z_0: softmax of (-m / 2, m / 2), where i is l within low and high, and
                           m = l + a + b l + c (i i + 2 i (l - i))
    =====================  =============================================================================================

    All questions of a model have the same form.

    Attributes
    ----------
    factor : float
    weights : ndarray (k, k) or (k,), or None
        W, or its diagonal.
    bias : ndarray (k,) or None
    least : float
    bend : ndarray (5,) or None
        low, high, a, b, c.
    """

    factor: float = 1.0
    weights: np.ndarray | None = None
    bias: np.ndarray | None = None
    least: float = -np.inf
    bend: np.ndarray | None = None

    def times(self, slope: float) -> Formula:
        """The same of scores that have yet to be multiplied."""
        return replace(self, factor=slope * self.factor)
