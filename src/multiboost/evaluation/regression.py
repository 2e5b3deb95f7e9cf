"""Everything that can be said about a regressor on rows with known numbers, as plain dataclasses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from .intervals import Interval, bootstrap
from .measures import Comparison, Measures, share
from .outcome import mean, mean_of_known
from .residuals import Residuals

N_DOTS = 400  # of a picture of predictions
N_BARS = 30  # of a histogram of residuals
_TAIL = 0.005  # share of the rows at each end that lie outside of a histogram


@dataclass
class QuantileEvaluation:
    """One quantile of a target.

    Attributes
    ----------
    level : float
    pinball : float or None
        Its loss, in units of the target.
    coverage : float or None
        Share of the rows at or below; the nearer to ``level`` the better.
    """

    level: float
    pinball: float | None
    coverage: float | None


@dataclass
class Dots:
    """Some rows for a picture, evenly spread along their predictions, from the lowest to the highest.

    Attributes
    ----------
    row : list of int
    predicted, true : list of float
    """

    row: list[int]
    predicted: list[float]
    true: list[float]


@dataclass
class Histogram:
    """How residuals, true minus predicted, are spread.

    Attributes
    ----------
    edges : list of float
        Of the bars.
    weight : list of float
        Of the rows in each bar.
    below, above : float
        Weight of the rows outside.
    """

    edges: list[float]
    weight: list[float]
    below: float
    above: float


@dataclass
class TargetEvaluation:
    """One target.

    Attributes
    ----------
    name : str
        Empty for the only one.
    n_rows : int
        Rows in which it is known.
    rmse, mae, r2 : float or None
        None where nothing is known; R2 also where all rows hold the same number.
    rmse_of_mean, mae_of_median : float or None
        RMSE of predicting the mean of these rows, MAE of predicting their median.
    error : float or None
        The part of the best constant's loss that is left, 1 - R2 for the squared loss.
    risk : float
        Its part of the risk.
    quantiles : list of QuantileEvaluation
        From small to large.
    coverage, width : float or None
        Share of the rows between the smallest and the largest quantile, and their mean distance; None where there are
        fewer than two.
    dots : Dots or None
    residuals : Histogram or None
    """

    name: str
    n_rows: int
    rmse: float | None
    mae: float | None
    r2: float | None
    rmse_of_mean: float | None
    mae_of_median: float | None
    error: float | None
    risk: float
    quantiles: list[QuantileEvaluation] = field(default_factory=list)
    coverage: float | None = None
    width: float | None = None
    dots: Dots | None = None
    residuals: Histogram | None = None


@dataclass
class RegressionMistake:
    """A row that the model is far from.

    Attributes
    ----------
    row : int
        From 0.
    target : str
        Empty for the only one.
    true, predicted : float
    residual : float
        True minus predicted.
    values : dict
        What the row holds in the most important columns; None where it is missing.
    """

    row: int
    target: str
    true: float
    predicted: float
    residual: float
    values: dict[str, float | str | None] = field(default_factory=dict)


@dataclass(repr=False)
class RegressionEvaluation(Measures):
    """What a regressor does on rows with known numbers.

    Unknown numbers take no part, and rows count by their weights.  Of several targets RMSE, MAE, R2, pinball loss and
    coverage are plain means.  Where a model predicts quantiles, the one nearest to 0.5 stands for the target.

    Attributes
    ----------
    kind : {"regression"}
    n_rows, n_rounds : int
    weight : float
        Total weight of the rows.
    rmse, mae, r2 : float or None
    error : float or None
        The part of the best constant's loss that is left, as ``training_error`` of the history: 1 - R2 for the squared
        loss of one target.
    risk : float
        The loss that training minimises, in its units.
    rmse_of_mean, mae_of_median : float or None
        RMSE of predicting the mean of these rows, MAE of predicting their median.
    pinball : float or None
        Mean over the quantiles; None where the model has none.
    coverage : float or None
        Share of the rows between the smallest and the largest quantile; None where there are fewer than two.
    targets : list of TargetEvaluation
    mistakes : list of RegressionMistake
        Of the largest residuals; targets are compared in units of their spread.
    intervals : dict of str to Interval
        Of RMSE, MAE and R2.
    advantage : Interval or None
        The part of the best constant's loss that the model saves, 1 - ``error``.
    """

    HEADLINE: ClassVar[tuple[str, ...]] = ("rmse", "mae", "r2", "error", "pinball", "coverage")
    CALLED: ClassVar[dict[str, str]] = {"error": "relative_error"}
    SOME: ClassVar[tuple[str, ...]] = ("pinball", "coverage")

    kind: str
    n_rows: int
    n_rounds: int
    weight: float
    rmse: float | None
    mae: float | None
    r2: float | None
    error: float | None
    risk: float
    rmse_of_mean: float | None
    mae_of_median: float | None
    pinball: float | None
    coverage: float | None
    targets: list[TargetEvaluation]
    mistakes: list[RegressionMistake] = field(default_factory=list)
    intervals: dict[str, Interval] = field(default_factory=dict)
    advantage: Interval | None = None

    def comparison(self):
        if self.error is None:
            return None
        return Comparison("the best constant", f"{share(self.error)} of its loss is left", 1.0 - self.error)


def regression_of(outcome: Residuals, *, curves: bool, n_bins: int = 0, n_mistakes: int = 0) -> RegressionEvaluation:
    """Put numbers on predictions; ``n_bins`` is of probabilities, which there are none of."""
    a = outcome.answers
    targets = [_target(outcome, t, str(name), curves) for t, name in enumerate(a.kind.classes[0])]

    def average(name: str) -> float | None:
        return mean_of_known([getattr(target, name) for target in targets])

    return RegressionEvaluation(
        kind=a.kind.name,
        n_rows=len(a.y),
        n_rounds=outcome.n_rounds,
        weight=float(a.weight.sum()),
        rmse=average("rmse"),
        mae=average("mae"),
        r2=average("r2"),
        error=outcome.error(),
        risk=outcome.risk(),
        rmse_of_mean=average("rmse_of_mean"),
        mae_of_median=average("mae_of_median"),
        pinball=mean_of_known([q.pinball for target in targets for q in target.quantiles]),
        coverage=average("coverage"),
        targets=targets,
        mistakes=_mistakes(outcome, targets, n_mistakes),
        intervals=_intervals(outcome) if curves else {},
        advantage=_advantage(outcome) if curves else None,
    )


def _intervals(outcome: Residuals) -> dict[str, Interval]:
    """Intervals of RMSE, MAE and R2, of several targets of their means."""
    a = outcome.answers
    known = ~np.isnan(a.y) & (a.weight > 0)[:, None]
    weight = known * a.weight[:, None]
    y = np.where(known, a.y, 0.0)
    y = y - (weight * y).sum(axis=0) / np.maximum(weight.sum(axis=0), np.finfo(np.float64).tiny)  # squares stay small
    rest = np.where(known, a.y - outcome.predicted, 0.0)
    sums = np.hstack([weight, weight * rest**2, weight * np.abs(rest), weight * y, weight * y**2])

    def mean_of(values: np.ndarray) -> np.ndarray:
        return np.nanmean(values, axis=1) if np.isfinite(values).any() else values[:, 0]

    def parts(drawn: np.ndarray) -> list[np.ndarray]:
        total, *others = np.split(drawn, 5, axis=1)
        return [other / total for other in others]

    def r2(drawn: np.ndarray) -> np.ndarray:
        square, _, center, spread = parts(drawn)
        varies = spread - center**2
        return mean_of(np.where(varies > 0, 1.0 - square / varies, np.nan))

    found = {
        "rmse": bootstrap(sums, lambda drawn: mean_of(np.sqrt(parts(drawn)[0]))),
        "mae": bootstrap(sums, lambda drawn: mean_of(parts(drawn)[1])),
        "r2": bootstrap(sums, r2),
    }
    return {name: interval for name, interval in found.items() if interval is not None}


def _advantage(outcome: Residuals) -> Interval | None:
    """What the model saves of the best constant's loss, row by row: a bootstrap."""
    a, span = outcome.answers, float(outcome.answers.span.sum())
    if not span > 0:
        return None
    ours, theirs = (a.target.loss.losses(s, a.target).sum(axis=1) for s in (outcome.scores, a.constant_scores))
    return bootstrap((theirs - ours)[:, None] / span, lambda drawn: drawn[:, 0])


