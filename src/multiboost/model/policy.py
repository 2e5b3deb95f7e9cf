"""How much of a model a row needs: a table of actions, kept in the model and in its file.

Every lean classifier is a `Policy` on the base classifiers of a model: early exit (leave where the margin is large),
cascades (leave where the score is low) and MDDAG (skip what does not help, leave where more does not pay).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..kernels.walk import ACCEPT, EVAL, QUIT, REJECT, SKIP, Rules

ACTIONS = {"EVAL": EVAL, "SKIP": SKIP, "QUIT": QUIT, "REJECT": REJECT, "ACCEPT": ACCEPT}
# What a state is made of, in the order of the kernel's numbers.
STATES = ("score", "margin", "leaders", "labels")


@dataclass
class Policy:
    """What to do before each base classifier, and after the last one.

    Attributes
    ----------
    state : {"score", "margin", "leaders", "labels"}
        What is looked at: the score of a binary model; by how much the answer wins; the scores of the two best labels;
        the scores of all labels.
    cuts : ndarray (1 or rounds + 1, n_cuts)
        They divide each number of the state into cells: a value above c of the cuts is in cell c.  One row serves all
        rounds.
    actions : ndarray of uint8 (rounds + 1, cells)
        EVAL, SKIP, QUIT, or QUIT with a verdict: REJECT and ACCEPT.  Cells of several numbers are counted with the last
        number first.
    restart : ndarray of bool (rounds,)
        Base classifiers before which scores begin anew, as the stages of a Viola-Jones cascade do.
    about : dict
        How it was found, as JSON can hold it.
    """

    state: str
    cuts: np.ndarray
    actions: np.ndarray
    restart: np.ndarray
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def n_rounds(self) -> int:
        return len(self.restart)

    @cached_property
    def looks(self) -> np.ndarray:
        """Before which base classifiers there is something to decide, (rounds + 1,)."""
        return (self.actions != EVAL).any(axis=1)

    @cached_property
    def exits(self) -> np.ndarray | None:
        """Rounds after which rows may leave, where leaving is all that they may do, and by one cut of the margin."""
        if self.state != "margin" or self.cuts.shape[1] != 1 or self.restart.any() or self.looks[0]:
            return None
        leave = np.tile(np.array([EVAL, QUIT], np.uint8), (self.n_rounds, 1))
        leave[~self.looks[:-1]] = EVAL
        return np.flatnonzero(self.looks[:-1]) if np.array_equal(self.actions[:-1], leave) else None

    def rules(self, task_start: np.ndarray, shift: float) -> Rules:
        """The policy as kernels have it.

        Parameters
        ----------
        task_start : ndarray
            Where the labels of each task begin.
        shift : float
            What a verdict adds to the score: more than scores can differ.
        """
        return Rules(
            STATES.index(self.state),
            self.cuts,
            self.actions,
            self.looks,
            np.append(self.restart, False),
            task_start,
            shift,
        )

    def digest(self) -> str:
        """A short name: the same for the same bits."""
        found = hashlib.blake2b(self.state.encode(), digest_size=8)
        for array in self.arrays().values():
            found.update(f"{array.shape}{array.dtype.str}".encode() + np.ascontiguousarray(array).tobytes())
        return found.hexdigest()

    def arrays(self) -> dict[str, np.ndarray]:
        """All arrays by name, for files."""
        return {"cuts": self.cuts, "actions": self.actions, "restart": self.restart}

    def is_sound(self, n_rounds: int, n_labels: int) -> bool:
        """Whether it is a policy for so many base classifiers, and leads no kernel out of bounds."""
        numbers = {"score": 1, "margin": 1, "leaders": 2, "labels": n_labels}
        if self.state not in numbers or (self.state == "score" and n_labels != 1) or not isinstance(self.about, dict):
            return False
        if (self.cuts.dtype, self.actions.dtype, self.restart.dtype) != (np.float64, np.uint8, np.bool_):
            return False
        if (self.cuts.ndim, self.actions.ndim, self.restart.shape) != (2, 2, (n_rounds,)):
            return False
        return bool(
            len(self.cuts) in (1, n_rounds + 1)
            and self.actions.shape == (n_rounds + 1, (self.cuts.shape[1] + 1) ** numbers[self.state])
            and not np.isnan(self.cuts).any()
            and (self.cuts[:, 1:] >= self.cuts[:, :-1]).all()
            and (self.actions <= ACCEPT).all()
            and (self.actions[-1] >= QUIT).all()
            and not (self.state != "score" and (self.actions > QUIT).any())
        )


def exit_policy(n_rounds: int, margins: dict[int, float], about: dict[str, Any]) -> Policy:
    """Leave after some rounds where the margin is large enough.

    Parameters
    ----------
    n_rounds : int
    margins : dict
        By the number of rounds after which a row may leave, below ``n_rounds``: the margin that it must exceed.
    about : dict
    """
    cuts = np.full((n_rounds + 1, 1), np.inf)
    actions = np.full((n_rounds + 1, 2), EVAL, np.uint8)
    for t, margin in margins.items():
        cuts[t], actions[t, 1] = margin, QUIT
    actions[-1] = QUIT
    return Policy("margin", cuts, actions, np.zeros(n_rounds, bool), about)


def cascade_policy(reject: np.ndarray, accept: np.ndarray | None, restart: np.ndarray | None, about) -> Policy:
    """Reject scores below a threshold, and perhaps accept scores above another one.

    Parameters
    ----------
    reject : ndarray (rounds,)
        After each round: what is below is rejected; -infinity rejects nothing.  What is not below the last one, if that
        is a number, is accepted.
    accept : ndarray (rounds,) or None
        What is above is accepted.
    restart : ndarray of bool (rounds,) or None
    about : dict
    """
    n_rounds = len(reject)
    low = np.nextafter(reject, -np.inf)  # a score at the threshold is not below it
    high = np.full(n_rounds, np.inf) if accept is None else accept
    cuts = np.full((n_rounds + 1, 2), np.inf)
    cuts[0] = -np.inf, np.inf
    cuts[1:] = np.sort(np.stack([low, high], axis=1), axis=1)
    actions = np.full((n_rounds + 1, 3), EVAL, np.uint8)
    actions[1:, 0][reject > -np.inf] = REJECT
    actions[1:, 2][high < np.inf] = ACCEPT
    actions[-1, 1] = QUIT if reject[-1] == -np.inf else ACCEPT
    actions[-1][actions[-1] == EVAL] = QUIT
    return Policy("score", cuts, actions, np.zeros(n_rounds, bool) if restart is None else restart, about)
