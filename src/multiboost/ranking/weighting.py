"""Exponential weights: many scorers, each counted by how well it does on a validation set."""

from __future__ import annotations

import numpy as np


def exponential_weights(omega, c: float) -> np.ndarray:
    """Weights exp(c omega), divided by their sum (Kegl 2011, (3.54)).

    Parameters
    ----------
    omega : array of shape (n_scorers,)
        What each scorer reaches on a validation set; more is better.
    c : float
        0 is the plain mean, and the larger it is, the more the best scorers count.

    Returns
    -------
    ndarray of shape (n_scorers,)

    Examples
    --------
    >>> from multiboost.ranking import exponential_weights
    >>> exponential_weights([0.50, 0.49, 0.30], c=100).round(3)
    array([0.731, 0.269, 0.   ])
    """
    omega = np.asarray(omega, dtype=np.float64)
    if omega.ndim != 1 or omega.size == 0 or not np.isfinite(omega).all():
        raise ValueError(f"omega must be a list of finite numbers, one for each scorer; got shape {omega.shape}")
    if not (np.isfinite(c) and c >= 0):
        raise ValueError(f"c must be a finite number of at least 0; got {c!r}")
    weights = np.exp(c * (omega - omega.max()))  # the largest is 1: nothing overflows
    return weights / weights.sum()
