"""Additive models as shape functions: f(x) = constant + sum over columns of f_j(x_j), exactly.

Where every round asks about one column only (stumps; selectors and indicators; products
and trees that stay on one column), the rounds of a column add up to a function of its
value alone: steps between thresholds, one value per category, one for a missing value.  Lines and splines add up to
a curve, which is drawn in small steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .columns import category_names, column_names
from .explain import goes_right

_STEPS = 101  # thresholds of a curve's drawing


@dataclass
class Shape:
    """The function f_j of one column.

    Attributes
    ----------
    column : int
    name : str
    thresholds : ndarray (m,)
        Of a numeric column, rising; empty for a nominal one.
    categories : list of str or None
        Of a nominal column.
    values : ndarray (m + 1, K) or (categories, K)
        Row i holds from just above ``thresholds[i - 1]`` up to ``thresholds[i]``, the
        threshold itself included; or for category i.
    missing : ndarray (K,)
        Where the value is missing, or a category that training has not seen.
    curve : callable or None
        Where the function is no step function: its exact values (n, K) for x (n,).  ``values`` are those in the middle
        of each step.
    """

    column: int
    name: str
    thresholds: np.ndarray
    categories: list[str] | None
    values: np.ndarray
    missing: np.ndarray
    curve: Callable[[np.ndarray], np.ndarray] | None = None

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """f_j of values of the column (numbers of categories for a nominal one), (n, K)."""
        x = np.asarray(x, dtype=np.float64)
        if self.curve is not None:
            return self.curve(x)
        absent = np.isnan(x)
        filled = np.where(absent, 0.0, x)
        row = np.searchsorted(self.thresholds, filled, side="left") if self.categories is None else filled.astype(int)
        return np.where(absent[:, None], self.missing, self.values[row])

    @property
    def span(self) -> np.ndarray:
        """Largest minus smallest value for each label, (K,)."""
        return np.ptp(np.concatenate([self.values, self.missing[None]]), axis=0)


@dataclass
class Shapes:
    """All of an additive model.

    Attributes
    ----------
    labels : list of str
    constant : ndarray (K,)
        Initial scores and rounds without a test.
    shapes : list of Shape
        Of the columns that are used, the most important first.
    """

    labels: list[str]
    constant: np.ndarray
    shapes: list[Shape]

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Scores (n, K) of dense rows, with numbers of categories in nominal columns."""
        scores = np.tile(self.constant, (len(rows), 1))
        for shape in self.shapes:
            scores += shape(rows[:, shape.column])
        return scores


def column_of_rounds(clf) -> list[int | None]:
    """The one column that each round asks about; -1 for none, None for more than one."""
    check_is_fitted(clf)
    e = clf.ensemble_
    found: list[int | None] = []
    for t in range(e.n_rounds):
        columns = np.unique(e.feature[_tests_of(e, t)])
        found.append(None if columns.size > 1 else int(columns[0]) if columns.size else -1)
    return found


def is_additive(clf) -> bool:
    """Whether a model has shape functions: every round asks about one column of the table, and nothing was before."""
    if clf.model_.before is not None or not clf.model_.kind.adds_up:
        return False
    return all(j is not None and j < clf.n_features_in_ for j in column_of_rounds(clf))


def additive_shapes(clf) -> Shapes:
    """The shape functions of an additive model.

    Parameters
    ----------
    clf : fitted estimator
        Fitted, of stumps or other base learners that cut one column.

    Returns
    -------
    Shapes
        The constant plus all shapes are the model's scores.

    Raises
    ------
    ValueError
        Where a round uses more than one column, or a classifier's answer, or where rounds do not add up.
    """
    columns = column_of_rounds(clf)
    if not clf.model_.kind.adds_up:
        raise ValueError("the model is a weighted median of its rounds; only sums have shapes")
    e = clf.ensemble_
    if clf.model_.before is not None:
        raise ValueError("the model starts from the scores of another one (init), so its shapes are not all of it")
    for t, j in enumerate(columns, start=1):
        if j is None or j >= clf.n_features_in_:
            what = "more than one column" if j is None else "the answer of a classifier"
            raise ValueError(f"round {t} uses {what}; only models whose rounds use one column each have shapes")
    constant = e.initial.astype(np.float64).copy()
    used = sorted({j for j in columns if j is not None and j >= 0}, key=lambda j: -clf.feature_importances_[j])
    by_column: dict[int, list[int]] = {j: [] for j in used}
    for t, j in enumerate(columns):
        if j == -1:
            constant += _round_values(e, t, np.zeros(1), None)[0]
        elif j is not None:
            by_column[j].append(t)
    shapes = [_shape(clf, j, rounds) for j, rounds in by_column.items()]
    return Shapes([name or "prediction" for name in clf.model_.kind.label_names()], constant, shapes)


