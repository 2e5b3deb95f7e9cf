"""F --loss--> G, H --base learner--> h --step--> F.

AdaBoost.MH (Kegl 2011, Figure 3.5), real AdaBoost.MH and LogitBoost are this loop with
different parts; the loop names none of them.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np

from ..base.criterion import Criterion
from ..base.problem import Problem, new_payload
from ..data.dataset import Dataset
from ..data.target import Target
from ..ensemble.ensemble import Ensemble, EnsembleBuilder
from ..kernels.dtypes import NODE, ROW
from ..kernels.team import Team
from ..kernels.update import CHUNK, State, advance
from ..losses import Loss

LEAST_EDGE = 1e-10  # below this a base classifier is no better than a coin

HISTORY = ("edge", "alpha", "Z", "risk", "training_error", "seconds_search", "seconds_update")


class Boosting:
    """The state of a run: scores of the training set, the rounds so far, their history.

    Parameters
    ----------
    dataset : Dataset
    target : Target
    loss : Loss
    criterion : Criterion
    base_learner : Stump, Tree or Product
    step : AlphaStep or RateStep
    team : Team
    start : Ensemble or None
        Go on from here.
    scores : ndarray (n, K) or None
        Scores of ``start`` on the training set.
    seed : int
        Of whatever is random in the base learner.
    """

    def __init__(
        self,
        dataset: Dataset,
        target: Target,
        loss: Loss,
        criterion: Criterion,
        base_learner,
        step,
        team: Team,
        start: Ensemble | None = None,
        scores: np.ndarray | None = None,
        seed: int = 0,
    ):
        self.base_learner, self.loss, self.step, self.team = base_learner, loss, step, team
        signed = target.signed
        n, n_labels = signed.shape
        initial = loss.initial_scores(signed) if start is None else start
        self.builder = EnsembleBuilder(initial, dataset.table.n_columns)
        if scores is None:
            scores = np.tile(self.builder.initial, (n, 1))
        self.state = State(
            signed=signed,
            scores=scores,
            pull=np.zeros((n, n_labels)),
            curvature=np.zeros((n if loss.has_curvature else 0, n_labels)),
            task_start=target.kind.task_start,
            task_class=target.task_class,
            task_weight=target.task_weight,
            sums=np.zeros((-(-n // CHUNK), 4)),
        )
        state = self.state
        self._flat = tuple(a.reshape(-1) for a in (state.signed, state.scores, state.pull, state.curvature))
        payload = new_payload(criterion, n, n_labels, target.positive)
        self.problem = Problem(
            dataset=dataset,
            criterion=criterion,
            pull=self.state.pull,
            curvature=self.state.curvature,
            payload=payload,
            unit=2.0 ** criterion.number(n * n_labels)[1],
            scale_g=1.0,
            scale_h=1.0,
            rows=np.arange(n, dtype=ROW),
            team=team,
            seed=seed,
        )
        self.history: dict[str, list[float]] = {name: [] for name in HISTORY}
        self.stopped = ""
        self._out = np.zeros(5)
        self._advance(np.zeros((0, n), NODE), np.zeros(0, np.intp), np.zeros((0, n_labels)))

    def _advance(self, leaf, offset, values) -> None:
        problem = self.problem
        self.team.run(
            advance, self.loss.code, problem.criterion.code, self.state, self._flat, leaf, offset, values,
            problem.payload, problem.unit, self._out, alone=problem.is_small,
        )  # fmt: skip
        problem.scale_g, problem.scale_h = float(self._out[3]), float(self._out[4])

    @property
    def training_error(self) -> float:
        return float(self._out[0])

    @property
    def risk(self) -> float:
        return float(self._out[1])

    def round(self) -> bool:
        """One round; False where no base classifier helps any more."""
        begin = perf_counter()
        h = self.base_learner.fit(self.problem)
        searched = perf_counter()
        if h is None:
            self.stopped = "no cut of any column improves the model"
            return False
        edge = h.edge
        if edge < LEAST_EDGE or np.abs(h.votes).max() < LEAST_EDGE:
            self.stopped = "no base classifier has a positive edge"
            return False
        alpha = self.step.size(h)
        energy = np.nan
        if not self.loss.has_curvature:
            energy = self.problem.criterion.energy(h.sum_g, h.sum_h, alpha * h.votes)
        h = h.scaled(alpha)
        offset = np.cumsum([0] + [len(dag.values) for dag in h.terms])[:-1]
        values = h.terms[0].values if len(h.terms) == 1 else np.concatenate([dag.values for dag in h.terms])
        self._advance(h.leaf, offset, values)
        h.leaf = h.leaf[:, :0]  # n numbers that nobody needs again
        self.builder.append(h)
        row = (edge, alpha, energy, self.risk, self.training_error, searched - begin, perf_counter() - searched)
        for name, value in zip(HISTORY, row, strict=True):
            self.history[name].append(value)
        return True

    def run(self, n_rounds: int, after_round: Callable[[Boosting], None] | None = None) -> None:
        """Up to ``n_rounds`` rounds."""
        for _ in range(n_rounds):
            if not self.round():
                break
            if after_round is not None:
                after_round(self)
