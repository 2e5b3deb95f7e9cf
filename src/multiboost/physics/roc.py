"""Signal efficiency against background rejection, with event weights that may be negative."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .significance import as_signal


@dataclass(frozen=True)
class Roc:
    """A curve with a point for every threshold: events with a score above it are selected.

    Attributes
    ----------
    threshold : ndarray (m,)
        From infinity, which selects nothing, to minus infinity, which selects all; between neighbouring scores.
    s, b : ndarray (m,)
        Sums of the weights that are selected.
    """

    threshold: np.ndarray
    s: np.ndarray
    b: np.ndarray

    @property
    def efficiency(self) -> np.ndarray:
        """The share of the signal that is selected."""
        return self.s / self.s[-1]

    @property
    def rejection(self) -> np.ndarray:
        """The share of the background that is not."""
        return 1.0 - self.b / self.b[-1]

    @property
    def auc(self) -> float:
        """The area under efficiency as a function of the background that is selected, by trapezoids.

        It is the weighted share of the pairs of a signal and a background event that are in the right order, a tie
        counting half: sum over pairs of w_s w_b (1 or 1/2 or 0) / (sum of w_s sum of w_b).  With signed weights this is
        the definition, and the curve need not be monotone.
        """
        b, s = self.b / self.b[-1], self.efficiency
        return float((np.diff(b) * (s[1:] + s[:-1]) / 2).sum())


def roc(scores, y, weight=None) -> Roc:
    """The curve of a sample.

    Parameters
    ----------
    scores : array (n,)
    y : array (n,)
        1 for signal.
    weight : array (n,) or None
        Some may be negative; the sums of signal and background must be above 0.
    """
    scores, signal, weight = checked(scores, y, weight)
    order = np.argsort(-scores, kind="stable")
    ordered, w, is_signal = scores[order], weight[order], signal[order]
    last = np.flatnonzero(np.append(ordered[1:] < ordered[:-1], True))  # of events with the same score
    s = np.concatenate([[0.0], np.cumsum(np.where(is_signal, w, 0.0))[last]])
    b = np.concatenate([[0.0], np.cumsum(np.where(is_signal, 0.0, w))[last]])
    return Roc(between(ordered[last]), s, b)


def between(distinct: np.ndarray) -> np.ndarray:
    """Thresholds between neighbours of falling values, and beyond both ends, (m + 1,)."""
    middle = distinct[1:] + (distinct[:-1] - distinct[1:]) / 2
    # Between neighbours without a number between them the lower one is the threshold: above it is above it.
    middle = np.where(middle < distinct[:-1], middle, distinct[1:])
    return np.concatenate([[np.inf], middle, [-np.inf]])


def checked(scores, y, weight) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores, what is signal, and weights, if they can be used."""
    signal = as_signal(y)
    scores = np.asarray(scores, np.float64)
    weight = np.ones(len(signal)) if weight is None else np.asarray(weight, np.float64)
    for values, name in ((scores, "scores"), (weight, "weight")):
        wanted = f"{name} must have a finite number for each of the {len(signal)} events"
        if values.shape != signal.shape:
            raise ValueError(f"{wanted}; got the shape {values.shape}")
        if not np.isfinite(values).all():
            i = int(np.argmin(np.isfinite(values)))
            raise ValueError(f"{wanted}; got {values[i]} for event {i}")
    for part, name in ((signal, "signal"), (~signal, "background")):
        if not weight[part].sum() > 0:
            raise ValueError(f"the weights of the {name} must add up to more than 0")
    return scores, signal, weight
