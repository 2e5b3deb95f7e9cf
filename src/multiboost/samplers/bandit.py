"""What samplers of columns that learn from rewards have in common."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from .sampler import NODES, ColumnSampler, check_per, is_number

_NONE = np.zeros(0)


def reward_of(gamma: float) -> float:
    """min(1, -ln sqrt(1 - gamma^2)) of an edge gamma in units of the total weight, 0 where it is not above 0.

    It is what the round takes from the logarithm of the bound of the training error (Busa-Fekete and Kegl 2010).
    """
    square = gamma * gamma if gamma > 0 else 0.0
    return 1.0 if square >= 1 else min(1.0, -0.5 * np.log1p(-square))


class Bandit(ColumnSampler):
    """A sampler whose arms are columns, or groups of neighbouring columns.

    A *play* pulls some arms, and cuts some of their columns.  With ``per="round"`` a round is one play: all nodes of a
    tree and all terms of a product choose among the same columns.  With ``per="node"`` every node and every term has a
    play of its own.  Those that are not cut do not count.

    The reward of the round goes to the arm with the most gain in one play.  Another arm gets as much of it as its gain
    is of that one's, so nothing where it was not cut.  With one pull a round that is the bandit of the papers.

    Attributes
    ----------
    pulls, group : int
        Arms of a play; columns of an arm.
    per : {"round", "node"}
    count : ndarray (arms,)
        Pulls of each arm so far; (0,) before the first round.
    total : ndarray (arms,)
        Their rewards.
    largest : float
        The largest reward so far.  Bounds of bandits are for rewards up to 1, those of boosting are often about 0.02.
    """

    pulls: int
    group: int
    per: str
    columns_of_history = ("reward", "best_arm", "best_utility")
    count: np.ndarray = _NONE
    total: np.ndarray = _NONE
    largest = 0.0

    def _check(self) -> None:
        """Refuse what cannot be; the pulls, which may come from text, become whole numbers."""
        for name in ("pulls", "group"):
            value = getattr(self, name)
            if not (is_number(value) and value >= 1 and float(value).is_integer()):
                raise ValueError(f"{type(self).__name__}({name}={value!r}): give a whole number of at least 1")
            object.__setattr__(self, name, int(value))
        check_per(self)

    @abstractmethod
    def _choose(self, run, n_plays: int) -> np.ndarray:
        """How often each arm is pulled in each of the next plays, (n_plays, arms)."""

    def _update(self, pulls: int, earned: np.ndarray) -> None:
        """Learn from a round.

        Parameters
        ----------
        pulls : int
            Of all its plays together.
        earned : ndarray (arms,)
            Rewards of all pulls of each arm.
        """

    @property
    def utility(self) -> np.ndarray:
        """Mean reward of each arm, (arms,), 0 where it was not pulled yet."""
        return np.divide(self.total, self.count, out=np.zeros(self.total.size), where=self.count > 0)

    def columns(self, run):
        n_arms = -(-run.n_columns // self.group)
        if self.pulls >= n_arms:
            return None
        if self.count.size == 0:
            self._begin(n_arms)
        self._pulled = self._choose(run, 1 if self.per == "round" else NODES)
        found = np.repeat(self._pulled > 0, self.group, axis=1)[:, : run.n_columns]
        return found[0] if self.per == "round" else found

    def _begin(self, n_arms: int) -> None:
        self.count, self.total = np.zeros(n_arms, np.int64), np.zeros(n_arms)

    def learn(self, run):
        self.reward = reward_of(run.gamma)
        if run.drawn_columns is None:  # the round was made again with all columns, or there are too few of them
            return
        n_arms = self.count.size
        play, column, gain = run.h.cuts()
        if self.per == "round":
            play = np.zeros_like(play)
        plays = np.unique(play) % len(self._pulled)
        known = column >= 0
        pair, which = np.unique(play[known] * n_arms + column[known] // self.group, return_inverse=True)
        gains = np.bincount(which, np.maximum(gain[known], 0.0), pair.size)  # of an arm in a play
        most = gains.max(initial=0.0)
        reward = gains * (self.reward / most if most > 0 else 0.0)
        row, arm = pair // n_arms % len(self._pulled), pair % n_arms
        earned = np.bincount(arm, self._pulled[row, arm] * reward, n_arms)
        self.count += np.bincount(plays, minlength=len(self._pulled)) @ self._pulled
        self.total += earned
        self.largest = max(self.largest, float(reward.max(initial=0.0)))
        self._update(plays.size * self.pulls, earned)

    def line(self):
        if self.count.size == 0:
            return [self.reward, np.nan, np.nan]
        best = int(self.utility.argmax())
        return [self.reward, float(best), float(self.utility[best])]

    def state(self):
        if self.count.size == 0:
            return {}
        return {"count": self.count, "total": self.total, "largest": np.array([self.largest])}

    def restore(self, state):
        self.count = state["count"].copy() if state else _NONE
        self.total = state["total"].copy() if state else _NONE
        self.largest = float(state["largest"][0]) if state else 0.0
