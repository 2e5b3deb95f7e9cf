"""Reading: the whole file, or batches of rows in constant memory."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator

from .arff import ArffReader
from .columnar import ArrowReader, ParquetReader
from .content import Content, rebatch
from .delimited import DelimitedReader
from .reader import Reader
from .root import RootReader
from .simpletext import SimpleTextReader
from .source import Source
from .svmlight import SvmlightReader

_READERS: dict[str, Callable[..., Reader]] = {
    "csv": DelimitedReader,
    "tsv": DelimitedReader,
    "parquet": ParquetReader,
    "arrow": ArrowReader,
    "arff": ArffReader,
    "svmlight": SvmlightReader,
    "simple": SimpleTextReader,
    "root": RootReader,
}


def read_file(path, format: str | None = None, **options) -> Content:
    """Read a data file.

    Parameters
    ----------
    path : str or path
        "-" is standard input.  Files compressed with gzip, bzip2 or xz are decompressed.
    format : str or None
        One of `FORMATS`; None: by the suffix, as in ``x.csv`` and ``x.csv.gz``.
    **options
        csv, tsv: ``header``, ``delimiter``, ``types``, ``missing``, ``text`` (see `DelimitedReader`);
        arff: ``labels`` (`ArffReader`);
        svmlight: ``zero_based``, ``n_features``, ``multilabel`` (`SvmlightReader`);
        simple: ``class_last`` (`SimpleTextReader`);
        root: ``branches``, ``where`` (`RootReader`).

    Returns
    -------
    Content

    Raises
    ------
    FileNotFoundError, PermissionError
    FileError
        With the file's name and, where one is to blame, the line.
    """
    reader = _reader(path, format, options)
    try:
        return reader.whole()
    finally:
        reader.source.close()


def read_batches(path, format: str | None = None, rows: int = 65536, **options) -> Generator[Content, None, None]:
    """Read a data file in batches of ``rows`` rows, in memory that does not grow with the file.

    All batches together are what `read_file` returns, with the same types.  Where types or labels are
    known only after the last line (csv, svmlight) the file is read twice, and standard input is first
    copied to a temporary file.

    Parameters
    ----------
    path, format, **options
        As of `read_file`.
    rows : int
        Rows per batch; the last may have fewer.

    Yields
    ------
    Content
    """
    if rows < 1:
        raise ValueError(f"rows must be at least 1, not {rows}")
    return _batches(_reader(path, format, options), rows)


def _batches(reader: Reader, rows: int) -> Generator[Content, None, None]:
    n_batches = 0
    try:
        for batch in rebatch(reader.pieces(), rows):
            n_batches += 1
            yield batch
        if not n_batches:
            raise reader.empty()
    finally:
        reader.source.close()


def _reader(path, format: str | None, options: dict) -> Reader:
    source = Source(path, format)
    make = _READERS[source.format]
    known = [name for name in inspect.signature(make).parameters if name != "source"]
    for name in options:
        if name not in known:
            takes = f"options {', '.join(known)}" if known else "no options"
            raise TypeError(f"{source.format} files take {takes}, not {name!r}")
    return make(source, **options)
