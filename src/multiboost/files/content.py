"""What a data file holds: columns, and the labels that the format itself carries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp


class NumberedNames(Sequence):
    """Column names f0, f1, ... that are made when asked for.

    A sparse file may have a thousand million columns; a list of their names would not fit into memory.
    """

    def __init__(self, length: int, start: int = 0):
        self.length = length
        self.start = start

    def __len__(self):
        return self.length

    def __getitem__(self, item):
        if isinstance(item, slice):
            return [f"f{i + self.start}" for i in range(self.length)[item]]
        return f"f{range(self.length)[item] + self.start}"

    def __contains__(self, name):
        return self._number(name) is not None

    def index(self, name, *limits):
        """As of a list; at once."""
        number = self._number(name)
        return super().index(name, *limits) if number is None or limits else number

    def _number(self, name) -> int | None:
        """The position of a name, None where there is no such column."""
        match = re.fullmatch(r"f(0|[1-9][0-9]{0,17})", name) if isinstance(name, str) else None
        number = -1 if match is None else int(match[1]) - self.start
        return number if 0 <= number < self.length else None

    def __eq__(self, other):
        if isinstance(other, NumberedNames):
            return (self.length, self.start) == (other.length, other.start)
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(str.__eq__, self, other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self):
        return f"NumberedNames({self.length}, start={self.start})"


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels that a format carries beside its columns.

    Attributes
    ----------
    classes : ndarray (n,) or None
        One class per row: text, whole numbers or reals.
    names : list of str
        Names of the K labels where a row may have several; empty where there is one class per row.
    signs : ndarray (n, K) of int8 or None
        +1 has the label, -1 has it not, 0 unknown.
    weights : ndarray (n, K) of float64 or None
        Weight of each label, 0 where unknown.
    """

    classes: np.ndarray | None = None
    names: list[str] = field(default_factory=list)
    signs: np.ndarray | None = None
    weights: np.ndarray | None = None

    def part(self, rows: slice) -> Labels:
        """The labels of some rows."""
        cut = (None if a is None else a[rows] for a in (self.classes, self.signs, self.weights))
        classes, signs, weights = cut
        return Labels(classes, self.names, signs, weights)


@dataclass(frozen=True, eq=False)
class Content:
    """The rows of a data file, or a part of them.

    Exactly one of `table` and `matrix` is given.

    Attributes
    ----------
    file : str
        As messages call it.
    format : str
        One of `multiboost.files.FORMATS`.
    names : sequence of str
        Column names; columns that became `labels` or `groups` are not among them.
    table : pyarrow.Table or None
        Dense formats: numbers as int64 or float64, text as string, nominal attributes as dictionary
        columns, what is missing as null.
    matrix : scipy.sparse.csr_array or ndarray or None
        float64 (n, columns): sparse for svmlight and ARFF files of sparse rows, dense for simple text.
        Missing is NaN.
    labels : Labels or None
    groups : ndarray (n,) of int64 or None
        Query numbers (`qid`) of svmlight.
    declared : dict of list of str
        Per nominal column the categories that the file declares, in its order.  In a sparse `matrix`
        such a column holds the category's number.
    """

    file: str
    format: str
    names: Sequence[str]
    table: Any = None
    matrix: Any = None
    labels: Labels | None = None
    groups: np.ndarray | None = None
    declared: dict[str, list[str]] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return self.table.num_rows if self.table is not None else self.matrix.shape[0]

    def part(self, first: int, last: int) -> Content:
        """Rows ``first`` up to ``last``; a table is not copied."""
        rows = slice(first, last)
        return replace(
            self,
            table=None if self.table is None else self.table.slice(first, last - first),
            matrix=None if self.matrix is None else self.matrix[rows],
            labels=None if self.labels is None else self.labels.part(rows),
            groups=None if self.groups is None else self.groups[rows],
        )


def concatenate(parts: Sequence[Content]) -> Content:
    """One content of the rows of several, which have the same columns."""
    first = parts[0]
    if len(parts) == 1:
        return first
    table = matrix = labels = groups = None
    if first.table is not None:
        import pyarrow as pa

        table = pa.concat_tables([p.table for p in parts])
    elif sp.issparse(first.matrix):
        matrix = sp.vstack([p.matrix for p in parts], format="csr")
    else:
        matrix = np.concatenate([p.matrix for p in parts])
    if first.labels is not None:
        joined = [
            None if getattr(first.labels, name) is None else np.concatenate([getattr(p.labels, name) for p in parts])
            for name in ("classes", "signs", "weights")
        ]
        labels = Labels(joined[0], first.labels.names, joined[1], joined[2])
    if first.groups is not None:
        groups = np.concatenate([p.groups for p in parts if p.groups is not None])
    return replace(first, table=table, matrix=matrix, labels=labels, groups=groups)


def rebatch(pieces: Iterable[Content], rows: int) -> Iterator[Content]:
    """The same rows in batches of ``rows``; the last may be shorter."""
    waiting: list[Content] = []
    n_waiting = 0
    for piece in pieces:
        waiting.append(piece)
        n_waiting += piece.n_rows
        if n_waiting < rows:
            continue
        joined = concatenate(waiting)
        whole = n_waiting - n_waiting % rows
        for first in range(0, whole, rows):
            yield joined.part(first, first + rows)
        waiting = [joined.part(whole, n_waiting)] if whole < n_waiting else []
        n_waiting -= whole
    if n_waiting:
        yield concatenate(waiting)
