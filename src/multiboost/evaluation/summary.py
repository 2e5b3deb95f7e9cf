"""What a table and its labels look like, in a few numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..estimators.validation import check_table
from .columns import category_names
from .evaluating import answers_of

_CELLS_AT_ONCE = 1 << 22  # that are made dense
_ROWS_FOR_DECILES = 10_000


@dataclass
class DataSummary:
    """Rows, columns and labels.

    Attributes
    ----------
    n_rows, n_columns, n_nominal : int
    missing : float
        Share of the cells that are missing, or hold a category that training has not seen.
    unknown : float
        Share of the answers (of tasks, of labels, of numbers) that are unknown.
    classes : list of (str, float)
        Names of the classes and their shares of the weight, for targets of one task.
    """

    n_rows: int
    n_columns: int
    n_nominal: int
    missing: float
    unknown: float
    classes: list[tuple[str, float]]


def data_summary(clf, X, y, sample_weight=None, qid=None) -> DataSummary:
    """Look at a table once, a piece at a time.

    Parameters
    ----------
    clf : fitted estimator
        Fitted.
    X, y, sample_weight, qid
    """
    answers = answers_of(clf, y, sample_weight, qid)
    table = check_table(clf, X)
    step = max(1, _CELLS_AT_ONCE // max(1, table.n_columns))
    missing = sum(
        int(np.isnan(table.rows(first, min(first + step, table.n_rows))).sum())
        for first in range(0, table.n_rows, step)
    )
    return DataSummary(
        n_rows=table.n_rows,
        n_columns=table.n_columns,
        n_nominal=sum(category_names(clf, j) is not None for j in range(table.n_columns)),
        missing=missing / max(1, table.n_rows * table.n_columns),
        unknown=answers.unknown(),
        classes=answers.class_shares(),
    )


def deciles(clf, X, columns: list[int]) -> dict[int, list[float]]:
    """Minimum, deciles and maximum of some numeric columns, of at most 10000 rows.

    Parameters
    ----------
    clf : fitted estimator
        Fitted.
    X : array, sparse matrix or data frame
    columns : list of int

    Returns
    -------
    dict of int to list of float
        Without the columns that hold nothing but missing values.
    """
    table = check_table(clf, X)
    rows = np.unique(np.linspace(0, table.n_rows - 1, min(table.n_rows, _ROWS_FOR_DECILES)).astype(int))
    if rows.size < table.n_rows:
        table = table.take(rows)
    step = max(1, _CELLS_AT_ONCE // max(1, table.n_columns))
    pieces = [table.rows(a, min(a + step, table.n_rows))[:, columns] for a in range(0, table.n_rows, step)]
    values = np.concatenate(pieces)
    found = {}
    for k, j in enumerate(columns):
        known = values[~np.isnan(values[:, k]), k]
        if known.size:
            found[j] = np.quantile(known, np.linspace(0, 1, 11)).tolist()
    return found
