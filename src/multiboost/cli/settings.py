"""The options of ``train``: from the command line, from a TOML file, or the estimator's own."""

from __future__ import annotations

import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from .failure import BadInput

# Option -> parameter of the estimator.
PARAMETERS = {
    "base": "base_learner",
    "rounds": "n_estimators",
    "votes": "votes",
    "loss": "loss",
    "learning_rate": "learning_rate",
    "weighting": "weighting",
    "max_bins": "max_bins",
    "min_category_rows": "min_category_rows",
    "ridge": "ridge",
    "seed": "random_state",
    "jobs": "n_jobs",
    "nominal": "nominal_features",
}
_LISTS = ("target", "ignore", "nominal")
_PATHS = ("out", "labels", "checkpoint", "resume", "log", "report")


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
        if isinstance(value, dict):
            raise BadInput(f"{config}: {key!r} is a table; options are values")
        if name in _LISTS and not isinstance(value, list):
            value = [value]
        if merged[name] is None or merged[name] is False:
            merged[name] = Path(value) if name in _PATHS else value
    return merged


def parameters_of(options: dict[str, Any]) -> dict[str, Any]:
    """Parameters of the estimator; what is not given keeps the estimator's default."""
    return {PARAMETERS[name]: options[name] for name in PARAMETERS if options.get(name) is not None}
