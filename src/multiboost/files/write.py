"""Writing: every format that can hold the table; the old file stays until the new one is whole."""

from __future__ import annotations

import bz2
import gzip
import lzma
import math
import re
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp

from .. import disk
from .arffheader import NUMBER, quote
from .content import Content, Labels
from .error import FileError, shorten
from .reader import need_pyarrow, plain_text
from .source import format_of, split_suffixes


def write_table(what, path, format: str | None = None) -> None:
    """Write a table to a data file.

    Parameters
    ----------
    what : Content, pyarrow.Table, data frame or dict
        A dict maps column names to arrays of one length.
    path : str or path
        "-" is standard output.  A name that ends in .gz, .bz2 or .xz is compressed.
    format : str or None
        One of `FORMATS`; None: by the suffix.

    Raises
    ------
    FileError
        Where the format cannot hold this table; the message says why.

    Notes
    -----
    csv, tsv, Parquet and Arrow hold labels and groups as further columns: ``class``, one column of 0, 1 and
    missing per label, ``qid``.  ARFF holds several labels as MultiBoost's ``{label weight, ...}``.
    svmlight numbers columns from 1 and cannot tell an empty last column from none.
    """
    name = format_of(path, format)
    if name not in _WRITERS:
        raise FileError(path, f"{name} files are read, not written; write one of {', '.join(_WRITERS)}")
    content = _as_content(what, path, name)
    if not content.n_rows:
        raise FileError(path, "there are no rows to write")
    with whole_file(path) as file:
        _WRITERS[name](content, file, path)


def _as_content(what, path, format: str) -> Content:
    if isinstance(what, Content):
        return what
    pa = need_pyarrow("tables")
    if not isinstance(what, pa.Table):
        try:
            what = pa.table(what)
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise FileError(path, f"these columns are no table: {error}") from error
    if len(set(what.column_names)) < what.num_columns:
        raise FileError(path, "two columns have one name; rename one")
    return Content(str(path), format, what.column_names, table=plain_text(what))


@contextmanager
def whole_file(path) -> Iterator[BinaryIO]:
    """`disk.whole_file`, compressed by its suffix.

    Parameters
    ----------
    path : str or path
        "-" is standard output; a pipe or device is written to as it is.
    """
    if str(path) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(path)
    if path.is_dir():
        raise FileError(path, "this is a folder; name a file in it")
    compression = split_suffixes(path)[2]
    if path.exists() and not stat.S_ISREG(path.stat().st_mode):
        with open(path, "wb") as file, _compressed(file, compression) as data:  # a pipe or device has no second name
            yield data
        return
    with disk.whole_file(path) as new, _compressed(new, compression) as data:
        yield data


@contextmanager
def _compressed(file: BinaryIO, compression: str | None) -> Iterator[Any]:
    if compression is None:
        yield file
    elif compression == "gzip":
        # No name and no time in it: equal tables make equal files.
        with gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0) as data:
            yield data
    else:
        with (bz2.open if compression == "bzip2" else lzma.open)(file, "wb") as data:
            yield data


# Columns


def _full_table(content: Content, path) -> Any:
    """All columns as a pyarrow table, labels and groups among them."""
    pa = need_pyarrow("tables")
    if content.table is not None:
        columns = dict(zip(content.names, content.table.columns, strict=True))
    else:
        matrix = content.matrix.tocsc() if sp.issparse(content.matrix) else content.matrix
        columns = {}
        for j, name in enumerate(content.names):
            values = matrix[:, [j]].toarray().ravel() if sp.issparse(matrix) else matrix[:, j]
            columns[name] = pa.array(values, pa.float64(), from_pandas=True)
            if name in content.declared:
                codes = pa.array(values, pa.float64(), from_pandas=True).cast(pa.int32())
                columns[name] = pa.DictionaryArray.from_arrays(codes, content.declared[name])
    added: dict[str, Any] = {}
    if content.groups is not None:
        added["qid"] = pa.array(content.groups)
    labels = content.labels
    if labels is not None and labels.classes is not None:
        added["class"] = pa.array(labels.classes)
    elif labels is not None:
        if not _has_unit_weights(labels):
            raise FileError(path, "this format cannot hold label weights; write ARFF")
        for name, sign in zip(labels.names, labels.signs.T, strict=True):  # type: ignore[union-attr]
            added[name] = pa.array((sign > 0).astype(np.int64), mask=sign == 0)
    for name, column in added.items():
        if name in columns:
            raise FileError(path, f"there is a column {name!r} already, but the labels need that name; rename it")
        columns[name] = column
    return pa.table(columns)


