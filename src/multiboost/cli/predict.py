"""``multiboost predict``: batch by batch, in memory that does not grow with the file."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..estimators.persistence import load_model
from ..extras import need
from ..files import read_batches
from .examples import Roles, examples_of, for_model, numbering
from .failure import BadInput

_ROWS = 1 << 16


def run(model: Path, data: str, out: Path | None, scores: bool, proba: bool, format, labels, ignore, jobs) -> None:
    """Predict the rows of a file; the options are those of `app.predict`."""
    if scores and proba:
        raise BadInput("--scores and --proba: give one of them")
    classifier = load_model(model).set_params(n_jobs=jobs)
    known = classifier.data_ or {}
    options = numbering(known, data, format) if labels is None else {"labels": labels}
    with _writer(out) as write:
        for content in read_batches(data, format, _ROWS, **options):
            # What training set aside may be there again: it is not looked at.
            aside = [*known.get("target", []), *known.get("ignore", []), known.get("weight")]
            absent = [name for name in ignore or [] if name not in content.names]
            if absent:
                raise BadInput(f"{content.file} has no column {absent[0]!r} (--ignore)")
            roles = Roles(ignore=[*(ignore or []), *(name for name in aside if name in content.names)])
            examples = for_model(examples_of(content, roles), classifier)
            write(_columns(classifier, examples.X, scores, proba))


def _columns(classifier, X, scores: bool, proba: bool) -> dict[str, Any]:
    """Named columns of the output."""
    kind = classifier._target_kind
    tasks = (classifier.data_ or {}).get("target") or []
    if scores:
        values = classifier.decision_function(X)
        return _named(kind.label_names(), values.reshape(len(values), -1))
    if proba:
        values = classifier.predict_proba(X)
        if kind.kind == "multitask":
            names = [f"{_task(tasks, t)}:{c}" for t, classes in enumerate(kind.classes) for c in classes]
            import numpy as np

            return _named(names, np.concatenate(values, axis=1))
        return _named([str(c) for c in kind.classes[0]], values)
    values = classifier.predict(X)
    if kind.kind == "multilabel":
        return _named([str(c) for c in kind.classes[0]], values)
    if kind.kind == "multitask":
        return _named([_task(tasks, t) for t in range(len(kind.classes))], values)
    return {tasks[0] if tasks else "prediction": values}


def _task(tasks: list[str], t: int) -> str:
    return tasks[t] if t < len(tasks) else f"task {t}"


def _named(names: list[str], values) -> dict[str, Any]:
    return {name: values[:, k] for k, name in enumerate(names)}


_KINDS = (".csv", ".tsv", ".parquet", ".arrow", ".feather")


@contextmanager
def _writer(out: Path | None) -> Iterator[Any]:
    """A function that writes batches of columns; the file appears when all is written."""
    pa = need("pyarrow", "cli")
    suffix = ".csv" if out is None else out.suffix
    if suffix not in _KINDS:
        raise BadInput(f"--out {out}: the name must end in {', '.join(_KINDS)}")
    if out is None:
        yield from _writing(pa, sys.stdout.buffer, suffix)
        return
    if out.is_dir() or not out.absolute().parent.is_dir():
        raise BadInput(f"--out {out}: {'is a folder' if out.is_dir() else 'there is no such folder'}")
    handle, temporary = tempfile.mkstemp(prefix=f".{out.name}.", suffix=".tmp", dir=out.absolute().parent)
    try:
        with os.fdopen(handle, "wb") as file:
            yield from _writing(pa, file, suffix)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, out)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _writing(pa, file, suffix: str) -> Iterator[Any]:
    writer: Any = None

    def write(columns: dict[str, Any]) -> None:
        nonlocal writer
        table = pa.table({name: pa.array(values) for name, values in columns.items()})
        if writer is None:
            writer = _open(pa, file, suffix, table.schema)
        writer.write_table(table)

    yield write
    if writer is not None:
        writer.close()


def _open(pa, file, suffix: str, schema):
    if suffix in (".csv", ".tsv"):
        csv = need("pyarrow.csv", "cli")
        options = csv.WriteOptions(delimiter="," if suffix == ".csv" else "\t", quoting_style="needed")
        return csv.CSVWriter(file, schema, write_options=options)
    if suffix == ".parquet":
        return need("pyarrow.parquet", "cli").ParquetWriter(file, schema)
    return pa.ipc.new_file(file, schema)
