"""The pictures of numbers: predictions, residuals, quantiles."""

from __future__ import annotations

from ..evaluation.regression import Dots, Histogram, TargetEvaluation
from .charts import N_COLOURS
from .markup import Html, number, percent, short
from .svg import Axes

_ROOM = 0.04  # around the outermost dots, as a share of the span


def _span(*values: list[float]) -> tuple[float, float]:
    """From the smallest to the largest, and a little more."""
    low, high = min(map(min, values)), max(map(max, values))
    pad = _ROOM * (high - low) or 0.5
    return low - pad, high + pad


def predicted_against_true(dots: Dots, name: str, chart: str) -> Html:
    """A dot for each row; on the diagonal predictions are right."""
    span = _span(dots.predicted, dots.true)
    axes = Axes(span, span, width=330, height=300, left=70).frame("predicted", "true", about=4)
    axes.line(span, span, "diagonal")
    axes.points(dots.predicted, dots.true, "s0", name="predicted")
    return axes.svg(f"Predicted against true numbers{_of(name)}, {len(dots.row)} rows", chart)


def residuals_against_predicted(dots: Dots, name: str, chart: str) -> Html:
    """What is left, over what was predicted."""
    rest = [t - p for t, p in zip(dots.true, dots.predicted, strict=True)]
    axes = Axes(_span(dots.predicted), _span(rest, [0.0]), width=330, height=300, left=70)
    axes.frame("predicted", "true \u2212 predicted", about=4)
    axes.rule(y=0.0)
    axes.points(dots.predicted, rest, "s1", name="residual")
    return axes.svg(f"Residuals against predictions{_of(name)}, {len(dots.row)} rows", chart)


def residual_histogram(bars: Histogram, name: str, chart: str) -> Html:
    """How large residuals are, and how often."""
    total = sum(bars.weight) + bars.below + bars.above
    shares = [weight / total for weight in bars.weight]
    axes = Axes((bars.edges[0], bars.edges[-1]), (0.0, 1.08 * max(shares) or 1.0), width=330, height=300, left=56)
    axes.frame("true \u2212 predicted", "", percent_y=True, about=4)
    axes.bars(bars.edges, shares, "f1", name="histogram")
    axes.rule(x=0.0)
    outside = (bars.below + bars.above) / total
    said = f"Histogram of the residuals{_of(name)}, from {number(bars.edges[0])} to {number(bars.edges[-1])}"
    return axes.svg(said + (f"; {percent(outside)} of the rows are outside" if outside else ""), chart)


def coverage(targets: list[TargetEvaluation], chart: str) -> Html:
    """Share of the rows at or below each quantile, against what it should be."""
    axes = Axes((0, 1), (0, 1), width=420, height=320, left=60, right=30)
    axes.frame("quantile", "rows at or below", percent_x=True, percent_y=True)
    axes.line([0, 1], [0, 1], "diagonal")
    for k, target in enumerate(targets):
        levels, shares = [q.level for q in target.quantiles], [q.coverage for q in target.quantiles]
        axes.line(levels, shares, f"s{k % N_COLOURS} thin", name=target.name or "coverage")
        for level, share in zip(levels, shares, strict=True):
            if share is not None:
                said = f"{short(target.name)} {percent(level)}: {percent(share)} at or below".strip()
                axes.dot(level, share, f"f{k % N_COLOURS}", 3.6, said)
    return axes.svg("Share of the rows at or below each predicted quantile, against its level", chart)


def _of(name: str) -> str:
    return f" of {short(name)}" if name else ""
