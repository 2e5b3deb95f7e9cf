"""One row at a time, within microseconds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..data.categories import Categories
from ..data.kind import TargetKind
from ..kernels.predict import add_curved_row, add_row
from ..kernels.walk import walk_row
from .ensemble import Ensemble
from .tiles import padded
from .walker import Walker


class Single:
    """A model for whoever has microseconds to decide: one row at a time, nothing checked but its length.

    Made by ``MultiBoostClassifier.compiled()``; compiles its kernel then, not at the first row.

    A row is a NumPy array with a number for every column: NaN is a missing value, a value of a nominal
    column is the position of its name in ``categories_``.  What is no such position is treated as missing.
    A contiguous float64 array is taken as it is, other numbers are copied first.

    Parameters
    ----------
    kind : TargetKind
    ensemble : Ensemble
    n_features : int
    categories : list of (Categories or None) or None
        Of each column, None for numbers.
    probabilities : callable
        Of scores (n, K), as of `Model`.
    before : Single or None
        The model to whose scores this one adds.
    walker : Walker or None, default=None
        For a model with a policy.

    Raises
    ------
    ValueError
        Where the model asks classifiers (`FromClassifier`), which predict for tables.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from multiboost import MultiBoostClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MultiBoostClassifier("stump", n_estimators=20).fit(X, y).compiled()
    >>> int(model.predict(np.array([5.0, 3.5, 1.5, 0.2])))
    0
    """

    def __init__(
        self,
        kind: TargetKind,
        ensemble: Ensemble,
        n_features: int,
        categories: list[Categories | None] | None,
        probabilities: Callable,
        before: Single | None = None,
        walker: Walker | None = None,
    ):
        if ensemble.phi:
            raise ValueError(
                "the model asks the classifiers of a FromClassifier, which predict for tables; "
                "use predict or decision_function"
            )
        self._before = before
        self._kind, self._n_features, self._n_labels = kind, n_features, ensemble.n_labels
        self._probabilities = probabilities
        self._initial = padded(ensemble.initial) if walker is None else ensemble.initial
        n_categories = np.array([0 if c is None else len(c.names) for c in categories or [None] * n_features], np.intp)
        self._arrays: tuple[Any, ...] = (
            n_categories, ensemble.feature, ensemble.threshold, ensemble.missing_right, ensemble.child,
            ensemble.set_start, ensemble.sets, padded(ensemble.values).ravel(), ensemble.root, ensemble.first_term,
        )  # fmt: skip
        self._add: Any = add_row
        if ensemble.is_curved:
            self._add = add_curved_row
            self._arrays += (ensemble.along, ensemble.degree, ensemble.origin)
        if walker is not None:
            self._add, self._arrays = walk_row, (n_categories, walker.sequence, walker.rules)
        self.scores(np.zeros(n_features))

    def scores(self, x: np.ndarray) -> np.ndarray:
        """F of one row: what ``decision_function`` has for it, bit for bit.

        Parameters
        ----------
        x : ndarray of numbers, (n_features,)

        Returns
        -------
        ndarray (K,)
            One number for a binary target.
        """
        if type(x) is not np.ndarray or x.dtype != np.float64 or x.ndim != 1 or not x.flags.c_contiguous:
            x = _row_of(x)
        total = self._initial.copy()
        if self._before is not None:
            total[: self._n_labels] += self._before.for_kind(x, self._kind)
        row, product = np.empty(self._n_features), np.empty(total.size)
        if not self._add(x, *self._arrays, row, product, total):
            raise ValueError(f"x has {x.size} numbers; the model has {self._n_features} columns")
        return total[: self._n_labels]

    def for_kind(self, x: np.ndarray, kind: TargetKind) -> np.ndarray:
        """Scores of one row for a target of another kind's units, (K,)."""
        scores = self.scores(x)
        return kind.scores_of(self._kind.answers(scores[None]))[0] if kind.of_numbers else scores

    def predict(self, x: np.ndarray):
        """The class of one row; of several labels or tasks an array.

        Parameters
        ----------
        x : ndarray of numbers, (n_features,)
        """
        return self._kind.answer_of_one(self.scores(x))

    def probabilities(self, x: np.ndarray):
        """The probabilities of one row: what ``predict_proba`` has for it.

        Parameters
        ----------
        x : ndarray of numbers, (n_features,)

        Returns
        -------
        ndarray (classes,), or list of ndarray
            A list with one array per task for multi-task targets.
        """
        if not hasattr(self._kind, "probabilities"):
            raise ValueError(f"a model of the kind {self._kind.name!r} has no probabilities; use predict")
        found = self._probabilities(self.scores(x)[None])
        return [task[0] for task in found] if isinstance(found, list) else found[0]


def _row_of(x) -> np.ndarray:
    """A row as the kernel takes it, float64 and contiguous."""
    if not isinstance(x, np.ndarray):
        raise TypeError(f"a row must be a NumPy array of numbers; got a {type(x).__name__}: write np.array(x)")
    if x.ndim != 1 or x.dtype.kind not in "biuf":
        raise ValueError(f"a row must be a one-dimensional array of numbers; got {x.dtype} of shape {x.shape}")
    return np.ascontiguousarray(x, dtype=np.float64)
