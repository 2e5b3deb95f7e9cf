"""Digests of small runs: whether a change of the house has changed a model.

``python -m benchmarks.digests --record FILE`` before the change, ``--compare FILE`` after it, on the same machine:
other processors may round logarithms otherwise.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.linear_model import LogisticRegression

import multiboost
from multiboost import FromClassifier

# The name of the estimator that has all parameters, also before it had that name.
Classifier = getattr(multiboost, "MultiBoostClassifier", None) or multiboost.AdaBoostMHClassifier

REAL = {"votes": "real", "loss": "exponential", "learning_rate": 0.3}
LOGIT = {"votes": "real", "loss": "logistic", "learning_rate": 0.1}
DISCRETE = {"votes": "discrete"}


def mixed(n: int = 900, seed: int = 0):
    """Numbers with missing values beside two nominal columns, one of many categories; three classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    X[:, 3] = rng.integers(0, 5, n)
    X[:, 4] = rng.integers(0, 60, n)
    side = np.isin(X[:, 4] % 7, (1, 3)) * 2.0
    y = np.clip(np.round(X[:, 0] + side + (X[:, 3] == 2) + 0.5 * rng.normal(size=n)), 0, 2).astype(int)
    X[rng.random(n) < 0.1, 1] = np.nan
    X[rng.random(n) < 0.05, 4] = np.nan
    return X, y


def labels(n: int = 700, seed: int = 1):
    """Five labels, a fifth of them unknown."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 8))
    Y = (X @ rng.normal(size=(8, 5)) + 0.6 * rng.normal(size=(n, 5)) > 0.2).astype(float)
    Y[rng.random(Y.shape) < 0.2] = np.nan
    return X, Y


def tasks(n: int = 600, seed: int = 2):
    """Two tasks of three and four classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    return X, np.column_stack([np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.7]), np.digitize(X[:, 2], [-1, 0, 1])])


def wide(n: int = 400, columns: int = 300, seed: int = 3):
    """A sparse table of many columns, four classes."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.15, size=(n, columns)).astype(float)
    y = (X[:, :20].sum(axis=1) + X[:, 20:40].sum(axis=1) * 2).astype(int) % 4
    return csr_matrix(X), y


def large(n: int = 9000, seed: int = 4):
    """Enough rows for coarse blocks, several threads, and trees that may grow."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 12))
    y = (np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n) > 0).astype(int)
    return X, y


def fitted(make: Callable, *learner, weights: bool = False, jobs: int = 2, **parameters):
    """A fitted classifier."""
    X, y = make()
    rng = np.random.default_rng(9)
    weight = rng.random(len(y)) if weights else None
    if "votes" in parameters:  # nothing is left open but what the defaults decide
        parameters.setdefault("subsample", 1.0)
    return Classifier(*learner, n_jobs=jobs, **parameters).fit(X, y, weight)


def digits():
    return load_digits(return_X_y=True)


def cancer():
    return load_breast_cancer(return_X_y=True)


def wine():
    return load_wine(return_X_y=True)


def iris():
    return load_iris(return_X_y=True)


NOMINAL = {"nominal_features": [3, 4]}
RUNS: dict[str, Callable] = {
    "digits, tree:20, real": lambda: fitted(digits, "tree:20", 40, **REAL),
    "digits, tree:20, logistic": lambda: fitted(digits, "tree:20", 40, **LOGIT),
    "digits, stump, discrete": lambda: fitted(digits, "stump", 60, **DISCRETE),
    "digits, stump, real": lambda: fitted(digits, "stump", 60, **REAL),
    "digits, tree:9, discrete": lambda: fitted(digits, "tree:9", 30, **DISCRETE),
    "digits, product:3, discrete": lambda: fitted(digits, "product:3", 20, **DISCRETE),
    "digits, product:2, real": lambda: fitted(digits, "product:2", 20, **REAL),
    "digits, product:2/tree:4, discrete": lambda: fitted(digits, "product:2/tree:4", 10, **DISCRETE),
    "digits, tree:5/product:2, logistic": lambda: fitted(digits, "tree:5/product:2", 8, **LOGIT),
    "cancer, tree:8, real, weights": lambda: fitted(cancer, "tree:8", 40, weights=True, **REAL),
    "cancer, stump, discrete": lambda: fitted(cancer, "stump", 60, **DISCRETE),
    "wine, tree:4, logistic, subsample": lambda: fitted(wine, "tree:4", 40, subsample=0.7, random_state=3, **LOGIT),
    "mixed, tree:12, real": lambda: fitted(mixed, "tree:12", 40, **REAL, **NOMINAL),
    "mixed, tree:12, logistic": lambda: fitted(mixed, "tree:12", 40, **LOGIT, **NOMINAL),
    "mixed, stump, discrete": lambda: fitted(mixed, "stump", 40, **DISCRETE, **NOMINAL),
    "mixed, selector, discrete": lambda: fitted(mixed, "selector", 20, **DISCRETE, **NOMINAL),
    "mixed, tree:4/indicator, real": lambda: fitted(mixed, "tree:4/indicator", 20, **REAL, **NOMINAL),
    "mixed, product:2/indicator, discrete": lambda: fitted(mixed, "product:2/indicator", 20, **DISCRETE, **NOMINAL),
    "labels, tree:8, real": lambda: fitted(labels, "tree:8", 30, **REAL),
    "labels, stump, discrete": lambda: fitted(labels, "stump", 30, **DISCRETE),
    "labels, tree:8, logistic, balanced": lambda: fitted(labels, "tree:8", 30, weighting="balanced", **LOGIT),
    "tasks, tree:8, real": lambda: fitted(tasks, "tree:8", 30, **REAL),
    "wide, tree:8, real": lambda: fitted(wide, "tree:8", 20, **REAL),
    "wide, stump, discrete": lambda: fitted(wide, "stump", 30, **DISCRETE),
    "large, tree:30, real": lambda: fitted(large, "tree:30", 30, **REAL),
    "large, tree:8, logistic": lambda: fitted(large, "tree:8", 30, **LOGIT),
    "large, tree:8, discrete": lambda: fitted(large, "tree:8", 20, **DISCRETE),
    "large, stump, discrete, long": lambda: fitted(large, "stump", 30, max_bins=4000, **DISCRETE),
    "iris, classifier": lambda: fitted(iris, FromClassifier(LogisticRegression()), 5, **DISCRETE),
    "iris, defaults": lambda: fitted(iris),
    "digits, defaults": lambda: fitted(digits, n_estimators=50),
    "cancer, defaults": lambda: fitted(cancer, n_estimators=50),
    "mixed, defaults": lambda: fitted(mixed, n_estimators=50, **NOMINAL),
    "labels, defaults": lambda: fitted(labels, n_estimators=50),
    "large, defaults": lambda: fitted(large, n_estimators=30),
}


def main() -> int:
    """Record, or compare and say what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", metavar="FILE")
    parser.add_argument("--compare", metavar="FILE")
    given = parser.parse_args()
    found = {name: run().ensemble_.digest() for name, run in RUNS.items()}
    if given.record:
        with open(given.record, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=1)
    if given.compare:
        with open(given.compare, encoding="utf-8") as file:
            before = json.load(file)
        different = [name for name in found if before.get(name) != found[name]]
        print("\n".join(f"differs: {name}" for name in different) or f"{len(found)} runs, all the same bits")
        return int(bool(different))
    return 0


if __name__ == "__main__":
    sys.exit(main())
