"""The section of a report about how much of its model a lean classifier needs."""

from __future__ import annotations

from ..evaluation.lean import Detection, Need
from .charts import figure, multiples
from .findings import MOST_LABELS, Findings
from .markup import Html, number, percent, short, tag
from .parts import left_out, numbers, pairs, section, table
from .svg import Axes

_LINES = 6  # classes in the picture


def lean(f: Findings) -> Html | None:
    """How many base classifiers rows need, what is lost by it, and what is found for how many."""
    found = f.lean
    if found is None:
        return None
    every = found.needs[0]
    words = (
        f"Rows need {number(every.mean)} of {found.n_rounds} base classifiers in the mean, that is "
        f"{percent(every.mean / found.n_rounds)} of them."
    )
    if found.differ is not None:
        words += f" Of the answers {percent(found.differ)} differ from those of all base classifiers."
    rows = [
        [short(n.name), str(n.n_rows), number(n.mean), *(number(q) for q in n.quantiles)]
        for n in found.needs[: MOST_LABELS + 1]
    ]
    head = ["rows", "how many", "mean", "median", "9 of 10 at most", "largest"]
    shown = table("Base classifiers that rows need", head, rows, numeric=range(1, 6))
    entries = [(name.replace("_", " "), _value(value)) for name, value in found.about.items()]
    pictures = [_needs(found.needs, found.n_rounds), _used(found.used)]
    detection = None
    if found.detection:
        detailed = multiples([_detection(d) for d in found.detection], "multiples wide")
        detection = tag("div", tag("h3", "Detection"), detailed)
    more = left_out(len(found.needs) - 1 - MOST_LABELS, "classes", f"the first {MOST_LABELS} are shown")
    return section(
        "lean",
        "Base classifiers that rows need",
        tag("p", words),
        tag("div", *pictures, class_="two"),
        tag("div", tag("div", shown, more), pairs("Policy", entries), class_="two"),
        detection,
    )


def _value(value) -> str:
    if isinstance(value, list):
        return ", ".join(_value(v) for v in value)
    return number(value) if isinstance(value, float) else str(value)


def _needs(needs: list[Need], n_rounds: int) -> Html:
    """The share of the rows that need at most so many, for some classes."""
    shown = needs if len(needs) <= _LINES else needs[:1]
    axes = Axes((0, max(n.at_most[-1] for n in shown)), (0.0, 1.0)).frame("base classifiers", "", percent_y=True)
    for k, n in enumerate(shown):
        axes.steps([0, *n.at_most, n.at_most[-1]], [0.0, *n.share], f"s{k}", name=n.name)
    said = f"Share of rows that need at most so many of {n_rounds}; the mean is {number(needs[0].mean)}"
    return figure(
        axes.svg(said, "lean-needs"),
        "Share of the rows that have left after so many base classifiers.",
        entries=[(f"s{k}", n.name) for k, n in enumerate(shown)],
    )


def _used(used: list[float]) -> Html:
    """The share of the rows for which each base classifier was evaluated."""
    axes = Axes((1, len(used) + 1), (0.0, 1.0)).frame("base classifier", "", percent_y=True)
    axes.bars(range(1, len(used) + 2), used, "s0", name="used")
    said = f"Share of the rows that need each of {len(used)} base classifiers; {sum(u > 0 for u in used)} are in use"
    return figure(axes.svg(said, "lean-used"), "Share of the rows for which each base classifier was evaluated.")


def _detection(d: Detection) -> Html:
    """True positives over base classifiers at one rate of false positives."""
    rate = percent(d.fpr)
    top = min(1.0, 1.1 * max([d.lean_tpr, *d.tpr]) or 1.0)
    axes = Axes((0, max([d.lean_cost, *d.rounds])), (0.0, top)).frame("base classifiers", "", percent_y=True, about=3)
    if d.rounds:
        axes.line(d.rounds, d.tpr, "s7", name="cut off")
    axes.dot(d.lean_cost, d.lean_tpr, "f0", 4.0, f"{percent(d.lean_tpr)} for {number(d.lean_cost)}")
    said = f"True positives at {rate} false positives: {percent(d.lean_tpr)} for {number(d.lean_cost)} base classifiers"
    behind = [[str(t), percent(v)] for t, v in zip(d.rounds, d.tpr, strict=True)]
    more = None
    if behind:
        behind = behind[:: max(1, len(behind) // 12)]
        head = ["base classifiers", "true positives"]
        more = numbers("Numbers", table(f"Cut off, at {rate} false positives", head, behind, numeric=(0, 1)))
    return figure(
        axes.svg(said, f"lean-detection-{d.fpr:g}"),
        f"True positives at {rate} false positives. Dot: this model, by what negatives need. Line: cut off.",
        more=more,
    )