def _has_unit_weights(labels: Labels) -> bool:
    return labels.weights is None or bool((labels.weights == (labels.signs != 0)).all())


def _numbers(content: Content, path) -> Any:
    """The columns as a matrix of numbers, NaN for what is missing."""
    if content.matrix is not None:
        return content.matrix
    pa = need_pyarrow("tables")
    columns = []
    for name, column in zip(content.names, content.table.columns, strict=True):
        try:
            columns.append(column.cast(pa.float64()).to_numpy())
        except pa.ArrowException as error:
            raise FileError(path, f"this format holds numbers only, but column {name!r} is {column.type}") from error
        if pa.types.is_string(column.type) or pa.types.is_dictionary(column.type):
            raise FileError(path, f"this format holds numbers only, but column {name!r} is text")
    return np.stack(columns, axis=1)


# Formats


def _write_delimited(content: Content, file, path, delimiter: str) -> None:
    pa = need_pyarrow("csv files")
    from pyarrow import csv as arrow_csv

    table = _full_table(content, path)
    columns = []
    for name, column in zip(table.column_names, table.itercolumns(), strict=True):
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        elif pa.types.is_nested(column.type):
            raise FileError(path, f"csv cannot hold column {name!r} of type {column.type}")
        if table.num_columns == 1 and column.null_count:
            column = column.cast(pa.string()).fill_null("")  # written as "", for an empty line would be skipped
        columns.append(column)
    table = pa.Table.from_arrays(columns, names=table.column_names)
    try:
        arrow_csv.write_csv(table, file, arrow_csv.WriteOptions(delimiter=delimiter))
    except pa.ArrowException as error:
        raise FileError(path, f"csv cannot hold this table: {error}") from error


def _write_csv(content: Content, file, path) -> None:
    _write_delimited(content, file, path, ",")


def _write_tsv(content: Content, file, path) -> None:
    _write_delimited(content, file, path, "\t")


def _write_parquet(content: Content, file, path) -> None:
    pa = need_pyarrow("Parquet files")
    from pyarrow import parquet

    try:
        parquet.write_table(_full_table(content, path), file)
    except pa.ArrowException as error:
        raise FileError(path, f"Parquet cannot hold this table: {error}") from error


def _write_arrow(content: Content, file, path) -> None:
    need_pyarrow("Arrow files")
    from pyarrow import ipc

    table = _full_table(content, path).unify_dictionaries()
    with ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


def _write_arff(content: Content, file, path) -> None:
    lines = ["@relation multiboost", ""]
    names = list(content.names)
    labels = content.labels
    if content.groups is not None:
        raise FileError(path, "ARFF cannot hold query numbers (qid); write csv or svmlight")
    if labels is not None and "class" in names:
        raise FileError(path, "there is a column 'class' already, but the labels need that name; rename it")
    columns = []
    for j, name in enumerate(names):
        kind, texts = _arff_column(content, j, path)
        columns.append(texts)
        lines.append(f"@attribute {quote(name)} {kind}")
    tails = None
    if labels is not None and labels.classes is not None:
        classes = [str(c) for c in labels.classes]
        tails = [quote(c) for c in classes]
        declared = list(dict.fromkeys(sorted(classes)))
        lines.append(f"@attribute class {{{', '.join(map(quote, declared))}}}")
    elif labels is not None:
        quoted = [quote(name) for name in labels.names]
        lines.append(f"@attribute class {{{', '.join(quoted)}}}")
        tails = [_extended(quoted, s, w) for s, w in zip(labels.signs, labels.weights, strict=True)]  # type: ignore[arg-type]
    lines += ["", "@data", ""]
    file.write("\n".join(lines).encode())
    rows: Iterator[str]
    if sp.issparse(content.matrix):
        rows = _sparse_rows(content, columns)
    else:
        rows = map(",".join, zip(*columns, strict=True))
    for i, row in enumerate(rows):
        file.write(f"{row},{tails[i]}\n".encode() if tails else f"{row}\n".encode())


