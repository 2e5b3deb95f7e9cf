"""A model as its file holds it; without scikit-learn, whose import takes longer than most predictions."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ..data.categories import Categories
from ..data.table import as_table
from ..data.target import KINDS, TargetKind
from ..ensemble.ensemble import Ensemble, EnsembleBuilder
from ..ensemble.modelfile import ModelFileError, read_model
from ..kernels.team import Team
from .checks import thread_count
from .compiled import Compiled
from .link import decisions, probabilities, shaped

# What comes of a header or of arrays that are not what they should be.
WRONG = (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError, RecursionError)
_MOST_COLUMNS = 1 << 31  # what a column number can be


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
        self.header, self.arrays = read_model(path)
        try:
            self._read(self.header, self.arrays)
        except WRONG as error:
            raise ModelFileError(f"{path} is not a whole multiboost model: {error} is missing or wrong") from error
        try:
            sound = is_sound(self.ensemble, self.n_features_in_, self.kind.n_labels, self.categories)
        except WRONG:
            sound = False
        if not sound:
            raise ModelFileError(f"{path} is damaged: its arrays do not fit together")

    def _read(self, header: dict, arrays: dict[str, np.ndarray]) -> None:
        for name, most in (("n_features", _MOST_COLUMNS), ("tasks", len(arrays))):
            if type(header[name]) is not int or not 1 <= header[name] <= most:
                raise ValueError(f"{name} {header[name]!r}")
        self.kind = TargetKind(header["target"], [arrays[f"classes.{t}"] for t in range(header["tasks"])])
        if self.kind.kind not in KINDS or any(classes.ndim != 1 for classes in self.kind.classes):
            raise ValueError(f"target {header['target']!r}")
        names = [name for name in Ensemble.__dataclass_fields__ if name != "phi"]
        flat: dict[str, Any] = {name: arrays[f"ensemble.{name}"] for name in names}
        self.ensemble = Ensemble(**flat)
        self.slope = float(header["slope"])
        self.n_features_in_: int = header["n_features"]
        self.data_: dict | None = header["data"]
        if not isinstance(self.data_, (dict, type(None))):
            raise ValueError("data")
        self.nominal_features = header["parameters"]["nominal_features"]
        self.categories = _read_categories(arrays, self.n_features_in_)
        self.feature_names_in_ = arrays["feature_names"].astype(object) if "feature_names" in arrays else None
        if self.feature_names_in_ is not None and self.feature_names_in_.shape != (self.n_features_in_,):
            raise ValueError("feature_names")

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

    def compiled(self) -> Compiled:
        """As of `AdaBoostMHClassifier`."""
        return Compiled(self.kind, self.ensemble, self.n_features_in_, self.categories)


def _read_categories(arrays: dict[str, np.ndarray], n_features: int) -> list[Categories | None] | None:
    given: dict[int, Categories] = {}
    for name, array in arrays.items():
        if name.startswith("categories."):
            names = json.loads(array.tobytes())
            if not (isinstance(names, list) and all(isinstance(n, str) for n in names)):
                raise ValueError(f"{name} is not a list of names")
            column = int(name.partition(".")[2])
            if not 0 <= column < n_features:
                raise ValueError(f"{name} is of no column")
            given[column] = Categories(names)
    return [given.get(j) for j in range(n_features)] if given else None


def is_sound(ensemble: Ensemble, n_features: int, n_labels: int, categories) -> bool:
    """Whether no array would lead a kernel out of bounds."""
    empty = EnsembleBuilder(np.zeros(n_labels), n_features).build().arrays()
    if any(getattr(ensemble, k).dtype != a.dtype or getattr(ensemble, k).ndim != a.ndim for k, a in empty.items()):
        return False
    tests, leaves, terms = len(ensemble.feature), len(ensemble.values), len(ensemble.root)
    first = ensemble.first_term
    lengths = [len(getattr(ensemble, name)) for name in ("threshold", "missing_right", "gain", "set_start", "child")]
    if lengths != [tests] * 5 or ensemble.child.shape[1] != 2:
        return False
    if tests and not (ensemble.feature.min() >= 0 and ensemble.feature.max() < n_features):
        return False
    n_bytes = {j: (len(names) + 7) // 8 for j, names in enumerate(categories or []) if names is not None}
    of_set = np.array([n_bytes.get(j, 0) for j in ensemble.feature.tolist()], np.intp)
    is_nominal = np.array([j in n_bytes for j in ensemble.feature.tolist()], bool)

    def within(numbers):
        return numbers.size == 0 or (numbers.max() < tests and (~numbers).max() < leaves)

    return bool(
        ensemble.values.shape[1] == n_labels == len(ensemble.initial)
        and np.array_equal(ensemble.set_start >= 0, is_nominal)
        and (ensemble.set_start <= ensemble.sets.size - of_set).all()  # a sum may overflow
        and within(ensemble.child)
        and within(ensemble.root)
        and ((ensemble.child < 0) | (ensemble.child > np.arange(tests)[:, None])).all()
        and len(first) >= 1
        and first[0] == 0
        and first[-1] == terms
        and (np.diff(first) > 0).all()
        and len(ensemble.size) == len(first) - 1
    )
