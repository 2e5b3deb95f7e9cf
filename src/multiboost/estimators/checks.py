"""Numbers and words that parameters may be; without scikit-learn, for a model that only predicts."""

from __future__ import annotations

import os
from numbers import Integral

import numpy as np


def check_number(name: str, value, kind, low, high=np.inf, *, open_low: bool = False):
    """A number in a range, or an error that names the parameter."""
    wanted = "a whole number" if kind is Integral else "a number"
    ok = isinstance(value, kind) and not isinstance(value, bool)
    if ok and not (low < value if open_low else low <= value):
        ok = False
    if ok and value > high:
        ok = False
    if not ok:
        bounds = f"above {low}" if open_low else f"of at least {low}"
        bounds += f" and at most {high}" if np.isfinite(high) else ""
        raise ValueError(f"{name} must be {wanted} {bounds}; got {value!r}")
    return value


def check_choice(name: str, value, choices):
    """One of some words, or an error that lists them."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}")
    return value


def thread_count(n_jobs) -> int:
    """Threads for ``n_jobs``: None means all processors this process may use."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    if n_jobs is None:
        return available
    check_number("n_jobs", n_jobs, Integral, -available)
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0; None means all processors")
    return n_jobs if n_jobs > 0 else max(1, available + 1 + n_jobs)
