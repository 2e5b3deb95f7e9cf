"""Our classifier, as the benchmarks use it."""

from __future__ import annotations

import numpy as np

from multiboost import MultiBoostClassifier

from .peers import THREADS

NAME = "MultiBoost"
DEFAULTS = "MultiBoost, defaults"
REAL = {"votes": "real", "loss": "exponential", "learning_rate": 0.3}
DISCRETE = {"votes": "discrete"}


def ours(base_learner="tree", n_estimators: int = 200, threads: int = THREADS, **parameters) -> MultiBoostClassifier:
    """Our classifier with so many threads."""
    return MultiBoostClassifier(base_learner, n_estimators, n_jobs=threads, **parameters)


def warm_up(X, y, rows: int = 600, **parameters) -> None:
    """A short fit of a few rows: what is timed afterwards finds its kernels compiled."""
    some = np.argsort(y, kind="stable")[:: max(1, len(y) // rows)]
    ours(**{**parameters, "n_estimators": 2}).fit(X.iloc[some] if hasattr(X, "iloc") else X[some], y[some])


def round_seconds(model) -> np.ndarray:
    """Seconds of every round."""
    return model.history_["seconds_search"] + model.history_["seconds_update"]
