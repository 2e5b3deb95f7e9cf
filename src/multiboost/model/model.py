"""A fitted model: what its file holds, and what all estimators, evaluations and exports ask.

Without scikit-learn, whose import takes longer than most predictions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..calibration import Calibration, Formula, Theory
from ..data.categories import Categories
from ..data.table import Table, as_table
from ..kernels.team import Team
from .before import Before
from .ensemble import Ensemble
from .medians import quantiles_of, staged_medians
from .policy import Policy, exit_policy
from .single import Single
from .walker import Walked, Walker

STEEPEST = 2.0  # the slope of theory: a score is half the log odds of its label


@dataclass
class Columns:
    """The columns of the training table.

    Attributes
    ----------
    n : int
    names : ndarray of str or None
    categories : list of (Categories or None) or None
        Of each column, None for numbers; None where all are numbers.
    """

    n: int
    names: np.ndarray | None = None
    categories: list[Categories | None] | None = None

    def category_names(self, column: int) -> list[str] | None:
        """Names of a nominal column's categories; None for numbers."""
        if self.categories is None or column >= len(self.categories):
            return None
        categories = self.categories[column]
        return None if categories is None else categories.names

    def all_category_names(self) -> list[np.ndarray | None]:
        """The same of every column, as arrays."""
        found = [self.category_names(j) for j in range(self.n)]
        return [None if names is None else np.array(names, dtype=object) for names in found]


