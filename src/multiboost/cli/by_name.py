"""Options of the form NAME=NUMBER: weights of classes and costs of columns."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from ..data.categories import text_of
from ..data.kind import TargetKind
from ..model.model import Model
from .examples import known, listed
from .failure import BadInput

_BALANCED = ["balanced"]


def numbers_by_name(option: str, given: Sequence[str]) -> dict[str, float]:
    """The numbers of NAME=NUMBER, each at least 0.

    Parameters
    ----------
    option : str
        For messages.
    given : sequence of str
    """
    found: dict[str, float] = {}
    for text in given:
        name, _, number = text.rpartition("=")
        value = _number(number)
        if not name or value is None:
            raise BadInput(f"{option} {text!r} is not NAME=NUMBER with a number of at least 0")
        if name in found:
            raise BadInput(f"{option} {name!r} is given twice")
        found[name] = value
    return found


def class_weight_of(given: list[str] | None, kind: TargetKind) -> str | dict[Any, float] | None:
    """``class_weight`` as estimators take it.

    Parameters
    ----------
    given : list of str or None
        "balanced", or CLASS=NUMBER.
    kind : TargetKind
        It knows the classes.
    """
    if not given:
        return None
    if given == _BALANCED:
        return given[0]
    weights = numbers_by_name("--class-weight", given)
    if not kind.is_single:
        raise BadInput("--class-weight CLASS=NUMBER is for one column of classes; several take --class-weight balanced")
    classes = {text_of(c): c for c in kind.classes[0].tolist()}
    for name in weights:
        if name not in classes:
            raise BadInput(f"--class-weight {name!r}: there is no such class; there are {listed(list(classes))}")
    return {classes[name]: weight for name, weight in weights.items()}


def class_weight_of_files(given: list[str] | None) -> str | None:
    """The same where the classes are known only when all files were read.

    Parameters
    ----------
    given : list of str or None
    """
    if given and given != _BALANCED:
        raise BadInput("--class-weight: of data in files there is --class-weight balanced only")
    return given[0] if given else None


def costs_of(given: list[str], model: Model, names: Sequence[str], file: str) -> dict[Any, float] | np.ndarray:
    """``costs`` as `MDDAGClassifier` takes them: of columns, or of base classifiers.

    Parameters
    ----------
    given : list of str
        COLUMN=NUMBER, or a file with a number in each line.
    model : Model
        Whose columns they are.
    names : sequence of str
        Of its columns in a file.
    file : str
        Its name, for messages.
    """
    if len(given) == 1 and "=" not in given[0]:
        return _of_base_classifiers(Path(given[0]), model.n_rounds)
    costs = numbers_by_name("--costs", given)
    known(names, list(costs), file, "--costs")
    if model.columns.names is not None:
        return dict(costs)
    at = {name: j for j, name in enumerate(names)}
    return {at[name]: cost for name, cost in costs.items()}


def _of_base_classifiers(path: Path, n: int) -> np.ndarray:
    words = path.read_text(encoding="utf-8", errors="replace").split()
    if len(words) != n:
        raise BadInput(f"--costs {path} has {len(words)} numbers, and the model has {n} base classifiers")
    costs = [_number(word) for word in words]
    if None in costs:
        k = costs.index(None)
        raise BadInput(f"--costs {path}: {words[k]!r} of base classifier {k + 1} is not a number of at least 0")
    return np.array(costs, np.float64)


def _number(text: str) -> float | None:
    """A finite number of at least 0, if it is one."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value < inf else None
