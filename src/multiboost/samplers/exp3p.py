"""BanditBoost against an adversary."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .bandit import Bandit
from .sampler import COLUMN_SAMPLERS


@COLUMN_SAMPLERS.register
@dataclass(eq=False)
class EXP3P(Bandit):
    """EXP3.P on columns (Auer et al. 2002; Busa-Fekete and Kegl 2010): rewards may change in any way.

    Arm j has the weight w_j and is drawn with p_j = (1 - gamma) w_j / sum w + gamma / M, with M arms.  After a pull
    every arm's weight is multiplied by exp(eta / (3 M) (r_j / p_j + confidence / (p_j sqrt(M horizon)))), where r_j = 0
    for arms that were not pulled.  The pulls of a round are so many of these steps, all with the p of its beginning.
    Where weights begin leaves no trace in p: it is the same factor for all arms.

    Parameters
    ----------
    pulls : int, default=10
        Draws of a play, with replacement.
    group : int, default=1
        So many neighbouring columns are one arm.
    per : {"round", "node"}, default="round"
        Whether all nodes and terms of a round cut the same columns, or each draws its own.
    gamma : float, default=0.1
        Share of the draws at random, in (0, 1].
    eta : float, default=10
        The rate.
    confidence : float, default=0.15
        lambda of the papers.
    horizon : int, default=10000
        Pulls that are expected in all.
    unit : float, default=0
        In what rewards are counted; 0 is the largest one so far.
    """

    pulls: int = 10
    group: int = 1
    gamma: float = 0.1
    eta: float = 10.0
    confidence: float = 0.15
    horizon: int = 10000
    unit: float = 0.0
    per: str = "round"
    name = "exp3p"

    def __post_init__(self):
        self._check()
        if not 0 < self.gamma <= 1:
            raise ValueError(f"EXP3P(gamma={self.gamma!r}): it is above 0 and at most 1")
        for name in ("eta", "confidence", "horizon", "unit"):
            if not (name == "horizon") <= getattr(self, name) < np.inf:
                least = "1" if name == "horizon" else "0"
                raise ValueError(f"EXP3P({name}={getattr(self, name)!r}): give a finite number of at least {least}")

    def chances(self) -> np.ndarray:
        """p of every arm."""
        weight = np.exp(self._log_weight - self._log_weight.max())
        return (1 - self.gamma) * weight / weight.sum() + self.gamma / weight.size

    def _begin(self, n_arms):
        super()._begin(n_arms)
        self._log_weight = np.zeros(n_arms)

    def _choose(self, run, n_plays):
        rng = np.random.default_rng((run.seed, 1, run.n_rounds))
        so_far = np.cumsum(self.chances())
        drawn = np.searchsorted(so_far, rng.random((n_plays, self.pulls)) * so_far[-1], side="right")
        drawn = np.minimum(drawn, so_far.size - 1)
        return np.stack([np.bincount(play, minlength=so_far.size) for play in drawn])

    def _update(self, pulls, earned):
        unit = self.unit or self.largest or 1.0
        p, n_arms = self.chances(), self._log_weight.size
        bonus = pulls * self.confidence / (p * np.sqrt(n_arms * self.horizon))
        self._log_weight += self.eta / (3 * n_arms) * (earned / (unit * p) + bonus)

    def state(self):
        return {} if self.count.size == 0 else {**super().state(), "log_weight": self._log_weight}

    def restore(self, state):
        super().restore(state)
        self._log_weight = state["log_weight"].copy() if state else np.zeros(0)
