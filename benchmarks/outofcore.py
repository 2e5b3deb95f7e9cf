"""A table of 20 million rows in Parquet files, trained in 1.5 GB: ``python -m benchmarks.outofcore``.

Every step is a process of its own, so that its peak memory is its own: ours from files, killed once and gone on with;
ours in memory on a tenth of the rows; XGBoost from its external memory, for the time of a round.  All on two threads.

Rows are drawn from 30 normal columns, some of them rounded, and five classes that depend on nine of them.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np

from .measure import machine

COLUMNS, CLASSES, FILE_ROWS = 30, 5, 1_000_000
TREE = {"base_learner": "tree:20", "loss": "exponential", "learning_rate": 0.2, "subsample": 1.0, "calibration": None}


def rows_of(part: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Some rows and their classes; the same for the same number."""
    rng = np.random.default_rng((19, part))
    x = rng.standard_normal((n, COLUMNS), dtype=np.float32)
    x[:, 20:] = x[:, 20:].round(1)
    one = x[:, 0] * x[:, 1] + np.sin(2 * x[:, 2]) + 0.7 * x[:, 20]
    two = np.abs(x[:, 3]) + x[:, 4] * (x[:, 5] > 0) - 0.5 * x[:, 21] ** 2 + x[:, 6]
    angle = np.arctan2(two + 0.4 * rng.standard_normal(n), one + 0.4 * rng.standard_normal(n))
    return x, ((angle + np.pi) / (2 * np.pi) * CLASSES).astype(np.int64) % CLASSES


def generate(folder: Path, n_rows: int) -> None:
    """Parquet files of a million rows each."""
    import pyarrow as pa
    from pyarrow import parquet

    folder.mkdir(parents=True)
    for part, first in enumerate(range(0, n_rows, FILE_ROWS)):
        x, y = rows_of(part, min(FILE_ROWS, n_rows - first))
        table = pa.table({**{f"x{j:02}": x[:, j] for j in range(COLUMNS)}, "y": y})
        parquet.write_table(table, folder / f"part-{part:03}.parquet", row_group_size=1 << 17, use_dictionary=False)


def unseen_rows(n: int = 200_000) -> tuple[np.ndarray, np.ndarray]:
    """Rows that nobody trains on."""
    return rows_of(10_000, n)


class Peak:
    """The most memory of this process: resident by the kernel's own mark, and of it what is not backed by files."""

    def __init__(self):
        self.anonymous = 0.0
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while True:
            self.anonymous = max(self.anonymous, _status("RssAnon"))
            time.sleep(0.05)

    def found(self) -> dict[str, float]:
        """In MB."""
        return {"peak_resident_mb": _status("VmHWM"), "peak_anonymous_mb": self.anonymous}


