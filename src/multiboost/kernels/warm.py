"""The first fit of all: half of the kernels are compiled in another process, while this one compiles the rest.

numba compiles one kernel at a time in a process.  The other process writes into the same cache on disk, from
which this one then reads.  It is started only where there is something to gain: a second thread, and
nothing in the cache yet.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import current_process

from .compiler import KernelCache

_PATIENCE = 120.0  # seconds; then this process compiles everything itself
_lock = threading.Lock()
_child: subprocess.Popen | None = None


@contextmanager
def warm(n_threads: int, criteria: tuple[str, ...], bounded: bool, one_label: bool = False) -> Iterator[None]:
    """While this lasts, kernels that trees need may be compiled by another process.

    criteria : names of those that may be needed
    bounded : whether cuts are searched by bounds
    one_label : whether there is one label only
    """
    if n_threads > 1 and _is_cold(bounded):
        with _beside("multiboost.kernels.grow:compile_growth", criteria, bounded, one_label):
            yield
    else:
        yield


@contextmanager
def _beside(function: str, *arguments) -> Iterator[None]:
    """While this lasts, another process calls ``function``, "module:name", with arguments that can be written down."""
    global _child
    with _lock:
        mine = _child is None
        if mine:
            _child = _start(function, arguments)
    try:
        yield
    finally:
        if mine:
            wait(0.0)


def wait(seconds: float = _PATIENCE) -> None:
    """Wait until the other process, if there is one, has compiled its part; it is gone after so many seconds."""
    global _child
    with _lock:
        child, _child = _child, None
        if child is None:
            return
        try:
            child.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
        finally:
            child.kill()  # no matter when: files of the cache are written whole or not at all
            child.wait()


def _is_cold(bounded: bool) -> bool:
    """Whether kernels of trees are not in the cache, and we know how to start another Python."""
    from .edge_search import search_candidates
    from .grow import grow

    python = os.path.basename(sys.executable or "").startswith("python") and not getattr(sys, "frozen", False)
    if not python or current_process().name != "MainProcess":
        return False
    if not hasattr(grow, "py_func"):  # where numba is told to compile nothing
        return False
    return KernelCache(search_candidates if bounded else grow.py_func).is_empty


def _start(function: str, arguments: tuple) -> subprocess.Popen | None:
    module, name = function.split(":")
    # The same modules as here, and nothing of the user's own program.  Criteria say what their names mean to kernels.
    modules = f"import sys; sys.path[:] = {sys.path!r}; import multiboost.criteria"
    code = f"{modules}; from {module} import {name}; {name}(*{arguments!r})"
    none = subprocess.DEVNULL
    try:
        return subprocess.Popen([sys.executable, "-c", code], stdin=none, stdout=none, stderr=none)
    except OSError:
        return None
