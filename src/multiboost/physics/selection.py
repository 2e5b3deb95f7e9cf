"""The threshold of a selection by its significance, and how sure one can be of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..extras import need
from .roc import Roc, checked, roc
from .significance import Significance


@dataclass(frozen=True)
class Selection:
    """A chosen threshold.

    Attributes
    ----------
    threshold : float
        Events with a score above it are selected.
    significance, s, b : float
        There.
    low, high : float
        Of the significance at this threshold, over resamplings.
    thresholds : tuple of float
        The same quantiles of the best threshold, chosen anew in each resampling.
    plateau : tuple of float
        The lowest and the highest threshold whose significance is at least that of ``low``.
    curve : Roc
    values : ndarray
        The significance at every threshold of the curve.
    """

    threshold: float
    significance: float
    s: float
    b: float
    low: float
    high: float
    thresholds: tuple[float, float]
    plateau: tuple[float, float]
    curve: Roc = field(repr=False)
    values: np.ndarray = field(repr=False)

    def plot(self, ax: Any = None) -> Any:
        """The significance by threshold, with its plateau.

        Parameters
        ----------
        ax : matplotlib axes or None
        """
        if ax is None:
            ax = need("matplotlib.pyplot", "plot").subplots()[1]
        inside = np.isfinite(self.curve.threshold)
        ax.plot(self.curve.threshold[inside], self.values[inside])
        ax.axvspan(*np.clip(self.plateau, *self.curve.threshold[inside][[-1, 0]]), alpha=0.2)
        below, above = self.significance - self.low, max(self.high - self.significance, 0.0)
        ax.errorbar([self.threshold], [self.significance], yerr=[[below], [above]], fmt="o")
        ax.set(xlabel="threshold", ylabel="significance")
        return ax


class ThresholdChoice:
    """The threshold of the largest significance, over all distinct scores.

    The scores must be those of events that the model was not trained on.  The band says what the significance at the
    chosen threshold would be for other events of the same kind; it does not undo that the best of many thresholds
    was chosen, see ``thresholds`` for how firm the choice is.

    Parameters
    ----------
    criterion : str or Significance, default="ams2"
    n_resamples : int, default=200
        Bootstrap samples: events are drawn with replacement, signal and background each by itself, and their
        weights are normalised to the same sums.
    level : float, default=0.68
        Of the band.
    random_state : int, default=0

    Examples
    --------
    >>> import numpy as np
    >>> from multiboost.physics import ThresholdChoice
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(2000) < 0.5
    >>> scores = rng.normal(size=2000) + 2 * y
    >>> weight = np.where(y, 0.05, 1.0)
    >>> found = ThresholdChoice("s/sqrt(b)", n_resamples=50).choose(scores, y, weight)
    >>> bool(found.low <= found.significance and found.plateau[0] <= found.threshold <= found.plateau[1])
    True
    """

    def __init__(self, criterion="ams2", *, n_resamples: int = 200, level: float = 0.68, random_state: int = 0):
        self.criterion = criterion if isinstance(criterion, Significance) else Significance(criterion)
        if n_resamples < 1 or not 0 < level < 1:
            raise ValueError("n_resamples must be at least 1, and level between 0 and 1")
        self.n_resamples, self.level, self.random_state = n_resamples, level, random_state

    def choose(self, scores, y, weight=None) -> Selection:
        """Choose the threshold for a sample.

        Parameters
        ----------
        scores : array (n,)
        y : array (n,)
            1 for signal.
        weight : array (n,) or None
            Normalised to the expected luminosity, see `luminosity_weights`.
        """
        scores, signal, weight = checked(scores, y, weight)
        curve = roc(scores, signal, weight)
        values = np.asarray(self.criterion(curve.s, curve.b))
        if np.isnan(values).all():
            raise ValueError("no threshold selects background of a weight above 0; the significance has no value")
        best = int(np.nanargmax(values))
        at_best, thresholds = self._resampled(scores, signal, weight, curve, best)
        tail = 100 * (1 - self.level) / 2
        low, high = np.nanpercentile(at_best, [tail, 100 - tail])
        low = min(low, values[best])
        good = np.flatnonzero(np.nan_to_num(values, nan=-np.inf) >= low)
        return Selection(
            threshold=float(curve.threshold[best]),
            significance=float(values[best]),
            s=float(curve.s[best]),
            b=float(curve.b[best]),
            low=float(low),
            high=float(high),
            thresholds=tuple(np.percentile(thresholds, [tail, 100 - tail], method="nearest").tolist()),
            plateau=(float(curve.threshold[good[-1]]), float(curve.threshold[good[0]])),
            curve=curve,
            values=values,
        )

    def _resampled(self, scores, signal, weight, curve: Roc, best: int) -> tuple[np.ndarray, np.ndarray]:
        """The significance at the threshold, and the best threshold, of every bootstrap sample."""
        rng = np.random.default_rng(self.random_state)
        # The point of the curve from which on an event is selected.
        place = np.searchsorted(-curve.threshold, -scores, side="right")
        at_best, thresholds = np.empty(self.n_resamples), np.empty(self.n_resamples)
        parts = [np.flatnonzero(signal), np.flatnonzero(~signal)]
        for r in range(self.n_resamples):
            sums = []
            for rows in parts:
                times = rng.multinomial(len(rows), np.full(len(rows), 1 / len(rows)))
                drawn = weight[rows] * times
                total = drawn.sum()
                drawn *= weight[rows].sum() / total if total > 0 else 0.0
                sums.append(np.cumsum(np.bincount(place[rows], drawn, len(curve.threshold))))
            values = np.asarray(self.criterion(*sums))
            at_best[r] = values[best]
            thresholds[r] = curve.threshold[best if np.isnan(values).all() else int(np.nanargmax(values))]
        return at_best, thresholds
