"""Another model, from whose scores boosting starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.kind import TargetKind
from ..data.table import EncodedTable, Table
from ..kernels.team import Team

if TYPE_CHECKING:
    from .model import Columns, Model

_LEAST = 1e-6  # of a probability: scores stay finite


@dataclass
class Before:
    """What boosting starts from, where that is more than a constant.

    Attributes
    ----------
    model : Model or None
        One of ours; a model file holds it, too.
    estimator : fitted estimator or None
        Any other one.
    """

    model: Model | None = None
    estimator: Any = None

    def check(self, kind: TargetKind, columns: Columns) -> None:
        """Refuse a model of other columns or another target.

        Raises
        ------
        ValueError
        """
        if self.model is None:
            return
        theirs = self.model.columns
        other = theirs.names is not None and columns.names is not None and list(theirs.names) != list(columns.names)
        if theirs.n != columns.n or other:
            raise ValueError("init was fitted on other columns; fit it on the same ones, in the same order")
        if self.model.kind.of_numbers and kind.of_numbers:
            return  # whether there are as many is seen when they are asked
        if self.model.kind.name != kind.name:
            raise ValueError(f"init was fitted on a {self.model.kind.name} target, and y is {kind.name}")
        same = [np.array_equal(a, b) for a, b in zip(self.model.kind.classes, kind.classes, strict=False)]
        if len(self.model.kind.classes) != len(kind.classes) or not all(same):
            raise ValueError("init was fitted on other classes, labels or targets than those of y")

    def scores(self, table: Table, team: Team, kind: TargetKind) -> np.ndarray:
        """Scores of every row for a target of this kind, (n, K).

        Parameters
        ----------
        table : Table
        team : Team
        kind : TargetKind
            Of the model that starts here.
        """
        if self.model is not None:
            found = self.model.scores(_read_by(self.model, table), team)
            return kind.scores_of(self.model.kind.answers(found)) if kind.of_numbers else found
        name, X = type(self.estimator).__name__, table.native(0, table.n_rows)
        try:
            found = self._numbers(X) if kind.of_numbers else self._labels(X, kind)
        except (TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"init: {name} has no scores for this table: {error}") from error
        if found.shape != (table.n_rows, kind.n_labels) or not np.isfinite(found).all():
            raise ValueError(
                f"init: scores of {name} must be finite numbers of shape {(table.n_rows, kind.n_labels)}; "
                f"their shape is {found.shape}"
            )
        return kind.scores_of(found) if kind.of_numbers else found

    def _numbers(self, X) -> np.ndarray:
        found = np.asarray(self.estimator.predict(X), np.float64)
        return found.reshape(len(found), -1)

    def _labels(self, X, kind: TargetKind) -> np.ndarray:
        """Half the log odds of probabilities, or the classifier's own scores."""
        if not hasattr(self.estimator, "predict_proba"):
            found = np.asarray(self.estimator.decision_function(X), np.float64)
            return found.reshape(len(found), -1)
        given = self.estimator.predict_proba(X)
        parts = [np.asarray(p, np.float64) for p in (given if isinstance(given, list) else [given])]
        if kind.tasks or kind.is_single:
            classes = self.estimator.classes_
            known = classes if isinstance(given, list) else [classes]
            for ours, theirs in zip(kind.classes, known, strict=True):
                if not np.array_equal(np.asarray(ours), np.asarray(theirs)):
                    raise ValueError(f"it knows the classes {list(theirs)}, and y has {list(ours)}")
            parts = parts if kind.tasks else [part[:, 1:] for part in parts]  # of two classes the second
        elif isinstance(given, list):  # a classifier for each label
            parts = [part[:, 1:] for part in parts]
        p = np.clip(np.concatenate(parts, axis=1), _LEAST, 1.0 - _LEAST)
        return 0.5 * np.log(p / (1.0 - p))


def _read_by(model: Model, table: Table) -> Table:
    """A table of another model as this one reads it: each has numbered categories in its own way."""
    if not isinstance(table, EncodedTable):
        return model.table(table.native(0, table.n_rows))
    array = table.rows(0, table.n_rows)
    for j, known in enumerate(model.columns.categories or []):
        ours = table.categories[j] if table.categories is not None else None
        if known is not None and ours is not None and known.names != ours.names:
            place = {name: float(k) for k, name in enumerate(known.names)}
            number = np.array([*(place.get(name, np.nan) for name in ours.names), np.nan])
            array = array.copy()
            array[:, j] = number[np.where(np.isnan(array[:, j]), len(ours.names), array[:, j]).astype(np.intp)]
    return EncodedTable(array, model.columns.categories)
