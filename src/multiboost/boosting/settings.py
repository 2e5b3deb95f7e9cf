"""From what the user said, or did not say, to the parts of the loop.

A user who sets nothing gets what a short comparison on held-out rows finds better:
exponential loss with real votes, which wins on clean tables, above all with many
classes, or logistic loss with smaller trees and steps, which wins on noisy ones.  With
multi-label targets the two were equally good wherever we looked; logistic loss is faster,
and nothing is compared.
``docs/defaults.md`` has the measurements.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.base import clone

from ..base import Tree
from ..base.criterion import Criterion, Edge, LogOdds, Newton
from ..data.dataset import Dataset
from ..data.table import SparseTable, Table
from ..data.target import Target
from ..kernels.dtypes import EDGE, lanes
from ..kernels.histogram import MOST
from ..kernels.team import Team
from ..losses import LOSSES, Loss
from .loop import Boosting
from .step import AlphaStep, RateStep

VOTES = ("real", "discrete")
LOSS_CHOICES = ("auto", *LOSSES)

RATES = {"exponential": 0.2, "logistic": 0.1}
_NOISY_LEAVES = 8  # of trees under the logistic loss, where the user does not say

_TRIAL_ROUNDS = 50
_TRIAL_ROWS = 5000  # that take part in the comparison
_FOLDS = 5  # all of them are held out in turn below _FEW rows, else only the first
_FEW = 1000


@dataclass
class Bins:
    """How columns are binned, see `data.binner.Binner`."""

    max_bins: int = 256
    min_category_rows: int = 1


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
    bins : Bins
        How columns are binned.
    seed : int
    """

    loss: Loss
    votes: str
    base_learner: object
    step: AlphaStep | RateStep
    ridge: float
    bins: Bins
    seed: int = 0

    def criterion(self, target: Target) -> Criterion:
        """The criterion for a training set of this size."""
        n_pairs = np.count_nonzero(target.signed)
        if self.votes == "discrete":
            return Edge()
        return Newton(self.ridge / n_pairs) if self.loss.has_curvature else LogOdds(1.0 / n_pairs)

    def dataset(self, table: Table, target: Target, team: Team) -> Dataset:
        """The table, binned for these settings."""
        criterion = self.criterion(target)
        half = lanes(target.kind.n_labels)
        dtype, _ = criterion.number(target.signed.size)
        exhaustive = criterion.code == EDGE
        # With more lanes a histogram is filled in several passes: what has to fit into the cache is the share of one.
        row_bytes = min(MOST, half if exhaustive else 2 * half) * np.dtype(dtype).itemsize
        return Dataset(
            table, self.bins.max_bins, target.row_weight, row_bytes, team.n_threads,
            coarse=not exhaustive, min_category_rows=self.bins.min_category_rows,
        )  # fmt: skip

    def boosting(
        self, table: Table, target: Target, team: Team, start=None, scores=None, history=None, watch=None
    ) -> Boosting:
        """A run with these settings, ready for its first round."""
        dataset = self.dataset(table, target, team)
        criterion = self.criterion(target)
        return Boosting(
            dataset, target, self.loss, criterion, self.base_learner, self.step, team,
            start=start, scores=scores, seed=self.seed, history=history, watch=watch,
        )  # fmt: skip


def default_leaves(n_rows: int, n_labels: int) -> int:
    """Leaves of a tree where the user does not say: twice the labels, 20 to 64.

    Small tables get smaller trees, 25 rows to a leaf.
    """
    return int(max(4, min(64, max(20, 2 * n_labels), n_rows // 25)))


def sized(learner, n_leaves: int):
    """The base learner with ``n_leaves`` in trees that leave their size open."""
    if isinstance(learner, Tree) and learner.n_leaves is None:
        return clone(learner).set_params(n_leaves=n_leaves)
    base = getattr(learner, "base", None)
    return learner if base is None else clone(learner).set_params(base=sized(base, n_leaves))


def choose_settings(
    table: Table, target: Target, learner, *, votes, loss, learning_rate, ridge, bins, seed, team, free: bool
) -> Settings:
    """Settings for a training set.

    Parameters
    ----------
    free : bool
        Whether the user has set nothing that the comparison could change.
    """
    large = sized(learner, default_leaves(table.n_rows, target.kind.n_labels))
    if votes == "discrete":
        return Settings(LOSSES["exponential"], votes, large, AlphaStep(learning_rate or 1.0), ridge, bins, seed)
    if loss == "auto" and not free:
        loss = "exponential"
    if loss == "auto" and target.kind.kind == "multilabel":
        loss = "logistic"
    rates = {name: RateStep(learning_rate or rate) for name, rate in RATES.items()}
    small = sized(learner, max(4, min(_NOISY_LEAVES, table.n_rows // 100)))
    options = {
        "exponential": Settings(LOSSES["exponential"], votes, large, rates["exponential"], ridge, bins, seed),
        "logistic": Settings(LOSSES["logistic"], votes, small, rates["logistic"], ridge, bins, seed),
    }
    if loss != "auto":
        return options[loss]
    return _better(list(options.values()), table, target, team)


def _better(options: list[Settings], table: Table, target: Target, team: Team) -> Settings:
    """The settings with the lowest held-out error after a few rounds; the first on a tie."""
    rows = np.random.default_rng(0).permutation(table.n_rows)[:_TRIAL_ROWS]
    sample, labels = table.take(rows), target.take(rows)
    if not isinstance(sample, SparseTable):
        sample = sample.encoded()
    fold = np.arange(rows.size) % _FOLDS
    errors = np.zeros(len(options))
    for held_out in range(_FOLDS if rows.size <= _FEW else 1):
        inside, outside = np.flatnonzero(fold != held_out), np.flatnonzero(fold == held_out)
        if not (np.any(labels.signed[inside]) and np.any(labels.signed[outside])):
            continue
        learned, tested = labels.take(inside), labels.take(outside)
        for k, settings in enumerate(options):
            boosting = settings.boosting(sample.take(inside), learned, team)
            boosting.run(_TRIAL_ROUNDS)
            errors[k] += tested.error(boosting.builder.build().scores(sample.take(outside), team))
    return options[int(errors.argmin())]
