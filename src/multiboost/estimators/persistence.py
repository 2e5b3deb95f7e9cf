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
from ..data.target import TargetKind
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
        classifier = AdaBoostMHClassifier(**header["parameters"])
        kind = TargetKind(header["target"], [arrays[f"classes.{t}"] for t in range(header["tasks"])])
        step = (AlphaStep if header["votes"] == "discrete" else RateStep)(header["learning_rate"])
        settings = Settings(
            LOSSES[header["loss"]], header["votes"], base_learner_from(header["base_learner"]), step, header["ridge"],
            Bins(header["max_bins"], header["min_category_rows"]), header["seed"],
        )  # fmt: skip
        names = [name for name in Ensemble.__dataclass_fields__ if name != "phi"]
        flat: dict[str, Any] = {name: arrays[f"ensemble.{name}"] for name in names}
        classifier.ensemble_ = Ensemble(**flat)
        classifier.history_ = {name: arrays[f"history.{name}"] for name in header["history"]}
        classifier.n_features_in_ = header["n_features"]
        classifier.slope_ = header["slope"]
        classifier.data_ = header["data"]
        classifier._categories = _read_categories(arrays, header["n_features"])
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise ModelFileError(f"{path} is not a whole multiboost model: {error} is missing or wrong") from error
    check_ensemble(classifier.ensemble_, classifier.n_features_in_, kind.n_labels, classifier._categories, path)
    classifier._target_kind = kind
    classifier._settings = settings
    classifier.classes_ = kind.classes if kind.kind == "multitask" else kind.classes[0]
    classifier.n_estimators_ = classifier.ensemble_.n_rounds
    classifier.loss_, classifier.learning_rate_ = settings.loss.name, step.learning_rate
    classifier.base_learner_ = settings.base_learner
    if "feature_names" in arrays:
        classifier.feature_names_in_ = arrays["feature_names"].astype(object)
    return classifier


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
