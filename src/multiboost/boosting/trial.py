"""Plans tried on a part of the training set, before the user's training."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data.binned import Binned
from ..data.table import SparseTable, Table
from ..data.target import Target
from ..kernels.team import Team
from ..losses.pair import quantile_of
from .comparison import current
from .plan import SHARPNESS, Plan
from .run import Run
from .sharpness import best_sharpness, median_margin

_ROUNDS = 50
_FOLDS = 5  # all of them are held out in turn up to _FEW rows, else only the first
_FEW = 1000


@dataclass
class _Fold:
    """A fold that is held out, raw, and the bins of the others."""

    binned: Binned
    labels: Target
    held_out: Table
    held_out_labels: Target

    def scores(self, run: Run, team: Team) -> np.ndarray:
        """Scores of the rows that are held out."""
        return run.ensemble().scores(self.held_out, team, start=self.held_out_labels.start)


class Trial:
    """Comparisons on a sample of the training set, always the same rows: a few rounds, and the rows held out.

    Parameters
    ----------
    binned : Binned
        Of the whole training set: all trials have its bins.
    target : Target
    n_rows : int
        At most, of the sample.
    team : Team
    n_folds : int or None
        Folds that are held out in turn; None: all five of a small table, else one.
    """

    def __init__(self, binned: Binned, target: Target, n_rows: int, team: Team, n_folds: int | None = None):
        self._comparison = current()
        self._comparison.starts()
        rows = np.random.default_rng(0).permutation(binned.n_rows)[:n_rows]
        self.team, self.n_rows = team, binned.n_rows
        labels = target.take(rows)
        fold = np.arange(rows.size) % _FOLDS
        if n_folds is None:
            n_folds = _FOLDS if rows.size <= _FEW else 1
        n_folds = min(n_folds, rows.size)
        apart = np.flatnonzero(fold < n_folds)  # rows that are held out once; the table is asked for them once, too
        table = binned.table.take(rows[apart])
        table = table if isinstance(table, SparseTable) else table.encoded()
        self.folds = []
        for k in range(n_folds):
            inside, outside = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
            held_out = table.take(np.flatnonzero(fold[apart] == k))
            one = _Fold(binned.take(rows[inside]), labels.take(inside), held_out, labels.take(outside))
            self.folds.append(one)
        self._begun: dict[str, list[Run]] = {}  # by the digests of plans
        self._held_out: dict[str, list[tuple[float, Target, np.ndarray]]] = {}

    def begin(self, *plans: Plan) -> None:
        """Make the runs ready for their first round.

        With all of them before the first is run, the first fit of all compiles what it can
        while another process compiles the rest, see ``kernels.warm``.
        """
        for plan in plans:
            key = plan.digest()
            if key in self._begun:
                continue
            self._comparison.check()
            self._begun[key] = [Run(plan, fold.binned, fold.labels, self.team) for fold in self.folds]
            for fold, run in zip(self.folds, self._begun[key], strict=True):
                fold.scores(run, self.team)  # of no round yet, for the same reason

    def errors(self, plan: Plan) -> np.ndarray:
        """Weighted errors of the rows that are held out."""
        key = plan.digest()
        if key not in self._held_out:
            if key not in self._begun:
                self.begin(plan)
            runs = self._begun[key]
            self._held_out[key] = [self._run(run, fold) for run, fold in zip(runs, self.folds, strict=True)]
        return np.concatenate([target.errors(scores) for _, target, scores in self._held_out[key]])

    def gets_better(self, plan: Plan, share: float) -> bool:
        """Whether as many rounds again save more than a share of the error that the first ones leave."""
        first, second = float(self.errors(plan).sum()), 0.0
        for run, fold in zip(self._begun[plan.digest()], self.folds, strict=True):
            run.run(_ROUNDS, [self._comparison])
            second += float(fold.held_out_labels.errors(fold.scores(run, self.team)).sum())
        return second < (1.0 - share) * first

    def offsets(self, plan: Plan, n_rounds: int) -> tuple[float, ...]:
        """What to add to each quantile so that it is one of other rows, too.

        Quantiles of the rows that are held out, but for one thing: the more rows a model has, the less its training
        rows differ from others, about as the root of their number.
        """
        residuals, weights = [], []
        fewer = (self.folds[0].binned.n_rows / self.n_rows) ** 0.5
        for fold in self.folds:
            run = Run(plan, fold.binned, fold.labels, self.team)
            run.run(n_rounds, [self._comparison])
            residuals.append(fold.held_out_labels.wanted - fold.scores(run, self.team))
            weights.append(fold.held_out_labels.signed)
        rest, weight = np.concatenate(residuals), np.concatenate(weights)
        found = []
        for k, level in enumerate(plan.loss.levels(self.folds[0].labels)):
            known = weight[:, k] > 0
            found.append(float(fewer * quantile_of(rest[known, k], weight[known, k], level)))
        return tuple(found)

    def sharpness(self, plan: Plan) -> float:
        """The best one for the rows that were held out; the usual one where the plan was not run."""
        key = plan.digest()
        return best_sharpness(self._held_out[key]) if key in self._held_out else SHARPNESS

    def _run(self, run: Run, fold: _Fold) -> tuple[float, Target, np.ndarray]:
        """Median margin of the rows inside, labels and scores of those held out."""
        run.run(_ROUNDS, [self._comparison])
        return median_margin(fold.labels, run.scores), fold.held_out_labels, fold.scores(run, self.team)
