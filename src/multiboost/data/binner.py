"""Bins of columns: cut points of numbers, categories of nominal columns.

A column with at most ``max_bins`` distinct values is binned *exactly*: one bin per
value, and no cut that the data allow is lost.  Beyond that, cuts are at weighted
quantiles, of longer columns of a sample: see `sketch`.  Missing values have a bin of their own, after the others.

Every bin keeps the smallest and largest training value in it, so that a cut between
two bins becomes a threshold half-way between two values that really occur.

A nominal column has one bin per category, in the order in which the categories appear, so
that their names have no influence.  A category of fewer than ``min_category_rows`` rows is
too rare to be told from chance: its rows are binned as missing values, which is also how a
category that was never seen is treated at prediction.
"""

from __future__ import annotations

import numpy as np

from ..kernels.binning import digitise, distinct, quantile_ends
from .sketch import SAMPLE, NameSketch, NumberSketch, first_turns
from .table import Column, Table, infinite


def midpoint(a, b):
    """Half-way between a < b, and never b itself, even for neighbouring floats."""
    middle = a / 2 + b / 2  # a + b may overflow
    return np.where((middle >= a) & (middle < b), middle, a)


def midpoint_of(a: float, b: float) -> float:
    """`midpoint` of two numbers."""
    middle = a / 2 + b / 2
    return middle if a <= middle < b else a


class ColumnBins:
    """The bins of one column.

    Attributes
    ----------
    lowest, highest : ndarray (n_bins,)
        Smallest and largest training value of each bin.
    cuts : ndarray (n_bins - 1,)
        x lies in bin b where cuts[b - 1] < x <= cuts[b].
    missing : bool
        Whether the training column has missing values.
    """

    __slots__ = ("cuts", "highest", "lowest", "missing")
    nominal = False

    def __init__(self, lowest, highest, missing: bool):
        self.lowest = lowest
        self.highest = highest
        self.cuts = midpoint(highest[:-1], lowest[1:])
        self.missing = missing

    @property
    def n_bins(self) -> int:
        """Bins of values, without the one for missing values."""
        return self.lowest.size

    def digitise(self, values: np.ndarray) -> np.ndarray:
        """The bin of every value; n_bins where it is missing."""
        dtype = np.uint8 if self.n_bins < 256 else np.uint16
        bins = np.empty(values.size, dtype)
        digitise(values, self.cuts, self.n_bins, bins)
        return bins


class NominalBins:
    """The bins of one nominal column.

    Attributes
    ----------
    category : ndarray (n_bins,) of int
        The category of each bin.
    n_categories : int
        Categories of the model, also those without a bin.
    missing : bool
        Whether the training column has missing values or rare categories.
    """

    __slots__ = ("_bin", "category", "missing", "n_categories")
    nominal = True

    def __init__(self, category: np.ndarray, n_categories: int, missing: bool):
        self.category = category
        self.n_categories = n_categories
        self.missing = missing
        self._bin = np.full(n_categories + 1, category.size)
        self._bin[category] = np.arange(category.size)

    @property
    def n_bins(self) -> int:
        """Bins of categories, without the one for missing values."""
        return self.category.size

    def digitise(self, values: np.ndarray) -> np.ndarray:
        """The bin of every category number; n_bins where there is none."""
        dtype = np.uint8 if self.n_bins < 256 else np.uint16 if self.n_bins < 65536 else np.uint32
        return self._bin[np.where(np.isnan(values), self.n_categories, values).astype(np.intp)].astype(dtype)

    def set_of(self, right: np.ndarray, missing_right: bool) -> np.ndarray:
        """Which categories go right, eight to a byte; those without a bin as missing ones.

        Parameters
        ----------
        right : ndarray (n_bins,) of bool
        missing_right : bool
        """
        side = np.full(self.n_categories, missing_right)
        side[self.category] = right
        return np.packbits(side, bitorder="little")


def bin_nominal(values: np.ndarray, n_categories: int, min_rows: int) -> NominalBins:
    """Learn the bins of a nominal column, given as category numbers."""
    known = ~np.isnan(values)
    number = values[known].astype(np.intp)
    count = np.bincount(number, minlength=n_categories)
    first = np.full(n_categories, values.size)
    np.minimum.at(first, number, np.flatnonzero(known))
    frequent = np.flatnonzero(count >= min_rows)
    category = frequent[np.argsort(first[frequent], kind="stable")]
    return NominalBins(category, n_categories, bool(count[frequent].sum() < values.size))


