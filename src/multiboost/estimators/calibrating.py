"""Where a classifier's calibration comes from: the comparison, folds of its own, or the validation set."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..boosting.auto import TRIAL_ROWS
from ..boosting.comparison import TimeIsUp
from ..boosting.out_of_fold import Part, best_method, calibration_of
from ..boosting.plan import Plan
from ..boosting.ruler import Ruler
from ..boosting.run import Run
from ..boosting.trial import Trial
from ..calibration import CALIBRATORS, Calibration, Calibrator, Margin, Theory
from ..data.binned import Binned
from ..data.target import Target
from ..kernels.team import Team
from ..model.ensemble import Ensemble
from .wishes import part_of

VALIDATION = "validation"


def check_calibration(calibration: Any, cv: Any) -> None:
    """Refuse what a calibration, or its rows, cannot be."""
    _method(calibration)
    folds = isinstance(cv, (int, np.integer)) and not isinstance(cv, bool) and cv >= 2
    if not (cv is None or folds or (isinstance(cv, str) and cv == VALIDATION)):
        raise ValueError(f"calibration_cv must be a number of folds of at least 2, 'validation' or None; got {cv!r}")


def _method(calibration: Any) -> Calibrator | None:
    """The calibrator that is asked for; None leaves it open."""
    if isinstance(calibration, str) and calibration == "auto":
        return None
    return Theory() if calibration is None else part_of("calibration", CALIBRATORS, calibration)


def _chosen(calibration: Any, kind) -> Calibrator:
    """The same with "auto" decided."""
    return _method(calibration) or CALIBRATORS.get(best_method(kind))()


def learned_with(
    calibration: Any, cv: Any, plan: Plan, trial: Trial | None, binned: Binned, target: Target, team: Team
) -> Calibration:
    """The calibration that comes with a plan: from rows that a comparison has held out.

    Where nothing was compared "auto" learns nothing, as it would cost time that nobody asked for; a calibration that
    was asked for gets its own runs.

    Parameters
    ----------
    calibration, cv
        Parameters of the classifier.
    plan : Plan
    trial : Trial or None
        The comparison.
    binned, target, team
        The training set.
    """
    method = _method(calibration)
    if method is not None and not method.learns:
        return Calibration(method)
    compared = trial is not None and trial.has_run(plan)
    if cv is not None or (method is None and not compared):
        return Calibration(Margin())  # until something better is known
    try:
        if trial is None:
            trial = Trial(binned, target, TRIAL_ROWS, team)
        parts = trial.out_of_fold(plan)
    except TimeIsUp:
        return Calibration(Margin())
    return calibration_of(_chosen(calibration, target.kind), parts)


def learned_after(
    calibration: Any, cv: Any, run: Run, target: Target, ensemble: Ensemble, ruler: Ruler
) -> Calibration | None:
    """The calibration that comes after a run: by cross-fitting, or from the validation set; else None.

    Parameters
    ----------
    calibration, cv
        Parameters of the classifier.
    run : Run
    target : Target
        Of the training set.
    ensemble : Ensemble
        The rounds that are kept.
    ruler : Ruler
        Theirs.
    """
    method = _chosen(calibration, target.kind)
    if cv is None or not method.learns:
        return None
    if isinstance(cv, str):
        if run.held_out is None:
            raise ValueError("calibration_cv='validation' needs a validation set: pass validation=(X, y) to fit")
        held_out = run.held_out
        scores = ensemble.scores(held_out.table, run.team, start=held_out.target.start)
        parts = [Part(held_out.target, scores, ruler)]
    else:
        trial = Trial(run.binned, target, run.binned.n_rows, run.team, n_folds=int(cv), of=int(cv))
        parts = trial.cross_fitted(run.plan, ensemble.n_rounds)
    return calibration_of(method, parts)
