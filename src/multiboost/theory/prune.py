"""Fewer rounds at the same accuracy: an L1 refit of the coefficients."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..boosting.ruler import Ruler
from ..data.kinds import LabelKind
from ..data.real import RealTarget
from ..estimators.saving import estimator_of
from ..estimators.threads import thread_count
from ..kernels.team import Team
from ..model.model import Model
from .rows import checked, target_of

_STEPS, _SPAN = 20, 1e-3  # penalties that are tried, from the one that leaves nothing down to this share of it
_GRADIENT_STEPS, _STILL = 500, 1e-6  # of FISTA for each penalty; the relative change at which it has arrived


def prune(clf, X, y, *, tolerance: float | None = None):
    """A model with fewer rounds, whose coefficients are fitted anew under an L1 penalty.

    The scores become F = initial + sum over rounds of c_t h_t(x), where h_t is what the round says now and c minimises

        logistic loss of the labels, or squared loss of the numbers, + lambda sum of |c_t|

    on every second row (Murphy 2012, 16.4.5: L1-AdaBoost).  lambda is the largest whose error on the other rows is that
    of the whole model, but for ``tolerance``.  Rounds of c_t = 0 are dropped.

    Parameters
    ----------
    clf : fitted classifier, or regressor with squared loss
        It is not changed.
    X, y
        Rows that it was not trained on, where there are enough of them; with training rows pruning prefers the rounds
        that know them by heart.
    tolerance : float, default=None
        Error that may be lost: of classes a share, of numbers a part of 1 - R2.  None is the standard error of the
        difference: what these rows cannot tell apart.

    Returns
    -------
    The same kind of estimator, fitted
        It predicts, is saved and loaded like any other.  Its history is empty: the rounds that are left are not those
        of a run.  Where no penalty is good enough it has all rounds and the coefficients of ``clf``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multiboost import AdaBoostMHClassifier
    >>> from multiboost.theory import prune
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = AdaBoostMHClassifier("stump", n_estimators=50).fit(X[::2], y[::2])
    >>> prune(clf, X[1::2], y[1::2]).n_iter_ < 50
    True
    """
    model, target = clf.model_, _target(clf, y)
    if model.before is not None:
        raise ValueError("the model starts from the scores of another one (init); prune takes models that stand alone")
    table = checked(clf, X, target)
    rounds = np.empty((table.n_rows, model.kind.n_labels, model.n_rounds))
    with Team(thread_count(clf.n_jobs)) as team:
        for t, votes in enumerate(model.rounds(table, team)):
            rounds[:, :, t] = votes
    learn, judge = np.arange(0, table.n_rows, 2), np.arange(1, table.n_rows, 2)
    if judge.size == 0:
        raise ValueError("prune needs at least two rows: one to fit the coefficients, one to judge them")
    judged, initial = target.take(judge), model.ensemble.initial

    def errors(coefficients: np.ndarray) -> np.ndarray:
        return judged.errors(initial + rounds[judge] @ coefficients)

    best = np.ones(model.n_rounds)
    whole = errors(best)
    for coefficients in _path(rounds[learn], initial, target.take(learn)):
        lost = errors(coefficients) - whole
        if lost.sum() <= (np.sqrt(lost @ lost) if tolerance is None else tolerance) + 1e-12:
            best = coefficients
            break
    return _with_coefficients(clf, model, best, _slope(model, target, initial + rounds @ best, best))


def _slope(model: Model, target, scores: np.ndarray, coefficients: np.ndarray) -> float:
    """What scores are multiplied by before they are calibrated."""
    if model.calibration is None:
        return model.slope
    size = float((model.ensemble.size * np.abs(coefficients)).sum())
    return Ruler.of(target, scores, size).slope(model.calibration.unit) if size > 0 else model.slope


def _target(clf, y):
    """Labels or numbers with their weights; what has neither a logistic nor a squared refit is refused."""
    kind = getattr(getattr(clf, "model_", None), "kind", None)
    if isinstance(kind, LabelKind):
        return target_of(clf, y)
    if kind is None or clf.plan_.loss.name != "squared":
        raise ValueError("prune takes fitted classifiers, and regressors with loss='squared'")
    return RealTarget(kind, np.asarray(y, dtype=np.float64), clf.plan_.loss)


def _path(rounds: np.ndarray, initial: np.ndarray, target):
    """Coefficients under smaller and smaller penalties, (T,) each: proximal gradient steps (FISTA), warm from the last.

    The slope along F of the logistic loss w ln(1 + exp(-2 F Y)) is -2 w Y sigma(-2 F Y), its curvature at most w; of
    the squared loss w (y - F)^2 / 2 it is w (F - y), with the curvature w.
    """
    known = target.signed != 0
    weight = np.abs(target.signed[known])
    votes, start = rounds[known], np.broadcast_to(initial, known.shape)[known]
    sign = np.sign(target.signed[known])
    wanted = target.wanted[known] if target.wanted.size else None

    def slope(F: np.ndarray) -> np.ndarray:
        if wanted is not None:
            return weight * (F - wanted)
        return -2.0 * weight * sign / (1.0 + np.exp(np.minimum(2.0 * F * sign, 700.0)))

    steepest = float(np.linalg.norm(votes * np.sqrt(weight)[:, None], 2) ** 2)  # largest curvature along c
    largest = float(np.abs(slope(start) @ votes).max())
    c = np.zeros(votes.shape[1])
    for penalty in largest * np.geomspace(1.0, _SPAN, _STEPS + 1)[1:]:
        ahead, pace = c.copy(), 1.0
        for _ in range(_GRADIENT_STEPS):
            moved = ahead - slope(start + votes @ ahead) @ votes / steepest
            new = np.sign(moved) * np.maximum(np.abs(moved) - penalty / steepest, 0.0)
            faster = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * pace * pace))
            ahead, change = new + (pace - 1.0) / faster * (new - c), float(np.abs(new - c).max())
            c, pace = new, faster
            if change <= _STILL * max(float(np.abs(c).max()), _STILL):
                break
        yield c.copy()


def _with_coefficients(clf, model: Model, coefficients: np.ndarray, slope: float):
    """The estimator of a model whose rounds are multiplied; those of 0 are gone."""
    if not coefficients.any():
        raise ValueError("nothing is left: a constant is as good as the model on these rows")
    pruned = replace(
        model, ensemble=model.ensemble.weighted(coefficients), slope=slope, history={}, state={}, data=model.data
    )
    found = estimator_of(pruned, "the pruned model")
    return found.set_params(n_jobs=clf.n_jobs, verbose=clf.verbose)