def bin_column(column: Column, n_rows: int, max_bins: int, weight: np.ndarray | None, where: str) -> ColumnBins:
    """Learn the bins of one column.

    Parameters
    ----------
    column : Column
    n_rows : int
        Rows of the table; a sparse column has fewer values.
    max_bins : int
    weight : ndarray (n_rows,) or None
        Row weights for the quantiles.
    where : str
        The column's name, for messages.
    """
    values = column.values
    if np.isinf(values).any():
        raise ValueError(infinite(where))
    n_zeros = n_rows - values.size if column.where is not None else 0
    found, more = distinct(values, max_bins)
    if not more:
        if n_zeros and not (found == 0).any():
            found = np.append(found, 0.0)
        if found.size <= max_bins:
            found = np.sort(found)
            return ColumnBins(found, found, bool(np.isnan(values).any()))
    missing = np.isnan(values)
    known = values[~missing] + 0.0
    if weight is None:
        mass = None
    else:
        mass = weight[column.where][~missing] if column.where is not None else weight[~missing]
    if known.size > SAMPLE:
        rows = np.flatnonzero(~missing)
        place = first_turns(rows if column.where is None else column.where[rows], SAMPLE)
        known, mass = known[place], None if mass is None else mass[place]
        n_zeros = round(n_zeros * SAMPLE / values.size)
    value, count = _runs(known, mass)
    if n_zeros:
        zeros = float(n_zeros) if weight is None else _zero_mass(column, weight)
        at = int(np.searchsorted(value, 0.0))
        if at < value.size and value[at] == 0.0:
            count[at] += zeros
        else:
            value, count = np.insert(value, at, 0.0), np.insert(count, at, zeros)
    return _quantile_bins(value, count, max_bins, bool(missing.any()))


def _quantile_bins(value: np.ndarray, count: np.ndarray, max_bins: int, missing: bool) -> ColumnBins:
    """Bins of distinct values in order, which weigh so much."""
    last = quantile_ends(count, max_bins)
    begin = np.concatenate([[0], last[:-1] + 1])
    return ColumnBins(value[begin], value[last], missing)


def bins_of_sketch(sketch: NumberSketch) -> ColumnBins:
    """The bins of a column that was seen in parts: those of the same column in memory."""
    if sketch.distinct is not None:
        found = np.sort(sketch.distinct)
        return ColumnBins(found, found, sketch.missing)
    value, count = _runs(*sketch.sample())
    return _quantile_bins(value, count, sketch.max_bins, sketch.missing)


def bins_of_names(sketch: NameSketch, min_rows: int) -> NominalBins:
    """The same of a nominal column."""
    count = sketch.counts()
    category = np.flatnonzero(count >= min_rows)  # they are in the order of their first rows already
    return NominalBins(category, count.size, bool(count[category].sum() < sketch.n_rows))


def _runs(known: np.ndarray, mass: np.ndarray | None):
    """Distinct values in order and their weights."""
    if mass is None:
        value, count = np.unique(known, return_counts=True)
        return value, count.astype(np.float64)
    order = np.argsort(known, kind="stable")
    value, first = np.unique(known[order], return_index=True)
    return value, np.add.reduceat(mass[order], first)


def _zero_mass(column: Column, weight: np.ndarray) -> float:
    return float(weight.sum() - weight[column.where].sum())


class Binner:
    """The bins of every column of a table.

    Parameters
    ----------
    max_bins : int
        Most value bins of a numeric column, 2 to 65535.
    min_category_rows : int
        Rows that a category needs to have a bin.
    """

    def __init__(self, max_bins: int = 256, min_category_rows: int = 1):
        self.max_bins = max_bins
        self.min_category_rows = min_category_rows
        self.columns: list[ColumnBins | NominalBins] = []

    def fit_columns(self, table: Table, first: int, last: int, weight) -> list[tuple]:
        """Learn the bins of some columns; returns (Column, bins) pairs."""
        found = []
        for j, column in enumerate(table.columns(first, last), first):
            categories = table.categories[j] if table.categories is not None else None
            bins: ColumnBins | NominalBins
            if categories is not None:
                bins = bin_nominal(column.values, len(categories), self.min_category_rows)
            else:
                bins = bin_column(column, table.n_rows, self.max_bins, weight, table.label(j))
            found.append((column, bins))
        return found

    def thresholds(self, feature, left_bin, right_bin) -> np.ndarray:
        """Thresholds of cuts between two bins of a column: x > threshold goes right.

        Half-way between the values that really occur on the two sides; infinite where
        the right side has nothing but missing values, NaN for nominal columns.
        """
        found = np.empty(len(feature))
        for k, (j, a, b) in enumerate(zip(feature, left_bin, right_bin, strict=True)):
            bins = self.columns[j]
            if isinstance(bins, NominalBins):
                found[k] = np.nan
                continue
            found[k] = midpoint_of(bins.highest[a], bins.lowest[b]) if b < bins.n_bins else np.inf
        return found
