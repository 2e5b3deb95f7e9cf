"""Names of columns and of what they hold, for people to read."""

from __future__ import annotations

import numpy as np


def column_names(clf) -> list[str]:
    """The names of the training table's columns, or ``x0``, ``x1`` and so on."""
    names = getattr(clf, "feature_names_in_", None)
    return [f"x{j}" for j in range(clf.n_features_in_)] if names is None else [str(name) for name in names]


def names_in_tests(clf) -> list[str]:
    """`column_names`, and after them a name for each classifier whose answers are tested like a column."""
    phi = [f"{type(p.estimator).__name__} {k}" for k, p in enumerate(clf.ensemble_.phi, start=1)]
    return column_names(clf) + phi


def category_names(clf, column: int) -> list[str] | None:
    """Names of a nominal column's categories; None for numbers."""
    return clf.model_.columns.category_names(column)


def shown_value(clf, column: int, value: float) -> float | str | None:
    """A value of a column as the user knows it; None where it is missing."""
    if np.isnan(value):
        return None
    names = category_names(clf, column)
    return float(value) if names is None else names[int(value)]
