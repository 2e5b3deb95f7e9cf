"""What a model says of labelled rows: scores beside labels, and everything that follows.

Every kind of target is seen as a list of questions, each with one right answer a row:

==========================  ============================================================
binary, multiclass          one question: which class?
multitask                   one question per task
multilabel                  one question per label: 0 or 1?
==========================  ============================================================

A row takes no part in a question whose answer is unknown, nor does a row without weight.  Weights may be negative, as
those of events are: numbers that are ratios of sums of weights are ratios of sums of signed weights.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..data.kinds import LabelKind, as_labels
from ..data.target import Target
from ..estimators.negative import sizes_and_signs
from ..estimators.validation import check_weights
from ..losses import Loss
from ..model.model import Model
from .curves import Margins, margins

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
    kind : LabelKind
    encoded : ndarray (n, questions) intp
        The right answers as class numbers, -1 where unknown.
    signs : ndarray (n, K) int8
        Y, 0 where unknown.
    weight : ndarray (n,)
    is_signed : bool
        Whether some are negative.
    target : Target or None
        With weights as in training, for the risk; None where training had label weights of its own.
    """

    def __init__(self, clf, y, sample_weight=None):
        check_is_fitted(clf)
        self.kind: LabelKind = clf.model_.kind
        y = as_labels(y)
        if y.ndim == 2 and y.shape[1] == 1 and self.kind.is_single:
            y = y.ravel()
        self.encoded = self.kind.encode(y)
        self.signs = self.kind.signs(self.encoded)
        given = check_weights(sample_weight, len(y), "keep")
        self.weight = np.ones(len(y)) if given is None else given
        sizes, sense = sizes_and_signs(self.kind, self.encoded, given)
        self.is_signed = sense is not None
        self.target = None
        if clf.weighting != "given":
            target = Target(self.kind, y, clf.weighting, sizes, class_weight=clf.class_weight)
            self.target = target if sense is None else target.with_sense(sense)

    def rows(self, question: int) -> np.ndarray:
        """Rows that take part in a question."""
        return np.flatnonzero((self.encoded[:, question] >= 0) & (self.weight != 0))

    def unknown(self) -> float:
        """Share of the answers that are unknown."""
        return float(np.mean(self.encoded < 0))

    def class_shares(self) -> list[tuple[str, float]]:
        """Names of the classes and their shares of the weight, for targets of one task."""
        if not self.kind.is_single:
            return []
        names = self.kind.answer_names(0)
        mass = np.bincount(self.encoded[:, 0], weights=self.weight, minlength=len(names))
        return list(zip(names, (mass / mass.sum()).tolist(), strict=True))


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
    model : Model or None
        It says how sure it is; None where ``probability`` is given.
    loss : Loss or None
    """

    def __init__(
        self,
        answers: Answers,
        scores: np.ndarray,
        n_rounds: int,
        size: float,
        model: Model | None,
        loss: Loss | None,
    ):
        self.answers, self.scores, self.n_rounds = answers, scores, n_rounds
        self.size, self.model, self.loss = size, model, loss

    @property
    def n_questions(self) -> int:
        return self.answers.encoded.shape[1]

    @cached_property
    def probability(self) -> np.ndarray:
        """Probabilities of the labels, (n, K)."""
        assert self.model is not None
        return self.model.label_probabilities(self.scores, self.n_rounds)

    @cached_property
    def guesses(self) -> np.ndarray:
        """The model's answers to all questions, (n, questions) class numbers."""
        kind = self.answers.kind
        return np.stack([kind.guess(self.scores, q) for q in range(self.n_questions)], axis=1)

    @cached_property
    def uncalibrated(self) -> np.ndarray:
        """The same with the slope of theory."""
        assert self.model is not None
        return self.model.uncalibrated(self.scores)

    def true_probability(self, question: int, calibrated: bool = True) -> np.ndarray:
        """Probability of the right answer, for the rows of a question."""
        a = self.answers
        rows = a.rows(question)
        probability = self.probability if calibrated else self.uncalibrated
        return a.kind.chance(probability[rows], question, a.encoded[rows, question])

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
        if a.kind.tasks or a.kind.is_single:
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
        k = len(a.kind.answer_names(question))
        pair = a.encoded[rows, question] * k + self.guesses[rows, question]
        return np.bincount(pair, weights=a.weight[rows], minlength=k * k).reshape(k, k)

    def log_loss(self, question: int, calibrated: bool = True) -> float | None:
        """Mean of -ln p of the right answer; before calibration None, where there is no model."""
        if self.model is None and not calibrated:
            return None
        a = self.answers
        return mean(self.surprise(question, calibrated), a.weight[a.rows(question)])

    def surprise(self, question: int, calibrated: bool = True) -> np.ndarray:
        """-ln p of the right answer, for the rows of a question."""
        return -np.log(np.clip(self.true_probability(question, calibrated), _EPS, 1.0))

    def brier(self, question: int) -> float | None:
        """Mean of the squared distances of the probabilities of its labels from 0 or 1, added up."""
        a = self.answers
        rows = a.rows(question)
        own = [k for k in range(a.kind.n_labels) if a.kind.question_of(k) == question]
        off = self.probability[rows][:, own] - (a.signs[rows][:, own] > 0)
        return mean((off * off).sum(axis=1), a.weight[rows])

    def all_pairs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of all known pairs of row and label: whether the row has it, its probability, and the weight."""
        a = self.answers
        known = (a.signs != 0) & (a.weight != 0)[:, None]
        return a.signs[known] > 0, self.probability[known], np.broadcast_to(a.weight[:, None], known.shape)[known]

    def risk(self) -> float | None:
        """The loss that training minimises, with training's initial weights."""
        target = self.answers.target
        return None if target is None or self.loss is None else self.loss.signed_risk(self.scores, target)

    def measured(self) -> float | None:
        """The error that learning curves show."""
        return self.hamming_loss() if self.answers.kind.measure == "Hamming loss" else self.error()

    def margins(self) -> Margins | None:
        """The distribution of the margins of all known pairs; signed weights have none."""
        return None if self.answers.is_signed else margins(*self.pair_margins())

    def pair_margins(self) -> tuple[np.ndarray, np.ndarray]:
        """Normalised margins F Y of all known pairs, as ``clf.margins``, and their weights."""
        a = self.answers
        known = (a.signs != 0) & (a.weight != 0)[:, None]
        margins = (self.scores * a.signs)[known] / self.size
        return margins, np.broadcast_to(a.weight[:, None], known.shape)[known]

    def decision_margins(self, question: int) -> np.ndarray:
        """By how much the right answer wins, for the rows of a question; from -1 to 1.

        (F of the right class - the largest F of the others) / (2 sum of sizes), which for
        labels that stand alone is F Y / sum of sizes.
        """
        a = self.answers
        rows = a.rows(question)
        return a.kind.lead(self.scores[rows], question, a.encoded[rows, question]) / (a.kind.span * self.size)


def mean(values: np.ndarray, weights: np.ndarray) -> float | None:
    """Weighted mean; None of nothing."""
    total = float(weights.sum())
    # Not by `@`: the threads of a matrix library and those that score get in each other's way.
    return float((values * weights).sum()) / total if total > 0 else None


def mean_of_known(values) -> float | None:
    """Plain mean of what is not None."""
    known = [v for v in values if v is not None]
    return float(np.mean(known)) if known else None
