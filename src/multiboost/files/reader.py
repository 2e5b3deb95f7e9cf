"""What every format's reader offers, and the optional dependency that some need."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

from .content import Content, concatenate
from .error import FileError
from .source import Source


def need_pyarrow(what: str) -> Any:
    """pyarrow, or one sentence that says how to get it."""
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError(f'{what} need pyarrow: pip install "multiboost[cli]"') from error
    return pyarrow


class Reader(ABC):
    """Reads one file of one format.

    Parameters
    ----------
    source : Source
    """

    def __init__(self, source: Source):
        self.source = source

    def whole(self) -> Content:
        """All rows."""
        parts = [piece for piece in self.pieces() if piece.n_rows]
        if not parts:
            raise self.empty()
        return concatenate(parts)

    @abstractmethod
    def pieces(self) -> Iterator[Content]:
        """All rows in pieces of any size, in constant memory; each with the same columns."""

    def error(self, problem: str, line: int | None = None) -> FileError:
        """An error of this file."""
        return FileError(self.source.name, problem, line)

    def empty(self) -> FileError:
        """The error of a file without rows."""
        return self.error("the file has no rows of data")

    def check_names(self, names: Sequence[str], line: int | None = None) -> None:
        """Refuse two columns of one name."""
        seen: set[str] = set()
        for name in names:
            if name in seen:
                raise self.error(f"two columns are called {name!r}; rename one", line)
            seen.add(name)


def plain_text(table) -> Any:
    """A pyarrow table whose text is of type string, also in dictionaries, whatever library wrote it."""
    import pyarrow as pa

    def is_other_text(kind) -> bool:
        return pa.types.is_large_string(kind) or pa.types.is_string_view(kind)

    def plain(column):
        if is_other_text(column.type):
            return column.cast(pa.string())
        if not (pa.types.is_dictionary(column.type) and is_other_text(column.type.value_type)):
            return column
        chunks = [
            pa.DictionaryArray.from_arrays(c.indices.cast(pa.int32()), c.dictionary.cast(pa.string()))
            for c in column.chunks
        ]
        return pa.chunked_array(chunks, pa.dictionary(pa.int32(), pa.string()))

    return pa.Table.from_arrays([plain(column) for column in table.itercolumns()], names=table.column_names)
