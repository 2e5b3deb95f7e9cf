"""A share of the samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..kernels.draw import shuffle_down
from .sampler import ROW_SAMPLERS, RowSampler

_FEW = 8192  # rows that NumPy shuffles as fast


@ROW_SAMPLERS.register
@dataclass(frozen=True)
class Share(RowSampler):
    """A fresh share of the samples for every round, without replacement (Friedman 2002).

    Parameters
    ----------
    share : float
        Of the samples, in (0, 1].
    """

    share: float
    name = "share"

    def __post_init__(self):
        if not 0 < self.share <= 1:
            raise ValueError(f"Share(share={self.share!r}): a share is above 0 and at most 1")

    def rows(self, run):
        if self.share == 1:
            return None
        n = run.n_samples
        drawn = np.zeros(n, bool)
        drawn[first_of(n, max(1, round(self.share * n)), (run.seed, run.n_rounds))] = True
        return drawn


def first_of(n: int, count: int, seed: tuple[int, ...]) -> np.ndarray:
    """What ``np.random.default_rng(seed).permutation(n)[:count]`` holds, in any order.

    A permutation of many rows takes as long as the growth of a small tree.  After n - count of its swaps it is known
    what comes first.
    """
    rng = np.random.default_rng(seed)
    if n <= _FEW:
        return rng.permutation(n)[:count]
    order, last = np.arange(n, dtype=np.int32), n - 1
    while last >= count:
        words = rng.bit_generator.random_raw((last - count) // 2 + 8)  # two words of 32 bits each, the lower one first
        last = shuffle_down(words.astype("<u8", copy=False).view("<u4"), last, count, order)
    return order[:count]
