"""The loop: F --loss--> G, H --base learner--> h --step--> F.

AdaBoost.MH (Kegl 2011, Figure 3.5), real AdaBoost.MH and LogitBoost are this loop with
different parts; the loop names none of them.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from ..base.bytes_touched import bytes_of_update
from ..base.classifier import BaseClassifier, constant_classifier
from ..base.problem import Problem
from ..criteria import CRITERIA, PULL, Criterion
from ..data.binned import Binned
from ..data.layout import Layout
from ..data.sizes import size_of_labels, size_of_rows
from ..data.target import Target
from ..kernels.dtypes import ROW, lanes
from ..kernels.histogram import MOST
from ..kernels.team import Team
from ..model.ensemble import Ensemble, EnsembleBuilder
from ..plugin import Plugin
from .callbacks import Callback
from .held_out import HeldOut
from .plan import Plan
from .weights import Weights

HISTORY = ("edge", "alpha", "Z", "risk", "training_error", "seconds_search", "seconds_update")
ON_DISK = ("bytes_touched",)
HELD_OUT = ("validation_error", "validation_risk")


@dataclass
class Start:
    """Where a run goes on from.

    Attributes
    ----------
    ensemble : Ensemble
        The rounds so far.
    scores : ndarray (n, K)
        Theirs, on the training set.
    history : dict of sequences
        Of these rounds.
    state : dict of ndarray
        What samplers and step have learned in them, see `Run.learned`.
    """

    ensemble: Ensemble
    scores: np.ndarray
    history: dict
    state: dict[str, np.ndarray] = field(default_factory=dict)


class Run:
    """A run of boosting: scores of the training set, the rounds so far, their history.

    Samplers, steps and callbacks see it.

    Parameters
    ----------
    plan : Plan
    binned : Binned
    target : Target
    team : Team
    start : Start or None
        Where to go on from; None begins anew.
    held_out : HeldOut or None
        A validation set.
    last : bool
        Whether nobody needs ``binned`` after this run: its memory is freed.

    Attributes
    ----------
    plan, target, team
    seed : int
        The plan's.
    n_rounds, wanted : int
        Rounds so far, and rounds at the end.
    history : dict of list
        A value for every round, by name.
    stopped : str
        Why the run has ended before its last round; else empty.
    h : BaseClassifier or None
        Of the last round.
    gamma : float
        Its edge over all samples, in units of the total weight.
    drawn : ndarray of bool (n,) or None
        The samples that it was learned on; None: all.
    times : ndarray of float (n,) or None
        How often each of them counted; None: once.
    drawn_columns : ndarray of bool (columns,) or (m, columns), or None
        The columns that it could cut; None: all.
    drawn_labels : ndarray of intp or None
        The labels by which its cuts were chosen; None: all.
    """

    def __init__(
        self,
        plan: Plan,
        binned: Binned,
        target: Target,
        team: Team,
        start: Start | None = None,
        held_out: HeldOut | None = None,
        last: bool = False,
    ):
        self.plan, self.target, self.team, self.held_out = plan, target, team, held_out
        self.seed = plan.seed
        # Copies: what they learn belongs to this run.
        self.step, self.rows, self.columns, self.labels = copy.deepcopy(
            (plan.step, plan.rows, plan.columns, plan.labels)
        )
        self._begun_with = {} if start is None else start.state
        self._restore(self._begun_with)
        loss = plan.loss
        self.binned = binned
        criterion = CRITERIA.get(plan.criterion).of_run(plan.ridge, target.n_pairs)
        n_labels = plan.labels.count(target.n_labels)  # by which cuts are chosen
        layout = layout_of(criterion, binned, target, team, last and not plan.columns.needs_bins, n_labels)
        before = start.ensemble if start is not None else None
        self.builder = EnsembleBuilder(plan.initial_scores(target) if before is None else before, binned.n_columns)
        if start is None:
            scores = self.builder.build().start(target.n_rows, target.start, binned.workspace)
        else:
            scores = start.scores
        whole = n_labels == target.n_labels
        self.weights = Weights(layout, target, loss, criterion, team, scores, self.seed, filled=whole)
        self.n_rounds = self.wanted = 0 if before is None else before.n_rounds
        names = HISTORY + (HELD_OUT if held_out is not None else ()) + (ON_DISK if binned.workspace.on_disk else ())
        self._past, self._names = {} if start is None else start.history, names
        self.history: dict[str, list[float]] = {}
        for name in (*names, *self.columns.columns_of_history):
            self.begin_column(name)
        if held_out is not None:
            held_out.begin(self.builder.build(), team)
        self.stopped = ""
        self.consistent = True  # whether F and the rounds belong together: not in the middle of a round
        self.h: BaseClassifier | None = None
        self.gamma = 0.0
        self.drawn: np.ndarray | None = None
        self.times: np.ndarray | None = None
        self.drawn_columns: np.ndarray | None = None
        self.drawn_labels: np.ndarray | None = None
        self._kept: list[dict] | None = None  # what was learned after every round, where a callback may go back to it

    # What others may ask.

    @property
    def n_samples(self) -> int:
        return self.target.n_rows

    @property
    def n_columns(self) -> int:
        return self.builder.n_columns

    @property
    def n_labels(self) -> int:
        return self.target.n_labels

    @property
    def scores(self) -> np.ndarray:
        """F of the training set, (n, K)."""
        return self.weights.scores

    @property
    def pull(self) -> np.ndarray:
        """G of the training set, (n, K): weights times labels."""
        return self.weights.state.pull

    @property
    def curvature(self) -> np.ndarray | None:
        """H of the training set, (n, K); None where it is |G|."""
        found = self.weights.state.curvature
        return found if found.size else None

    @property
    def weight_of_rows(self) -> np.ndarray:
        """Sum of \\|G\\| over the labels, (n,)."""
        return size_of_rows(self.pull)

    @property
    def weight_of_labels(self) -> np.ndarray:
        """Sum of \\|G\\| over the samples, (K,)."""
        return size_of_labels(self.pull)

    def pull_at(self, scores: np.ndarray) -> np.ndarray:
        """G of the training set at other scores than F, (n, K), but for a common factor."""
        return self.weights.pull_at(scores)

    @property
    def training_error(self) -> float:
        return self.weights.error

    @property
    def risk(self) -> float:
        return self.weights.risk

    @property
    def problem(self) -> Problem:
        """The base learning problem of the next round, of all samples and columns."""
        return self.weights.problem

    def ensemble(self, n_rounds: int | None = None) -> Ensemble:
        """The rounds so far, or the first of them."""
        found = self.builder.build()
        return found if n_rounds is None or n_rounds == found.n_rounds else found.head(n_rounds)

    def learned(self, n_rounds: int | None = None) -> dict[str, np.ndarray]:
        """What samplers and step have learned, after so many rounds: arrays by name."""
        if n_rounds is not None and n_rounds < self.n_rounds and self._kept is not None:
            made = n_rounds - (self.n_rounds - len(self._kept))  # of the rounds that this run has made
            return self._kept[made - 1] if made > 0 else self._begun_with
        return {f"{name}.{key}": np.array(v) for name, part in self._parts() for key, v in part.state().items()}

    def _parts(self) -> list[tuple[str, Plugin]]:
        """What may learn, by name."""
        return [("step", self.step), ("rows", self.rows), ("columns", self.columns), ("labels", self.labels)]

    def begin_column(self, name: str) -> None:
        """A column of the history, with what is known of past rounds; a callback fills in one of its own."""
        self.history.setdefault(name, list(self._past.get(name, [np.nan] * self.n_rounds)))

    def _restore(self, state: dict[str, np.ndarray]) -> None:
        for name, part in self._parts():
            part.restore({key[len(name) + 1 :]: v for key, v in state.items() if key.startswith(f"{name}.")})

    def fingerprint(self) -> dict[str, str]:
        """Hashes of everything that the rounds of a run depend on, by what it is; not of how bins are laid out."""
        digest = hashlib.blake2b(digest_size=16)
        for array in self.target.arrays():
            digest.update(repr((array.shape, array.dtype.str)).encode())
            digest.update(np.ascontiguousarray(array).view(np.uint8).data if array.size else b"")
        found = {
            "plan": self.plan.digest(),
            "labels or weights": digest.hexdigest(),
            "values of the table": self.binned.digest(),
        }
        if self.target.start is not None:
            begin = hashlib.blake2b(np.ascontiguousarray(self.target.start).view(np.uint8).data, digest_size=16)
            found["initial scores"] = begin.hexdigest()
        return found

    # One round.

    def round(self) -> bool:
        """One round; False where no base classifier helps any more."""
        self.consistent = False
        more = self._round()
        self.consistent = True
        return more

    def _draw(self) -> Problem:
        """The problem of the round: what the samplers leave of it."""
        problem = self.weights.bare
        rows, self.drawn_columns = self.rows.rows(self), self.columns.columns(self)
        self.drawn_labels = self.labels.labels(self)
        self.times = None if rows is None or rows.dtype == bool else rows
        self.drawn = rows if self.times is None else self.times > 0
        if self.drawn is not None:
            problem = problem.on_rows(np.flatnonzero(self.drawn).astype(ROW), np.flatnonzero(~self.drawn).astype(ROW))
        if self.times is not None or not self.weights.filled:
            problem = problem.seen(self.times, self.drawn_labels)
        if self.drawn_columns is not None:
            problem = problem.on_columns(self.drawn_columns)
        return problem

    def _learned(self, problem: Problem) -> tuple[BaseClassifier | None, float]:
        """A base classifier and its edge over all samples, 0 where there is none or it does not vote."""
        h = self.plan.base_learner.fit(problem)
        if h is None or not h.votes.any():
            return h, 0.0
        seen = problem.rows.left_out.size == 0 and self.times is None and not h.is_curved
        return h, h.edge if seen else h.edge_of_all(self.pull, self._room)

    def _room(self, size: int) -> np.ndarray:
        """Room to work in, used again in every round."""
        return self.weights.bare.scratch.room(("edge",), size, np.float64)

    def _stepped(self, problem: Problem) -> tuple[BaseClassifier | None, float, float]:
        """A base classifier, its edge, and how far to go along it; where that is nowhere, `stopped` says why."""
        h, edge = self._learned(problem)
        alpha = 0.0
        if h is None:
            self.stopped = "no cut of any column improves the model"
        elif self.weights.is_useless(edge):
            self.stopped = "no base classifier has a positive edge"
        else:
            h = self.weights.refitted(h, self.drawn, self.times)
            if problem.criterion.abstains:
                h, edge = h.abstaining(self.pull, problem.criterion.voters)
            alpha = self.step.size(h, edge / h.voting, self)  # the edge of what votes
            self.stopped = "" if alpha > 0 else self.step.ending
        return h, edge, alpha

    def _round(self) -> bool:
        begin = perf_counter()
        problem = self._draw()
        h, edge, alpha = self._stepped(problem)
        # A bad sample says nothing about the others.
        if problem is not self.weights.bare and (self.stopped or h is None or not h.looks):
            problem = self.problem
            self.drawn = self.times = self.drawn_columns = self.drawn_labels = None
            h, edge, alpha = self._stepped(problem)
        searched = perf_counter()
        if h is None or self.stopped:
            return False
        z = np.nan
        if not self.plan.loss.has_curvature and problem.rows.left_out.size == 0 and self.times is None:
            leaves = not h.is_curved and h.voting == 1.0  # then sums over leaves are enough
            z = problem.criterion.z(h.sum_g, h.sum_h, alpha * h.votes) if leaves else h.z(self.pull, alpha)
        self._add(h.scaled(alpha), edge, alpha, z, searched - begin)
        if self.target.sense is not None and self.risk < 0:
            self.stopped = "the loss of the samples of negative weight is larger than that of all others"
        return not self.stopped

    def add_constant(self) -> None:
        """One round that looks at no column: the best there is where nothing can be learned."""
        votes = self.target.constant() - self.builder.initial
        if self.target.start is not None:  # the model before is all there is
            votes = np.zeros_like(votes)
        self._add(constant_classifier(votes, self.n_samples), 0.0, 1.0, np.nan, 0.0)

    def _add(self, h: BaseClassifier, edge: float, alpha: float, z: float, search: float) -> None:
        """F += h, and a line of the history."""
        begin = perf_counter()
        self.gamma = edge / self.weights.total if self.weights.total > 0 else 0.0
        self.weights.add(h, edge)
        self.n_rounds += 1
        row = [edge, alpha, z, self.risk, self.training_error, search, perf_counter() - begin]
        if self.held_out is not None:
            newest = EnsembleBuilder(np.zeros(self.builder.initial.size), self.builder.n_columns)
            newest.append(h)
            self.held_out.add(newest.build(), self.team)
            row += [self.held_out.error, self.held_out.risk]
        if self.binned.workspace.on_disk:
            bare = self.weights.bare
            scratch = bare.scratch
            row.append(scratch.touched + bytes_of_update(bare, self.plan.loss.normalised))
            scratch.touched = 0.0
        for name, value in zip(self._names, row, strict=True):
            self.history[name].append(value)
        self.h = h
        self.rows.learn(self)
        self.columns.learn(self)
        self.labels.learn(self)
        for name, value in zip(self.columns.columns_of_history, self.columns.line(), strict=True):
            self.history[name].append(value)
        self.builder.append(h)
        h.forget_samples()
        if self._kept is not None:
            self._kept.append(self.learned())

    def run(self, n_rounds: int, callbacks: Sequence[Callback] = ()) -> int:
        """Up to ``n_rounds`` rounds; returns how many rounds the model should have."""
        self.wanted = self.n_rounds + n_rounds
        if any(type(callback).rounds_to_keep is not Callback.rounds_to_keep for callback in callbacks):
            self._kept = []
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


def layout_of(criterion: Criterion, binned: Binned, target: Target, team: Team, last: bool, n_labels: int) -> Layout:
    """Bins as the search by a criterion needs them.

    last : whether nobody needs ``binned`` after that
    n_labels : by which cuts are chosen
    """
    half = lanes(n_labels)
    dtype, _ = criterion.number(target.signed.size)
    # With more lanes a histogram is filled in several passes: what has to fit into the cache is the share of one.
    row_bytes = min(MOST, half if criterion.layout == PULL else 2 * half) * np.dtype(dtype).itemsize
    return Layout(binned, row_bytes, team.n_threads, coarse=not criterion.bounded, last=last)
