"""Which samples a round sees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base.problem import Problem
from ..kernels.dtypes import ROW


@dataclass
class RowSampler:
    """A fresh share of the samples for every round, without replacement (Friedman 2002).

    The base classifier is learned on these; F, the weights, the edge and the training error are those of all.

    Parameters
    ----------
    share : float
        Of the samples; 1 takes all.
    seed : int
    """

    share: float = 1.0
    seed: int = 0

    def sample(self, problem: Problem, t: int) -> Problem:
        """The problem of round ``t``, whatever was drawn before: a run that goes on draws the same."""
        if self.share >= 1.0:
            return problem
        n = problem.n_rows
        taken = np.zeros(n, bool)
        n_taken = max(1, round(self.share * n))
        taken[np.random.default_rng((self.seed, t)).permutation(n)[:n_taken]] = True
        return problem.on_rows(np.flatnonzero(taken).astype(ROW), np.flatnonzero(~taken).astype(ROW))
