"""A team of threads inside one kernel.

Growing a tree alternates between short parallel phases (histograms of a node) and
shorter serial ones (which leaf next?).  A thread pool would be called for each phase;
here every thread runs the whole kernel, and phases end at a barrier.

The thread that calls is the **leader**, number 0; the others are **helpers**.  On a busy machine a helper may lose its
processor for milliseconds, a hundred times as long as a phase.  So the leader can do without it:

- Work inside a phase is dealt out by an atomic counter.  A thread that is held up elsewhere does less.
- A helper that has begun a phase is waited for: it may hold a piece of the work.
- One that has not even begun it when all else is done is soon sent home.  Its next barrier tells it so;
  it comes back with the next kernel.
- Whoever waits spins for some microseconds, then sleeps.

So a kernel keeps to these rules:

- Helpers write only what they were dealt by `next_item`.  What is not dealt is done by the leader, ``if tid == 0``.
- A thread for which `barrier` is false returns at once.
- Whoever calls a piece that has barriers comes to another barrier before anything is dealt: a piece does not say
  whether its thread was told to leave.

``sync`` is an int64 array of `new_sync`, one for each running kernel.  Each word has a cache line of its own:

- generation: the number of the phase, from 0 on; `_ABORTED` where a thread has failed;
- next: pieces of work that were dealt in this phase;
- asleep: how many helpers sleep until the next phase begins;
- waiting: whether the leader sleeps until a helper has ended its phase;
- meet: the address of the function behind `barrier`;
- patience, beside it: nanoseconds that this kernel may still wait for helpers that do not come;
- for each helper its place: 2 g + 1 while it is inside phase g, 2 g + 2 after it, `_SENT_HOME` where it has been.
  It begins at 0, and ends as `_LEFT`.
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys
import threading
import time
from contextlib import ExitStack
from functools import cache
from queue import SimpleQueue
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

if sys.platform == "linux":
    import resource

from .compiler import INNER, ONCE, OPTIONS, compiled, njit
from .extremes import greater
from .interrupt import compilers_first

_LINE = 8  # words
_GENERATION, _NEXT, _ASLEEP, _WAITING, _MEET = (k * _LINE for k in range(5))
_PATIENCE = _MEET + 1
_PLACE = _MEET  # that of thread 1 is next
SYNC_SIZE = 5 * _LINE  # for one thread
_ABORTED = _SENT_HOME = -1
_LEFT = -2
_EXHAUSTED = 1 << 40  # more than any number of pieces

_SPIN = 100_000  # nanoseconds, about as long as it takes to wake a thread
_PATIENT = 300_000, 1 / 8  # a kernel waits so many nanoseconds, or this share of its time, for helpers that do not come
_OFTEN = 100  # times a second that a thread of a busy processor loses it
_PAUSE = 0.02, 0.32  # seconds, the shortest and the longest, in which a leader goes on alone on a busy machine
_BEGUN = 5e-5  # seconds between two looks whether the leader has begun

# Numbers of the system call by which Linux lets a thread sleep until a word of memory changes.
_FUTEX = {"x86_64": 202, "aarch64": 98, "riscv64": 98}.get(platform.machine(), 0) if sys.platform == "linux" else 0
_WAIT, _WAKE, _ALL = 128, 129, 0x7FFFFFFF
_call_system = types.ExternalFunction("syscall", types.int64(types.int64, types.intp, *[types.int64] * 3))
# Elsewhere threads sleep for a short while: microseconds, or milliseconds.
_WINDOWS = os.name == "nt"
_sleep = types.ExternalFunction("Sleep" if _WINDOWS else "usleep", types.int32(types.uint32))
_NAP = 1 if _WINDOWS else 50
_PLACES = sys.platform == "linux"  # whether the system says where a thread runs, and can be told


# Words of ``sync`` by the address of the first one: what is compiled for whole numbers only is compiled fast.


def _word(builder, words, index):
    first = builder.inttoptr(words, ir.IntType(64).as_pointer())
    return builder.gep(first, [index])


@intrinsic
def _fetch_add(typingctx, words, index, value):
    """Atomically add to a word; the old value."""

    def codegen(context, builder, signature, args):
        return builder.atomic_rmw("add", _word(builder, args[0], args[1]), args[2], "seq_cst")

    return types.int64(types.intp, types.intp, types.int64), codegen


@intrinsic
def _fetch(typingctx, words, index):
    def codegen(context, builder, signature, args):
        return builder.load_atomic(_word(builder, args[0], args[1]), "seq_cst", 8)

    return types.int64(types.intp, types.intp), codegen


@intrinsic
def _put(typingctx, words, index, value):
    def codegen(context, builder, signature, args):
        builder.store_atomic(args[2], _word(builder, args[0], args[1]), "seq_cst", 8)
        return context.get_dummy_value()

    return types.void(types.intp, types.intp, types.int64), codegen


@intrinsic
def _replace(typingctx, words, index, old, new):
    """Put ``new`` where a word is ``old``; whether it was."""

    def codegen(context, builder, signature, args):
        word = _word(builder, args[0], args[1])
        return builder.extract_value(builder.cmpxchg(word, args[2], args[3], "seq_cst", "seq_cst"), 1)

    return types.boolean(types.intp, types.intp, types.int64, types.int64), codegen


@intrinsic
def _now(typingctx):
    """Nanoseconds of a clock that only goes forward."""

    def codegen(context, builder, signature, args):
        number, status = ir.IntType(64), ir.IntType(32)
        if _WINDOWS:  # counts tenths of microseconds
            ticks = cgutils.alloca_once(builder, number)
            kind = ir.FunctionType(status, [number.as_pointer()])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, "QueryPerformanceCounter"), [ticks])
            return builder.mul(builder.load(ticks), number(100))
        time_of_day = cgutils.alloca_once(builder, ir.LiteralStructType([number, number]))
        kind = ir.FunctionType(status, [status, time_of_day.type])
        clock = cgutils.get_or_insert_function(builder.module, kind, "clock_gettime")
        builder.call(clock, [status(time.CLOCK_MONOTONIC), time_of_day])
        seconds, rest = (cgutils.gep_inbounds(builder, time_of_day, 0, k) for k in range(2))
        return builder.add(builder.mul(builder.load(seconds), number(10**9)), builder.load(rest))

    return types.int64(), codegen


@njit(**INNER)
def _await(words, index, value, duration, flag):
    """Wait until a word is no longer ``value``; whether it is not.

    Spins for some nanoseconds.  Then it gives up, or sleeps where there is a word, ``flag``, that counts those who do.
    """
    end = _now() + duration
    while _fetch(words, index) == value:
        if _now() > end:
            break
    else:
        return True
    if flag < 0:
        return False
    _fetch_add(words, flag, 1)  # whoever changes the word looks here afterwards
    while _fetch(words, index) == value:
        if _FUTEX > 0:
            _call_system(_FUTEX, words + 8 * index, _WAIT, value & 0xFFFFFFFF, 0)
        else:
            _sleep(_NAP)
    _fetch_add(words, flag, -1)
    return True


@njit(**ONCE)
def _wake(words, index, flag):
    """Wake those that wait for a word to change, if there are any."""
    if _FUTEX > 0 and _fetch(words, flag) > 0:
        _call_system(_FUTEX, words + 8 * index, _WAKE, _ALL, 0)


def _meet(tid, n_threads, words):
    """`barrier` of a team of several."""
    generation = _fetch(words, _GENERATION)
    if generation == _ABORTED:
        return 0
    if tid > 0:
        word = _PLACE + tid * _LINE
        place = _fetch(words, word)
        if place < 0:
            return 0
        _put(words, word, place + 1)
        _wake(words, word, _WAITING)
        _await(words, _GENERATION, place >> 1, _SPIN, _ASLEEP)
        return _fetch(words, _GENERATION) != _ABORTED and _replace(words, word, place + 1, place + 2)
    inside = 2 * generation + 1
    for t in range(1, n_threads):
        word = _PLACE + t * _LINE
        place = _fetch(words, word)
        while place >= 0 and place <= inside:
            if place == inside:
                _await(words, word, inside, _SPIN, _WAITING)
            else:
                patience, begin = _fetch(words, _PATIENCE), _now()
                if not _await(words, word, place, patience, -1):
                    _replace(words, word, place, _SENT_HOME)
                _put(words, _PATIENCE, greater(patience - (_now() - begin), 0))
            place = _fetch(words, word)
    _put(words, _NEXT, 0)
    if not _replace(words, _GENERATION, generation, generation + 1):  # a thread has failed
        return 0
    _wake(words, _GENERATION, _ASLEEP)
    return 1


# What threads do outside of the kernel.
_ENTER, _LEAVE, _ABORT, _FINISH = range(4)


@njit(**OPTIONS)
def _attend(what, tid, n_threads, words):
    """Whether it is so: see the methods of `_Job`."""
    word = _PLACE + tid * _LINE
    if what == _ENTER:
        return _fetch(words, _GENERATION) != _ABORTED and _replace(words, word, 0, 1)
    if what == _LEAVE:
        if _fetch(words, word) >= 0:
            _put(words, word, _LEFT)
        _wake(words, word, _WAITING)
    elif what == _ABORT:
        _put(words, _GENERATION, _ABORTED)
        _put(words, _NEXT, _EXHAUSTED)
        _wake(words, _GENERATION, _ASLEEP)
    else:
        for t in range(1, n_threads):
            word = _PLACE + t * _LINE
            place = _fetch(words, word)
            while place >= 0:
                if place & 1:
                    _await(words, word, place, _SPIN, _WAITING)
                else:
                    _replace(words, word, place, _LEFT)
                place = _fetch(words, word)
    return True


@cache
def _meeting() -> int:
    """Address of `_meet`, which is compiled once, not into every kernel.

    Also compiles all that helpers call, so that they never compile: the leader may be interrupted, and they must end.
    """
    number = types.int64
    meet = compiled(_meet, number, number, number, returns=number)
    sync = np.zeros(SYNC_SIZE, np.int64)
    _attend(_FINISH, 0, 1, sync.ctypes.data)
    assert meet.address is not None  # it is compiled
    return meet.address


def new_sync(n_threads: int, seconds: float = 0.0) -> np.ndarray:
    """What a team of threads agrees by, at the beginning of a kernel that takes about so many seconds."""
    sync = np.zeros(SYNC_SIZE + _LINE * (n_threads - 1), np.int64)
    if n_threads > 1:
        sync[_MEET] = _meeting()
        sync[_PATIENCE] = max(_PATIENT[0], int(_PATIENT[1] * seconds * 1e9))
    return sync


# What kernels call.


def _first_word(context, builder, signature, args):
    return context.make_array(signature.args[0])(context, builder, args[0]).data


@intrinsic
def next_item(typingctx, sync):
    """The number of the next piece of work of this phase, counted from 0."""

    def codegen(context, builder, signature, args):
        number = ir.IntType(64)
        word = builder.gep(_first_word(context, builder, signature, args), [number(_NEXT)])
        return builder.atomic_rmw("add", word, number(1), "seq_cst")

    return types.int64(sync), codegen


@intrinsic
def _call_meet(typingctx, sync, tid, n_threads):
    def codegen(context, builder, signature, args):
        number, words = ir.IntType(64), _first_word(context, builder, signature, args)
        kind = ir.FunctionType(number, [number] * 3)
        meet = builder.inttoptr(builder.load(builder.gep(words, [number(_MEET)])), kind.as_pointer())
        return builder.call(meet, [args[1], args[2], builder.ptrtoint(words, number)])

    return types.int64(sync, types.int64, types.int64), codegen


@njit(**INNER)
def barrier(tid, n_threads, sync):
    """Wait until the work of this phase is done, and begin the next; false: leave the kernel."""
    if n_threads == 1:
        sync[_NEXT] = 0
        return True
    return _call_meet(sync, tid, n_threads) != 0


def _processor() -> int:
    """The processor that this thread runs on, -1 where the system does not say."""
    return ctypes.pythonapi.sched_getcpu() if _PLACES else -1


def _n_interruptions() -> int:
    """How often this thread has lost its processor to another one; 0 where the system does not say."""
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw if _PLACES else 0


class _Job:
    """A kernel that a team runs: its arguments live as long as a thread may read them."""

    def __init__(self, kernel, n_threads: int, args: tuple, seconds: float):
        self.kernel, self.n_threads, self.args = kernel, n_threads, args
        self.sync = new_sync(n_threads, seconds)
        self.failures: list[BaseException] = []

    def _attend(self, what: int, tid: int = 0) -> bool:
        return _attend(what, tid, self.n_threads, self.sync.ctypes.data)

    def run(self, tid: int):
        return self.kernel(tid, self.n_threads, self.sync, *self.args)

    @property
    def held_up(self) -> bool:
        """Whether a helper did not come in time."""
        return bool((self.sync[_PLACE + _LINE :: _LINE] == _SENT_HOME).any())

    def fail(self, error: BaseException) -> None:
        """A thread has failed: the others leave the kernel."""
        self.failures.append(error)
        self.abort()

    def abort(self) -> None:
        """All threads leave the kernel after the pieces of work that they have begun."""
        self._attend(_ABORT)

    def leave(self, tid: int) -> None:
        """A helper has left the kernel."""
        self._attend(_LEAVE, tid)

    def finish(self) -> None:
        """The leader has left the kernel: wait until no helper is inside, and let nobody in any more."""
        self._attend(_FINISH)

    def help(self, tid: int) -> None:
        """Run the kernel as a helper, unless it is too late."""
        sync, place = self.sync, _PLACE + tid * _LINE
        # Until the leader has begun it may be compiling the kernel; it may fail, and then nobody should go on with it.
        while sync[_NEXT] == 0 and sync[_GENERATION] == 0 and sync[place] == 0:
            time.sleep(_BEGUN)
        if self._attend(_ENTER, tid):
            self.run(tid)


class _Helper(threading.Thread):
    """A thread that runs one job after the other; it never keeps a program from ending."""

    def __init__(self, tid: int):
        super().__init__(name=f"multiboost-{tid}", daemon=True)
        self.tid = tid
        self.jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self.free = True
        self.interrupted = False  # whether it has lost its processor, in a job, as often as on a busy machine

    def invite(self, job: _Job) -> None:
        """Hand out a job, unless the last one is not finished because there was no processor for this thread."""
        if self.free:
            self.free = False
            self.jobs.put(job)
        else:
            job.sync[_PLACE + self.tid * _LINE] = _SENT_HOME

    def keep_off(self, processor: int) -> None:
        """Run on any other processor.

        A thread that sleeps often is seldom moved: it would share the leader's processor beside one that is idle.
        """
        others = os.sched_getaffinity(0) - {processor}
        if others and self.native_id is not None:
            os.sched_setaffinity(self.native_id, others)

    def run(self) -> None:
        while (job := self.jobs.get()) is not None:
            before, begin = _n_interruptions(), time.perf_counter()
            try:
                job.help(self.tid)
            except BaseException as error:  # the leader raises it
                job.fail(error)
            if _n_interruptions() - before > _OFTEN * (time.perf_counter() - begin):
                self.interrupted = True
            self.free = True
            job.leave(self.tid)
            del job  # its arrays


class Team:
    """Python's side: runs kernels on the calling thread, with the help of others.

    A thread that fails ends the kernel on all threads, and what it raised is raised by `run`.  The team can then be
    used again.

    Parameters
    ----------
    n_threads : int
        Size of the team, the calling thread included.
    """

    def __init__(self, n_threads: int = 1):
        self.n_threads = n_threads
        self._helpers: list[_Helper] = []
        self._processor = -1  # the leader's
        self._job: _Job | None = None
        self._alone = new_sync(1)
        self._alone_until, self._pause = 0.0, _PAUSE[0]
        self._seconds: dict[Any, float] = {}  # that each kernel took the last time
        self._until_exit = ExitStack()

    def run(self, kernel, *args, alone: bool = False) -> Any:
        """Call ``kernel(tid, n_threads, sync, *args)`` on each thread; what it returns to the leader.

        ``alone`` keeps small work on the calling thread; the result is the same.
        """
        if self.n_threads == 1 or alone:
            return self._run_alone(kernel, args)
        begin = time.perf_counter()
        result = self._run_alone(kernel, args) if begin < self._alone_until else self._run_together(kernel, args)
        self._seconds[kernel] = time.perf_counter() - begin
        return result

    def _run_alone(self, kernel, args: tuple) -> Any:
        self._alone[:] = 0
        return kernel(0, 1, self._alone, *args)

    def _run_together(self, kernel, args: tuple) -> Any:
        self._gather()
        job = self._job = _Job(kernel, self.n_threads, args, self._seconds.get(kernel, 0.0))
        result = None
        try:
            for helper in self._helpers:
                helper.invite(job)
            result = job.run(0)
        except BaseException as error:
            job.fail(error)
        finally:
            job.finish()
            self._job = None
        if job.failures:
            raise job.failures[0]
        self._look_back(job)
        return result

    def _gather(self) -> None:
        """The helpers, each on a processor that is not the leader's."""
        while len(self._helpers) < self.n_threads - 1:
            self._helpers.append(_Helper(len(self._helpers) + 1))  # first of all: `close` ends whatever has begun
            self._helpers[-1].start()
            self._processor = -1
        processor = _processor()
        if processor != self._processor:
            self._processor = processor
            for helper in self._helpers:
                helper.keep_off(processor)

    def _look_back(self, job: _Job) -> None:
        """On a busy machine go on alone, twice as long after each try in vain.

        Such a try costs milliseconds, as much as ten good runs bring.
        """
        if job.held_up or any(helper.interrupted for helper in self._helpers):
            for helper in self._helpers:
                helper.interrupted = False
            self._alone_until = time.perf_counter() + self._pause
            self._pause = min(2 * self._pause, _PAUSE[1])
        else:
            self._pause = max(0.9 * self._pause, _PAUSE[0])

    def close(self) -> None:
        """Let the threads go."""
        helpers, self._helpers, self.n_threads = self._helpers, [], 1
        if self._job is not None:  # an interrupt in the middle of `run`
            self._job.abort()
        for helper in helpers:
            helper.jobs.put(None)
        for helper in helpers:
            if helper.is_alive():
                helper.join()

    def __enter__(self) -> Team:
        self._until_exit.enter_context(compilers_first())
        self._until_exit.callback(self.close)
        return self

    def __exit__(self, *exc_info) -> None:
        self._until_exit.close()
