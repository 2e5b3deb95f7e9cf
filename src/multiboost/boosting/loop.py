"""F --loss--> G, H --base learner--> h --step--> F.

AdaBoost.MH (Kegl 2011, Figure 3.5), real AdaBoost.MH and LogitBoost are this loop with
different parts; the loop names none of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from time import perf_counter

import numpy as np

from ..base.classifier import BaseClassifier, empty_leaf
from ..base.criterion import Criterion
from ..base.problem import Problem, new_payload, new_short
from ..data.dataset import Dataset
from ..data.target import Target
from ..ensemble.ensemble import Ensemble, EnsembleBuilder
from ..kernels.dtypes import NODE, ROW
from ..kernels.team import Team
from ..kernels.update import CHUNK, State, advance, loss_sweep, quantiser
from ..losses import Loss
from .callbacks import Callback
from .sampler import RowSampler
from .watch import Watch

LEAST_EDGE = 1e-10  # below this a base classifier is no better than a coin

HISTORY = ("edge", "alpha", "Z", "risk", "training_error", "seconds_search", "seconds_update")
WATCHED = ("validation_error", "validation_risk")


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
    sampler : RowSampler or None
        Which samples a round sees, None: all.
    start : Ensemble or None
        Go on from here.
    scores : ndarray (n, K) or None
        Scores of ``start`` on the training set.
    seed : int
        Of whatever is random in the base learner.
    history : dict of sequences or None
        Of the rounds of ``start``.
    watch : Watch or None
        A validation set.
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
        sampler: RowSampler | None = None,
        start: Ensemble | None = None,
        scores: np.ndarray | None = None,
        seed: int = 0,
        history: dict | None = None,
        watch: Watch | None = None,
    ):
        self.base_learner, self.loss, self.step, self.team = base_learner, loss, step, team
        self.sampler = sampler or RowSampler()
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
        self._flat = self.state.flat
        payload = new_payload(criterion, n, n_labels, target.positive)
        self._pieces = loss_sweep(loss.code, self._flat), quantiser(criterion.code, payload, n_labels)
        self.problem = Problem(
            dataset=dataset,
            criterion=criterion,
            true_pull=self.state.pull,
            curvature=self.state.curvature,
            payload=payload,
            short=new_short(criterion, dataset, n_labels, team.n_threads),
            unit=2.0 ** criterion.number(n * n_labels)[1],
            scale_g=1.0,
            scale_h=1.0,
            rows=np.arange(n, dtype=ROW),
            team=team,
            seed=seed,
        )
        names = HISTORY + (WATCHED if watch is not None else ())
        before = start.n_rounds if start is not None else 0
        unknown = [np.nan] * before
        self.history: dict[str, list[float]] = {name: list((history or {}).get(name, unknown)) for name in names}
        self.watch = watch
        if watch is not None:
            watch.begin(self.builder.build(), team)
        self.n_rounds = self.wanted = before
        self.stopped = ""
        self.whole = True  # whether F and the rounds belong together: not in the middle of a round
        self._out = np.zeros(5)
        self._advance(np.zeros((0, n), NODE), np.zeros(0, np.intp), np.zeros((0, n_labels)))

    def _advance(self, leaf, offset, values) -> None:
        problem = self.problem
        self.team.run(
            advance, self.loss.code, self._pieces, self._flat, leaf, offset, values,
            problem.payload, problem.short, problem.unit, self._out, alone=problem.is_small,
        )  # fmt: skip
        # A new one: what the old one has found out about its weights is not true of these.
        self.problem = replace(problem, scale_g=float(self._out[3]), scale_h=float(self._out[4]))

    @property
    def training_error(self) -> float:
        return float(self._out[0])

    @property
    def risk(self) -> float:
        return float(self._out[1])

    def round(self) -> bool:
        """One round; False where no base classifier helps any more."""
        self.whole = False
        more = self._round()
        self.whole = True
        return more

    def _learned(self, problem: Problem) -> tuple[BaseClassifier | None, float]:
        """A base classifier and its edge over all samples, 0 where there is none or it does not vote."""
        h = self.base_learner.fit(problem)
        if h is None or np.abs(h.votes).max() < LEAST_EDGE:
            return h, 0.0
        return h, h.edge if problem is self.problem else h.edge_of_all(self.state.pull)

    def _round(self) -> bool:
        begin = perf_counter()
        problem = self.sampler.sample(self.problem, self.n_rounds)
        h, edge = self._learned(problem)
        if problem is not self.problem and edge < LEAST_EDGE:  # a bad sample says nothing about the others
            problem = self.problem
            h, edge = self._learned(problem)
        searched = perf_counter()
        if h is None:
            self.stopped = "no cut of any column improves the model"
            return False
        if edge < LEAST_EDGE:
            self.stopped = "no base classifier has a positive edge"
            return False
        self.problem.edge = edge
        alpha = self.step.size(edge)
        energy = np.nan
        if not self.loss.has_curvature and problem.others.size == 0:
            energy = problem.criterion.energy(h.sum_g, h.sum_h, alpha * h.votes)
        h = h.scaled(alpha)
        offset = np.cumsum([0] + [len(dag.values) for dag in h.terms])[:-1]
        values = h.terms[0].values if len(h.terms) == 1 else np.concatenate([dag.values for dag in h.terms])
        self._advance(h.leaf, offset, values)
        h.leaf = empty_leaf(len(h.leaf), 0)  # n numbers that nobody needs again; a slice would keep them
        self.builder.append(h)
        self.n_rounds += 1
        row = [edge, alpha, energy, self.risk, self.training_error, searched - begin, perf_counter() - searched]
        if self.watch is not None:
            newest = EnsembleBuilder(np.zeros(self.builder.initial.size), self.builder.n_columns)
            newest.append(h)
            self.watch.add(newest.build(), self.team)
            row += [self.watch.error, self.watch.risk]
        for name, value in zip(self.history, row, strict=True):
            self.history[name].append(value)
        return True

    def run(self, n_rounds: int, callbacks: Sequence[Callback] = ()) -> int:
        """Up to ``n_rounds`` rounds; returns how many rounds the model should have."""
        self.wanted = self.n_rounds + n_rounds
        with ExitStack() as ends:  # every callback that has begun ends, also where another one fails
            for callback in callbacks:
                callback.begin(self)
                ends.callback(callback.end, self)
            over = [callback.is_over(self) for callback in callbacks]
            for _ in range(0 if any(over) else n_rounds):
                if not self.round():
                    break
                stop = [callback.after_round(self) for callback in callbacks]  # all of them see the round
                if any(stop):
                    break
        keep = [callback.rounds_to_keep(self) for callback in callbacks]
        return min((k for k in keep if k is not None), default=self.n_rounds)
