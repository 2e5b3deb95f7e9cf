"""The pictures of a report."""

from __future__ import annotations

import numpy as np

from ..evaluation.curves import Margins, Reliability, Roc
from ..evaluation.learning import LearningCurves
from ..evaluation.shapes import Shape
from .markup import Html, join, number, percent, short, tag
from .svg import Axes, linear_ticks

N_COLOURS = 8
_EARLY = 0.05  # share of the rounds that may lie above the picture of errors
MOST_STEPS = 120  # of a shape that are drawn
_CATEGORIES = 24


def legend(entries: list[tuple[str, str]]) -> Html | None:
    """Names of the lines of a picture; pairs of a class and a name."""
    if not entries:
        return None
    items = []
    for class_, name in entries:
        swatch = tag("path", class_=f"line {class_}", d="M1 5L23 5")
        sign = tag("svg", swatch, viewBox="0 0 24 10", class_="swatch", aria_hidden="true")
        items.append(tag("li", sign, short(name)))
    return tag("ul", *items, class_="legend")


def figure(picture: Html, caption, *, entries=None, more: Html | None = None, class_: str | None = None) -> Html:
    """A picture with its legend, its words and whatever belongs below."""
    return tag("figure", legend(entries or []), picture, tag("figcaption", caption), more, class_=class_)


def _largest(series, rounds, early: float) -> float:
    """The largest value after the first rounds, over several curves."""
    later = [v for values in series for t, v in zip(rounds, values, strict=True) if v is not None and t > early]
    return max(later, default=1.0)


def error_curves(curves: LearningCurves) -> Html:
    """Errors over the rounds."""
    shown = [("s0", "training", curves.training_error), ("s1", "given rows", curves.error)]
    shown = [entry for entry in shown if entry[2]]
    early = _EARLY * curves.rounds[-1] if len(curves.rounds) >= 20 else 0
    top = 1.12 * _largest([v for _, _, v in shown], curves.rounds, early) or 0.01
    most = max(1.0, _largest([v for _, _, v in shown], curves.rounds, early))  # relative errors may be above 1
    axes = Axes((1, curves.rounds[-1]), (0.0, min(most, top))).frame("round", "", percent_y=True)
    for class_, name, values in shown:
        axes.line(curves.rounds, values, class_, name=name)
    ends = ", ".join(f"{name} {percent(values[0])} to {percent(values[-1])}" for _, name, values in shown)
    cut = any(v is not None and v > top for _, _, values in shown for v in values)
    caption = f"{curves.measure.capitalize()} after each round." + (" The first rounds lie above." if cut else "")
    return figure(
        axes.svg(f"Line chart of the {curves.measure} over {curves.rounds[-1]} rounds: {ends}", "error", clip=True),
        caption,
        entries=[(class_, name) for class_, name, _ in shown],
    )


def risk_curves(curves: LearningCurves, loss: str) -> Html:
    """Risks over the rounds, on a logarithmic scale, with the bound prod Z."""
    shown = [
        ("s0", "training", curves.training_risk),
        ("s1", "given rows", curves.risk),
        ("bound", "bound \u220f\u00a0Z", curves.bound),
    ]
    shown = [(c, n, v) for c, n, v in shown if any(x is not None for x in v)]
    known = [x for _, _, values in shown for x in values if x is not None]
    if not known:
        return figure(Axes((0, 1), (0, 1)).frame("round", "").svg("No risk is known", "risk"), "No risk is known.")
    low, high = min(known), max(known)
    if low > 0:
        axes = Axes((1, curves.rounds[-1]), (low / 1.15, high * 1.15), log_y=True).frame("round", "")
    else:  # some losses, such as that of counts, may be below 0
        pad = 0.05 * (high - low)
        axes = Axes((1, curves.rounds[-1]), (low - pad, high + pad)).frame("round", "")
    for class_, name, values in shown:
        axes.line(curves.rounds, values, class_, name=name)
    ends = ", ".join(f"{name} {number(values[0])} to {number(values[-1])}" for _, name, values in shown)
    caption = f"The {loss} risk, which training minimises."
    if curves.bound:
        caption += " The bound \u220f\u00a0Z is the training risk and bounds the weighted Hamming loss of training."
    return figure(
        axes.svg(f"Line chart of the {loss} risk over {curves.rounds[-1]} rounds: {ends}", "risk", clip=True),
        caption,
        entries=[(class_, name) for class_, name, _ in shown],
    )


