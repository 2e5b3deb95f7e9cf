"""Plans tried on a part of the training set, before the user's training."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..data.binned import Binned
from ..data.table import SparseTable, Table
from ..data.target import Target
from ..kernels.team import Team
from ..losses.pair import quantile_of
from .comparison import TimeIsUp, current
from .out_of_fold import Part, refined
from .plan import Plan
from .ruler import Ruler
from .run import Run

_ROUNDS = 50
_FOLDS = 5  # all of them are held out in turn up to _FEW rows, else only the first
_FEW = 1000
_ENOUGH = 4000  # rows that are held out are enough for a calibration
_DEAR, _ENOUGH_DEAR = 1 << 17, 2000  # columns times labels from which rounds are dear, and so many rows have to do


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

    def part(self, run: Run, team: Team) -> Part:
        """The same beside their labels."""
        ruler = Ruler.of(self.labels, run.scores, float(run.ensemble().size.sum()))
        return Part(self.held_out_labels, self.scores(run, team), ruler)


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
        Folds that are held out in turn; None: all of a small table, else one.
    of : int
        Folds that there are.
    n_rounds : int
        Of a comparison.

    Attributes
    ----------
    is_dear : bool
        Whether rounds take so long, for all the columns and labels, that only what a choice needs most is tried.
    """

    def __init__(
        self,
        binned: Binned,
        target: Target,
        n_rows: int,
        team: Team,
        n_folds: int | None = None,
        of: int = _FOLDS,
        n_rounds: int = _ROUNDS,
    ):
        self._comparison = current()
        self._comparison.starts()
        order = np.random.default_rng(0).permutation(binned.n_rows)
        self._rows, self._others = order[:n_rows], order[n_rows:]
        self.team, self.n_rows, self._binned, self._n_rounds = team, binned.n_rows, binned, n_rounds
        self._target, self._labels = target, target.take(self._rows)
        self._of = min(of, self._rows.size)
        self.is_dear = binned.n_columns * target.n_labels > _DEAR
        if n_folds is None:
            n_folds = of if self._rows.size <= _FEW else 1
        self.folds = self._folds(0, min(n_folds, self._of))
        self._begun: dict[str, list[Run]] = {}  # by the digests of plans
        self._halfway: dict[str, np.ndarray] = {}  # errors after half of the rounds
        self._held_out: dict[str, list[Part]] = {}

    def _folds(self, first: int, last: int) -> list[_Fold]:
        """Some of the folds."""
        rows, labels, fold = self._rows, self._labels, np.arange(self._rows.size) % self._of
        apart = np.flatnonzero((fold >= first) & (fold < last))  # the table is asked once for rows that are held out
        table = self._taken(rows[apart])
        found = []
        for k in range(first, last):
            inside, outside = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
            held_out = table.take(np.flatnonzero(fold[apart] == k))
            found.append(_Fold(self._binned.take(rows[inside]), labels.take(inside), held_out, labels.take(outside)))
        return found

    def _taken(self, rows: np.ndarray) -> Table:
        """Some rows of the table, ready for predictions."""
        table = self._binned.table.take(rows)
        return table if isinstance(table, SparseTable) else table.encoded()

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
        return np.concatenate([part.target.errors(part.scores) for part in self._parts(plan)])

    def errors_halfway(self, plan: Plan) -> np.ndarray:
        """The same after half of the rounds: all that is run of a plan that is given up there."""
        key = plan.digest()
        if key not in self._halfway:
            if key not in self._begun:
                self.begin(plan)
            found = []
            for run, fold in zip(self._begun[key], self.folds, strict=True):
                run.run(self._n_rounds // 2, [self._comparison])
                found.append(fold.held_out_labels.errors(fold.scores(run, self.team)))
            self._halfway[key] = np.concatenate(found)
        return self._halfway[key]

    def refinement(self, plan: Plan) -> float:
        """Their log-loss after the best factor of the scores."""
        return float(refined(self._parts(plan)).sum())

    def has_run(self, plan: Plan) -> bool:
        """Whether the plan was compared here."""
        return plan.digest() in self._held_out

    def out_of_fold(self, plan: Plan) -> list[Part]:
        """Rows for a calibration: those held out in the comparison, and more where these are few.

        Rows outside of the sample cost a prediction only.  Where there are none left, the other folds are held out.
        """
        found, made, enough = list(self._parts(plan)), len(self.folds), _ENOUGH_DEAR if self.is_dear else _ENOUGH
        rows = self._others[: max(0, _ENOUGH - sum(part.target.n_rows for part in found))]
        if rows.size:
            others = replace(self.folds[0], held_out=self._taken(rows), held_out_labels=self._target.take(rows))
            found.append(others.part(self._begun[plan.digest()][0], self.team))
        while made < self._of and sum(part.target.n_rows for part in found) < enough:
            fold = self._folds(made, made + 1)[0]
            try:
                found.append(self._run(Run(plan, fold.binned, fold.labels, self.team), fold, self._n_rounds))
            except TimeIsUp:  # fewer rows have to do
                break
            made += 1
        return found

    def cross_fitted(self, plan: Plan, n_rounds: int) -> list[Part]:
        """All folds, each held out of a run of so many rounds."""
        return [self._run(Run(plan, f.binned, f.labels, self.team), f, n_rounds) for f in self.folds]

    def _parts(self, plan: Plan) -> list[Part]:
        """Rows that are held out in the comparison."""
        key = plan.digest()
        if key not in self._held_out:
            self.errors_halfway(plan)
            rest = self._n_rounds - self._n_rounds // 2
            runs = self._begun[key]
            self._held_out[key] = [self._run(run, fold, rest) for run, fold in zip(runs, self.folds, strict=True)]
        return self._held_out[key]

    def rounds_worth(self, plan: Plan, share: float, most: int) -> int:
        """Rounds: doubled as long as the second half saves more than a share of the error that the first one leaves."""
        error, n_rounds = float(self.errors(plan).sum()), self._n_rounds
        while 2 * n_rounds <= most:
            before, error = error, 0.0
            for run, fold in zip(self._begun[plan.digest()], self.folds, strict=True):
                run.run(n_rounds, [self._comparison])
                error += float(fold.held_out_labels.errors(fold.scores(run, self.team)).sum())
            if error > (1.0 - share) * before:
                break
            n_rounds *= 2
        return n_rounds

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

    def _run(self, run: Run, fold: _Fold, n_rounds: int) -> Part:
        """Scores of the rows that are held out, after so many more rounds."""
        run.run(n_rounds, [self._comparison])
        return fold.part(run, self.team)
