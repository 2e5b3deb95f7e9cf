"""Everything that can be said about a classifier on labelled rows, as plain dataclasses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field

import numpy as np

from ..estimators.validation import check_table
from .columns import column_names, shown_value
from .curves import N_BINS, Margins, Reliability, Roc, area, margins, positive_rates, reliability, roc
from .outcome import Outcome, mean_of_known, outcome_of, staged_outcomes

N_MISTAKES = 20
_N_VALUES = 8  # columns of a mistaken row that are shown, the most important ones


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
    roc : Roc or None
    reliability : Reliability or None
    """

    name: str
    task: int
    prevalence: float | None
    error: float | None
    auc: float | None
    roc: Roc | None = None
    reliability: Reliability | None = None


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
    """

    name: str
    classes: list[str]
    error: float | None
    balanced_error: float | None
    log_loss: float | None
    confusion: list[list[float]]


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


@dataclass
class Evaluation:
    """What a classifier does on labelled rows.

    Unknown labels take no part, and rows count by their weights.

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
    auc : float or None
        Mean over the labels for which it is defined.
    risk : float or None
        The loss that training minimises; None where training had label weights of its own.
    tasks : list of TaskEvaluation
    labels : list of LabelEvaluation
    margins : Margins or None
        Of all pairs of row and label, as ``clf.margins``.
    mistakes : list of Mistake
        The largest ones first.
    """

    kind: str
    n_rows: int
    n_rounds: int
    weight: float
    error: float | None
    hamming_loss: float | None
    balanced_error: float | None
    log_loss: float | None
    auc: float | None
    risk: float | None
    tasks: list[TaskEvaluation]
    labels: list[LabelEvaluation]
    margins: Margins | None = None
    mistakes: list[Mistake] = field(default_factory=list)

    def to_dict(self) -> dict:
        """Dictionaries, lists, numbers and text."""
        return asdict(self)

    def to_json(self, **options) -> str:
        """As JSON text.

        Parameters
        ----------
        **options : dict
            Passed on to ``json.dumps``.
        """
        return json.dumps(finite(self.to_dict()), **{"allow_nan": False, **options})

    def __str__(self) -> str:
        lines = [f"{self.kind}, {self.n_rows} rows, {self.n_rounds} rounds"]
        for name in ("error", "hamming_loss", "balanced_error", "log_loss", "auc", "risk"):
            value = getattr(self, name)
            lines.append(f"{name.replace('_', ' '):>15}  {'undefined' if value is None else f'{value:.4f}'}")
        return "\n".join(lines)


def finite(value):
    """A copy of nested dictionaries and lists with None for NaN and infinity, which JSON lacks."""
    if isinstance(value, dict):
        return {key: finite(v) for key, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(v) for v in value]
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value


def evaluate(
    clf, X, y, sample_weight=None, *, curves=True, n_bins=N_BINS, n_mistakes=N_MISTAKES, values=True
) -> Evaluation:
    """Evaluate a fitted classifier.

    Parameters
    ----------
    clf : fitted estimator
        Fitted.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
    y : labels as in ``fit``
        NaN, None and NA in several columns are unknown labels and take no part.
    sample_weight : array of shape (n_samples,), default=None
    curves : bool, default=True
        Whether to keep ROC curves, reliability and margins.
    n_bins : int, default=10
        Of reliability.
    n_mistakes : int, default=20
        How many of the largest mistakes to keep.
    values : bool, default=True
        Whether mistakes show what their rows hold.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multiboost import AdaBoostMHClassifier, evaluate
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = AdaBoostMHClassifier("stump", n_estimators=20).fit(X, y)
    >>> round(evaluate(clf, X, y).error, 3)
    0.033
    """
    found = evaluation_of(outcome_of(clf, X, y, sample_weight), curves=curves, n_bins=n_bins, n_mistakes=n_mistakes)
    if values and found.mistakes:
        _add_values(clf, X, found.mistakes)
    return found


def staged_evaluation(
    clf, X, y, sample_weight=None, *, rounds=None, curves=False, n_bins=N_BINS, n_mistakes=0
) -> Iterator[Evaluation]:
    """Evaluate after one round, two rounds and so on.

    Memory does not grow with the number of rounds, unless the caller keeps what is yielded.

    Parameters
    ----------
    clf : fitted estimator
        Fitted.
    X, y, sample_weight
        As in `evaluate`.
    rounds : iterable of int, default=None
        After which rounds, counted from 1; None means all.
    curves, n_bins, n_mistakes
        As in `evaluate`.

    Yields
    ------
    Evaluation
        ``n_rounds`` tells which.
    """
    for outcome in staged_outcomes(clf, X, y, sample_weight, rounds):
        yield evaluation_of(outcome, curves=curves, n_bins=n_bins, n_mistakes=n_mistakes)


def evaluation_of(outcome: Outcome, *, curves: bool, n_bins: int = N_BINS, n_mistakes: int = 0) -> Evaluation:
    """Put numbers on an outcome."""
    a = outcome.answers
    tasks = [
        TaskEvaluation(
            name=a.kind.question_names[q],
            classes=a.kind.answer_names(q),
            error=outcome.question_error(q),
            balanced_error=outcome.balanced_error(q),
            log_loss=outcome.log_loss(q),
            confusion=outcome.confusion(q).tolist(),
        )
        for q in range(outcome.n_questions)
    ]
    labels = [_label(outcome, k, name, curves, n_bins) for k, name in enumerate(a.kind.label_names())]
    return Evaluation(
        kind=a.kind.name,
        n_rows=len(a.encoded),
        n_rounds=outcome.n_rounds,
        weight=float(a.weight.sum()),
        error=outcome.error(),
        hamming_loss=outcome.hamming_loss(),
        balanced_error=mean_of_known([t.balanced_error for t in tasks]),
        log_loss=mean_of_known([t.log_loss for t in tasks]),
        auc=mean_of_known([label.auc for label in labels]),
        risk=outcome.risk(),
        tasks=tasks,
        labels=labels,
        margins=margins(*outcome.pair_margins()) if curves else None,
        mistakes=_mistakes(outcome, n_mistakes),
    )


def _label(outcome: Outcome, k: int, name: str, curves: bool, n_bins: int) -> LabelEvaluation:
    a = outcome.answers
    rows = np.flatnonzero((a.signs[:, k] != 0) & (a.weight > 0))
    positive, weight, p = a.signs[rows, k] > 0, a.weight[rows], outcome.probability[rows, k]
    total = float(weight.sum())
    rates = positive_rates(positive, p, weight)
    return LabelEvaluation(
        name=name,
        task=a.kind.question_of(k),
        prevalence=float(weight[positive].sum()) / total if total > 0 else None,
        error=float(weight[(outcome.scores[rows, k] > 0) != positive].sum()) / total if total > 0 else None,
        auc=None if rates is None else area(*rates[:2]),
        roc=roc(*rates) if curves and rates is not None else None,
        reliability=reliability(positive, p, weight, n_bins) if curves else None,
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


def _add_values(clf, X, mistakes: list[Mistake]) -> None:
    """What the mistaken rows hold in the columns that matter most."""
    names = column_names(clf)
    shown = np.argsort(-clf.feature_importances_, kind="stable")[:_N_VALUES]
    rows = np.unique([m.row for m in mistakes])
    table = check_table(clf, X).take(rows)
    values = table.rows(0, len(rows))
    for mistake in mistakes:
        row = values[np.searchsorted(rows, mistake.row)]
        mistake.values = {names[j]: shown_value(clf, j, row[j]) for j in shown.tolist()}
