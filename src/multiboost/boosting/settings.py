"""From what the user said, or did not say, to the parts of the loop.

A user who sets nothing gets what a short comparison on held-out rows finds better:
exponential loss with real votes, which wins on clean tables, above all with many
classes, or logistic loss with smaller trees and steps, which wins on noisy ones.  With
multi-label targets the two were equally good wherever we looked; logistic loss is faster,
and they are not compared.  Other small tables are sampled afresh for every round.  Large tables may
be worth larger trees: these are tried on ever larger samples.
``docs/defaults.md`` has the measurements.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import clone

from ..base import Tree
from ..base.criterion import Criterion, Edge, LogOdds, Newton
from ..data.dataset import Dataset
from ..data.table import Table
from ..data.target import Target
from ..kernels.dtypes import EDGE, lanes
from ..kernels.histogram import MOST
from ..kernels.team import Team
from ..losses import LOSSES, Loss
from .loop import Boosting
from .sampler import RowSampler
from .sharpness import SHARPNESS
from .step import AlphaStep, RateStep
from .trial import Trial

VOTES = ("real", "discrete")
LOSS_CHOICES = ("auto", *LOSSES)

RATES = {"exponential": 0.2, "logistic": 0.1}
_NOISY_LEAVES = 8  # of trees under the logistic loss, where the user does not say

_TRIAL_ROWS = 5000  # that take part in the comparison of losses
_FEW_SHARE = 0.8  # of a table of fewer rows, that each round sees
_MORE_ROWS = 4  # the next sample on which larger trees are tried, in units of the last
_MOST_ROWS = 320_000  # of such a sample
_MORE_LEAVES = 3  # of a larger tree, which takes about twice the time
_WORTH = 0.02  # the share of the error that it must save
_LEAF_ROWS = 25  # rows to a leaf, at least


@dataclass
class Bins:
    """How columns are binned, see `data.binner.Binner`."""

    max_bins: int = 256
    min_category_rows: int = 1


@dataclass(eq=False)
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
    subsample : float
        Share of the samples that each round sees.
    sharpness : float
        Of probabilities, see ``sharpness``.
    """

    loss: Loss
    votes: str
    base_learner: object
    step: AlphaStep | RateStep
    ridge: float
    bins: Bins
    seed: int = 0
    subsample: float = 1.0
    sharpness: float = SHARPNESS

    def criterion(self, target: Target) -> Criterion:
        """The criterion for a training set of this size."""
        n_pairs = np.count_nonzero(target.signed)
        if self.votes == "discrete":
            return Edge()
        return Newton(self.ridge / n_pairs) if self.loss.has_curvature else LogOdds(1.0 / n_pairs)

    def dataset(self, table: Table, target: Target, team: Team, n_rounds: int = 0) -> Dataset:
        """The table, binned for these settings and about so many rounds."""
        criterion = self.criterion(target)
        half = lanes(target.kind.n_labels)
        dtype, _ = criterion.number(target.signed.size)
        exhaustive = criterion.code == EDGE
        # With more lanes a histogram is filled in several passes: what has to fit into the cache is the share of one.
        row_bytes = min(MOST, half if exhaustive else 2 * half) * np.dtype(dtype).itemsize
        return Dataset(
            table, self.bins.max_bins, target.row_weight, row_bytes, team.n_threads,
            coarse=not exhaustive, min_category_rows=self.bins.min_category_rows, n_rounds=n_rounds,
        )  # fmt: skip

    def boosting(
        self, table: Table, target: Target, team: Team, start=None, scores=None, history=None, watch=None, n_rounds=0
    ) -> Boosting:
        """A run of about ``n_rounds`` with these settings, ready for its first round."""
        dataset = self.dataset(table, target, team, n_rounds)
        criterion = self.criterion(target)
        return Boosting(
            dataset, target, self.loss, criterion, self.base_learner, self.step, team,
            sampler=RowSampler(self.subsample, self.seed), start=start, scores=scores, seed=self.seed, history=history,
            watch=watch,
        )  # fmt: skip


def default_leaves(n_rows: int, n_labels: int) -> int:
    """Leaves of a tree where the user does not say: twice the labels, 20 to 64.

    Small tables get smaller trees.
    """
    return int(max(4, min(64, max(20, 2 * n_labels), n_rows // _LEAF_ROWS)))


def sized(learner, n_leaves: int):
    """The base learner with ``n_leaves`` in trees that leave their size open."""
    if isinstance(learner, Tree) and learner.n_leaves is None:
        return clone(learner).set_params(n_leaves=n_leaves)
    base = getattr(learner, "base", None)
    return learner if base is None else clone(learner).set_params(base=sized(base, n_leaves))


def choose_settings(
    table: Table, target: Target, learner, *, votes, loss, learning_rate, subsample, ridge, bins, seed, team, free: bool
) -> Settings:
    """Settings for a training set.

    Parameters
    ----------
    free : bool
        Whether the user has set nothing that the comparison could change.
    """
    large = sized(learner, default_leaves(table.n_rows, target.kind.n_labels))
    if subsample is None:
        few = loss == "auto" and free and table.n_rows < _TRIAL_ROWS and target.kind.kind != "multilabel"
        subsample = _FEW_SHARE if few else 1.0
    rest = (ridge, bins, seed, subsample)
    if votes == "discrete":
        return Settings(LOSSES["exponential"], votes, large, AlphaStep(learning_rate or 1.0), *rest)
    if loss == "auto" and not free:
        loss = "exponential"
    rates = {name: RateStep(learning_rate or rate) for name, rate in RATES.items()}
    small = sized(learner, max(4, min(_NOISY_LEAVES, table.n_rows // 100)))
    options = {
        "exponential": Settings(LOSSES["exponential"], votes, large, rates["exponential"], *rest),
        "logistic": Settings(LOSSES["logistic"], votes, small, rates["logistic"], *rest),
    }
    if loss != "auto":
        return options[loss]
    trial = Trial(table, target, _TRIAL_ROWS, team)
    if target.kind.kind == "multilabel":
        return _grown(options["logistic"], table, target, trial)
    trial.begin(*options.values())
    return _grown(min(options.values(), key=lambda option: trial.losses(option).sum()), table, target, trial)


def _grown(settings: Settings, table: Table, target: Target, trial: Trial) -> Settings:
    """The settings with trees as large as the table is worth, and the sharpness of probabilities.

    A larger tree has to win by more than the standard error of the difference, and by
    enough to be worth its time.
    """
    tree = settings.base_learner
    assert isinstance(tree, Tree)  # what the user leaves open is the size of trees
    n_rows = _TRIAL_ROWS
    last = trial
    while n_rows <= min(table.n_rows, _MOST_ROWS):
        trial = trial if n_rows == _TRIAL_ROWS else Trial(table, target, n_rows, trial.team)
        while (n_leaves := _MORE_LEAVES * tree.n_leaves) * _LEAF_ROWS <= n_rows:
            larger_tree = clone(tree).set_params(n_leaves=n_leaves)
            larger = replace(settings, base_learner=larger_tree)
            now, last = trial.losses(settings), trial
            gain = now - trial.losses(larger)
            if gain.sum() <= max(np.sqrt(gain @ gain), _WORTH * now.sum()):
                break
            settings, tree = larger, larger_tree
        n_rows *= _MORE_ROWS
    return replace(settings, sharpness=last.sharpness(settings))
