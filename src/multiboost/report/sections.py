"""The sections of a report, in the order in which they are read."""

from __future__ import annotations

import numpy as np

from ..evaluation.evaluation import Evaluation, TaskEvaluation
from . import charts
from .charts import MOST_STEPS, N_COLOURS, bar, legend, multiples
from .findings import MOST_COLUMNS, MOST_LABELS, MOST_SHAPES, Findings
from .markup import Html, join, number, percent, short, tag

_ROWS = 12  # of a table of numbers behind a picture
_LINES = 24  # of one round's rules
_ALL_LINES = 60  # of all of them; a round that begins before is shown
VALUES = 5  # columns of a mistake


def section(name: str, title: str, *content) -> Html:
    """A part of the page that can be linked to."""
    return tag("section", tag("h2", title, id=f"{name}-title"), *content, id=name, aria_labelledby=f"{name}-title")


def table(caption: str, head: list, rows: list[list], *, class_: str | None = None, numeric=()) -> Html:
    """A table with a caption; the first cell of a row names it.

    A wide table scrolls in its own box, which the keyboard can reach.
    """
    header = tag("tr", *(tag("th", h, scope="col", class_="n" if k in numeric else None) for k, h in enumerate(head)))
    body = []
    for row in rows:
        cells = [tag("th", row[0], scope="row")]
        cells += [tag("td", cell, class_="n" if k in numeric else None) for k, cell in enumerate(row[1:], start=1)]
        body.append(tag("tr", *cells))
    inner = tag("table", tag("caption", caption), tag("thead", header), tag("tbody", *body), class_=class_)
    return tag("div", inner, class_="scroll", tabindex="0", role="region", aria_label=caption)


def pairs(title: str, entries) -> Html:
    """Names and values."""
    return tag(
        "div",
        tag("h3", title),
        tag("dl", *(tag("div", tag("dt", name), tag("dd", value)) for name, value in entries)),
    )


def numbers(summary: str, content: Html) -> Html:
    """Numbers behind a picture, folded."""
    return tag("details", tag("summary", summary), content)


def left_out(n: int, what: str, which: str) -> Html | None:
    """A line that says what is not shown."""
    return tag("p", f"{n} more {what} left out; {which}.", class_="quiet") if n > 0 else None


def cards(entries: list[tuple[str, str, bool]]) -> Html:
    """Large numbers: name, value, and whether it is the one that matters most."""
    items = [
        tag("div", tag("dt", name), tag("dd", value), class_="card main" if main else "card")
        for name, value, main in entries
    ]
    return tag("dl", *items, class_="cards")


def summary(f: Findings) -> Html:
    """The numbers that matter most."""
    e = f.evaluation
    names = {
        "binary": "error",
        "multiclass": "error",
        "multitask": "mean error of the tasks",
        "multilabel": "rows with a wrong label",
    }
    shown = [
        (names[e.kind], percent(e.error), True),
        ("Hamming loss", percent(e.hamming_loss), e.kind == "multilabel"),
        ("balanced error", percent(e.balanced_error), False),
        ("mean AUC" if len(e.labels) > 1 else "AUC", charts.area_text(e.auc), False),
        ("log-loss", number(e.log_loss), False),
    ]
    if e.kind == "binary":
        del shown[1]  # the same as the error
    return section("summary", "Summary", cards(shown))


def model_and_data(f: Findings) -> Html:
    """Settings, and what the rows look like."""
    d = f.data
    entries = [
        ("rows", number(d.n_rows)),
        ("columns", f"{d.n_columns}" + (f", {d.n_nominal} of them nominal" if d.n_nominal else "")),
        ("missing values", percent(d.missing)),
        ("target", f.words.target),
    ]
    if f.evaluation.weight != d.n_rows:
        entries.insert(1, ("total weight", number(f.evaluation.weight, 6)))
    if d.unknown:
        entries.append((f"unknown {f.words.answers}", percent(d.unknown)))
    shares = None
    if d.classes:
        most = sorted(d.classes, key=lambda c: -c[1])
        top = most[0][1] or 1.0
        rows = [[short(name), bar(share / top), percent(share)] for name, share in most[:MOST_LABELS]]
        shares = join(
            [
                table("Classes of the rows", ["class", Html("<span class=\"hidden\">share as a bar</span>"), "share"],
                      rows, class_="bars", numeric=(2,)),
                left_out(len(most) - MOST_LABELS, "classes", f"the {MOST_LABELS} most frequent are shown"),
            ]
        )  # fmt: skip
        shares = numbers("Classes", shares) if len(d.classes) > 6 else shares
    return section(
        "model", "Model and data", tag("div", pairs("Model", f.settings), pairs("Data", entries), class_="two"), shares
    )


