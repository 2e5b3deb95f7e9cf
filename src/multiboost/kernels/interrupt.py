"""Ctrl-C while a kernel is compiled waits until it is, some seconds at most.

LLVM calls Python back, and Python's finalisers call LLVM: an interrupt that arrives there is lost.  One that arrives
between a lock of LLVM's and its release leaves it locked, and the next thread that compiles waits for ever.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from numba.core import event

_COMPILING = "numba:compiler_lock"


class _Keeper(event.Listener):
    """Keeps interrupts from the begin of a compilation in the main thread to its end."""

    def __init__(self):
        self.users = self.depth = 0
        self.kept = False
        self.handler = None

    def _keep(self, number, frame) -> None:
        self.kept = True

    def on_start(self, event) -> None:
        if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is None:
            return
        if self.depth == 0:
            self.handler = signal.signal(signal.SIGINT, self._keep)
        self.depth += 1

    def on_end(self, event) -> None:
        if threading.current_thread() is not threading.main_thread() or self.depth == 0:
            return
        self.depth -= 1
        if self.depth == 0:
            kept, self.kept = self.kept, False
            signal.signal(signal.SIGINT, self.handler)
            if kept:
                signal.raise_signal(signal.SIGINT)


_keeper = _Keeper()


@contextmanager
def compilers_first() -> Iterator[None]:
    """While this lasts, an interrupt waits until the kernel at hand is compiled."""
    if threading.current_thread() is not threading.main_thread():  # others are never interrupted
        yield
        return
    if _keeper.users == 0:
        event.register(_COMPILING, _keeper)
    _keeper.users += 1
    try:
        yield
    finally:
        _keeper.users -= 1
        if _keeper.users == 0:
            event.unregister(_COMPILING, _keeper)
