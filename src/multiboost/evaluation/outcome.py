"""What a model says of labelled rows: scores beside labels, and everything that follows.

Every kind of target is seen as a list of questions, each with one right answer a row:

==========================  ============================================================
binary, multiclass          one question: which class?
multitask                   one question per task
multilabel                  one question per label: 0 or 1?
==========================  ============================================================

A row takes no part in a question whose answer is unknown, nor does a row without weight.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from ..data.target import Target, TargetKind, as_labels
from ..estimators.link import early_slope, probabilities
from ..estimators.validation import check_weights

_EPS = np.finfo(np.float64).eps  # a probability is kept this far from 0, as scikit-learn does


class Answers:
    """Labels and weights of some rows, the same after every round.

    Parameters
    ----------
    clf : fitted classifier
    y : labels as in ``fit``
    sample_weight : array (n,) or None

    Attributes
    ----------
    kind : TargetKind
    encoded : ndarray (n, questions) intp
        The right answers as class numbers, -1 where unknown.
    signs : ndarray (n, K) int8
        Y, 0 where unknown.
    weight : ndarray (n,)
    signed : ndarray (n, K) or None
        W0 Y as in training, for the risk; None where training had label weights of its own.
    """

    def __init__(self, clf, y, sample_weight=None):
        check_is_fitted(clf)
        self.kind: TargetKind = clf._target_kind
        y = as_labels(y)
        if y.ndim == 2 and y.shape[1] == 1 and self.kind.kind in ("binary", "multiclass"):
            y = y.ravel()
        self.encoded = self.kind.encode(y)
        self.signs = self.kind.signs(self.encoded)
        given = check_weights(sample_weight, len(y))
        self.weight = np.ones(len(y)) if given is None else given
        self.signed = None
        if clf.weighting != "given":
            self.signed = Target(self.kind, y, clf.weighting, given).signed

    @cached_property
    def question_names(self) -> list[str]:
        """One name per question; empty for the only one."""
        kind = self.kind
        if kind.kind == "multilabel":
            return [str(c) for c in kind.classes[0]]
        return [""] if len(kind.classes) == 1 else [f"task {t}" for t in range(len(kind.classes))]

    def class_names(self, question: int) -> list[str]:
        """Possible answers to a question."""
        if self.kind.kind == "multilabel":
            return ["0", "1"]
        return [str(c) for c in self.kind.classes[question]]

    def rows(self, question: int) -> np.ndarray:
        """Rows that take part in a question."""
        return np.flatnonzero((self.encoded[:, question] >= 0) & (self.weight > 0))

    def task_of(self, label: int) -> int:
        """The question that a column of F belongs to."""
        if self.kind.kind == "multilabel":
            return label
        sizes = np.cumsum([len(c) for c in self.kind.classes])
        return 0 if self.kind.kind == "binary" else int(np.searchsorted(sizes, label, side="right"))


class Outcome:
    """Scores of labelled rows after some rounds.

    Parameters
    ----------
    answers : Answers
    scores : ndarray (n, K)
        F; not copied, so that an outcome of a staged run is good until the next round.
    n_rounds : int
    size : float
        Sum of the sizes of all votes so far, which normalises margins.
    slope : float
        Of the link to probabilities.
    loss : str
    """

    def __init__(self, answers: Answers, scores: np.ndarray, n_rounds: int, size: float, slope: float, loss: str):
        self.answers, self.scores, self.n_rounds = answers, scores, n_rounds
        self.size, self.slope, self.loss = size, slope, loss

    @property
    def n_questions(self) -> int:
        return self.answers.encoded.shape[1]

    @cached_property
    def probability(self) -> np.ndarray:
        """Probabilities of the labels, (n, K)."""
        kind = self.answers.kind
        p = probabilities(kind, self.scores, self.slope)
        if kind.kind == "binary":
            return p[:, 1:]
        return np.concatenate(p, axis=1) if isinstance(p, list) else p

    def guess(self, question: int) -> np.ndarray:
        """The model's answer to a question, (n,) class numbers."""
        kind = self.answers.kind
        if kind.kind in ("binary", "multilabel"):
            return (self.scores[:, question] > 0).astype(np.intp)
        return self.scores[:, kind.tasks[question]].argmax(axis=1)

    @cached_property
    def guesses(self) -> np.ndarray:
        """All answers, (n, questions)."""
        return np.stack([self.guess(q) for q in range(self.n_questions)], axis=1)

    def true_probability(self, question: int) -> np.ndarray:
        """Probability of the right answer, for the rows of a question."""
        a = self.answers
        rows = a.rows(question)
        true = a.encoded[rows, question]
        if a.kind.kind in ("binary", "multilabel"):
            p = self.probability[rows, question]
            return np.where(true == 1, p, 1.0 - p)
        return self.probability[rows, a.kind.tasks[question].start + true]

    def question_error(self, question: int) -> float | None:
        """Share of wrong answers, (3.9)."""
        a = self.answers
        rows = a.rows(question)
        return mean(self.guesses[rows, question] != a.encoded[rows, question], a.weight[rows])

    def error(self) -> float | None:
        """The 0/1 error: ``1 - clf.score(X, y)`` where all labels are known.

        Of several tasks the mean of their errors; of a multi-label target the share of rows
        with at least one wrong label (subset error).
        """
        a = self.answers
        if a.kind.kind != "multilabel":
            return mean_of_known([self.question_error(q) for q in range(self.n_questions)])
        known = a.encoded >= 0
        rows = np.flatnonzero(known.any(axis=1))
        return mean(((self.guesses != a.encoded) & known).any(axis=1)[rows], a.weight[rows])

    def hamming_loss(self) -> float | None:
        """Share of pairs of a row and a label with the wrong sign, (3.10) with weights (3.11)."""
        a = self.answers
        known = a.signs != 0
        wrong = ((self.scores > 0) != (a.signs > 0)) & known
        total = float((a.weight * known.sum(axis=1)).sum())
        return float((a.weight * wrong.sum(axis=1)).sum()) / total if total > 0 else None

    def balanced_error(self, question: int) -> float | None:
        """One minus the mean recall of the classes that occur."""
        confusion = self.confusion(question)
        occurs = confusion.sum(axis=1)
        recall = np.diag(confusion)[occurs > 0] / occurs[occurs > 0]
        return float(1.0 - recall.mean()) if recall.size else None

    def confusion(self, question: int) -> np.ndarray:
        """Weight of every pair of a right (row) and a given answer (column)."""
        a = self.answers
        rows = a.rows(question)
        k = len(a.class_names(question))
        pair = a.encoded[rows, question] * k + self.guesses[rows, question]
        return np.bincount(pair, weights=a.weight[rows], minlength=k * k).reshape(k, k)

    def log_loss(self, question: int) -> float | None:
        """Mean of -ln p of the right answer."""
        a = self.answers
        p = np.clip(self.true_probability(question), _EPS, 1.0)
        return mean(-np.log(p), a.weight[a.rows(question)])

    def risk(self) -> float | None:
        """The loss that training minimises, with training's initial weights.

        sum W0 exp(-F Y), (3.16), or sum W0 ln(1 + exp(-2 F Y)).
        """
        signed = self.answers.signed
        if signed is None:
            return None
        margin = self.scores * np.sign(signed)
        if self.loss == "exponential":
            with np.errstate(over="ignore"):  # far on the wrong side the loss is infinite
                return float((np.abs(signed) * np.exp(-margin)).sum())
        return float((np.abs(signed) * np.logaddexp(0.0, -2.0 * margin)).sum())

    def pair_margins(self) -> tuple[np.ndarray, np.ndarray]:
        """Normalised margins F Y of all known pairs, as ``clf.margins``, and their weights."""
        a = self.answers
        known = (a.signs != 0) & (a.weight > 0)[:, None]
        margins = (self.scores * a.signs)[known] / self.size
        return margins, np.broadcast_to(a.weight[:, None], known.shape)[known]

    def decision_margins(self, question: int) -> np.ndarray:
        """By how much the right answer wins, for the rows of a question; from -1 to 1.

        (F of the right class - the largest F of the others) / (2 sum of sizes), which for
        labels that stand alone is F Y / sum of sizes.
        """
        a = self.answers
        rows = a.rows(question)
        if a.kind.kind in ("binary", "multilabel"):
            return self.scores[rows, question] * a.signs[rows, question] / self.size
        rivals = self.scores[rows, a.kind.tasks[question]]
        true = a.encoded[rows, question]
        own = rivals[np.arange(rows.size), true]
        rivals[np.arange(rows.size), true] = -np.inf
        return (own - rivals.max(axis=1)) / (2.0 * self.size)


