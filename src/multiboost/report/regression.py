"""The sections of a report about numbers, beside those that all reports have."""

from __future__ import annotations

from . import scatter
from .charts import N_COLOURS, figure, multiples
from .columns import columns, dependence, shapes
from .findings import Findings
from .markup import Html, number, percent, short, tag
from .parts import between, cards, left_out, methods, section, table
from .sections import VALUES, learning, model_and_data, rules, verdict


def sentence(f: Findings) -> str:
    """The page in one sentence."""
    s, e = dict(f.settings), f.evaluation
    rounds = f"{e.n_rounds} round{'' if e.n_rounds == 1 else 's'}"
    model = f"{rounds} of {s['base learner']} with {s['loss']} loss"
    if e.r2 is None:
        return f"{model}. On {e.n_rows} given rows the RMSE is {number(e.rmse, 4)}."
    several = ", averaged over the targets" if len(e.targets) > 1 else ""
    return f"{model}. On {e.n_rows} given rows R\u00b2 is {number(e.r2)} and the RMSE {number(e.rmse, 4)}{several}."


def summary(f: Findings) -> Html:
    """The numbers that matter most."""
    e = f.evaluation
    several = "mean " if len(e.targets) > 1 else ""
    notes = {name: between(interval, lambda v: number(v, 3)) for name, interval in e.intervals.items()}
    shown = [
        (f"{several}RMSE", number(e.rmse, 4), True, notes.get("rmse")),
        (f"{several}RMSE of predicting the mean", number(e.rmse_of_mean, 4), False, None),
        (f"{several}MAE", number(e.mae, 4), False, notes.get("mae")),
        (f"{several}MAE of predicting the median", number(e.mae_of_median, 4), False, None),
        (f"{several}R\u00b2", number(e.r2), False, notes.get("r2")),
    ]
    if dict(f.settings)["loss"] != "squared":
        shown.append(("relative error", percent(e.error), False, "what is left of the best constant's loss"))
    if e.coverage is not None:
        levels = [q.level for q in e.targets[0].quantiles]
        shown.append((f"rows within {number(levels[0])} to {number(levels[-1])}", percent(e.coverage), False, None))
    said = methods(e.intervals, {"rmse": "RMSE", "mae": "MAE", "r2": "R\u00b2"})
    return section("summary", "Summary", verdict(f), cards(shown), said)


def targets(f: Findings) -> Html | None:
    """Target by target, where there are several."""
    found = f.evaluation.targets
    if len(found) < 2:
        return None
    rows = [
        [
            short(t.name),
            number(t.n_rows),
            *(number(v, 4) for v in (t.rmse, t.rmse_of_mean, t.mae, t.r2)),
            percent(t.error),
        ]
        for t in (found[k] for k in f.tasks)
    ]
    head = ["target", "rows", "RMSE", "RMSE of the mean", "MAE", "R\u00b2", "relative error"]
    return section(
        "targets",
        "Target by target",
        table("Targets, each of the rows in which it is known", head, rows, numeric=range(1, 7)),
        left_out(len(found) - len(f.tasks), "targets", "those with the lowest R\u00b2 are shown"),
    )


def predictions(f: Findings) -> Html:
    """Predicted against true, and what is left."""
    content: list[Html | None] = []
    for k in f.tasks:
        target = f.evaluation.targets[k]
        if target.dots is None or target.residuals is None:
            continue
        if len(f.evaluation.targets) > 1:
            content.append(tag("h3", f"{short(target.name)}: R\u00b2 {number(target.r2)}"))
        pictures = [
            figure(
                scatter.predicted_against_true(target.dots, target.name, f"predicted-{k}"),
                "Predicted against true. On the diagonal predictions are right.",
            ),
            figure(
                scatter.residuals_against_predicted(target.dots, target.name, f"residuals-{k}"),
                "What is left, against what was predicted. A slope or a funnel is something still to be learned.",
            ),
            figure(
                scatter.residual_histogram(target.residuals, target.name, f"histogram-{k}"), _histogram_words(target)
            ),
        ]
        content.append(multiples(pictures, "multiples"))
    most = max((len(t.dots.row) for t in f.evaluation.targets if t.dots), default=0)
    note = None
    if most < f.evaluation.n_rows:
        note = tag("p", f"Of each target {most} rows are drawn, evenly spread along the predictions.", class_="quiet")
    return section("predictions", "Predictions and residuals", *content, note)


def _histogram_words(target) -> str:
    bars = target.residuals
    outside = (bars.below + bars.above) / (sum(bars.weight) + bars.below + bars.above)
    words = "Share of the rows by their residual."
    return f"{words} {percent(outside)} lie outside of the picture." if outside else words


def quantiles(f: Findings) -> Html | None:
    """How many rows lie below each quantile, and between the outer ones."""
    shown = [f.evaluation.targets[k] for k in f.tasks if f.evaluation.targets[k].quantiles]
    if not shown:
        return None
    rows = [
        [f"{short(t.name)} {q.level:g}".strip(), percent(q.level), percent(q.coverage), number(q.pinball, 4)]
        for t in shown
        for q in t.quantiles
    ]
    content = [
        table("Quantiles", ["quantile", "should be", "rows at or below", "pinball loss"], rows, numeric=(1, 2, 3))
    ]
    if shown[0].coverage is not None:
        levels = [q.level for q in shown[0].quantiles]
        rows = [
            [short(t.name) or "prediction", percent(levels[-1] - levels[0]), percent(t.coverage), number(t.width, 4)]
            for t in shown
        ]
        head = ["target", "should be", "rows inside", "mean width"]
        content.append(table("Between the outer quantiles", head, rows, numeric=(1, 2, 3)))
    entries = [(f"s{k % N_COLOURS} solid", t.name) for k, t in enumerate(shown)] if len(shown) > 1 else []
    picture = figure(
        scatter.coverage(shown, "coverage"),
        "Rows at or below each quantile. On the diagonal it is as many as there should be.",
        entries=entries,
    )
    return section("quantiles", "Quantiles", tag("div", picture, tag("div", *content), class_="two"))


def mistakes(f: Findings) -> Html:
    """The rows that the model is farthest from."""
    found = f.evaluation.mistakes
    if not found:
        return section("mistakes", "Largest mistakes", tag("p", "There are none."))
    several = any(m.target for m in found)
    shown = list(found[0].values)[:VALUES]
    head = ["row", *(["target"] if several else []), "true", "predicted", "true \u2212 predicted", *map(short, shown)]
    rows = [
        [
            str(m.row),
            *([short(m.target)] if several else []),
            *(number(v, 4) for v in (m.true, m.predicted, m.residual)),
            *(short(v, 24) if isinstance(v, str) else number(v, 4) for v in (m.values.get(name) for name in shown)),
        ]
        for m in found
    ]
    first = len(head) - len(shown)
    words = {first + k for k, name in enumerate(shown) if any(isinstance(m.values.get(name), str) for m in found)}
    caption = "Rows with the largest residuals, counted from 0, and what they hold where it matters"
    numeric = set(range(first - 3, len(head))) - words
    return section("mistakes", "Largest mistakes", table(caption, head, rows, numeric=numeric))


SECTIONS = (
    ("summary", "Summary", summary),
    ("model", "Model and data", model_and_data),
    ("targets", "Targets", targets),
    ("learning", "Learning", learning),
    ("predictions", "Predictions", predictions),
    ("quantiles", "Quantiles", quantiles),
    ("columns", "Columns", columns),
    ("dependence", "Dependence", dependence),
    ("shapes", "Shapes", shapes),
    ("rules", "Rules", rules),
    ("mistakes", "Mistakes", mistakes),
)
