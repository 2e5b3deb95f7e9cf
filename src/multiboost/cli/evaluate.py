"""``multiboost evaluate``."""

from __future__ import annotations

import json as jsonlib
import sys
from pathlib import Path
from typing import Any

from ..estimators.saving import load_model
from ..evaluation import (
    Evaluation,
    RankingEvaluation,
    RegressionEvaluation,
    evaluate,
    named_importances,
    remarks,
    staged_evaluation,
)
from ..visible import visible
from .display import console, measured, table_of
from .examples import asked, examples_for
from .failure import BadInput
from .models import members_of
from .task import task_for

_MOST_CLASSES = 30  # of a confusion matrix in a terminal
_ONE = {"binary": "class", "multiclass": "class", "multitask": "class", "multilabel": "label"}
_MOST_MISTAKES = 20  # where the matrix is wider
_MOST_QUERIES = 10


def run(
    model: Path, data: str, staged: bool, target, format, delimiter, labels, ignore, weight, query, jobs, json
) -> None:
    """Evaluate a model; the options are those of `app.evaluate`."""
    classifier = load_model(model)
    members = members_of(classifier)
    for member in members:
        member.set_params(n_jobs=jobs)
    one = members[0] is classifier
    if staged and not one:
        raise BadInput(
            f"--staged: {model} is an ensemble of several models, which have no rounds together; leave it out"
        )
    examples = examples_for(
        members[0].model_, data, target, weight, ignore, format, labels, query, delimiter, signed=True
    )
    more = asked(examples, task_for(members[0].model_.kind))
    if staged:
        _staged(classifier, examples, more, json)
        return
    found = _named(evaluate(classifier, examples.X, examples.y, examples.sample_weight, **more), examples.target)
    if json:
        print(found.to_json())
        return
    out = console(stderr=False)
    out.print(table_of(_headline(found)))
    for remark in remarks(found, named_importances(classifier) if one else None, classifier.n_features_in_):
        out.print()
        out.print(f"Note: {visible(remark.text)}")
    _SHOW[type(found)](found, out)


def _headline(found) -> list[tuple[str, str]]:
    """The numbers that come first, their intervals, and what they are beside the best constant."""
    of_name = {found.CALLED.get(name, name): interval for name, interval in found.intervals.items()}
    rows = []
    for name, value in found.headline().items():
        interval = of_name.get(name)
        beside = f"  ({measured(name, interval.low)} to {measured(name, interval.high)})" if interval else ""
        rows.append((name.replace("_", " "), f"{measured(name, value)}{beside}"))
    compared = found.comparison()
    return [*rows, (f"beside {compared.what}", compared.numbers)] if compared else rows


def _show_labels(found: Evaluation, out) -> None:
    """Label by label, who is taken for whom, and the margins."""
    for task in found.tasks:
        out.print()
        out.print(_confusion(task, out))
    out.print()
    out.print(_by_class(found))
    if found.labels and found.labels[0].thresholds and len(found.labels) == 1:
        out.print()
        out.print(_thresholds(found.labels[0]))
    if found.margins is not None:
        out.print()
        margins = found.margins
        shown = {"least": margins.least, "median": margins.median, "mean": margins.mean, "below 0": margins.negative}
        out.print(table_of([(f"margin, {name}", f"{value:.4f}") for name, value in shown.items()]))


def _by_class(found: Evaluation):
    """Precision, recall and F1 of every class, of every label, or of the classes of every task; and the areas."""
    if found.kind == "multilabel":
        classes = [(task.name, task.by_class[1]) for task in found.tasks]
    else:
        classes = [(f"{t.name}:{c.name}" if t.name else c.name, c) for t in found.tasks for c in t.by_class]
    # Of two classes there is one label, the second class.
    areas = [label.auc for label in found.labels] if len(found.labels) > 1 else [found.auc] * len(classes)
    rows = [
        (name, f"{c.weight:g}", *(measured("", value) for value in (c.precision, c.recall, c.f1, area)))
        for (name, c), area in zip(classes, areas, strict=True)
    ]
    return table_of(rows, [_ONE[found.kind], "rows", "precision", "recall", "F1", "AUC"])


def _thresholds(label):
    """What comes of calling rows so from some probabilities on."""
    names = ("threshold", "called", "precision", "recall", "f1", "false_alarms", "error")
    rows = [tuple(measured(name, getattr(t, name)) for name in names) for t in label.thresholds]
    header = [f"{label.name}, from probability", "called", "precision", "recall", "F1", "false alarms", "error"]
    return table_of(rows, header)


