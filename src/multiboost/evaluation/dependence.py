"""Partial dependence: what a model says on average if a column held one value in all rows (Friedman 2001).

By brute force, so it is right for trees and products of any size.  Where columns go together it also asks about rows
that do not occur.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data.table import EncodedTable
from ..estimators.threads import thread_count
from ..estimators.validation import check_table
from ..kernels.team import Team
from .columns import category_names, column_names
from .evaluating import view_of
from .permuting import some_rows

N_POINTS = 25
MOST_ROWS = 500
_MOST_CATEGORIES = 16


@dataclass
class Dependence:
    """The mean answer as a function of one column.

    Attributes
    ----------
    column : int
    name : str
    grid : list of float
        Values of a numeric column, rising; numbers of categories of a nominal one, the most frequent first.
    categories : list of str or None
        Names of those.
    values : list of list of float
        For each of them the mean probability of every label, or the mean prediction of every column of numbers.
    """

    column: int
    name: str
    grid: list[float]
    categories: list[str] | None
    values: list[list[float]]

    def span(self) -> np.ndarray:
        """Largest minus smallest value for each label, (K,)."""
        return np.ptp(np.array(self.values), axis=0)


def partial_dependence(clf, X, columns, *, n_points=N_POINTS, max_rows=MOST_ROWS) -> list[Dependence]:
    """Partial dependence of a fitted estimator on some columns.

    Parameters
    ----------
    clf : fitted estimator
        Fitted; not one of `FromClassifier`.
    X : array, sparse matrix or data frame
        Rows over which to average.
    columns : list of int
    n_points : int, default=25
        Values of a numeric column: all that occur, or so many quantiles from 1 % to 99 %.  Of a nominal column the
        most frequent, at most 16.
    max_rows : int, default=500
        Of more rows so many are taken, evenly spread.

    Returns
    -------
    list of Dependence
        Without columns that hold nothing but missing values.
    """
    view, model = view_of(clf), clf.model_
    if model.asks_others:
        raise ValueError(
            "the model asks estimators that see rows in the user's own form (FromClassifier, init); use "
            "scikit-learn's partial_dependence"
        )
    table = check_table(clf, X)
    rows = some_rows(table.n_rows, max_rows)
    array = table.take(rows).encoded().rows(0, len(rows)).copy()
    found = []
    with Team(thread_count(clf.n_jobs)) as team:
        for j in columns:
            names = category_names(clf, j)
            grid = _values(array[:, j], n_points) if names is None else _categories(array[:, j])
            if not grid.size:
                continue
            kept, values = array[:, j].copy(), []
            for value in grid:
                array[:, j] = value
                scores = model.scores(EncodedTable(array, model.columns.categories), team)
                values.append(view.said(model, scores).mean(axis=0).tolist())
            array[:, j] = kept
            shown = None if names is None else [names[int(v)] for v in grid]
            found.append(Dependence(int(j), column_names(clf)[j], grid.tolist(), shown, values))
    return found


def _values(column: np.ndarray, n_points: int) -> np.ndarray:
    known = np.unique(column[~np.isnan(column)])
    if known.size <= n_points:
        return known
    return np.unique(np.quantile(column[~np.isnan(column)], np.linspace(0.01, 0.99, n_points)))


def _categories(column: np.ndarray) -> np.ndarray:
    numbers, count = np.unique(column[~np.isnan(column)], return_counts=True)
    return numbers[np.argsort(-count, kind="stable")[:_MOST_CATEGORIES]]
