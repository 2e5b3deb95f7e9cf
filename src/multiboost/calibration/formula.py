"""What a calibrator has learned as a formula, for whoever writes it in another language."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class Formula:
    """Probabilities of k answers from their scores s: one factor, then one of five forms.

    =====================  =============================================================================================
    form                   p
    =====================  =============================================================================================
    plain                  softmax(z), where z = factor s
    ``weights``, ``bias``  softmax(x + W x + b), where x = max(log softmax(z), least)
    ``bend``               two answers, l = z_1 - z_0: softmax of (-m / 2, m / 2), where i is l within low and high, and
                           m = l + a + b l + c (i i + 2 i (l - i))
    ``logistic``           in the ratio of 1 / (1 + exp(-(a x + b))), with an a and a b for each answer
    ``curves``             in the ratio of the heights at x of broken lines, one for each answer; equal where all are 0
    =====================  =============================================================================================

    x is z, or, where each answer stands ``against`` the rest, of two answers (z_0 - z_1, z_1 - z_0).  All questions of
    a model have the same form.

    Attributes
    ----------
    factor : float
    weights : ndarray (k, k) or (k,), or None
        W, or its diagonal.
    bias : ndarray (k,) or None
    least : float
    bend : ndarray (5,) or None
        low, high, a, b, c.
    logistic : ndarray (2, k) or None
        Every a, and every b.
    curves : tuple of ndarray (2, knots), or None
        Where the knots of each answer's line are, and their heights.  Beyond the ends a line goes on level.
    against : bool
    """

    factor: float = 1.0
    weights: np.ndarray | None = None
    bias: np.ndarray | None = None
    least: float = -np.inf
    bend: np.ndarray | None = None
    logistic: np.ndarray | None = None
    curves: tuple[np.ndarray, ...] | None = None
    against: bool = False

    def times(self, slope: float) -> Formula:
        """The same of scores that have yet to be multiplied."""
        return replace(self, factor=slope * self.factor)
