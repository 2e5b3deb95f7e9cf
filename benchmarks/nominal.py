"""Nominal columns: ours beside the native handling of other packages, subsets beside one-hot, and many categories."""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold

from multiboost import Indicator, MultiBoostClassifier, Product, Selector, Stump

from . import data, nominal_page
from .curve import first_at
from .defaults import OURS, log_losses
from .measure import error_of, in_turn, load, machine, seconds_of, source, write_json
from .peers import PEERS, THREADS

RESULTS = Path(__file__).resolve().parent / "results" / "nominal.json"

SUBSETS, ONE_HOT, SELECTORS = "stumps on subsets", "stumps on one-hot columns", "selectors"
SETS = ("mushroom", "nursery", "car", "kr.vs.kp", "vote", "tic-tac-toe", "anneal.orig", "colic", "heart.h")
NOMINAL_SETS = ("nursery", "kr.vs.kp", "mushroom", "car", "vote", "tic-tac-toe")  # all without numeric columns
LEVELS = (2.0, 1.5, 1.25, 1.1, 1.05, 1.0)  # of the lowest error of one-hot columns
FEWEST = 5  # rows of a class: one for every fold


class Size(NamedTuple):
    """How much is measured."""

    repeats: int = 5  # of the fits on adult
    rounds: int | None = None  # of all packages; None: as they come
    folds: int = 5
    curve: int = 1000  # rounds of a learning curve
    level: int = 500  # rounds in which one-hot columns set the level to reach
    rows: int = 1_000_000  # of the rating tables
    categories: int = 100_000
    rating_repeats: int = 3
    rating_rounds: int = 10
    cut: int | None = None  # rows of a data set that are used; None: all


FULL = Size()
SMALL = Size(
    repeats=2, rounds=20, folds=2, curve=50, level=25, rows=20_000, categories=2000, rating_repeats=2, cut=2000
)


def one_hot(X):
    """A column of 0 and 1 for every category, and one for missing where values are; numbers stay as they are."""
    import pandas as pd

    parts = []
    for name, column in X.items():
        if column.dtype == "category":
            parts.append(pd.get_dummies(column, prefix=name, dummy_na=column.hasnans, dtype=float))
        else:
            parts.append(column)
    return pd.concat(parts, axis=1)


def same(X):
    """The table as it is."""
    return X


class Method(NamedTuple):
    """A way to learn: from a number of rounds to a classifier, and from a data frame to the table it takes."""

    model: Callable
    table: Callable


def ours(base_learner="tree", rounds: int | None = None, **parameters) -> MultiBoostClassifier:
    """Our classifier; no rounds, all rounds of the defaults."""
    given = {} if rounds is None else {"n_estimators": rounds}
    return MultiBoostClassifier(base_learner, n_jobs=THREADS, **given, **parameters)


NATIVE = {
    OURS: Method(lambda rounds: ours(rounds=rounds), same),
    **{name: Method(peer, peer.table) for name, peer in PEERS.items()},
}
METHODS = {
    OURS: NATIVE[OURS],
    SUBSETS: Method(lambda rounds: ours(Stump(), rounds), same),
    ONE_HOT: Method(lambda rounds: ours(Stump(), rounds), one_hot),
    **{name: method for name, method in NATIVE.items() if name != OURS},
}


def pair(base_learner, name: str) -> dict[str, Method]:
    """Discrete votes on subsets and on one-hot columns; the latter is named last."""
    return {
        f"{name} on subsets": Method(lambda rounds: ours(base_learner, rounds, votes="discrete"), same),
        f"{name} on one-hot columns": Method(lambda rounds: ours(base_learner, rounds, votes="discrete"), one_hot),
    }


