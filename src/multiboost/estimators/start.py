"""``init``: where boosting starts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.kind import TargetKind
from ..data.table import Table
from ..kernels.team import Team
from ..model.before import Before
from ..model.model import Model

CONSTANT = "constant"


def check_init(init: Any) -> None:
    """Refuse what boosting cannot start from.

    Parameters
    ----------
    init : None, "constant", numbers or fitted estimator

    Raises
    ------
    ValueError
    """
    if init is None or (isinstance(init, str) and init == CONSTANT) or _is_fitted(init):
        return
    if not isinstance(init, str) and not hasattr(init, "predict"):
        try:
            numbers = np.asarray(init, np.float64)
        except (TypeError, ValueError):
            numbers = np.empty((0, 0))
        if numbers.ndim <= 1 and numbers.size and np.isfinite(numbers).all():
            return
    raise ValueError(
        f"init must be None, 'constant', a finite score for each label (or a prediction for each target), or a fitted "
        f"estimator; got {init!r}. Scores of each row are an argument of fit, init_scores"
    )


def _is_fitted(init: Any) -> bool:
    """Whether it is an object that predicts; of ours, that it has learned to."""
    if isinstance(init, type) or not hasattr(init, "predict"):
        return False
    fitted = getattr(init, "__sklearn_is_fitted__", None)
    return fitted is None or bool(fitted())


def plan_init(init: Any) -> str | tuple[float, ...] | None:
    """What a plan has of it: constants."""
    if init is None or isinstance(init, str) or hasattr(init, "predict"):
        return init if isinstance(init, str) else None
    return tuple(float(score) for score in np.ravel(init))


def before_of(init: Any) -> Before | None:
    """The model before, None where there is none."""
    if not hasattr(init, "predict"):
        return None
    model = getattr(init, "model_", None)
    return Before(model) if isinstance(model, Model) else Before(estimator=init)


def written(init: Any) -> Any:
    """``init`` as JSON can hold it."""
    before = before_of(init)
    if before is None:
        return init if init is None or isinstance(init, str) else [float(v) for v in np.ravel(init)]
    return {"estimator": type(init).__name__, "digest": before.model.digest() if before.model is not None else None}


def given_scores(init_scores: Any, kind: TargetKind, n_rows: int) -> np.ndarray:
    """Scores of each row as the user gives them, (n, K), as what the model adds to.

    Parameters
    ----------
    init_scores : array of shape (n,) or (n, K)
    kind : TargetKind
    n_rows : int
    """
    found = np.asarray(init_scores, np.float64)
    if found.ndim not in (1, 2) or len(found) != n_rows:
        raise ValueError(f"init_scores must have a row for each of the {n_rows} samples; got shape {found.shape}")
    if not np.isfinite(found).all():
        raise ValueError("init_scores must be finite")
    return kind.scores_of(found) - kind.no_answer()


def start_of(before: Before | None, init_scores: Any, kind: TargetKind, table: Table, team: Team) -> np.ndarray | None:
    """Scores before the first round, where each row has its own."""
    if init_scores is not None:
        return given_scores(init_scores, kind, table.n_rows)
    return None if before is None else before.scores(table, team, kind)