@dataclass
class Model:
    """An ensemble, the columns it reads and the answers it gives.

    Attributes
    ----------
    ensemble : Ensemble
    kind : TargetKind
    columns : Columns
    slope : float
        Scores are multiplied by it before they are calibrated.
    calibration : Calibration or None
        From scores to probabilities; None where answers have none.
    plan : dict
        How it was trained, see ``boosting.plan.Plan.to_dict``.
    history : dict of ndarray
        A value for every round, by name.
    state : dict of ndarray
        What samplers and step have learned, for a training that goes on.
    n_rows : int or None
        Rows that it was trained on; None where that is not known.
    data : dict or None
        What is known of the training file.
    estimator : str
        The class that trained it.
    parameters : dict
        Its parameters.
    policy : Policy or None
        Which base classifiers a row needs; None: all of them.
    stopped : str
        Why the training has ended before its last round; else empty.
    before : Before or None
        Another model, to whose scores the ensemble adds.
    """

    ensemble: Ensemble
    kind: Any  # a TargetKind; which one, the estimator knows
    columns: Columns
    slope: float
    calibration: Calibration | None
    plan: dict[str, Any]
    history: dict[str, np.ndarray] = field(default_factory=dict)
    state: dict[str, np.ndarray] = field(default_factory=dict)
    n_rows: int | None = None
    data: dict | None = None
    estimator: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    stopped: str = ""
    before: Before | None = None
    policy: Policy | None = None

    def __getstate__(self) -> dict:
        return {name: value for name, value in vars(self).items() if name != "walker"}

    @cached_property
    def walker(self) -> Walker:
        """The ensemble as the policy uses it; all of it where there is no policy."""
        policy = exit_policy(self.n_rounds, {}, {}) if self.policy is None else self.policy
        return Walker(self.ensemble, policy, self.kind.task_start)

    @property
    def n_rounds(self) -> int:
        return self.ensemble.n_rounds

    def digest(self) -> str:
        """The same for the same bits, whatever file they come from."""
        return self.ensemble.digest() + ("" if self.policy is None else f"-{self.policy.digest()}")

    def table(self, X) -> Table:
        """Rows that need no checks: X has the model's columns in their order."""
        table = as_table(X)
        table.categories = self.columns.categories
        return table

    def scores(self, table: Table, team: Team, n_rounds: int | None = None) -> np.ndarray:
        """F of every row, (n, K): as the policy leaves it, after all rounds, or after the first of them."""
        if self.policy is not None and n_rounds is None:
            return self.walked(table, team, paths=False).scores
        if not self.kind.adds_up:
            return quantiles_of(self.ensemble, table, team, [0.5], n_rounds)
        return self.ensemble.scores(table, team, n_rounds, self.start(table, team))

    def walked(self, table: Table, team: Team, *, paths: bool) -> Walked:
        """What becomes of every row, as the policy says."""
        return self.walker.walked(table, team, self.start(table, team), paths=paths)

    @property
    def asks_others(self) -> bool:
        """Whether it asks estimators of other packages, which see rows in the user's own form."""
        if self.ensemble.phi:
            return True
        return self.before is not None and (self.before.model is None or self.before.model.asks_others)

    def start(self, table: Table, team: Team) -> np.ndarray | None:
        """Scores of the model before this one, (n, K), if there is one."""
        return None if self.before is None else self.before.scores(table, team, self.kind)

    def staged_scores(self, table: Table, team: Team) -> Iterator[np.ndarray]:
        """F of every row after each round, (n, K), good until the next round; without the policy."""
        if not self.kind.adds_up:
            yield from staged_medians(self.ensemble, table, team)
            return
        rows = self.ensemble.rows(table, 0, table.n_rows)
        scores = self.ensemble.start(table.n_rows, self.start(table, team))
        for t in range(self.n_rounds):
            self.ensemble.add_scores(rows, scores, t, t + 1, team)
            yield scores

    def rounds(self, table: Table, team: Team) -> Iterator[np.ndarray]:
        """What each round says of every row, (n, K), good until the next round."""
        rows = self.ensemble.rows(table, 0, table.n_rows)
        votes = np.empty((table.n_rows, self.ensemble.n_labels))
        for t in range(self.n_rounds):
            votes[:] = 0.0
            self.ensemble.add_scores(rows, votes, t, t + 1, team)
            yield votes

    def quantiles(self, table: Table, team: Team, levels) -> np.ndarray:
        """Quantiles of what the rounds say of every row, weighted by their sizes, (n, levels)."""
        return quantiles_of(self.ensemble, table, team, levels)

    def slope_after(self, n_rounds: int) -> float:
        """The slope for the first rounds: scores grow with the votes, and the slope falls as they grow."""
        if n_rounds == self.n_rounds:
            return self.slope
        votes = np.cumsum(self.ensemble.size)
        if not votes[n_rounds - 1]:  # a model that has learned nothing may have votes of 0
            return self.slope
        found = float(self.slope * votes[-1] / votes[n_rounds - 1])
        steepest = STEEPEST if self.calibration is None or self.calibration.unit in ("theory", "margin") else np.inf
        return min(steepest, found)

    def sizes(self) -> np.ndarray:
        """The sum of the sizes of all votes after each round, (rounds,): it normalises margins."""
        first = np.abs(self.ensemble.initial).max()
        if self.before is not None and self.before.model is not None:
            first += self.before.model.sizes()[-1]
        sizes = np.cumsum(self.ensemble.size) + first
        return np.where(sizes > 0, sizes, 1.0)

    def shaped(self, scores: np.ndarray) -> np.ndarray:
        """Scores as users see them."""
        return self.kind.shaped(scores)

    def answer(self, scores: np.ndarray) -> np.ndarray:
        """What the model says of rows with these scores."""
        return self.kind.answer(scores)

    def label_probabilities(self, scores: np.ndarray, n_rounds: int | None = None) -> np.ndarray:
        """Probabilities of the labels, (n, K); of scores after some rounds only, if so many are given."""
        slope = self.slope if n_rounds is None else self.slope_after(n_rounds)
        if self.calibration is None:
            raise ValueError(f"answers of the kind {self.kind.name!r} have no probabilities")
        return self._calibrated(scores, self.calibration, slope)

    def formulas(self) -> list[Formula] | None:
        """Probabilities of the answers to every question, from the scores of `by_question`, as formulas.

        None where there are no probabilities, or none that are such a formula.
        """
        if self.calibration is None:
            return None
        sizes = [z.shape[1] for z in self.kind.by_question(np.zeros((1, self.kind.n_labels)))]
        found = self.calibration.formulas(sizes)
        return None if found is None else [formula.times(self.slope) for formula in found]

    def uncalibrated(self, scores: np.ndarray) -> np.ndarray:
        """The same by theory, where a score is half the log odds of its label."""
        return self._calibrated(scores, Calibration(Theory()), STEEPEST)

    def _calibrated(self, scores: np.ndarray, calibration: Calibration, slope: float) -> np.ndarray:
        return self.kind.label_probabilities(calibration.probabilities(self.kind.by_question(slope * scores)))

    def probabilities(self, scores: np.ndarray, n_rounds: int | None = None):
        """The same as users see them."""
        return self.kind.probabilities(self.label_probabilities(scores, n_rounds))

    def single(self) -> Single:
        """The model for one row at a time, without checks, within microseconds."""
        if not self.kind.adds_up:
            raise ValueError("the model is a weighted median of its rounds, and only sums are compiled; use predict")
        return Single(
            self.kind,
            self.ensemble,
            self.columns.n,
            self.columns.categories,
            self.probabilities,
            self._single_before(),
            None if self.policy is None else self.walker,
        )

    def _single_before(self) -> Single | None:
        """The model before this one, for one row at a time."""
        if self.before is None:
            return None
        model = self.before.model
        if model is None:
            raise ValueError(
                f"the model starts from {type(self.before.estimator).__name__}, which predicts for tables; use predict "
                "or decision_function"
            )
        if model.columns.all_category_names() != self.columns.all_category_names():
            raise ValueError("init has other categories than the model, so a row means two things; use predict")
        return model.single()
