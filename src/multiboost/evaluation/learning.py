"""How a model came to be: error, risk, bound and margins, round by round."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .curves import Margins
from .evaluating import staged_outcomes

N_ROUNDS = 200  # points of a curve; longer runs are thinned
N_MARGINS = 4  # rounds whose margins are kept


@dataclass
class LearningCurves:
    """Curves over the rounds.

    Attributes
    ----------
    rounds : list of int
        From 1; thinned where there are very many.
    measure : {"error", "Hamming loss", "relative error", "1 - NDCG@10"}
        What the errors are: the Hamming loss of multi-label targets, the 0/1 error of others; of numbers the part of
        the best constant's loss that is left.
    training_error : list of (float or None)
        Of the training rows if they were given, else as training saw it, with its weights.
    error : list of (float or None)
        Of the given rows; empty where there are none.
    training_risk : list of (float or None)
        What training minimises.
    risk : list of (float or None)
        The same of the given rows; empty where there are none, or where training had label
        weights of its own.
    bound : list of (float or None)
        prod over the rounds of Z, (3.21), which is the exponential risk of the training rows
        and bounds their weighted Hamming loss (3.10); empty under other losses.
    edge, alpha : list of (float or None)
    margins : dict of int to Margins
        Of the given rows after some rounds; numbers have none.
    training_margins : dict of int to Margins
    """

    rounds: list[int]
    measure: str
    training_error: list[float | None]
    error: list[float | None] = field(default_factory=list)
    training_risk: list[float | None] = field(default_factory=list)
    risk: list[float | None] = field(default_factory=list)
    bound: list[float | None] = field(default_factory=list)
    edge: list[float | None] = field(default_factory=list)
    alpha: list[float | None] = field(default_factory=list)
    margins: dict[int, Margins] = field(default_factory=dict)
    training_margins: dict[int, Margins] = field(default_factory=dict)


def some_rounds(n_rounds: int, at_most: int = N_ROUNDS) -> list[int]:
    """All rounds, or evenly spread ones, the first and the last always among them."""
    return np.unique(np.linspace(1, n_rounds, min(n_rounds, at_most)).round().astype(int)).tolist()


def milestones(n_rounds: int, at_most: int = N_MARGINS) -> list[int]:
    """A few rounds, further and further apart, up to the last."""
    return np.unique(np.geomspace(min(5, n_rounds), n_rounds, at_most).round().astype(int)).tolist()


def learning_curves(
    clf,
    X=None,
    y=None,
    sample_weight=None,
    *,
    qid=None,
    X_train=None,
    y_train=None,
    qid_train=None,
    rounds=None,
    margin_rounds=(),
) -> LearningCurves:
    """Curves over the rounds of a fitted estimator.

    Parameters
    ----------
    clf : fitted estimator
        Fitted.
    X, y, sample_weight, qid
        Held-out rows, of a ranker with their queries; without them there are the curves of training only.
    X_train, y_train, qid_train
        The training rows; without them the training error is the one that ``fit`` kept.
    rounds : iterable of int, default=None
        After which rounds; None means all, up to about 200 of them.
    margin_rounds : iterable of int, default=()
        After which rounds to keep the distribution of margins.

    Returns
    -------
    LearningCurves
    """
    kept = clf.ensemble_.n_rounds
    rounds = some_rounds(kept) if rounds is None else sorted({int(t) for t in rounds})
    measure = clf.model_.kind.measure
    curves = LearningCurves(
        rounds,
        measure,
        training_error=_of_history(clf, "training_error", rounds),
        training_risk=_of_history(clf, "risk", rounds),
        edge=_of_history(clf, "edge", rounds),
        alpha=_of_history(clf, "alpha", rounds),
    )
    energies = np.asarray(clf.history_.get("Z", []), dtype=np.float64)
    if clf.loss_ == "exponential" and np.isfinite(energies).all():
        bound = np.exp(np.cumsum(np.log(energies)))
        curves.bound = [float(bound[t - 1]) if t <= len(bound) else None for t in rounds]
    if X is not None:
        curves.error, curves.risk, curves.margins = _follow(clf, X, y, sample_weight, rounds, margin_rounds, qid)
    if X_train is not None:
        # Training kept its own risk.
        curves.training_error, _, curves.training_margins = _follow(
            clf, X_train, y_train, None, rounds, margin_rounds, qid_train, risks=False
        )
    return curves


def _of_history(clf, name: str, rounds: list[int]) -> list[float | None]:
    values = clf.history_.get(name, ())  # pruned and imported models have none
    return [float(values[t - 1]) if t <= len(values) and np.isfinite(values[t - 1]) else None for t in rounds]


def _follow(clf, X, y, sample_weight, rounds, margin_rounds, qid=None, *, risks=True):
    """Errors, risks and margins of rows in one pass through the model."""
    error: list[float | None] = []
    risk: list[float | None] = []
    kept: dict[int, Margins] = {}
    at, margins_at = set(rounds), {int(t) for t in margin_rounds}
    for outcome in staged_outcomes(clf, X, y, sample_weight, at | margins_at, qid):
        if outcome.n_rounds in at:
            error.append(outcome.measured())
            value = outcome.risk() if risks else None
            risk.append(value if value is None or np.isfinite(value) else None)
        if outcome.n_rounds in margins_at:
            found = outcome.margins()
            if found is not None:
                kept[outcome.n_rounds] = found
    return error, risk if any(r is not None for r in risk) else [], kept
