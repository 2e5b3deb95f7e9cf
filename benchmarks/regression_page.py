"""The page of the regression benchmark, from its results: docs/notes/regression-benchmarks.md."""

from __future__ import annotations

from .markdown import bold_lowest, run_table, short, spread, table

_PEERS = ("CatBoost", "LightGBM", "XGBoost", "HistGradientBoosting")
_OURS = "multiboost"
_INTRO = """# Regression, softmax and losses under noise

Made by `make bench-regression` from `benchmarks/results/regression.json`; parts of it by
`python -m benchmarks.regression PART --folds K`. All packages are at their defaults, with one thread each, fold by fold
in turn. Seconds are processor time of a fit, on a machine that was busy with other work: only ratios mean something.
"""


def page(results: dict) -> str:
    """All parts that there are, as Markdown."""
    made = {
        "one_target": _one_target,
        "several_targets": _several_targets,
        "losses_of_classes": _classes,
        "losses_under_noise": _noise,
    }
    parts = [_INTRO]
    for name, show in made.items():
        if name in results["parts"]:
            part = results["parts"][name]
            parts.append(f"{show(part['figures'])}\n\nThe first {part['folds']} of five folds.\n")
    about = results["parts"][next(iter(results["parts"]))]
    parts.append("## Made with\n\n" + run_table(about["machine"], about["threads"], about["load_before"]))
    return "\n".join(parts) + "\n"


def _ratios(figures: list[dict]) -> str:
    """Figures with one number, and what was asked."""
    rows = [
        [f["name"], "" if f["asked"] is None else f"at most {f['asked']:g}", short(f["reached"], 3),
         {True: "yes", False: "no", None: ""}[f["ok"]]]
        for f in figures if "reached" in f
    ]  # fmt: skip
    return table(["", "asked", "reached", ""], rows)


def _one_target(figures: list[dict]) -> str:
    sets = [f for f in figures if "rmse" in f]
    methods = (_OURS, *_PEERS)
    rows, times = [], []
    for of in sets:
        values = [of["rmse"][m] for m in methods]
        name = of["name"].partition(",")[0]
        rows.append([name, *bold_lowest(values, [short(v, 4) for v in values])])
        times.append([name, *(spread(of["seconds"][m]) for m in methods)])
    head = ["", *methods]
    return (
        f"## One target\n\nRMSE, mean of the folds:\n\n{table(head, rows)}\n\n"
        f"Seconds of a fit, median and range of the folds:\n\n{table(head, times)}\n\n{_ratios(figures)}"
    )


def _several_targets(figures: list[dict]) -> str:
    text = ["## Several targets\n\nMean relative RMSE, that of the training mean being 1:"]
    for what in ("all targets", "a third deleted"):
        sets = [f for f in figures if "errors" in f and f", {what}," in f["name"]]
        methods = list(dict.fromkeys(m for of in sets for m in of["errors"]))
        rows = []
        for of in sets:
            values = [of["errors"].get(m) for m in methods]
            shown = ["" if v is None else short(v, 3) for v in values]
            rows.append([of["name"].partition(",")[0], *bold_lowest(values, shown)])
        text.append(f"{what[0].upper()}{what[1:]}:\n\n{table(['', *methods], rows)}")
    return "\n\n".join([*text, _ratios(figures)])


def _classes(figures: list[dict]) -> str:
    losses = list(figures[0]["errors"])
    rows = []
    for of in figures:
        values = [of["errors"][loss] for loss in losses]
        rows.append([of["name"].partition(",")[0], *bold_lowest(values, [f"{v:.2f}" for v in values])])
    return (
        f"## Losses of classes\n\nErrors in per cent, all else as chosen for the loss:\n\n{table(['', *losses], rows)}"
    )


def _noise(figures: list[dict]) -> str:
    rows = [
        [of["name"].partition(",")[0], loss, *(f"{v:.2f}" for v in curve)]
        for of in figures
        for loss, curve in of["errors"].items()
    ]
    head = ["", "loss", *(f"{n} rounds" for n in figures[0]["rounds"])]
    return (
        "## Losses under noise\n\nTest error in per cent with a tenth of the training labels flipped, `tree:16`, a "
        f"rate of 0.2, all rows in every round:\n\n{table(head, rows)}"
    )
