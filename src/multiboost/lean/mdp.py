"""MDDAG's Markov decision process (Kegl 2011, 3.6.1): states, costs and rewards, and what a policy is worth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..kernels.episodes import Room, World, returns
from ..kernels.team import Team
from ..kernels.walk import EVAL, QUIT
from ..model.model import Model
from ..model.policy import Policy
from ..model.walker import Walker
from .rewards import NORMALISED, reward_from

_LARGEST = 1 << 22  # values in a table of Q, for the state of all labels
_EVALUATED = 20_000  # rows on which policies are compared, at most


@dataclass
class Process:
    """A decision process on the base classifiers of a model.

    Attributes
    ----------
    model : Model
        Binary or multi-class; without a policy.
    X : ndarray (n, columns)
        Rows as the base classifiers see them.
    start : ndarray (n, K)
        Scores before the first base classifier.
    label : ndarray of int (n,)
        Numbers of the right classes.
    weight : ndarray (n,)
        Of the rewards: cost-sensitive classes.
    cost : ndarray (rounds,)
        Of base classifiers.
    feature_cost : ndarray (columns,) or (0,)
        Of columns, paid once, when first needed; replaces ``cost``.
    beta : float
        What a cost of 1 takes off the reward, (3.62).
    reward : str or callable
    actions : tuple of str
    """

    model: Model
    X: np.ndarray
    start: np.ndarray
    label: np.ndarray
    weight: np.ndarray
    cost: np.ndarray
    feature_cost: np.ndarray
    beta: float
    reward: object
    actions: tuple[str, ...] = ("EVAL", "SKIP", "QUIT")

    def __post_init__(self):
        self.compiled_reward = reward_from(self.reward)
        scale = float(self.model.sizes()[-1]) if self.reward in NORMALISED else 1.0
        more = (self.cost, self.feature_cost, scale, self.model.before is not None)
        self.world = World(self.X, self.start, self.label, self.weight, *more)
        self.allowed = np.array([name in self.actions for name in ("EVAL", "SKIP", "QUIT")])
        # Policies are compared on all rows, or on some of them that are spread evenly.
        rows = np.unique(np.linspace(0, len(self.X) - 1, min(len(self.X), _EVALUATED)).astype(np.intp))
        self._judged = World(self.X[rows], self.start[rows], self.label[rows], self.weight[rows], *more)
        self.rows = rows

    @property
    def n_rounds(self) -> int:
        return self.model.n_rounds

    def walker(self, policy: Policy) -> Walker:
        return Walker(self.model.ensemble, policy, self.model.kind.task_start)

    def worth(self, policy: Policy, team: Team) -> float:
        """The objective (3.63): the mean reward minus beta times the mean cost."""
        walker, n_labels = self.walker(policy), self.model.ensemble.n_labels
        found = np.empty(len(self._judged.X))
        # A line of the cache and more between the rooms of threads.
        apart = np.empty((2, team.n_threads, n_labels + 16))
        paid = np.zeros((team.n_threads, self.X.shape[1] + 8), np.uint64)
        team.run(
            returns, self._judged, walker.sequence, walker.rules, self.compiled_reward, self.beta, apart[0], apart[1],
            paid, found,
        )  # fmt: skip
        return float(found.mean())

    def room(self) -> Room:
        """Room for the episodes of one thread."""
        n_labels, n_rounds = self.model.ensemble.n_labels, self.n_rounds
        return Room(
            np.empty(n_labels), np.empty(n_labels), np.zeros(n_rounds, np.intp), np.zeros(n_rounds, np.intp),
            np.zeros(n_rounds), np.zeros(self.X.shape[1], np.uint64),
        )  # fmt: skip


def state_of(n_labels: int, n_rounds: int, n_cells: int) -> str:
    """What a state is made of: the score of a binary model, all scores, or those of the two best labels.

    Parameters
    ----------
    n_labels, n_rounds : int
    n_cells : int
        Of each number of the state.
    """
    if n_labels == 1:
        return "score"
    return "labels" if 3 * n_rounds * float(n_cells) ** n_labels <= _LARGEST else "leaders"


def n_numbers(state: str, n_labels: int) -> int:
    """How many numbers a state has."""
    return {"score": 1, "margin": 1, "leaders": 2, "labels": n_labels}[state]


def cuts_of(model: Model, n_cells: int) -> np.ndarray:
    """Cuts that divide all that scores can be, from minus to plus the sum of all votes, finer around 0.

    They are the squares of even steps: most rows leave while their scores are small.
    """
    even = np.linspace(-1.0, 1.0, n_cells + 1)[1:-1]
    return float(model.sizes()[-1]) * np.sign(even) * even**2


def policy_of(state: str, cuts: np.ndarray, actions: np.ndarray, about: dict) -> Policy:
    """A policy with the same cuts for all rounds.

    Parameters
    ----------
    state : str
    cuts : ndarray (n_cuts,)
    actions : ndarray (rounds, cells)
    about : dict
    """
    last = np.full((1, actions.shape[1]), QUIT)
    table = np.concatenate([actions, last]).astype(np.uint8)
    return Policy(state, cuts[None].astype(np.float64), table, np.zeros(len(actions), bool), about)


def whole(process: Process, state: str, cuts: np.ndarray) -> Policy:
    """The policy that evaluates all base classifiers."""
    cells = (len(cuts) + 1) ** n_numbers(state, process.model.ensemble.n_labels)
    return policy_of(state, cuts, np.full((process.n_rounds, cells), EVAL), {})
