"""Regression, softmax and losses under noise: ours beside the peers, fold by fold in turn.

``make bench-regression`` prints the figures, writes them to ``benchmarks/results/regression.json`` and makes the page
``docs/notes/regression-benchmarks.md`` of them.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold
from threadpoolctl import threadpool_limits

from multiboost import MultiBoostClassifier, MultiBoostRegressor

from . import data
from .measure import Times, figure, load, machine, write_json
from .regression_page import page

RESULTS = Path(__file__).resolve().parent / "results" / "regression.json"
PAGE = Path(__file__).resolve().parents[1] / "docs" / "notes" / "regression-benchmarks.md"
THREADS = 1  # of everybody, so that processor time is the time
FOLDS = 5
OURS = "multiboost"
SETS = ("abalone", "cal.housing", "housing", "autompg", "kin8nm", "fried", "cpu.act")
TARGETS = {"enb": 2, "jura": 3, "wq": 14, "scpf": 3, "sf2": 3, "slump": 3}
CLASSES = ("vehicle", "glass", "nursery", "car", "waveform5000", "balance.scale")
NOISY = ("kr.vs.kp", "spambase", "waveform5000")
ASKED = {"CatBoost": 1.00, "LightGBM": 0.98, "XGBoost": 0.98, "HistGradientBoosting": 0.98}


def frame(*names: str, n_targets: int = 1):
    """A data frame, and y."""
    attributes, rows = data.read_arff(data.file_of(*names))
    rows = rows[np.isfinite(rows[:, -n_targets:]).all(axis=1)]
    y = rows[:, -n_targets:]
    return data.frame_of(attributes[:-n_targets], rows[:, :-n_targets]), y[:, 0] if n_targets == 1 else y


def _is_category(column) -> bool:
    return str(column.dtype) == "category"


def _as_text(X):
    """CatBoost's categories are text."""
    names = [name for name in X if _is_category(X[name])]
    return X.astype(dict.fromkeys(names, object)).fillna(dict.fromkeys(names, "?")), names


def peers(several: bool = False) -> dict[str, Callable]:
    """Regressors at their defaults: (X, y) -> predict."""
    import pandas as pd
    from catboost import CatBoostRegressor
    from lightgbm import LGBMRegressor
    from sklearn.ensemble import HistGradientBoostingRegressor
    from xgboost import XGBRegressor

    def catboost(X, y):
        X, names = _as_text(X)
        options = {"loss_function": "MultiRMSE"} if several else {}
        model = CatBoostRegressor(
            thread_count=THREADS, verbose=0, allow_writing_files=False, cat_features=names, **options
        ).fit(X, y)
        return lambda X: model.predict(_as_text(X)[0])

    def xgboost(X, y):
        if not several:
            return XGBRegressor(n_jobs=THREADS, enable_categorical=True).fit(X, y).predict
        # Its trees of several targets take no categories: a column for each of them.
        model = XGBRegressor(n_jobs=THREADS, multi_strategy="multi_output_tree").fit(pd.get_dummies(X, dtype=float), y)
        return lambda X: model.predict(pd.get_dummies(X, dtype=float))

    found: dict[str, Callable] = {"CatBoost": catboost, "XGBoost": xgboost}
    if not several:
        found["LightGBM"] = lambda X, y: LGBMRegressor(n_jobs=THREADS, verbose=-1).fit(X, y).predict
        found["HistGradientBoosting"] = lambda X, y: (
            HistGradientBoostingRegressor(categorical_features="from_dtype").fit(X, y).predict
        )
    return found


def ours(X, y):
    """The regressor at its defaults."""
    return MultiBoostRegressor(n_jobs=THREADS).fit(X, y).predict


def seconds_of(action) -> float:
    """Processor time of one call: other work on the machine counts less than in wall time."""
    start = time.process_time()
    action()
    return time.process_time() - start


def folds_of(X, y=None, how=KFold):
    """The first ``FOLDS`` of five folds, always the same ones."""
    return list(how(5, shuffle=True, random_state=0).split(X, y))[:FOLDS]


def geometric(values) -> float:
    return float(np.exp(np.mean(np.log(values))))


