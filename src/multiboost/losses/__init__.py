"""Losses: scores and what is wanted -> the pull G and the weight H of every pair of sample and label.

A loss is one file, here or outside of the package::

    def sweep(state, first, last, shift, sums):
        ...  # numba compiles it

    @register
    class Squared(Loss):
        name, sweep = "squared", staticmethod(sweep)

A loss with parameters is a dataclass.  A loss that is the sum of a function of each pair is a `pair.PairLoss`: three
formulas, and no sweep.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from ..kernels.update import State
from ..plugin import Plugin
from ..registry import Registry


class Loss(Plugin, ABC):
    r"""Common to all losses.

    Attributes
    ----------
    name : str
    sweep : callable
        ``sweep(state, first, last, shift, sums)``, a plain function that numba compiles and that must not raise.  For
        rows ``first`` to ``last`` of the flat ``State`` (label k of row i is at i * state.n_labels + k) it writes G to
        ``state.pull``, H to ``state.curvature`` where the loss has it, and the sums of |G|, H and the loss to
        ``sums``.  Groups of ``state.group_start`` are never parted.
    has_curvature : bool
        Whether H is more than |G|.
    shifted : bool
        Whether the loss is exp(-F Y), for which G and the loss are computed times exp(-shift), where ``shift`` is the
        largest -F Y: they do not overflow.
    normalised : bool
        Whether the weights |G| of a round are divided by their sum.
    largest_curvature : float or None
        The most that the second derivative of a pair of weight 1 can be, in the units of G; None where it has no bound,
        or where labels of a sample depend on each other.
    slope : float
        Of the log odds of a label along its score, by theory.
    of_numbers : bool
        Whether it is a loss of numbers, else of labels.
    of_queries : bool
        Whether it is a loss of rankings: of the documents of a query.
    is_log : bool
        Whether scores are logarithms of the numbers that are predicted.
    """

    sweep: ClassVar[Callable]
    has_curvature = False
    shifted = False
    normalised = False
    largest_curvature: float | None = None
    slope = 2.0
    of_numbers = False
    of_queries = False
    is_log = False

    def initial_scores(self, target) -> np.ndarray:
        """F before the first round, (K,)."""
        return np.zeros(target.signed.shape[1])

    def best_constant(self, target) -> np.ndarray:
        """The scores with the least risk that are the same for all samples, (K,).

        Where a loss begins somewhere else than at 0, that is where it begins.
        """
        if type(self).initial_scores is Loss.initial_scores:
            raise ValueError(f"loss {self.name!r} does not say what its best constant is; give init as numbers")
        return self.initial_scores(target)

    @abstractmethod
    def risk(self, scores: np.ndarray, target) -> float:
        """Weighted loss of scores F, (n, K)."""

    def signed_risk(self, scores: np.ndarray, target) -> float:
        """The same where samples may have negative weights, whose loss is subtracted."""
        if target.sense is None:
            return self.risk(scores, target)
        parts = [(sign, np.flatnonzero(target.sense == sign)) for sign in (1.0, -1.0)]
        return sum(sign * self.risk(scores[rows], target.part(rows)) for sign, rows in parts if rows.size)

    def levels(self, target) -> np.ndarray:
        """Numbers that ``sweep`` finds in ``state.level``: (K,), one for each label, if the loss says nothing else."""
        return np.zeros(target.n_labels)

    def refit(self, leaf: np.ndarray, n_leaves: int, state: State, drawn: np.ndarray | None) -> np.ndarray | None:
        """Values of leaves from the rows in them, (leaves, K): medians, quantiles; None: those of the criterion.

        Parameters
        ----------
        leaf : ndarray (n,)
            Of every row.
        n_leaves : int
        state : State
            With (n, K) matrices.
        drawn : ndarray (n,) of bool or None
            The samples of the round; None: all.
        """
        return None


LOSSES: Registry[type[Loss]] = Registry("loss")
register = LOSSES.register


from . import absolute, exponential, hinge, huber, lambdarank, logistic, poisson, quantile, softmax, squared  # noqa: E402, F401
