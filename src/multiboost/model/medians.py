"""Weighted medians and quantiles of what rounds say, where a model is no sum."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..data.table import Table
from ..kernels.team import Team

if TYPE_CHECKING:
    from .ensemble import Ensemble

_ROWS_AT_ONCE = 1 << 13  # of which all rounds are kept


def weighted_quantiles(values: np.ndarray, weights: np.ndarray, levels) -> np.ndarray:
    """Quantiles of each row of values, (n, levels) (Kegl 2003, weighted quantiles).

    The smallest value with more than ``level`` of the weight at or below it; of levels below 1/2 that much or more.  So
    the median is the upper one, and the quantiles of (1 - gamma) / 2 and (1 + gamma) / 2 lie around it.

    Parameters
    ----------
    values : ndarray (n, T)
    weights : ndarray (T,)
        Above 0.
    levels : sequence of float
        In (0, 1).
    """
    order = np.argsort(values, axis=1, kind="stable")
    below = np.cumsum(weights[order], axis=1)
    found = np.empty((len(values), len(levels)))
    for k, level in enumerate(levels):
        part = level * below[:, -1:]
        short = (below <= part) if level >= 0.5 else (below < part)
        at = np.minimum(short.sum(axis=1), values.shape[1] - 1)
        found[:, k] = np.take_along_axis(values, order[np.arange(len(values)), at][:, None], axis=1)[:, 0]
    return found


def quantiles_of(ensemble: Ensemble, table: Table, team: Team, levels, n_rounds: int | None = None) -> np.ndarray:
    """Quantiles of what the rounds say of every row, by their sizes, (n, levels)."""
    end = ensemble.n_rounds if n_rounds is None else n_rounds
    parts = [np.zeros((0, len(levels)))]
    for first in range(0, table.n_rows, _ROWS_AT_ONCE):
        last = min(first + _ROWS_AT_ONCE, table.n_rows)
        said = np.stack(list(_said(ensemble, ensemble.rows(table, first, last), team, end)), axis=1)
        parts.append(weighted_quantiles(said, ensemble.size[:end], levels))
    return np.concatenate(parts)


def staged_medians(ensemble: Ensemble, table: Table, team: Team) -> Iterator[np.ndarray]:
    """The median of the first rounds after each of them, (n, 1)."""
    said = np.empty((table.n_rows, ensemble.n_rounds))
    for t, one in enumerate(_said(ensemble, ensemble.rows(table, 0, table.n_rows), team, ensemble.n_rounds)):
        said[:, t] = one
        yield weighted_quantiles(said[:, : t + 1], ensemble.size[: t + 1], [0.5])


def _said(ensemble: Ensemble, rows: np.ndarray, team: Team, end: int) -> Iterator[np.ndarray]:
    """What each round says of dense rows, (n,)."""
    for t in range(end):
        votes = np.zeros((len(rows), 1))
        ensemble.add_scores(rows, votes, t, t + 1, team)
        yield votes[:, 0]
