"""The samples that have most of the weight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .sampler import ROW_SAMPLERS, RowSampler


@ROW_SAMPLERS.register
@dataclass(frozen=True)
class Trimming(RowSampler):
    """Weight trimming (Friedman, Hastie and Tibshirani 2000): a round sees the heaviest samples only.

    They are as few as have the share ``kept`` of the sum of |G| together.  What is left out is learned well already,
    and comes back when its weight grows.

    Parameters
    ----------
    kept : float, default=0.9
        Of the weight, in (0, 1].
    """

    kept: float = 0.9
    name = "trimming"

    def __post_init__(self):
        if not 0 < self.kept <= 1:
            raise ValueError(f"Trimming(kept={self.kept!r}): a share is above 0 and at most 1")

    def rows(self, run):
        if self.kept == 1:
            return None
        weight = run.weight_of_rows
        heaviest = np.sort(weight)[::-1]
        sums = np.cumsum(heaviest)
        count = 1 + int(np.searchsorted(sums, self.kept * sums[-1]))
        lightest = heaviest[min(count, heaviest.size) - 1]
        drawn = weight > lightest
        alike = np.flatnonzero(weight == lightest)  # the first ones of equal weight
        drawn[alike[: count - np.count_nonzero(drawn)]] = True
        return drawn