def _arff_column(content: Content, j: int, path) -> tuple[str, Any]:
    """The declaration of a column, and its values as the file writes them (of a sparse one a function)."""
    name = content.names[j]
    categories = content.declared.get(name)
    if content.matrix is not None:
        kind = "numeric" if categories is None else f"{{{', '.join(map(quote, categories))}}}"

        def text(value: float) -> str:
            return _number(value) if categories is None or value != value else quote(categories[int(value)])  # noqa: PLR0124

        return kind, text if sp.issparse(content.matrix) else [text(v) for v in content.matrix[:, j].tolist()]
    import pyarrow as pa

    column = content.table.column(j)
    if pa.types.is_dictionary(column.type) and pa.types.is_string(column.type.value_type):
        if categories is None:
            categories = column.unify_dictionaries().chunk(0).dictionary.to_pylist() if column.num_chunks else []
        column = column.cast(pa.string())
        kind = f"{{{', '.join(map(quote, categories))}}}"
    elif pa.types.is_string(column.type):
        kind = "string"
    elif pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_boolean(column.type):
        return "numeric", ["?" if v is None else _number(float(v)) for v in column.to_pylist()]
    else:
        raise FileError(path, f"ARFF cannot hold column {name!r} of type {column.type}")
    return kind, ["?" if v is None else quote(v) for v in column.to_pylist()]


def _extended(names: list[str], signs: np.ndarray, weights: np.ndarray) -> str:
    pairs = (f"{n} {_number(s * w)}" for n, s, w in zip(names, signs.tolist(), weights.tolist(), strict=True) if s)
    return "{" + ", ".join(pairs) + "}"


def _sparse_rows(content: Content, texts: list[Callable[[float], str]]) -> Iterator[str]:
    matrix = content.matrix
    for i in range(matrix.shape[0]):
        part = slice(matrix.indptr[i], matrix.indptr[i + 1])
        entries = zip(matrix.indices[part].tolist(), matrix.data[part].tolist(), strict=True)
        yield "{" + ", ".join(f"{j} {texts[j](v)}" for j, v in entries) + "}"


def _number(value: float) -> str:
    """The shortest text that reads back as the same double; missing is ?."""
    if value != value:  # noqa: PLR0124
        return "?"
    if abs(value) < 2**53 and value.is_integer() and (value or math.copysign(1, value) > 0):
        return str(int(value))
    return repr(value)


def _write_svmlight(content: Content, file, path) -> None:
    matrix = sp.csr_array(_numbers(content, path))
    matrix.sort_indices()
    labels = content.labels
    for i in range(matrix.shape[0]):
        words = [_svmlight_label(labels, i, path)]
        if content.groups is not None:
            words.append(f"qid:{content.groups[i]}")
        part = slice(matrix.indptr[i], matrix.indptr[i + 1])
        for j, value in zip(matrix.indices[part].tolist(), matrix.data[part].tolist(), strict=True):
            words.append(f"{j + 1}:{'nan' if value != value else _number(value)}")  # noqa: PLR0124
        if words == [""]:
            words.append("1:0")  # a row without labels and numbers would be an empty line
        file.write((" ".join(words) + "\n").encode())


def _svmlight_label(labels: Labels | None, i: int, path) -> str:
    if labels is None:
        raise FileError(path, "svmlight needs labels; write csv")
    if labels.classes is not None:
        try:
            return _number(float(labels.classes[i]))
        except ValueError as error:
            raise FileError(path, f"svmlight labels are numbers, not {labels.classes[i]!r}") from error
    signs = labels.signs[i]  # type: ignore[index]
    if not _has_unit_weights(labels) or not signs.all():
        raise FileError(path, "svmlight cannot hold label weights or unknown labels; write ARFF")
    for name in labels.names:
        if not NUMBER.fullmatch(name):
            raise FileError(path, f"svmlight cannot hold the label name {shorten(name)}; write ARFF")
    return ",".join(labels.names[k] for k in np.flatnonzero(signs > 0))


def _write_simple(content: Content, file, path) -> None:
    if content.labels is None or content.labels.classes is None:
        raise FileError(path, "simple text needs one class per row; write csv")
    if content.groups is not None:
        raise FileError(path, "simple text cannot hold query numbers (qid); write csv or svmlight")
    matrix = _numbers(content, path)
    for i, label in enumerate(content.labels.classes):
        if not str(label) or re.search(r"\s", str(label)):
            raise FileError(path, f"simple text cannot hold the class {shorten(str(label))} with a blank in it")
        row = matrix[[i], :].toarray()[0] if sp.issparse(matrix) else matrix[i]
        file.write((" ".join([str(label), *map(_number, row.tolist())]) + "\n").encode())


_WRITERS: dict[str, Callable[[Content, Any, Any], None]] = {
    "csv": _write_csv,
    "tsv": _write_tsv,
    "parquet": _write_parquet,
    "arrow": _write_arrow,
    "arff": _write_arff,
    "svmlight": _write_svmlight,
    "simple": _write_simple,
}
