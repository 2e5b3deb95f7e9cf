"""A team of threads inside one kernel.

Growing a tree alternates between short parallel phases (histograms of a node) and
shorter serial ones (which leaf next?).  A thread pool would be called for each phase;
here every thread runs the whole kernel and the phases are
separated by a spinning barrier, which needs no call to the system.  Work inside a phase is
dealt out by an atomic counter, so that a thread that is held up elsewhere does less.

``sync`` is an int64 array of ``SYNC_SIZE`` zeros, one per running kernel.  Each
counter has a cache line of its own.
"""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

from .lanes import INNER

_ARRIVED, _GENERATION, _NEXT = 0, 8, 16
SYNC_SIZE = 24
_SPINS = 1 << 20  # milliseconds; offering the processor sooner costs a whole slice of time on a busy machine


# Offers the processor to another thread; the C library of every platform has one.
_sched_yield = types.ExternalFunction("SwitchToThread" if os.name == "nt" else "sched_yield", types.int32())


def _element(context, builder, signature, args):
    array = context.make_array(signature.args[0])(context, builder, args[0])
    return builder.gep(array.data, [args[1]])


@intrinsic
def _fetch_add(typingctx, array, index, value):
    """Atomically add to array[index]; the old value."""

    def codegen(context, builder, signature, args):
        return builder.atomic_rmw("add", _element(context, builder, signature, args), args[2], "seq_cst")

    return types.int64(array, types.intp, types.int64), codegen


@intrinsic
def _fetch(typingctx, array, index):
    def codegen(context, builder, signature, args):
        return builder.load_atomic(_element(context, builder, signature, args), "seq_cst", 8)

    return types.int64(array, types.intp), codegen


@intrinsic
def _put(typingctx, array, index, value):
    def codegen(context, builder, signature, args):
        builder.store_atomic(args[2], _element(context, builder, signature, args), "seq_cst", 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.int64), codegen


@intrinsic
def next_item(typingctx, sync):
    """The number of the next piece of work of this phase, counted from 0."""

    def codegen(context, builder, signature, args):
        place = context.get_constant(types.intp, _NEXT)
        element = _element(context, builder, signature, (args[0], place))
        return builder.atomic_rmw("add", element, context.get_constant(types.int64, 1), "seq_cst")

    return types.int64(sync), codegen


@njit(**INNER)
def barrier(n_threads, sync):
    """Wait until every thread of the team is here; resets the work counter."""
    if n_threads == 1:
        _put(sync, _NEXT, 0)
        return
    generation = _fetch(sync, _GENERATION)
    if _fetch_add(sync, _ARRIVED, 1) == n_threads - 1:
        _put(sync, _ARRIVED, 0)
        _put(sync, _NEXT, 0)
        _fetch_add(sync, _GENERATION, 1)
    else:
        spins = 0
        while _fetch(sync, _GENERATION) == generation:
            spins += 1
            if spins > _SPINS:
                _sched_yield()


class Team:
    """Python's side: starts a kernel on every thread and waits for all of them.

    Parameters
    ----------
    n_threads : int
        Size of the team, the calling thread included.
    """

    def __init__(self, n_threads: int = 1):
        self.n_threads = n_threads
        self._pool = ThreadPoolExecutor(n_threads - 1) if n_threads > 1 else None
        self._alone = np.zeros(SYNC_SIZE, np.int64)

    def run(self, kernel, *args, alone: bool = False):
        """Call ``kernel(tid, n_threads, sync, *args)`` on each thread.

        ``alone`` keeps small work on the calling thread; the result is the same.
        """
        if self._pool is None or alone:
            self._alone[:] = 0
            return kernel(0, 1, self._alone, *args)
        sync = np.zeros(SYNC_SIZE, np.int64)
        others = [self._pool.submit(kernel, t, self.n_threads, sync, *args) for t in range(1, self.n_threads)]
        result = kernel(0, self.n_threads, sync, *args)
        for future in others:
            future.result()
        return result

    def close(self) -> None:
        """Let the threads go."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None
            self.n_threads = 1

    def __enter__(self) -> "Team":
        return self

    def __exit__(self, *exc_info) -> None:
        self.close()
