"""How long the comparison of settings may take, and who is told of it.

A fit says so around the choice of its plan.  Trials ask; whoever compares keeps the best plan so far where time is up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf
from time import perf_counter

from .callbacks import Callback

_SHARE = 0.5  # of the time that is left: the rest is for the rounds


class TimeIsUp(Exception):
    """The comparison would use up the time limit."""


class Comparison(Callback):
    """A comparison of settings; as a callback it ends the runs of its trials in time.

    Parameters
    ----------
    seconds : float
        That are left to the whole fit.
    tell : callable or None
        Is told in a few words when the comparison begins.
    """

    def __init__(self, seconds: float = inf, tell: Callable[[str], None] | None = None):
        self._deadline = perf_counter() + _SHARE * seconds
        self._tell = tell

    def starts(self) -> None:
        """Trials begin; said once."""
        self.check()
        if self._tell is not None:
            self._tell("comparing settings on held-out rows")
            self._tell = None

    def check(self) -> None:
        """Raise `TimeIsUp` where it is."""
        if perf_counter() >= self._deadline:
            raise TimeIsUp

    def after_round(self, run):
        self.check()
        return False


_CURRENT: ContextVar[Comparison | None] = ContextVar("comparison", default=None)


def current() -> Comparison:
    """The comparison of the fit that is going on; one without limits elsewhere."""
    return _CURRENT.get() or Comparison()


@contextmanager
def comparing(seconds: float, tell: Callable[[str], None]) -> Iterator[None]:
    """While this lasts, trials belong to a fit that has so many seconds left.

    Parameters
    ----------
    seconds : float
    tell : callable
        Is told what takes a while.
    """
    before = _CURRENT.set(Comparison(seconds, tell))
    try:
        yield
    finally:
        _CURRENT.reset(before)
