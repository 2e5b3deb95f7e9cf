"""Exported C beside other ways to decide on one row; significance and trigger rates beside the peers.

``make bench-export`` prints the figures and writes them to ``benchmarks/results/export.json``; under twenty minutes.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from sklearn.model_selection import StratifiedKFold

from multiboost import MDDAGClassifier, MultiBoostClassifier, SoftCascadeClassifier
from multiboost.export import latency, to_c
from multiboost.physics import Significance, ThresholdChoice, TriggerThreshold, feature_costs, luminosity_weights

from . import data
from .clock import compiled_clock, decided, lightgbm_peer, treelite_peer
from .measure import Times, figure, load, machine, version, write_json

RESULTS = Path(__file__).resolve().parent / "results" / "export.json"
THREADS = 1
ROUNDS = 200
TRAIN = 20_000  # rows that the models of `decisions` are trained on
LEARNERS = {"200 stumps": ("stump", 2), "200 trees of 20 leaves": ("tree:20", 20)}
ASKED = {"200 stumps": 500.0}  # nanoseconds, mean
REPEATS = 5
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


def _nanoseconds(decide: Callable[[np.ndarray], object], rows: np.ndarray) -> float:
    """Of one row, one after the other, called from Python."""
    each = [np.ascontiguousarray(row) for row in rows]
    start = time.process_time()
    for row in each:
        decide(row)
    return 1e9 * (time.process_time() - start) / len(each)


def _batch_nanoseconds(decide: Callable[[np.ndarray], object], rows: np.ndarray) -> float:
    start = time.process_time()
    decide(rows)
    return 1e9 * (time.process_time() - start) / len(rows)


def _ours(clf, rows: np.ndarray, forms: dict[str, dict]) -> dict[str, Callable[[], tuple[float, float | None]]]:
    """Mean and worst nanoseconds of our decisions, by the way they are made."""
    one = clf.compiled()

    def of_source(source):
        measured = latency(source, rows, repeats=10)
        return measured.mean, measured.worst

    return {
        **{form: partial(of_source, to_c(clf, "m", **options)) for form, options in forms.items()},
        "compiled(), called from Python": lambda: (_nanoseconds(one.scores, rows), None),
    }


def _peers(peer, rows: np.ndarray, folder: Path) -> dict[str, Callable[[], tuple[float, float | None]]]:
    """The same of the peers' fastest ways, called from C like ours; and of many rows at once."""
    import treelite

    booster = peer.booster_
    forest = treelite.frontend.from_lightgbm(booster)
    ways: dict[str, Callable] = {}
    for name, made in (
        ("LightGBM, C interface, one row", lambda to: lightgbm_peer(booster, rows.shape[1], to)),
        ("treelite, compiled by TL2cgen", lambda to: treelite_peer(booster, to)),
    ):
        to = folder / str(len(ways))
        to.mkdir()
        ways[name] = compiled_clock(made(to), rows, to)
        ways[name]()
        expected = booster.predict(rows, raw_score=True)
        if np.abs(decided(to) - expected).max() > 1e-9:
            raise RuntimeError(f"{name} does not decide as LightGBM does: it is used in a wrong way")
    return {
        **ways,
        "LightGBM, 2000 rows at once": lambda: (
            _batch_nanoseconds(lambda X: booster.predict(X, raw_score=True, num_threads=1), rows), None,
        ),
        "treelite GTIL, 2000 rows at once": lambda: (
            _batch_nanoseconds(lambda X: treelite.gtil.predict(forest, X, nthread=1, pred_margin=True), rows), None,
        ),
    }  # fmt: skip


def _in_turn(name: str, ways: dict[str, Callable[[], tuple[float, float | None]]], **more) -> Iterator[dict]:
    """Figures of all ways, measured in turn."""
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
            low=times.low, high=times.high, worst=float(np.median(worst[form])) if form in worst else None, **more,
        )  # fmt: skip


