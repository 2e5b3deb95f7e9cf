"""Plans tried on a part of the training set, before the user's training."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data.binned import Binned
from ..data.table import SparseTable, Table
from ..data.target import Target
from ..kernels.team import Team
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
        return run.ensemble().scores(self.held_out, team)


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
    """

    def __init__(self, binned: Binned, target: Target, n_rows: int, team: Team):
        rows = np.random.default_rng(0).permutation(binned.n_rows)[:n_rows]
        self.team = team
        labels = target.take(rows)
        fold = np.arange(rows.size) % _FOLDS
        n_folds = min(_FOLDS, rows.size) if rows.size <= _FEW else 1
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
            if key in self._held_out:
                continue
            self._begun[key] = [Run(plan, fold.binned, fold.labels, self.team) for fold in self.folds]
            for fold, run in zip(self.folds, self._begun[key], strict=True):
                fold.scores(run, self.team)  # of no round yet, for the same reason

    def errors(self, plan: Plan) -> np.ndarray:
        """Weighted errors of the rows that are held out."""
        key = plan.digest()
        if key not in self._held_out:
            if key not in self._begun:
                self.begin(plan)
            runs = self._begun.pop(key)
            self._held_out[key] = [self._run(run, fold) for run, fold in zip(runs, self.folds, strict=True)]
        return np.concatenate([target.errors(scores) for _, target, scores in self._held_out[key]])

    def sharpness(self, plan: Plan) -> float:
        """The best one for the rows that were held out; the usual one where the plan was not run."""
        key = plan.digest()
        return best_sharpness(self._held_out[key]) if key in self._held_out else SHARPNESS

    def _run(self, run: Run, fold: _Fold) -> tuple[float, Target, np.ndarray]:
        """Median margin of the rows inside, labels and scores of those held out."""
        run.run(_ROUNDS)
        return median_margin(fold.labels, run.scores), fold.held_out_labels, fold.scores(run, self.team)