SELECT = {SELECTORS: Method(lambda rounds: ours(Selector(), rounds, votes="discrete"), same)}
CURVES = {
    **{name: (name, SELECT | pair(Stump(), "stumps")) for name in NOMINAL_SETS},
    **{f"{name}, trees": (name, pair("tree:4", "trees of 4 leaves")) for name in NOMINAL_SETS[:2]},
    **{f"{name}, products": (name, pair("product:2", "products of 2")) for name in NOMINAL_SETS[:2]},
}


def spread(values) -> dict[str, float]:
    """Lowest, median and highest."""
    return {"min": float(np.min(values)), "median": float(np.median(values)), "max": float(np.max(values))}


def mean_and_error(values) -> dict[str, float]:
    """Mean over folds and its standard error."""
    return {"mean": float(np.mean(values)), "error": float(np.std(values, ddof=1) / np.sqrt(len(values)))}


def installed(methods: dict[str, Method], X, y) -> dict[str, Method]:
    """The methods whose packages are there, each after a tiny fit: imports and compilation are not to be timed."""
    found = {}
    for name, method in methods.items():
        try:
            method.model(2).fit(method.table(X), y)
        except ImportError as problem:
            print(f"skipped {name}: {problem}", flush=True)
        else:
            found[name] = method
    return found


