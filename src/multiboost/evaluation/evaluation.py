"""Everything that can be said about a classifier on labelled rows, as plain dataclasses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from .constant import Constant, advantage_of, constant_of, intervals_of
from .curves import (
    N_BINS,
    Margins,
    PrecisionRecall,
    Reliability,
    Roc,
    Threshold,
    area,
    average_precision,
    positive_rates,
    precision_recall,
    reliability,
    roc,
    thinned_precision_recall,
    threshold_table,
)
from .intervals import Interval
from .measures import Comparison, Measures, share
from .outcome import Outcome, mean_of_known


@dataclass
class LabelEvaluation:
    """One label against the rest; of a binary target the second class.

    Attributes
    ----------
    name : str
    task : int
    prevalence : float or None
        Share of the rows that have the label, of those where it is known.
    error : float or None
        Share of rows where F has the wrong sign, (3.10) for this label alone.
    auc : float or None
        Area under the ROC curve; None where all rows have the label or none has.
    average_precision : float or None
        Mean precision over the rows that have the label; None where none has.
    roc : Roc or None
    precision_recall : PrecisionRecall or None
    thresholds : list of Threshold
        What comes of calling it from some probabilities on; empty for one class of many.
    reliability : Reliability or None
    """

    name: str
    task: int
    prevalence: float | None
    error: float | None
    auc: float | None
    average_precision: float | None = None
    roc: Roc | None = None
    precision_recall: PrecisionRecall | None = None
    thresholds: list[Threshold] = field(default_factory=list)
    reliability: Reliability | None = None


@dataclass
class ClassEvaluation:
    """One class of a task.

    Attributes
    ----------
    name : str
    weight : float
        Of its rows.
    precision : float or None
        Share of the rows called so that are; None where none is called so.
    recall : float or None
        Share of its rows that are called so; None where there are none.
    f1 : float or None
        Their harmonic mean; None where there are neither such rows nor such answers.
    """

    name: str
    weight: float
    precision: float | None
    recall: float | None
    f1: float | None


@dataclass
class TaskEvaluation:
    """One task; of a multi-label target one label, with the classes 0 and 1.

    Attributes
    ----------
    name : str
        Empty for the only task.
    classes : list of str
    error, balanced_error, log_loss : float or None
        None where no answer is known.
    confusion : list of list of float
        Weight of the rows of each class (row) that were called each class (column).
    by_class : list of ClassEvaluation
    """

    name: str
    classes: list[str]
    error: float | None
    balanced_error: float | None
    log_loss: float | None
    confusion: list[list[float]]
    by_class: list[ClassEvaluation] = field(default_factory=list)


@dataclass
class Mistake:
    """A row that the model gets wrong.

    Attributes
    ----------
    row : int
        From 0.
    task : str
        Task or label; empty for the only one.
    true, predicted : str
    margin : float
        By how much the right answer loses, from 0 to -1.
    probability : float
        Of the right answer.
    values : dict
        What the row holds in the most important columns; None where it is missing.
    """

    row: int
    task: str
    true: str
    predicted: str
    margin: float
    probability: float
    values: dict[str, float | str | None] = field(default_factory=dict)


@dataclass(repr=False)
class Evaluation(Measures):
    """What a classifier does on labelled rows.

    Unknown labels take no part, and rows count by their weights.  Where some of these are negative, all numbers are
    those of sums of signed weights, and what needs weights of parts that are above 0 is None: ``ece``, reliability,
    precision against recall, thresholds and margins.

    Attributes
    ----------
    kind : {"binary", "multiclass", "multilabel", "multitask"}
    n_rows, n_rounds : int
    weight : float
        Total weight of the rows.
    error : float or None
        0/1 error (3.9); of tasks the mean, of labels the share of rows with any mistake.
    hamming_loss : float or None
        Share of pairs of row and label with the wrong sign of F, (3.10) with (3.11).
    balanced_error : float or None
        One minus the mean recall of the classes; mean over tasks or labels.
    log_loss : float or None
        Mean over tasks or labels.
    log_loss_before : float or None
        The same with the slope of theory, that is before calibration.
    brier : float or None
        Mean of the squared distances of probabilities from what is true, summed over the classes of a task; of a label,
        and of two classes, that of the label.
    ece : float or None
        Expected calibration error: mean of |predicted - frequency| over all pairs of row and label, in bins.
    reliability : Reliability or None
        Of all pairs of row and label.
    auc : float or None
        Mean over the labels for which it is defined.
    risk : float or None
        The loss that training minimises; None where training had label weights of its own, and of an
        `ExponentialWeighting`.
    tasks : list of TaskEvaluation
    labels : list of LabelEvaluation
    margins : Margins or None
        Of all pairs of row and label, as ``clf.margins``.
    mistakes : list of Mistake
        The largest ones first.
    constant : Constant or None
        What always giving the most frequent answer would do.
    intervals : dict of str to Interval
        Of the error and the log-loss, of several labels also of the Hamming loss.
    advantage : Interval or None
        By how much the constant's error (Hamming loss of several labels) is above the model's.
    """

    HEADLINE: ClassVar[tuple[str, ...]] = (
        "error", "hamming_loss", "balanced_error", "log_loss", "log_loss_before", "brier", "ece", "auc",
    )  # fmt: skip

    kind: str
    n_rows: int
    n_rounds: int
    weight: float
    error: float | None
    hamming_loss: float | None
    balanced_error: float | None
    log_loss: float | None
    log_loss_before: float | None
    brier: float | None
    ece: float | None
    auc: float | None
    risk: float | None
    tasks: list[TaskEvaluation]
    labels: list[LabelEvaluation]
    reliability: Reliability | None = None
    margins: Margins | None = None
    mistakes: list[Mistake] = field(default_factory=list)
    constant: Constant | None = None
    intervals: dict[str, Interval] = field(default_factory=dict)
    advantage: Interval | None = None

    def comparison(self):
        if self.constant is None:
            return None
        several = self.kind == "multilabel"
        ours, theirs = (x.hamming_loss if several else x.error for x in (self, self.constant))
        if ours is None or theirs is None:
            return None
        answer = self.constant.answer
        what = f"always answering \u201c{answer}\u201d" if answer else "always giving the most frequent answers"
        wrong = "of the labels are wrong" if several else "are wrong"
        return Comparison(what, f"{share(ours)} {wrong} instead of {share(theirs)}", theirs - ours)


def evaluation_of(outcome: Outcome, *, curves: bool, n_bins: int = N_BINS, n_mistakes: int = 0) -> Evaluation:
    """Put numbers on an outcome."""
    a = outcome.answers
    tasks = [_task(outcome, q) for q in range(outcome.n_questions)]
    labels = [_label(outcome, k, name, curves, n_bins) for k, name in enumerate(a.kind.label_names())]
    questions = range(outcome.n_questions)
    over_all = None if a.is_signed else reliability(*outcome.all_pairs(), n_bins)
    return Evaluation(
        kind=a.kind.name,
        n_rows=len(a.encoded),
        n_rounds=outcome.n_rounds,
        weight=float(a.weight.sum()),
        error=outcome.error(),
        hamming_loss=outcome.hamming_loss(),
        balanced_error=mean_of_known([t.balanced_error for t in tasks]),
        log_loss=mean_of_known([t.log_loss for t in tasks]),
        log_loss_before=mean_of_known([outcome.log_loss(q, calibrated=False) for q in questions]),
        brier=mean_of_known([outcome.brier(q) for q in questions]),
        ece=None if over_all is None else over_all.error,
        auc=mean_of_known([label.auc for label in labels]),
        risk=outcome.risk(),
        tasks=tasks,
        labels=labels,
        reliability=over_all if curves else None,
        margins=outcome.margins() if curves else None,
        mistakes=_mistakes(outcome, n_mistakes),
        constant=constant_of(outcome),
        intervals=intervals_of(outcome) if curves else {},
        advantage=advantage_of(outcome) if curves else None,
    )


def _task(outcome: Outcome, q: int) -> TaskEvaluation:
    kind, confusion = outcome.answers.kind, outcome.confusion(q)
    classes, is_so, called, right = (
        kind.answer_names(q),
        confusion.sum(axis=1),
        confusion.sum(axis=0),
        np.diag(confusion),
    )

    def part(above: float, below: float) -> float | None:
        return float(above / below) if below > 0 else None

    return TaskEvaluation(
        name=kind.question_names[q],
        classes=classes,
        error=outcome.question_error(q),
        balanced_error=outcome.balanced_error(q),
        log_loss=outcome.log_loss(q),
        confusion=confusion.tolist(),
        by_class=[
            ClassEvaluation(
                name=name,
                weight=float(is_so[k]),
                precision=part(right[k], called[k]),
                recall=part(right[k], is_so[k]),
                f1=part(2 * right[k], is_so[k] + called[k]),
            )
            for k, name in enumerate(classes)
        ],
    )


def _label(outcome: Outcome, k: int, name: str, curves: bool, n_bins: int) -> LabelEvaluation:
    a = outcome.answers
    rows = np.flatnonzero((a.signs[:, k] != 0) & (a.weight != 0))
    positive, weight, p = a.signs[rows, k] > 0, a.weight[rows], outcome.probability[rows, k]
    total = float(weight.sum())
    rates = positive_rates(positive, p, weight)
    found = None if a.is_signed else precision_recall(positive, p, weight)
    alone = a.kind.n_labels == 1 or not (a.kind.tasks or a.kind.is_single)  # not one class of many
    return LabelEvaluation(
        name=name,
        task=a.kind.question_of(k),
        prevalence=float(weight[positive].sum()) / total if total > 0 else None,
        error=float(weight[(outcome.scores[rows, k] > 0) != positive].sum()) / total if total > 0 else None,
        auc=None if rates is None else area(*rates[:2]),
        average_precision=None if found is None else average_precision(*found[:2]),
        roc=roc(*rates) if curves and rates is not None else None,
        precision_recall=thinned_precision_recall(*found) if curves and found is not None else None,
        thresholds=threshold_table(positive, p, weight) if curves and alone and not a.is_signed else [],
        reliability=reliability(positive, p, weight, n_bins) if curves and not a.is_signed else None,
    )


def _mistakes(outcome: Outcome, n_mistakes: int) -> list[Mistake]:
    if n_mistakes <= 0:
        return []
    a = outcome.answers
    found: list[Mistake] = []
    for q in range(outcome.n_questions):
        rows, margin = a.rows(q), outcome.decision_margins(q)
        wrong = np.flatnonzero(outcome.guesses[rows, q] != a.encoded[rows, q])
        worst = wrong[np.argsort(margin[wrong], kind="stable")[:n_mistakes]]
        p, names = outcome.true_probability(q), a.kind.answer_names(q)
        found += [
            Mistake(
                row=int(rows[i]),
                task=a.kind.question_names[q],
                true=names[a.encoded[rows[i], q]],
                predicted=names[outcome.guesses[rows[i], q]],
                margin=float(margin[i]),
                probability=float(p[i]),
            )
            for i in worst
        ]
    return sorted(found, key=lambda m: m.margin)[:n_mistakes]
