"""What one pass over the rows remembers of a column, so that it can be binned: of numbers a sample, of names counts.

The *sample* of a column are the rows whose turn comes first, where the turn of a row is a hash of its number.  So it is
drawn without replacement, and it is the same whatever the order in which rows are seen: sketches of parts of a table
can be merged in any order, and a table in memory is sampled in the same way.  A column of at most `SAMPLE` known values
is kept whole, and one of at most ``max_bins`` distinct values is exact at any length.

The share of the sample below a value differs from the share of the column by more than e with a probability of at most
2 exp(-2 size e^2) for all values together (Dvoretzky, Kiefer and Wolfowitz 1956; Massart 1990): of 200 000 values by
more than 0.006 once in a million columns.  A bin of 256 has a share of 0.004.
"""

from __future__ import annotations

import numpy as np

from ..kernels.binning import distinct
from .categories import Categories, Factor, is_missing, text_of

SAMPLE = 200_000  # known values of a column from which its quantiles are taken


def turns(rows: np.ndarray) -> np.ndarray:
    """When it is the turn of each row, (n,) uint64: all different, in an order as good as a random one.

    The finaliser of splitmix64 (Steele, Lea and Flood 2014), which no two numbers share.
    """
    x = rows.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def first_turns(rows: np.ndarray, n: int) -> np.ndarray:
    """Which of the rows, all different, come first: at most ``n`` places, rising."""
    if rows.size <= n:
        return np.arange(rows.size)
    return np.sort(np.argpartition(turns(rows), n - 1)[:n])


class NumberSketch:
    """A column of numbers, seen in parts.

    Parameters
    ----------
    max_bins : int
        A column of so many distinct values is exact.
    size : int
        Values of the sample.

    Attributes
    ----------
    distinct : ndarray or None
        Distinct values, None where there are more than ``max_bins``.
    missing : bool
        Whether a value was missing.
    """

    def __init__(self, max_bins: int, size: int = SAMPLE):
        self.max_bins, self.size = max_bins, size
        self.distinct: np.ndarray | None = np.zeros(0)
        self.missing = False
        self._last = np.uint64(2**64 - 1)  # the turn of the last row of a sample that is full
        self._parts: list[tuple[np.ndarray, ...]] = []  # rows, values, weights
        self._n_waiting = 0

    def add(self, values: np.ndarray, rows: np.ndarray, turn: np.ndarray, weight: np.ndarray | None = None) -> None:
        """Some more rows.

        Parameters
        ----------
        values : ndarray (n,) float64
            NaN is missing.
        rows, turn : ndarray (n,)
            Their numbers in the whole table, and their `turns`.
        weight : ndarray (n,) or None
        """
        known = ~np.isnan(values)
        self.missing |= not known.all()
        if self.distinct is not None:
            found, more = distinct(values, self.max_bins)
            self._join(None if more else found)
        taken = np.flatnonzero(known & (turn <= self._last))
        if taken.size:
            self._wait(rows[taken], values[taken] + 0.0, None if weight is None else weight[taken])

    def merge(self, other: NumberSketch) -> None:
        """The rows of another part of the table."""
        self.missing |= other.missing
        self._join(other.distinct)
        for rows, values, *weight in other._parts:
            self._wait(rows, values, weight[0] if weight else None)

    def sample(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Known values and their weights, in the order of their rows; all of them where they are few."""
        self._shrink()
        rows, values, *weight = (
            (np.concatenate(arrays) for arrays in zip(*self._parts, strict=True))
            if (self._parts)
            else (np.zeros(0, np.int64), np.zeros(0))
        )
        order = np.argsort(rows)
        return values[order], weight[0][order] if weight else None

    def _join(self, found: np.ndarray | None) -> None:
        if found is None or self.distinct is None:
            self.distinct = None
            return
        joined = np.union1d(self.distinct, found)
        self.distinct = joined if joined.size <= self.max_bins else None

    def _wait(self, rows: np.ndarray, values: np.ndarray, weight: np.ndarray | None) -> None:
        self._parts.append((rows, values) if weight is None else (rows, values, weight))
        self._n_waiting += rows.size
        if self._n_waiting > 2 * self.size:
            self._shrink()

    def _shrink(self) -> None:
        """Keep the rows whose turn comes first."""
        if self._n_waiting <= self.size:
            return
        arrays = [np.concatenate(arrays) for arrays in zip(*self._parts, strict=True)]
        kept = first_turns(arrays[0], self.size)
        self._parts = [tuple(array[kept] for array in arrays)]
        self._n_waiting = kept.size
        self._last = turns(self._parts[0][0]).max()


class NameSketch:
    """A nominal column, seen in parts: how often every category occurs, and where first."""

    def __init__(self):
        self._found: dict[str, list[int]] = {}  # by name: rows, the first one
        self.n_rows = 0

    def add(self, factor: Factor, first: int) -> None:
        """Some more rows.

        Parameters
        ----------
        factor : Factor
        first : int
            Number of the first of them in the whole table.
        """
        n_values = len(factor.values)
        self.n_rows += factor.number.size
        known = np.flatnonzero(factor.number >= 0)
        count = np.bincount(factor.number[known], minlength=n_values)
        begin = np.full(n_values, factor.number.size)
        np.minimum.at(begin, factor.number[known], known)
        for k in np.flatnonzero(count):
            if not is_missing(factor.values[k]):
                self._count(text_of(factor.values[k]), int(count[k]), first + int(begin[k]))

    def merge(self, other: NameSketch) -> None:
        """The rows of another part of the table."""
        self.n_rows += other.n_rows
        for name, (count, first) in other._found.items():
            self._count(name, count, first)

    def _count(self, name: str, count: int, first: int) -> None:
        entry = self._found.setdefault(name, [0, first])
        entry[0] += count
        entry[1] = min(entry[1], first)

    def _in_order(self) -> list[tuple[str, list[int]]]:
        return sorted(self._found.items(), key=lambda item: item[1][1])

    def categories(self) -> Categories:
        """All names, in the order of their first rows."""
        return Categories(name for name, _ in self._in_order())

    def counts(self) -> np.ndarray:
        """Rows of each category, (categories,)."""
        return np.array([count for _, (count, _) in self._in_order()], np.intp)
