"""Exported C beside other ways to decide on one row; significance and trigger rates beside the peers.

``make bench-export`` prints the figures and writes them to ``benchmarks/results/export.json``; under twenty minutes.
"""

from __future__ import annotations

import argparse
import ctypes
import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold

from multiboost import MultiBoostClassifier
from multiboost.export import latency, to_c
from multiboost.physics import Significance, ThresholdChoice, TriggerThreshold, luminosity_weights

from . import data
from .measure import Times, figure, load, machine, version, write_json

RESULTS = Path(__file__).resolve().parent / "results" / "export.json"
THREADS = 2
ROUNDS = 200
LEARNERS = {"200 stumps": ("stump", 2), "200 trees of 20 leaves": ("tree:20", 20)}
ASKED = {"200 stumps": 500.0}  # nanoseconds, mean
REPEATS = 7
# Expected events of the challenge's training set: what its weights add up to (Adam-Bourdarios et al. 2014).
HIGGS = {"signal": 691.99, "background": 410_999.85}
MAGIC = {"signal": 100.0, "background": 10_000.0}  # a choice of ours: gamma rays are rare
RATES = (1e-2, 1e-3)


@cache
def higgs() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features with NaN for what is missing, signal, weights."""
    with data.open_text(data.file_of("higgs", "atlas-higgs-challenge-2014-v2.first.csv")) as file:
        names = file.readline().strip().split(",")
        rows = [line.strip().split(",") for line in file]
    columns = [j for j, name in enumerate(names) if name.startswith(("DER_", "PRI_"))]
    X = np.array([[float(row[j]) for j in columns] for row in rows])
    X[X == -999.0] = np.nan
    y = np.array([row[names.index("Label")] == "s" for row in rows]).astype(int)
    return X, y, np.array([float(row[names.index("KaggleWeight")]) for row in rows])


@cache
def magic() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gamma rays (1) and hadrons, every event of weight one."""
    split = data.magic()
    return np.concatenate([split.X, split.X_test]), np.concatenate([split.y, split.y_test]), np.ones(
        len(split.y) + len(split.y_test)
    )  # fmt: skip


# Nanoseconds of a decision.


def _lightgbm_row(booster, n_columns: int) -> Callable[[np.ndarray], None]:
    """LightGBM's fastest way to one row: its C interface with everything prepared."""
    from lightgbm.basic import _LIB, _safe_call

    fast, n_out, out = ctypes.c_void_p(), ctypes.c_int64(), np.zeros(1)
    _safe_call(
        _LIB.LGBM_BoosterPredictForMatSingleRowFastInit(
            booster._handle, ctypes.c_int(1), ctypes.c_int(0), ctypes.c_int(-1), ctypes.c_int(1),
            ctypes.c_int32(n_columns), ctypes.c_char_p(b"num_threads=1"), ctypes.byref(fast),
        )
    )  # fmt: skip
    to, call = out.ctypes.data_as(ctypes.POINTER(ctypes.c_double)), _LIB.LGBM_BoosterPredictForMatSingleRowFast
    return lambda x: _safe_call(call(fast, x.ctypes.data_as(ctypes.c_void_p), ctypes.byref(n_out), to))


def _nanoseconds(decide: Callable[[np.ndarray], object], rows: np.ndarray) -> float:
    """Of one row, one after the other."""
    each = [np.ascontiguousarray(row) for row in rows]
    start = time.perf_counter()
    for row in each:
        decide(row)
    return 1e9 * (time.perf_counter() - start) / len(each)


def _batch_nanoseconds(decide: Callable[[np.ndarray], object], rows: np.ndarray) -> float:
    start = time.perf_counter()
    decide(rows)
    return 1e9 * (time.perf_counter() - start) / len(rows)


def _ways(ours, peer, rows: np.ndarray) -> dict[str, Callable[[], tuple[float, float | None]]]:
    """Mean and worst nanoseconds of a decision, by the way it is made."""
    import treelite

    one, row_of_peer = ours.compiled(), _lightgbm_row(peer.booster_, rows.shape[1])
    forest = treelite.frontend.from_lightgbm(peer.booster_)

    def of_source(source):
        measured = latency(source, rows, repeats=10)
        return measured.mean, measured.worst

    def of_forest(X):
        return treelite.gtil.predict(forest, X, nthread=1, pred_margin=True)

    def of_booster(X):
        return peer.booster_.predict(X, raw_score=True, num_threads=1)

    forms = {"C, double": {}, "C, float": {"precision": "float"}, "C, integers q16.16": {"fixed": "q16.16"}}
    return {
        **{form: partial(of_source, to_c(ours, "m", **options)) for form, options in forms.items()},
        "compiled()": lambda: (_nanoseconds(one.scores, rows), None),
        "LightGBM, C interface, one row": lambda: (_nanoseconds(row_of_peer, rows), None),
        "LightGBM, batch, one thread": lambda: (_batch_nanoseconds(of_booster, rows), None),
        "treelite GTIL, one row": lambda: (_nanoseconds(lambda x: of_forest(x[None]), rows[:300]), None),
        "treelite GTIL, batch, one thread": lambda: (_batch_nanoseconds(of_forest, rows), None),
    }


