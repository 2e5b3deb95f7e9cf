"""The first fit of all: another process compiles half of the kernels, is waited for, and never stays behind."""

import os
import subprocess
import sys
from time import perf_counter

import numpy as np
import pytest

from multiboost import MultiBoostClassifier
from multiboost.kernels import warm as warming
from multiboost.kernels.compiler import KernelCache, _compiled
from multiboost.kernels.grow import compile_growth, grow


@pytest.fixture
def helper(tmp_path, monkeypatch):
    """A module whose `work` writes a file, and whose `hang` does not end."""
    (tmp_path / "warm_helper.py").write_text(
        "import pathlib, sys, time\n"
        f"def work(): pathlib.Path({str(tmp_path / 'done')!r}).write_text(sys.modules['__main__'].__name__)\n"
        "def hang(): time.sleep(600)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path / "done"


def test_another_process_works(helper):
    with warming._beside("warm_helper:work"):
        warming.wait()
        assert helper.exists()
    assert warming._child is None


def test_nothing_stays_behind(helper):
    begin = perf_counter()
    with warming._beside("warm_helper:hang"):
        child = warming._child
        assert child.poll() is None
    assert child.returncode is not None
    assert warming._child is None
    assert perf_counter() - begin < 60


@pytest.mark.parametrize("python", ["/nowhere/python3", "/nowhere/editor", "", None])
def test_without_another_python(monkeypatch, python):
    monkeypatch.setattr(sys, "executable", python)
    monkeypatch.setattr(KernelCache, "is_empty", True)
    with warming.warm(2, ("z",), False):
        assert warming._child is None
        warming.wait()


@pytest.mark.parametrize(
    ("votes", "n_columns", "n_classes"), [("real", 2, 3), ("real", 2, 2), ("discrete", 2, 3), ("discrete", 60, 3)]
)
def test_what_is_compiled_is_what_a_fit_needs(votes, n_columns, n_classes, monkeypatch):
    """The other process has no table: it must come to the same types."""
    X, y = np.random.default_rng(0).integers(0, 7, (20, n_columns)).astype(float), np.arange(20) % n_classes
    asked = []
    monkeypatch.setattr(warming, "_is_cold", lambda bounded: True)
    monkeypatch.setattr(warming, "_start", lambda function, arguments: asked.append((function, arguments)))
    MultiBoostClassifier("tree:3", 1, votes=votes, loss="exponential", n_jobs=2).fit(X, y)
    before, signatures = _compiled.cache_info().misses, []
    monkeypatch.setattr(grow, "compile", signatures.append)
    ((function, arguments),) = asked
    assert function == f"{compile_growth.__module__}:{compile_growth.__name__}"
    bounded = votes == "discrete" and n_columns == 60
    assert arguments == (("edge",) if votes == "discrete" else ("z",), bounded, n_classes == 2)
    compile_growth(*arguments)
    assert _compiled.cache_info().misses == before
    assert signatures[0] in grow.signatures


@pytest.mark.parametrize(("votes", "n_columns"), [("real", 2), pytest.param("discrete", 60, marks=pytest.mark.slow)])
def test_cold_once(votes, n_columns, tmp_path):
    """Nothing is in the cache before the first fit, what is needed is there after it, and stays."""
    code = (
        "ALL = {'subsample': 1.0, 'learning_rate': 0.2}\n"
        "import numpy as np\n"
        "from multiboost.kernels.warm import _is_cold\n"
        "from multiboost import MultiBoostClassifier\n"
        f"bounded = {n_columns > 40}\n"
        f"X, y = np.random.default_rng(0).integers(0, 7, (20, {n_columns})).astype(float), np.arange(20) % 3\n"
        "before = _is_cold(bounded)\n"
        f"MultiBoostClassifier('tree:3', 1, votes={votes!r}, loss='exponential', **ALL, n_jobs=2).fit(X, y)\n"
        "print(before, _is_cold(bounded))\n"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    for expected in ("True False", "False False"):
        done = subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True)
        assert done.stdout.strip() == expected


RUNS = """
import hashlib, sys
import numpy as np
from multiboost import MultiBoostClassifier

rng = np.random.default_rng(1)
X = rng.normal(size=(1400, 12))
X[:, 11] = rng.integers(0, 9, 1400)
F = X[:, :4] @ rng.normal(size=(4, 4)) + rng.normal(size=(1400, 4))
digest = hashlib.sha256()
cases = (
    (F.argmax(1), [11], "exponential", "real"), (F.argmax(1), None, "logistic", "real"),
    (F[:, 0] > 0, None, "exponential", "real"), (F[:, 0] > 0, None, "logistic", "real"),
    (F.argmax(1), None, "exponential", "discrete"),
)
for y, nominal, loss, votes in cases[: int(sys.argv[2])]:
    clf = MultiBoostClassifier(
        "tree:12", 6, loss=loss, votes=votes, max_bins=1000, n_jobs=int(sys.argv[1]), nominal_features=nominal,
        learning_rate=0.2, subsample=1.0,
    ).fit(X, y)
    for bits in (clf.decision_function(X), clf.history_["risk"], clf.history_["training_error"]):
        digest.update(bits.tobytes())
print(digest.hexdigest())
"""


@pytest.mark.parametrize("n_cases", [1, pytest.param(5, marks=pytest.mark.slow)])
def test_whoever_compiles_the_bits_are_the_same(tmp_path, n_cases):
    """One process alone, two side by side, or an earlier one: a model does not depend on it."""

    def bits(cache, n_jobs):
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / cache)}
        command = [sys.executable, "-c", RUNS, str(n_jobs), str(n_cases)]
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout

    alone = bits("alone", 1)
    assert bits("alone", 1) == alone
    assert bits("two", 2) == alone
