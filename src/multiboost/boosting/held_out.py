"""Held-out rows: their error and risk after every round."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..data.table import Table
from ..data.target import Target
from ..kernels.team import Team
from ..losses import Loss
from ..model.ensemble import Ensemble
from .out_of_fold import Part, refined
from .ruler import Ruler


class HeldOut:
    """Scores of a validation set, kept up to date.

    Parameters
    ----------
    table : Table
    target : Target
    loss : Loss
    """

    def __init__(self, table: Table, target: Target, loss: Loss):
        self.table, self.target, self.loss = table, target, loss
        self.rows = table.finite_rows(0, table.n_rows)
        self.scores = np.zeros(target.signed.shape)

    def begin(self, start: Ensemble, team: Team) -> None:
        """Scores of the ensemble with which the run starts."""
        self.scores = start.scores(self.table, team, start=self.target.start)

    def add(self, ensemble: Ensemble, team: Team) -> None:
        """Add an ensemble of one round."""
        rows = self.rows
        if ensemble.phi:
            rows = ensemble.rows(self.table, 0, self.table.n_rows)
        ensemble.add_scores(rows, self.scores, 0, ensemble.n_rounds, team)

    @property
    def error(self) -> float:
        return float(self.target.errors(self.scores).sum())

    @property
    def refinement(self) -> float:
        """The mean log-loss after the best factor of the scores."""
        ruler = Ruler.of(self.target, self.scores, 1.0)  # its unit is only where the search begins
        return float(refined([Part(self.target, self.scores, ruler)]).mean())

    @property
    def risk(self) -> float:
        return self.loss.signed_risk(self.scores, self.target)


class HeldOutVotes(HeldOut):
    """The same where rounds are awarded: F is the sum of alpha times +1 where a round is right, else -1.

    Parameters
    ----------
    like : HeldOut
        With a target that has ``numbers``.
    is_right : callable
        ``(said, wanted)``, both (n, 1), to bool.
    """

    def __init__(self, like: HeldOut, is_right: Callable[[np.ndarray, np.ndarray], np.ndarray]):
        super().__init__(like.table, like.target, like.loss)
        self.is_right = is_right

    def begin(self, start, team):
        self.scores = np.zeros(self.target.signed.shape)
        self.add(start, team)

    def add(self, ensemble, team):
        for t, alpha in enumerate(ensemble.size):
            said = np.zeros(self.scores.shape)
            ensemble.add_scores(self.rows, said, t, t + 1, team)
            assert self.target.numbers is not None
            self.scores += alpha * np.where(self.is_right(said, self.target.numbers), 1.0, -1.0)
