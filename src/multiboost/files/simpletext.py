"""MultiBoost's simple text: one row per line, its class and its numbers between blanks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np

from .arffheader import NUMBER
from .content import Content, Labels, NumberedNames
from .error import shorten
from .reader import Reader
from .source import Source


class SimpleTextReader(Reader):
    """A simple text file.

    Parameters
    ----------
    source : Source
    class_last : bool
        Whether the class ends the line instead of beginning it.
    """

    def __init__(self, source: Source, class_last: bool = False):
        super().__init__(source)
        self.class_last = class_last

    def pieces(self) -> Iterator[Content]:
        """Blocks of rows."""
        n_columns = None
        for first, block in self.source.blocks():
            rows = [line.split() for line in block.split(b"\n")]
            found = [row for row in rows if row]
            if not found:
                continue
            if n_columns is None:
                n_columns = len(found[0]) - 1
                if not n_columns:
                    line = first + next(i for i, row in enumerate(rows) if row)
                    raise self.error("a row needs a class and at least one number", line)
            matrix = self._fast(block, found, n_columns)
            if matrix is None:
                matrix = self._careful(rows, first, n_columns)
            classes = np.array([row[-1 if self.class_last else 0].decode() for row in found], dtype=object)
            names = NumberedNames(n_columns)
            yield Content(self.source.name, "simple", names, matrix=matrix, labels=Labels(classes))

    def _part(self) -> slice:
        return slice(0, -1) if self.class_last else slice(1, None)

    def _fast(self, block: bytes, found: list[list[bytes]], n_columns: int) -> np.ndarray | None:
        """The numbers (n, columns); None where some row needs a closer look."""
        # float() takes digits of other scripts and 1_000, which this format does not know.
        if b"_" in block or not block.isascii() or any(len(row) != n_columns + 1 for row in found):
            return None
        part = self._part()
        words = chain.from_iterable(row[part] for row in found)
        try:
            return np.fromiter(map(float, words), np.float64, len(found) * n_columns).reshape(-1, n_columns)
        except ValueError:
            return None

    def _careful(self, rows: list[list[bytes]], first: int, n_columns: int) -> np.ndarray:
        """The same, word by word."""
        part = self._part()
        values = []
        for line, row in enumerate(rows, first):
            if not row:
                continue
            if len(row) != n_columns + 1:
                raise self.error(f"{len(row)} words where {n_columns + 1} are expected: a class and numbers", line)
            for raw in row[part]:
                word = raw.decode()
                if word != "?" and not NUMBER.fullmatch(word):
                    hint = "; for svmlight say format='svmlight'" if ":" in word else ""
                    raise self.error(f"{shorten(word)} is not a number{hint}", line)
                values.append(np.nan if word == "?" else float(word))
        return np.array(values, np.float64).reshape(-1, n_columns)
