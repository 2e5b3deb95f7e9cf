"""Default settings of all packages on many data sets: error, log-loss and seconds."""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold

from multiboost import MultiBoostClassifier

from . import data
from .measure import machine, seconds_of, write_json
from .ours import NAME as OURS
from .peers import PEERS, THREADS

RESULTS = Path(__file__).resolve().parent / "results" / "defaults.json"
SPLITS = {
    "pendigits": data.pendigits,
    "letter": data.letter,
    "usps": data.usps,
    "isolet": data.isolet,
    "magic": data.magic,
    "covertype": lambda: data.covertype(20000, n_test=100000),
}
ARFFS = (
    "anneal", "balance.scale", "breast.cancer", "breast.w", "car", "cmc", "colic", "column3C", "credit.a", "credit.g",
    "dermatology", "diabetes", "ecoli", "glass", "heart.c", "heart.statlog", "hepatitis", "hypothyroid", "ionosphere",
    "iris", "kr.vs.kp", "nursery", "page.blocks", "primary.tumor", "sick", "sonar", "spambase", "tic-tac-toe",
    "vehicle", "vote", "waveform5000",
)  # fmt: skip
SETS = (*ARFFS, *SPLITS)
METHODS = (OURS, *PEERS)


def method(name: str):
    """A classifier at its defaults."""
    return MultiBoostClassifier(n_jobs=THREADS) if name == OURS else PEERS[name]()


def folds(X: np.ndarray, y: np.ndarray) -> list[data.Split]:
    """Five folds, the same for every method."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # some classes have fewer than five rows
        parts = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    return [data.Split(X[train], y[train], X[test], y[test]) for train, test in parts]


def splits_of(name: str) -> list[data.Split]:
    """The one split of a set that has one, or five folds."""
    return [SPLITS[name]()] if name in SPLITS else folds(*data.arff(name))


def log_losses(model, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Minus the logarithm of the probability of the true class, which is at least 1e-15."""
    probability = model.predict_proba(X)
    column = np.searchsorted(model.classes_, y).clip(max=len(model.classes_) - 1)
    known = model.classes_[column] == y
    return -np.log(np.where(known, probability[np.arange(len(y)), column], 0).clip(1e-15, 1))


def measure(name: str, splits: list[data.Split]) -> dict:
    """Error in percent, mean log-loss, and mean seconds of a fit."""
    wrong, losses, seconds = [], [], []
    for split in splits:
        model = method(name)
        seconds.append(seconds_of(lambda model=model, split=split: model.fit(split.X, split.y)))
        wrong.append(model.predict(split.X_test) != split.y_test)
        losses.append(log_losses(model, split.X_test, split.y_test))
    found = {
        "error": 100 * float(np.concatenate(wrong).mean()),
        "log_loss": float(np.concatenate(losses).mean()),
        "seconds": float(np.mean(seconds)),
    }
    if name == OURS:
        found["chosen"] = {"loss": model.loss_, "learning_rate": model.learning_rate_}
    return found


def read(path: Path) -> dict:
    """Results so far."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"machine": None, "sets": {}}


def table(results: dict, figure: str = "error") -> str:
    """Markdown: one row per set, the best in bold, then mean ranks and wins over the sets all methods have."""
    digits = {"error": 2, "log_loss": 4, "seconds": 2}[figure]
    lines = ["| data set | " + " | ".join(METHODS) + " |", "|---|" + "---:|" * len(METHODS)]
    whole = []
    for name in [name for name in SETS if name in results["sets"]]:
        found = [results["sets"][name].get(m, {}).get(figure) for m in METHODS]
        shown = [None if value is None else round(value, digits) for value in found]
        best = min((value for value in shown if value is not None), default=None)
        cells = ["" if v is None else f"**{v:.{digits}f}**" if v == best else f"{v:.{digits}f}" for v in shown]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
        if None not in shown:
            whole.append(shown)
    if whole:
        values = np.array(whole)
        below = (values[:, None, :] < values[:, :, None]).sum(axis=2)
        ties = (values[:, None, :] == values[:, :, None]).sum(axis=2)
        ranks = (below + (ties + 1) / 2).mean(axis=0)
        wins = (values == values.min(axis=1, keepdims=True)).sum(axis=0)
        lines.append(f"| mean rank, {len(whole)} sets | " + " | ".join(f"{rank:.2f}" for rank in ranks) + " |")
        lines.append("| wins, ties counted | " + " | ".join(str(w) for w in wins) + " |")
    return "\n".join(lines)


def warm_up() -> None:
    """Compile our kernels before anything is timed."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    for n_classes in (2, 3):
        MultiBoostClassifier(n_estimators=3, n_jobs=THREADS).fit(X, rng.integers(0, n_classes, 300)).predict_proba(X)


def run(names: list[str], methods: list[str], again: bool, path: Path) -> None:
    """Measure what is not there yet, and write after every method."""
    warm_up()
    results = read(path)
    for name in names:
        have = results["sets"].get(name, {})
        wanted = [m for m in methods if again or m not in have]
        if not wanted:
            continue
        try:
            splits = splits_of(name)
        except data.DataMissing as problem:
            print(f"skipped {name}: {problem}")
            continue
        for m in wanted:
            try:
                found = measure(m, splits)
            except ImportError as problem:
                print(f"skipped {m}: {problem}")
                continue
            except ValueError as problem:  # a column without any value is too much for some
                if m == OURS:
                    raise
                print(f"{m} cannot take {name}: {problem}")
                continue
            results["machine"] = machine()
            results["sets"].setdefault(name, {})[m] = found
            write_json(path, results)
            print(
                f"{name:<16}{m:<22}error {found['error']:6.2f} %   log-loss {found['log_loss']:7.4f}   "
                f"{found['seconds']:8.3f} s",
                flush=True,
            )


def main(arguments: list[str] | None = None) -> None:
    """Run the sets that are named, or all; or print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.defaults", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"which sets: {', '.join(SETS)}; all by default")
    parser.add_argument(
        "--methods", nargs="+", choices=METHODS, default=METHODS, metavar="method", help="which methods"
    )
    parser.add_argument("--again", action="store_true", help="measure also what is there already")
    parser.add_argument(
        "--table", nargs="?", const="error", choices=("error", "log_loss", "seconds"), help="only print"
    )
    parser.add_argument("--results", type=Path, default=RESULTS, help="JSON file to read and write")
    given = parser.parse_args(arguments)
    if unknown := [name for name in given.names if name not in SETS]:
        parser.error(f"there is no set {unknown[0]!r}; sets are {', '.join(SETS)}")
    if given.table:
        print(table(read(given.results), given.table))
    else:
        run(given.names or list(SETS), list(given.methods), given.again, given.results)


if __name__ == "__main__":
    main()
