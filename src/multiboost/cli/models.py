"""Models from files, for the commands that look into them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..estimators.saving import load_model
from .failure import BadInput


def one_model(path: Path, command: str) -> Any:
    """The estimator of a file that holds one model.

    Parameters
    ----------
    path : path
    command : str
        Who asks, for the message.
    """
    found = load_model(path)
    if members_of(found) != [found]:
        raise BadInput(
            f"{path} is an ensemble of several models, and {command} takes one model; evaluate takes ensembles, and in "
            "Python load_model(...).estimators_ has the models"
        )
    return found


def members_of(estimator: Any) -> list:
    """The models of an ensemble of several models, else the only one."""
    return list(estimator.estimators_) if hasattr(estimator, "mixture_") else [estimator]
