"""Compiling ahead: what the first fit of all will need later, in another process, while this one compiles the rest.

numba compiles one kernel at a time in a process.  The other process writes into the same cache on disk, from
which this one then reads.  It is started only where there is something to gain: a second processor, and
nothing in the cache yet.

What a compiler makes is seldom garbage; both processes do not look for any meanwhile, which saves a twentieth of
their time.
"""

import gc
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import current_process
from pathlib import Path

_PATIENCE = 120.0  # seconds; then this process compiles everything itself
_lock = threading.Lock()
_child: subprocess.Popen | None = None
_collects = False  # whether `wait` has to let Python collect garbage again


@contextmanager
def compiling(kernel, function: str, *arguments, piece: str = "") -> Iterator[None]:
    """While this lasts, another process calls ``function``, "module:name", with arguments that can be written down.

    It is not started where ``kernel``, one of those that the function compiles, has been compiled before, or the
    piece of that name beside it.  Whoever needs the kernels calls `wait` before.
    """
    global _child, _collects
    with _lock:
        mine = _child is None and _is_worth_it(kernel, piece)
        if mine:
            _child = _start(function, arguments)
        if mine and _child is not None:
            _collects = gc.isenabled()
            gc.disable()
    try:
        yield
    finally:
        if mine:
            wait(0.0)


def wait(seconds: float = _PATIENCE) -> None:
    """Wait until the other process, if there is one, has compiled its part; it is gone after so many seconds."""
    global _child, _collects
    with _lock:
        if _collects:
            if gc.get_freeze_count() == 0:
                gc.freeze()  # and back: what there is counts as old, or it would all be looked at now
                gc.unfreeze()
            gc.enable()
        child, _child, _collects = _child, None, False
        if child is None:
            return
        try:
            child.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
        finally:
            child.kill()  # no matter when: files of the cache are written whole or not at all
            child.wait()


def _is_worth_it(kernel, piece: str) -> bool:
    """Whether it is not in the cache, and we know how to start another Python."""
    python = os.path.basename(sys.executable or "").startswith("python") and not getattr(sys, "frozen", False)
    if not python or current_process().name != "MainProcess":
        return False
    if not hasattr(kernel, "stats"):  # where numba is told to compile nothing
        return False
    return not any(Path(kernel.stats.cache_path).glob(f"*.{piece or kernel.__name__}-*.nbi"))


def _start(function: str, arguments: tuple) -> subprocess.Popen | None:
    module, name = function.split(":")
    # The same modules as here, and nothing of the user's own program.
    code = (
        f"import gc, sys; gc.disable(); sys.path[:] = {sys.path!r}; from {module} import {name}; {name}(*{arguments!r})"
    )
    none = subprocess.DEVNULL
    try:
        return subprocess.Popen([sys.executable, "-c", code], stdin=none, stdout=none, stderr=none)
    except OSError:
        return None
