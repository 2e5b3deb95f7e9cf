"""Learning a policy from episodes: SARSA(lambda) or Q(lambda) on a table of values.

States are cells of the scores, divided by the sum of all votes, before each base classifier (the thesis leaves the
value function open; the authors' programs use such a table).  Every ``block`` episodes the policy is judged on the
training set, and the best one is kept; the first one, which evaluates everything, takes part.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any

import numpy as np

from ..kernels.episodes import learn
from ..kernels.team import Team
from ..model.policy import STATES, Policy
from .mdp import Process, cuts_of, n_numbers, policy_of, state_of, whole


class Learning:
    """Episodes on a decision process, block by block; what callbacks see as a run.

    Parameters
    ----------
    process : Process
    off_policy : bool
        Watkins' Q(lambda) instead of SARSA(lambda).
    n_episodes, block : int
        How many, and how many between two judgements.
    trace, rate, epsilon : float
        lambda; the learning rate; the share of random actions in the first block, which is divided by the number of the
        block: epsilon / ceil(tau / block), tau being the episodes so far.
    n_cells : int
        Of each number of a state.
    initial_value : float
        Of all Q.
    seed : int

    Attributes
    ----------
    q : ndarray (rounds, cells, 3)
    history : dict of list
        After each block: ``objective``, (3.63), and ``best``, the largest so far.
    """

    def __init__(
        self, process: Process, *, off_policy, n_episodes, block, trace, rate, epsilon, n_cells, initial_value, seed
    ):
        self.process, self.off_policy = process, off_policy
        self.block, self.trace, self.rate, self.epsilon = block, trace, rate, epsilon
        self.n_episodes = n_episodes
        ensemble = process.model.ensemble
        self.state = state_of(ensemble.n_labels, process.n_rounds, n_cells)
        self.cuts = cuts_of(process.model, n_cells)
        cells = n_cells ** n_numbers(self.state, ensemble.n_labels)
        self.q = np.full((process.n_rounds, cells, 3), float(initial_value))
        self.random = np.array([seed], np.uint64)
        self.n_done = 0
        self.best: Policy = whole(process, self.state, self.cuts)
        self.best_worth = -np.inf
        self.history: dict[str, list[float]] = {"objective": [], "best": []}
        self.stopped = ""

    @property
    def n_rounds(self) -> int:
        """Blocks so far."""
        return len(self.history["objective"])

    @property
    def wanted(self) -> int:
        return ceil(self.n_episodes / self.block)

    def line(self) -> str:
        """One line about the newest block."""
        return (
            f"episode {self.n_done} of {self.n_episodes}   objective {self.history['objective'][-1]:.4f}   "
            f"best {self.history['best'][-1]:.4f}"
        )

    def policy(self) -> Policy:
        """What Q says now; of actions that are worth the same the first."""
        values = np.where(self.process.allowed, self.q, -np.inf)
        return policy_of(self.state, self.cuts, values.argmax(axis=2), {})

    def run(self, team: Team, callbacks: Sequence[Any] = ()) -> Policy:
        """Learn; the best policy."""
        begun = []
        if self.n_done == 0:
            self.best_worth = self.process.worth(self.best, team)
        try:
            for callback in callbacks:
                callback.begin(self)
                begun.append(callback)
            while self.n_done < self.n_episodes:
                self._learn(min(self.block - self.n_done % self.block, self.n_episodes - self.n_done))
                self._judge(team)
                if any([callback.after_round(self) for callback in callbacks]):  # noqa: C419  each sees it
                    break
        finally:
            for callback in begun:
                callback.end(self)
        return self.best

    def _learn(self, n_episodes: int) -> None:
        p = self.process
        walker = p.walker(self.best)
        learn(
            n_episodes, p.world, walker.sequence, STATES.index(self.state), self.cuts, walker.task_start,
            p.compiled_reward, p.beta, self.epsilon / ceil((self.n_done + 1) / self.block), self.trace, self.rate,
            self.off_policy, p.allowed, self.q, self.random, p.room(),
        )  # fmt: skip
        self.n_done += n_episodes

    def _judge(self, team: Team) -> None:
        policy = self.policy()
        worth = self.process.worth(policy, team)
        if worth > self.best_worth:
            self.best, self.best_worth = policy, worth
        self.history["objective"].append(worth)
        self.history["best"].append(self.best_worth)

    # For a training that goes on.

    def learned(self) -> dict[str, np.ndarray]:
        """All that a file must hold for that."""
        return {
            "mddag.q": self.q,
            "mddag.random": self.random,
            "mddag.best": self.best.actions,
            "mddag.progress": np.array([self.n_done, self.best_worth]),
            "mddag.history": np.array([self.history["objective"], self.history["best"]]),
        }

    def go_on(self, learned: dict[str, np.ndarray]) -> None:
        """Take on what another one has learned."""
        q = learned.get("mddag.q", np.zeros(0))
        if q.shape != self.q.shape:
            raise ValueError(
                "warm_start: there is no table of this size to go on from; estimator, n_cells and learner must stay as "
                "they were"
            )
        self.q, self.random = q.copy(), learned["mddag.random"].copy()
        self.best = policy_of(self.state, self.cuts, learned["mddag.best"][:-1], {})
        self.n_done, self.best_worth = int(learned["mddag.progress"][0]), float(learned["mddag.progress"][1])
        objective, best = learned["mddag.history"].tolist()
        self.history = {"objective": objective, "best": best}