def _status(name: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return float(line.split()[1]) / 1024
    return float("nan")


def _watcher(kill_at: int | None):
    from multiboost.boosting.callbacks import Callback

    class Watcher(Callback):
        """Times of rounds; the end of the process after one of them."""

        def begin(self, run):
            self.first, self.cpu = run.n_rounds, [time.process_time()]

        def notice(self, text):
            print(text, file=sys.stderr, flush=True)

        def after_round(self, run):
            self.cpu.append(time.process_time())
            line = f"round {run.n_rounds}: {self.cpu[-1] - self.cpu[-2]:.1f} s, resident {_status('VmRSS'):.0f} MB"
            print(line, file=sys.stderr, flush=True)
            if run.n_rounds == kill_at:
                print(json.dumps({"killed_at": kill_at, "cpu_per_round": np.diff(self.cpu).tolist()}), flush=True)
                os.kill(os.getpid(), signal.SIGKILL)
            return False

    return Watcher()


def ours(given) -> dict:
    """Training from files."""
    peak = Peak()
    from multiboost import MultiBoostClassifier

    watcher = _watcher(given.kill_at)
    checkpoint = given.folder / "run.mb"
    begin = time.process_time()
    clf = MultiBoostClassifier(**TREE, n_estimators=given.rounds, n_jobs=given.threads)
    clf.fit(
        given.folder / "rows", target="y", memory=given.memory, workspace=given.folder, callbacks=[watcher],
        checkpoint=checkpoint, checkpoint_every=given.every, resume=True,
    )  # fmt: skip
    seconds = time.process_time() - begin
    found = {"seconds": seconds, "begun_at_round": watcher.first, **peak.found()}
    x, y = unseen_rows()
    touched = clf.history_.get("bytes_touched")
    return {
        **found, "cpu_per_round": np.diff(watcher.cpu).tolist(), "error": float(np.mean(_predict(clf, x) != y)),
        "digest": clf.ensemble_.digest(), "rounds": int(clf.n_estimators_),
        "bytes_touched": None if touched is None else [float(b) for b in touched[-3:]],
    }  # fmt: skip


def _predict(clf, x: np.ndarray) -> np.ndarray:
    import pandas as pd

    return clf.predict(pd.DataFrame(x, columns=[f"x{j:02}" for j in range(COLUMNS)]))


def tenth(given) -> dict:
    """Training in memory, on a tenth of the rows: the first ones."""
    from multiboost import MultiBoostClassifier

    n = given.rows // 10
    parts = [rows_of(part, min(FILE_ROWS, n - first)) for part, first in enumerate(range(0, n, FILE_ROWS))]
    x, y = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    begin = time.process_time()
    clf = MultiBoostClassifier(**TREE, n_estimators=given.rounds, n_jobs=given.threads).fit(x, y)
    x, y_test = unseen_rows()
    return {"rows": n, "seconds": time.process_time() - begin, "error": float(np.mean(clf.predict(x) != y_test))}


def xgboost(given) -> dict:
    """XGBoost's external memory: an iterator over the files, quantised pages on the disk."""
    peak = Peak()
    import xgboost as xgb
    from pyarrow import parquet

    class Files(xgb.DataIter):
        """A file at a time."""

        def __init__(self):
            self.files = sorted((given.folder / "rows").glob("*.parquet"))
            self.at = 0
            super().__init__(cache_prefix=str(given.folder / "xgb"))

        def next(self, input_data):
            if self.at == len(self.files):
                return False
            table = parquet.read_table(self.files[self.at])
            x = np.stack([table.column(j).to_numpy() for j in range(COLUMNS)], axis=1)
            input_data(data=x, label=table.column("y").to_numpy())
            self.at += 1
            return True

        def reset(self):
            self.at = 0

    begin = time.process_time()
    data = xgb.ExtMemQuantileDMatrix(Files(), max_bin=256, nthread=given.threads)
    prepared = time.process_time()
    parameters = {
        "objective": "multi:softprob", "num_class": CLASSES, "tree_method": "hist", "max_leaves": 20, "max_depth": 0,
        "grow_policy": "lossguide", "eta": 0.3, "nthread": given.threads, "max_bin": 256,
    }  # fmt: skip
    marks = [prepared]

    class Marks(xgb.callback.TrainingCallback):
        """Processor time after every round."""

        def after_iteration(self, model, epoch, evals_log):
            marks.append(time.process_time())
            print(f"xgboost round {epoch + 1}: {marks[-1] - marks[-2]:.1f} s", file=sys.stderr, flush=True)
            return False

    booster = xgb.train(parameters, data, num_boost_round=given.peer_rounds, callbacks=[Marks()])
    x, y = unseen_rows()
    error = float(np.mean(booster.predict(xgb.DMatrix(x)).argmax(axis=1) != y))
    per_round = np.diff(marks).tolist()
    return {
        "prepare": prepared - begin,
        "cpu_per_round": per_round,
        "error": error,
        "rounds": given.peer_rounds,
        **peak.found(),
    }


STAGES = {"ours": ours, "tenth": tenth, "xgboost": xgboost}


def _stage(name: str, given, **options) -> dict:
    """A step in a process of its own; the last line that it prints is what it has found."""
    arguments = {**vars(given), **options, "stage": name}
    words = [f"--{key.replace('_', '-')}={value}" for key, value in arguments.items() if value is not None]
    begin = time.perf_counter()
    run = subprocess.run([sys.executable, "-m", "benchmarks.outofcore", *words], stdout=subprocess.PIPE, text=True)
    found = json.loads(run.stdout.splitlines()[-1]) if run.stdout.strip() else {}
    print(name, json.dumps(found), flush=True)
    return {**found, "wall": time.perf_counter() - begin, "exit": run.returncode}


def main() -> None:
    """All steps."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--peer-rounds", type=int, default=5)
    parser.add_argument("--memory", default="1.5GB")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--every", type=float, default=40.0)
    parser.add_argument("--folder", type=Path, required=True, help="a new folder; it is removed at the end")
    parser.add_argument("--stage", choices=STAGES)
    parser.add_argument("--kill-at", type=int)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.stage:
        print(json.dumps(STAGES[given.stage](given)))
        return
    needed = given.rows * (4 * COLUMNS + 8 + 600)
    free = shutil.disk_usage(given.folder.absolute().parent).free
    if free < needed:
        sys.exit(f"{needed / 1e9:.0f} GB are needed in {given.folder.parent}, and {free / 1e9:.0f} GB are free")
    try:
        generate(given.folder / "rows", given.rows)
        size = sum(path.stat().st_size for path in (given.folder / "rows").iterdir())
        found = {"rows": given.rows, "columns": COLUMNS, "classes": CLASSES, "bytes": size, "memory": given.memory}
        found["machine"] = machine()
        for name, stage, options in (
            ("killed", "ours", {"kill_at": max(1, given.rounds // 2)}),
            ("ours", "ours", {}),
            ("xgboost", "xgboost", {}),
            ("tenth", "tenth", {}),
        ):
            found[name] = _stage(stage, given, **options)
            if given.out:
                given.out.write_text(json.dumps(found, indent=1) + "\n")
    finally:
        shutil.rmtree(given.folder, ignore_errors=True)


if __name__ == "__main__":
    main()
