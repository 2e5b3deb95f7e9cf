"""Policy iteration: a policy is a classifier of states, trained on what actions turned out to be worth (B. Kegl, 2011).

Random states are drawn along the ways of the current policy, and each action is tried there.  The next policy is a
classifier with a label for each action, whose weights are by how much the action is better or worse than the mean of
all. Its thresholds divide the states into cells, in which it says the same everywhere: the table of a `Policy`,
exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..kernels.episodes import roll_out
from ..kernels.team import Team
from ..model.model import Model
from ..model.policy import Policy
from .mdp import Process, policy_of, whole

_ACTIONS = 3


class PolicyIteration:
    """Rounds of roll-outs and training; what callbacks see as a run.

    Parameters
    ----------
    process : Process
    train : callable
        From states (n, numbers and the position), labels (n, 3) of 0 and 1 and their weights (n, 3) to a `Model`.
    n_roll_outs, wanted : int
        In an iteration, and iterations.
    epsilon : float
        Share of random actions on the way to a state.
    seed : int
    """

    def __init__(self, process: Process, train: Callable[..., Model], *, n_roll_outs, wanted, epsilon, seed):
        self.process, self.train = process, train
        self.n_roll_outs, self.wanted, self.epsilon = n_roll_outs, wanted, epsilon
        self.state = "score" if process.model.ensemble.n_labels == 1 else "leaders"
        self.policy: Policy = whole(process, self.state, np.zeros(0))
        self.best, self.best_worth = self.policy, -np.inf
        self.random = np.array([seed], np.uint64)
        self.history: dict[str, list[float]] = {"objective": [], "best": []}
        self.stopped = ""

    @property
    def n_rounds(self) -> int:
        return len(self.history["objective"])

    def line(self) -> str:
        """One line about the newest iteration."""
        return (
            f"iteration {self.n_rounds} of {self.wanted}   objective {self.history['objective'][-1]:.4f}   "
            f"best {self.history['best'][-1]:.4f}"
        )

    def learned(self) -> dict[str, np.ndarray]:
        """All that a file must hold for iterations that go on."""
        return {
            "mddag.random": self.random,
            "mddag.progress": np.array([self.n_rounds, self.best_worth]),
            "mddag.history": np.array([self.history["objective"], self.history["best"]]),
            **{
                f"mddag.{name}_{array}": getattr(policy, array)
                for name, policy in (("policy", self.policy), ("best", self.best))
                for array in ("cuts", "actions")
            },
        }

    def go_on(self, learned: dict[str, np.ndarray]) -> None:
        """Take on what another one has learned.

        Parameters
        ----------
        learned : dict of ndarray
            See `learned`.
        """
        if learned.get("mddag.policy_actions", np.zeros(0)).shape[0] != self.process.n_rounds + 1:
            raise ValueError(
                "warm_start: there are no iterations of this kind to go on from; estimator and learner must stay as "
                "they were"
            )
        self.policy, self.best = (
            policy_of(self.state, learned[f"mddag.{name}_cuts"][0], learned[f"mddag.{name}_actions"][:-1], {})
            for name in ("policy", "best")
        )
        self.random, self.best_worth = learned["mddag.random"].copy(), float(learned["mddag.progress"][1])
        objective, best = learned["mddag.history"].tolist()
        self.history = {"objective": objective, "best": best}

    def run(self, team: Team, callbacks: Sequence[Any] = ()) -> Policy:
        """Iterate; the best policy."""
        begun = []
        if not self.n_rounds:
            self.best_worth = self.process.worth(self.policy, team)
        try:
            for callback in callbacks:
                callback.begin(self)
                begun.append(callback)
            while self.n_rounds < self.wanted:
                self.policy = self._next(self.policy, team)
                worth = self.process.worth(self.policy, team)
                if worth > self.best_worth:
                    self.best, self.best_worth = self.policy, worth
                self.history["objective"].append(worth)
                self.history["best"].append(self.best_worth)
                if any([callback.after_round(self) for callback in callbacks]):  # noqa: C419  each sees it
                    break
        finally:
            for callback in begun:
                callback.end(self)
        return self.best

    def _next(self, policy: Policy, team: Team) -> Policy:
        p, n = self.process, self.n_roll_outs
        walker = p.walker(policy)
        scores, positions = np.empty((n, p.model.ensemble.n_labels)), np.empty(n, np.intp)
        values = np.empty((n, _ACTIONS))
        roll_out(
            p.world, walker.sequence, walker.rules, p.compiled_reward, p.beta, self.epsilon, p.allowed, self.random,
            p.room(), scores, positions, values,
        )  # fmt: skip
        allowed = np.flatnonzero(p.allowed)
        best = values.max(axis=1, keepdims=True)
        weight = np.zeros_like(values)
        weight[:, allowed] = np.abs(values[:, allowed] - values[:, allowed].mean(axis=1, keepdims=True))
        decides = weight.sum(axis=1) > 0
        if not decides.any():
            return policy  # all actions are worth the same everywhere
        states = np.column_stack([_numbers(scores, self.state), positions])[decides]
        model = self.train(states, (values == best)[decides].astype(np.intp), weight[decides] / weight.sum())
        return tabulated(model, self.state, p.n_rounds, p.allowed, team)


def _numbers(scores: np.ndarray, state: str) -> np.ndarray:
    """The numbers of states, (n, 1) or (n, 2)."""
    return scores if state == "score" else np.sort(scores, axis=1)[:, :-3:-1]


def tabulated(model: Model, state: str, n_rounds: int, allowed: np.ndarray, team: Team) -> Policy:
    """What a classifier of states says, as a table: its thresholds are the cuts.

    Parameters
    ----------
    model : Model
        Of the numbers of a state and the position, with a label for each action.
    state : {"score", "leaders"}
    n_rounds : int
    allowed : ndarray of bool (3,)
    team : Team
    """
    e, n = model.ensemble, 1 if state == "score" else 2
    cuts = np.unique(e.threshold[e.feature < n])
    borders = np.unique(e.threshold[e.feature == n])  # between positions
    # One value for each cell: a cut itself belongs to the cell below it.
    values = np.append(cuts, cuts[-1] + 1.0) if cuts.size else np.zeros(1)
    piece = np.searchsorted(borders, np.arange(n_rounds), side="left")
    places = np.append(borders, borders[-1] + 1.0) if borders.size else np.zeros(1)
    grid = np.meshgrid(places, *[values] * n, indexing="ij")
    rows = np.column_stack([*(g.ravel() for g in grid[1:]), grid[0].ravel()])
    scores = model.scores(model.table(rows), team)
    scores[:, ~allowed] = -np.inf
    actions = scores.argmax(axis=1).reshape(len(places), -1)
    return policy_of(state, cuts, actions[piece], {})
