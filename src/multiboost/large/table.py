"""A table whose rows are in files: the face that a `Table` has, without its columns in memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..data.table import EncodedTable, Frame, Table, as_table
from .dataset import Batch, Dataset


class StreamedTable(Table):
    """The feature columns of a dataset.

    Parameters
    ----------
    dataset : Dataset
    names : list of str
        The columns that are features.
    """

    def __init__(self, dataset: Dataset, names: list[str]):
        self.dataset, self.names = dataset, names
        self.n_columns = len(names)
        self.n_rows = dataset.n_rows or 0
        self.categories = None
        self._kept = np.zeros(0, np.intp), np.zeros((0, len(names)))
        self._reader: Iterator[tuple[int, np.ndarray]] | None = None
        self._at, self._rest = 0, np.zeros((0, len(names)))

    def says_nominal(self, j):
        assert self.names is not None
        kind = self.dataset.schema[self.names[j]]
        return kind == "text" or kind.startswith("categories")

    def frame(self, batch: Batch) -> Frame:
        """The rows of a batch as a table in memory."""
        found = as_table(batch.table.select(self.names))
        assert isinstance(found, Frame)
        found.categories = self.categories
        return found

    def keep(self, rows: np.ndarray, values: np.ndarray) -> None:
        """Rows, rising, that are at hand from now on: numbers (rows, columns)."""
        self._kept = rows, values

    def columns(self, first, last):
        raise ValueError(
            f"column {self.label(first)} is in {self.dataset.name}, and its values are not in memory; a base learner "
            "that needs them cannot be trained in this way: use 'tree', 'stump' or 'product', or load some of the rows"
        )  # fmt: skip

    def native(self, first, last):
        raise ValueError(
            f"the rows of {self.dataset.name} are not in memory; what is given whole tables, such as FromClassifier or "
            "the model of another package, cannot be used here"
        )

    def rows(self, first, last):
        """Rows in their order: each pass over them is a pass over the files."""
        if self._reader is None or first < self._at:
            self._reader, self._at, self._rest = self._numbers(), 0, self._rest[:0]
        parts = []
        while self._at + len(self._rest) < last:
            if self._at + len(self._rest) > first:
                parts.append(self._rest[max(0, first - self._at) :])
            self._at += len(self._rest)
            _, self._rest = next(self._reader)
        parts.append(self._rest[max(0, first - self._at) : last - self._at])
        if last == self.n_rows:
            self._reader = None
        return np.concatenate(parts)

    def _numbers(self) -> Iterator[tuple[int, np.ndarray]]:
        for batch in self.dataset.batches():
            frame = self.frame(batch)
            yield batch.first, frame.rows(0, frame.n_rows)

    def take(self, rows):
        order = np.argsort(rows)
        rising, values = rows[order], np.empty((rows.size, self.n_columns))
        kept, numbers = self._kept
        place = np.searchsorted(kept, rising)
        if kept.size and (place < kept.size).all() and np.array_equal(kept[place], rising):
            values[order] = numbers[place]
            return EncodedTable(values, self.categories)
        for first, part in self._numbers():
            begin, end = np.searchsorted(rising, (first, first + len(part)))
            values[order[begin:end]] = part[rising[begin:end] - first]
        return EncodedTable(values, self.categories)