def learning(f: Findings) -> Html:
    """Curves over the rounds, with a slider that reads them."""
    c = f.curves
    slider = tag(
        "div",
        tag("label", "Read the curves after round", for_="round"),
        tag("input", type="range", id="round", min="0", max=len(c.rounds) - 1, value=len(c.rounds) - 1, step="1"),
        tag("output", "", id="reading", for_="round"),
        id="reader",
        class_="reader",
        hidden=True,
    )
    picked = np.unique(np.linspace(0, len(c.rounds) - 1, min(_ROWS, len(c.rounds))).astype(int))
    head = ["round", f"training {c.measure}", f"{c.measure}", "training risk", "risk", "bound", "edge"]
    columns = [c.training_error, c.error, c.training_risk, c.risk, c.bound, c.edge]
    used = [k for k, values in enumerate(columns) if values]
    rows = [
        [number(c.rounds[i]), *((percent if k < 2 else number)(columns[k][i]) for k in used)] for i in picked.tolist()
    ]
    shown = table("Curves at some rounds", [head[0], *(head[k + 1] for k in used)], rows, numeric=range(1, 7))
    note = None
    if not f.has_training:
        note = tag("p", "The training error is the one that training kept, with its weights.", class_="quiet")
    return section(
        "learning",
        "Learning curves",
        tag("div", charts.error_curves(c), charts.risk_curves(c, dict(f.settings)["loss"]), class_="two"),
        slider,
        note,
        numbers("Numbers", shown),
    )


def margins(f: Findings) -> Html | None:
    """Margins after several rounds."""
    pictures = []
    if f.curves.training_margins:
        pictures.append(charts.margin_curves(f.curves.training_margins, "training rows", "margins-training"))
    if f.curves.margins:
        pictures.append(charts.margin_curves(f.curves.margins, "given rows", "margins"))
    if not pictures:
        return None
    rows = [
        [number(t), percent(m.negative), number(m.least), number(m.median), number(m.mean)]
        for t, m in f.curves.margins.items()
    ]
    shown = table("Margins of the given rows", ["rounds", "negative", "smallest", "median", "mean"], rows,
                  numeric=range(1, 5))  # fmt: skip
    return section("margins", "Margins", tag("div", *pictures, class_="two"), numbers("Numbers", shown))


def confusion(f: Findings) -> Html:
    """Who is taken for whom."""
    e = f.evaluation
    if e.kind == "multilabel":
        return section("confusion", "Right and wrong, label by label", _label_confusion(f))
    content: list[Html | None] = []
    for t in f.tasks:
        task = e.tasks[t]
        if len(f.tasks) > 1:
            content.append(tag("h3", f"{task.name.capitalize()}: error {percent(task.error)}"))
        content.append(_matrix(task))
    content.append(left_out(len(e.tasks) - len(f.tasks), "tasks", "those with the largest errors are shown"))
    return section("confusion", "Confusion", *content)


