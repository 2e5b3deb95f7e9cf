"""Compiling ahead: another process does it, is waited for, and never stays behind."""

import gc
import os
import subprocess
import sys
from contextlib import nullcontext
from time import perf_counter
from types import SimpleNamespace

import numpy as np
import pytest

from multiboost import AdaBoostMHClassifier
from multiboost.data.dataset import Dataset, seems_bounded
from multiboost.data.table import DenseTable
from multiboost.estimators import adaboost_mh
from multiboost.kernels import ahead
from multiboost.kernels.grow import compile_growth, grow
from multiboost.kernels.piece import compiled


@pytest.fixture
def kernel(tmp_path):
    """A kernel that is not in the cache yet."""
    return SimpleNamespace(stats=SimpleNamespace(cache_path=str(tmp_path)), __name__="kernel")


@pytest.fixture
def helper(tmp_path, monkeypatch):
    """A module whose `work` writes a file, and whose `hang` does not end."""
    (tmp_path / "ahead_helper.py").write_text(
        "import pathlib, sys, time\n"
        f"def work(): pathlib.Path({str(tmp_path / 'done')!r}).write_text(sys.modules['__main__'].__name__)\n"
        f"def say(word): pathlib.Path({str(tmp_path / 'done')!r}).write_text(word)\n"
        "def hang(): time.sleep(600)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path / "done"


def test_another_process_works(kernel, helper):
    with ahead.compiling(kernel, "ahead_helper:work"):
        ahead.wait()
        assert helper.exists()
    assert ahead._child is None


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize("collects", [False, True])
def test_garbage_is_collected_again(kernel, helper, collects, waits):
    gc.collect()
    before = gc.isenabled()
    (gc.enable if collects else gc.disable)()
    try:
        with ahead.compiling(kernel, "ahead_helper:work"):
            assert not gc.isenabled()
            if waits:
                ahead.wait()
                assert gc.isenabled() == collects
        assert gc.isenabled() == collects
    finally:
        (gc.enable if before else gc.disable)()


def test_not_where_something_is_in_the_cache(kernel, helper, tmp_path):
    (tmp_path / "grow.kernel-12.py311.nbi").touch()
    with ahead.compiling(kernel, "ahead_helper:work"):
        assert ahead._child is None
        ahead.wait()
    assert not helper.exists()


def test_nothing_stays_behind(kernel, helper):
    begin = perf_counter()
    with ahead.compiling(kernel, "ahead_helper:hang"):
        child = ahead._child
        assert child.poll() is None
    assert child.returncode is not None
    assert ahead._child is None
    assert perf_counter() - begin < 60


@pytest.mark.parametrize("python", ["/nowhere/python3", "/nowhere/editor", "", None])
def test_without_another_python(kernel, helper, monkeypatch, python):
    monkeypatch.setattr(sys, "executable", python)
    with ahead.compiling(kernel, "ahead_helper:work"):
        assert ahead._child is None
        ahead.wait()


@pytest.mark.parametrize(("votes", "n_columns"), [("real", 2), ("discrete", 2), ("discrete", 60)])
def test_what_is_compiled_is_what_a_fit_needs(votes, n_columns, monkeypatch):
    """The other process has no table: it must come to the same types."""
    X, y = np.random.default_rng(0).integers(0, 7, (20, n_columns)).astype(float), np.arange(20) % 3
    asked = []
    monkeypatch.setattr(adaboost_mh, "compiling", lambda *given, **_: asked.append(given) or nullcontext())
    AdaBoostMHClassifier("tree:3", 1, votes=votes, loss="exponential", n_jobs=2).fit(X, y)
    before, signatures = compiled.cache_info().misses, []
    monkeypatch.setattr(grow, "compile", signatures.append)
    ((kernel, function, *arguments),) = asked
    assert (kernel, function) == (grow, f"{compile_growth.__module__}:{compile_growth.__name__}")
    compile_growth(*arguments)
    assert compiled.cache_info().misses == before
    assert signatures[0] in grow.signatures


RUNS = """
import hashlib, sys
import numpy as np
from multiboost import AdaBoostMHClassifier

rng = np.random.default_rng(1)
X = rng.normal(size=(1400, 12))
X[:, 11] = rng.integers(0, 9, 1400)
F = X[:, :4] @ rng.normal(size=(4, 4)) + rng.normal(size=(1400, 4))
digest = hashlib.sha256()
for y, nominal, loss, votes in (
    (F.argmax(1), [11], "exponential", "real"), (F.argmax(1), None, "logistic", "real"),
    (F[:, 0] > 0, None, "exponential", "real"), (F[:, 0] > 0, None, "logistic", "real"),
    (F.argmax(1), None, "exponential", "discrete"),
):
    clf = AdaBoostMHClassifier(
        "tree:12", 6, loss=loss, votes=votes, max_bins=1000, n_jobs=int(sys.argv[1]), nominal_features=nominal
    ).fit(X, y)
    for bits in (clf.decision_function(X), clf.history_["risk"], clf.history_["training_error"]):
        digest.update(bits.tobytes())
print(digest.hexdigest())
"""


def test_which_tables_seem_bounded():
    """Wide ones, those with many values in a column, where there may be as many bins, and all in very long runs."""
    rng = np.random.default_rng(0)
    for X, max_bins, rounds in (
        (rng.integers(0, 9, (50, 60)), 256, 10), (rng.normal(size=(900, 3)), 1000, 10),
        (rng.normal(size=(900, 3)), 256, 10), (rng.integers(0, 9, (900, 3)), 1000, 10),
        (rng.normal(size=(200, 3)), 1000, 10), (rng.integers(0, 9, (900, 3)), 256, 100_000),
    ):  # fmt: skip
        table = DenseTable(X.astype(float))
        assert seems_bounded(table, max_bins, rounds) == Dataset(table, max_bins, None, 64, n_rounds=rounds).bounded


def test_a_piece_that_is_not_in_the_cache(kernel, helper, tmp_path):
    """The kernel is, the piece beside it is not: the other process starts, and is told what to do."""
    (tmp_path / "grow.kernel-1.py311.nbi").touch()
    with ahead.compiling(kernel, "ahead_helper:work"):
        ahead.wait()
    assert not helper.exists()
    with ahead.compiling(kernel, "ahead_helper:say", "it", piece="hopefuls"):
        ahead.wait()
    assert helper.read_text() == "it"
    helper.unlink()
    (tmp_path / "edge.hopefuls-1.py311.nbi").touch()
    with ahead.compiling(kernel, "ahead_helper:say", "it", piece="hopefuls"):
        ahead.wait()
    assert not helper.exists()


def test_whoever_compiles_the_bits_are_the_same(tmp_path):
    """One process alone, two side by side, or an earlier one: a model does not depend on it."""

    def bits(cache, n_jobs):
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / cache)}
        command = [sys.executable, "-c", RUNS, str(n_jobs)]
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout

    alone = bits("alone", 1)
    assert bits("alone", 1) == alone
    assert bits("two", 2) == alone


def test_garbage_is_collected_where_no_process_starts(kernel, helper, monkeypatch):
    """Also where fits are nested."""
    monkeypatch.setattr(ahead.subprocess, "Popen", lambda *args, **options: (_ for _ in ()).throw(OSError("no")))
    assert gc.isenabled()
    with ahead.compiling(kernel, "ahead_helper:work"), ahead.compiling(kernel, "ahead_helper:work"):
        assert gc.isenabled()
    assert gc.isenabled()
