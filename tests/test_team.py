"""Teams of threads: barriers, dealt work, helpers without a processor, failures, interrupts, how many threads."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
import weakref

import joblib
import numpy as np
import pytest
from joblib import Parallel, delayed
from numba import njit
from numba.core.compiler_lock import global_compiler_lock
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GridSearchCV, cross_val_score

from multiboost.estimators import threads
from multiboost.estimators.threads import processor_count, thread_count
from multiboost.kernels import team as module
from multiboost.kernels.interrupt import compilers_first
from multiboost.kernels.team import Team, barrier, next_item

from .conftest import ROOT

SECONDS = 60  # after which a process that was told to stop counts as hanging


@njit(nogil=True)
def relay(tid, n_threads, sync, slots, seen, work):
    """In every round each slot is written, and after a barrier each item reads all of them; then the leader works."""
    for r in range(seen.shape[0]):
        item = next_item(sync)
        while item < slots.size:
            slots[item] = 1000 * r + item
            item = next_item(sync)
        if not barrier(tid, n_threads, sync):
            return -1
        item = next_item(sync)
        while item < seen.shape[1]:
            seen[r, item] = slots.sum()
            item = next_item(sync)
        if not barrier(tid, n_threads, sync):
            return -1
        if tid == 0:
            for k in range(work[1:].size):
                work[0] += work[k]
        if not barrier(tid, n_threads, sync):
            return -1
    return seen.shape[0]


@njit(nogil=True)
def deal(tid, n_threads, sync, counts, by_thread):
    """Three phases of dealt work."""
    for _ in range(3):
        item = next_item(sync)
        while item < counts.size:
            by_thread[tid, item] += 1
            item = next_item(sync)
        if not barrier(tid, n_threads, sync):
            return


@njit(nogil=True)
def go_on(tid, n_threads, sync):
    """Barriers until one says to leave; how many did not."""
    n = 0
    while barrier(tid, n_threads, sync):
        n += 1
    return n


@njit
def begin(sync):
    next_item(sync)


def is_right(team):
    """Whether a team deals every piece of work once."""
    by_thread = np.zeros((team.n_threads, 200), np.int64)
    team.run(deal, np.zeros(200), by_thread)
    return (by_thread.sum(axis=0) == 3).all()


def wait_until(is_so):
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(1e-4)


# With much work for the leader alone the helpers fall asleep.
@pytest.mark.parametrize("n_work", [2, 300_000])
@pytest.mark.parametrize("n_threads", [1, 2, 3, 5])
def test_nobody_passes_a_barrier_before_the_work_is_done(n_threads, n_work):
    n_rounds = 300 if n_work == 2 else 30
    slots, seen = np.zeros(16, np.int64), np.zeros((n_rounds, 7), np.int64)
    with Team(n_threads) as team:
        for _ in range(3):
            seen[:] = 0
            assert team.run(relay, slots, seen, np.zeros(n_work)) == n_rounds
            right = 16 * 1000 * np.arange(n_rounds) + np.arange(16).sum()
            np.testing.assert_array_equal(seen, np.tile(right[:, None], 7))


@pytest.mark.parametrize("n_threads", [1, 2, 4])
def test_work_is_dealt_once(n_threads):
    counts, by_thread = np.zeros(500, np.int64), np.zeros((n_threads, 500), np.int64)
    with Team(n_threads) as team:
        for times in range(1, 20):
            team.run(deal, counts, by_thread, alone=times % 5 == 0)
            np.testing.assert_array_equal(by_thread.sum(0), 3 * times)


def test_a_closed_team_has_no_threads():
    before = threading.active_count()
    team = Team(3)
    assert is_right(team)
    assert threading.active_count() == before + 2
    team.close()
    assert threading.active_count() == before
    assert team.n_threads == 1
    assert is_right(team)


def test_helpers_help():
    """At least once in a while, also on a busy machine: else threads would be for nothing."""
    by_thread = np.zeros((2, 20_000), np.int64)
    deadline = time.monotonic() + 60
    with Team(2) as team:
        while by_thread[1].sum() == 0 and time.monotonic() < deadline:
            team.run(deal, np.zeros(20_000), by_thread)
    assert by_thread[1].sum() > 0


def test_a_helper_without_a_processor_holds_nobody_up(monkeypatch):
    """It begins when the kernel is long over: the leader has done its work, it touches nothing."""
    over, help_late = threading.Event(), module._Job.help

    def help_when_over(job, tid):
        assert over.wait(60)
        help_late(job, tid)

    monkeypatch.setattr(module._Job, "help", help_when_over)
    monkeypatch.setattr(module, "_PAUSE", (0.0, 0.0))
    by_thread = np.zeros((3, 200), np.int64)
    with Team(3) as team:
        for times in range(1, 4):  # helpers are held up by the first run in all of them
            team.run(deal, np.zeros(200), by_thread)
            np.testing.assert_array_equal(by_thread[0], 3 * times)
        over.set()
    np.testing.assert_array_equal(by_thread[1:], 0)


def test_after_helpers_did_not_come_the_leader_goes_on_alone_for_a_while(monkeypatch):
    clock, sizes = [0.0], []
    monkeypatch.setattr(module.time, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(module._Job, "held_up", True)

    def kernel(tid, n_threads, sync):
        begin(sync)
        if tid == 0:
            sizes.append(n_threads)

    with Team(2) as team:
        for clock[0] in np.arange(100) * 0.01:  # a second on a busy machine
            team.run(kernel)
        assert sizes[0] == 2
        assert 1 < sizes.count(2) < 10
        monkeypatch.setattr(module._Job, "held_up", False)
        clock[0] = 10.0
        sizes.clear()
        for _ in range(5):
            team.run(kernel)
        assert sizes == [2] * 5


class Oops(Exception):
    pass


class TestFailures:
    @pytest.fixture(autouse=True)
    def all_runs_are_of_the_team(self, monkeypatch):
        monkeypatch.setattr(module, "_PAUSE", (0.0, 0.0))

    def run_and_fail(self, kernel, message, n_threads=3):
        """The error arrives, no thread stays behind or works on, and the team works again."""
        before = threading.active_count()
        with Team(n_threads) as team:
            for _ in range(3):
                with pytest.raises(Oops, match=message):
                    team.run(kernel)
                assert is_right(team)
                wait_until(lambda: all(helper.free for helper in team._helpers))
        assert threading.active_count() == before

    def test_the_leader_fails_while_helpers_wait(self):
        entered, left = threading.Semaphore(0), []

        def kernel(tid, n_threads, sync):
            if tid > 0:
                entered.release()
                go_on(tid, n_threads, sync)
                left.append(tid)
                return
            begin(sync)
            for _ in range(n_threads - 1):
                assert entered.acquire(timeout=60)
            raise Oops("leader")

        self.run_and_fail(kernel, "leader")
        assert sorted(left) == [1, 1, 1, 2, 2, 2]

    def test_the_leader_fails_before_it_begins(self):
        """As when the kernel cannot be compiled: then nobody else tries."""
        tried = []

        def kernel(tid, n_threads, sync):
            tried.append(tid)
            time.sleep(0.01)
            raise Oops("compile")

        self.run_and_fail(kernel, "compile")
        assert tried == [0, 0, 0]

    @pytest.mark.parametrize("failing", [1, 2])
    def test_a_helper_fails(self, failing):
        def kernel(tid, n_threads, sync):
            if tid == 0:
                begin(sync)
                wait_until(lambda: sync[module._PLACE + failing * module._LINE] != 0)
            if tid == failing:
                raise Oops(f"helper {tid}")
            go_on(tid, n_threads, sync)

        self.run_and_fail(kernel, f"helper {failing}")

    def test_the_first_failure_is_raised(self):
        failed = threading.Event()

        def kernel(tid, n_threads, sync):
            if tid == 0:
                begin(sync)
                assert failed.wait(60)
                go_on(tid, n_threads, sync)
                raise Oops("second")
            failed.set()
            raise Oops("first")

        self.run_and_fail(kernel, "first", n_threads=2)

    def test_arrays_are_let_go(self):
        array = np.zeros(1000)
        there = weakref.ref(array)

        def kernel(tid, n_threads, sync, array):
            begin(sync)
            raise Oops("gone")

        with Team(2) as team:
            with pytest.raises(Oops, match="gone"):
                team.run(kernel, array)
            del array
            wait_until(lambda: gc.collect() >= 0 and there() is None)


class TestCompilersFirst:
    """An interrupt waits for the end of a compilation, and is not lost."""

    def test_interrupt_while_compiling(self):
        steps = []

        def compile_twice():
            with global_compiler_lock, global_compiler_lock:
                signal.raise_signal(signal.SIGINT)
                steps.append("goes on")
            steps.append("too far")

        with compilers_first(), pytest.raises(KeyboardInterrupt):
            compile_twice()
        assert steps == ["goes on"]
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler

    def test_other_handlers_are_called_later(self):
        called = []
        before = signal.signal(signal.SIGINT, lambda *arguments: called.append("handler"))
        try:
            with compilers_first(), compilers_first():
                with global_compiler_lock:
                    signal.raise_signal(signal.SIGINT)
                    called.append("compiled")
                assert called == ["compiled", "handler"]
        finally:
            signal.signal(signal.SIGINT, before)

    def test_at_once_elsewhere(self):
        with compilers_first(), pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        with global_compiler_lock, pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


CHECK = """
import signal, sys, threading, time
from sklearn.datasets import load_digits
from multiboost import MultiBoostClassifier

