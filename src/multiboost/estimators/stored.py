"""A model as its file holds it; without scikit-learn, whose import takes longer than most predictions."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ..data.categories import Categories
from ..data.table import as_table
from ..data.target import TargetKind
from ..ensemble.ensemble import Ensemble, EnsembleBuilder
from ..ensemble.modelfile import ModelFileError, read_model
from ..kernels.team import Team
from .checks import thread_count
from .link import decisions, probabilities, shaped


class Stored:
    """What a model file says, checked, and its predictions for tables that need no checks.

    Parameters
    ----------
    path : str or path

    Attributes
    ----------
    header, arrays : dict
    kind : TargetKind
    ensemble : Ensemble
    slope : float
    categories : list of (Categories or None) or None
    nominal_features, n_features_in_, feature_names_in_, data_
        As of `AdaBoostMHClassifier`; names are None where there are none.

    Raises
    ------
    ModelFileError
        Where the file is not a whole model of a schema that this version knows.
    """

    n_jobs: int | None = None

    def __init__(self, path):
        self.header, self.arrays = header, arrays = read_model(path)
        try:
            self.kind = TargetKind(header["target"], [arrays[f"classes.{t}"] for t in range(header["tasks"])])
            names = [name for name in Ensemble.__dataclass_fields__ if name != "phi"]
            flat: dict[str, Any] = {name: arrays[f"ensemble.{name}"] for name in names}
            self.ensemble = Ensemble(**flat)
            self.slope = header["slope"]
            self.n_features_in_: int = header["n_features"]
            self.data_: dict | None = header["data"]
            self.nominal_features = header["parameters"]["nominal_features"]
            self.categories = _read_categories(arrays, header["n_features"])
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise ModelFileError(f"{path} is not a whole multiboost model: {error} is missing or wrong") from error
        check_ensemble(self.ensemble, self.n_features_in_, self.kind.n_labels, self.categories, path)
        self.feature_names_in_ = arrays["feature_names"].astype(object) if "feature_names" in arrays else None

    @property
    def categories_(self) -> list[np.ndarray | None]:
        """As of `AdaBoostMHClassifier`."""
        found = self.categories or [None] * self.n_features_in_
        return [None if c is None else np.array(c.names, dtype=object) for c in found]

    def _scores(self, X) -> np.ndarray:
        table = as_table(X)
        table.categories = self.categories
        with Team(thread_count(self.n_jobs)) as team:
            return self.ensemble.scores(table, team)

    def decision_function(self, X) -> np.ndarray:
        """As of `AdaBoostMHClassifier`; X must have the model's columns in their order."""
        return shaped(self.kind, self._scores(X))

    def predict(self, X) -> np.ndarray:
        """As of `AdaBoostMHClassifier`; X must have the model's columns in their order."""
        return decisions(self.kind, self._scores(X))

    def predict_proba(self, X):
        """As of `AdaBoostMHClassifier`; X must have the model's columns in their order."""
        return probabilities(self.kind, self._scores(X), self.slope)


def _read_categories(arrays: dict[str, np.ndarray], n_features: int) -> list[Categories | None] | None:
    found: list[Categories | None] = [None] * n_features
    for name, array in arrays.items():
        if name.startswith("categories."):
            names = json.loads(array.tobytes())
            if not (isinstance(names, list) and all(isinstance(n, str) for n in names)):
                raise ValueError(f"{name} is not a list of names")
            found[int(name.partition(".")[2])] = Categories(names)
    return found if any(c is not None for c in found) else None


def check_ensemble(ensemble: Ensemble, n_features: int, n_labels: int, categories, path) -> None:
    """Refuse arrays that would lead a kernel out of bounds."""
    for name, like in EnsembleBuilder(np.zeros(n_labels), n_features).build().arrays().items():
        array = getattr(ensemble, name)
        if array.dtype != like.dtype or array.ndim != like.ndim:
            raise ModelFileError(f"{path} is damaged: {name} is not an array of {like.ndim} dimensions of {like.dtype}")
    tests, leaves, terms = len(ensemble.feature), len(ensemble.values), len(ensemble.root)
    first = ensemble.first_term

    def within(numbers):
        return numbers.size == 0 or (numbers.max() < tests and (~numbers).max() < leaves)

    forward = ensemble.child > np.arange(tests)[:, None] if tests else np.ones(0, bool)
    nominal = np.zeros(n_features, np.intp)  # bytes of a set of each column
    for j, names in enumerate(categories or []):
        nominal[j] = 0 if names is None else (len(names) + 7) // 8

    sound = (
        ensemble.values.ndim == 2
        and ensemble.values.shape[1] == n_labels == len(ensemble.initial)
        and ensemble.child.shape == (tests, 2)
        and len(ensemble.threshold) == len(ensemble.missing_right) == len(ensemble.gain) == tests
        and len(ensemble.set_start) == tests
        and (tests == 0 or (ensemble.feature.min() >= 0 and ensemble.feature.max() < n_features))
        and bool(((ensemble.set_start >= 0) == (nominal[ensemble.feature] > 0)).all())
        and bool((ensemble.set_start <= ensemble.sets.size - nominal[ensemble.feature]).all())  # a sum may overflow
        and within(ensemble.child)
        and within(ensemble.root)
        and bool(((ensemble.child < 0) | forward).all())
        and len(first) >= 1
        and first[0] == 0
        and first[-1] == terms
        and bool((np.diff(first) > 0).all())
        and len(ensemble.size) == len(first) - 1
    )
    if not sound:
        raise ModelFileError(f"{path} is damaged: its arrays do not fit together")
