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
    is the largest reward so far.  Every arm is pulled once first, in random order.  Where every node has a play of its
    own they choose one after the other: an arm that waits for its reward counts as pulled, with its mean reward.

    Parameters
    ----------
    pulls : int, default=10
        Arms of a play, all different.
    group : int, default=1
        So many neighbouring columns are one arm.
    exploration : float, default=0.05
        1 is UCB1.  Its bound is for rewards of any law.  Those of useless columns are nearly all 0, and with 1 a
        thousand arms are still all alike after thousands of pulls.
    per : {"round", "node"}, default="round"
        Whether all nodes and terms of a round cut the same columns, or each chooses its own.
    """

    pulls: int = 10
    group: int = 1
    exploration: float = 0.05
    per: str = "round"
    name = "ucb"

    def __post_init__(self):
        self._check()
        if not 0 <= self.exploration < np.inf:
            raise ValueError(f"UCB(exploration={self.exploration!r}): give a finite number of at least 0")

    def values(self, waiting: np.ndarray | int = 0) -> np.ndarray:
        """The value of every arm, inf before its first pull; ``waiting``: pulls whose rewards are not known yet."""
        count = self.count + waiting
        t, known = max(1.0, count.sum()), count > 0
        width = np.divide(2 * np.log(t), count, out=np.full(count.size, np.inf), where=known)
        found = self.utility
        found[known] += self.exploration * self.largest * np.sqrt(width[known])
        found[~known] = np.inf
        return found

    def _choose(self, run, n_plays):
        order = np.random.default_rng((run.seed, 1)).permutation(self.count.size)  # of equal values
        pulled = np.zeros((n_plays, self.count.size), np.int64)
        waiting = np.zeros(self.count.size, np.int64)
        for play in pulled:
            best = order[np.argsort(-self.values(waiting)[order], kind="stable")[: self.pulls]]
            play[best] = 1
            waiting += play
        return pulled
