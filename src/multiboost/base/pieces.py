"""Columns in pieces: what base learners share that put a function of one column together from pieces.

A `Bins` is a constant on each piece, a `Column` a line or a spline.  Where the rows are in the pieces of every column
is found out once for a run; in a round one pass sums G and H over the pieces (``kernels.moments``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable

import numpy as np

from ..data.table import Column as TableColumn
from ..kernels.dtypes import NODE, ROW, apart
from ..kernels.moments import Places, add_moments
from .classifier import Dag
from .problem import Problem

_FREQUENT = 0.3  # share of zeros from which a column leaves them out


class Entries:
    """A column without its zeros, where these are many: as sparse or dense tables have it, but by its values alone.

    Parameters
    ----------
    column : data.table.Column
    n_rows : int

    Attributes
    ----------
    row : ndarray of ROW
    value : ndarray of float64
        NaN where it is missing.
    n_zeros : int
        Rows without an entry.
    """

    def __init__(self, column: TableColumn, n_rows: int):
        values, where = np.asarray(column.values, np.float64), column.where
        if where is not None:
            order = np.argsort(where, kind="stable")
            values, where = values[order], where[order]
        other = values != 0
        n_zeros = n_rows - int(np.count_nonzero(other))
        if n_zeros >= _FREQUENT * n_rows:
            self.row = np.flatnonzero(other) if where is None else where[other]
            self.value, self.n_zeros = values[other], n_zeros
        else:
            self.value, self.n_zeros = values, 0
            if where is not None:
                self.value = np.zeros(n_rows)
                self.value[where] = values
            self.row = np.arange(n_rows)
        self.row = self.row.astype(ROW)

    @property
    def is_constant(self) -> bool:
        """Whether it has no two values."""
        known = self.known
        return known.size == 0 or (self.n_zeros == 0 and bool((known == known[0]).all()))

    @property
    def known(self) -> np.ndarray:
        """Values that are not missing."""
        return self.value[~np.isnan(self.value)]


class Pieces(ABC):
    """How one column is divided.

    Attributes
    ----------
    n_pieces : int
    """

    n_pieces: int

    @abstractmethod
    def places(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Piece and place in it of values, NaN where they are missing."""


def places_of(columns: Iterable[tuple[Entries, Pieces]], *, with_place: bool = True) -> Places:
    """Where the rows are in the pieces of columns.

    Parameters
    ----------
    columns : iterable of (Entries, Pieces)
    with_place : bool
        Whether anybody asks for places within pieces.
    """
    rows, pieces, places, n_pieces, rest, rest_place = [], [], [], [0], [], []
    for entries, of in columns:
        piece, place = of.places(entries.value)
        zero, zero_place = of.places(np.zeros(1))
        rows.append(entries.row)
        pieces.append(piece.astype(np.uint32))
        places.append(place if with_place else np.zeros(0))
        n_pieces.append(of.n_pieces)
        rest.append(int(zero[0]) if entries.n_zeros else -1)
        rest_place.append(float(zero_place[0]))
    empty = np.zeros(0)
    return Places(
        start=np.cumsum([0, *(row.size for row in rows)]).astype(np.intp),
        row=np.concatenate([*rows, empty]).astype(ROW),
        piece=np.concatenate([*pieces, empty]).astype(np.uint32),
        place=np.concatenate([*places, empty]),
        first_piece=np.cumsum(n_pieces).astype(np.intp),
        rest=np.array(rest, np.intp),
        rest_place=np.array(rest_place, np.float64),
    )


def moments(
    problem: Problem, places: Places, chosen: np.ndarray, curvature: np.ndarray, degree: int, all_labels: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Sums of G and H over the samples of the round, (K,), and their moments in the pieces of the chosen columns.

    Parameters
    ----------
    problem : Problem
    places : Places
    chosen : ndarray of intp
    curvature : ndarray (n, K)
        H.
    degree : int
        Of the functions that are fitted.
    all_labels : bool
        Whether K are all labels, not only those by which columns are chosen.
    """
    pull, left_out = problem.pull, problem.rows.left_out
    if not all_labels:
        pull, curvature = problem.sketched(pull), problem.sketched(curvature)
    if left_out.size:
        drawn = np.zeros((problem.n_rows, 1))
        drawn[problem.rows.drawn] = 1.0
        pull, curvature = pull * drawn, curvature * drawn
    total_g, total_h = pull.sum(axis=0), curvature.sum(axis=0)
    n_labels, n_pieces = pull.shape[1], int(places.first_piece[-1])
    sum_g = np.zeros((n_pieces, n_labels, degree + 1))
    sum_h = np.zeros((n_pieces, n_labels, 2 * degree + 1))
    seen = np.empty((problem.team.n_threads, 2, apart(n_labels, np.float64)))
    problem.team.run(
        add_moments, places, chosen, np.ascontiguousarray(pull), np.ascontiguousarray(curvature), degree, total_g,
        total_h, seen, sum_g, sum_h, alone=problem.is_small,
    )  # fmt: skip
    return total_g, total_h, sum_g, sum_h


def ladder(feature: int, thresholds: np.ndarray, missing: int, gain: float, values: np.ndarray, degree: int = 0) -> Dag:
    """Leaf i holds from just above thresholds[i - 1] up to thresholds[i]: a search by halving.

    Parameters
    ----------
    feature : int
        Column of the table.
    thresholds : ndarray
        Rising.
    missing : int
        The leaf of missing values; ``len(thresholds) + 1`` is one of their own.
    gain : float
        What all tests have brought together.
    values : ndarray (leaves * (degree + 1), K)
    """
    threshold: list[float] = []
    missing_right: list[bool] = []
    child: list[list[int]] = []

    def search(first: int, last: int) -> int:
        """Number of the test that begins a search for leaves first to last, or ~ that of a leaf."""
        if first == last:
            return ~(first * (degree + 1))
        number, middle = len(child), (first + last) // 2
        threshold.append(float(thresholds[middle]))
        missing_right.append(missing > middle)
        child.append([0, 0])
        child[number] = [search(first, middle), search(middle + 1, last)]
        return number

    n_leaves = len(thresholds) + 1
    if missing == n_leaves:  # whatever is not missing is above minus infinity
        threshold, missing_right, child = [-np.inf], [False], [[~(missing * (degree + 1)), 0]]
        child[0][1] = search(0, n_leaves - 1)
    else:
        search(0, n_leaves - 1)
    n_tests = len(child)
    return Dag(
        feature=np.full(n_tests, feature, NODE),
        threshold=np.array(threshold, np.float64),
        missing_right=np.array(missing_right, np.bool_),
        child=np.array(child, NODE).reshape(-1, 2),
        gain=np.full(n_tests, gain / max(1, n_tests)),
        values=values,
        set_start=np.full(n_tests, -1, np.intp),
        sets=np.zeros(0, np.uint8),
    )
