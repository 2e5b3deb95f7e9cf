"""Memory of a fit, in a fresh process."""

from __future__ import annotations

import json
import resource
import sys
import tempfile
from pathlib import Path

import numpy as np

from .data import generated
from .measure import fresh, seconds_of
from .ours import NAME, REAL, ours, warm_up
from .peers import RACERS


def _status(field: str) -> int | None:
    """A line of the process's status in bytes, where the system has it."""
    try:
        with open("/proc/self/status") as lines:
            for line in lines:
                if line.startswith(field + ":"):
                    return 1024 * int(line.split()[1])
    except OSError:
        pass
    return None


def peak_rss() -> int:
    """Peak memory of this process.

    On Linux getrusage starts with the peak of the parent process, VmHWM does not.
    """
    peak = _status("VmHWM")
    if peak is not None:
        return peak
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def classifier(method: str, parameters: dict):
    """Our classifier or a peer's, by name."""
    return ours(**parameters) if method == NAME else RACERS[method](**parameters)


def fit_loaded(folder: str, method: str, parameters: str) -> None:
    """In the fresh process: peak memory of one fit above what was there before it."""
    X, y = np.load(Path(folder, "X.npy")), np.load(Path(folder, "y.npy"))
    given = json.loads(parameters)
    rounds = "n_estimators" if method == NAME else "rounds"
    classifier(method, {**given, rounds: 1}).fit(X[:500], y[:500])  # imports and kernels are not to be counted
    before = _status("VmRSS") or peak_rss()
    model = classifier(method, given)
    seconds = seconds_of(lambda: model.fit(X, y))
    print(json.dumps({"bytes": peak_rss() - before, "input_bytes": X.nbytes, "seconds": seconds}))


def memory_of_fit(X: np.ndarray, y: np.ndarray, method: str, parameters: dict, limit: float | None = None) -> dict:
    """Bytes that a fit takes at its peak beyond the loaded input, in a fresh process."""
    with tempfile.TemporaryDirectory(prefix="multiboost-") as folder:
        np.save(Path(folder, "X.npy"), X)
        np.save(Path(folder, "y.npy"), y)
        code = "import sys; from benchmarks.memory import fit_loaded; fit_loaded(*sys.argv[1:])"
        return fresh(code, folder, method, json.dumps(parameters), limit=limit)


def fit_large(n: str, rounds: str) -> None:
    """In the fresh process: seconds and peak memory, the table included, of trees of 20 leaves on a generated table."""
    X, y = generated(int(n), 20, 5)
    warm_up(X[:1000], y[:1000], base_learner="tree:20", **REAL)
    before = peak_rss()
    model = ours("tree:20", int(rounds), **REAL)
    seconds = seconds_of(lambda: model.fit(X, y))
    found = {"seconds": seconds, "bytes": peak_rss(), "bytes_before": before, "input_bytes": X.nbytes}
    print(json.dumps(found | {"training_error": 100 * float(model.history_["training_error"][-1])}))


def large_fit(n: int, rounds: int) -> dict:
    """A large table, in a fresh process."""
    code = "import sys; from benchmarks.memory import fit_large; fit_large(*sys.argv[1:])"
    return fresh(code, str(n), str(rounds))
