"""What a report says, before it becomes a page: plain data, kept small however large the table."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

import numpy as np

from ..evaluation import (
    Evaluation,
    Importance,
    LearningCurves,
    RoundRules,
    Shapes,
    additive_shapes,
    evaluate,
    is_additive,
    learning_curves,
    named_importances,
    round_rules,
)
from ..evaluation.curves import thin
from ..evaluation.learning import milestones
from ..evaluation.measures import finite
from ..evaluation.summary import DataSummary, data_summary, deciles

MOST_LABELS = 30
MOST_COLUMNS = 30
MOST_SHAPES = 24
MOST_RULES = 8
SHAPE_LABELS = 8  # lines in one picture of a shape
_POINTS = 101  # of a ROC curve
_DIGITS = 6  # significant, of the numbers in the page


@dataclass
class Findings:
    """Everything that goes on the page.

    Attributes
    ----------
    title : str
    settings : list of (str, str)
        Names and values.
    data : DataSummary
    evaluation : Evaluation
    labels : list of int
        The labels that are shown, the worst ones where there are too many.
    tasks : list of int
        The tasks that are shown.
    curves : LearningCurves
    importances : list of Importance
        All of them.
    rules : list of RoundRules
    shapes : Shapes or None
    deciles : dict
        Of the columns that have a shape.
    has_training : bool
        Whether the training rows were given.
    """

    title: str
    settings: list[tuple[str, str]]
    data: DataSummary
    evaluation: Evaluation
    labels: list[int]
    tasks: list[int]
    curves: LearningCurves
    importances: list[Importance]
    rules: list[RoundRules]
    shapes: Shapes | None
    deciles: dict[int, list[float]] = field(default_factory=dict)
    has_training: bool = False

    def shape_labels(self) -> list[int]:
        """Labels whose shapes are drawn: those that move most."""
        assert self.shapes is not None
        span = np.sum([shape.span for shape in self.shapes.shapes], axis=0)
        return np.sort(np.argsort(-span, kind="stable")[:SHAPE_LABELS]).tolist()

    def to_json(self) -> dict:
        """The numbers behind the pictures, rounded to six significant digits."""
        e = self.evaluation
        names = ("kind", "n_rows", "n_rounds", "weight", "error", "hamming_loss", "balanced_error", "log_loss", "auc")
        shapes = []
        if self.shapes is not None:
            drawn = self.shape_labels()
            for shape in self.shapes.shapes[:MOST_SHAPES]:
                # Nominal columns of thousands of categories would fill the page.
                few = shape.categories is None or len(shape.categories) <= 2 * MOST_COLUMNS
                shapes.append(
                    {
                        "name": shape.name,
                        "thresholds": shape.thresholds.tolist(),
                        "categories": shape.categories if few else None,
                        "labels": [self.shapes.labels[k] for k in drawn],
                        "values": shape.values[:, drawn].T.tolist() if few else None,
                        "missing": shape.missing[drawn].tolist(),
                    }
                )
        return _rounded(
            finite(
                {
                    "title": self.title,
                    "settings": dict(self.settings),
                    "data": asdict(self.data),
                    "evaluation": {name: getattr(e, name) for name in names} | {"risk": e.risk},
                    "tasks": [_small(asdict(e.tasks[t])) for t in self.tasks],
                    "labels": [asdict(e.labels[k]) for k in self.labels],
                    "learning": asdict(self.curves),
                    "importances": [asdict(i) for i in self.importances[:MOST_COLUMNS]],
                    "shapes": shapes,
                    "mistakes": [asdict(m) for m in e.mistakes],
                }
            )
        )


def _small(task: dict) -> dict:
    """A task whose confusion matrix is not too large for a page."""
    if len(task["classes"]) > MOST_LABELS:
        task["confusion"] = None
    return task


def _rounded(value):
    if isinstance(value, dict):
        return {str(key): _rounded(v) for key, v in value.items()}
    if isinstance(value, list):
        return [_rounded(v) for v in value]
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value


def find(clf, X, y, sample_weight=None, *, title=None, X_train=None, y_train=None) -> Findings:
    """Collect what a report says.

    Parameters
    ----------
    clf, X, y, sample_weight, title, X_train, y_train
        As in `write_report`.
    """
    evaluation = evaluate(clf, X, y, sample_weight)
    for label in evaluation.labels:
        if label.roc is not None:
            keep = thin(np.array(label.roc.fpr), np.array(label.roc.tpr), _POINTS)
            for name in ("fpr", "tpr", "threshold"):
                values = getattr(label.roc, name)
                setattr(label.roc, name, [values[i] for i in keep])
    at = milestones(clf.ensemble_.n_rounds)
    curves = learning_curves(clf, X, y, sample_weight, X_train=X_train, y_train=y_train, margin_rounds=at)
    shapes = additive_shapes(clf) if is_additive(clf) else None
    numeric = [s.column for s in shapes.shapes[:MOST_SHAPES] if s.categories is None] if shapes else []
    return Findings(
        title=title or f"{type(clf).__name__} report",
        settings=_settings(clf),
        data=data_summary(clf, X, y, sample_weight),
        evaluation=evaluation,
        labels=_worst([label.auc for label in evaluation.labels]),
        tasks=_worst([None if t.error is None else -t.error for t in evaluation.tasks]),
        curves=curves,
        importances=named_importances(clf),
        rules=round_rules(clf, range(1, min(MOST_RULES, clf.ensemble_.n_rounds) + 1)),
        shapes=shapes if shapes and shapes.shapes else None,
        deciles=deciles(clf, X, numeric) if numeric else {},
        has_training=X_train is not None,
    )


def _worst(values: list[float | None]) -> list[int]:
    """The places of all values, or of the smallest ones where there are too many; in order."""
    if len(values) <= MOST_LABELS:
        return list(range(len(values)))
    order = np.argsort([np.inf if v is None else v for v in values], kind="stable")
    return np.sort(order[:MOST_LABELS]).tolist()


def _settings(clf) -> list[tuple[str, str]]:
    plan, kind = clf.plan_, clf.model_.kind
    weighting = f"auto ({kind.weighting})" if clf.weighting == "auto" else clf.weighting
    found = [
        ("base learner", plan.learner_name),
        ("rounds", str(clf.ensemble_.n_rounds)),
        ("loss", plan.loss.name),
        ("votes", clf.votes),
        ("criterion", plan.criterion),
        ("learning rate", f"{plan.learning_rate:g}"),
        ("rows of a round", plan.rows.name if plan.subsample == 1 else f"{plan.subsample:g}"),
        ("weighting", weighting),
        ("labels", str(kind.n_labels)),
        ("bins of a column", str(plan.max_bins)),
    ]
    if clf.n_estimators is not None and clf.ensemble_.n_rounds < clf.n_estimators:
        found[1] = ("rounds", f"{clf.ensemble_.n_rounds} of {clf.n_estimators} allowed")
    return found
