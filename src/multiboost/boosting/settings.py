"""From what the user said, or did not say, to the parts of the loop.

Where the user leaves the loss to us, a short comparison decides: exponential loss with
real votes wins on clean tables, above all with many classes, logistic loss with small
steps on noisy ones.  ``docs/defaults.md`` has the measurements.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base.criterion import Criterion, Edge, LogOdds, Newton
from ..data.dataset import Dataset
from ..data.table import Table
from ..data.target import Target
from ..kernels.dtypes import EDGE, lanes
from ..kernels.team import Team
from ..losses import LOSSES, Loss
from .step import AlphaStep, RateStep

VOTES = ("real", "discrete")
LOSS_CHOICES = ("auto", *LOSSES)


@dataclass
class Settings:
    """The parts of the loop.

    Attributes
    ----------
    loss : Loss
    votes : str
    base_learner : Stump, Tree or Product
    step : AlphaStep or RateStep
    ridge : float
        In units of the mean weight of a pair.
    """

    loss: Loss
    votes: str
    base_learner: object
    step: AlphaStep | RateStep
    ridge: float

    def criterion(self, target: Target) -> Criterion:
        """The criterion for a training set of this size."""
        n_pairs = np.count_nonzero(target.signed)
        if self.votes == "discrete":
            return Edge()
        return Newton(self.ridge / n_pairs) if self.loss.has_curvature else LogOdds(1.0 / n_pairs)

    def dataset(self, table: Table, target: Target, max_bins: int, team: Team) -> Dataset:
        """The table, binned for these settings."""
        criterion = self.criterion(target)
        half = lanes(target.kind.n_labels)
        dtype, _ = criterion.number(target.signed.size)
        exhaustive = criterion.code == EDGE
        row_bytes = (half if exhaustive else 2 * half) * np.dtype(dtype).itemsize
        return Dataset(table, max_bins, target.row_weight, row_bytes, team.n_threads, coarse=not exhaustive)


def choose_settings(
    table: Table, target: Target, learner, *, votes, loss, learning_rate, ridge, max_bins, team
) -> Settings:
    """Settings for a training set."""
    if votes == "discrete":
        return Settings(LOSSES["exponential"], votes, learner, AlphaStep(learning_rate or 1.0), ridge)
    if loss == "auto":
        loss = "exponential"
    rate = learning_rate or {"exponential": 0.2, "logistic": 0.1}[loss]
    return Settings(LOSSES[loss], votes, learner, RateStep(rate), ridge)
