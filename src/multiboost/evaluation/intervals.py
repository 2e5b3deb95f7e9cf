"""How far a number of some rows may be from that of all rows like them: intervals of 95 %.

A share of rows has Wilson's interval (Wilson 1927), anything else the percentile bootstrap over rows (Efron 1979).  Its
draws are always the same ones, so the same rows give the same interval.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

LEVEL = 0.95
_NORMAL = 1.959963984540054  # its quantile at (1 + LEVEL) / 2
_DRAWS = 1000
_BLOCKS = 1000  # more rows than that are drawn in so many blocks
_SEED = 0


@dataclass
class Interval:
    """Where a number lies with a probability of 95 %, as far as these rows can tell.

    Attributes
    ----------
    low, high : float
    method : {"Wilson", "bootstrap"}
    """

    low: float
    high: float
    method: str


def effective_rows(weight: np.ndarray) -> float:
    """How many rows of the same weight say as much as these: (sum of w)^2 / sum of w^2 (Kish 1965)."""
    square = float((weight**2).sum())
    return float(weight.sum()) ** 2 / square if square > 0 else 0.0


def wilson(share: float | None, n: float) -> Interval | None:
    """Wilson's interval of a share of n rows; None of nothing."""
    if share is None or not n > 0:
        return None
    z2 = _NORMAL**2 / n
    middle = (share + z2 / 2) / (1 + z2)
    half = _NORMAL * np.sqrt(share * (1 - share) / n + z2 / (4 * n)) / (1 + z2)
    return Interval(max(0.0, float(middle - half)), min(1.0, float(middle + half)), "Wilson")


def bootstrap(sums: np.ndarray, statistic: Callable[[np.ndarray], np.ndarray]) -> Interval | None:
    """The percentile bootstrap of a function of sums over rows.

    More than 1000 rows are put into 1000 blocks by chance, and blocks are drawn: the variance of a sum stays the same.

    Parameters
    ----------
    sums : ndarray (n, m)
        What each row adds.
    statistic : callable
        (draws, m) sums -> (draws,) values; NaN where a draw has none.

    Returns
    -------
    Interval or None
        None of fewer than two rows.
    """
    n = len(sums)
    if n < 2:
        return None
    rng = np.random.default_rng(_SEED)
    if n > _BLOCKS:
        starts = np.linspace(0, n, _BLOCKS, endpoint=False).astype(np.intp)
        sums = np.add.reduceat(sums[rng.permutation(n)], starts, axis=0)
        n = _BLOCKS
    drawn = np.empty((_DRAWS, sums.shape[1]))
    for k in range(_DRAWS):
        times = np.bincount(rng.integers(0, n, n), minlength=n)
        drawn[k] = (times[:, None] * sums).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        values = statistic(drawn)
    values = values[np.isfinite(values)]
    if not values.size:
        return None
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(low), float(high), "bootstrap")


def mean_ratio(drawn: np.ndarray) -> np.ndarray:
    """The mean over q of S_q / T_q, for sums (draws, 2 q) of first all S and then all T; what has no T is left out."""
    above, below = np.split(drawn, 2, axis=1)
    known = below > 0
    ratio = np.divide(above, below, out=np.zeros_like(above), where=known)
    return ratio.sum(axis=1) / known.sum(axis=1)
