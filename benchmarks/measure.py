"""Measuring: times, memory, and the machine they belong to."""

from __future__ import annotations

import datetime
import hashlib
import importlib.metadata
import json
import os
import platform
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from multiboost.disk import whole_file

from .data import PROJECT

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "pandas", "lightgbm", "xgboost", "catboost")


class Times(NamedTuple):
    """Several repeats of a figure, mostly seconds."""

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


def error_of(predicted, true) -> float:
    """Wrong predictions, in percent."""
    return 100 * float(np.mean(predicted != true))


def figure(name: str, reached: float | None, asked: float | None, unit: str, note: str = "", **details) -> dict:
    """A figure that should be at most ``asked``; None where none is asked for or none was reached."""
    ok = None if asked is None else reached is not None and reached <= asked
    return {"name": name, "asked": asked, "reached": reached, "unit": unit, "ok": ok, "note": note, **details}


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


def fresh(code: str, *arguments: str, limit: float | None = None, **changes: str) -> Any:
    """Run Python code in a fresh process; what it prints last is read as JSON.

    After ``limit`` seconds the process is ended and subprocess.TimeoutExpired raised.
    """
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=environment(**changes),
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
        timeout=limit,
    )
    if done.returncode:
        raise RuntimeError(f"the fresh process failed: {done.stderr.strip()[-800:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


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


def version(package: str) -> str | None:
    """Version of an installed package; None where it is not there."""
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
        "versions": {package: version(package) for package in PACKAGES},
    }


def write_json(path: Path, content) -> None:
    """Write whole, with lists of numbers on one line."""
    text = json.dumps(content, indent=1, allow_nan=False)
    text = re.sub(r"\[[\s\d.,eE+-]*\]", lambda found: re.sub(r"\s+", " ", found[0]), text)
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        file.write(text.encode() + b"\n")