def _show_numbers(found: RegressionEvaluation, out) -> None:
    """Target by target, quantile by quantile."""
    if len(found.targets) > 1:
        names = ("rmse", "rmse_of_mean", "mae", "r2", "error")
        rows = [(t.name, t.n_rows, *(measured(name, getattr(t, name)) for name in names)) for t in found.targets]
        out.print()
        out.print(table_of(rows, ["target", "rows", "RMSE", "of the mean", "MAE", "R2", "relative error"]))
    else:
        out.print()
        shown = {"rmse of the mean": found.rmse_of_mean, "mae of the median": found.mae_of_median}
        out.print(
            table_of([*((name, measured("rmse", value)) for name, value in shown.items()), ("rows", str(found.n_rows))])
        )
    quantiles = [
        (
            f"{t.name}:{q.level:g}" if t.name else f"{q.level:g}",
            measured("pinball", q.pinball),
            measured("coverage", q.coverage),
        )
        for t in found.targets
        for q in t.quantiles
    ]
    if quantiles:
        out.print()
        out.print(table_of(quantiles, ["quantile", "pinball loss", "at or below"]))


def _text(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _show_rankings(found: RankingEvaluation, out) -> None:
    """Position by position, as others count, and the worst queries."""
    out.print()
    out.print(table_of([("queries", str(found.n_queries)), ("without a relevant document", str(found.n_without))]))
    at = [1, 2, 3, 5, 10, 20]
    rows = [(f"{k}", _text(found.ndcg_at[k - 1]), _text(found.random_at[k - 1])) for k in at if k <= len(found.ndcg_at)]
    out.print()
    out.print(table_of(rows, ["k", "NDCG@k", "random order"]))
    if found.conventions:
        out.print()
        counted = [(name, _text(value)) for name, value in found.conventions.items()]
        out.print(table_of(counted, ["convention", "NDCG@10"]))
    if found.mistakes:
        out.print()
        worst = [
            (m.query, m.n_documents, m.n_relevant, _text(m.ndcg), f"{m.grade:g}", m.position)
            for m in found.mistakes[:_MOST_QUERIES]
        ]
        out.print(table_of(worst, ["worst queries", "documents", "relevant", "NDCG@10", "best grade", "at position"]))


_SHOW: dict[type, Any] = {
    Evaluation: _show_labels,
    RegressionEvaluation: _show_numbers,
    RankingEvaluation: _show_rankings,
}


def _confusion(task, out):
    """The confusion matrix, or where it is wider than the terminal its largest mistakes."""
    who = task.name or "true class"
    header = [f"{who}, predicted as", *task.classes]
    rows: list[tuple[str, ...]] = [
        (name, *(f"{n:g}" for n in row)) for name, row in zip(task.classes, task.confusion, strict=True)
    ]
    table = table_of(rows, header)
    if len(task.classes) <= _MOST_CLASSES and out.measure(table, options=_unbounded(out)).maximum <= out.width:
        return table
    wrong = [
        (n, task.classes[i], task.classes[j])
        for i, row in enumerate(task.confusion)
        for j, n in enumerate(row)
        if i != j and n > 0
    ]
    wrong.sort(key=lambda mistake: -mistake[0])
    shown = [(true, predicted, f"{n:g}") for n, true, predicted in wrong[:_MOST_MISTAKES]]
    return table_of(shown or [("none", "", "")], [f"{who}, largest mistakes", "predicted as", "rows"])


def _unbounded(out):
    return out.options.update(max_width=10_000)


def _named(found: Any, tasks: list[str]) -> Any:
    """Tasks by the names of their columns, which the model itself does not know."""
    if isinstance(found, RankingEvaluation):
        return found
    if isinstance(found, RegressionEvaluation):
        if len(found.targets) == len(tasks) == 1:
            found.targets[0].name = tasks[0]
        return found
    if found.kind == "multitask" and len(tasks) == len(found.tasks):
        for label in found.labels:
            label.name = f"{tasks[label.task]}:{label.name.partition(':')[2]}"
        for mistake in found.mistakes:
            mistake.task = tasks[int(mistake.task.removeprefix("task "))]
        for name, task in zip(tasks, found.tasks, strict=True):
            task.name = name
    return found


def _staged(classifier, examples, more: dict[str, Any], json: bool) -> None:
    """One line per round, written as it is computed."""
    header = False
    for found in staged_evaluation(classifier, examples.X, examples.y, examples.sample_weight, **more):
        row = {"round": found.n_rounds, **found.headline()}
        if json:
            print(jsonlib.dumps(row))
            continue
        if not header:
            print(",".join(row))
            header = True
        print(",".join(f"{v:.6g}" for v in row.values()))
    sys.stdout.flush()
