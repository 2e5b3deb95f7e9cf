"""BanditBoost with upper confidence bounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .bandit import Bandit
from .sampler import COLUMN_SAMPLERS


@COLUMN_SAMPLERS.register
@dataclass(eq=False)
class UCB(Bandit):
    """UCB1 on columns (Auer et al. 2002; Busa-Fekete and Kegl 2009): the arms with the largest values are pulled.

    value_j = mean reward of j + exploration b sqrt(2 ln t / T_j), where j was pulled T_j times, all arms t times, and b
    is the largest reward so far.  Every arm is pulled once first, in random order.

    Parameters
    ----------
    pulls : int, default=10
        Arms of a round, all different.
    group : int, default=1
        So many neighbouring columns are one arm.
    exploration : float, default=0.05
        1 is UCB1.  Its bound is for rewards of any law.  Those of useless columns are nearly all 0, and with 1 a
        thousand arms are still all alike after thousands of pulls.
    """

    pulls: int = 10
    group: int = 1
    exploration: float = 0.05
    name = "ucb"

    def __post_init__(self):
        self._check()
        if not self.exploration >= 0:
            raise ValueError(f"UCB(exploration={self.exploration!r}): it is at least 0")

    def values(self) -> np.ndarray:
        """The value of every arm, inf before its first pull."""
        t = max(1.0, self.count.sum())
        width = np.divide(2 * np.log(t), self.count, out=np.full(self.count.size, np.inf), where=self.count > 0)
        found = self.utility
        known = self.count > 0
        found[known] += self.exploration * self.largest * np.sqrt(width[known])
        found[~known] = np.inf
        return found

    def _choose(self, run):
        order = np.random.default_rng((run.seed, 1)).permutation(self.count.size)  # of equal values
        best = order[np.argsort(-self.values()[order], kind="stable")[: self.pulls]]
        pulled = np.zeros(self.count.size, np.int64)
        pulled[best] = 1
        return pulled