def margin_curves(margins: dict[int, Margins], rows: str, chart: str) -> Html:
    """Cumulative margins after several rounds; the last one stands out."""
    axes = Axes((-1.0, 1.0), (0.0, 1.0)).frame("margin", "", percent_y=True)
    axes.rule(x=0.0)
    entries = []
    for k, (t, m) in enumerate(margins.items()):
        is_last = k == len(margins) - 1
        class_ = "s0" if is_last else f"s7 fade{len(margins) - k}"
        edges = [-1.0, *m.theta, 1.0]
        axes.steps(edges, [0.0, *m.share], class_, name=f"{t}")
        entries.append((class_, f"{t} round{'' if t == 1 else 's'}"))
    last = list(margins.values())[-1]
    said = (
        f"Cumulative distribution of margins of the {rows}; in the end {percent(last.negative)} are negative, "
        f"the median is {number(last.median)}, the smallest {number(last.least)}"
    )
    return figure(
        axes.svg(said, chart),
        f"Margins of the {rows}: share of pairs of a row and a label at or below. Left of 0 the sign is wrong.",
        entries=entries,
    )


def area_text(auc: float | None) -> str:
    """An area under the curve; one that is nearly 1 is not called 1."""
    return "> 0.9999" if auc is not None and 0.99995 <= auc < 1.0 else number(auc, 4)


def roc_small(curve: Roc | None, auc: float | None, name: str, chart: str) -> Html:
    """A small ROC curve."""
    axes = _unit_square().frame("false positives", "true positives", about=2, percent_x=False)
    axes.line([0, 1], [0, 1], "diagonal")
    if curve is not None:
        axes.line(curve.fpr, curve.tpr, "s0", name="roc")
        said = f"ROC curve of {short(name)}, area {area_text(auc)}"
    else:
        axes.words("undefined", axes.px(0.5), axes.py(0.5), "middle")
        said = f"No ROC curve of {short(name)}: all known rows are on one side"
    return axes.svg(said, chart)


def reliability_small(curve: Reliability | None, name: str, chart: str) -> Html:
    """Predicted probability against frequency; larger dots hold more rows."""
    axes = _unit_square().frame("predicted", "observed", about=2)
    axes.line([0, 1], [0, 1], "diagonal")
    if curve is None:
        axes.words("undefined", axes.px(0.5), axes.py(0.5), "middle")
        return axes.svg(f"No reliability of {short(name)}: no row is known", chart)
    axes.line(curve.predicted, curve.frequency, "s1 thin", name="reliability")
    most = max(curve.weight)
    for predicted, frequency, weight in zip(curve.predicted, curve.frequency, curve.weight, strict=True):
        said = f"predicted {percent(predicted)}, observed {percent(frequency)}, weight {number(weight, 4)}"
        axes.dot(predicted, frequency, "f1", 1.6 + 3.0 * np.sqrt(weight / most), said)
    return axes.svg(f"Reliability of {short(name)}: predictions are off by {percent(curve.error)} on average", chart)


def _unit_square() -> Axes:
    return Axes((0, 1), (0, 1), width=200, height=196, left=40, right=10, top=8, bottom=36)


def coarser(shape: Shape, labels: list[int], at_most: int = MOST_STEPS) -> tuple[np.ndarray, np.ndarray]:
    """Thresholds (m,) and values (m + 1, labels) of a shape with few steps: the largest jumps.

    What lies between two jumps that are kept is averaged.
    """
    values = shape.values[:, labels]
    if len(shape.thresholds) <= at_most:
        return shape.thresholds, values
    jump = np.abs(np.diff(values, axis=0)).sum(axis=1)
    keep = np.sort(np.argsort(-jump, kind="stable")[:at_most])
    pieces = np.split(values, keep + 1)
    return shape.thresholds[keep], np.stack([piece.mean(axis=0) for piece in pieces])


