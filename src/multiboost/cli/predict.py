"""``multiboost predict``: batch by batch, in memory that does not grow with the file."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from ..estimators.threads import thread_count
from ..extras import need
from ..files import read_batches
from ..files.source import split_suffixes
from ..files.write import whole_file
from ..kernels.team import Team
from ..model.model import Model
from ..model.storage import load
from ..visible import visible
from .examples import Roles, examples_of, for_model, reading_for, told_by, with_options
from .failure import BadInput, check_writable
from .task import task_for

_ROWS = 1 << 16
_KINDS = (".csv", ".tsv", ".parquet", ".arrow", ".feather")


def run(
    model: Path, data: str, out: Path | None, scores: bool, proba: bool, format, delimiter, labels, ignore, jobs
) -> None:
    """Predict the rows of a file; the options are those of `app.predict`."""
    if scores and proba:
        raise BadInput("--scores and --proba: give one of them")
    target = "-" if out is None else str(out)
    suffix = ".csv" if target == "-" else split_suffixes(target)[1]
    if suffix not in _KINDS:
        raise BadInput(f"--out {out}: the name must end in {', '.join(_KINDS)}")
    if target != "-":
        check_writable(Path(target), "--out")
        if Path(target).absolute() in (Path(data).absolute(), model.absolute()):
            raise BadInput(f"--out {out} would overwrite what is read")
    fitted = load(model)  # not load_model: scikit-learn, which prediction does not need, takes a second
    if proba and not task_for(fitted.kind).has_classes:
        raise BadInput(f"--proba: {model} predicts numbers, which have no probabilities; leave it out")
    told = told_by(fitted)
    options = with_options(data, format, labels, delimiter, reading_for(fitted, data, format))
    # What training set aside may be there again: it is not looked at.
    alone = [told[role] for role in ("weight", "query") if told.get(role)]
    aside = [*told.get("target", []), *told.get("ignore", []), *alone]
    with (
        closing(read_batches(data, format, _ROWS, **options)) as batches,
        whole_file(target) as file,
        closing(_Writer(file, suffix)) as writer,
        Team(thread_count(jobs)) as team,
    ):
        for content in batches:
            here = [name for name in aside if name in content.names and name not in (ignore or [])]
            examples = for_model(examples_of(content, Roles(ignore=[*(ignore or []), *here])), fitted)
            columns = _columns(fitted, fitted.scores(fitted.table(examples.X), team), scores, proba)
            writer.write(_shown(columns) if target == "-" and sys.stdout.isatty() else columns)


def _columns(model: Model, found: np.ndarray, scores: bool, proba: bool) -> dict[str, Any]:
    """Named columns of the output, from scores F (n, K)."""
    kind, targets = model.kind, (model.data or {}).get("target") or []
    if scores:
        return _named(kind.score_names(targets), found)
    if proba:
        values = model.probabilities(found)
        values = np.concatenate(values, axis=1) if isinstance(values, list) else values
        return _named(kind.probability_names(targets), values)
    return _named(kind.answer_columns(targets), model.answer(found))


def _named(names: list[str], values: np.ndarray) -> dict[str, Any]:
    columns = values.reshape(len(values), -1)
    return {name: columns[:, k] for k, name in enumerate(names)}


def _shown(columns: dict[str, Any]) -> dict[str, Any]:
    """The same for a terminal, which would obey control characters in names of classes."""
    return {
        visible(name): values if values.dtype.kind in "biuf" else [visible(value) for value in values]
        for name, values in columns.items()
    }


class _Writer:
    """Batches of columns into a file.

    Parameters
    ----------
    file : binary file
    suffix : str
        One of `_KINDS`.
    """

    def __init__(self, file, suffix: str):
        self.pa = need("pyarrow", "cli")
        self.file, self.suffix = file, suffix
        self._writer: Any = None

    def write(self, columns: dict[str, Any]) -> None:
        """The next rows."""
        table = self.pa.table({name: self.pa.array(values) for name, values in columns.items()})
        if self._writer is None:
            self._writer = self._open(table.schema)
        self._writer.write_table(table)

    def close(self) -> None:
        """What comes after the last row."""
        if self._writer is not None:
            self._writer.close()

    def _open(self, schema):
        if self.suffix in (".csv", ".tsv"):
            csv = need("pyarrow.csv", "cli")
            options = csv.WriteOptions(delimiter="," if self.suffix == ".csv" else "\t", quoting_style="needed")
            return csv.CSVWriter(self.file, schema, write_options=options)
        if self.suffix == ".parquet":
            return need("pyarrow.parquet", "cli").ParquetWriter(self.file, schema)
        return self.pa.ipc.new_file(self.file, schema)
