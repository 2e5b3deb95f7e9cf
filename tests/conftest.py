"""Where the tests find data, and the small data sets that they share."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]

# A process in the background may have been told to ignore Ctrl-C, and tells its children.  Tests of interrupts need it.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# These take longest, and use no kernels that other tests have compiled: a worker that began them last would work alone.
FIRST = ("test_work.py::test_instructions", "test_warm.py", "test_cache.py")


def pytest_collection_modifyitems(items):
    """Long tests first."""
    items.sort(key=lambda item: not any(name in item.nodeid for name in FIRST))


def _folder(variable: str, name: str) -> Path:
    """A folder named by an environment variable, or next to the project.

    Where there is none the test is skipped, and fails if the variable is "required".
    """
    given = os.environ.get(variable)
    folder = Path(given) if given and given != "required" else ROOT.parent / "shared" / name
    if not folder.is_dir():
        told = f"no folder {name}: set {variable}, or put it at ../shared/{name} of the project"
        pytest.fail(told) if given == "required" else pytest.skip(told)
    return folder


def shared_data(*parts: str) -> Path:
    """A file or folder of the shared public data."""
    path = _folder("MULTIBOOST_DATA", "data").joinpath(*parts)
    if not path.exists():
        pytest.skip(f"the shared data have no {'/'.join(parts)}")
    return path


def reference(*parts: str) -> Path:
    """A file of the reference runs of the C++ program; two small runs are in the project itself."""
    ours = ROOT.joinpath("tests", "reference", *parts)
    if ours.exists():
        return ours
    path = _folder("MULTIBOOST_REFERENCE", "reference").joinpath(*parts)
    if not path.exists():
        pytest.skip(f"the reference runs have no {'/'.join(parts)}")
    return path


def make_classes(n: int, n_features: int, n_labels: int, seed: int = 0, noise: float = 0.5):
    """Continuous columns and classes that depend on a few of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    centre = rng.normal(size=(n_labels, n_features)) * 1.5
    y = (X @ centre.T + noise * rng.normal(size=(n, n_labels))).argmax(axis=1)
    y[:n_labels] = np.arange(n_labels)
    return X, y


def make_levels(n: int, n_features: int, n_labels: int, n_levels: int = 7, seed: int = 0):
    """Columns of a few levels, so that every cut can be tried by hand, and noisy classes."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, n_levels, size=(n, n_features)).astype(float)
    centre = rng.normal(size=(n_labels, n_features))
    y = ((X - X.mean(axis=0)) @ centre.T + 2.0 * rng.normal(size=(n, n_labels))).argmax(axis=1)
    y[:n_labels] = np.arange(n_labels)
    return X, y


def make_labels(n: int, n_features: int, n_labels: int, seed: int = 0):
    """Continuous columns and an indicator matrix."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    Y = (X @ rng.normal(size=(n_features, n_labels)) + 0.7 * rng.normal(size=(n, n_labels)) > 0.3).astype(int)
    return X, Y


def signs_of(y, n_labels: int) -> np.ndarray:
    """Y in {-1, +1}, (n, K), of class numbers; one column where there are two classes."""
    if n_labels == 2:
        return np.where(np.asarray(y)[:, None] == 1, 1.0, -1.0)
    return np.where(np.asarray(y)[:, None] == np.arange(n_labels), 1.0, -1.0)


def half_weights(Y: np.ndarray) -> np.ndarray:
    """W0 of (3.12): half on the positive, half on the negative labels, total 1."""
    n, n_labels = Y.shape
    if n_labels == 1:
        return np.full((n, 1), 1.0 / n)
    positive, negative = Y > 0, Y < 0
    w = 0.5 * positive / positive.sum(1, keepdims=True) + 0.5 * negative / negative.sum(1, keepdims=True)
    return w / n


def leaf_numbers(ensemble, term: int, X: np.ndarray) -> np.ndarray:
    """The leaf of every row in one term: a walk in plain Python."""
    found = np.empty(len(X), int)
    for i, x in enumerate(X):
        node = int(ensemble.root[term])
        while node >= 0:
            value = x[ensemble.feature[node]]
            if np.isnan(value):
                right = ensemble.missing_right[node]
            elif ensemble.set_start[node] >= 0:  # the number of a category, and a bit for each
                byte = ensemble.sets[ensemble.set_start[node] + int(value) // 8]
                right = int(byte) >> (int(value) % 8) & 1
            else:
                right = value > ensemble.threshold[node]
            node = int(ensemble.child[node, int(right)])
        found[i] = ~node
    return found


@pytest.fixture(scope="session")
def three_classes():
    """300 x 6 continuous columns, three classes."""
    return make_classes(300, 6, 3)


@pytest.fixture(scope="session")
def two_classes():
    """240 x 5 continuous columns, two classes."""
    return make_classes(240, 5, 2, seed=1)


@pytest.fixture(scope="session")
def levels():
    """120 x 4 columns of seven levels, three noisy classes."""
    return make_levels(120, 4, 3)


@pytest.fixture(scope="session")
def labels():
    """250 x 6 continuous columns, four labels."""
    return make_labels(250, 6, 4)


def all_rows(*arguments, **parameters):
    """A classifier every round of which sees all samples, also of a small table."""
    from multiboost import MultiBoostClassifier

    return MultiBoostClassifier(*arguments, **{"subsample": 1.0, **parameters})
