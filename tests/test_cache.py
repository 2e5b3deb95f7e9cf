"""Kernels on disk: what they were made of is what the package says now."""

import os
import shutil
import subprocess
import sys

import pytest

from .conftest import ROOT

FIT = """
import numpy as np
from multiboost import MultiBoostClassifier
rng = np.random.default_rng(0)
X = rng.integers(0, 9, (60, 3)).astype(float)
try:
    clf = MultiBoostClassifier("stump", 3, loss="exponential", n_jobs=1).fit(X, X[:, 0] + X[:, 1] > 8)
    print(clf.history_["training_error"].tolist())
except ValueError as error:
    print(error)
"""


def fit(package, **environment):
    """What a fresh process prints that trains with this copy of the package."""
    environment = {**os.environ, "PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1", **environment}
    return subprocess.run(
        [sys.executable, "-c", FIT], env=environment, check=True, capture_output=True, text=True, timeout=300
    ).stdout


@pytest.fixture
def package(tmp_path):
    """A copy of the package, without kernels that others have compiled."""
    copy = tmp_path / "package"
    shutil.copytree(ROOT / "src", copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def kept(folder):
    return sorted(file.name for file in folder.rglob("*.nbc"))


def test_a_change_in_an_inner_file_counts(package):
    """The scan of a block takes the worst cut instead of the best: another file than that of the kernel on disk."""
    first = fit(package)
    assert kept(package)
    assert fit(package) == first
    inner = package / "multiboost" / "kernels" / "scan.py"
    text = inner.read_text()
    assert text.count("if scores[k] > best:") == 1
    inner.write_text(text.replace("if scores[k] > best:", "if -scores[k] > best:"))
    assert fit(package) != first
    inner.write_text(text)
    assert fit(package) == first


def test_a_folder_of_the_users(package, tmp_path):
    """Where the package cannot be written to, and where the user says so, kernels are kept elsewhere."""
    cache = tmp_path / "cache"
    first = fit(package, NUMBA_CACHE_DIR=str(cache))
    assert kept(cache)
    assert not kept(package)
    before = {file: file.stat().st_mtime_ns for file in cache.rglob("*.nbc")}
    assert fit(package, NUMBA_CACHE_DIR=str(cache)) == first
    assert {file: file.stat().st_mtime_ns for file in cache.rglob("*.nbc")} == before
