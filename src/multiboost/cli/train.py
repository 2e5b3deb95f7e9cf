"""``multiboost train``."""

from __future__ import annotations

import json as jsonlib
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from ..boosting.callbacks import Callback, EarlyStopping, Log, Progress, StopOnInterrupt, TimeLimit
from ..data.kind import TargetKind
from ..estimators.validation import seed_of
from .by_name import class_weight_of, class_weight_of_files
from .display import LiveDisplay, console, measured, table_of
from .examples import (
    Examples,
    Roles,
    aligned,
    asked,
    check_numbers,
    check_queries,
    load,
    nominal_of,
    one_stdin,
    reading,
    text_columns,
)
from .failure import BadInput, Interrupted, check_writable
from .settings import check_parameters, parameters_of, with_config
from .task import Task, task_named
from .times import seconds_of, time_of
from .train_files import InFiles, is_in_files

METRICS = ("validation_error", "validation_risk", "training_error", "risk")


def run(data: str, config: Path | None = None, **given: Any) -> None:
    """Train a model from files; the options are those of `app.train`."""
    options = with_config(given, config)
    quiet, as_json = options["quiet"], options["json"]
    _check(data, options)
    task = task_named(options["task"])
    roles = Roles(options["target"] or [], options["weight"], options["ignore"] or [], task.name, options["query"])
    roles = replace(roles, signed=options["negative_weights"] not in (None, "error"))
    every = seconds_of(options["every"], "--every") if options["every"] else 60.0
    classifier = task.estimator()(**parameters_of(options, task))
    check_parameters(classifier)
    callbacks = _callbacks(options, quiet or as_json)
    files = InFiles.of(data, options, roles, task) if is_in_files(data, options) else None
    if files is not None:
        classifier.set_params(nominal_features=options["nominal"] or None)
        if task.has_classes:
            classifier.set_params(class_weight=class_weight_of_files(options["class_weight"]))
        valid, test = (files.like(options[name], roles, options) for name in ("valid", "test"))
        training, given, provenance = files.head, files.arguments(options, roles), files.provenance(roles)
    else:
        training, valid, test = _loaded(data, options, roles, task, classifier)
        given = {"X": training.X, "y": training.y, **task.arguments(training)}
        provenance = _provenance(training, roles)
    begin = perf_counter()
    classifier.fit(
        **given, validation=None if valid is None else task.validation(valid),
        callbacks=callbacks, checkpoint=options["checkpoint"], checkpoint_every=every, resume=_resume(options),
        provenance=provenance,
    )  # fmt: skip
    if files is not None and test is not None:
        test = replace(test, y=task.matched(test, classifier.model_.kind, training.file))
    seconds = perf_counter() - begin
    if options["out"]:
        classifier.save(options["out"])
    interrupt = next(c for c in callbacks if isinstance(c, StopOnInterrupt))
    summary = _summary(classifier, valid, test, seconds, interrupt.asked, task)
    if as_json:
        print(jsonlib.dumps(summary))
    elif not quiet:
        _show(summary, options["out"], classifier.model_.kind.measure)
    if options["report"]:
        from ..report import write_report

        held_out = test or valid or training
        y = held_out.y if held_out is not training else task.matched(training, classifier.model_.kind, "the model")
        write_report(
            classifier, held_out.X, y, options["report"], sample_weight=held_out.sample_weight, **asked(held_out, task)
        )
    if interrupt.asked:
        saved = f"; the model is in {options['out']}" if options["out"] else ""
        raise Interrupted(f"interrupted after {classifier.n_estimators_} rounds{saved}")


def _is_signed(examples: Examples) -> bool:
    return examples.sample_weight is not None and bool((examples.sample_weight < 0).any())


