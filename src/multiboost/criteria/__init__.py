"""Criteria: how good a partition is, and the votes of its leaves, from sums of G and H.

A criterion is one file, here or outside of the package: two small functions of the sums of one label, which numba
compiles into the search, and a class with the votes of leaves, in double precision::

    def cut(left_a, left_b, right_a, right_b, ridge): ...
    def slope(left_a, left_b, right_a, right_b, ridge): ...

    @register
    class Gain(Criterion):
        name, layout, cut, slope = "gain", PULL_AND_CURVATURE, staticmethod(cut), staticmethod(slope)

What a and b are is said by the layout: ``PULL``: G and nothing; ``PULL_AND_CURVATURE``: G and H; ``WEIGHTS``: W- and
W+, the weights of negative and positive labels.  They are in the integers of the payload, and so is ``ridge``: a score
must be convex in the sums, and may have any unit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from ..kernels.compiler import is_ours
from ..kernels.criteria import PULL, PULL_AND_CURVATURE, WEIGHTS, Formula, declare
from ..kernels.dtypes import COARSE, COARSE_BITS, FINE, FINE_BITS
from ..registry import Registry

__all__ = ["CRITERIA", "PULL", "PULL_AND_CURVATURE", "WEIGHTS", "Criterion", "register"]

_LARGEST_COARSE = 2**26  # pairs; beyond, rounding to COARSE would cost too much


class Criterion(ABC):
    """Common to all criteria; arrays of sums have the shape (leaves, K).

    Parameters
    ----------
    ridge : float
        In units of H, or of |G| where the layout has no H; what it means is for the criterion to say.

    Attributes
    ----------
    name : str
    layout : PULL, PULL_AND_CURVATURE or WEIGHTS
    cut : callable
        ``cut(left_a, left_b, right_a, right_b, ridge)``: score of a cut for one label; more is better.  Scores of
        labels are added.  It must not raise; a cut may have nothing on one side.
    slope : callable
        The same arguments: slopes of the score along left_a and left_b where the two sides have a constant sum; for
        subsets of categories, see ``kernels.subset``.
    factorised : bool
        Whether h = v phi(x), with one vote vector for both sides of a cut (Kegl 2011, eq. 3.26).  Then stumps are cut
        even where a constant is better, and leaves vote as the cut above them.
    fine : bool
        Whether sums always have 64 bits: ties stay ties.
    bounded : bool
        Whether cuts may be searched by bounds of the edge, see ``kernels.edge``.
    searched_as : str
        The criterion whose kernels find the cuts; its own unless it says otherwise.
    abstains : bool
        Whether labels may abstain, see `voters`.
    """

    name: str
    layout: int
    cut: ClassVar[Callable]
    slope: ClassVar[Callable]
    factorised = False
    fine = False
    bounded = False
    searched_as: str
    abstains = False

    def __init__(self, ridge: float = 0.0):
        self.ridge = ridge

    @classmethod
    def of_run(cls, ridge: float, n_pairs: float) -> Criterion:
        """The criterion for a training set of so many pairs; ``ridge`` is in units of their mean weight."""
        return cls(ridge / n_pairs)

    @property
    def is_ours(self) -> bool:
        """Whether it is of this package, so that its kernels may be kept on disk."""
        return is_ours(self.cut)

    def number(self, n_pairs: int):
        """Dtype and bits of the fixed-point payload."""
        return (FINE, FINE_BITS) if self.fine or n_pairs > _LARGEST_COARSE else (COARSE, COARSE_BITS)

    @abstractmethod
    def votes(self, sum_g: np.ndarray, sum_h: np.ndarray) -> np.ndarray:
        """The value of each leaf for each label, before the step scales it."""

    def votes_of_cut(self, sum_g: np.ndarray, sum_h: np.ndarray) -> np.ndarray:
        """Votes of the two sides of one cut, left and right: (2, K)."""
        if not self.factorised:
            return self.votes(sum_g, sum_h)
        v = np.where(sum_g[1] > sum_g[0], 1.0, -1.0)
        return np.stack([-v, v])

    @abstractmethod
    def score(self, sum_g: np.ndarray, sum_h: np.ndarray, votes: np.ndarray) -> float:
        """How good the partition is; more is better."""

    def score_of_cut(self, sum_g: np.ndarray, sum_h: np.ndarray) -> float:
        """The same of the two sides of one cut."""
        return self.score(sum_g, sum_h, self.votes_of_cut(sum_g, sum_h))

    def voters(self, right: np.ndarray, wrong: np.ndarray) -> np.ndarray:
        """Which labels vote, a mask (K,), given the weights of what a base classifier has right and wrong of each."""
        return np.ones(right.size, bool)

    def z(self, sum_g: np.ndarray, sum_h: np.ndarray, h: np.ndarray) -> float:
        """Z of the leaf values h under exponential loss (3.15)."""
        positive, negative = 0.5 * (sum_h + sum_g), 0.5 * (sum_h - sum_g)
        return float((positive * np.exp(-h) + negative * np.exp(h)).sum())


CRITERIA: Registry[type[Criterion]] = Registry("criterion")


def register(criterion: type[Criterion]) -> type[Criterion]:
    """A decorator: a class becomes known by its name, to the kernels, too."""
    if criterion.factorised and criterion.layout != PULL:
        raise ValueError(f"criterion {criterion.name!r}: what votes v phi(x) has the layout PULL")
    if criterion.name in CRITERIA and CRITERIA.get(criterion.name) is not criterion:
        # Kernels that were compiled with the other one would be used again.
        raise ValueError(f"there is a criterion {criterion.name!r} already; choose another name")
    if "searched_as" not in vars(criterion):
        criterion.searched_as = criterion.name
    CRITERIA.register(criterion)
    declare(criterion.name, Formula(criterion.layout, criterion.factorised, criterion.cut, criterion.slope))
    return criterion


from . import edge, log_odds, newton, ternary  # noqa: E402, F401
