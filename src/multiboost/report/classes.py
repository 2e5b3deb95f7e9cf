"""The sections of a report about classes and labels, beside those that all reports have."""

from __future__ import annotations

import numpy as np

from ..evaluation.evaluation import Evaluation, TaskEvaluation
from . import charts
from .charts import multiples
from .columns import columns, dependence, shapes
from .findings import MOST_LABELS, Findings
from .lean import lean
from .markup import Html, capital, join, number, percent, short, tag
from .parts import between, caption_of, cards, left_out, methods, numbers, section, table
from .sections import VALUES, learning, model_and_data, rules, verdict

_WIDE = 18  # classes of a matrix whose cells are small


def sentence(f: Findings) -> str:
    """The page in one sentence."""
    s, e = dict(f.settings), f.evaluation
    rounds = f"{e.n_rounds} round{'' if e.n_rounds == 1 else 's'}"
    wrong = {"multilabel": f"{percent(e.hamming_loss)} of the labels are wrong"}.get(
        e.kind, f"{percent(e.error)} of the answers are wrong"
    )
    model = f"{rounds} of {s['base learner']} with {s['votes']} votes and {s['loss']} loss"
    return f"{model}. On {e.n_rows} given rows {wrong}."


def summary(f: Findings) -> Html:
    """The numbers that matter most."""
    e = f.evaluation
    names = {
        "binary": "error",
        "multiclass": "error",
        "multitask": "mean error of the tasks",
        "multilabel": "rows with a wrong label",
    }
    several, always = e.kind == "multilabel", e.constant
    answer = f"always \u201c{short(always.answer, 24)}\u201d" if always.answer else "always the most frequent answers"
    shown = [
        (names[e.kind], percent(e.error), not several, between(e.intervals.get("error"), percent)),
        ("Hamming loss", percent(e.hamming_loss), several, between(e.intervals.get("hamming_loss"), percent)),
        (
            f"{answer}: {'Hamming loss' if several else names[e.kind]}",
            percent(always.hamming_loss if several else always.error),
            False,
            None,
        ),
        ("log-loss", number(e.log_loss), False, between(e.intervals.get("log_loss"), number)),
        ("log-loss of the shares of the classes", number(always.log_loss), False, None),
        ("balanced error", percent(e.balanced_error), False, None),
        ("mean AUC" if len(e.labels) > 1 else "AUC", charts.area_text(e.auc), False, None),
    ]
    if e.kind == "binary":
        del shown[1]  # the same as the error
    said = methods(e.intervals, {"error": "error", "hamming_loss": "Hamming loss", "log_loss": "log-loss"})
    return section("summary", "Summary", verdict(f), cards(shown), said)


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
            content.append(tag("h3", f"{capital(task.name)}: error {percent(task.error)}"))
        content += [_matrix(task), _by_class(task)]
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
    size = "matrix dense" if len(shown) > _WIDE else "matrix"
    inner = tag("table", caption_of(caption), tag("thead", head), tag("tbody", *rows), class_=size)
    return join(
        [
            tag("div", inner, class_="scroll", tabindex="0", role="region", aria_label=caption),
            left_out(len(matrix) - len(shown), "classes", f"the {MOST_LABELS} with the most mistakes are shown"),
        ]
    )


def _by_class(task: TaskEvaluation) -> Html:
    """Precision, recall and F1, class by class; those with the lowest F1 where there are many."""
    worst = sorted(task.by_class, key=lambda c: (c.f1 is None, c.f1))[:MOST_LABELS]
    shown = [c for c in task.by_class if c in worst]
    rows = [[short(c.name), _weight(c.weight), *(percent(v) for v in (c.precision, c.recall, c.f1))] for c in shown]
    made = table(
        "Precision, recall and F1",
        ["class", "rows", "precision", "recall", "F1"],
        rows,
        numeric=range(1, 5),
    )
    more = left_out(len(task.by_class) - len(shown), "classes", "those with the lowest F1 are shown")
    words = "Precision: how many of those called so are. Recall: how many of those that are were called so."
    made = join([made, more, tag("p", words, class_="quiet")])
    return made if len(shown) <= 6 else numbers("Precision, recall and F1 of every class", made)


def _label_confusion(f: Findings) -> Html:
    rows = []
    for t in f.tasks:
        task = f.evaluation.tasks[t]
        (tn, fp), (fn, tp) = task.confusion
        counts = [_weight(v) for v in (tp, fn, fp, tn)]
        of_label = task.by_class[1]
        shares = (of_label.precision, of_label.recall, of_label.f1, task.error)
        rows.append([short(task.name), *counts, *map(percent, shares)])
    head = ["label", "found", "overlooked", "false alarms", "rightly without", "precision", "recall", "F1", "error"]
    return join(
        [
            table("Rows with and without each label", head, rows, numeric=range(1, 9)),
            left_out(len(f.evaluation.tasks) - len(f.tasks), "labels", "those with the largest errors are shown"),
        ]
    )


