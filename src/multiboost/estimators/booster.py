"""The body that all estimators share: check, target, plan, run, model; assigned once, at the end."""

from __future__ import annotations

import sys
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from ..base import Product, Tree, base_learner_from
from ..base.stump import Cut
from ..boosting.auto import Wishes
from ..boosting.callbacks import Callback, EveryRound
from ..boosting.comparison import comparing
from ..boosting.held_out import HeldOut
from ..boosting.plan import Plan
from ..boosting.ruler import Ruler
from ..boosting.run import Run, Start
from ..calibration import Calibration, Theory
from ..data.binned import Binned
from ..data.kind import TargetKind
from ..data.layout import WIDE
from ..data.ranked import by_query
from ..data.table import Table
from ..data.target import Target
from ..kernels.team import Team
from ..kernels.warm import warm
from ..large.answers import Answers, Numbers
from ..large.passes import Watch
from ..memory import need
from ..model.before import Before
from ..model.ensemble import Ensemble
from ..model.model import STEEPEST, Columns, Model
from ..ranking.queries import Queries
from ..workspace import IN_MEMORY, InMemory
from .checkpoint import Checkpoint, Resumed
from .fitted import Fitted, of_columns
from .from_files import Files, read_files
from .negative import without_negative
from .notices import told_of_compiling
from .parameters import PARAMETERS
from .saving import saved_parameters
from .start import before_of, check_init, given_scores, start_of
from .threads import thread_count
from .validation import check_callbacks, check_cuts, check_table, check_weights, learn_table

_PAIR = 40  # bytes, about, that a fit needs for a pair of a row and a label: labels, weights, F, G, H
TABLES_ONLY = "learns from tables in memory, and X is in files; load them first"


@dataclass
class _Table:
    """A training set on its way to a model."""

    table: Table
    columns: Columns
    target: Target
    before: Before | None
    binned: Binned | None = None  # where it comes from files

    @property
    def workspace(self) -> InMemory:
        """Where its arrays are."""
        return IN_MEMORY if self.binned is None else self.binned.workspace


