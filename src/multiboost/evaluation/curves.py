"""Curves behind the pictures: ROC, precision and recall, reliability, cumulative margins; each a few hundred points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .intervals import effective_rows, wilson

N_POINTS = 201
N_BINS = 10
ENOUGH = 20  # rows of a bin of reliability, if there are so many
_THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


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
class PrecisionRecall:
    """Precision against recall of one label.

    Attributes
    ----------
    recall, precision : list of float
        From the highest threshold to the lowest: recall rises.
    threshold : list of float
        Rows with at least this probability are called positive.
    """

    recall: list[float]
    precision: list[float]
    threshold: list[float]


@dataclass
class Threshold:
    """What comes of calling a row positive from a probability on.

    Attributes
    ----------
    threshold : float
    called : float
        Share of the rows that are called positive.
    precision : float or None
        Share of those that are; None where none is called.
    recall : float or None
        Share of the positives that are called; None where there are none.
    f1 : float or None
        Their harmonic mean.
    false_alarms : float or None
        Share of the negatives that are called.
    error : float
        Share of the rows that are wrong.
    """

    threshold: float
    called: float
    precision: float | None
    recall: float | None
    f1: float | None
    false_alarms: float | None
    error: float


@dataclass
class Reliability:
    """Predicted probability against frequency, bin by bin.

    Bins have the same width, but neighbours are put together until each has enough rows to say something.

    Attributes
    ----------
    predicted : list of float
        Mean prediction in a bin.
    frequency : list of float
        Share of positives in it.
    frequency_low, frequency_high : list of float
        Wilson's interval of 95 % of that share.
    weight : list of float
        Weight of its rows.
    low, high : list of float
        Its borders.
    error : float
        Mean of |predicted - frequency| over the rows (expected calibration error).
    """

    predicted: list[float]
    frequency: list[float]
    frequency_low: list[float]
    frequency_high: list[float]
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
    """Area under a ROC curve: the probability that a positive row is ranked above a negative one.

    Of signed weights it is the sum over such pairs of the products of their weights, over that of all pairs.
    """
    return float(np.trapezoid(tpr, fpr))


def roc(fpr: np.ndarray, tpr: np.ndarray, threshold: np.ndarray, n_points: int = N_POINTS) -> Roc:
    """A ROC curve of at most ``n_points`` points."""
    keep = thin(fpr, tpr, n_points)
    return Roc(
        fpr[keep].tolist(),
        tpr[keep].tolist(),
        [float(t) if np.isfinite(t) else None for t in threshold[keep]],
    )


def precision_recall(positive: np.ndarray, p: np.ndarray, weight: np.ndarray):
    """The whole curve: recall, precision and thresholds, from the highest threshold to the lowest.

    Rows of equal p come in together.  None without positives.
    """
    order = np.argsort(-p, kind="stable")
    p, w, positive = p[order], weight[order], positive[order]
    last = np.flatnonzero(np.diff(p, append=-np.inf))
    found, called = np.cumsum(w * positive)[last], np.cumsum(w)[last]
    if not (len(last) and found[-1] > 0):
        return None
    return found / found[-1], found / called, p[last]


def average_precision(recall: np.ndarray, precision: np.ndarray) -> float:
    """The mean precision over the positives, each at the threshold that finds it."""
    return float((np.diff(recall, prepend=0.0) * precision).sum())


def thinned_precision_recall(recall, precision, threshold, n_points: int = N_POINTS) -> PrecisionRecall:
    """A curve of at most ``n_points`` points."""
    keep = thin(recall, precision, n_points)
    return PrecisionRecall(recall[keep].tolist(), precision[keep].tolist(), threshold[keep].tolist())


def threshold_table(positive: np.ndarray, p: np.ndarray, weight: np.ndarray) -> list[Threshold]:
    """What comes of some thresholds, and of the one with the highest F1; rising."""
    total, positives = float(weight.sum()), float(weight[positive].sum())
    curve = precision_recall(positive, p, weight)
    if not total > 0 or curve is None:
        return []
    recall, precision, threshold = curve
    f1 = 2 * recall * precision / np.maximum(recall + precision, np.finfo(np.float64).tiny)
    rows = []
    for t in sorted({*_THRESHOLDS, float(threshold[f1.argmax()])}):
        called = p >= t
        found, all_called = float(weight[called & positive].sum()), float(weight[called].sum())
        wrong = all_called - found
        rows.append(
            Threshold(
                threshold=t,
                called=all_called / total,
                precision=found / all_called if all_called > 0 else None,
                recall=found / positives,
                f1=2 * found / (all_called + positives),
                false_alarms=wrong / (total - positives) if total > positives else None,
                error=(wrong + positives - found) / total,
            )
        )
    return rows


def reliability(
    positive: np.ndarray, p: np.ndarray, weight: np.ndarray, n_bins: int = N_BINS, enough: int = ENOUGH
) -> Reliability | None:
    """Predictions in ``n_bins`` bins of the same width, put together until each has ``enough`` rows."""
    if not weight.sum() > 0:
        return None
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    number = np.clip(np.searchsorted(edges, p, side="left") - 1, 0, n_bins - 1)  # (a, b], the first with 0
    first = _put_together(np.bincount(number[weight > 0], minlength=n_bins), enough)
    number = np.searchsorted(first, number, side="right") - 1
    rows = [np.flatnonzero(number == k) for k in range(len(first))]
    mass = np.array([weight[r].sum() for r in rows])
    predicted = np.array([(weight[r] * p[r]).sum() for r in rows]) / mass
    frequency = np.array([(weight[r] * positive[r]).sum() for r in rows]) / mass
    known = [wilson(float(f), effective_rows(weight[r])) for f, r in zip(frequency, rows, strict=True)]
    return Reliability(
        predicted=predicted.tolist(),
        frequency=frequency.tolist(),
        frequency_low=[i.low for i in known if i],
        frequency_high=[i.high for i in known if i],
        weight=mass.tolist(),
        low=edges[first].tolist(),
        high=edges[np.append(first[1:], n_bins)].tolist(),
        error=float((np.abs(predicted - frequency) * mass).sum() / mass.sum()),
    )


def _put_together(count: np.ndarray, enough: int) -> np.ndarray:
    """The first bin of each group of neighbours with enough rows, from the left; what is left over joins the last."""
    first, so_far = [0], 0
    for k, n in enumerate(count):
        so_far += n
        if so_far >= enough and count[k + 1 :].sum() >= enough:
            first.append(k + 1)
            so_far = 0
    return np.array(first)


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