def tiny(X, y, rows: int = 600):
    """Some rows, with the classes in proportion."""
    some = np.argsort(y, kind="stable")[:: max(1, len(y) // rows)]
    return X.iloc[some], y[some]


def adult(size: Size) -> dict:
    """Errors, log-losses and training times on adult, everything at its defaults."""
    split = data.adult()
    split = split._replace(X=split.X[: size.cut], y=split.y[: size.cut])
    methods = installed(NATIVE, *tiny(split.X, split.y))
    tables = {name: (m.table(split.X), m.table(split.X_test)) for name, m in methods.items()}
    models: dict = {}

    def train(name: str) -> None:
        models[name] = methods[name].model(size.rounds).fit(tables[name][0], split.y)

    seconds = in_turn({name: (lambda name=name: train(name)) for name in methods}, size.repeats)
    found = {}
    for name, model in models.items():
        X_test = tables[name][1]
        found[name] = {
            "error": error_of(model.predict(X_test), split.y_test),
            "log_loss": float(log_losses(model, X_test, split.y_test).mean()),
            "all_seconds": seconds[name],
            "seconds": spread(seconds[name]),
            "ratio": spread(np.divide(seconds[OURS], seconds[name])),
        }
        print(
            f"{'adult':<14}{name:<28}error {found[name]['error']:6.2f} %   log-loss {found[name]['log_loss']:7.4f}   "
            f"{found[name]['seconds']['median']:8.3f} s   ours / this {found[name]['ratio']['median']:7.3f}",
            flush=True,
        )
    return {"chosen": {"loss": models[OURS].loss_, "learner": repr(models[OURS].base_learner_)}, "methods": found}


def table_of(name: str, cut: int | None = None):
    """A data set without the rows of classes that are too few for the folds."""
    X, y = data.mushroom() if name == "mushroom" else data.arff_frame(name)
    if cut is not None:
        rows = np.random.default_rng(0).permutation(len(y))[:cut]
        X, y = X.iloc[rows], y[rows]
    enough = np.isin(y, np.flatnonzero(np.bincount(y) >= FEWEST))
    return X[enough].reset_index(drop=True), y[enough]


def folds(X, y, n: int):
    """Numbers of training and test rows, the same for every method."""
    return list(StratifiedKFold(n, shuffle=True, random_state=0).split(X, y))


def describe(X, y) -> dict:
    """Size of a data set."""
    nominal = X.select_dtypes("category")
    return {
        "rows": len(y),
        "numeric": X.shape[1] - nominal.shape[1],
        "nominal": nominal.shape[1],
        "most_categories": int(nominal.nunique().max()),
        "missing": 100 * float(X.isna().to_numpy().mean()),
        "classes": len(np.unique(y)),
    }


def sets(size: Size) -> dict:
    """Cross-validated errors: the defaults, stumps on subsets and on one-hot columns, and other packages."""
    found: dict = {}
    for set_name in SETS:
        X, y = table_of(set_name, size.cut)
        parts = folds(X, y, size.folds)
        methods = installed(METHODS, *tiny(X, y))
        tables = {name: m.table(X) for name, m in methods.items()}
        errors: dict = {name: [] for name in methods}
        seconds: dict = {name: [] for name in methods}
        for train, test in parts:  # the methods in turn within a fold
            for name, method in methods.items():
                model, table = method.model(size.rounds), tables[name]
                X_train, y_train = table.iloc[train], y[train]
                seconds[name].append(seconds_of(lambda m=model, X=X_train, y=y_train: m.fit(X, y)))
                errors[name].append(error_of(model.predict(table.iloc[test]), y[test]))
        found[set_name] = {"table": describe(X, y), "methods": {}}
        for name in methods:
            figures = {"error": mean_and_error(errors[name]), "seconds": float(np.sum(seconds[name]))}
            found[set_name]["methods"][name] = figures
            mean, error = figures["error"].values()
            print(
                f"{set_name:<14}{name:<28}error {mean:6.2f} +- {error:5.2f} %   {figures['seconds']:8.3f} s", flush=True
            )
    return found


def curve_of(model, X_test, y_test, rounds: int) -> np.ndarray:
    """Test error after every round; constant after the last one, where boosting stopped early."""
    errors = [error_of(predicted, y_test) for predicted in model.staged_predict(X_test)]
    return np.array(errors + errors[-1:] * (rounds - len(errors)))


def curves(size: Size) -> dict:
    """Test error against rounds of discrete AdaBoost.MH."""
    found: dict = {}
    shown = np.unique(np.geomspace(1, size.curve, 80).astype(int))
    for title, (set_name, learners) in CURVES.items():
        X, y = table_of(set_name, size.cut)
        tables = {name: m.table(X) for name, m in installed(learners, *tiny(X, y)).items()}
        errors = {name: np.zeros(size.curve) for name in tables}
        seconds = dict.fromkeys(tables, 0.0)
        for train, test in folds(X, y, size.folds):
            for name, table in tables.items():
                model, X_train, y_train = learners[name].model(size.curve), table.iloc[train], y[train]
                seconds[name] += seconds_of(lambda m=model, X=X_train, y=y_train: m.fit(X, y))
                errors[name] += curve_of(model, table.iloc[test], y[test], size.curve) / size.folds
        lowest = float(errors[list(learners)[-1]][: size.level].min())
        levels = [factor * lowest for factor in LEVELS] if lowest > 0 else [0.0]
        methods = {
            name: {
                "first": [first_at(curve, level) for level in levels],
                "lowest": float(curve.min()),
                "last": float(curve[-1]),
                "seconds": seconds[name],
                "curve": curve[shown - 1].round(4).tolist(),
            }
            for name, curve in errors.items()
        }
        found[title] = {"levels": levels, "rounds": shown.tolist(), "methods": methods}
        for name, figures in methods.items():
            reached = ", ".join(f"{level:.2f} %: {t}" for level, t in zip(levels, figures["first"], strict=True))
            print(f"{title:<20}{name:<34}first rounds at {reached}; lowest {figures['lowest']:.2f} %", flush=True)
    return found


def rounds_of(learner, X, y, size: Size) -> dict:
    """Seconds of every round, and of what comes before the first one."""
    model = ours(learner, size.rating_rounds, votes="discrete")
    seconds = seconds_of(lambda: model.fit(X, y))
    each = model.history_["seconds_search"] + model.history_["seconds_update"]
    return {"rounds": each, "before": seconds - float(each.sum())}


def many(size: Size) -> dict:
    """Seconds of a round where columns have very many categories, five classes, discrete votes."""
    n, many = size.rows, size.categories
    warm = data.ratings(2000, 50, 20)
    for learner in (Product(2, Indicator()), Indicator()):
        ours(learner, 2, votes="discrete").fit(*warm)
    found: dict = {"rows": n, "rating_rounds": size.rating_rounds, "repeats": size.rating_repeats, "product": []}
    for categories in ((many, many // 50), (many, many)):
        X, y = data.ratings(n, *categories)
        runs = [rounds_of(Product(2, Indicator()), X, y, size) for _ in range(size.rating_repeats)]
        row = {
            "categories": [len(X[name].cat.categories) for name in X],
            "round": spread(np.concatenate([run["rounds"] for run in runs])),
            "before": spread([run["before"] for run in runs]),
        }
        found["product"].append(row)
        print(f"product of two indicators, {row['categories']}: {_text(row['round'])} s a round", flush=True)
    steps = [many // 4, many // 2, many, 2 * many]
    tables = {categories: data.ratings(n, categories, 1) for categories in steps}
    runs_of: dict = {categories: [] for categories in steps}
    for _ in range(size.rating_repeats):
        for categories, (X, y) in tables.items():
            runs_of[categories].append(rounds_of(Indicator(), X[["user"]], y, size))
    medians = {c: np.array([np.median(run["rounds"]) for run in runs]) for c, runs in runs_of.items()}
    found["doubling"] = []
    for smaller, categories in zip([None, *steps], steps, strict=False):
        each = np.concatenate([run["rounds"] for run in runs_of[categories]])
        ratio = None if smaller is None else spread(medians[categories] / medians[smaller])
        found["doubling"].append({"categories": categories, "round": spread(each), "ratio": ratio})
        print(f"indicator, {categories} categories: {_text(spread(each))} s a round", flush=True)
    return found


def _text(values: dict[str, float]) -> str:
    return f"{values['median']:.3f} ({values['min']:.3f} to {values['max']:.3f})"


PARTS = {part.__name__: part for part in (adult, sets, curves, many)}


def run(names: list[str], size: Size, output: Path | None) -> dict:
    """Parts, with the machine they are measured on; written after every part."""
    begin, before, digest = time.perf_counter(), load(), source()
    if before is not None and before > 0.5:
        print(f"the machine is busy, load {before:.1f}: times of this run are not to be relied on", flush=True)
    found: dict = {"machine": machine(), "threads": THREADS, "size": size._asdict(), "load_before": before}
    for name in names:
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", category=FutureWarning)  # of the peers, about pandas
                found[name] = PARTS[name](size)
        except data.DataMissing as problem:
            print(f"skipped {name}: {problem}", flush=True)
        found["load_after"], found["seconds"] = load(), round(time.perf_counter() - begin, 1)
        found["source_changed_during_run"] = source() != digest
        if output:
            write_json(output, found)
    return found


def main(arguments: list[str] | None = None) -> None:
    """Run all parts, or those that are named; or only write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.nominal", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="part", help=f"which parts: {', '.join(PARTS)}; all by default")
    parser.add_argument("--small", action="store_true", help="few rows, rounds and folds: to see that it runs")
    parser.add_argument("--page", action="store_true", help="measure nothing, write the page from the results")
    parser.add_argument("--output", type=Path, help="JSON file; results/nominal.json for a full run of all parts")
    parser.add_argument("--docs", type=Path, help="folder of the page; docs for a full run of all parts")
    given = parser.parse_args(arguments)
    if unknown := [name for name in given.parts if name not in PARTS]:
        parser.error(f"there is no part {unknown[0]!r}; parts are {', '.join(PARTS)}")
    whole = given.page or not (given.parts or given.small)
    output = given.output or (RESULTS if whole else None)
    docs = given.docs or (data.PROJECT / "docs" / "notes" if whole else None)
    if given.page:
        results = json.loads(output.read_text(encoding="utf-8"))
    else:
        results = run(given.parts or list(PARTS), SMALL if given.small else FULL, output)
    if docs:
        nominal_page.write(results, docs)


if __name__ == "__main__":
    main()
