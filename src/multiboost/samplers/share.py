"""A share of the samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .sampler import ROW_SAMPLERS, RowSampler


@ROW_SAMPLERS.register
@dataclass(frozen=True)
class Share(RowSampler):
    """A fresh share of the samples for every round, without replacement (Friedman 2002).

    Parameters
    ----------
    share : float
        Of the samples, in (0, 1).
    """

    share: float
    name = "share"

    def rows(self, run):
        n = run.n_samples
        drawn = np.zeros(n, bool)
        order = np.random.default_rng((run.seed, run.n_rounds)).permutation(n)
        drawn[order[: max(1, round(self.share * n))]] = True
        return drawn
