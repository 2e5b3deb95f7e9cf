"""The pictures of a report."""

from __future__ import annotations

import numpy as np

from ..evaluation.curves import Margins, Reliability, Roc
from ..evaluation.dependence import Dependence
from ..evaluation.evaluation import LabelEvaluation
from ..evaluation.learning import LearningCurves
from ..evaluation.shapes import Shape
from .markup import Html, capital, join, number, percent, short, tag
from .svg import Axes, linear_ticks

N_COLOURS = 8
_EARLY = 0.05  # share of the rounds that may lie above the picture of errors
MOST_STEPS = 120  # of a shape that are drawn
_CATEGORIES = 24
_FEW_VALUES = 6  # of a column, each of which gets a dot


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
    caption = f"{capital(curves.measure)} after each round." + (" The first rounds lie above." if cut else "")
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


def roc_picture(curve: Roc | None, auc: float | None, name: str, chart: str, *, large: bool = False) -> Html:
    """A ROC curve."""
    axes = _unit_square(large).frame("false positives", "true positives", about=5 if large else 2)
    axes.line([0, 1], [0, 1], "diagonal")
    if curve is not None:
        axes.line(curve.fpr, curve.tpr, "s0", name="roc")
        said = f"ROC curve of {short(name)}, area {area_text(auc)}"
    else:
        axes.words("undefined", axes.px(0.5), axes.py(0.5), "middle")
        said = f"No ROC curve of {short(name)}: all known rows are on one side"
    return axes.svg(said, chart)


def precision_recall_picture(label: LabelEvaluation, chart: str) -> Html:
    """Precision against recall; the dotted line is what calling all rows so would have."""
    axes = _unit_square(large=True).frame("recall", "precision")
    curve = label.precision_recall
    if curve is None:
        axes.words("undefined", axes.px(0.5), axes.py(0.5), "middle")
        return axes.svg(f"No precision and recall of {short(label.name)}: no row has it", chart)
    axes.rule(y=label.prevalence)
    axes.line(curve.recall, curve.precision, "s0", name="precision")
    return axes.svg(
        f"Precision against recall of {short(label.name)}, mean precision {number(label.average_precision)}", chart
    )


def reliability_picture(curve: Reliability | None, name: str, chart: str, *, large: bool = False) -> Html:
    """Predicted probability against frequency; larger dots hold more rows, bars are intervals."""
    axes = _unit_square(large).frame("predicted", "observed", about=5 if large else 2)
    axes.line([0, 1], [0, 1], "diagonal")
    if curve is None:
        axes.words("undefined", axes.px(0.5), axes.py(0.5), "middle")
        return axes.svg(f"No reliability of {short(name)}: no row is known", chart)
    axes.line(curve.predicted, curve.frequency, "s1 thin", name="reliability")
    most = max(curve.weight)
    for k, (predicted, frequency, weight) in enumerate(
        zip(curve.predicted, curve.frequency, curve.weight, strict=True)
    ):
        low, high = curve.frequency_low[k], curve.frequency_high[k]
        axes.line([predicted, predicted], [low, high], "s1 whisker")
        said = (
            f"predicted {percent(predicted)}, observed {percent(frequency)} ({percent(low)} to {percent(high)}), "
            f"weight {number(weight, 4)}"
        )
        axes.dot(predicted, frequency, "f1", 1.6 + 3.0 * np.sqrt(weight / most), said)
    return axes.svg(f"Reliability of {short(name)}: predictions are off by {percent(curve.error)} on average", chart)


def _unit_square(large: bool = False) -> Axes:
    if large:
        return Axes((0, 1), (0, 1), width=330, height=300, left=48, right=12)
    return Axes((0, 1), (0, 1), width=200, height=196, left=40, right=10, top=8, bottom=36)


def dependence_picture(found: Dependence, names: list[str], labels: list[int], span, chart: str) -> Html:
    """What a model says on average as a function of one column."""
    values = np.array(found.values)
    said = f"Mean answer as a function of {short(found.name)}"
    if found.categories is not None:
        rows = [(name, values[i]) for i, name in enumerate(found.categories)]
        return _rows_of_dots(rows, names, labels, span, chart, said)
    low, high = found.grid[0], found.grid[-1]
    pad = 0.03 * (high - low) or 0.5
    axes = Axes((low - pad, high + pad), span, width=330, height=200, left=52, right=12).frame("", "", about=4)
    for k, label in enumerate(labels):
        axes.line(found.grid, values[:, label].tolist(), f"s{k % N_COLOURS}", name=names[label])
        if len(found.grid) <= _FEW_VALUES:
            for x, y in zip(found.grid, values[:, label].tolist(), strict=True):
                axes.dot(x, y, f"f{k % N_COLOURS}", 3.0, f"{short(names[label])} at {number(x)}: {number(y)}")
    most = labels[int(np.ptp(values[:, labels], axis=0).argmax())]
    moves = number(float(np.ptp(values[:, most])))
    return axes.svg(f"{said}, from {number(low)} to {number(high)}; it moves {short(names[most])} by {moves}", chart)


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
    left_out = len(shape.categories) - len(shown)
    said = f"Contribution of {short(shape.name)} to the scores, {len(shape.categories)} categories"
    said += f", the {len(shown)} that matter most" if left_out else ""
    return _rows_of_dots(rows, names, labels, span, chart, said)


def _rows_of_dots(rows: list, names: list[str], labels: list[int], span, chart: str, said: str) -> Html:
    """A row for each name, with a dot for each label; ``rows`` are pairs of a name and values."""
    line = 15.0
    height = 10 + line * len(rows) + 26
    # The vertical axis runs backwards: the first row is on top.
    axes = Axes(span, (len(rows), 0), width=320, height=height, left=122, right=10, top=6, bottom=24)
    bottom = axes.top + axes.inner_height
    for value in linear_ticks(span[0], span[1], 4):
        x = f"{axes.px(value):.2f}"
        axes.below.append(tag("line", class_="grid", x1=x, x2=x, y1=axes.top, y2=f"{bottom:.1f}"))
        axes.below.append(tag("text", number(value), x=x, y=f"{bottom + 15:.1f}", text_anchor="middle"))
    if span[0] <= 0.0 <= span[1]:
        axes.rule(x=0.0)
    for i, (name, votes) in enumerate(rows):
        y = axes.py(i + 0.5)
        axes.words(short(name, 16), axes.left - 8, y + 4, "end", "name" if name == "missing" else "note")
        for k, label in enumerate(labels):
            hint = f"{short(name)}, {short(names[label])}: {number(float(votes[label]))}"
            axes.dot(float(votes[label]), i + 0.5, f"f{k % N_COLOURS}", 3.4, hint)
    return axes.svg(said, chart)


def bar(share: float) -> Html:
    """A bar inside a table cell, for the eye only."""
    inner = tag("span", style=f"width:{100 * share:.1f}%")
    return tag("span", inner, class_="bar", aria_hidden="true")


def multiples(pictures: list[Html], class_: str) -> Html:
    """Small pictures side by side."""
    return tag("div", join(pictures), class_=class_)