def _loaded(data: str, options: dict[str, Any], roles: Roles, task: Task, classifier):
    """Training, validation and test examples, in memory."""
    training = load(data, roles, format=options["format"], labels=options["labels"], delimiter=options["delimiter"])
    _check_training(training, options["weighting"], task)
    kind = task.kind_of(training)
    classifier.set_params(nominal_features=nominal_of(training, options["nominal"]))
    if task.has_classes:
        classifier.set_params(class_weight=class_weight_of(options["class_weight"], kind))
    valid, test = (_load_like(training, kind, options[name], roles, options, task) for name in ("valid", "test"))
    if options["report"] and _is_signed(test or valid or training):
        raise BadInput("--report knows no negative weights; give a --test file without them, or ask evaluate")
    return (*_set_apart(training, valid, options["valid_fraction"], options["seed"], task), test)


def _provenance(training: Examples, roles: Roles) -> dict[str, Any]:
    """What the model remembers of its data; a checkpoint is a model file, too, and knows as much."""
    return {
        "file": Path(training.file).name,
        "rows": training.n_rows,
        **training.layout,
        "target": roles.target,
        "weight": roles.weight,
        **({"query": roles.query} if roles.query else {}),
        "ignore": roles.ignore,
        # The estimator keeps the names of tables, but sparse ARFF is a matrix.
        **({"names": training.names} if training.is_named and not training.is_table else {}),
    }


def _check(data: str, options: dict[str, Any]) -> None:
    """What would be found wrong only at the end is found now."""
    if options["query"] and not task_named(options["task"]).has_queries:
        raise BadInput("--query goes with --task ranking")
    if options["valid"] and options["valid_fraction"]:
        raise BadInput("--valid and --valid-fraction both say what to validate on; give one of them")
    fraction = options["valid_fraction"]
    if fraction is not None and not 0 < fraction < 1:
        raise BadInput(f"--valid-fraction must be between 0 and 1; got {fraction}")
    if not (options["out"] or options["checkpoint"] or options["test"] or options["json"] or options["report"]):
        raise BadInput("the model would be lost: give --out FILE")
    one_stdin(data=data, valid=options["valid"], test=options["test"])
    read = {Path(options[name]).absolute(): f"--{name}" for name in ("valid", "test", "labels") if options[name]}
    taken = {Path(data).absolute(): "DATA", **read}
    for name in ("out", "checkpoint", "log", "report"):
        if options[name]:
            path = Path(options[name])
            check_writable(path, f"--{name}")
            other = taken.setdefault(path.absolute(), f"--{name}")
            if other != f"--{name}":
                raise BadInput(f"--{name} {path} would overwrite {other}")
    metric = options["metric"] or "validation_error"
    stops = options["patience"] is not None or options["metric"]
    if stops and metric.startswith("validation") and not (options["valid"] or fraction):
        raise BadInput("--patience needs something to validate on: give --valid FILE or --valid-fraction 0.2")
    if options["metric"] and metric not in METRICS:
        raise BadInput(f"--metric {metric!r} is not one of {', '.join(METRICS)}")


def _check_training(training: Examples, weighting: str | None, task: Task) -> None:
    if training.y is None:
        raise BadInput(f"{training.file}: which column is {task.wanted}? Name it with --target")
    check_queries(training, task)
    if not training.names:
        raise BadInput(f"{training.file} has no column left to learn from")
    if weighting == "given" and training.label_weight is None:
        raise BadInput(f"--weighting given takes the weights of labels from the file, and {training.file} has none")


def _load_like(
    training: Examples, kind: TargetKind, path: str | None, roles: Roles, options, task: Task
) -> Examples | None:
    """Another file with the columns and classes of the training file."""
    if not path:
        return None
    format, multilabel = options["format"], not (kind.is_single or kind.tasks)
    text = text_columns(training)
    hints = reading(path, format, training.layout, text, multilabel)
    other = load(path, roles, format=format, labels=options["labels"], delimiter=options["delimiter"], **hints)
    if other.y is None:
        raise BadInput(f"{other.file} has no {'classes' if task.has_classes else 'target'}")
    check_queries(other, task)
    names = training.names if training.is_named else None
    other = aligned(other, names, len(training.names), training.file)
    check_numbers(other, {*text, *(options["nominal"] or [])})
    return replace(other, y=task.matched(other, kind, training.file))


