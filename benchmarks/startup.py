"""Startup: imports, and the first fits of a process."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

import numpy as np

from .measure import Times, figure, fresh

COLD, WARM = 6.0, 1.0  # seconds asked for: the first fit ever, and that of every other process

IMPORTS = """
import json, time
import sklearn.base
a = time.perf_counter()
import multiboost
b = time.perf_counter()
from multiboost import MultiBoostClassifier
print(json.dumps([b - a, time.perf_counter() - a]))
"""
DIGITS = """
import json, time
from sklearn.datasets import load_digits
from multiboost import MultiBoostClassifier
X, y = load_digits(return_X_y=True)
seconds = []
for _ in range(2):
    a = time.perf_counter()
    MultiBoostClassifier().fit(X, y)
    seconds.append(time.perf_counter() - a)
print(json.dumps(seconds))
"""


def figures() -> Iterator[dict]:
    """Seconds beyond the imports of others; a fit is one of the defaults on scikit-learn's digits."""
    found = np.array([fresh(IMPORTS) for _ in range(5)])
    names = ("import multiboost", "from multiboost import MultiBoostClassifier")
    for name, seconds in zip(names, found.T, strict=True):
        times = Times.of(seconds)
        yield figure(f"{name}, beyond sklearn.base", times.median, None, "s", str(times), times=times._asdict())
    both = []
    for _ in range(3):
        with tempfile.TemporaryDirectory(prefix="multiboost-") as cache:
            both.append([fresh(DIGITS, NUMBA_CACHE_DIR=cache) for _ in range(2)])
    cold, warm = np.array(both).transpose(1, 0, 2)
    names = ("digits, first fit ever, empty kernel cache", "digits, first fit of the next process")
    for name, seconds, asked in zip(names, (cold, warm), (COLD, WARM), strict=True):
        times, again = Times.of(seconds[:, 0]), float(np.median(seconds[:, 1]))
        note = f"{times}; the same again in that process {again:.3g} s"
        yield figure(name, times.median, asked, "s", note, times=times._asdict())