def _target(outcome: Residuals, t: int, name: str, curves: bool) -> TargetEvaluation:
    a = outcome.answers
    rows = a.rows(t)
    y, w, values = a.y[rows, t], a.weight[rows], outcome.values[rows, t]
    predicted = values[:, a.middle]
    square, center = mean((y - predicted) ** 2, w), mean(y, w)
    spread = None if center is None else 0.0 if a.is_constant(t) else mean((y - center) ** 2, w)
    found = TargetEvaluation(
        name=name,
        n_rows=len(rows),
        rmse=_root(square),
        mae=mean(np.abs(y - predicted), w),
        r2=1.0 - square / spread if square is not None and spread else None,
        rmse_of_mean=_root(spread),
        mae_of_median=None if center is None else mean(np.abs(y - _median(y, w)), w),
        error=outcome.target_error(t),
        risk=float(outcome.risks[t]),
        quantiles=[_quantile(float(level), y, values[:, k], w) for k, level in enumerate(a.kind.quantiles)],
    )
    if a.kind.quantiles.size > 1:
        low, high = values[:, 0], values[:, -1]
        found.coverage, found.width = mean((low <= y) & (y <= high), w), mean(high - low, w)
    if curves and len(rows):
        found.dots = _dots(rows, predicted, y)
        found.residuals = _histogram(y - predicted, w)
    return found


