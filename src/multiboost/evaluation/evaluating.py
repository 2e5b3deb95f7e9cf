"""Evaluate whatever was fitted: this is the one place that asks for the kind of its target."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from ..data.kinds import LabelKind
from ..data.ranked import Ranks, Scored
from ..data.real import Real
from ..estimators.threads import thread_count
from ..estimators.validation import check_table
from ..kernels.team import Team
from .columns import column_names, shown_value
from .curves import N_BINS
from .evaluation import Evaluation, evaluation_of
from .outcome import Answers, Outcome
from .ranking import Judgements, Ranked, RankingEvaluation, ranking_of
from .regression import RegressionEvaluation, regression_of
from .residuals import Numbers, Residuals

N_MISTAKES = 20
_N_VALUES = 8  # columns of a mistaken row that are shown, the most important ones

AnyEvaluation = Evaluation | RegressionEvaluation | RankingEvaluation


@dataclass(frozen=True)
class View:
    """How a kind of target is looked at.

    Attributes
    ----------
    answers : callable
        ``(clf, y, sample_weight)`` -> what is right for some rows, the same after every round.
    outcome : callable
        ``(answers, scores, n_rounds, size, model, loss)`` -> that beside the scores of a round.
    evaluation : callable
        ``(outcome, curves=, n_bins=, n_mistakes=)`` -> numbers.
    said : callable
        ``(model, scores)`` -> what users read, (n, columns): probabilities of labels, predictions, or the scores.
    """

    answers: Callable[..., Any]
    outcome: Callable[..., Any]
    evaluation: Callable[..., Any]
    said: Callable[..., np.ndarray] = lambda model, scores: scores


VIEWS: dict[type, View] = {  # by the class of a TargetKind; the first that fits
    Ranks: View(Judgements, Ranked, ranking_of, lambda model, scores: model.kind.answer(scores)[:, None]),
    LabelKind: View(Answers, Outcome, evaluation_of, lambda model, scores: model.label_probabilities(scores)),
    Real: View(
        Numbers, Residuals, regression_of, lambda model, scores: model.kind.values(scores).reshape(len(scores), -1)
    ),
}


def view_of(clf) -> View:
    """How the target of a fitted estimator is looked at."""
    check_is_fitted(clf)
    if is_mixture(clf):
        raise ValueError(
            f"{type(clf).__name__} is many models: evaluate() takes it, and what looks into a model takes one of its "
            "estimators_"
        )
    kind = clf.model_.kind
    for known, view in VIEWS.items():
        if isinstance(kind, known):
            return view
    raise ValueError(f"targets of the kind {kind.name!r} cannot be evaluated; add them to VIEWS")


def is_mixture(clf) -> bool:
    """Whether a fitted estimator is an ensemble of ensembles."""
    return hasattr(clf, "mixture_")


def answers_of(clf, y, sample_weight=None, qid=None):
    """What is right for some rows: `Answers`, `Numbers` or `Judgements`."""
    view = view_of(clf)
    if view.answers is Judgements:
        return Judgements(clf, y, sample_weight, qid)
    if qid is not None:
        raise ValueError(f"qid is for rankers, and {type(clf).__name__} is none; leave it out")
    return view.answers(clf, y, sample_weight)


def outcome_of(clf, X, y, sample_weight=None, qid=None):
    """The outcome of the whole model on rows X with labels, numbers or grades y."""
    view, answers, model = view_of(clf), answers_of(clf, y, sample_weight, qid), clf.model_
    table = check_table(clf, X)
    check_consistent_length(np.empty(table.n_rows), answers.weight)
    with Team(thread_count(clf.n_jobs)) as team:
        scores = model.scores(table, team)
    return view.outcome(answers, scores, model.n_rounds, float(model.sizes()[-1]), model, clf.answer_loss_)


def mixture_outcome(clf, X, y, sample_weight=None, qid=None):
    """The outcome of an ensemble of ensembles: probabilities or one score, of which 2 p - 1 stand for votes.

    There is no risk, which nothing has minimised, and nothing before calibration.
    """
    answers: Any = answers_of(clf.estimators_[0], y, sample_weight, qid)
    if isinstance(answers, Judgements):
        scores = clf.predict(X)[:, None]
        check_consistent_length(scores, answers.weight)
        answers.kind = Scored(answers.kind.classes, answers.kind.gain)
        return Ranked(answers, scores, clf.rounds_, 1.0, None, None)
    p = clf.predict_proba(X)
    check_consistent_length(p, answers.weight)
    p = p[:, 1:] if answers.kind.n_labels == 1 else p
    answers.target = None
    found = Outcome(answers, 2.0 * p - 1.0, clf.rounds_, 1.0, None, None)
    found.probability = p
    return found


def staged_outcomes(clf, X, y, sample_weight=None, rounds=None, qid=None) -> Iterator[Any]:
    """Outcomes after some rounds, in memory that does not grow with their number.

    Parameters
    ----------
    clf : fitted estimator
    X, y, sample_weight
    rounds : iterable of int or None
        After which rounds, counted from 1; None means all.

    Yields
    ------
    Outcome, Residuals or Ranked
        Good until the next one.
    """
    view, answers, model = view_of(clf), answers_of(clf, y, sample_weight, qid), clf.model_
    last = model.n_rounds
    wanted = set(range(1, last + 1)) if rounds is None else {int(t) for t in rounds}
    strange = sorted(t for t in wanted if not 1 <= t <= last)
    if strange:
        raise ValueError(f"rounds are counted from 1 to {last}; got {strange[0]}")
    if not wanted:
        return
    sizes = model.sizes()
    table = check_table(clf, X)
    check_consistent_length(np.empty(table.n_rows), answers.weight)
    with Team(thread_count(clf.n_jobs)) as team:
        for t, scores in enumerate(model.staged_scores(table, team), start=1):
            if t in wanted:
                yield view.outcome(answers, scores, t, float(sizes[t - 1]), model, clf.answer_loss_)
            if t == max(wanted):
                return


def evaluate(
    clf, X, y, sample_weight=None, *, qid=None, curves=True, n_bins=N_BINS, n_mistakes=N_MISTAKES, values=True
) -> AnyEvaluation:
    """Evaluate a fitted classifier, regressor or ranker.

    Parameters
    ----------
    clf : fitted estimator
        Fitted; also an `ExponentialWeighting`, whose margins are those of 2 p - 1.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
    y : labels, numbers or grades as in ``fit``
        NaN, None and NA in several columns are unknown and take no part.
    sample_weight : array of shape (n_samples,), default=None
        Those of labels may be negative, if the weights of each class add up to more than 0.
    qid : array of shape (n_samples,), default=None
        Of a ranker: the query of every row.
    curves : bool, default=True
        Whether to keep what pictures show (ROC curves, precision and recall, reliability, margins; of numbers points
        and histograms; of rankings NDCG at every position) and intervals, which take a moment.
    n_bins : int, default=10
        Of reliability; neighbours are put together until each has 20 rows.
    n_mistakes : int, default=20
        How many of the largest mistakes to keep.
    values : bool, default=True
        Whether mistakes show what their rows hold.

    Returns
    -------
    Evaluation, RegressionEvaluation or RankingEvaluation

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multiboost import AdaBoostMHClassifier, evaluate
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = AdaBoostMHClassifier("stump", n_estimators=20).fit(X, y)
    >>> round(evaluate(clf, X, y).error, 3)
    0.033
    """
    if is_mixture(clf):
        outcome, clf = mixture_outcome(clf, X, y, sample_weight, qid), clf.estimators_[0]
    else:
        outcome = outcome_of(clf, X, y, sample_weight, qid)
    view = view_of(clf)
    found = view.evaluation(outcome, curves=curves, n_bins=n_bins, n_mistakes=n_mistakes)
    if values and found.mistakes:
        _add_values(clf, X, found.mistakes)
    return found


def staged_evaluation(
    clf, X, y, sample_weight=None, *, qid=None, rounds=None, curves=False, n_bins=N_BINS, n_mistakes=0
) -> Iterator[AnyEvaluation]:
    """Evaluate after one round, two rounds and so on.

    Memory does not grow with the number of rounds, unless the caller keeps what is yielded.

    Parameters
    ----------
    clf : fitted estimator
        Fitted.
    X, y, sample_weight, qid
        As in `evaluate`.
    rounds : iterable of int, default=None
        After which rounds, counted from 1; None means all.
    curves, n_bins, n_mistakes
        As in `evaluate`.

    Yields
    ------
    Evaluation, RegressionEvaluation or RankingEvaluation
        ``n_rounds`` tells which.
    """
    view = view_of(clf)
    for outcome in staged_outcomes(clf, X, y, sample_weight, rounds, qid):
        yield view.evaluation(outcome, curves=curves, n_bins=n_bins, n_mistakes=n_mistakes)


def _add_values(clf, X, mistakes: list) -> None:
    """What the mistaken rows hold in the columns that matter most."""
    names = column_names(clf)
    shown = np.argsort(-clf.feature_importances_, kind="stable")[:_N_VALUES]
    rows = np.unique([m.row for m in mistakes])
    table = check_table(clf, X).take(rows)
    values = table.rows(0, len(rows))
    for mistake in mistakes:
        row = values[np.searchsorted(rows, mistake.row)]
        mistake.values = {names[j]: shown_value(clf, j, row[j]) for j in shown.tolist()}