def _shape(clf, j: int, rounds: list[int]) -> Shape:
    e = clf.ensemble_
    categories = category_names(clf, j)
    if e.is_curved and categories is None:
        return _curved_shape(clf, j, rounds)
    if categories is None:
        thresholds = np.unique(e.threshold[np.concatenate([_tests_of(e, t) for t in rounds])])
        thresholds = thresholds[~np.isneginf(thresholds)]  # there the question is whether the value is known
        if thresholds.size == 0:
            thresholds = np.zeros(1)
        # A threshold stands for the step that ends at it; beyond the last one any larger number does.
        points = np.concatenate([thresholds, [np.nextafter(thresholds[-1], np.inf)]])
    else:
        thresholds = np.zeros(0)
        points = np.arange(len(categories), dtype=np.float64)
    points = np.concatenate([points, [np.nan]])
    values = np.zeros((len(points), e.n_labels))
    for t in rounds:
        values += _round_values(e, t, points, None if categories is None else len(categories))
    return Shape(j, column_names(clf)[j], thresholds, categories, values[:-1], values[-1])


def _curved_shape(clf, j: int, rounds: list[int]) -> Shape:
    """The shape of a column whose rounds are curves, in `_STEPS` steps."""
    e = clf.ensemble_

    def curve(x: np.ndarray) -> np.ndarray:
        return sum((_round_values(e, t, x, None) for t in rounds), np.zeros((len(x), e.n_labels)))

    cuts = e.threshold[np.concatenate([_tests_of(e, t) for t in rounds])]
    low, high = float(cuts.min()), float(cuts.max())
    if not low < high:
        low, high = low - 1.0, high + 1.0
    thresholds = np.linspace(low, high, _STEPS)
    middle = (thresholds[:-1] + thresholds[1:]) / 2
    values = curve(np.concatenate([[low], middle, [high, np.nan]]))
    return Shape(j, column_names(clf)[j], thresholds, None, values[:-1], values[-1], curve)


def _tests_of(e, t: int) -> np.ndarray:
    """The tests of round t that can be reached."""
    waiting = [int(root) for root in e.root[e.first_term[t] : e.first_term[t + 1]]]
    seen: set[int] = set()
    while waiting:
        node = waiting.pop()
        if node >= 0 and node not in seen:
            seen.add(node)
            waiting += [int(c) for c in e.child[node]]
    return np.array(sorted(seen), np.intp)


def _round_values(e, t: int, x: np.ndarray, n_categories: int | None) -> np.ndarray:
    """What round t adds to the scores of a column's values x, (n, K)."""
    total = np.ones((len(x), e.n_labels))
    for term in range(e.first_term[t], e.first_term[t + 1]):
        node = np.full(len(x), int(e.root[term]))
        while (node >= 0).any():
            for test in np.unique(node[node >= 0]):
                here = node == test
                if n_categories is None:
                    right = x[here] > e.threshold[test]
                else:
                    number = np.where(np.isnan(x[here]), 0, x[here]).astype(int)
                    right = goes_right(e, test, n_categories)[number]
                right = np.where(np.isnan(x[here]), e.missing_right[test], right)
                node[here] = e.child[test][right.astype(int)]
        leaf = ~node
        if not e.is_curved:
            total *= e.values[leaf]
            continue
        place = np.where(np.isnan(x), 0.0, x - e.origin[leaf])[:, None]
        votes = e.values[leaf + e.degree[term]]
        for power in range(e.degree[term] - 1, -1, -1):
            votes = votes * place + e.values[leaf + power]
        total *= votes
    return total
