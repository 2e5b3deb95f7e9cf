"""Threads for ``n_jobs``; without scikit-learn, for a model that only predicts."""

from __future__ import annotations

import math
import os
import sys
from numbers import Integral
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")


def thread_count(n_jobs) -> int:
    """Threads for ``n_jobs``: None is all that we may use, or one inside a worker of joblib; -1 all, -2 all but one."""
    if n_jobs is None:
        return 1 if _is_in_joblib() else processor_count()
    if not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool):
        raise ValueError(f"n_jobs must be a whole number or None; got {n_jobs!r}")
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0; None means all processors")
    wanted = int(n_jobs)
    return wanted if wanted > 0 else max(1, processor_count() + 1 + wanted)


def processor_count() -> int:
    """Processors that this process may use: the system's, or fewer by affinity or by a container's quota."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    return max(1, min(available, math.ceil(_quota(_CGROUP))))


def _quota(folder: Path) -> float:
    """Processors that a control group allows, of either version; very many where there is no limit."""
    for names in (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):
        try:
            quota, period = " ".join((folder / name).read_text() for name in names).split()
        except (OSError, ValueError):  # not there, or of another form
            continue
        if quota not in ("max", "-1"):
            return int(quota) / int(period)
    return sys.maxsize


def _is_in_joblib() -> bool:
    """Whether joblib already runs several of us; whoever is run by it has it imported."""
    joblib = sys.modules.get("joblib.parallel")
    return joblib is not None and (joblib.get_active_backend()[0].nesting_level or 0) > 0
