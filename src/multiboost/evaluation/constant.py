"""What a model is compared with: the best that can be said without looking at a single column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .intervals import Interval, bootstrap, effective_rows, mean_ratio, wilson
from .outcome import Outcome, mean_of_known


@dataclass
class Constant:
    """What always giving the most frequent answer of these rows would do.

    Attributes
    ----------
    answer : str
        That answer; empty where there are several questions (tasks, labels).
    error : float or None
        As `Evaluation.error`.
    hamming_loss : float or None
        Share of wrong labels of a multi-label target; None for others.
    log_loss : float or None
        Of giving each answer the probability that is its share of these rows.
    """

    answer: str
    error: float | None
    hamming_loss: float | None
    log_loss: float | None


def most_frequent(outcome: Outcome) -> np.ndarray:
    """The answer with the most weight to each question, (questions,) class numbers."""
    return np.array([int(outcome.confusion(q).sum(axis=1).argmax()) for q in range(outcome.n_questions)], np.intp)


def always(outcome: Outcome) -> Outcome:
    """The outcome of giving the most frequent answers; its scores remain the model's."""
    same = Outcome(outcome.answers, outcome.scores, outcome.n_rounds, outcome.size, outcome.model, outcome.loss)
    same.guesses = np.broadcast_to(most_frequent(outcome), outcome.answers.encoded.shape)
    return same


def constant_of(outcome: Outcome) -> Constant:
    """The most frequent answers instead of the model's."""
    a, same = outcome.answers, always(outcome)
    surprises = []
    for q in range(outcome.n_questions):
        mass = outcome.confusion(q).sum(axis=1)
        share = mass[mass > 0] / mass.sum() if mass.sum() > 0 else np.zeros(0)
        surprises.append(float(-(share * np.log(share)).sum()) if share.size else None)
    single, labels = outcome.n_questions == 1, not (a.kind.tasks or a.kind.is_single)
    return Constant(
        answer=a.kind.answer_names(0)[most_frequent(outcome)[0]] if single else "",
        error=same.error(),
        hamming_loss=_share(wrong_sums(same)) if labels else None,
        log_loss=mean_of_known(surprises),
    )


def wrong_sums(outcome: Outcome) -> np.ndarray:
    """What each row adds to the error that counts: wrong weight and all weight of each question; (n, 2 questions).

    The labels of a multi-label target are one question, as in the Hamming loss.
    """
    a = outcome.answers
    known = (a.encoded >= 0) * a.weight[:, None]
    wrong = known * (outcome.guesses != a.encoded)
    if not (a.kind.tasks or a.kind.is_single):
        known, wrong = known.sum(axis=1, keepdims=True), wrong.sum(axis=1, keepdims=True)
    return np.hstack([wrong, known])


def surprise_sums(outcome: Outcome) -> np.ndarray:
    """The same for the log-loss."""
    a = outcome.answers
    known = (a.encoded >= 0) * a.weight[:, None]
    lost = np.zeros(known.shape)
    for q in range(outcome.n_questions):
        rows = a.rows(q)
        lost[rows, q] = outcome.surprise(q) * a.weight[rows]
    return np.hstack([lost, known])


def _share(sums: np.ndarray) -> float | None:
    value = float(mean_ratio(sums.sum(axis=0, keepdims=True))[0]) if len(sums) else np.nan
    return value if np.isfinite(value) else None


def intervals_of(outcome: Outcome) -> dict[str, Interval]:
    """Intervals of the error, of the log-loss and, of several labels, of the Hamming loss."""
    a = outcome.answers
    weight = a.weight[(a.encoded >= 0).any(axis=1)]
    found: dict[str, Interval | None] = {}
    if (a.kind.is_single or not a.kind.tasks) and not a.is_signed:  # a share of rows
        found["error"] = wilson(outcome.error(), effective_rows(weight))
    else:
        found["error"] = bootstrap(wrong_sums(outcome), mean_ratio)
    if not (a.kind.tasks or a.kind.is_single):
        found["hamming_loss"] = bootstrap(wrong_sums(outcome), mean_ratio)
    found["log_loss"] = bootstrap(surprise_sums(outcome), mean_ratio)
    return {name: interval for name, interval in found.items() if interval is not None}


def advantage_of(outcome: Outcome) -> Interval | None:
    """By how much the constant's error (Hamming loss of several labels) is above the model's, row by row: a bootstrap.

    The constant is chosen once, on these rows, which makes it a little better than it is.
    """
    ours, theirs = wrong_sums(outcome), wrong_sums(always(outcome))
    half = ours.shape[1] // 2
    return bootstrap(np.hstack([theirs[:, :half] - ours[:, :half], ours[:, half:]]), mean_ratio)