def _resume(options: dict[str, Any]) -> Path | bool | None:
    """A checkpoint that is also the one to write may not be there yet: then the run begins."""
    resume, checkpoint = options["resume"], options["checkpoint"]
    if resume and checkpoint and Path(resume).absolute() == Path(checkpoint).absolute():
        return True
    return resume


def _set_apart(training: Examples, valid: Examples | None, fraction: float | None, seed: int | None, task: Task):
    """Training and validation examples; the rows set apart depend on the seed alone.

    Except that the last rows of a class stay: what training does not know cannot be validated.  Queries stay whole.
    """
    if fraction is None:
        return training, valid
    n = training.n_rows
    n_valid = round(fraction * n)
    if not 0 < n_valid < n:
        raise BadInput(f"--valid-fraction {fraction} of {n} rows leaves nothing to train on or to validate on")
    order = np.random.default_rng(seed_of(seed)).permutation(n)
    apart = np.zeros(n, bool)
    apart[order[:n_valid]] = True
    if task.has_queries:  # whole queries, about as many rows
        assert training.qid is not None
        number = np.unique(training.qid, return_inverse=True)[1]
        drawn = np.random.default_rng(seed_of(seed)).permutation(number.max() + 1)
        n_drawn = round(fraction * drawn.size)
        if not 0 < n_drawn < drawn.size:
            raise BadInput(
                f"--valid-fraction {fraction} of {drawn.size} queries leaves none to train or to validate on"
            )
        apart = np.isin(number, drawn[:n_drawn])
    if task.has_classes and not hasattr(training.y, "num_rows"):
        number = np.unique(training.y, return_inverse=True)[1]
        lost = np.bincount(number) == np.bincount(number[apart], minlength=number.max() + 1)
        apart[lost[number]] = False
    return training.take(np.flatnonzero(~apart)), training.take(np.flatnonzero(apart))


def _callbacks(options: dict[str, Any], silent: bool) -> list[Callback]:
    found: list[Callback] = [StopOnInterrupt()]
    if options["patience"] is not None or options["metric"] is not None:
        patience = 50 if options["patience"] is None else options["patience"]
        found.append(EarlyStopping(patience, options["metric"] or "validation_error"))
    if options["time_limit"]:
        found.append(TimeLimit(seconds_of(options["time_limit"], "--time-limit")))
    if options["log"]:
        found.append(Log(options["log"]))
    if not silent:
        found.append(LiveDisplay() if console().is_terminal else Progress())
    return found


def _summary(classifier, valid, test, seconds: float, interrupted: bool, task: Task) -> dict[str, Any]:
    """What there is to say at the end, as JSON."""
    from ..evaluation import evaluate

    found: dict[str, Any] = {
        "rounds": int(classifier.n_estimators_),
        "loss": classifier.loss_,
        "learning_rate": float(classifier.learning_rate_),
        "subsample": float(classifier.subsample_),
        "base_learner": classifier.plan_.learner_name,
        "seconds": round(seconds, 3),
        "interrupted": interrupted,
        "training_error": float(classifier.history_["training_error"][-1]),
        "digest": classifier.ensemble_.digest(),
    }
    for name, examples in (("validation", valid), ("test", test)):
        if examples is not None:
            result = evaluate(classifier, examples.X, examples.y, examples.sample_weight, **asked(examples, task))
            found[name] = result.headline()
    return found


def _show(summary: dict[str, Any], out, measure: str) -> None:
    rows = [
        ("rounds", str(summary["rounds"])),
        ("base learner", summary["base_learner"]),
        ("loss, step", f"{summary['loss']}, {summary['learning_rate']:g}"),
        ("time", time_of(summary["seconds"])),
        (f"training {measure}", measured("error", summary["training_error"])),
    ]
    for name in ("validation", "test"):
        if name in summary:
            rows += [
                (f"{name} {metric.replace('_', ' ')}", measured(metric, value))
                for metric, value in summary[name].items()
            ]
    if out:
        rows.append(("model", str(out)))
    console().print(table_of(rows))
