"""The bins of a table, as pure data.

Nothing here depends on threads, labels or how cuts will be searched: trials and the final run share one `Binned`, and
its digest says whether two runs see the same data.  ``layout`` arranges it for a search.
"""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property

import numpy as np

from ..workspace import IN_MEMORY, InMemory
from .binner import Binner, ColumnBins, NominalBins
from .table import Column, Table

_GROUP = 16  # columns that are read from the table together,
_GROUP_BYTES = 128 << 20  # or fewer, in this much memory
_WORTH_THREADS = 50_000  # values of a table below which one thread reads it
_PART = 1 << 20  # rows that are counted together
_SOME = 500  # rows, about, that say which bin may be that of most rows
_FREQUENT = 0.3  # share of the most frequent bin from which a column leaves it out


class BinnedColumn:
    """Bins of one column: of all rows, or of those outside of its frequent bin.

    Parameters
    ----------
    of : ColumnBins or NominalBins
    bins : ndarray of unsigned int
        Bin numbers, ``of.n_bins`` where the value is missing.
    rows : ndarray of uint32 or None
        Rows of these, rising; None: all rows.
    frequent : int
        The bin of all other rows, -1 where there are none.
    """

    __slots__ = ("bins", "frequent", "of", "rows")

    def __init__(self, of: ColumnBins | NominalBins, bins: np.ndarray, rows: np.ndarray | None = None, frequent=-1):
        self.of = of
        self.bins = bins
        self.rows = rows
        self.frequent = frequent

    def count(self, n_rows: int) -> np.ndarray:
        """Rows of each bin, (n_bins,), or (n_bins + 1,) with the missing values."""
        n_bins = self.of.n_bins + self.of.missing
        count = np.zeros(n_bins, np.intp)
        for first in range(0, self.bins.size, _PART):  # a count of all would make a copy of eight bytes each
            count += np.bincount(self.bins[first : first + _PART], minlength=n_bins)
        if self.rows is not None:
            count[self.frequent] += n_rows - self.rows.size
        return count

    def full(self, n_rows: int) -> np.ndarray:
        """The bins of all rows."""
        if self.rows is None:
            return self.bins
        bins = np.full(n_rows, self.frequent, self.bins.dtype)
        bins[self.rows] = self.bins
        return bins

    def take(self, rising: np.ndarray, place: np.ndarray) -> BinnedColumn:
        """The column of some rows, given as rising numbers (uint32) and their places in the new column."""
        if self.rows is None:
            bins = np.empty(rising.size, self.bins.dtype)
            bins[place] = self.bins[rising]
            return BinnedColumn(self.of, bins).stored(rising.size)
        ours, theirs = _common(self.rows, rising)
        order = np.argsort(place[theirs])
        rows = place[theirs][order].astype(np.uint32)
        return BinnedColumn(self.of, self.bins[ours][order], rows, self.frequent).stored(rising.size)

    def stored(self, n_rows: int) -> BinnedColumn:
        """The same column without its most frequent bin where that is frequent, else with all rows.

        So how a column is stored depends on its bins alone, not on the table that it came from.
        """
        frequent = -1 if self.rows is not None else _majority(self.bins)
        if frequent < 0:
            count = self.count(n_rows)
            frequent = int(count.argmax())
            if count[frequent] < _FREQUENT * n_rows:
                return BinnedColumn(self.of, self.full(n_rows))
        if frequent == self.frequent:
            return self
        bins = self.full(n_rows)
        rows = np.flatnonzero(bins != frequent).astype(np.uint32)
        return BinnedColumn(self.of, bins[rows], rows, frequent)