def _median(y: np.ndarray, weight: np.ndarray) -> float:
    """The least number with half of the weight at or below it."""
    order = np.argsort(y, kind="stable")
    below = np.cumsum(weight[order])
    return float(y[order[np.searchsorted(below, 0.5 * below[-1])]])


def _root(square: float | None) -> float | None:
    return None if square is None else float(np.sqrt(square))


def _quantile(level: float, y: np.ndarray, predicted: np.ndarray, weight: np.ndarray) -> QuantileEvaluation:
    rest = y - predicted
    pinball = mean(np.maximum(level * rest, (level - 1.0) * rest), weight)
    return QuantileEvaluation(level, pinball, mean(y <= predicted, weight))


def _dots(rows: np.ndarray, predicted: np.ndarray, true: np.ndarray) -> Dots:
    order = np.argsort(predicted, kind="stable")
    keep = order[np.unique(np.linspace(0, len(order) - 1, min(len(order), N_DOTS)).round().astype(int))]
    return Dots(rows[keep].tolist(), predicted[keep].tolist(), true[keep].tolist())


def _histogram(residuals: np.ndarray, weight: np.ndarray) -> Histogram:
    with np.errstate(invalid="ignore"):
        low, high = np.quantile(residuals[np.isfinite(residuals)], [_TAIL, 1.0 - _TAIL])
    if not high > low:
        low, high = low - 0.5, high + 0.5
    edges = np.linspace(low, high, N_BARS + 1)
    inside, _ = np.histogram(residuals, edges, weights=weight)
    return Histogram(
        edges.tolist(),
        inside.tolist(),
        float(weight[residuals < edges[0]].sum()),
        float(weight[residuals > edges[-1]].sum()),
    )


def _mistakes(outcome: Residuals, targets: list[TargetEvaluation], n_mistakes: int) -> list[RegressionMistake]:
    if n_mistakes <= 0:
        return []
    a = outcome.answers
    found: list[tuple[float, RegressionMistake]] = []
    for t, target in enumerate(targets):
        rows = a.rows(t)
        rest = a.y[rows, t] - outcome.predicted[rows, t]
        for i in np.argsort(-np.abs(rest), kind="stable")[:n_mistakes].tolist():
            row = int(rows[i])
            true, predicted = float(a.y[row, t]), float(outcome.predicted[row, t])
            mistake = RegressionMistake(row, target.name, true, predicted, float(rest[i]))
            found.append((abs(mistake.residual) / (target.rmse_of_mean or 1.0), mistake))
    return [mistake for _, mistake in sorted(found, key=lambda pair: -pair[0])[:n_mistakes]]
