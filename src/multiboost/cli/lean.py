"""``multiboost lean``: a model that needs less of itself."""

from __future__ import annotations

import json as jsonlib
from pathlib import Path
from typing import Any

import numpy as np

from ..boosting.callbacks import StopOnInterrupt, TimeLimit
from ..estimators.cascades import SoftCascadeClassifier, ViolaJonesClassifier, WaldBoostClassifier
from ..estimators.mddag import MDDAGClassifier
from ..estimators.parameters import OPTIONS, defaults_of
from .by_name import class_weight_of, costs_of
from .display import console, say_written, table_of
from .examples import Roles, examples_for, examples_of, for_model, read, reading_for
from .failure import BadInput, check_writable
from .models import one_model
from .task import task_for
from .times import seconds_of

# What each method is; "exit" is no estimator of its own.  An option belongs to those that have its parameter.
_METHODS: dict[str, Any] = {
    "exit": None,
    "mddag": MDDAGClassifier,
    "soft-cascade": SoftCascadeClassifier,
    "wald": WaldBoostClassifier,
    "viola-jones": ViolaJonesClassifier,
}
_OF_EXIT = {"max_disagreement", "confidence"}


def _options_of(method: str) -> set[str]:
    """Names of the options of a method."""
    if method == "exit":
        return _OF_EXIT
    parameters = defaults_of(_METHODS[method])
    own = {name for name, parameter in OPTIONS.items() if parameter.name in parameters}
    return own | ({"time_limit"} if method == "mddag" else set())


def run(
    model: Path, data: str, out: Path, method: str, target, format, delimiter, labels, ignore, jobs, json, **options
) -> None:
    """Make a model lean; the options are those of `app.lean`."""
    if method not in _METHODS:
        raise BadInput(f"--method {method!r} is not one of {', '.join(_METHODS)}")
    given = {name: value for name, value in options.items() if value not in (None, [])}
    own = _options_of(method)
    strange = [name for name in given if name not in own]
    if strange:
        raise BadInput(f"--{strange[0].replace('_', '-')} is no option of --method {method}")
    check_writable(out, "--out")
    if out.absolute() in (model.absolute(), Path(data).absolute()):
        raise BadInput(f"--out {out} would overwrite what is read")
    classifier = one_model(model, "lean").set_params(n_jobs=jobs)
    if not task_for(classifier.model_.kind).has_classes:
        raise BadInput(f"{model} predicts numbers; lean models are classifiers")
    if method == "exit":
        X = _rows(classifier.model_, data, ignore, format, labels, delimiter)
        lean = classifier.early_exit(X, **given)
    else:
        examples = examples_for(classifier.model_, data, target, None, ignore, format, labels, delimiter=delimiter)
        limit, X = given.pop("time_limit", None), examples.X
        if "class_weight" in given:
            given["class_weight"] = class_weight_of(given["class_weight"], classifier.model_.kind)
        if "costs" in given:
            given["costs"] = costs_of(given["costs"], classifier.model_, examples.names, examples.file)
        lean = _METHODS[method](classifier, n_jobs=jobs, **{OPTIONS[name].name: v for name, v in given.items()})
        more = {} if limit is None else {"callbacks": [TimeLimit(seconds_of(limit, "--time-limit")), StopOnInterrupt()]}
        lean.fit(X, examples.y, **more)
    lean.save(out)
    found = {
        **lean.model_.walker.policy.about,
        "base_classifiers": int(lean.n_estimators_),
        "mean_evaluated": float(np.mean(lean.n_evaluated(X))),
        "digest": lean.model_.digest(),
    }
    if json:
        print(jsonlib.dumps(found))
        return
    console(stderr=False).print(table_of([(name.replace("_", " "), _text(value)) for name, value in found.items()]))
    say_written(f"{out} written")


def _text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _rows(model, data: str, ignore, format, labels, delimiter):
    """Rows of a file; a target may be there or not."""
    told = model.data or {}
    content = read(data, format, labels, delimiter, **reading_for(model, data, format))
    aside = [*told.get("target", []), *told.get("ignore", []), *([told["weight"]] if told.get("weight") else [])]
    here = [name for name in aside if name in content.names and name not in (ignore or [])]
    return for_model(examples_of(content, Roles(ignore=[*(ignore or []), *here])), model).X
