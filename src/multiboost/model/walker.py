"""A policy at work: scores of rows that leave when they may."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..data.table import Table
from ..kernels.dtypes import apart
from ..kernels.team import Team
from ..kernels.walk import QUIT, Sequence, walk
from .ensemble import Ensemble
from .exits import Exits
from .policy import Policy

_ROWS_AT_ONCE = 1 << 16
_WORTH_A_TEAM = 2_000  # rows below which one thread is faster


@dataclass
class Walked:
    """What became of some rows.

    Attributes
    ----------
    scores : ndarray (n, K)
        As the policy left them.
    n_evaluated : ndarray of int (n,)
        Base classifiers that were evaluated.
    paths : ndarray of uint8 (n, rounds + 1)
        The actions, up to the last one; QUIT from there on.  Without rows unless asked for.
    """

    scores: np.ndarray
    n_evaluated: np.ndarray
    paths: np.ndarray


class Walker:
    """An ensemble that is used as a policy says.

    Where rows may only leave, many of them go through the base classifiers together (`Exits`).  Else each row goes its
    own way.  Both ways give the same bits.

    Parameters
    ----------
    ensemble : Ensemble
    policy : Policy
    task_start : ndarray
        Where the labels of each task begin.
    """

    def __init__(self, ensemble: Ensemble, policy: Policy, task_start: np.ndarray):
        self.ensemble, self.policy = ensemble, policy
        self.task_start = np.asarray(task_start, np.intp)
        # No sum of votes is larger, so that a verdict decides, whatever the score.
        shift = 2.0 * float(np.abs(ensemble.initial).sum() + ensemble.size.sum()) + 1.0
        self.rules = policy.rules(self.task_start, shift)
        self.sequence = Sequence(**{name: getattr(ensemble, name) for name in Sequence._fields})

    @cached_property
    def exits(self) -> Exits | None:
        """The ensemble as it is fastest where rows may only leave; None where they go their own ways."""
        return None if self.policy.exits is None else Exits.of(self.ensemble, self.policy)

    def walked(self, table: Table, team: Team, start: np.ndarray | None = None, *, paths: bool = True) -> Walked:
        """Scores, numbers of evaluations and, if asked for, paths.

        Parameters
        ----------
        table : Table
        team : Team
        start : ndarray (n, K), default=None
            Scores of the model before this one.
        paths : bool, default=True
        """
        n = table.n_rows
        found = Walked(
            self.ensemble.start(n, start),
            np.zeros(n, np.intp),
            np.full((n, len(self.rules.looks) if paths else 0), QUIT, np.uint8),
        )
        for first in range(0, n, _ROWS_AT_ONCE):
            part = slice(first, min(first + _ROWS_AT_ONCE, n))
            rows = self.ensemble.rows(table, part.start, part.stop)
            if paths or self.exits is None:
                self._walk(rows, found.scores[part], found.n_evaluated[part], found.paths[part], team)
            else:
                self.exits.leave(rows, self.task_start, found.scores[part], found.n_evaluated[part], team)
        return found

    def _walk(self, rows, scores, evaluated, paths, team: Team) -> None:
        products = np.empty((team.n_threads, apart(self.ensemble.n_labels, scores.dtype)))
        team.run(
            walk, rows, self.sequence, self.rules, products, scores, evaluated, paths, alone=len(rows) < _WORTH_A_TEAM
        )
