"""Probabilities: log-loss, Brier score and calibration error of ours, by every calibration, beside the peers.

``make bench-probabilities`` measures, prints the figures that are asked for and writes
``benchmarks/results/probabilities.json``; a set that is there already is not measured again.  ``--table`` prints
the tables of ``docs/probabilities.md``.
"""

from __future__ import annotations

import argparse
import json
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import islice
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold

from multiboost import Calibrated, MultiBoostClassifier
from multiboost.boosting.auto import TRIAL_ROWS
from multiboost.boosting.out_of_fold import calibration_of
from multiboost.boosting.ruler import Ruler
from multiboost.boosting.trial import Trial
from multiboost.calibration import CALIBRATORS, Calibration
from multiboost.data.binned import Binned
from multiboost.data.target import Target
from multiboost.estimators.validation import check_table
from multiboost.kernels.team import Team

from . import data
from .measure import figure, load, machine, write_json

PROCESSES, THREADS = 2, 1  # sets side by side, each on one thread: nothing is timed
FOLDS, FOLD_SEED = 5, 22  # folds that nothing was chosen on
LARGE, OF_LARGE = 1800, 2  # sets of more rows than this are measured on the first folds only: it is a matter of minutes
RESULTS = Path(__file__).resolve().parent / "results" / "probabilities.json"
# Nothing was chosen on these.
NEW = (
    "hepatitis", "heart.c", "heart.h", "colic", "credit.a", "breast.w", "flags", "cylinder.bands", "sick",
    "hypothyroid", "steel-plates-fault", "wall-robot-navigation",
)  # fmt: skip
# "auto" was chosen on these, with other folds.
KNOWN = (
    "glass", "column3C", "balance.scale", "ionosphere", "diabetes", "credit.g", "vehicle", "cmc", "car",
    "primary.tumor", "page.blocks", "waveform5000",
)  # fmt: skip
SETS = (*NEW, *KNOWN)
DEFAULT, PLAIN = "default", "theory"
METHODS = (
    PLAIN, "margin", "temperature", "diagonal", "matrix", "quadratic", "sigmoid", "shift", "platt", "isotonic",
)  # fmt: skip
SCALED = "LightGBM + matrix"
PEERS = ("LightGBM", SCALED, "CatBoost")
LEAST = 1e-15
_BINS = 15


def table_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """A set with nominal values as codes; classes of fewer than five rows are left out."""
    try:
        X, y = data.arff(name)
    except data.DataMissing:
        _, rows = data.read_arff(data.file_of("multiclass", f"{name}.arff"))
        rows = rows[np.isfinite(rows[:, -1])]
        X, y = rows[:, :-1], rows[:, -1].astype(int)
    kept = np.isin(y, np.flatnonzero(np.bincount(y) >= 5))
    return X[kept], np.unique(y[kept], return_inverse=True)[1]


def measures(P: np.ndarray, y: np.ndarray) -> dict[str, list[float]]:
    """Of every row: -ln p of the true class and the Brier score; and the calibration error of the class that wins.

    The calibration error is that of 15 bins of the same width (ECE).
    """
    rows = np.arange(len(y))
    squares = (P**2).sum(axis=1) - 2 * P[rows, y] + 1
    sure, right = P.max(axis=1), P.argmax(axis=1) == y
    number = np.minimum((sure * _BINS).astype(int), _BINS - 1)
    gap = np.bincount(number, weights=sure - right, minlength=_BINS)
    return {
        "log_loss": (-np.log(np.clip(P[rows, y], LEAST, 1))).tolist(),
        "brier": squares.tolist(),
        "ece": [float(np.abs(gap).sum() / len(y))],
    }


def ours(X, y, X_test) -> dict[str, np.ndarray]:
    """Probabilities of our default, and of every calibration of the same model from the same rows."""
    clf = MultiBoostClassifier(n_jobs=THREADS).fit(X, y)
    kind, table = clf.model_.kind, check_table(clf, X)
    target = Target(kind, y)
    with Team(THREADS) as team:
        binned = Binned.of(table, clf.max_bins, clf.min_category_rows, None, team.n_threads)
        parts = Trial(binned, target, TRIAL_ROWS, team).out_of_fold(clf.plan_)
        ruler = Ruler.of(target, clf.model_.scores(table, team), float(clf.model_.sizes()[-1]))
    found = {DEFAULT: clf.predict_proba(X_test)}
    for name in METHODS:
        method = CALIBRATORS.get(name)()
        if name == "quadratic" and kind.tasks:
            continue
        calibration = calibration_of(method, parts) if method.learns else Calibration(method)
        found[name] = clf.recalibrated(calibration, ruler.slope(method.unit)).predict_proba(X_test)
    return found


def peers(X, y, X_test) -> dict[str, np.ndarray]:
    """Probabilities of the peers at their defaults."""
    from catboost import CatBoostClassifier
    from lightgbm import LGBMClassifier

    plain = LGBMClassifier(n_jobs=THREADS, verbose=-1)
    cat = CatBoostClassifier(thread_count=THREADS, verbose=0, allow_writing_files=False)
    scaled = Calibrated(LGBMClassifier(n_jobs=THREADS, verbose=-1), "matrix", cv=5)
    return {
        "LightGBM": plain.fit(X, y).predict_proba(X_test),
        SCALED: scaled.fit(X, y).predict_proba(X_test),
        "CatBoost": cat.fit(X, y).predict_proba(X_test),
    }


