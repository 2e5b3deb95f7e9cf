"""``multiboost report``."""

from __future__ import annotations

from pathlib import Path

from ..report import write_report
from .display import say_written
from .examples import asked, examples_for
from .failure import check_writable
from .models import one_model
from .task import task_for


def run(
    model: Path, data: str, out: Path, title, target, format, delimiter, labels, ignore, weight, query, jobs
) -> None:
    """Write a report; the options are those of `app.report`."""
    check_writable(out, "--out")
    classifier = one_model(model, "report").set_params(n_jobs=jobs)
    examples = examples_for(classifier.model_, data, target, weight, ignore, format, labels, query, delimiter)
    write_report(
        classifier, examples.X, examples.y, out, sample_weight=examples.sample_weight, title=title, data_file=data,
        model_file=model, **asked(examples, task_for(classifier.model_.kind)),
    )  # fmt: skip
    say_written(f"{out} written")
