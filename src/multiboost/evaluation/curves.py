"""Curves behind the pictures: ROC, reliability, cumulative margins; each a few hundred points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

N_POINTS = 201
N_BINS = 10


@dataclass
class Roc:
    """True against false positive rate of one label.

    Attributes
    ----------
    fpr, tpr : list of float
        From (0, 0) to (1, 1).
    threshold : list of (float or None)
        Rows with at least this probability are called positive; None for the first point.
    """

    fpr: list[float]
    tpr: list[float]
    threshold: list[float | None]


@dataclass
class Reliability:
    """Predicted probability against frequency, bin by bin; empty bins are left out.

    Attributes
    ----------
    predicted : list of float
        Mean prediction in a bin.
    frequency : list of float
        Share of positives in it.
    weight : list of float
        Weight of its rows.
    low, high : list of float
        Its borders.
    error : float
        Mean of |predicted - frequency| over the rows (expected calibration error).
    """

    predicted: list[float]
    frequency: list[float]
    weight: list[float]
    low: list[float]
    high: list[float]
    error: float


@dataclass
class Margins:
    """Cumulative distribution of normalised margins: share of the weight at or below theta.

    Attributes
    ----------
    theta, share : list of float
        Points of the distribution, in rising order.
    least, median, mean : float
    negative : float
        Share of the weight below 0.
    """

    theta: list[float]
    share: list[float]
    least: float
    median: float
    mean: float
    negative: float


def thin(x: np.ndarray, y: np.ndarray, n_points: int = N_POINTS) -> np.ndarray:
    """Which points of a polyline to keep: both ends, and between them evenly along its way.

    Parameters
    ----------
    x, y : ndarray (m,)
    n_points : int

    Returns
    -------
    ndarray of intp
        Rising.
    """
    if len(x) <= n_points:
        return np.arange(len(x))
    with np.errstate(invalid="ignore"):
        span = [max(np.ptp(v), np.finfo(np.float64).tiny) for v in (x, y)]
    way = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(x)) / span[0] + np.abs(np.diff(y)) / span[1])])
    picked = np.searchsorted(way, np.linspace(0.0, way[-1], n_points))
    picked = np.minimum(picked, len(x) - 1)
    picked[0], picked[-1] = 0, len(x) - 1
    return np.unique(picked)


def positive_rates(positive: np.ndarray, p: np.ndarray, weight: np.ndarray):
    """The whole ROC curve: false and true positive rates and thresholds, or None.

    Rows of equal p come in together; points on a straight line between their neighbours
    are left out.  None where one of the two classes has no weight.
    """
    order = np.argsort(-p, kind="stable")
    p, w, positive = p[order], weight[order], positive[order]
    last = np.flatnonzero(np.diff(p, append=-np.inf))
    tp, fp = np.cumsum(w * positive)[last], np.cumsum(w * ~positive)[last]
    if not (len(last) and tp[-1] > 0 and fp[-1] > 0):
        return None
    tp, fp = np.concatenate([[0.0], tp]), np.concatenate([[0.0], fp])
    threshold = np.concatenate([[np.inf], p[last]])
    bends = np.ones(len(tp), bool)
    bends[1:-1] = (np.diff(tp, 2) != 0) | (np.diff(fp, 2) != 0)
    return fp[bends] / fp[-1], tp[bends] / tp[-1], threshold[bends]


def area(fpr: np.ndarray, tpr: np.ndarray) -> float:
    """Area under a ROC curve: the probability that a positive row is ranked above a negative one."""
    return float(np.trapezoid(tpr, fpr))


def roc(fpr: np.ndarray, tpr: np.ndarray, threshold: np.ndarray, n_points: int = N_POINTS) -> Roc:
    """A ROC curve of at most ``n_points`` points."""
    keep = thin(fpr, tpr, n_points)
    return Roc(
        fpr[keep].tolist(),
        tpr[keep].tolist(),
        [float(t) if np.isfinite(t) else None for t in threshold[keep]],
    )


def reliability(positive: np.ndarray, p: np.ndarray, weight: np.ndarray, n_bins: int = N_BINS) -> Reliability | None:
    """Predictions in ``n_bins`` bins of the same width; None of nothing."""
    if not weight.sum() > 0:
        return None
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    number = np.clip(np.searchsorted(edges, p, side="left") - 1, 0, n_bins - 1)  # (a, b], the first with 0
    mass = np.bincount(number, weights=weight, minlength=n_bins)
    used = np.flatnonzero(mass > 0)
    mass = mass[used]
    predicted = np.bincount(number, weights=weight * p, minlength=n_bins)[used] / mass
    frequency = np.bincount(number, weights=weight * positive, minlength=n_bins)[used] / mass
    return Reliability(
        predicted.tolist(), frequency.tolist(), mass.tolist(), edges[used].tolist(), edges[used + 1].tolist(),
        float(np.abs(predicted - frequency) @ mass / mass.sum()),
    )  # fmt: skip


def margins(values: np.ndarray, weight: np.ndarray, n_points: int = N_POINTS) -> Margins | None:
    """The distribution of margins; None of nothing."""
    total = weight.sum()
    if not total > 0:
        return None
    order = np.argsort(values, kind="stable")
    theta, below = values[order], np.cumsum(weight[order]) / total
    below[-1] = 1.0
    last = np.flatnonzero(np.diff(theta, append=np.inf))
    keep = last[thin(theta[last], below[last], n_points)]
    return Margins(
        theta[keep].tolist(), below[keep].tolist(), float(theta[0]),
        float(theta[np.searchsorted(below, 0.5 - 1e-12)]), float(values @ weight / total),
        float(weight[values < 0].sum() / total),
    )  # fmt: skip
