"""Classifiers to and from model files."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from .. import __version__
from ..base import base_learner_from, spec_of
from ..boosting.settings import Bins, Settings
from ..boosting.step import AlphaStep, RateStep
from ..data.categories import Categories
from ..data.target import KINDS, TargetKind
from ..ensemble.ensemble import Ensemble, EnsembleBuilder
from ..ensemble.modelfile import ModelFileError, read_model, write_model
from ..losses import LOSSES

# Parameters that say how to compute, not what: they leave no trace in the model.
_NOT_SAVED = ("n_jobs", "verbose")


def save_classifier(classifier, path, more_header: dict | None = None, more_arrays: dict | None = None) -> None:
    """Write a fitted classifier.

    Parameters
    ----------
    classifier : AdaBoostMHClassifier
    path : str or path
    more_header, more_arrays : dict or None
        What a checkpoint has besides.
    """
    settings, kind = classifier._settings, classifier._target_kind
    if classifier.ensemble_.phi:
        raise ValueError(
            "a model of FromClassifier holds fitted scikit-learn objects, which have no place in a model file; "
            "keep it with a tool that stores Python objects"
        )
    parameters = {k: v for k, v in classifier.get_params(deep=False).items() if k not in _NOT_SAVED}
    parameters["base_learner"] = spec_of(base_learner_from(classifier.base_learner))
    if not isinstance(parameters["random_state"], (int, type(None))):
        parameters["random_state"] = None  # a generator's state is not part of the model
    if parameters["nominal_features"] is not None:
        parameters["nominal_features"] = np.asarray(parameters["nominal_features"]).tolist()
    header = {
        "version": __version__,
        "estimator": type(classifier).__name__,
        "parameters": {k: v.item() if isinstance(v, np.generic) else v for k, v in parameters.items()},
        "target": kind.kind,
        "tasks": len(kind.classes),
        "loss": settings.loss.name,
        "votes": settings.votes,
        "base_learner": spec_of(settings.base_learner),
        "learning_rate": float(settings.step.learning_rate),
        "ridge": float(settings.ridge),
        "max_bins": int(settings.bins.max_bins),
        "min_category_rows": int(settings.bins.min_category_rows),
        "seed": int(settings.seed),
        "n_features": int(classifier.n_features_in_),
        "slope": float(classifier.slope_),
        "history": sorted(name for name in classifier.history_ if not name.startswith("seconds")),
        "data": classifier.data_,
        **(more_header or {}),
    }
    arrays = {f"ensemble.{name}": array for name, array in classifier.ensemble_.arrays().items()}
    for t, classes in enumerate(kind.classes):
        arrays[f"classes.{t}"] = _plain(classes, f"classes of task {t}")
    # Without the seconds: the same training gives the same file, byte for byte.
    for name in header["history"]:
        arrays[f"history.{name}"] = classifier.history_[name]
    if hasattr(classifier, "feature_names_in_"):
        arrays["feature_names"] = classifier.feature_names_in_.astype(str)
    for j, categories in enumerate(classifier._categories or []):
        if categories is not None:
            arrays[f"categories.{j}"] = np.frombuffer(json.dumps(categories.names).encode(), np.uint8)
    write_model(path, header, {**arrays, **(more_arrays or {})})


def _plain(classes: np.ndarray, what: str) -> np.ndarray:
    """Classes without Python objects."""
    if classes.dtype.kind != "O":
        return classes
    if all(isinstance(c, str) for c in classes):
        return classes.astype(str)
    raise ValueError(f"{what} are Python objects ({type(classes[0]).__name__}); a model file holds numbers or text")


def load_model(path):
    """Read a model that ``save`` has written.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    AdaBoostMHClassifier
        With the same scores, bit for bit.

    Raises
    ------
    ModelFileError
        Where the file is not a whole model of a schema that this version knows.
    """
    from .adaboost_mh import AdaBoostMHClassifier

    header, arrays = read_model(path)
    try:
        classifier = _classifier_of(AdaBoostMHClassifier, header, arrays)
    except ModelFileError:
        raise
    except _WRONG as error:
        raise ModelFileError(f"{path} is not a whole multiboost model: {error} is missing or wrong") from error
    try:
        sound = _is_sound(classifier)
    except _WRONG:
        sound = False
    if not sound:
        raise ModelFileError(f"{path} is damaged: its arrays do not fit together")
    return classifier


# What comes of a header or of arrays that are not what they should be.
_WRONG = (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError, RecursionError)
_MOST_COLUMNS = 1 << 31  # what a column number can be


def _classifier_of(kind_of_classifier, header: dict, arrays: dict[str, np.ndarray]):
    """The classifier that a header and arrays describe."""
    classifier = kind_of_classifier(**header["parameters"])
    classifier._check_parameters()
    n_features, n_tasks = header["n_features"], header["tasks"]
    for name, value, most in (("n_features", n_features, _MOST_COLUMNS), ("tasks", n_tasks, len(arrays))):
        if type(value) is not int or not 1 <= value <= most:
            raise ValueError(f"{name} {value!r}")
    kind = TargetKind(header["target"], [arrays[f"classes.{t}"] for t in range(n_tasks)])
    if header["target"] not in KINDS or any(classes.ndim != 1 for classes in kind.classes):
        raise ValueError(f"target {header['target']!r}")
    step = (AlphaStep if header["votes"] == "discrete" else RateStep)(float(header["learning_rate"]))
    settings = Settings(
        LOSSES[header["loss"]], header["votes"], base_learner_from(header["base_learner"]), step,
        float(header["ridge"]), Bins(int(header["max_bins"]), int(header["min_category_rows"])), int(header["seed"]),
    )  # fmt: skip
    names = [name for name in Ensemble.__dataclass_fields__ if name != "phi"]
    flat: dict[str, Any] = {name: arrays[f"ensemble.{name}"] for name in names}
    classifier.ensemble_ = Ensemble(**flat)
    classifier.history_ = {name: arrays[f"history.{name}"] for name in header["history"]}
    classifier.n_features_in_ = n_features
    classifier.slope_ = float(header["slope"])
    classifier.data_ = header["data"]
    if not isinstance(classifier.data_, (dict, type(None))):
        raise ValueError("data")
    classifier._categories = _read_categories(arrays, n_features)
    classifier._target_kind = kind
    classifier._settings = settings
    classifier.classes_ = kind.classes if kind.kind == "multitask" else kind.classes[0]
    classifier.n_estimators_ = classifier.ensemble_.n_rounds
    classifier.loss_, classifier.learning_rate_ = settings.loss.name, step.learning_rate
    classifier.base_learner_ = settings.base_learner
    if "feature_names" in arrays:
        if len(arrays["feature_names"]) != n_features:
            raise ValueError("feature_names")
        classifier.feature_names_in_ = arrays["feature_names"].astype(object)
    return classifier


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


def _is_sound(classifier) -> bool:
    """Whether no array would lead a kernel out of bounds."""
    ensemble, n_features, n_labels = classifier.ensemble_, classifier.n_features_in_, classifier._target_kind.n_labels
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
    categories = classifier._categories or []
    n_bytes = {j: (len(names) + 7) // 8 for j, names in enumerate(categories) if names is not None}
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
