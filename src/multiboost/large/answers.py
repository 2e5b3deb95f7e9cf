"""The target's columns of a dataset: what values there are, and the number of each row's."""

from __future__ import annotations

import numpy as np

from ..data.kinds import LabelKind, recognise, unknown_labels
from ..files.error import FileError
from .dataset import Batch


def plain(column) -> np.ndarray:
    """A pyarrow column as an array: text and categories as objects, numbers with NaN where they are missing."""
    from pyarrow import types

    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.to_numpy() if hasattr(column, "chunks") else column.to_numpy(zero_copy_only=False)


class Answers:
    """The labels of a dataset, seen batch by batch.

    Parameters
    ----------
    names : list of str
        The target's columns.
    """

    def __init__(self, names: list[str]):
        self.names = names
        self._distinct: list[list[np.ndarray]] = [[] for _ in names]

    def add(self, batch: Batch) -> None:
        """Some more rows."""
        for name, distinct in zip(self.names, self._distinct, strict=True):
            values = plain(batch.table.column(name).unique())
            unknown = unknown_labels(values)
            if unknown.any() and len(self.names) == 1:
                row = int(np.flatnonzero(unknown_labels(plain(batch.table.column(name))))[0]) + batch.first
                raise FileError(
                    batch.file, f"the target {name!r} is missing in row {row + 1} of all files; every row needs its "
                    "class: leave these rows out"
                )  # fmt: skip
            distinct[:] = [_distinct(np.concatenate([*distinct, values]))]

    def kind(self) -> LabelKind:
        """What the labels mean: as of all of them in memory."""
        columns = [distinct[0] for distinct in self._distinct]
        if len(columns) == 1:
            return recognise(columns[0])
        n = max(column.size for column in columns)
        return recognise(np.stack([np.resize(column, n) for column in columns], axis=1), self.names)

    def numbers(self, batch: Batch, kind: LabelKind) -> np.ndarray:
        """Class numbers of some rows, (n, questions); -1 is unknown."""
        found = np.empty((batch.table.num_rows, len(self.names)), np.int32)
        for t, name in enumerate(self.names):
            column = batch.table.column(name)
            encoded = column.cast(column.type.value_type) if _is_dictionary(column) else column
            encoded = encoded.combine_chunks().dictionary_encode(null_encoding="encode")
            values = plain(encoded.dictionary)
            number, known = np.full(values.size, -1), ~unknown_labels(values)
            number[known] = kind.numbers_of(values[known], t)
            found[:, t] = number[encoded.indices.to_numpy()]
        return found


def _is_dictionary(column) -> bool:
    from pyarrow import types

    return types.is_dictionary(column.type)


def _distinct(values: np.ndarray) -> np.ndarray:
    """Distinct values, what is unknown once and last."""
    unknown = unknown_labels(values)
    try:
        known = np.unique(values[~unknown])
    except TypeError as error:
        raise ValueError("the target mixes classes that cannot be compared, such as text and numbers") from error
    return np.concatenate([known, values[unknown][:1]])


class Numbers:
    """The same of targets that are numbers.

    Parameters
    ----------
    names : list of str
    """

    def __init__(self, names: list[str]):
        self.names = names

    def add(self, batch: Batch) -> None:
        """Nothing is to be known of them before the second pass."""

    def values(self, batch: Batch) -> np.ndarray:
        """Numbers of some rows, (n, targets) float64; NaN is unknown."""
        found = np.empty((batch.table.num_rows, len(self.names)))
        for t, name in enumerate(self.names):
            try:
                found[:, t] = plain(batch.table.column(name))
            except (TypeError, ValueError) as error:
                raise FileError(batch.file, f"the target {name!r} does not hold numbers: {error}") from error
        return found