def shape_picture(shape: Shape, names: list[str], labels: list[int], span, deciles, chart: str) -> Html:
    """The additive function of one column.

    Parameters
    ----------
    shape : Shape
    names : list of str
        Of all labels.
    labels : list of int
        Which of them to draw.
    span : (float, float)
        Of the vertical axis, the same for all columns.
    deciles : list of float or None
        Where the rows lie.
    chart : str
    """
    if shape.categories is not None:
        return _nominal_picture(shape, names, labels, span, chart)
    thresholds, values = coarser(shape, labels)
    low, high = float(shape.thresholds[0]), float(shape.thresholds[-1])
    if deciles is not None:
        low, high = min(low, deciles[1]), max(high, deciles[-2])
    pad = 0.06 * (high - low) or 0.5
    axes = Axes((low - pad, high + pad), span, width=330, height=200, left=44, right=52).frame("", "", about=4)
    axes.rule(y=0.0)
    edges = np.concatenate([[low - pad], thresholds, [high + pad]])
    at = axes.left + axes.inner_width + 28
    axes.words("missing", at, axes.top + axes.inner_height + 15, "middle")
    for k, label in enumerate(labels):
        axes.steps(edges, values[:, k], f"s{k % N_COLOURS}", name=names[label])
        missing = float(shape.missing[label])
        where = axes.x[0] + (at - axes.left) / axes.inner_width * (axes.x[1] - axes.x[0])
        axes.dot(where, missing, f"f{k % N_COLOURS}", 3.2, f"missing, {short(names[label])}: {number(missing)}")
    bottom = axes.top + axes.inner_height
    for value in deciles[1:-1] if deciles is not None else []:
        x = f"{axes.px(value):.2f}"
        axes.marks.append(tag("line", class_="rug", x1=x, x2=x, y1=f"{bottom:.1f}", y2=f"{bottom - 6:.1f}"))
    most = int(np.ptp(values, axis=0).argmax())
    said = (
        f"Contribution of {short(shape.name)} to the scores, {len(shape.thresholds)} steps; "
        f"it moves {short(names[labels[most]])} most, by {number(float(np.ptp(values[:, most])))}"
    )
    return axes.svg(said, chart)


def _nominal_picture(shape: Shape, names: list[str], labels: list[int], span, chart: str) -> Html:
    """One row per category, those that matter most; a dot for each label."""
    assert shape.categories is not None
    values = shape.values[:, labels]
    size = np.abs(values - values.mean(axis=0)).max(axis=1)
    most = np.argsort(-size, kind="stable")[:_CATEGORIES]
    shown = most[np.argsort(-values[most, 0], kind="stable")]
    rows = [(shape.categories[i], shape.values[i]) for i in shown] + [("missing", shape.missing)]
    line = 15.0
    height = 10 + line * len(rows) + 26
    # The vertical axis runs backwards: the first row is on top.
    axes = Axes(span, (len(rows), 0), width=320, height=height, left=104, right=10, top=6, bottom=24)
    bottom = axes.top + axes.inner_height
    for value in linear_ticks(span[0], span[1], 4):
        x = f"{axes.px(value):.2f}"
        axes.below.append(tag("line", class_="grid", x1=x, x2=x, y1=axes.top, y2=f"{bottom:.1f}"))
        axes.below.append(tag("text", number(value), x=x, y=f"{bottom + 15:.1f}", text_anchor="middle"))
    axes.rule(x=0.0)
    for i, (name, votes) in enumerate(rows):
        y = axes.py(i + 0.5)
        axes.words(short(name, 16), axes.left - 8, y + 4, "end", "note" if i < len(rows) - 1 else "name")
        for k, label in enumerate(labels):
            said = f"{short(name)}, {short(names[label])}: {number(float(votes[label]))}"
            axes.dot(float(votes[label]), i + 0.5, f"f{k % N_COLOURS}", 3.4, said)
    left_out = len(shape.categories) - len(shown)
    said = f"Contribution of {short(shape.name)} to the scores, {len(shape.categories)} categories"
    return axes.svg(said + (f", the {len(shown)} that matter most" if left_out else ""), chart)


def bar(share: float) -> Html:
    """A bar inside a table cell, for the eye only."""
    inner = tag("span", style=f"width:{100 * share:.1f}%")
    return tag("span", inner, class_="bar", aria_hidden="true")


def multiples(pictures: list[Html], class_: str) -> Html:
    """Small pictures side by side."""
    return tag("div", join(pictures), class_=class_)