def one_target() -> Iterator[dict]:
    """RMSE and seconds of a fit on seven tables, five folds."""
    methods = {OURS: ours, **peers()}
    errors: dict[str, dict[str, float]] = {}
    seconds: dict[str, dict[str, float]] = {}
    for name in SETS:
        X, y = frame("arff", "regression", f"{name}.arff")
        found: dict[str, list] = {method: [] for method in methods}
        times: dict[str, list] = {method: [] for method in methods}
        ours(X, y)  # compiled
        for train, test in folds_of(X):
            for method, fit in methods.items():
                made = {}
                inside = X.iloc[train].reset_index(drop=True)
                times[method].append(seconds_of(lambda fit=fit, x=inside: made.update(f=fit(x, y[train]))))  # noqa: B023
                predicted = made["f"](X.iloc[test].reset_index(drop=True))
                found[method].append(float(np.sqrt(np.mean((predicted - y[test]) ** 2))))
        errors[name] = {method: float(np.mean(values)) for method, values in found.items()}
        seconds[name] = {method: float(np.mean(values)) for method, values in times.items()}
        yield {
            "name": f"{name}, RMSE and seconds",
            "rmse": errors[name],
            "spread": {method: float(np.std(values)) for method, values in found.items()},
            "seconds": {method: Times.of(values)._asdict() for method, values in times.items()},
        }
    for method in peers():
        ratio = geometric([errors[name][OURS] / errors[name][method] for name in SETS])
        yield figure(f"RMSE over that of {method}, geometric mean", ratio, ASKED[method], "")
    slower = float(
        np.mean([seconds[n][OURS] for n in SETS]) / np.mean([seconds[n]["HistGradientBoosting"] for n in SETS])
    )
    yield figure("mean seconds over those of HistGradientBoosting", slower, 1.0, "")
    worst = max(seconds[n][OURS] / seconds[n]["CatBoost"] for n in SETS)
    yield figure("seconds over those of CatBoost, largest", worst, 1.0, "")


def relative_rmse(predicted: np.ndarray, y: np.ndarray, mean: np.ndarray) -> float:
    """RMSE over that of the training mean, mean over the targets."""
    return float(np.mean(np.sqrt(((predicted - y) ** 2).sum(axis=0) / ((y - mean) ** 2).sum(axis=0))))


def several_targets() -> Iterator[dict]:
    """Mean relative RMSE with all targets, and with a third of the training targets deleted.

    Peers do not take unknown targets: they are given the mean of the target, or the rows that are complete.
    """
    for deleted in (False, True):
        methods = {OURS: ours, **peers(several=True)}
        what = "a third deleted" if deleted else "all targets"
        ratios: dict[str, list[float]] = {}  # ours over theirs, a number for every table
        for name, n_targets in TARGETS.items():
            X, y = frame("multi_target", f"{name}.arff", n_targets=n_targets)
            found: dict[str, dict[int, float]] = {}  # by method and fold
            for k, (train, test) in enumerate(folds_of(X)):
                inside, wanted = X.iloc[train].reset_index(drop=True), y[train].copy()
                mean = y[train].mean(axis=0)
                if deleted:
                    wanted[np.random.default_rng(k).random(wanted.shape) < 1 / 3] = np.nan
                outside = X.iloc[test].reset_index(drop=True)
                for method, fit in methods.items():
                    for how, rows, target in _ways(method, deleted, wanted):
                        # A target that is constant in a fold leaves nothing to explain.
                        predicted = fit(inside.iloc[rows].reset_index(drop=True), target[rows])(outside)
                        known = (y[test] != mean).any(axis=0) & (np.ptp(y[test], axis=0) > 0)
                        error = relative_rmse(predicted[:, known], y[test][:, known], mean[known])
                        found.setdefault(method + how, {})[k] = error
            errors = {method: float(np.mean(list(by_fold.values()))) for method, by_fold in found.items()}
            folds = {method: len(by_fold) for method, by_fold in found.items()}
            for method, by_fold in found.items():
                if method != OURS:  # of the folds that both have: too few rows may be complete in some
                    mine = float(np.mean([found[OURS][k] for k in by_fold]))
                    ratios.setdefault(method, []).append(mine / errors[method])
            yield {"name": f"{name}, {what}, mean relative RMSE", "errors": errors, "folds": folds}
        for method, values in ratios.items():
            name = f"relative RMSE over that of {method}, {what}, geometric mean of {len(values)} tables"
            yield figure(name, geometric(values), None, "")


