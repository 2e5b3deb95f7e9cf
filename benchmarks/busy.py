"""A busy machine: fits with all threads and with one, quiet and beside a busy process on every processor.

``python -m benchmarks.busy`` prints the ratios of one run and writes them to ``benchmarks/results/busy.json``.  The
rest of the machine should be idle.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from sklearn.model_selection import cross_val_score

from multiboost import MultiBoostClassifier
from multiboost.estimators.threads import processor_count

from . import data
from .measure import Times, figure, in_turn, load, machine, version, write_json
from .ours import NAME
from .peers import PEERS

RESULTS = Path(__file__).resolve().parent / "results" / "busy.json"
SETS = {"letter": data.letter, "adult": data.adult}
METHODS = (NAME, "LightGBM", "XGBoost")
BUSY, NESTED = 1.3, 1.0  # all threads over one, asked for: beside busy processes, and inside cross_val_score
NOISE = 0.1  # by which repeats of the same differ


@contextmanager
def busy(n_processes: int) -> Iterator[None]:
    """Beside so many processes that do nothing but compute."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(n_processes)]
    try:
        time.sleep(0.5 if processes else 0.0)
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def model(method: str, threads: int | None):
    """A classifier at its defaults; None: all threads."""
    if method == NAME:
        return MultiBoostClassifier(n_jobs=threads)
    return PEERS[method](threads=threads or processor_count())


def ratio(name: str, actions: dict, repeats: int, n_busy: int, asked: float | None) -> dict:
    """Seconds of all threads over those of one, in turn."""
    with busy(n_busy):
        many, one = in_turn(actions, repeats).values()
    ratios = Times.of(np.divide(many, one))
    note = f"{ratios.low:.2f} to {ratios.high:.2f}; all threads {Times.of(many)}, one {Times.of(one)}"
    return figure(
        name, ratios.median, asked, "", note,
        ratio=ratios._asdict(), seconds={"all": Times.of(many)._asdict(), "one": Times.of(one)._asdict()},
    )  # fmt: skip


def fits(names: list[str], methods: list[str], repeats: int) -> Iterator[dict]:
    """Fits at the defaults, quiet and busy."""
    for name in names:
        split = SETS[name]()
        for method in methods:
            if method != NAME and version(PEERS[method].package) is None:
                continue
            X = split.X if method == NAME else PEERS[method].table(split.X)
            actions = {n: (lambda n=n, X=X, y=split.y, m=method: model(m, n).fit(X, y)) for n in (None, 1)}
            for action in actions.values():
                action()  # imports and kernels
            for n_busy in (0, processor_count()):
                around = f"beside {n_busy} busy processes" if n_busy else "quiet"
                asked = BUSY if method == NAME and n_busy else None
                yield ratio(f"{method}, {name}, {around}", actions, repeats, n_busy, asked)


def nested(n_rows: int, repeats: int) -> Iterator[dict]:
    """Two fits at a time, each with the threads of the default or with one."""
    X, y = data.generated(n_rows, 30, 2)

    def scores(threads: int | None) -> None:
        cross_val_score(MultiBoostClassifier(n_jobs=threads), X, y, cv=4, n_jobs=2)

    actions = {n: (lambda n=n: scores(n)) for n in (None, 1)}
    scores(1)  # the workers begin
    yield ratio(f"{NAME}, cross_val_score(n_jobs=2), {n_rows} x 30", actions, repeats, 0, NESTED + NOISE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--rows", type=int, default=20_000, help="of the table of cross_val_score")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    results: dict = {"machine": machine(), "load_before": load(), "figures": []}
    for part in (fits(options.sets, options.methods, options.repeats), nested(options.rows, options.repeats)):
        for found in part:
            results["figures"].append(found)
            asked = "" if found["asked"] is None else f", asked {found['asked']:g}"
            print(f"{found['name']}: all / one thread {found['reached']:.2f}{asked} ({found['note']})", flush=True)
            write_json(options.out, results)


if __name__ == "__main__":
    main()
