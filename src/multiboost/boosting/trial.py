"""Settings tried on a part of the training set, before the user's training."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..data.table import SparseTable, Table
from ..data.target import Target
from ..kernels.team import Team
from .loop import Boosting
from .sharpness import SHARPNESS, best_sharpness, median_margin

if TYPE_CHECKING:
    from .settings import Settings

_ROUNDS = 50
_FOLDS = 5  # all of them are held out in turn up to _FEW rows, else only the first
_FEW = 1000


class Trial:
    """Comparisons on a sample of the training set, always the same rows: a few rounds, and the rows held out.

    Parameters
    ----------
    table : Table
    target : Target
    n_rows : int
        At most, of the sample.
    team : Team
    """

    def __init__(self, table: Table, target: Target, n_rows: int, team: Team):
        rows = np.random.default_rng(0).permutation(table.n_rows)[:n_rows]
        sample, self.labels, self.team = table.take(rows), target.take(rows), team
        self.sample = sample if isinstance(sample, SparseTable) else sample.encoded()
        fold = np.arange(rows.size) % _FOLDS
        folds = [fold == k for k in range(min(_FOLDS, rows.size) if rows.size <= _FEW else 1)]
        self.parts = [(np.flatnonzero(~outside), np.flatnonzero(outside)) for outside in folds]
        self._begun: dict[Settings, list[Boosting]] = {}
        self._held_out: dict[Settings, list[tuple[float, Target, np.ndarray]]] = {}

    def begin(self, *options: Settings) -> None:
        """Make the runs ready for their first round.

        With all of them before the first is run, the first fit of all compiles what it can
        while another process compiles the rest, see ``kernels.ahead``.
        """
        for settings in options:
            runs = []
            for inside, outside in self.parts:
                run = settings.boosting(self.sample.take(inside), self.labels.take(inside), self.team)
                self._scores(run, outside)  # of no round yet, for the same reason
                runs.append(run)
            self._begun[settings] = runs

    def losses(self, settings: Settings) -> np.ndarray:
        """Weighted errors of the rows that are held out."""
        if settings not in self._held_out:
            if settings not in self._begun:
                self.begin(settings)
            runs = self._begun.pop(settings)
            self._held_out[settings] = [self._run(run, *part) for run, part in zip(runs, self.parts, strict=True)]
        return np.concatenate([target.errors(scores) for _, target, scores in self._held_out[settings]])

    def sharpness(self, settings: Settings) -> float:
        """The best one for the rows that were held out; the usual one where the settings were not run."""
        return best_sharpness(self._held_out[settings]) if settings in self._held_out else SHARPNESS

    def _run(self, run: Boosting, inside: np.ndarray, outside: np.ndarray) -> tuple[float, Target, np.ndarray]:
        """Median margin of the rows inside, labels and scores of those outside."""
        run.run(_ROUNDS)
        median = median_margin(self.labels.take(inside), run.state.scores)
        return median, self.labels.take(outside), self._scores(run, outside)

    def _scores(self, run: Boosting, outside: np.ndarray) -> np.ndarray:
        return run.builder.build().scores(self.sample.take(outside), self.team)
