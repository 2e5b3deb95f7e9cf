"""Parquet and Arrow (Feather) files, by way of pyarrow.

Types are kept as the file has them, but text is always of type string.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

from ..memory import need
from .content import Content
from .error import FileError
from .reader import Reader, need_pyarrow, plain_text
from .source import Source

_ROWS = 1 << 16
_BYTES = {"BOOLEAN": 1 / 8, "INT64": 8, "DOUBLE": 8}  # of a value in memory; of others at least 4


class _ColumnarReader(Reader):
    """What both formats share."""

    title: str

    def __init__(self, source: Source):
        super().__init__(source)
        self.pa = need_pyarrow(f"{source.format} files")

    def whole(self) -> Content:
        """All rows."""
        content = super().whole()
        return self._content(content.table.unify_dictionaries())

    def pieces(self) -> Iterator[Content]:
        """Record batches of the file."""
        # Damaged files make pyarrow raise nearly anything, MemoryError for absurd sizes too.
        damage = (self.pa.ArrowException, OSError, ValueError, KeyError, TypeError, MemoryError, OverflowError)
        file = self.source.seekable()
        try:
            for number, batch in enumerate(self._batches(file)):
                if not number:
                    self.check_names(batch.schema.names)
                batch.validate(full=True)
                yield self._content(plain_text(self.pa.Table.from_batches([batch])))
        except (FileError, FileNotFoundError, PermissionError):
            raise
        except damage as error:
            raise self.error(f"this is not a whole {self.title} file: {str(error)[:300]}") from error
        finally:
            if not isinstance(file, str):
                file.close()

    @abstractmethod
    def _batches(self, file) -> Iterator[Any]:
        """Record batches of an open file."""

    def _content(self, table) -> Content:
        types = self.pa.types
        declared = {}
        for name, column in zip(table.column_names, table.columns, strict=True):
            if types.is_dictionary(column.type) and types.is_string(column.type.value_type) and column.num_chunks:
                declared[name] = column.chunk(0).dictionary.to_pylist()
        return Content(self.source.name, self.source.format, table.column_names, table=table, declared=declared)


class ParquetReader(_ColumnarReader):
    """A Parquet file."""

    title = "Parquet"
    _keeps_all = False

    def whole(self) -> Content:
        """All rows, if they fit into memory: a file of some bytes can say the same of a thousand million rows."""
        self._keeps_all = True
        return super().whole()

    def _batches(self, file):
        from pyarrow import parquet

        # Row groups are not read ahead: they may be larger than all that is asked for.
        with parquet.ParquetFile(file, page_checksum_verification=True, pre_buffer=False) as opened:
            if self._keeps_all:
                self._check_memory(opened.metadata)
            yield from opened.iter_batches(batch_size=_ROWS)

    def _check_memory(self, metadata) -> None:
        """Refuse what takes more than there is, even if all text is empty."""
        kinds = [metadata.schema.column(j).physical_type for j in range(metadata.num_columns)]
        n_bytes = metadata.num_rows * sum(_BYTES.get(kind, 4) for kind in kinds)
        what, remedy = f"{metadata.num_rows} rows of {len(kinds)} columns", "read it in batches, or train with --memory"
        try:
            need(n_bytes, what, remedy)
        except MemoryError as error:
            raise self.error(str(error)) from error


class ArrowReader(_ColumnarReader):
    """An Arrow IPC file (Feather version 2) or stream."""

    title = "Arrow"

    def _batches(self, file):
        from pyarrow import ipc

        opened = self.pa.OSFile(file) if isinstance(file, str) else self.pa.PythonFile(file, "r")
        with opened:
            is_file = opened.read(6) == b"ARROW1"
            opened.seek(0)
            if is_file:
                reader = ipc.open_file(opened)
                for i in range(reader.num_record_batches):
                    yield reader.get_batch(i)
            else:
                yield from ipc.open_stream(opened)
