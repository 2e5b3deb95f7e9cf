"""What a report says, before it becomes a page: plain data, kept small however large the table."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..evaluation import (
    Dependence,
    Evaluation,
    Importance,
    LearningCurves,
    PermutationImportance,
    RankingEvaluation,
    RegressionEvaluation,
    Remark,
    RoundRules,
    Shapes,
    additive_shapes,
    evaluate,
    is_additive,
    learning_curves,
    named_importances,
    partial_dependence,
    permutation_importances,
    remarks,
    round_rules,
)
from ..evaluation.columns import column_names
from ..evaluation.curves import thin
from ..evaluation.evaluating import is_mixture
from ..evaluation.lean import LeanEvaluation, lean_evaluation
from ..evaluation.learning import milestones
from ..evaluation.measures import finite
from ..evaluation.summary import DataSummary, data_summary, deciles

MOST_LABELS = 30
MOST_COLUMNS = 30
MOST_SHAPES = 24
MOST_RULES = 8
SHAPE_LABELS = 8  # lines in one picture of a shape
MOST_DEPENDENCES = 9
_SHUFFLED_ROWS = 2000  # for permutation importance
_POINTS = 101  # of a ROC curve
_DIGITS = 6  # significant, of the numbers in the page
_FEW_DOTS, _MANY_TARGETS = 120, 3  # so many of a picture where there are more targets


@dataclass
class Words:
    """How a page speaks of its target.

    Attributes
    ----------
    target : str
        What it is.
    answers : str
        What each row has.
    score : str
        Whose the scores are.
    votes : str
        What votes mean.
    said : str
        What the model says of a row.
    value : str
        What a row holds of a target whose values are counted.
    """

    target: str
    answers: str
    score: str
    votes: str
    said: str
    value: str = "class"


@dataclass
class Findings:
    """Everything that goes on the page.

    Attributes
    ----------
    title : str
    origin : list of (str, str)
        Where model, rows and page come from: files, date, training rows.
    settings : list of (str, str)
        Names and values.
    data : DataSummary
    evaluation : Evaluation, RegressionEvaluation or RankingEvaluation
    words : Words
    labels : list of int
        The labels that are shown, the worst ones where there are too many.
    tasks : list of int
        The tasks, or the targets, that are shown.
    curves : LearningCurves
    importances : list of Importance
        All of them.
    permutations : dict of str to PermutationImportance
        Of the columns that are shown, by their names; empty for models of other classifiers.
    dependences : list of Dependence
        Of the most important columns of a model without shapes.
    remarks : list of Remark
        What should be read first.
    rules : list of RoundRules
    shapes : Shapes or None
    deciles : dict
        Of the columns that have a shape.
    utilities : list of (str, float, int)
        Column or group of columns, mean reward and pulls, where a bandit chose the columns; the best of them.
    has_training : bool
        Whether the training rows were given.
    label_names : list of str
        Of all columns of scores.
    lean : LeanEvaluation or None
        How much of the model rows need, where it has a policy.
    """

    title: str
    origin: list[tuple[str, str]]
    settings: list[tuple[str, str]]
    data: DataSummary
    evaluation: Any
    words: Words
    labels: list[int]
    tasks: list[int]
    curves: LearningCurves
    importances: list[Importance]
    permutations: dict[str, PermutationImportance]
    dependences: list[Dependence]
    remarks: list[Remark]
    rules: list[RoundRules]
    shapes: Shapes | None
    deciles: dict[int, list[float]] = field(default_factory=dict)
    utilities: list[tuple[str, float, int]] = field(default_factory=list)
    has_training: bool = False
    label_names: list[str] = field(default_factory=list)
    lean: LeanEvaluation | None = None

    def shape_labels(self) -> list[int]:
        """Labels whose shapes are drawn: those that move most."""
        assert self.shapes is not None
        span = np.sum([shape.span for shape in self.shapes.shapes], axis=0)
        return np.sort(np.argsort(-span, kind="stable")[:SHAPE_LABELS]).tolist()

    def said_names(self) -> list[str]:
        """Names of the columns of what a model says."""
        return [name or "prediction" for name in self.label_names]

    def dependence_labels(self) -> list[int]:
        """Labels whose partial dependence is drawn: those that move most."""
        span = np.sum([d.span() for d in self.dependences], axis=0)
        return np.sort(np.argsort(-span, kind="stable")[:SHAPE_LABELS]).tolist()

    def to_json(self) -> dict:
        """The numbers behind the pictures, rounded to six significant digits."""
        e = self.evaluation
        names = ("kind", "n_rows", "n_rounds", "weight", *e.HEADLINE, "risk")
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
                    "origin": dict(self.origin),
                    "remarks": [asdict(r) for r in self.remarks],
                    "settings": dict(self.settings),
                    "data": asdict(self.data),
                    "evaluation": {name: getattr(e, name) for name in names},
                    "intervals": {name: asdict(interval) for name, interval in e.intervals.items()},
                    **_PARTS[type(e)].numbers(self),
                    **({} if self.lean is None else {"lean": asdict(self.lean)}),
                    "learning": asdict(self.curves),
                    "importances": [asdict(i) for i in self.importances[:MOST_COLUMNS]],
                    "permutations": [asdict(p) for p in self.permutations.values()],
                    "dependences": [asdict(d) for d in self.dependences],
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


@dataclass(frozen=True)
class _Part:
    """What findings are for a kind of evaluation.

    Attributes
    ----------
    thin : callable
        Leaves out points that a page does not need.
    labels, tasks : callable
        Those that are shown.
    numbers : callable
        What the page's JSON has of it.
    words : callable
    """

    thin: Callable[[Any], None]
    labels: Callable[[Any], list[int]]
    tasks: Callable[[Any], list[int]]
    numbers: Callable[[Findings], dict]
    words: Callable[[Any], Words]


def _thin_labels(e: Evaluation) -> None:
    for label in e.labels:
        if len(e.labels) > 1:  # these are drawn for two classes only
            label.precision_recall, label.thresholds = None, []
        if label.roc is not None:
            keep = thin(np.array(label.roc.fpr), np.array(label.roc.tpr), _POINTS)
            for name in ("fpr", "tpr", "threshold"):
                values = getattr(label.roc, name)
                setattr(label.roc, name, [values[i] for i in keep])


def _thin_numbers(e: RegressionEvaluation) -> None:
    for target in e.targets if len(e.targets) > _MANY_TARGETS else []:
        if target.dots is not None:
            n = len(target.dots.row)
            keep = np.unique(np.linspace(0, n - 1, min(n, _FEW_DOTS)).round().astype(int))
            for name in ("row", "predicted", "true"):
                values = getattr(target.dots, name)
                setattr(target.dots, name, [values[i] for i in keep])


def _label_words(e: Evaluation) -> Words:
    target = {
        "binary": "two classes",
        "multiclass": f"{len(e.labels)} classes",
        "multilabel": f"{len(e.labels)} labels",
        "multitask": f"{len(e.tasks)} tasks, {len(e.labels)} classes",
    }[e.kind]
    votes = "The sign of a vote says for or against a label, its size how much."
    return Words(target, "labels", "the score of a label", votes, "probability")


def _number_words(e: RegressionEvaluation) -> Words:
    target = "numbers" if len(e.targets) == 1 else f"{len(e.targets)} targets"
    score = "the score of a target, in units of its spread,"
    votes = "A vote moves the score up or down; scores are in units of the target's spread."
    return Words(target, "numbers", score, votes, "prediction")


def _ranking_words(e: RankingEvaluation) -> Words:
    score = "the score of a document" if e.kind == "ranking" else "the score of a grade"
    return Words(
        f"rankings of {e.n_queries} queries", "grades", score, "A vote moves a score up or down.", "score", "grade"
    )


_PARTS: dict[type, _Part] = {
    Evaluation: _Part(
        _thin_labels,
        lambda e: _worst([label.auc for label in e.labels]),
        lambda e: _worst([None if t.error is None else -t.error for t in e.tasks]),
        lambda f: {
            "constant": asdict(f.evaluation.constant),
            "tasks": [_small(asdict(f.evaluation.tasks[t])) for t in f.tasks],
            "labels": [asdict(f.evaluation.labels[k]) for k in f.labels],
        },
        _label_words,
    ),
    RegressionEvaluation: _Part(
        _thin_numbers,
        lambda e: [],
        lambda e: _worst([t.r2 for t in e.targets]),
        lambda f: {"targets": [asdict(f.evaluation.targets[t]) for t in f.tasks]},
        _number_words,
    ),
    RankingEvaluation: _Part(
        lambda e: None,
        lambda e: [],
        lambda e: [],
        lambda f: {
            name: getattr(f.evaluation, name)
            for name in ("n_queries", "n_without", "ndcg_at", "random_at", "conventions")
        },
        _ranking_words,
    ),
}


def _rounded(value):
    if isinstance(value, dict):
        return {str(key): _rounded(v) for key, v in value.items()}
    if isinstance(value, list):
        return [_rounded(v) for v in value]
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value


def find(
    clf,
    X,
    y,
    sample_weight=None,
    *,
    qid=None,
    title=None,
    X_train=None,
    y_train=None,
    qid_train=None,
    data_file=None,
    model_file=None,
    date=None,
) -> Findings:
    """Collect what a report says.

    Parameters
    ----------
    clf, X, y, sample_weight, qid, title, X_train, y_train, qid_train, data_file, model_file, date
        As in `write_report`.
    """
    if is_mixture(clf):
        raise ValueError(
            f"a report is about one model, and {type(clf).__name__} is many: give one of its estimators_; evaluate() "
            "takes all of them"
        )
    if sample_weight is not None and (np.asarray(sample_weight) < 0).any():
        raise ValueError(
            "sample_weight: a report knows no negative weights; evaluate() does, and physics.roc has the curve"
        )
    evaluation = evaluate(clf, X, y, sample_weight, qid=qid)
    part = _PARTS[type(evaluation)]
    part.thin(evaluation)
    at = milestones(clf.ensemble_.n_rounds)
    curves = learning_curves(
        clf, X, y, sample_weight, qid=qid, X_train=X_train, y_train=y_train, qid_train=qid_train, margin_rounds=at
    )
    shapes = additive_shapes(clf) if is_additive(clf) else None
    numeric = [s.column for s in shapes.shapes[:MOST_SHAPES] if s.categories is None] if shapes else []
    importances = named_importances(clf)
    other = clf.model_.asks_others  # estimators that see rows in the user's own form
    at_column = {name: j for j, name in enumerate(column_names(clf))}
    shown = [at_column[i.name] for i in importances[:MOST_COLUMNS]]
    permutations = (
        []
        if other
        else permutation_importances(clf, X, y, sample_weight, qid=qid, columns=shown, max_rows=_SHUFFLED_ROWS)
    )
    return Findings(
        title=title or f"{type(clf).__name__} report",
        origin=_origin(clf, X_train, data_file, model_file, date),
        settings=_settings(clf),
        data=data_summary(clf, X, y, sample_weight, qid),
        evaluation=evaluation,
        words=part.words(evaluation),
        labels=part.labels(evaluation),
        tasks=part.tasks(evaluation),
        curves=curves,
        importances=importances,
        permutations={p.name: p for p in permutations},
        dependences=[] if other or shapes else partial_dependence(clf, X, shown[:MOST_DEPENDENCES]),
        remarks=remarks(evaluation, importances, clf.n_features_in_, curves),
        rules=round_rules(clf, range(1, min(MOST_RULES, clf.ensemble_.n_rounds) + 1)),
        shapes=shapes if shapes and shapes.shapes else None,
        deciles=deciles(clf, X, numeric) if numeric else {},
        utilities=_utilities(clf),
        has_training=X_train is not None,
        label_names=clf.model_.kind.label_names(),
        lean=lean_evaluation(clf, X, y),
    )


def _worst(values: list[float | None]) -> list[int]:
    """The places of all values, or of the smallest ones where there are too many; in order."""
    if len(values) <= MOST_LABELS:
        return list(range(len(values)))
    order = np.argsort([np.inf if v is None else v for v in values], kind="stable")
    return np.sort(order[:MOST_LABELS]).tolist()


def _origin(clf, X_train, data_file, model_file, date) -> list[tuple[str, str]]:
    """Where model, rows and page come from; what is not known is left out."""
    trained = clf.data_ or {}
    n_rows = clf.model_.n_rows if clf.model_.n_rows is not None else trained.get("rows")
    if n_rows is None and X_train is not None:
        n_rows = X_train.shape[0] if hasattr(X_train, "shape") else len(X_train)
    found = {
        "page made on": str(date or datetime.date.today()),
        "model": type(clf).__name__,
        "model file": None if model_file is None else Path(model_file).name,
        "rows of this page": None if data_file is None else Path(data_file).name,
        "trained on": None if n_rows is None else f"{n_rows} rows",
        "training file": trained.get("file"),
        "digest of the model": clf.model_.digest()[:16],
    }
    return [(name, str(value)) for name, value in found.items() if value is not None]


def _said(part) -> str:
    """A part with its parameters."""
    found = dict(part.to_dict())
    return ", ".join([found.pop("name"), *(f"{name} {value}" for name, value in found.items())])


def _utilities(clf) -> list[tuple[str, float, int]]:
    """What a bandit has learned of the columns, best first."""
    sampler, state = clf.plan_.columns, clf.model_.state
    if not hasattr(sampler, "group") or "columns.count" not in state:
        return []
    count, total, names = state["columns.count"], state["columns.total"], column_names(clf)
    mean = total / np.maximum(count, 1)
    found = []
    for arm in np.argsort(-mean, kind="stable")[:MOST_COLUMNS]:
        inside = names[arm * sampler.group : (arm + 1) * sampler.group]
        name = inside[0] if len(inside) == 1 else f"{inside[0]} to {inside[-1]}"
        found.append((name, float(mean[arm]), int(count[arm])))
    return found


def _settings(clf) -> list[tuple[str, str]]:
    plan, kind = clf.plan_, clf.model_.kind
    found = [
        ("base learner", plan.learner_name),
        ("rounds", str(clf.ensemble_.n_rounds)),
        ("loss", plan.loss.name),
        ("criterion", plan.criterion),
        ("learning rate", f"{plan.learning_rate:g}"),
        ("rows of a round", f"{plan.subsample:g}" if plan.subsample < 1 else _said(plan.rows)),
        ("bins of a column", str(plan.max_bins)),
    ]
    if plan.columns.name != "all":
        found[-1:-1] = [("columns of a round", _said(plan.columns))]
    if plan.labels.name != "all":
        found[-1:-1] = [("labels that choose cuts", _said(plan.labels))]
    if hasattr(clf, "votes"):
        found[3:3] = [("votes", clf.votes)]
    if hasattr(clf, "weighting"):
        weighting = f"auto ({kind.weighting})" if clf.weighting == "auto" else clf.weighting
        found[-1:-1] = [("weighting", weighting), ("labels", str(kind.n_labels))]
    if hasattr(clf, "gain"):
        found[-1:-1] = [("gain of a grade", clf.gain)]
    if hasattr(kind, "quantiles") and kind.quantiles.size:
        found[3:3] = [("quantiles", ", ".join(f"{q:g}" for q in kind.quantiles))]
    if (wanted := getattr(clf, "n_estimators", None)) is not None and clf.ensemble_.n_rounds < wanted:
        found[1] = ("rounds", f"{clf.ensemble_.n_rounds} of {wanted} allowed")
    return found