def left():
    # One whose start was interrupted has no number yet; it ends at once.
    return [thread for thread in threading.enumerate() if thread.name.startswith("multiboost") and thread.ident]

def check():
    deadline = time.monotonic() + 10
    while left():
        assert time.monotonic() < deadline, left()
        time.sleep(0.01)
    before = time.process_time()
    time.sleep(0.2)
    assert time.process_time() - before < 0.1

X, y = load_digits(return_X_y=True)
"""
WARM = """
moments = [float(word) for word in sys.argv[1:]]
clf = MultiBoostClassifier("tree:8", 10**6, loss="exponential", learning_rate=0.3)
clf.set_params(n_estimators=2).fit(X, y).set_params(n_estimators=10**6)
signal.signal(signal.SIGALRM, signal.default_int_handler)
for moment in moments:
    try:
        signal.setitimer(signal.ITIMER_REAL, moment)
        clf.fit(X, y)
    except KeyboardInterrupt:
        check()
print("ended")
"""
COLD = """
print("begin", flush=True)
try:
    MultiBoostClassifier(n_estimators=10**6).fit(X, y)
except KeyboardInterrupt:
    check()
    print("ended")
"""


def environment(**changes):
    return {**os.environ, "PYTHONPATH": str(ROOT / "src"), **changes}


@pytest.mark.skipif(os.name == "nt", reason="other signals")
class TestInterrupts:
    """Ctrl-C at many moments: no thread hangs, spins on, or keeps the program from ending."""

    def ends(self, process, moment):
        """What the process still says when it is interrupted at a moment after its begin."""
        assert process.stdout.readline() == "begin\n"
        time.sleep(moment)
        process.send_signal(signal.SIGINT)
        return process.communicate(timeout=SECONDS)

    def cold(self, cache, moment):
        command = [sys.executable, "-c", CHECK + COLD]
        with subprocess.Popen(
            command, env=environment(NUMBA_CACHE_DIR=str(cache)), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True,
        ) as process:  # fmt: skip
            try:
                out, err = self.ends(process, moment)
            finally:
                process.kill()
        assert (out, process.returncode) == ("ended\n", 0), err

    def test_warm(self):
        moments = [f"{moment:.4f}" for moment in np.geomspace(0.002, 0.3, 25)]
        done = subprocess.run(
            [sys.executable, "-c", CHECK + WARM, *moments],
            env=environment(),
            capture_output=True,
            text=True,
            timeout=5 * SECONDS,
        )
        assert done.stdout == "ended\n", done.stderr

    def test_cold(self, tmp_path):
        self.cold(tmp_path, 3.0)

    @pytest.mark.slow
    @pytest.mark.parametrize("moment", [0.5, 1.0, 2.0, 3.5, 4.0, 4.5, 5.0, 5.5, 6.0, 7.0])
    def test_cold_at_many_moments(self, tmp_path, moment):
        self.cold(tmp_path, moment)

    @pytest.mark.slow
    @pytest.mark.parametrize("moment", [1.0, 2.0, 3.0, 4.0, 5.0, 7.0])
    def test_command_line(self, tmp_path, moment):
        """Before the first round an interrupt ends the command, later it ends the run after the round."""
        rng = np.random.default_rng(0)
        X = rng.normal(size=(3000, 20))
        table = np.column_stack([X, X[:, :4].argmax(axis=1)])
        header = ",".join([f"x{j}" for j in range(20)] + ["class"])
        np.savetxt(tmp_path / "data.csv", table, delimiter=",", header=header, comments="")
        words = "train data.csv --target class --out model.mb --rounds 1000000 --quiet"
        code = "from multiboost.cli.app import main; print('begin', flush=True); main()"
        command = [sys.executable, "-c", code, *words.split()]
        with subprocess.Popen(
            command, env=environment(NUMBA_CACHE_DIR=str(tmp_path / "cache")), cwd=tmp_path, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
        ) as process:  # fmt: skip
            try:
                _, err = self.ends(process, moment)
            finally:
                process.kill()
        assert process.returncode == 130, err
        assert "interrupted" in err


class Probe(ClassifierMixin, BaseEstimator):
    """A classifier whose score is how many threads the default would be here."""

    def __init__(self, nothing=0):
        self.nothing = nothing

    def fit(self, X, y):
        self.classes_, self.n_threads_ = np.unique(y), thread_count(None)
        return self

    def predict(self, X):
        return np.zeros(len(X), int)

    def score(self, X, y):
        return self.n_threads_


class TestThreadCount:
    def test_as_in_joblib(self):
        """None is all, negative numbers count from all, at least one."""
        available = joblib.cpu_count()
        assert thread_count(None) == thread_count(-1) == processor_count() == available
        assert thread_count(-available) == thread_count(-available - 1) == thread_count(-1000) == 1
        assert thread_count(5) == thread_count(np.int64(5)) == 5

    @pytest.mark.parametrize("wrong", [1.5, "2", True])
    def test_wrong(self, wrong):
        with pytest.raises(ValueError, match="n_jobs must be a whole number or None"):
            thread_count(wrong)

    def test_zero(self):
        with pytest.raises(ValueError, match="n_jobs must not be 0"):
            thread_count(0)

    @pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity here")
    def test_affinity(self):
        before = os.sched_getaffinity(0)
        try:
            os.sched_setaffinity(0, {min(before)})
            assert thread_count(None) == thread_count(-1) == 1
        finally:
            os.sched_setaffinity(0, before)

    @pytest.mark.parametrize(
        ("files", "allowed"),
        [
            ({}, 8),
            ({"cpu.max": "max 100000"}, 8),
            ({"cpu.max": "300000 100000"}, 3),
            ({"cpu.max": "250000 100000"}, 3),
            ({"cpu.max": "10000 100000"}, 1),
            ({"cpu.max": "1600000 100000"}, 8),
            ({"cpu.max": ""}, 8),
            ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, 8),
            ({"cpu/cpu.cfs_quota_us": "200000", "cpu/cpu.cfs_period_us": "100000"}, 2),
        ],
    )
    def test_quota_of_a_container(self, tmp_path, monkeypatch, files, allowed):
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text + "\n")
        monkeypatch.setattr(threads, "_CGROUP", tmp_path)
        monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(8)), raising=False)
        assert thread_count(None) == allowed
        assert thread_count(-1) == allowed
        assert thread_count(-2) == max(1, allowed - 1)

    @pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
    def test_one_inside_joblib(self, backend):
        assert Parallel(2, backend=backend)(delayed(thread_count)(None) for _ in range(4)) == [1] * 4
        assert Parallel(2, backend=backend)(delayed(thread_count)(3) for _ in range(2)) == [3] * 2

    def test_all_in_a_loop_of_joblib(self):
        """One job is no worker: nothing runs beside it."""
        assert Parallel(1)(delayed(thread_count)(None) for _ in range(2)) == [processor_count()] * 2

    @pytest.mark.parametrize("backend", ["loky", "threading"])
    def test_one_inside_scikit_learn(self, backend):
        X, y = np.zeros((12, 1)), np.arange(12) % 2
        with joblib.parallel_config(backend):
            assert cross_val_score(Probe(), X, y, cv=3, n_jobs=2).tolist() == [1, 1, 1]
            search = GridSearchCV(Probe(), {"nothing": [0, 1]}, cv=2, n_jobs=2).fit(X, y)
        assert search.cv_results_["mean_test_score"].tolist() == [1, 1]
        assert search.best_estimator_.n_threads_ == processor_count()  # the refit is alone

    def test_no_import_of_joblib(self):
        code = "import sys; from multiboost.estimators.threads import thread_count; thread_count(None)"
        code += "; assert 'joblib' not in sys.modules"
        subprocess.run([sys.executable, "-c", code], env=environment(), check=True, timeout=60)
