"""A word for whoever waits before the first round."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ..boosting.callbacks import Callback
from ..kernels.compiler import when_compiling

_COMPILING = "compiling kernels, once for this machine: some seconds"


@contextmanager
def told_of_compiling(callbacks: Sequence[Callback]) -> Iterator[None]:
    """While this lasts, callbacks hear of the first kernel that is not in the cache.

    Parameters
    ----------
    callbacks : sequence of Callback
    """

    def tell() -> None:
        for callback in callbacks:
            callback.notice(_COMPILING)

    with when_compiling(tell):
        yield
