"""Files that together are one table, read again and again: they must stay as they were.

What is remembered of every file are its size, its time, and after the first pass its rows.  Before a file is read, and
after it, they are compared.
"""

from __future__ import annotations

import errno
import glob
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ..files.content import Content
from ..files.error import FileError
from ..files.read import read_batches
from ..files.source import format_of

FORMATS = ("parquet", "arrow", "csv", "tsv")  # whose rows are tables with named columns
ROWS = 1 << 16  # of a batch
_CHANGED = "it has changed since the first pass; leave the files alone while a model is trained, and start again"


class _Stamp(NamedTuple):
    """How a file was when it was first seen."""

    size: int
    time: int

    @classmethod
    def of(cls, path: Path) -> _Stamp:
        found = os.stat(path)
        return cls(found.st_size, found.st_mtime_ns)


class Batch(NamedTuple):
    """Some rows of a dataset."""

    file: str
    first: int  # number of the first row in the whole dataset
    table: Any  # pyarrow.Table


class Dataset:
    """Files with the same columns.

    Parameters
    ----------
    where : str, path, list of these, or pyarrow.dataset.FileSystemDataset
        A file, a folder (its files and those of folders inside of it), or a pattern such as ``"folder/*.parquet"``.
    format : str or None
        One of `FORMATS`; None: by the suffixes.

    Attributes
    ----------
    where
        As given.
    files : list of path
        In the order in which they are read: that of their names.
    n_rows : int or None
        None where that is known only after the first pass.
    names : list of str
        Columns of all files.
    """

    def __init__(self, where, format: str | None = None):
        self.where, self._format = where, format
        self.name = str(where) if isinstance(where, (str, os.PathLike)) else "the dataset"
        self.files = self._listed()
        self.format = self._one_format()
        self._is_open = True
        self._stamps = {path: _Stamp.of(path) for path in self.files}
        self._rows: dict[Path, int] = {}
        self.n_bytes = sum(stamp.size for stamp in self._stamps.values())
        self.schema = self._schema_of(self.files[0])
        self.names = list(self.schema)
        if self.format == "parquet":  # what is wrong with a file is said before a long pass
            for path in self.files:
                self._check_columns(path, self._schema_of(path))
        self._is_open = False  # whether a column of nothing may still turn out to hold something
        self.n_rows: int | None = None
        if all(path in self._rows for path in self.files):
            self._count()

    def batches(self) -> Iterator[Batch]:
        """All rows in batches, file by file."""
        self._check_list()
        first = 0
        for path in self.files:
            self._check_stamp(path)
            rows = 0
            for content in self._read(path):
                self._check_columns(path, _kinds_of(content.table))
                yield Batch(str(path), first + rows, content.table.select(self.names))
                rows += content.n_rows
            self._check_stamp(path)
            if self._rows.setdefault(path, rows) != rows:
                raise FileError(path, f"it has {rows} rows, and had {self._rows[path]}: {_CHANGED}")
            first += rows
        self._check_list()
        self._count()

    # What there is.

    def _listed(self) -> list[Path]:
        where = self.where
        if hasattr(where, "files") and hasattr(where, "filesystem"):  # of pyarrow
            if where.filesystem.type_name != "local":
                raise FileError(self.name, f"files on {where.filesystem.type_name} cannot be read; copy them here")
            inside = set(where.schema.names) - set(_names_of(next(where.get_fragments())))
            if inside:
                raise FileError(
                    self.name, f"columns that are in the names of folders cannot be read: {sorted(inside)}; write them "
                    "into the files"
                )  # fmt: skip
            return [Path(name) for name in where.files]
        if isinstance(where, (list, tuple)):
            found = [Path(name) for name in where]
        elif Path(where).is_dir():
            found = sorted(path for path in Path(where).rglob("*") if self._is_data(path))
        elif glob.has_magic(str(where)) and not Path(where).exists():
            found = sorted(Path(name) for name in glob.glob(str(where), recursive=True) if Path(name).is_file())
        else:
            found = [Path(where)]
        if not found:
            raise FileError(self.name, f"there is no file with data, of the formats {', '.join(FORMATS)}")
        if not isinstance(where, (list, tuple)) and not found[0].exists():
            raise FileNotFoundError(errno.ENOENT, "No such file or folder", str(where))
        return found

    def _is_data(self, path: Path) -> bool:
        """Whether a file of a folder has rows; hidden ones and those of other formats have none."""
        if not path.is_file() or path.name.startswith((".", "_")):
            return False
        try:
            return self._format is not None or format_of(path) in FORMATS
        except FileError:
            return False

    def _one_format(self) -> str:
        formats = {path: format_of(path, self._format) for path in self.files}
        first = formats[self.files[0]]
        for path, found in formats.items():
            if found not in FORMATS:
                raise FileError(path, f"{found} files are read into memory; here files are of {', '.join(FORMATS)}")
            if found != first:
                raise FileError(
                    path, f"this is {found}, and {self.files[0]} is {first}; all files must be of one format"
                )
        return first

    # What is in a file.

    def _schema_of(self, path: Path) -> dict[str, str]:
        """Columns of a file and their kinds; of Parquet files also the rows."""
        if self.format == "parquet":
            from pyarrow import ArrowException, parquet

            try:
                with parquet.ParquetFile(path) as opened:
                    self._rows[path] = opened.metadata.num_rows
                    return {field.name: kind_of(field.type) for field in opened.schema_arrow}
            except (ArrowException, OSError) as error:
                if isinstance(error, (FileNotFoundError, PermissionError)):
                    raise
                raise FileError(path, f"this is not a whole Parquet file: {str(error)[:300]}") from error
        for content in read_batches(path, self.format, rows=ROWS):
            return _kinds_of(content.table)
        raise FileError(path, "the file has no rows of data")

    def _read(self, path: Path) -> Iterator[Content]:
        if self.format == "parquet" and self._rows.get(path) == 0:  # as many programs write them
            return iter(())
        return read_batches(path, self.format, rows=ROWS)

    # Whether all is as it was.

    def _count(self) -> None:
        self.n_rows = sum(self._rows.values())
        if self.n_rows == 0:
            raise FileError(self.name, "the files have no rows of data")

    def _check_stamp(self, path: Path) -> None:
        try:
            now = _Stamp.of(path)
        except FileNotFoundError as error:
            raise FileError(path, f"the file is gone: {_CHANGED}") from error
        if now != self._stamps[path]:
            raise FileError(path, _CHANGED)

    def _check_list(self) -> None:
        now = self._listed() if not isinstance(self.where, (list, tuple)) else self.files
        for path in sorted(set(now) - set(self.files)):
            raise FileError(path, f"the file is new: {_CHANGED}")
        for path in sorted(set(self.files) - set(now)):
            raise FileError(path, f"the file is gone: {_CHANGED}")

    def _check_columns(self, path: Path, kinds: dict[str, str]) -> None:
        first = self.files[0]
        more = [name for name in kinds if name not in self.schema]
        less = [name for name in self.schema if name not in kinds]
        if more:
            raise FileError(path, f"it has the column {more[0]!r}, which {first} has not; all files need the same")
        if less:
            raise FileError(path, f"it has no column {less[0]!r}, which {first} has; all files need the same")
        for name, kind in kinds.items():
            then = self.schema[name]
            unlike = kind != then and "nothing" not in (kind, then)
            if unlike or (then == "nothing" and kind == "text" and not self._is_open):
                raise FileError(path, f"column {name!r} holds {kind}, and {then} in {first}; write both in one way")
            if then == "nothing":
                self.schema[name] = kind


def _names_of(fragment) -> list[str]:
    """Columns that are in a file of a pyarrow dataset."""
    return fragment.physical_schema.names


def _kinds_of(table) -> dict[str, str]:
    return {field.name: kind_of(field.type) for field in table.schema}


def kind_of(kind) -> str:
    """What a column holds, by its pyarrow type."""
    from pyarrow import types

    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "numbers"
    if types.is_boolean(kind):
        return "true and false"
    if types.is_null(kind):
        return "nothing"
    if types.is_dictionary(kind):
        return "text" if kind_of(kind.value_type) == "text" else f"categories of {kind.value_type}"
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "text"
    return str(kind)