def two_classes(f: Findings) -> Html:
    """ROC, precision and recall, reliability at a readable size, and what comes of thresholds."""
    label = f.evaluation.labels[0]
    off = None if label.reliability is None else label.reliability.error
    pictures = [
        charts.figure(
            charts.roc_picture(label.roc, label.auc, label.name, "roc-0", large=True),
            f"ROC, area {charts.area_text(label.auc)}. On the diagonal a model guesses.",
        ),
        charts.figure(
            charts.precision_recall_picture(label, "precision-recall"),
            f"Precision against recall, mean precision {number(label.average_precision)}. Calling all rows so has the "
            f"precision {number(label.prevalence)}, the dotted line.",
        ),
        charts.figure(
            charts.reliability_picture(label.reliability, label.name, "reliability-0", large=True),
            f"Reliability: predicted against observed, off by {percent(off)} on average. Bars are intervals of "
            "95\u00a0%; every bin has 20 rows or more, if there are as many.",
        ),
    ]
    rows = [
        [
            number(t.threshold, 2),
            *(percent(v) for v in (t.called, t.precision, t.recall, t.f1, t.false_alarms, t.error)),
        ]
        for t in label.thresholds
    ]
    head = ["from probability", "rows called so", "precision", "recall", "F1", "false alarms", "error"]
    caption = f"What comes of calling a row \u201c{short(label.name)}\u201d from a probability on"
    made = table(caption, head, rows, numeric=range(7)) if rows else None
    note = "One line has the highest F1 on these rows. False alarms are a share of the other class."
    return section(
        "labels",
        "Two classes",
        tag("p", f"All of this is about the class \u201c{short(label.name)}\u201d."),
        multiples(pictures, "multiples wide"),
        made,
        tag("p", note, class_="quiet") if rows else None,
    )


def labels(f: Findings) -> Html:
    """ROC curves and reliability of every label."""
    e: Evaluation = f.evaluation
    if len(e.labels) == 1:
        return two_classes(f)
    rows, pictures = [], []
    for k in f.labels:
        label = e.labels[k]
        off = None if label.reliability is None else label.reliability.error
        rows.append(
            [
                short(label.name),
                percent(label.prevalence),
                charts.area_text(label.auc),
                number(label.average_precision),
                percent(label.error),
                percent(off),
            ]
        )
        both = tag(
            "div",
            charts.roc_picture(label.roc, label.auc, label.name, f"roc-{k}"),
            charts.reliability_picture(label.reliability, label.name, f"reliability-{k}"),
            class_="pair",
        )
        facts = tag("span", f"AUC {charts.area_text(label.auc)}, off by {percent(off)}", class_="quiet")
        pictures.append(tag("figure", tag("figcaption", f"{short(label.name)} ", facts), both, class_="small"))
    head = ["label", "rows with it", "AUC", "mean precision", "wrong sign", "off by"]
    intro = tag(
        "p",
        "Left: true against false positive rate. Right: predicted probability against observed frequency; "
        "larger dots hold more rows, at least 20 if there are as many, and bars are intervals of 95\u00a0%. On the "
        "diagonal predictions can be taken at their word; \u201coff by\u201d is the mean distance from it.",
    )
    measured = (
        f"Over all labels predictions are off by {percent(e.ece)}; the Brier score is {number(e.brier)}. "
        f"The log-loss is {number(e.log_loss)}, and would be {number(e.log_loss_before)} without calibration."
    )
    over_all = charts.reliability_picture(e.reliability, "all labels", "reliability-all", large=True)
    return section(
        "labels",
        "Label by label",
        intro,
        tag("p", measured),
        tag("figure", tag("figcaption", "All labels"), over_all, class_="small alone"),
        multiples(pictures, "multiples wide"),
        left_out(len(e.labels) - len(f.labels), "labels", "those with the lowest AUC are shown"),
        numbers("Numbers", table("Labels", head, rows, numeric=range(1, 6))),
    )


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


SECTIONS = (
    ("summary", "Summary", summary),
    ("model", "Model and data", model_and_data),
    ("lean", "Lean", lean),
    ("learning", "Learning", learning),
    ("margins", "Margins", margins),
    ("confusion", "Confusion", confusion),
    ("labels", "Labels", labels),
    ("columns", "Columns", columns),
    ("dependence", "Dependence", dependence),
    ("shapes", "Shapes", shapes),
    ("rules", "Rules", rules),
    ("mistakes", "Mistakes", mistakes),
)
