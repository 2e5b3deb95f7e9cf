"""The options of ``train``: from the command line, from a TOML file, or the estimator's own."""

from __future__ import annotations

import re
import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ..base import base_learner_from
from ..estimators.parameters import OPTIONS, defaults_of
from ..estimators.saving import load_model
from ..estimators.start import CONSTANT
from .failure import BadInput
from .task import TASKS, Task

_NUMBER_LISTS = {name for name, p in OPTIONS.items() if p.several}
_LISTS = {"target", "ignore", "nominal"} | _NUMBER_LISTS | {name for name, p in OPTIONS.items() if p.by_name}
_PATHS = ("workspace", "out", "labels", "checkpoint", "resume", "log", "report")
_FLAGS = ("json", "quiet")
_WHOLE = {"patience", "seed", "jobs"} | {name for name, p in OPTIONS.items() if p.kind is int}
_NUMBERS = {"valid_fraction"} | {name for name, p in OPTIONS.items() if p.kind is float}
_TIMES = ("time_limit", "every")


def with_config(given: dict[str, Any], config: Path | None) -> dict[str, Any]:
    """Options of the command line, completed from a TOML file.

    Parameters
    ----------
    given : dict
        Options by name, None where not given.
    config : path or None
    """
    if config is None:
        return given
    with open(config, "rb") as file:
        try:
            written = tomllib.load(file)
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise BadInput(f"{config} is not TOML: {error}") from error
    merged = dict(given)
    for key, value in written.items():
        name = key.replace("-", "_")
        if name not in given:
            close = get_close_matches(name, given, 1)
            hint = f"; did you mean {close[0].replace('_', '-')!r}?" if close else ""
            raise BadInput(f"{config}: there is no option {key!r}{hint}")
        if name in _LISTS and not isinstance(value, list):
            value = [value]
        _check_type(config, key, name, value)
        if merged[name] is None or merged[name] is False:
            merged[name] = Path(value) if name in _PATHS else value
    return merged


def _check_type(config: Path, key: str, name: str, value: Any) -> None:
    """Refuse a value of another kind than the command line takes."""
    if name in _NUMBER_LISTS:
        ok = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in value)
        wanted = "a number or a list of numbers"
    elif name in _LISTS:
        ok, wanted = all(isinstance(v, str) for v in value), "text or a list of texts"
    elif name in _FLAGS:
        ok, wanted = isinstance(value, bool), "true or false"
    elif name in _WHOLE:
        ok, wanted = isinstance(value, int) and not isinstance(value, bool), "a whole number"
    elif name in _NUMBERS:
        ok, wanted = isinstance(value, (int, float)) and not isinstance(value, bool), "a number"
    elif name in _TIMES:
        ok, wanted = isinstance(value, (str, int, float)) and not isinstance(value, bool), 'a time such as "20m"'
    else:
        ok, wanted = isinstance(value, str), "text"
    if not ok:
        raise BadInput(f"{config}: {key!r} must be {wanted}; got {value!r}")


def check_parameters(estimator: Any) -> None:
    """Refuse bad parameters before any file is read, by the names of the options."""
    try:
        base_learner_from(estimator.base_learner)
    except ValueError as error:
        text = re.sub(r"^base_learner='.*?': ", "", str(error))
        raise BadInput(f"--base {estimator.base_learner}: {text}") from error
    try:
        estimator.check_parameters()
    except ValueError as error:
        raise BadInput(in_options(str(error))) from error


def in_options(text: str) -> str:
    """A message of the estimator, with options for its parameters."""
    options = {parameter.name: option for option, parameter in OPTIONS.items()}
    pattern = rf"\b({'|'.join(options)})(?==| must)"
    return re.sub(pattern, lambda m: "--" + options[m[1]].replace("_", "-"), text)


def parameters_of(options: dict[str, Any], task: Task) -> dict[str, Any]:
    """Parameters of the task's estimator; what is not given keeps the estimator's default."""
    given = {name: p for name, p in OPTIONS.items() if options.get(name) not in (None, [])}
    known = defaults_of(task.estimator())
    for name, parameter in given.items():
        if parameter.name not in known:
            others = sorted(t.name for t in TASKS.values() if parameter.name in defaults_of(t.estimator()))
            raise BadInput(
                f"--{name.replace('_', '-')} goes with --task {' or '.join(others)}, and this is {task.name}"
            )
    found = {p.name: options[name] for name, p in given.items()}
    if found.get("init", CONSTANT) != CONSTANT:
        found["init"] = load_model(found["init"])
    if "quantile" in found:
        if found.setdefault("loss", "quantile") != "quantile":
            raise BadInput(f"--quantile goes with --loss quantile, and the loss is {found['loss']}")
        if len(found["quantile"]) == 1:
            found["quantile"] = found["quantile"][0]
    return found
