"""``multiboost train``."""

from __future__ import annotations

import json as jsonlib
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from ..base import spec_of
from ..boosting.callbacks import Callback, EarlyStopping, Log, Progress, StopOnInterrupt, TimeLimit
from ..estimators.adaboost_mh import AdaBoostMHClassifier
from .display import LiveDisplay, console, table_of
from .examples import Examples, Roles, for_model, like_classes, load, numbering
from .failure import BadInput, Interrupted
from .headline import headline
from .settings import parameters_of, with_config
from .times import seconds_of, time_of


def run(data: str, config: Path | None = None, **given: Any) -> None:
    """Train a model from files; the options are those of `app.train`."""
    options = with_config(given, config)
    quiet, as_json = options["quiet"], options["json"]
    _check(options)
    roles = Roles(options["target"] or [], options["weight"], options["ignore"] or [])
    reading = {"format": options["format"], "labels": options["labels"]}
    training = load(data, roles, **reading)
    if training.y is None:
        raise BadInput(f"{training.file}: which column is the class? Name it with --target")
    known = {
        "first_column": training.names[0] if training.format == "svmlight" else None,
        "columns": len(training.names),
    }
    valid, test = (
        load(options[name], roles, **reading, **numbering(known, options[name], options["format"]))
        if options[name]
        else None
        for name in ("valid", "test")
    )
    training, valid = _set_apart(training, valid, options["valid_fraction"], options["seed"])
    for other in (valid, test):
        if other is not None:
            _same_columns(training, other)

    classifier = AdaBoostMHClassifier(**parameters_of(options))
    callbacks = _callbacks(options, valid, quiet or as_json)
    begin = perf_counter()
    classifier.fit(
        training.X, training.y, training.sample_weight, training.label_weight,
        validation=None if valid is None else (valid.X, valid.y, valid.sample_weight),
        callbacks=callbacks, checkpoint=options["checkpoint"],
        checkpoint_every=seconds_of(options["every"], "--every") if options["every"] else 60.0,
        resume=_resume(options),
    )  # fmt: skip
    seconds = perf_counter() - begin
    classifier.data_ = {
        "file": Path(training.file).name,
        "rows": training.n_rows,
        **known,
        "target": roles.target,
        "weight": roles.weight,
        "ignore": roles.ignore,
    }
    if options["out"]:
        classifier.save(options["out"])
    watch = next(c for c in callbacks if isinstance(c, StopOnInterrupt))
    summary = _summary(classifier, training, valid, test, seconds, watch.asked)
    if as_json:
        print(jsonlib.dumps(summary))
    elif not quiet:
        _show(summary, options["out"])
    if options["report"]:
        from ..report import write_report

        held_out = test or valid or training
        write_report(
            classifier, held_out.X, like_classes(held_out.y, classifier), options["report"],
            sample_weight=held_out.sample_weight,
        )  # fmt: skip
    if watch.asked:
        saved = f"; the model is in {options['out']}" if options["out"] else ""
        raise Interrupted(f"interrupted after {classifier.n_estimators_} rounds{saved}")


def _check(options: dict[str, Any]) -> None:
    """What would be found wrong only at the end is found now."""
    if options["valid"] and options["valid_fraction"]:
        raise BadInput("--valid and --valid-fraction both say what to validate on; give one of them")
    fraction = options["valid_fraction"]
    if fraction is not None and not 0 < fraction < 1:
        raise BadInput(f"--valid-fraction must be between 0 and 1; got {fraction}")
    if not (options["out"] or options["checkpoint"] or options["test"] or options["json"] or options["report"]):
        raise BadInput("the model would be lost: give --out FILE")
    for name in ("out", "checkpoint", "log", "report"):
        path = options[name]
        if path and not Path(path).absolute().parent.is_dir():
            raise BadInput(f"--{name} {path}: there is no folder {Path(path).absolute().parent}")
        if path and Path(path).is_dir():
            raise BadInput(f"--{name} {path} is a folder, not a file")


def _resume(options: dict[str, Any]) -> Path | bool | None:
    """A checkpoint that is also the one to write may not be there yet: then the run begins."""
    resume, checkpoint = options["resume"], options["checkpoint"]
    if resume and checkpoint and Path(resume).absolute() == Path(checkpoint).absolute():
        return True
    return resume