def _ways(method: str, deleted: bool, wanted: np.ndarray):
    """How a method is given unknown targets: a word, the rows and the targets."""
    every = np.arange(len(wanted))
    if method == OURS or not deleted:
        yield "", every, wanted
        return
    yield " (mean for unknown)", every, np.where(np.isnan(wanted), np.nanmean(wanted, axis=0), wanted)
    complete = np.flatnonzero(~np.isnan(wanted).any(axis=1))
    if complete.size >= 20 and (np.ptp(wanted[complete], axis=0) > 0).all():  # CatBoost refuses a target of one value
        yield " (complete rows)", complete, wanted


def losses_of_classes() -> Iterator[dict]:
    """Errors in per cent: softmax beside exponential and logistic loss; all else as chosen for the loss."""
    for name in CLASSES:
        X, y = data.arff_frame(name)
        errors: dict[str, list[float]] = {}
        for train, test in folds_of(X, y, StratifiedKFold):
            for loss in ("exponential", "logistic", "softmax"):
                clf = MultiBoostClassifier(loss=loss, n_jobs=THREADS).fit(
                    X.iloc[train].reset_index(drop=True), y[train]
                )
                predicted = clf.predict(X.iloc[test].reset_index(drop=True))
                errors.setdefault(loss, []).append(100 * float(np.mean(predicted != y[test])))
        yield {"name": f"{name}, error in %", "errors": {loss: float(np.mean(v)) for loss, v in errors.items()}}


def losses_under_noise() -> Iterator[dict]:
    """Test error over the rounds with a tenth of the training labels flipped."""
    rounds = [1, 5, 10, 20, 50, 100, 200]
    for name in NOISY:
        X, y = data.arff_frame(name)
        curves: dict[str, list[np.ndarray]] = {}
        for k, (train, test) in enumerate(folds_of(X, y, StratifiedKFold)):
            rng = np.random.default_rng(k)
            labels, flipped = y[train].copy(), rng.random(train.size) < 0.1
            n_classes = int(y.max()) + 1
            labels[flipped] = (labels[flipped] + rng.integers(1, n_classes, flipped.sum())) % n_classes
            inside, outside = X.iloc[train].reset_index(drop=True), X.iloc[test].reset_index(drop=True)
            for loss in ("exponential", "logistic", "hinge"):
                clf = MultiBoostClassifier("tree:16", 200, loss=loss, learning_rate=0.2, subsample=1.0, n_jobs=THREADS)
                wrong = [100 * np.mean(p != y[test]) for p in clf.fit(inside, labels).staged_predict(outside)]
                wrong += [wrong[-1]] * (200 - len(wrong))
                curves.setdefault(loss, []).append(np.array(wrong)[np.array(rounds) - 1])
        yield {
            "name": f"{name}, a tenth of the labels flipped, error in %",
            "rounds": rounds,
            "errors": {loss: np.mean(values, axis=0).round(3).tolist() for loss, values in curves.items()},
        }


PARTS = {part.__name__: part for part in (one_target, several_targets, losses_of_classes, losses_under_noise)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=[], choices=[*PARTS, []], help="all by default; others are kept")
    parser.add_argument("--folds", type=int, default=5, choices=range(1, 6), help="how many of the five are used")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    global FOLDS
    FOLDS = options.folds
    warnings.filterwarnings("ignore", message=".*feature names.*")
    results: dict = json.loads(options.out.read_text()) if options.parts and options.out.exists() else {"parts": {}}
    with threadpool_limits(THREADS):
        for part in options.parts or PARTS:
            about = {"machine": machine(), "load_before": load(), "threads": THREADS, "folds": FOLDS}
            results["parts"][part] = {**about, "figures": []}
            for found in PARTS[part]():
                results["parts"][part]["figures"].append(found)
                print({key: value for key, value in found.items() if value not in (None, "")}, flush=True)
                write_json(options.out, results)
    if options.out == RESULTS:
        PAGE.write_text(page(results))


if __name__ == "__main__":
    main()
