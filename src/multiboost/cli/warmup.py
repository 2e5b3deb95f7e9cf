"""``multiboost warmup``: compile the kernels, which are then kept on disk."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from ..estimators.adaboost_mh import AdaBoostMHClassifier
from ..kernels.dtypes import COARSE, FINE
from ..kernels.histogram import Payload, with_loops
from .display import console

# One training of each kind of kernel: (what it is for, parameters, nominal columns or not).
_KINDS = [
    ("real votes", {"loss": "exponential"}, False),
    ("logistic loss", {"loss": "logistic"}, False),
    ("discrete votes", {"votes": "discrete"}, False),
    ("nominal columns", {"loss": "exponential"}, True),
    ("nominal columns, discrete votes", {"votes": "discrete"}, True),
]


def run(quiet: bool) -> None:
    """Compile what training and prediction need."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 9, (60, 3)), np.arange(60) % 3
    for name, parameters, nominal in _KINDS:
        begin = perf_counter()
        clf = AdaBoostMHClassifier("tree:4", 2, nominal_features=[0] if nominal else None, **parameters)
        clf.fit(X, y).predict(X)
        _say(name, begin, quiet)
    begin = perf_counter()
    AdaBoostMHClassifier("tree:4", 2, loss="exponential").fit(rng.normal(size=(200, 3)), np.arange(200) % 3)
    _say("columns of many values", begin, quiet)
    begin = perf_counter()
    for dtype in (COARSE, FINE):
        for lanes in (1, 2, 4, 8, 12, 16):
            none, empty = np.zeros(0, np.int32), np.zeros(0, dtype)
            with_loops(Payload(empty, lanes, False, none, empty, lanes, lanes))
    _say("any number of labels", begin, quiet)
    begin = perf_counter()
    clf.predict(np.tile(X, (1000, 1)))  # many rows have a kernel of their own, and so has one
    clf.compiled()
    _say("many rows, single rows", begin, quiet)


def _say(name: str, begin: float, quiet: bool) -> None:
    if not quiet:
        console().print(f"{name:<32} {perf_counter() - begin:6.1f} s", highlight=False)
