"""Optional packages: imported where they are needed, and one clear sentence where they are missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def need(module: str, extra: str) -> Any:
    """Import an optional package.

    Parameters
    ----------
    module : str
    extra : str
        The extra of multiboost that installs it.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise
        raise ModuleNotFoundError(
            f'this needs the package {error.name}: pip install "multiboost[{extra}]"', name=error.name
        ) from error
