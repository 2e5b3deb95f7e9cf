"""The sections that all reports have."""

from __future__ import annotations

import numpy as np

from . import charts
from .charts import bar
from .findings import MOST_LABELS, Findings
from .markup import Html, join, number, percent, short, tag
from .parts import left_out, numbers, pairs, section, table

_ROWS = 12  # of a table of numbers behind a picture
_LINES = 24  # of one round's rules
_ALL_LINES = 60  # of all of them; a round that begins before is shown
VALUES = 5  # columns of a mistake


def verdict(f: Findings) -> Html:
    """What should be read first: how the model compares with a constant answer, and what looks odd."""
    items = [tag("p", r.text, class_="remark", data_topic=r.topic) for r in f.remarks]
    compared = f.evaluation.comparison()
    if compared is not None and not any(r.topic.endswith("better") for r in f.remarks):
        items.insert(0, tag("p", f"Better than {compared.what}: {compared.numbers}.", class_="remark good"))
    return tag("div", *items, class_="remarks")


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
        several = {"class": "Classes", "grade": "Grades"}[f.words.value]
        most = sorted(d.classes, key=lambda c: -c[1])
        top = most[0][1] or 1.0
        rows = [[short(name), bar(share / top), percent(share)] for name, share in most[:MOST_LABELS]]
        head = [f.words.value, Html('<span class="hidden">share as a bar</span>'), "share"]
        more = left_out(len(most) - MOST_LABELS, several.lower(), f"the {MOST_LABELS} most frequent are shown")
        shares = join([table(f"{several} of the rows", head, rows, class_="bars", numeric=(2,)), more])
        shares = numbers(several, shares) if len(d.classes) > 6 else shares
    left = join([pairs("Origin", f.origin), pairs("Data", entries)])
    return section(
        "model", "Model and data", tag("div", pairs("Model", f.settings), tag("div", left), class_="two"), shares
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
