"""A model of lines as coefficients."""

from __future__ import annotations

import numpy as np

from .model import Model


def is_linear(model: Model) -> bool:
    """Whether every round is a line of one column of the table."""
    e = model.ensemble
    return (
        e.is_curved
        and model.before is None
        and len(e.root) == e.n_rounds
        and bool((e.degree == 1).all() and (e.along >= 0).all() and (e.along < model.columns.n).all())
        and len(e.values) == 2 * e.n_rounds
    )


def coefficient_path(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients (rounds, K, columns) and intercepts (rounds, K) after every round, of a linear model.

    Of scores, or, where these are predictions but for center and scale, of predictions.

    Parameters
    ----------
    model : Model
    """
    e, kind = model.ensemble, model.kind
    slope, origin = e.values[1::2], e.origin[::2, None]
    path = np.zeros((e.n_rounds, e.n_labels, model.columns.n))
    path[np.arange(e.n_rounds), :, e.along] = slope
    np.cumsum(path, axis=0, out=path)
    intercept = e.initial + np.cumsum(e.values[::2] - slope * origin, axis=0)
    if kind.of_numbers:
        intercept = intercept + kind.offset
        if not kind.is_log:
            center, scale = (np.repeat(one, kind.n_columns) for one in (kind.center, kind.scale))
            path, intercept = path * scale[:, None], center + scale * intercept
    return path, intercept