def _weight(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else f"{value:.1f}"


def _matrix(task: TaskEvaluation) -> Html:
    matrix = np.array(task.confusion)
    of_class = np.maximum(matrix.sum(axis=1), np.finfo(float).tiny)
    wrong = matrix.sum(axis=1) - np.diag(matrix)
    shown = np.arange(len(matrix))
    if len(matrix) > MOST_LABELS:
        shown = np.sort(np.argsort(-wrong, kind="stable")[:MOST_LABELS])
    rows = []
    for i in shown.tolist():
        cells = [tag("th", short(task.classes[i], 20), scope="row")]
        for j in shown.tolist():
            value = matrix[i, j]
            strength = 0.2 + 0.8 * np.sqrt(value / of_class[i])
            class_ = "zero" if not value else "right" if i == j else "wrong"
            cells.append(tag("td", _weight(value), class_=class_, style=f"--s:{strength:.3f}" if value else None))
        cells.append(tag("td", percent(wrong[i] / of_class[i] if matrix[i].sum() else None), class_="sum"))
        rows.append(tag("tr", *cells))
    head = tag(
        "tr",
        tag("th", Html("true \u2193 predicted \u2192"), scope="col", class_="corner"),
        *(tag("th", short(task.classes[j], 20), scope="col") for j in shown.tolist()),
        tag("th", "error", scope="col", class_="sum"),
    )
    caption = "Rows of each class, and what they were called" + (f", {task.name}" if task.name else "")
    inner = tag("table", tag("caption", caption), tag("thead", head), tag("tbody", *rows), class_="matrix")
    return join(
        [
            tag("div", inner, class_="scroll", tabindex="0", role="region", aria_label=caption),
            left_out(len(matrix) - len(shown), "classes", f"the {MOST_LABELS} with the most mistakes are shown"),
        ]
    )


def _label_confusion(f: Findings) -> Html:
    rows = []
    for t in f.tasks:
        task = f.evaluation.tasks[t]
        (tn, fp), (fn, tp) = task.confusion
        counts = [_weight(v) for v in (tp, fn, fp, tn)]
        rows.append([short(task.name), *counts, percent(task.error), percent(task.balanced_error)])
    head = ["label", "found", "overlooked", "false alarms", "rightly without", "error", "balanced error"]
    return join(
        [
            table("Rows with and without each label", head, rows, numeric=range(1, 7)),
            left_out(len(f.evaluation.tasks) - len(f.tasks), "labels", "those with the largest errors are shown"),
        ]
    )


def labels(f: Findings) -> Html:
    """ROC curves and reliability of every label."""
    e: Evaluation = f.evaluation
    rows, pictures = [], []
    for k in f.labels:
        label = e.labels[k]
        off = None if label.reliability is None else label.reliability.error
        rows.append(
            [
                short(label.name),
                percent(label.prevalence),
                charts.area_text(label.auc),
                percent(label.error),
                percent(off),
            ]
        )
        both = tag(
            "div",
            charts.roc_small(label.roc, label.auc, label.name, f"roc-{k}"),
            charts.reliability_small(label.reliability, label.name, f"reliability-{k}"),
            class_="pair",
        )
        facts = tag("span", f"AUC {charts.area_text(label.auc)}, off by {percent(off)}", class_="quiet")
        pictures.append(tag("figure", tag("figcaption", f"{short(label.name)} ", facts), both, class_="small"))
    head = ["label", "rows with it", "AUC", "wrong sign", "off by"]
    intro = tag(
        "p",
        "Left: true against false positive rate. Right: predicted probability against observed frequency; "
        "larger dots hold more rows, and on the diagonal predictions can be taken at their word; "
        "\u201coff by\u201d is the mean distance from it.",
    )
    measured = (
        f"Over all labels predictions are off by {percent(e.ece)}; the Brier score is {number(e.brier)}. "
        f"The log-loss is {number(e.log_loss)}, and would be {number(e.log_loss_before)} without calibration."
    )
    over_all = None
    if len(e.labels) > 1:
        over_all = tag("figure", tag("figcaption", "All labels "), charts.reliability_small(
            e.reliability, "all labels", "reliability-all"), class_="small")  # fmt: skip
    return section(
        "labels",
        "Label by label" if len(e.labels) > 1 else "Ranking and reliability",
        intro,
        tag("p", measured),
        over_all,
        multiples(pictures, "multiples wide"),
        left_out(len(e.labels) - len(f.labels), "labels", "those with the lowest AUC are shown"),
        numbers("Numbers", table("Labels", head, rows, numeric=range(1, 5))),
    )


def columns(f: Findings) -> Html:
    """What each column contributes."""
    shown = f.importances[:MOST_COLUMNS]
    if not shown:
        return section("columns", "Columns", tag("p", "No cut uses a column of the table."))
    top = shown[0].share or 1.0
    rows = [[short(i.name), bar(i.share / top), percent(i.share), number(i.cuts)] for i in shown]
    head = ["column", Html('<span class="hidden">share as a bar</span>'), "share of gain", "cuts"]
    unused = f.data.n_columns - len(f.importances)
    return section(
        "columns",
        "Columns",
        table("Importance: share in the gain of all cuts", head, rows, class_="bars", numeric=(2, 3)),
        left_out(len(f.importances) - len(shown), "columns", "the most important are shown"),
        tag("p", f"{unused} columns are not used by any cut.", class_="quiet") if unused else None,
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


def rules(f: Findings) -> Html:
    """The first rounds in words."""
    items: list[Html] = []
    so_far = 0
    for rule in f.rules:
        if so_far > _ALL_LINES:
            break
        facts = [f"edge {number(rule.edge)}", f"alpha {number(rule.alpha)}"]
        if rule.Z is not None:
            facts.append(f"Z {number(rule.Z, 4)}")
        body = []
        lines = rule.lines(max_lines=_LINES)
        so_far += len(lines)
        for line in lines:
            words = line.lstrip()
            body.append(tag("span", words, Html("\n"), style=f"--d:{len(line) - len(words)}"))
        items.append(
            tag(
                "li",
                tag("h3", f"Round {rule.round} ", tag("span", ", ".join(facts), class_="quiet")),
                tag("code", *body, class_="words"),
            )
        )
    return section("rules", "The first rounds in words", tag("p", f.words.votes), tag("ol", *items, class_="rules"))


def mistakes(f: Findings) -> Html:
    """The rows that are most clearly wrong."""
    found = f.evaluation.mistakes
    if not found:
        return section("mistakes", "Largest mistakes", tag("p", "There are none."))
    several = any(m.task for m in found)
    shown = list(found[0].values)[:VALUES]
    head = ["row", *(["task"] if several else []), "true", "predicted", "margin", "p of true", *map(short, shown)]
    rows = []
    for m in found:
        values = [m.values.get(name) for name in shown]
        rows.append(
            [
                str(m.row),
                *([short(m.task)] if several else []),
                short(m.true),
                short(m.predicted),
                number(m.margin),
                number(m.probability, 2),
                *(short(v, 24) if isinstance(v, str) else number(v, 4) for v in values),
            ]
        )
    first = len(head) - len(shown)
    words = {first + k for k, name in enumerate(shown) if any(isinstance(m.values.get(name), str) for m in found)}
    numeric = set(range(first - 2, len(head))) - words
    caption = "Rows in which the right answer loses by most, counted from 0, and what they hold where it matters"
    return section("mistakes", "Largest mistakes", table(caption, head, rows, numeric=numeric))


def sentence(f: Findings) -> str:
    """The page in one sentence."""
    s, e = dict(f.settings), f.evaluation
    rounds = f"{e.n_rounds} round{'' if e.n_rounds == 1 else 's'}"
    wrong = {"multilabel": f"{percent(e.hamming_loss)} of the labels are wrong"}.get(
        e.kind, f"{percent(e.error)} of the answers are wrong"
    )
    model = f"{rounds} of {s['base learner']} with {s['votes']} votes and {s['loss']} loss"
    return f"{model}. On {e.n_rows} given rows {wrong}."


SECTIONS = (
    ("summary", "Summary", summary),
    ("model", "Model and data", model_and_data),
    ("learning", "Learning", learning),
    ("margins", "Margins", margins),
    ("confusion", "Confusion", confusion),
    ("labels", "Labels", labels),
    ("columns", "Columns", columns),
    ("shapes", "Shapes", shapes),
    ("rules", "Rules", rules),
    ("mistakes", "Mistakes", mistakes),
)