def _majority(bins: np.ndarray) -> int:
    """The bin of more than half of the rows, if some of them say that there is one; else -1.  No count is needed."""
    some = np.bincount(bins[:: max(1, bins.size // _SOME)], minlength=1)
    frequent = int(some.argmax())
    likely = 2 * some[frequent] > some.sum()
    return frequent if likely and 2 * np.count_nonzero(bins == frequent) > bins.size else -1


def _common(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where two rising arrays have the same values; the shorter one is looked up in the other."""
    if a.size > b.size:
        return _common(b, a)[::-1]
    place = np.searchsorted(b, a)
    known = place < b.size
    known[known] = b[place[known]] == a[known]
    return np.flatnonzero(known), place[known]


def _bin(column: Column, of: ColumnBins | NominalBins, n_rows: int) -> BinnedColumn | None:
    """Bin a column; None where it is constant, so that there is nothing to cut."""
    if of.n_bins + of.missing < 2:
        return None
    bins = of.digitise(column.values)
    if column.where is None:
        return BinnedColumn(of, bins).stored(n_rows)
    zero = int(of.digitise(np.zeros(1))[0])
    other = bins != zero
    return BinnedColumn(of, bins[other], column.where[other].astype(np.uint32), zero).stored(n_rows)


class Binned:
    """A binned table; `Binned.of` makes one.

    Attributes
    ----------
    table : Table
    binner : Binner
    columns : list of (BinnedColumn or None)
        In the user's order, None for constant columns.
    n_rows, n_columns : int
    workspace : InMemory
        Where whoever learns from the table has its arrays of a number for each row.
    """

    def __init__(
        self,
        table: Table,
        binner: Binner,
        columns: list[BinnedColumn | None],
        rows: np.ndarray | None = None,
        workspace: InMemory = IN_MEMORY,
    ):
        self.workspace = workspace
        self._table, self._rows = table, rows  # the table of these rows is made when somebody asks for it
        self.binner = binner
        self._columns: list[BinnedColumn | None] | None = columns
        self.n_rows = table.n_rows if rows is None else rows.size
        self.n_columns = table.n_columns

    @classmethod
    def of(
        cls, table: Table, max_bins: int = 256, min_category_rows: int = 1, weight=None, n_threads: int = 1
    ) -> Binned:
        """Bin a table.

        Parameters
        ----------
        table : Table
        max_bins, min_category_rows : int
            See `Binner`.
        weight : ndarray (n,) or None
            Row weights, for the quantiles of columns with many values.
        n_threads : int
        """
        binner = Binner(max_bins, min_category_rows)
        group = int(max(1, min(_GROUP, _GROUP_BYTES // (8 * max(1, table.n_rows)))))

        def read(first):
            pairs = binner.fit_columns(table, first, min(first + group, table.n_columns), weight)
            return [(bins, _bin(column, bins, table.n_rows)) for column, bins in pairs]

        groups = range(0, table.n_columns, group)
        if n_threads > 1 and table.n_rows * table.n_columns > _WORTH_THREADS:
            with ThreadPoolExecutor(n_threads) as pool:
                parts = list(pool.map(read, groups))
        else:
            parts = [read(first) for first in groups]
        pairs = [pair for part in parts for pair in part]
        binner.columns = [bins for bins, _ in pairs]
        return cls(table, binner, [column for _, column in pairs])

    @cached_property
    def table(self) -> Table:
        return self._table if self._rows is None else self._table.take(self._rows)

    @property
    def has_columns(self) -> bool:
        """Whether the columns are here, and not given away."""
        return self._columns is not None

    @property
    def columns(self) -> list[BinnedColumn | None]:
        if self._columns is None:
            raise RuntimeError("these bins were given away to a layout; make the layout with last=False to keep them")
        return self._columns

    def give_away(self) -> list[BinnedColumn | None]:
        """The columns, for the last who needs them: they can be freed one by one."""
        columns, self._columns = self.columns, None
        return columns

    def take(self, rows: np.ndarray) -> Binned:
        """Some rows, in this order, with the bins of all.

        Parameters
        ----------
        rows : ndarray of int
            Each at most once.
        """
        place = np.argsort(rows)
        rising = rows[place].astype(np.uint32)
        columns = [None if column is None else column.take(rising, place) for column in self.columns]
        return Binned(self._table, self.binner, columns, rows if self._rows is None else self._rows[rows])

    def digest(self) -> str:
        """A hash of the bins: their edges, their categories with names, and the bin of every row.

        It is the same however the table came.  After the bins were given away it is known if it was asked for before.
        """
        return self._digest

    @cached_property
    def _digest(self) -> str:
        found = hashlib.blake2b(repr((self.n_rows, self.n_columns)).encode(), digest_size=16)
        categories = self._table.categories or [None] * self.n_columns
        for column, of, known in zip(self.columns, self.binner.columns, categories, strict=True):
            names = known.names if known is not None else None
            found.update(repr((of.nominal, of.missing, of.n_bins, names)).encode())
            arrays = [of.category] if isinstance(of, NominalBins) else [of.lowest, of.highest]
            if column is not None:
                column = column.stored(self.n_rows)  # as it is, unless it is on the disk
                arrays += [column.bins] if column.rows is None else [column.rows, column.bins]
                found.update(repr((column.frequent, column.bins.size)).encode())
            for array in arrays:
                found.update(np.ascontiguousarray(array).view(np.uint8).data if array.size else b"")
        return found.hexdigest()