def decisions(rows: int = 2000) -> Iterator[dict]:
    """Nanoseconds of a decision on one row of 30 columns, ours and the peers' in turn, all on one core.

    The cascade is made of the 200 stumps: it keeps 95 % of the signal of its training rows.
    """
    import lightgbm

    X, y, _ = higgs()
    X_test, X, y = np.ascontiguousarray(X[:rows]), X[rows : rows + TRAIN], y[rows : rows + TRAIN]
    forms: dict[str, dict] = {"C, double": {}, "C, float": {"precision": "float"}, "C, q16.16": {"fixed": "q16.16"}}
    for name, (spec, leaves) in LEARNERS.items():
        ours = MultiBoostClassifier(
            spec, ROUNDS, loss="logistic", learning_rate=0.1, subsample=1.0, calibration=None, n_jobs=THREADS
        ).fit(X, y)
        peer = lightgbm.LGBMClassifier(n_estimators=ROUNDS, num_leaves=leaves, n_jobs=THREADS, verbose=-1).fit(X, y)
        with TemporaryDirectory() as folder:
            ways = {**_ours(ours, X_test, forms), **_peers(peer, X_test, Path(folder))}
            yield from _in_turn(name, ways)
        if spec == "stump":
            cascade = SoftCascadeClassifier(ours, target_tpr=0.95, n_jobs=THREADS).fit(X, y)
            mean = float(cascade.n_evaluated(X_test).mean())
            yield from _in_turn("cascade of 200 stumps", _ours(cascade, X_test, {"C, double": {}}), evaluated=mean)


# Significance.


def _classifiers() -> dict[str, Callable]:
    """(X, y, weight) -> scores of rows; all at their defaults, on one thread.

    Scores of the folds are compared.  Those of ours are probabilities: the comparison of settings may choose another
    loss in each fold, and margins of different losses have different scales.
    """
    from lightgbm import LGBMClassifier
    from xgboost import XGBClassifier

    def ours(X, y, weight):
        clf = MultiBoostClassifier(n_jobs=THREADS).fit(X, y, sample_weight=weight)
        return lambda Z: clf.predict_proba(Z)[:, 1]

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


# What the columns of magic cost, in units of one sum over the pixels of a camera; a choice of ours.
COSTS = dict(enumerate((2.0, 2.0, 1.0, 1.0, 1.0, 3.0, 5.0, 5.0, 2.0, 4.0)))


def _lean(X, y) -> Iterator[tuple[str, object]]:
    """Classifiers of different cost, all trained on the same rows."""
    stumps = MultiBoostClassifier("stump", 200, loss="logistic", calibration=None, n_jobs=THREADS).fit(X, y)
    trees = MultiBoostClassifier("tree:8", 100, loss="logistic", calibration=None, n_jobs=THREADS).fit(X, y)
    yield "20 stumps", MultiBoostClassifier("stump", 20, loss="logistic", calibration=None, n_jobs=THREADS).fit(X, y)
    yield "200 stumps", stumps
    yield "100 trees of 8 leaves", trees
    for tpr in (0.9, 0.97, 0.99):
        yield f"soft cascade of stumps, TPR {tpr}", SoftCascadeClassifier(stumps, target_tpr=tpr).fit(X, y)
        yield f"soft cascade of trees, TPR {tpr}", SoftCascadeClassifier(trees, target_tpr=tpr).fit(X, y)
    for beta in (0.002, 0.01):
        lean = MDDAGClassifier(stumps, beta=beta, costs=COSTS, n_episodes=100_000, random_state=0)
        yield f"MDDAG with costs, beta {beta}", lean.fit(X, y)


def triggers() -> Iterator[dict]:
    """Efficiency on magic at a bounded rate, by mean cost of a background event: half for training, half held out.

    The cost of an event is that of the columns that it asks for.  Nanoseconds are those of the exported C.
    """
    X, y, _ = magic()
    order = np.random.default_rng(0).permutation(len(y))
    train, held = order[: len(y) // 2], order[len(y) // 2 :]
    signal = y[held] == 1
    background = X[held][~signal]
    for name, clf in _lean(X[train], y[train]):
        scores = clf.decision_function(X[held])
        found = {f"{rate:g}": TriggerThreshold(rate).choose(scores[~signal], scores[signal]) for rate in RATES}
        yield {
            "name": f"magic, {name}", "reached": float(feature_costs(clf, background, COSTS).mean()), "unit": "cost",
            "all columns": sum(COSTS.values()), "ns": latency(to_c(clf, "m"), background[:1000], repeats=10).mean,
            "evaluated": float(clf.n_evaluated(background).mean()),
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
    results: dict = {}
    if options.parts and options.out.exists():  # the others stay as they were
        results = json.loads(options.out.read_text())
    for part in options.parts or PARTS:
        begin = time.process_time()
        measured: dict = {"machine": machine(), "load_before": load(), "threads": THREADS, "figures": []}
        for found in PARTS[part]():
            measured["figures"].append(found)
            print({key: value for key, value in found.items() if value not in (None, "")}, flush=True)
        measured["processor_seconds"] = round(time.process_time() - begin, 1)
        results[part] = measured
        write_json(options.out, results)


if __name__ == "__main__":
    main()
