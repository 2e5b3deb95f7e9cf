"""Features on demand: of each row only those are computed that the model asks for, and each of them once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from ..data.categories import Factor, is_missing
from ..kernels.walk import walk_lazily
from ..model.model import Model


@dataclass
class LazyPrediction:
    """Answers for some rows, and what they took.

    Attributes
    ----------
    answers : ndarray (n,) or (n, outputs)
        What ``predict`` would say of the same rows.
    scores : ndarray (n, K)
    n_evaluated : ndarray of int (n,)
        Base classifiers that were evaluated.
    calls : dict of int
        For each feature, by name: of how many rows it was computed.
    seconds : dict of float
        How long that took.
    """

    answers: np.ndarray
    scores: np.ndarray
    n_evaluated: np.ndarray
    calls: dict[Any, int]
    seconds: dict[Any, float]


def predict_lazily(model: Model, rows: Iterable, features: dict[Any, Callable[[Any], Any]]) -> LazyPrediction:
    """Predict rows whose features are functions.

    Parameters
    ----------
    model : Model
    rows : iterable
        Anything: it is what the functions are given.
    features : dict of callable
        By the names of columns, or by their positions where they have none: from a row to a value.
    """
    if model.ensemble.phi:
        raise ValueError("the model asks the classifiers of a FromClassifier, which need all columns; use predict")
    columns = _Columns(model, features)
    walker, d, n_labels = model.walker, model.columns.n, model.ensemble.n_labels
    scores, evaluated = [], []
    product = np.empty(n_labels)
    for i, row in enumerate(rows):
        x, known, place = np.full(d, np.nan), np.zeros(d, bool), np.zeros(2, np.intp)
        total = model.ensemble.initial.copy()
        while (wanted := walk_lazily(x, known, walker.sequence, walker.rules, product, total, place)) >= 0:
            x[wanted], known[wanted] = columns.value(wanted, row, i), True
        scores.append(total)
        evaluated.append(place[1])
    found = np.array(scores).reshape(-1, n_labels)
    return LazyPrediction(
        model.answer(found), found, np.array(evaluated, np.intp), columns.by_name(columns.calls),
        columns.by_name(columns.seconds),
    )  # fmt: skip


def columns_asked(model: Model, rows: np.ndarray) -> np.ndarray:
    """Which columns the model asks for on the way of each row, (n, columns) bool.

    Parameters
    ----------
    model : Model
    rows : ndarray (n, columns) float64
        As tests see them.
    """
    if model.ensemble.phi:
        raise ValueError("the model asks the classifiers of a FromClassifier, which need all columns")
    walker, product = model.walker, np.empty(model.ensemble.n_labels)
    asked = np.zeros(rows.shape, bool)
    for x, known in zip(rows, asked, strict=True):
        place, total = np.zeros(2, np.intp), model.ensemble.initial.copy()
        while (wanted := walk_lazily(x, known, walker.sequence, walker.rules, product, total, place)) >= 0:
            known[wanted] = True
    return asked


class _Columns:
    """The functions of a model's columns, and how often and how long they were called."""

    def __init__(self, model: Model, features: dict[Any, Callable[[Any], Any]]):
        self.columns = model.columns
        names = range(self.columns.n) if self.columns.names is None else self.columns.names.tolist()
        self.names = dict(enumerate(names))
        strange = [name for name in features if name not in set(names)]
        if strange:
            raise ValueError(
                f"features: the model has no column {strange[0]!r}; it has {', '.join(map(repr, self.names.values()))}"
            )
        self.function = {j: features[name] for j, name in self.names.items() if name in features}
        self.calls = dict.fromkeys(self.function, 0)
        self.seconds = dict.fromkeys(self.function, 0.0)

    def by_name(self, counts: dict[int, Any]) -> dict[Any, Any]:
        return {self.names[j]: value for j, value in counts.items()}

    def value(self, column: int, row, i: int) -> float:
        """Compute a feature of a row."""
        if column not in self.function:
            raise ValueError(
                f"row {i} needs column {self.names[column]!r}, for which features has no function; it has "
                f"{', '.join(map(repr, self.by_name(self.function)))}"
            )
        begin = perf_counter()
        found = self.function[column](row)
        self.seconds[column] += perf_counter() - begin
        self.calls[column] += 1
        if is_missing(found):
            return np.nan
        categories = None if self.columns.categories is None else self.columns.categories[column]
        if categories is not None:
            return float(categories.encode(Factor([0], [found]))[0])
        try:
            number = float(found)
        except (TypeError, ValueError) as error:
            raise ValueError(f"feature {self.names[column]!r} of row {i} is {found!r}, not a number") from error
        if np.isinf(number):
            raise ValueError(
                f"feature {self.names[column]!r} of row {i} is infinite; give a large number, or None for a missing one"
            )
        return number