class Booster(Fitted, ABC):
    """The body of all estimators.

    A new one has an ``__init__``, a ``fit`` that calls `_fit`, and says what its target and its plan are: `_kind`,
    `_target`, `_wishes` and `_plan`.  What is fitted is a `Model`.
    """

    base_learner: Any
    n_estimators: int | None
    nominal_features: Any
    max_bins: int
    min_category_rows: int
    verbose: int
    warm_start: bool
    init: Any = None  # where an estimator has no such parameter
    negative_weights: Any = None

    # What a new estimator says.

    @abstractmethod
    def _kind(self, y) -> tuple[np.ndarray, Callable[..., TargetKind]]:
        """y as an array, and how to find out what it means, given the weights of samples and of pairs."""

    @abstractmethod
    def _target(
        self, kind: TargetKind, y: np.ndarray, sample_weight, pair_weight, *, training: bool, qid=None
    ) -> Target:
        """The target of the training set, or of a validation set; of rankings with the query of every row, sorted."""

    @abstractmethod
    def _wishes(self) -> Wishes:
        """What the parameters say of the plan."""

    @abstractmethod
    def _plan(self, binned: Binned, target: Target, team: Team) -> tuple[Plan, Calibration | None]:
        """The plan for a training set, and the calibration that was learned with it, None where answers have none."""

    def answers_of(self, names: list[str]) -> Answers | Numbers:
        """Who reads the target's columns of files."""
        raise ValueError(f"{type(self).__name__} {TABLES_ONLY}")

    def target_of(self, kind, found: np.ndarray, sample_weight, names: list[str], workspace: InMemory) -> Target:
        """The target of a training set in files, from what was read of its columns."""
        raise ValueError(f"{type(self).__name__} {TABLES_ONLY}")

    def _calibrated(self, run: Run, n_rounds: int, data: _Table) -> Calibration | None:
        """A calibration that is learned after the run, None where there is none."""
        return None

    def _needs_bins(self) -> bool:
        """Whether `_calibrated` makes runs of its own."""
        return False

    # What all of them do.

    def set_params(self, **params):
        """Set parameters; ``base_learner__n_leaves`` also where the learner is a name.

        Parameters
        ----------
        **params : dict
        """
        nested = any(name.startswith("base_learner__") for name in params)
        if nested and "base_learner" not in params and isinstance(self.base_learner, str):
            self.base_learner = base_learner_from(self.base_learner)
        return super().set_params(**params)

    def check_parameters(self) -> None:
        """Refuse parameters that cannot be; ``fit`` does it first.

        Raises
        ------
        ValueError
            It names the parameter.
        """
        for name, value in self.get_params(deep=False).items():
            PARAMETERS[name].check(value)
        base_learner_from(self.base_learner)
        check_init(getattr(self, "init", None))
        thread_count(self.n_jobs)

    def _fit(
        self,
        X,
        y,
        sample_weight=None,
        pair_weight=None,
        *,
        init_scores=None,
        qid=None,
        validation=None,
        callbacks: Sequence[Callback] | None = None,
        checkpoint=None,
        checkpoint_every: float = 60.0,
        resume=None,
        provenance: dict | None = None,
    ):
        """Check, target, plan, run, model."""
        self.check_parameters()
        if init_scores is not None and getattr(self, "init", None) is not None:
            raise ValueError("init and init_scores both say where boosting starts; use one of them")
        lines = [EveryRound()] if self.verbose else []
        watching = [*lines, *check_callbacks(callbacks)]
        for callback in watching:
            callback.begin_fit()

        def tell(text: str) -> None:
            for callback in watching:
                callback.notice(text)

        going_on, resumed = self._going_on(resume, checkpoint)
        if isinstance(X, Files):
            data = self._read_files(
                X, going_on, Watch(tell, lambda: min((c.seconds_left() for c in watching), default=inf))
            )
        else:
            data = self._read(X, y, sample_weight, pair_weight, init_scores, qid, going_on)
        if checkpoint and data.before is not None and data.before.model is None:
            raise ValueError(
                f"checkpoint: a run that starts from {type(data.before.estimator).__name__} cannot be written to a "
                "file; start from an estimator of multiboost, or give its scores to fit as init_scores"
            )
        with (
            closing(data.workspace),
            told_of_compiling(watching),
            Team(thread_count(self.n_jobs)) as team,
            self._warm(team, data),
        ):
            if data.before is not None:
                data.target.start = data.before.scores(data.table, team, data.target.kind)
            binned = data.binned or Binned.of(
                data.table, self.max_bins, self.min_category_rows, data.target.row_weight, team.n_threads
            )
            if checkpoint or resumed is not None:
                binned.digest()  # while the bins are there
            if going_on:
                plan, start = self.plan_, self._start(data, team)
                calibration = self.model_.calibration
            elif resumed is not None:
                plan, start = resumed.plan, resumed.start(data.target.signed.shape, data.workspace)
                calibration = resumed.model.calibration
            else:
                with comparing(min((c.seconds_left() for c in watching), default=inf), tell):
                    (plan, calibration), start = self._plan(binned, data.target, team), None
            rounds = self._rounds_to_go(plan, start)
            held_out = None if validation is None else self._held_out(validation, data, plan, team)
            run = Run(plan, binned, data.target, team, start, held_out, last=not self._needs_bins())
            if resumed is not None:
                resumed.check(run)
            if provenance is None and going_on:
                provenance = self.data_

            def model_of(n_rounds: int) -> Model:
                return self._model(run, data, n_rounds, provenance, calibration)

            for every in lines:
                every.step = max(1, rounds // 10) if self.verbose == 1 else 1
            saved = [Checkpoint(checkpoint, checkpoint_every, model_of)] if checkpoint else []
            keep = run.run(rounds, [*watching, *saved])
            if run.n_rounds == 0:
                keep = _add_constant(run)
                # Its scores are half the log odds of the classes: there is nothing to calibrate.
                calibration = None if calibration is None else Calibration(Theory())
            else:
                calibration = self._calibrated(run, keep, data) or calibration
            model = model_of(keep)
        self._become(model, plan)
        if run.stopped and self.verbose:
            print(f"stopped after {run.n_rounds} rounds: {run.stopped}", file=sys.stderr, flush=True)
        return self

    def _going_on(self, resume, checkpoint) -> tuple[bool, Resumed | None]:
        """Whether the fit goes on from the model that there is, and the checkpoint that it goes on from, if any."""
        going_on = self.warm_start and hasattr(self, "model_")
        resumed = _resumed(resume, checkpoint)
        if resumed is not None and going_on:
            raise ValueError("resume and warm_start both say where to go on from; use one of them")
        if resumed is not None:
            resumed.check_parameters(saved_parameters(self))
        return going_on, resumed

    def _warm(self, team: Team, data: _Table) -> AbstractContextManager:
        """Half of the kernels are compiled by another process where this is the first fit of all."""
        learner = base_learner_from(self.base_learner)
        while getattr(learner, "base", None) is not None:
            learner = learner.base
        if not isinstance(learner, (Cut, Tree, Product)):
            return nullcontext()
        criteria = self._wishes().criteria
        if not criteria:
            return nullcontext()
        bounded = "edge" in criteria and data.table.n_columns >= WIDE
        return warm(team.n_threads, criteria, bounded, data.target.n_labels == 1)

    def _read(self, X, y, sample_weight, pair_weight, init_scores, qid, going_on: bool) -> _Table:
        """The training set, checked."""
        if going_on:
            table, columns = check_table(self, X), self.model_.columns
        else:
            table, columns = learn_table(self, X, self.nominal_features)
        check_cuts(base_learner_from(self.base_learner), table)
        labels, recognise = self._kind(y)
        check_length(table, labels)
        sample_weight = check_weights(sample_weight, table.n_rows, self.negative_weights)
        kind = self.model_.kind if going_on else recognise(sample_weight, pair_weight)
        need(
            _PAIR * table.n_rows * kind.n_labels,
            f"{table.n_rows} rows times {kind.n_labels} {'classes or labels' if kind.n_labels > 1 else 'label'}",
            "take fewer rows, or join classes; numbers are predicted by MultiBoostRegressor",
        )
        if qid is not None:
            table, labels, sample_weight, qid = _by_query(table, labels, sample_weight, qid)
        sample_weight, sense = without_negative(self.negative_weights, table, kind, labels, sample_weight)
        target = self._target(kind, labels, sample_weight, pair_weight, training=True, qid=qid)
        target = target if sense is None else target.with_sense(sense)
        before = self.model_.before if going_on else before_of(self.init)
        if before is not None:
            before.check(kind, columns)
        if init_scores is not None:
            target.start, target.adds = given_scores(init_scores, kind, table.n_rows), True
        weighs = target.signed.any(axis=1)
        if not weighs.all():  # a sample without weight is no sample
            rows = np.flatnonzero(weighs)
            table, target = table.take(rows), target.take(rows)
        return _Table(table, columns, target, before)

    def _read_files(self, files: Files, going_on: bool, watch: Watch) -> _Table:
        """The same of a training set in files."""
        if going_on:
            raise ValueError("warm_start takes tables in memory, and X is in files; use checkpoint and resume to go on")
        read = read_files(self, files, watch)
        return _Table(read.table, read.columns, read.target, None, read.binned)

    def _held_out(self, validation, data: _Table, plan: Plan, team: Team) -> HeldOut:
        """The validation set, checked as the training set is."""
        X, y, weight, init_scores, qid = self._validation(validation)
        if data.target.adds != (init_scores is not None):
            raise ValueError("init_scores are given for the training set and for validation, or for none of them")
        table = check_table(self._like(data.columns), X)
        labels, _ = self._kind(y)
        weight = check_weights(weight, table.n_rows, self.negative_weights)
        check_length(table, labels)
        if qid is not None:
            table, labels, weight, qid = _by_query(table, labels, weight, qid)
        weight, sense = without_negative("keep", table, data.target.kind, labels, weight)
        target = self._target(data.target.kind, labels, weight, None, training=False, qid=qid)
        target = target if sense is None else target.with_sense(sense)
        target.start = start_of(data.before, init_scores, target.kind, table, team)
        target.adds = data.target.adds
        return HeldOut(table, target, plan.loss)

    def _validation(self, validation) -> tuple[Any, Any, Any, Any, Any]:
        """X, y, weights of samples, initial scores and queries of a validation set."""
        if not (isinstance(validation, (tuple, list)) and len(validation) in (2, 3, 4)):
            raise ValueError(
                "validation must be a tuple (X, y), (X, y, sample_weight) or (X, y, sample_weight, init_scores)"
            )
        X, y, weight, init_scores = (*validation, None, None)[:4]
        return X, y, weight, init_scores, None

    def _like(self, columns: Columns):
        """An estimator of this kind that knows these columns, for checks of other tables."""
        other = object.__new__(type(self))
        other.__dict__ = {**vars(self), **of_columns(columns), "model_": _Known(columns)}
        return other

    def _start(self, data: _Table, team: Team) -> Start:
        """Where a warm start goes on from."""
        model = self.model_
        scores = model.ensemble.scores(data.table, team, start=data.target.start)
        return Start(model.ensemble, scores, model.history, model.state)

    def _rounds_to_go(self, plan: Plan, start: Start | None) -> int:
        made = 0 if start is None else start.ensemble.n_rounds
        wanted = plan.rounds if self.n_estimators is None else self.n_estimators
        if wanted < made:
            raise ValueError(
                f"n_estimators={wanted} is less than the {made} rounds to go on from; raise it or start anew"
            )
        return wanted - made

    def _ruler(self, run: Run, data: _Table, n_rounds: int) -> tuple[Ensemble, Ruler]:
        """The first ``n_rounds`` rounds of a run, and how large their scores are."""
        ensemble, scores = run.ensemble(n_rounds), run.scores
        if n_rounds < run.n_rounds:
            scores = ensemble.scores(data.table, run.team, start=data.target.start, workspace=data.workspace)
        return ensemble, Ruler.of(data.target, scores, float(ensemble.size.sum()))

    def _model(
        self, run: Run, data: _Table, n_rounds: int, provenance: dict | None, calibration: Calibration | None
    ) -> Model:
        """The first ``n_rounds`` rounds of a run as a model."""
        ensemble, slope = run.ensemble(n_rounds), STEEPEST
        if calibration is not None:
            ensemble, ruler = self._ruler(run, data, n_rounds)
            slope = ruler.slope(calibration.unit)
        return Model(
            ensemble=ensemble,
            kind=data.target.kind,
            columns=data.columns,
            slope=slope,
            calibration=calibration,
            plan=run.plan.to_dict(),
            history={name: np.array(values[:n_rounds]) for name, values in run.history.items()},
            state=run.learned(n_rounds),
            n_rows=data.table.n_rows,
            data=provenance,
            estimator=type(self).__name__,
            parameters=saved_parameters(self),
            stopped=run.stopped,
            before=data.before,
        )


@dataclass
class _Known:
    """What is known of a model that is not trained yet."""

    columns: Columns


def check_length(table: Table, labels) -> None:
    """Refuse labels that are not one for each row."""
    if len(labels) != table.n_rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {[table.n_rows, len(labels)]}")


def _add_constant(run: Run) -> int:
    """The best constant where a run has learned nothing, with a warning; returns its rounds."""
    if not run.target.kind.adds_up:
        few = " of 1 sample" if run.n_samples == 1 else ""
        raise ValueError(f"nothing can be learned from this table{few}: {run.stopped}")
    run.add_constant()
    warnings.warn(
        f"nothing can be learned from this table: {run.stopped}; all rows get the same prediction",
        UserWarning,
        stacklevel=4,
    )
    return 1


def _by_query(table: Table, labels: np.ndarray, weight: np.ndarray | None, qid):
    """Table, grades, weights and the numbers of queries, sorted so that the rows of a query are neighbours."""
    queries = Queries(qid)
    if queries.number.size != table.n_rows:
        raise ValueError(f"qid has {queries.number.size} rows, but X has {table.n_rows}; give a query for every row")
    order = by_query(table, queries.number, labels, *([] if weight is None else [weight]))
    weight = None if weight is None else weight[order]
    return table.take(order), labels[order], weight, queries.number[order]


def _resumed(resume, checkpoint) -> Resumed | None:
    """The checkpoint to go on from, None for a new run."""
    if resume is True:
        if checkpoint is None:
            raise ValueError("resume=True goes on from the checkpoint: name its file, checkpoint=...")
        return Resumed(checkpoint) if Path(checkpoint).exists() else None
    return Resumed(resume) if resume else None