def decisions(rows: int = 2000) -> Iterator[dict]:
    """Nanoseconds of a decision on one row of 30 columns, ours and the peers' in turn."""
    import lightgbm

    X, y, _ = higgs()
    X_test, X, y = np.ascontiguousarray(X[:rows]), X[rows:], y[rows:]
    for name, (spec, leaves) in LEARNERS.items():
        ours = MultiBoostClassifier(spec, ROUNDS, loss="logistic", learning_rate=0.1, subsample=1.0, n_jobs=THREADS)
        ours.fit(X, y)
        peer = lightgbm.LGBMClassifier(n_estimators=ROUNDS, num_leaves=leaves, n_jobs=THREADS, verbose=-1).fit(X, y)
        ways = _ways(ours, peer, X_test)
        found: dict[str, list[float]] = {form: [] for form in ways}
        worst: dict[str, list[float]] = {}
        for _ in range(REPEATS):
            for form, measured in ways.items():
                mean, slowest = measured()
                found[form].append(mean)
                if slowest is not None:
                    worst.setdefault(form, []).append(slowest)
        for form, values in found.items():
            times = Times.of(values)
            yield figure(
                f"{name}, {form}", times.median, ASKED.get(name) if form.startswith("C,") else None, "ns",
                low=times.low, high=times.high, worst=float(np.median(worst[form])) if form in worst else None,
            )  # fmt: skip


# Significance.


def _classifiers() -> dict[str, Callable]:
    """(X, y, weight) -> scores of rows; all at their defaults."""
    from lightgbm import LGBMClassifier
    from xgboost import XGBClassifier

    def ours(X, y, weight):
        return MultiBoostClassifier(n_jobs=THREADS).fit(X, y, sample_weight=weight).decision_function

    def lightgbm(X, y, weight):
        model = LGBMClassifier(n_jobs=THREADS, verbose=-1).fit(X, y, sample_weight=weight)
        return lambda Z: model.predict(Z, raw_score=True)

    def xgboost(X, y, weight):
        model = XGBClassifier(n_jobs=THREADS).fit(X, y, sample_weight=weight)
        return lambda Z: model.predict(Z, output_margin=True)

    return {"multiboost": ours, "LightGBM": lightgbm, "XGBoost": xgboost}


def significance() -> Iterator[dict]:
    """AMS2 of five folds: the threshold is chosen on the scores of four of them, and used on the fifth.

    Training weights of signal and background have the same sum, for all classifiers.
    """
    criterion = Significance("ams2")
    for name, (X, y, weight), expected in (("higgs", higgs(), HIGGS), ("magic", magic(), MAGIC)):
        balanced = luminosity_weights(y, weight, signal=len(y) / 2, background=len(y) / 2)
        folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
        for who, train in _classifiers().items():
            scores = np.empty(len(y))
            for inside, outside in folds:
                scores[outside] = train(X[inside], y[inside], balanced[inside])(X[outside])
            values = []
            for inside, outside in folds:
                w = luminosity_weights(y[inside], weight[inside], **expected)
                chosen = ThresholdChoice(criterion, n_resamples=1).choose(scores[inside], y[inside], w)
                w = luminosity_weights(y[outside], weight[outside], **expected)
                above = scores[outside] > chosen.threshold
                signal = y[outside] == 1
                values.append(float(criterion(w[above & signal].sum(), w[above & ~signal].sum())))
            whole = ThresholdChoice(criterion).choose(scores, y, luminosity_weights(y, weight, **expected))
            yield {
                "name": f"{name}, AMS2, {who}", "reached": float(np.mean(values)), "unit": "sigma",
                "folds": [round(v, 3) for v in values], "low": whole.low, "high": whole.high,
                "on all scores": whole.significance, "version": version(who.lower()) if who != "multiboost" else None,
            }  # fmt: skip


def triggers() -> Iterator[dict]:
    """Efficiency on magic at a bounded rate, by the mean time of a decision: half for training, half held out."""
    X, y, _ = magic()
    order = np.random.default_rng(0).permutation(len(y))
    train, held = order[: len(y) // 2], order[len(y) // 2 :]
    for spec, rounds in (("stump", 20), ("stump", 200), ("tree:8", 20), ("tree:8", 200), ("tree:20", 200)):
        clf = MultiBoostClassifier(spec, rounds, loss="logistic", n_jobs=THREADS).fit(X[train], y[train])
        scores, signal = clf.decision_function(X[held]), y[held] == 1
        mean = latency(to_c(clf, "m"), X[held][:1000], repeats=10).mean
        found = {f"{rate:g}": TriggerThreshold(rate).choose(scores[~signal], scores[signal]) for rate in RATES}
        yield {
            "name": f"magic, {rounds} x {spec}", "reached": mean, "unit": "ns",
            "efficiency": {rate: round(one.efficiency or 0.0, 4) for rate, one in found.items()},
            "bound": {rate: round(one.bound, 5) for rate, one in found.items()},
        }  # fmt: skip


PARTS = {part.__name__: part for part in (decisions, significance, triggers)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=[], choices=[*PARTS, []])
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    warnings.filterwarnings("ignore", message=".*feature names.*")
    results: dict = {"machine": machine(), "load_before": load(), "threads": THREADS, "figures": []}
    for part in options.parts or PARTS:
        for found in PARTS[part]():
            results["figures"].append(found)
            print({key: value for key, value in found.items() if value not in (None, "")}, flush=True)
            write_json(options.out, results)


if __name__ == "__main__":
    main()