def _set_apart(training: Examples, valid: Examples | None, fraction: float | None, seed: int | None):
    """Training and validation examples; the rows set apart depend on the seed alone."""
    if fraction is None:
        return training, valid
    n = training.n_rows
    n_valid = round(fraction * n)
    if not 0 < n_valid < n:
        raise BadInput(f"--valid-fraction {fraction} of {n} rows leaves nothing to train on or to validate on")
    order = np.random.default_rng(seed or 0).permutation(n)
    held_out = np.sort(order[:n_valid])
    rest = np.sort(order[n_valid:])
    return training.take(rest), training.take(held_out)


def _same_columns(training: Examples, other: Examples) -> None:
    """Columns by name: put in the order of the training file, or named where they differ."""
    if other.y is None:
        raise BadInput(f"{other.file} has no classes")
    if not hasattr(training.X, "select"):
        if len(other.names) > len(training.names):
            unknown = other.names[len(training.names)]
            raise BadInput(f"{other.file} has a column {unknown!r} that {training.file} has not")
        if len(other.names) < len(training.names) and hasattr(other.X, "tocsr"):
            other.X = other.X.tocsr(copy=True)
            other.X.resize((other.X.shape[0], len(training.names)))
            other.names = training.names
        return
    for name in training.names:
        if name not in set(other.names):
            raise BadInput(f"{other.file} has no column {name!r}, which {training.file} has")
    for name in other.names:
        if name not in set(training.names):
            hint = f"leave it out with --ignore {name!r}"
            raise BadInput(f"{other.file} has a column {name!r} that {training.file} has not; {hint}")
    other.X, other.names = other.X.select(training.names), training.names


def _callbacks(options: dict[str, Any], valid: Examples | None, silent: bool) -> list[Callback]:
    found: list[Callback] = [StopOnInterrupt()]
    if options["patience"] is not None or options["metric"] is not None:
        metric = options["metric"] or "validation_error"
        if metric.startswith("validation") and valid is None:
            raise BadInput("--patience needs something to validate on: give --valid FILE or --valid-fraction 0.2")
        patience = 50 if options["patience"] is None else options["patience"]
        found.append(EarlyStopping(patience, metric))
    if options["time_limit"]:
        found.append(TimeLimit(seconds_of(options["time_limit"], "--time-limit")))
    if options["log"]:
        found.append(Log(options["log"]))
    if not silent:
        found.append(LiveDisplay() if console().is_terminal else Progress())
    return found


def _summary(classifier, training: Examples, valid, test, seconds: float, interrupted: bool) -> dict[str, Any]:
    """What there is to say at the end, as JSON."""
    from ..evaluation import evaluate

    found: dict[str, Any] = {
        "rounds": int(classifier.n_estimators_),
        "loss": classifier.loss_,
        "learning_rate": float(classifier.learning_rate_),
        "base_learner": spec_of(classifier.base_learner_),
        "seconds": round(seconds, 3),
        "interrupted": interrupted,
        "training_error": float(classifier.history_["training_error"][-1]),
        "digest": classifier.ensemble_.digest(),
    }
    for name, examples in (("validation", valid), ("test", test)):
        if examples is not None:
            examples = for_model(replace(examples, y=like_classes(examples.y, classifier)), classifier)
            result = evaluate(classifier, examples.X, examples.y, examples.sample_weight)
            found[name] = headline(result)
    return found


def _show(summary: dict[str, Any], out) -> None:
    rows = [
        ("rounds", str(summary["rounds"])),
        ("base learner", summary["base_learner"]),
        ("loss, step", f"{summary['loss']}, {summary['learning_rate']:g}"),
        ("time", time_of(summary["seconds"])),
        ("training error", f"{100 * summary['training_error']:.2f} %"),
    ]
    for name in ("validation", "test"):
        if name in summary:
            rows += [(f"{name} {metric.replace('_', ' ')}", f"{value:.4f}") for metric, value in summary[name].items()]
    if out:
        rows.append(("model", str(out)))
    console().print(table_of(rows))