def mean(values: np.ndarray, weights: np.ndarray) -> float | None:
    """Weighted mean; None of nothing."""
    total = float(weights.sum())
    # Not by `@`: the threads of a matrix library and those that score get in each other's way.
    return float((values * weights).sum()) / total if total > 0 else None


def mean_of_known(values) -> float | None:
    """Plain mean of what is not None."""
    known = [v for v in values if v is not None]
    return float(np.mean(known)) if known else None


def sizes_of(clf) -> np.ndarray:
    """The sum of the sizes of all votes after each round, (rounds,)."""
    return np.cumsum(clf.ensemble_.size) + np.abs(clf.ensemble_.initial).max()


def outcome_of(clf, X, y, sample_weight=None) -> Outcome:
    """The outcome of the whole model on rows X with labels y."""
    answers = Answers(clf, y, sample_weight)
    scores = clf._scores(X)
    check_consistent_length(scores, answers.encoded)
    return Outcome(answers, scores, clf.ensemble_.n_rounds, float(sizes_of(clf)[-1]), clf.slope_, clf.loss_)


def staged_outcomes(clf, X, y, sample_weight=None, rounds=None) -> Iterator[Outcome]:
    """Outcomes after some rounds, in memory that does not grow with their number.

    Parameters
    ----------
    clf : fitted classifier
    X, y, sample_weight
    rounds : iterable of int or None
        After which rounds, counted from 1; None means all.

    Yields
    ------
    Outcome
        Good until the next one.
    """
    answers = Answers(clf, y, sample_weight)
    last = clf.ensemble_.n_rounds
    wanted = set(range(1, last + 1)) if rounds is None else {int(t) for t in rounds}
    strange = sorted(t for t in wanted if not 1 <= t <= last)
    if strange:
        raise ValueError(f"rounds are counted from 1 to {last}; got {strange[0]}")
    if not wanted:
        return
    sizes, votes = sizes_of(clf), np.cumsum(clf.ensemble_.size)
    for t, scores in enumerate(clf._staged_scores(X), start=1):
        if t == 1:
            check_consistent_length(scores, answers.encoded)
        if t in wanted:
            slope = early_slope(clf.slope_, votes[-1], votes[t - 1])
            yield Outcome(answers, scores, t, float(sizes[t - 1]), slope, clf.loss_)
        if t == max(wanted):
            return
