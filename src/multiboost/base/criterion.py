"""Criteria: the score of a partition and the votes of its leaves, from sums of G and H.

The kernels search with the same formulas in fixed point (``kernels.criteria``); here they
are in double precision, for the votes and for comparing whole base classifiers.
All arrays have shape (leaves, K).
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from ..kernels.dtypes import COARSE, COARSE_BITS, EDGE, FINE, FINE_BITS, NEWTON, Z

_LARGEST_COARSE = 2**26  # pairs; beyond, rounding to COARSE would cost too much


class Criterion(ABC):
    """Common to all criteria.

    Attributes
    ----------
    code : int
        What the kernels call it.
    name : str
    """

    code: int
    name: str
    ridge = 0.0

    def number(self, n_pairs: int):
        """Dtype and bits of the fixed-point payload."""
        return (COARSE, COARSE_BITS) if n_pairs <= _LARGEST_COARSE else (FINE, FINE_BITS)

    @abstractmethod
    def votes(self, sum_g: np.ndarray, sum_h: np.ndarray) -> np.ndarray:
        """The value of each leaf for each label, before the step scales it."""

    @abstractmethod
    def score(self, sum_g: np.ndarray, sum_h: np.ndarray, votes: np.ndarray) -> float:
        """How good the partition is; more is better."""

    def energy(self, sum_g: np.ndarray, sum_h: np.ndarray, h: np.ndarray) -> float:
        """Z of the leaf values h under exponential loss (3.15)."""
        positive, negative = 0.5 * (sum_h + sum_g), 0.5 * (sum_h - sum_g)
        return float((positive * np.exp(-h) + negative * np.exp(h)).sum())


class Edge(Criterion):
    """Discrete votes: +1 or -1, and the multi-class edge (Kegl 2011, eq. 3.33)."""

    code, name = EDGE, "edge"

    def number(self, n_pairs):
        return FINE, FINE_BITS

    def votes(self, sum_g, sum_h):
        return np.where(sum_g > 0, 1.0, -1.0)

    def score(self, sum_g, sum_h, votes):
        return float((votes * sum_g).sum())

    def energy(self, sum_g, sum_h, h):
        """All leaves have the values +alpha and -alpha, and all weights sum to 1: eq. (3.31)."""
        alpha = float(np.abs(h).max())
        return float(np.cosh(alpha) - np.sinh(alpha) * (np.sign(h) * sum_g).sum())


class LogOdds(Criterion):
    """Real votes: 1/2 ln(W+ / W-) per leaf and label, and Z (Schapire and Singer 1999).

    Parameters
    ----------
    smoothing : float
        Added to both weights, about the weight of one pair, so that a pure leaf's vote
        is finite.
    """

    code, name = Z, "z"

    def __init__(self, smoothing: float):
        self.smoothing = self.ridge = smoothing

    def votes(self, sum_g, sum_h):
        s = self.smoothing
        positive, negative = np.maximum(sum_h + sum_g, 0.0), np.maximum(sum_h - sum_g, 0.0)
        return 0.5 * np.log((positive + s) / (negative + s))

    def score(self, sum_g, sum_h, votes):
        return -float(np.sqrt(np.maximum(sum_h**2 - sum_g**2, 0.0)).sum())


class Newton(Criterion):
    """One Newton step per leaf and label: G / (H + ridge) (Friedman 2001).

    Parameters
    ----------
    ridge : float
        In the units of H.
    """

    code, name = NEWTON, "newton"

    def __init__(self, ridge: float):
        self.ridge = ridge

    def votes(self, sum_g, sum_h):
        return sum_g / (sum_h + self.ridge)

    def score(self, sum_g, sum_h, votes):
        return float((sum_g**2 / (sum_h + self.ridge)).sum())
