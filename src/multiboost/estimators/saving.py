"""Parameters of estimators to and from model files, and models back to estimators."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from ..base.registry import base_learner_from, learner_from_dict, learner_to_dict, spec_of
from ..boosting.plan import Plan
from ..calibration import CALIBRATORS
from ..losses import LOSSES
from ..model.mixture import Mixture
from ..model.model import Model
from ..model.modelfile import ModelFileError
from ..model.storage import WRONG, load_any
from ..plugin import Plugin, plugin_from
from ..samplers import COLUMN_SAMPLERS, LABEL_SAMPLERS, ROW_SAMPLERS
from ..steps import STEPS
from .start import written

# Parameters that say how to compute, not what: they leave no trace in the model.
_NOT_SAVED = ("n_jobs", "verbose")
_REGISTRIES = {
    "loss": LOSSES,
    "step": STEPS,
    "row_sampler": ROW_SAMPLERS,
    "column_sampler": COLUMN_SAMPLERS,
    "label_sampler": LABEL_SAMPLERS,
    "calibration": CALIBRATORS,
}
# Where the estimators are that a file may name; others are known once their module is imported.
_HOMES = (
    "multiboost_classifier", "multiboost_regressor", "multiboost_ranker", "adaboost_mh", "median_boost", "mddag",
    "cascades", "filter_boost",
)  # fmt: skip


def saved_parameters(estimator) -> dict[str, Any]:
    """Parameters of an estimator as JSON can hold them."""
    given = estimator.get_params(deep=False)
    return {name: _written(name, value) for name, value in given.items() if name not in _NOT_SAVED}


def _written(name: str, value):
    if name == "base_learner":
        learner = base_learner_from(value)
        return spec_of(learner) if isinstance(value, str) else learner_to_dict(learner)
    if name == "init":
        return written(value)
    if isinstance(value, Plugin):
        return value.to_dict()
    if name == "estimator" and value is not None:
        return {"name": type(value).__name__, "parameters": saved_parameters(value)}
    if name == "models" and isinstance(value, (list, tuple)):
        return [_written("estimator", model) for model in value]
    if name == "models" and value is not None:
        return {key: [_written(key, one) for one in some] for key, some in value.items()}
    if name == "calibrations" and isinstance(value, (list, tuple)):
        return [_written("calibration", one) for one in value]
    if name in ("rounds", "c") and value is not None:
        return np.asarray(value).tolist()
    if name == "oracle" or (name in ("reward", "score") and callable(value)):
        return None  # a function is no part of a file, and predictions do not need it
    if name == "costs" and isinstance(value, dict):
        return {"pairs": [[_plain(key), float(cost)] for key, cost in value.items()]}
    if name in ("costs", "actions") and value is not None:
        return np.asarray(value).tolist()
    if name == "random_state" and not isinstance(value, (int, np.integer, type(None))):
        return None  # a generator's state is not part of the model
    if name in ("nominal_features", "quantile") and value is not None:
        return np.asarray(value).tolist()
    if name == "class_weight" and isinstance(value, (dict, list, tuple)):
        return _pairs(value)
    return value.item() if isinstance(value, np.generic) else value


def _pairs(value):
    """Dictionaries as pairs: JSON would turn classes that are numbers into text."""
    if isinstance(value, dict):
        return {"pairs": [[_plain(key), float(weight)] for key, weight in value.items()]}
    return [_pairs(entry) for entry in value] if isinstance(value, (list, tuple)) else value


def _plain(value):
    return value.item() if isinstance(value, np.generic) else value


def _read(name: str, value):
    """The inverse of `_written`."""
    if name == "base_learner" and isinstance(value, dict):
        return learner_from_dict(value)
    if name in _REGISTRIES and isinstance(value, dict):
        return plugin_from(_REGISTRIES[name], value)
    if name == "class_weight" or (name == "costs" and isinstance(value, dict)):
        return _unpaired(value)
    if name == "estimator" and isinstance(value, dict):
        return _known(value["name"])(**{part: _read(part, v) for part, v in value["parameters"].items()})
    if name == "models" and isinstance(value, dict):
        return {key: [_read(key, one) for one in some] for key, some in value.items()}
    if name in ("models", "calibrations") and isinstance(value, list):
        return [_read(name.removesuffix("s").replace("model", "estimator"), one) for one in value]
    return tuple(value) if name == "actions" else value


def _known(name: str):
    """An estimator by its name."""
    from .fitted import ESTIMATORS

    for home in _HOMES:
        import_module(f".{home}", __package__)
    if name not in ESTIMATORS:
        raise ModelFileError(
            f"a model of {name!r}, which is not known here; known are {', '.join(ESTIMATORS)}. Import the module that "
            "defines it"
        )
    return ESTIMATORS[name]


def _unpaired(value):
    if isinstance(value, dict):
        return dict(map(tuple, value["pairs"]))
    return [_unpaired(entry) for entry in value] if isinstance(value, list) else value


def estimator_of(model: Model, path):
    """The estimator that a model was trained by, fitted.

    Parameters
    ----------
    model : Model
    path : str or path
        For messages.
    """
    try:
        known = _known(model.estimator)
    except ModelFileError as error:
        raise ModelFileError(f"{path} is {error}") from error
    try:
        plan = Plan.from_dict(model.plan)
        given = {name: _read(name, v) for name, v in model.parameters.items()}
        if model.before is not None and model.before.model is not None:
            given["init"] = estimator_of(model.before.model, path)
        estimator = known(**given)
        estimator.check_parameters()
        estimator._become(model, plan)
    except WRONG as error:
        raise ModelFileError(f"{path} is not a model that can be used here: {error}") from error
    return estimator


def mixture_of(mixture: Mixture, path):
    """The ensemble of ensembles that a mixture was trained by, fitted.

    Parameters
    ----------
    mixture : Mixture
    path : str or path
        For messages.
    """
    from .exponential_weighting import ExponentialWeighting

    if mixture.estimator != ExponentialWeighting.__name__:
        raise ModelFileError(f"{path} is a model of {mixture.estimator!r}, which is not known here")
    try:
        found = ExponentialWeighting(**{name: _read(name, v) for name, v in mixture.parameters.items()})
        found.take([estimator_of(model, path) for model in mixture.models], mixture)
    except WRONG as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"{path} is not an ensemble that can be used here: {error}") from error
    return found


def load_model(path):
    """Read a model that ``save`` has written.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    The estimator that was saved
        With the same scores, bit for bit.

    Raises
    ------
    ModelFileError
        Where the file is not a whole model of a schema that this version knows.
    """
    found = load_any(path)
    return mixture_of(found, path) if isinstance(found, Mixture) else estimator_of(found, path)
