"""``multiboost export``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..export.exportable import ExportError
from ..export.formats import export_model, options_of
from ..model.storage import load
from .display import say_written
from .failure import BadInput, check_writable

# Options of the command whose names are not those of the function.
_NAMES = {"probabilities": "proba"}


def run(model: Path, to: str, out: Path, name, precision, proba: bool, fixed, categories) -> None:
    """Write a model for another place; the options are those of `app.export`."""
    given = {"name": name, "precision": precision, "probabilities": proba or None, "fixed": _grids(fixed),
             "categories": categories}  # fmt: skip
    options = {option: value for option, value in given.items() if value is not None}
    try:
        known = options_of(to)
    except ExportError as error:
        raise BadInput(f"--{error}") from error
    for option in options:
        if option not in known:
            raise BadInput(f"--{_NAMES.get(option, option)} does not go with --to {to}")
    check_writable(out, "--out")
    if out.absolute() == model.absolute():
        raise BadInput(f"--out {out} would overwrite what is read")
    try:
        written = export_model(load(model), out, to, **options)
    except ExportError as error:
        raise BadInput(f"{model}: {error}") from error
    say_written(f"{' and '.join(map(str, written))} written")


def _grids(fixed: list[str] | None) -> Any:
    """ "q8.8", or a grid for each column: COLUMN=q8.8."""
    if not fixed:
        return None
    pairs = [text.rpartition("=") for text in fixed]
    if all(equal for _, equal, _ in pairs):
        return {column: grid for column, _, grid in pairs}
    if len(fixed) > 1:
        raise BadInput("--fixed: give one grid for all columns, or COLUMN=GRID for each of them")
    return fixed[0]
