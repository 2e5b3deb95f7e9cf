"""Sections about the columns: importances, partial dependence, shapes."""

from __future__ import annotations

import numpy as np

from ..evaluation import PermutationImportance
from . import charts
from .charts import MOST_STEPS, N_COLOURS, bar, legend, multiples
from .findings import MOST_COLUMNS, MOST_SHAPES, Findings
from .markup import Html, join, number, percent, short, tag, text
from .parts import left_out, section, table


def columns(f: Findings) -> Html:
    """What each column contributes."""
    shown = f.importances[:MOST_COLUMNS]
    if not shown:
        return section("columns", "Columns", tag("p", "No cut uses a column of the table."))
    top = shown[0].share or 1.0
    rows = [
        [short(i.name), bar(i.share / top), percent(i.share), _shuffled(f.permutations.get(i.name)), number(i.cuts)]
        for i in shown
    ]
    head = ["column", Html('<span class="hidden">share as a bar</span>'), "share of gain", "if shuffled", "cuts"]
    if not f.permutations:
        head, rows = [*head[:3], head[4]], [[*row[:3], row[4]] for row in rows]
    unused = f.data.n_columns - len(f.importances)
    words = (
        "The share of the gain says what training used. \u201cIf shuffled\u201d says what the answers on these rows "
        f"need: how many points the {f.curves.measure} rises if the column's values are dealt to other rows (mean of "
        "five times, \u00b1 their spread). Where columns say the same, each can replace the other, and both look "
        "unimportant."
    )
    return section(
        "columns",
        "Columns",
        tag("p", words) if f.permutations else None,
        table("Importance of the columns", head, rows, class_="bars", numeric=(2, 3, 4)),
        left_out(len(f.importances) - len(shown), "columns", "the most important are shown"),
        tag("p", f"{unused} {'column is' if unused == 1 else 'columns are'} not used by any cut.", class_="quiet")
        if unused
        else None,
        *_utilities(f),
    )


def _utilities(f: Findings) -> list[Html]:
    """What a bandit that chose the columns of the rounds has learned."""
    if not f.utilities:
        return []
    rows = [[short(name), f"{mean:.4f}", number(pulls)] for name, mean, pulls in f.utilities]
    words = (
        "A bandit chose the columns of every round. The mean reward says how much a column brought when it was there."
    )
    return [
        tag("p", words),
        table("What was learned of the columns", ["column", "mean reward", "pulls"], rows, numeric=(1, 2)),
    ]


def _shuffled(found: PermutationImportance | None) -> Html:
    """An increase of the error in points of per cent; its spread, where there is room."""
    if found is None:
        return text("\u2013")
    sign = "+" if found.increase > 0 else "\u2212" if found.increase < 0 else ""
    spread = tag("span", f" \u00b1 {100 * found.spread:.2f}", class_="spread")
    return join([f"{sign}{abs(100 * found.increase):.2f}", spread])


def dependence(f: Findings) -> Html | None:
    """What the model says on average where a column holds one value in all rows."""
    if not f.dependences:
        return None
    drawn, names = f.dependence_labels(), f.said_names()
    every = np.concatenate([np.array(d.values)[:, drawn].ravel() for d in f.dependences])
    pad = 0.05 * float(np.ptp(every)) or 0.05
    span = (float(every.min()) - pad, float(every.max()) + pad)
    pictures = [
        tag(
            "figure",
            tag("figcaption", short(d.name)),
            charts.dependence_picture(d, names, drawn, span, f"dependence-{d.column}"),
            class_="small",
        )
        for d in f.dependences
    ]
    intro = (
        f"The mean {f.words.said} over some of the given rows, if a column held the same value in all of them "
        "(partial dependence). The vertical scale is the same in all pictures. Where columns go together this also "
        "asks about rows that do not occur."
    )
    entries = [(f"s{k % N_COLOURS} solid", names[label]) for k, label in enumerate(drawn)] if len(names) > 1 else []
    return section(
        "dependence",
        "What the most important columns do",
        tag("p", intro),
        legend(entries),
        left_out(len(names) - len(drawn), "labels", "those that move most are drawn"),
        multiples(pictures, "multiples"),
    )


def shapes(f: Findings) -> Html | None:
    """The additive functions of stump models."""
    if f.shapes is None:
        return None
    shown, drawn = f.shapes.shapes[:MOST_SHAPES], f.shape_labels()
    every = [np.concatenate([s.values[:, drawn].ravel(), s.missing[drawn], [0.0]]) for s in shown]
    low, high = min(v.min() for v in every), max(v.max() for v in every)
    pad = 0.05 * (high - low) or 0.5
    span = (float(low - pad), float(high + pad))
    pictures = []
    for shape in shown:
        picture = charts.shape_picture(
            shape, f.shapes.labels, drawn, span, f.deciles.get(shape.column), f"shape-{shape.column}"
        )
        pictures.append(tag("figure", tag("figcaption", short(shape.name)), picture, class_="small"))
    names = f.shapes.labels
    entries = [(f"s{k % N_COLOURS} solid", names[label]) for k, label in enumerate(drawn)]
    many = max(len(shape.thresholds) for shape in shown)
    exactly = "exactly" if many <= MOST_STEPS else f"by its {MOST_STEPS} largest jumps where it has more"
    intro = tag(
        "p",
        f"Every round uses one column, so {f.words.score} is a sum of one function per column, shown here "
        f"{exactly}. The vertical scale is the same in all pictures; small marks on the axis are deciles of the "
        "given rows.",
    )
    hidden_labels = len(names) - len(drawn)
    return section(
        "shapes",
        "Shape of every column",
        intro,
        legend(entries),
        left_out(hidden_labels, "labels", "those that move most are drawn"),
        multiples(pictures, "multiples"),
        left_out(len(f.shapes.shapes) - len(shown), "columns", "the most important are shown"),
    )
