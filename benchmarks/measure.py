"""Measuring: times, memory, and the machine they belong to."""

from __future__ import annotations

import datetime
import hashlib
import importlib.metadata
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .data import PROJECT

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "pandas", "lightgbm", "xgboost", "catboost")


class Times(NamedTuple):
    """Seconds of several repeats."""

    median: float
    low: float
    high: float
    repeats: int

    @classmethod
    def of(cls, seconds) -> Times:
        """Summary of a list of seconds."""
        return cls(float(np.median(seconds)), float(min(seconds)), float(max(seconds)), len(seconds))

    def __str__(self) -> str:
        return f"{self.median:.3g} s ({self.low:.3g} to {self.high:.3g})"


def seconds_of(action) -> float:
    """Wall time of one call."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def in_turn(actions: dict, repeats: int) -> dict[str, list[float]]:
    """Seconds of several actions in turn, so that a slow moment of the machine meets all of them."""
    seconds: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(repeats):
        for name, action in actions.items():
            seconds[name].append(seconds_of(action))
    return seconds


def interleaved(actions: dict, repeats: int) -> dict[str, Times]:
    """Times of several actions `in_turn`."""
    return {name: Times.of(found) for name, found in in_turn(actions, repeats).items()}


def environment(**changes: str) -> dict[str, str]:
    """Environment for a fresh process that finds the package and the benchmarks."""
    path = os.pathsep.join([str(PROJECT / "src"), str(PROJECT), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path.rstrip(os.pathsep), **changes}


def fresh(code: str, *arguments: str, **changes: str) -> dict:
    """Run Python code in a fresh process; what it prints last is read as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=environment(**changes),
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"the fresh process failed: {done.stderr.strip()[-800:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


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


def _peak_rss() -> int:
    """Peak memory of this process.

    On Linux getrusage starts with the peak of the parent process, VmHWM does not.
    """
    peak = _status("VmHWM")
    if peak is not None:
        return peak
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _memory_of_fit(folder: str, parameters: str) -> None:
    """In the fresh process: peak memory of one fit above what was there before it."""
    from multiboost import AdaBoostMHClassifier

    X, y = np.load(Path(folder, "X.npy")), np.load(Path(folder, "y.npy"))
    before = _status("VmRSS") or _peak_rss()
    model = AdaBoostMHClassifier(**json.loads(parameters))
    seconds = seconds_of(lambda: model.fit(X, y))
    print(json.dumps({"bytes": _peak_rss() - before, "input_bytes": X.nbytes, "seconds": seconds}))


def memory_of_fit(X: np.ndarray, y: np.ndarray, **parameters) -> dict:
    """Bytes that fitting AdaBoostMHClassifier takes at its peak beyond the loaded input, in a fresh process."""
    with tempfile.TemporaryDirectory(prefix="multiboost-") as folder:
        np.save(Path(folder, "X.npy"), X)
        np.save(Path(folder, "y.npy"), y)
        code = "import sys; from benchmarks.measure import _memory_of_fit; _memory_of_fit(*sys.argv[1:])"
        return fresh(code, folder, json.dumps(parameters))


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def commit() -> str | None:
    """Commit of the project's checkout, read from its files; None outside a checkout."""
    folder = PROJECT / ".git"
    try:
        head = (folder / "HEAD").read_text().strip()
        if not head.startswith("ref: "):
            return head
        name = head[len("ref: ") :]
        if (folder / name).is_file():
            return (folder / name).read_text().strip()
        for line in (folder / "packed-refs").read_text().splitlines():
            if line.endswith(" " + name):
                return line.split()[0]
    except OSError:
        pass
    return None


def source() -> str:
    """Digest of the package's files, which tells runs apart that have the same commit."""
    digest = hashlib.sha256()
    for path in sorted((PROJECT / "src").rglob("*.py")):
        digest.update(path.relative_to(PROJECT).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def load() -> float | None:
    """How many processes wanted a processor in the last minute; None where the system does not say."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def machine() -> dict:
    """Machine, versions, commit and date of a run."""
    from multiboost import __version__

    return {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "processor": _processor(),
        "processors": os.cpu_count(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "multiboost": __version__,
        "commit": commit(),
        "source": source(),
        "versions": {package: _version(package) for package in PACKAGES},
    }


def write_json(path: Path, content) -> None:
    """Write under a temporary name, then rename."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    os.replace(temporary, path)
