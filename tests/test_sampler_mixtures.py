"""Samplers of rows, columns and labels together, drawn at random: threads, interruptions and layouts leave no trace.

What one sampler lends another must be whole, also where a round is made again with everything.
"""

import numpy as np
import pytest

from multiboost.base import problem

from .conftest import make_classes, make_labels
from .test_invariance import KINDS, boost, same_bits

LEARNERS = ["stump", "tree:5", "tree:12", "product:2", "tree:4/product:2", "product:2/tree:3"]
ROWS = [None, "share:0.3", "share:0.05", "mvs:0.5", "mvs:0.1", "trimming:0.8", "trimming:0.3"]
COLUMNS = [None, "lazy:3", "lazy:0.2", "ucb:2", "exp3p:3", "lazy:1"]
LABELS = [None, "heaviest:4", "heaviest:0.3", "random:3", "random:1"]


def mixture_of(seed: int) -> tuple[np.ndarray, np.ndarray, str, str, dict]:
    """A table, a kind of boosting, a base learner and samplers."""
    rng = np.random.default_rng(seed)

    def one(choices):
        return choices[rng.integers(len(choices))]

    n, n_columns, n_labels = int(rng.integers(30, 300)), int(rng.integers(2, 50)), int(rng.integers(2, 13))
    make = one([make_classes, make_classes, make_labels])
    X, y = make(n, n_columns, n_labels, seed=seed)
    if rng.random() < 0.3:
        X[rng.random(X.shape) < 0.1] = np.nan
    given = {"subsample": None, "row_sampler": one(ROWS), "column_sampler": one(COLUMNS), "label_sampler": one(LABELS)}
    return X, y, one(list(KINDS)), one(LEARNERS), given


def check(seed: int, tmp_path, monkeypatch) -> None:
    X, y, kind, learner, given = mixture_of(seed)
    whole = boost(X, y, kind, learner, 12, n_jobs=1, **given)
    same_bits(whole, boost(X, y, kind, learner, 12, n_jobs=3, **given), X)
    path = tmp_path / f"{seed}.mb"
    boost(X, y, kind, learner, 5, **given, fit={"checkpoint": path})
    same_bits(whole, boost(X, y, kind, learner, 12, **given, fit={"checkpoint": path, "resume": True}), X)
    monkeypatch.setattr(problem, "_PACKED", 0.0)  # columns are masked, not laid out
    same_bits(whole, boost(X, y, kind, learner, 12, **given), X)
    wrong = clf_error(whole, X, y)
    assert whole.history_["training_error"][-1] == pytest.approx(wrong, abs=1e-12)


def clf_error(clf, X, y) -> float:
    """Wrong answers; of several labels the share of wrong ones."""
    return float(np.mean(clf.predict(X) != y))


@pytest.mark.parametrize("seed", range(10))
def test_some_mixtures(seed, tmp_path, monkeypatch):
    check(seed, tmp_path, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(100, 500, 20))
def test_many_mixtures(first, tmp_path, monkeypatch):
    for seed in range(first, first + 20):
        check(seed, tmp_path, monkeypatch)
        monkeypatch.undo()
