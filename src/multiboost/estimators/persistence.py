"""Classifiers to and from model files."""

from __future__ import annotations

import json

import numpy as np

from .. import __version__
from ..base import base_learner_from, spec_of
from ..boosting.settings import Bins, Settings
from ..boosting.sharpness import SHARPNESS
from ..boosting.step import AlphaStep, RateStep
from ..ensemble.modelfile import ModelFileError, write_model
from ..losses import LOSSES
from .stored import WRONG, Stored

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
        "subsample": float(settings.subsample),
        "ridge": float(settings.ridge),
        "max_bins": int(settings.bins.max_bins),
        "min_category_rows": int(settings.bins.min_category_rows),
        "seed": int(settings.seed),
        "sharpness": float(settings.sharpness),
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

    stored = Stored(path)
    header, arrays, kind = stored.header, stored.arrays, stored.kind
    try:
        classifier = AdaBoostMHClassifier(**header["parameters"])
        classifier._check_parameters()
        step = (AlphaStep if header["votes"] == "discrete" else RateStep)(float(header["learning_rate"]))
        settings = Settings(
            LOSSES[header["loss"]], header["votes"], base_learner_from(header["base_learner"]), step,
            float(header["ridge"]), Bins(int(header["max_bins"]), int(header["min_category_rows"])),
            int(header["seed"]), float(header.get("subsample", 1.0)), float(header.get("sharpness", SHARPNESS)),
        )  # fmt: skip
        classifier.history_ = {name: arrays[f"history.{name}"] for name in header["history"]}
    except WRONG as error:
        raise ModelFileError(f"{path} is not a whole multiboost model: {error} is missing or wrong") from error
    classifier.ensemble_ = stored.ensemble
    classifier.n_features_in_, classifier.slope_ = stored.n_features_in_, stored.slope
    classifier.data_ = stored.data_
    classifier._categories = stored.categories
    classifier._target_kind = kind
    classifier._settings = settings
    classifier.classes_ = kind.classes if kind.kind == "multitask" else kind.classes[0]
    classifier.n_estimators_ = classifier.ensemble_.n_rounds
    classifier.loss_, classifier.learning_rate_ = settings.loss.name, step.learning_rate
    classifier.subsample_ = settings.subsample
    classifier.base_learner_ = settings.base_learner
    if stored.feature_names_in_ is not None:
        classifier.feature_names_in_ = stored.feature_names_in_
    return classifier
