"""``multiboost warmup``: compile the kernels, which are then kept on disk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

import numpy as np

from ..estimators.multiboost_classifier import MultiBoostClassifier
from ..kernels.histogram import compile_loops
from .display import console

# One training of each kind of kernel: (what it is for, base learner, parameters, nominal columns or not).
_KINDS = [
    ("real votes", "tree:4", {"loss": "exponential"}, False),
    ("logistic loss", "tree:4", {"loss": "logistic"}, False),
    ("discrete votes", "product:2", {"votes": "discrete"}, False),
    ("nominal columns", "tree:4", {"loss": "exponential"}, True),
    ("nominal columns, discrete votes", "tree:4", {"votes": "discrete"}, True),
]


def run(quiet: bool) -> None:
    """Compile what training and prediction need."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 9, (60, 3)), np.arange(60) % 3
    for name, learner, parameters, nominal in _KINDS:
        with _timed(name, quiet):
            clf = MultiBoostClassifier(learner, 2, nominal_features=[0] if nominal else None, **parameters)
            clf.fit(X, y).predict(X)
    with _timed("columns of many values", quiet):
        MultiBoostClassifier("tree:4", 2, loss="exponential").fit(rng.normal(size=(200, 3)), np.arange(200) % 3)
    with _timed("many columns, discrete votes", quiet):
        MultiBoostClassifier("product:2", 2, votes="discrete").fit(np.tile(X, (1, 20)), y)
    with _timed("any number of labels", quiet):
        compile_loops()
    with _timed("many rows, single rows", quiet):
        clf.predict(np.tile(X, (1000, 1)))  # many rows have a kernel of their own, and so has one
        clf.compiled()


@contextmanager
def _timed(name: str, quiet: bool) -> Iterator[None]:
    begin = perf_counter()
    yield
    if not quiet:
        console().print(f"{name:<32} {perf_counter() - begin:6.1f} s", highlight=False)
