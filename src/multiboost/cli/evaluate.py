"""``multiboost evaluate``."""

from __future__ import annotations

import json as jsonlib
import sys
from pathlib import Path

from ..estimators.persistence import load_model
from ..evaluation import evaluate, staged_evaluation
from .display import console, table_of
from .examples import examples_for
from .headline import headline

_MOST_CLASSES = 30  # of a confusion matrix in a terminal


def run(model: Path, data: str, staged: bool, target, format, labels, ignore, weight, jobs, json) -> None:
    """Evaluate a model; the options are those of `app.evaluate`."""
    classifier = load_model(model).set_params(n_jobs=jobs)
    examples = examples_for(classifier, data, target, weight, ignore, format, labels)
    if staged:
        _staged(classifier, examples, json)
        return
    found = evaluate(classifier, examples.X, examples.y, examples.sample_weight)
    if json:
        print(found.to_json())
        return
    out = console(stderr=False)
    out.print(table_of([(name.replace("_", " "), f"{value:.4f}") for name, value in headline(found).items()]))
    if len(found.labels) > 1:
        out.print()
        aucs = [(label.name, "" if label.auc is None else f"{label.auc:.4f}") for label in found.labels]
        out.print(table_of(aucs, ["label", "AUC"]))
    for task in found.tasks:
        if len(task.classes) <= _MOST_CLASSES:
            out.print()
            header = [f"{task.name or 'true class'}, predicted as", *task.classes]
            rows: list[tuple[str, ...]] = [
                (name, *(f"{n:g}" for n in row)) for name, row in zip(task.classes, task.confusion, strict=True)
            ]
            out.print(table_of(rows, header))
    if found.margins is not None:
        out.print()
        margins = found.margins
        shown = {"least": margins.least, "median": margins.median, "mean": margins.mean, "below 0": margins.negative}
        out.print(table_of([(f"margin, {name}", f"{value:.4f}") for name, value in shown.items()]))


def _staged(classifier, examples, json: bool) -> None:
    """One line per round, written as it is computed."""
    header = False
    for found in staged_evaluation(classifier, examples.X, examples.y, examples.sample_weight):
        row = {"round": found.n_rounds, **headline(found)}
        if json:
            print(jsonlib.dumps(row))
            continue
        if not header:
            print(",".join(row))
            header = True
        print(",".join(f"{v:.6g}" for v in row.values()))
    sys.stdout.flush()