def measure(name: str) -> dict:
    """All methods on five folds of a set, or some of them."""
    X, y = table_of(name)
    found: dict[str, dict[str, list[float]]] = {}
    wrong: list[bool] = []
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=FOLD_SEED).split(X, y)
    for train, test in islice(folds, OF_LARGE if len(y) > LARGE else FOLDS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            one = {**ours(X[train], y[train], X[test]), **peers(X[train], y[train], X[test])}
        for method, P in one.items():
            for measured, values in measures(P, y[test]).items():
                found.setdefault(method, {}).setdefault(measured, []).extend(values)
        wrong.extend(one[DEFAULT].argmax(axis=1) != y[test])
    figures = {m: {what: float(np.mean(v)) for what, v in values.items()} for m, values in found.items()}
    return {"rows": len(y), "classes": int(y.max()) + 1, "methods": figures, "error": float(np.mean(wrong))}


def share_below(results: dict, method: str, factor: float = 1.0) -> tuple[float, int, int]:
    """On which share of the sets the default's log-loss is at most that of a method."""
    losses = [one["methods"] for one in results["sets"].values()]
    won = sum(m[DEFAULT]["log_loss"] <= factor * m[method]["log_loss"] for m in losses)
    return won / len(losses), won, len(losses)


def gains(results: dict, method: str) -> np.ndarray:
    """By which share the default's log-loss is below that of a method, set by set."""
    losses = [one["methods"] for one in results["sets"].values()]
    return np.array([1.0 - m[DEFAULT]["log_loss"] / max(m[method]["log_loss"], LEAST) for m in losses])


def figures(results: dict) -> list[dict]:
    """What is asked for; shares of sets are of those on which it does not hold."""
    found = []
    for method, asked in ((PLAIN, 0.75), (SCALED, 2 / 3), ("CatBoost", 0.5), ("LightGBM", None)):
        share, won, of = share_below(results, method)
        note = f"lower or equal on {won} of {of}"
        found.append(
            figure(f"sets with a log-loss above that of {method}", 1 - share, None if asked is None else 1 - asked, "",
                   note)
        )  # fmt: skip
    found.append(figure("log-loss left of the uncalibrated one, median", 1 - float(np.median(gains(results, PLAIN))),
                        1 - 0.015, ""))  # fmt: skip
    found.append(figure("log-loss left of the best single factor's, median",
                        1 - float(np.median(gains(results, "temperature"))), None, ""))  # fmt: skip
    return found


def page(results: dict, what: str = "log_loss") -> str:
    """A table in Markdown: a row for each set, the best in bold."""
    columns = (DEFAULT, *METHODS, *PEERS)
    lines = ["| | rows | classes | " + " | ".join(columns) + " |", "|---|---:|---:|" + "---:|" * len(columns)]
    for name in [name for name in SETS if name in results["sets"]]:
        one = results["sets"][name]
        values = [one["methods"].get(m, {}).get(what) for m in columns]
        shown = ["" if v is None else f"{v:.3f}" for v in values]
        best = min(cell for cell in shown if cell)
        cells = [f"**{cell}**" if cell == best else cell for cell in shown]
        lines.append(f"| {name} | {one['rows']} | {one['classes']} | " + " | ".join(cells) + " |")
    means = [
        [one["methods"][m][what] for one in results["sets"].values() if m in one["methods"]] for m in columns
    ]  # fmt: skip
    lines.append("| mean | | | " + " | ".join(f"{np.mean(v):.3f}" if v else "" for v in means) + " |")
    return "\n".join(lines)


def read(path: Path) -> dict:
    """Results so far."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"machine": None, "sets": {}}


def main(arguments: list[str] | None = None) -> None:
    """Measure the sets that are named, or all; or print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.probabilities", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"which sets: {', '.join(SETS)}; all by default")
    parser.add_argument("--fresh", action="store_true", help="measure also what is there already")
    parser.add_argument("--processes", type=int, default=PROCESSES, help="sets side by side")
    parser.add_argument("--table", choices=("log_loss", "brier", "ece"), help="only print")
    parser.add_argument("--results", type=Path, default=RESULTS, help="JSON file to read and write")
    given = parser.parse_args(arguments)
    if unknown := [name for name in given.names if name not in SETS]:
        parser.error(f"there is no set {unknown[0]!r}; sets are {', '.join(SETS)}")
    results = {"machine": None, "sets": {}} if given.fresh and not given.names else read(given.results)
    if given.table:
        print(page(results, given.table))
        return
    wanted = [name for name in given.names or SETS if given.fresh or name not in results["sets"]]
    with ProcessPoolExecutor(given.processes) as pool:
        measured = {pool.submit(measure, name): name for name in wanted}
        for done in as_completed(measured):
            name = measured[done]
            try:
                found = done.result()
            except data.DataMissing as problem:
                print(f"skipped {name}: {problem}")
                continue
            except Exception:
                pool.shutdown(cancel_futures=True)  # what is measured so far is written; do not go on for an hour
                raise
            results["machine"], results["load"] = machine(), load()
            results["sets"][name] = found
            results["figures"] = figures(results)
            write_json(given.results, results)
            shown = {m: v["log_loss"] for m, v in found["methods"].items()}
            print(f"{name:<22}" + "  ".join(f"{m} {v:.4f}" for m, v in shown.items()), flush=True)
    for one in results.get("figures", []):
        asked = "" if one["asked"] is None else f", at most {one['asked']:.3f} is asked"
        print(f"{one['name']}: {one['reached']:.3f}{asked}   {one['note']}")


if __name__ == "__main__":
    main()
