"""Other boosting packages, at their default settings, behind one small interface."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from threadpoolctl import threadpool_limits

THREADS = 2
ROUNDS = (100, 300, 1000)


class Peer(ABC):
    """A classifier of another package.

    Parameters
    ----------
    rounds : int or None, default=None
        Rounds of boosting; None leaves everything as the package has it.
    threads : int, default=2
        Threads; small data may be faster with one.
    """

    name = ""

    def __init__(self, rounds: int | None = None, threads: int = THREADS):
        self.rounds = rounds
        self.threads = threads

    @abstractmethod
    def model(self):
        """The package's own classifier."""

    @staticmethod
    def table(X):
        """A data frame with categories and missing values as the package wants it."""
        return X

    def options(self, X) -> dict:
        """What the package's fit has to be told about the table."""
        return {}

    def fit(self, X, y) -> Peer:
        """Train; classes that do not occur in y are taken out, as not every package allows them."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.model_ = self.model()
        with threadpool_limits(self.threads):
            self.model_.fit(X, codes, **self.options(X))
        return self

    def predict(self, X) -> np.ndarray:
        """Classes."""
        with threadpool_limits(self.threads):
            codes = np.asarray(self.model_.predict(X)).reshape(len(X), -1)[:, 0]
        return self.classes_[codes.astype(np.intp)]

    def predict_proba(self, X) -> np.ndarray:
        """Probabilities, in the order of classes_."""
        with threadpool_limits(self.threads):
            return np.asarray(self.model_.predict_proba(X))


class LightGBM(Peer):
    """LightGBM, 100 rounds by default."""

    name = "LightGBM"

    def model(self):
        from lightgbm import LGBMClassifier

        return LGBMClassifier(**_given(n_estimators=self.rounds), n_jobs=self.threads, verbose=-1)

    def predict(self, X) -> np.ndarray:
        """Classes; straight from the booster, whose threads need no limit."""
        return self.classes_[np.asarray(self.model_.predict(X)).astype(np.intp)]


class XGBoost(Peer):
    """XGBoost with histograms, 100 rounds by default."""

    name = "XGBoost"

    def model(self):
        from xgboost import XGBClassifier

        return XGBClassifier(
            **_given(n_estimators=self.rounds), tree_method="hist", enable_categorical=True, n_jobs=self.threads
        )


class HistGradientBoosting(Peer):
    """scikit-learn's histogram boosting, 100 rounds by default; with given rounds it does not stop early."""

    name = "HistGradientBoosting"

    def model(self):
        from sklearn.ensemble import HistGradientBoostingClassifier

        if self.rounds is None:
            return HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0)
        return HistGradientBoostingClassifier(
            max_iter=self.rounds, early_stopping=False, categorical_features="from_dtype", random_state=0
        )


class CatBoost(Peer):
    """CatBoost, 1000 rounds by default."""

    name = "CatBoost"

    @staticmethod
    def table(X):
        """It refuses NaN in nominal columns, so that missing becomes a category there; elsewhere NaN stays."""
        found = {
            name: column.cat.add_categories("missing").fillna("missing")
            for name, column in X.select_dtypes("category").items()
            if column.hasnans
        }
        return X.assign(**found)

    def options(self, X) -> dict:
        """Its nominal columns have to be named."""
        return {"cat_features": list(X.select_dtypes("category"))} if hasattr(X, "select_dtypes") else {}

    def model(self):
        from catboost import CatBoostClassifier

        return CatBoostClassifier(
            **_given(iterations=self.rounds), thread_count=self.threads, verbose=False, allow_writing_files=False
        )


class HistGradientBoostingPerLabel:
    """One HistGradientBoostingClassifier for every label.

    Parameters
    ----------
    threads : int, default=2
    """

    name = "HistGradientBoosting per label"

    def __init__(self, threads: int = THREADS):
        self.threads = threads

    def fit(self, X, Y) -> HistGradientBoostingPerLabel:
        """Train; a label that never changes is kept as a constant."""
        self.models_ = [
            HistGradientBoosting(threads=self.threads).fit(X, y) if y.min() != y.max() else int(y[0])
            for y in np.asarray(Y).T
        ]
        return self

    def predict(self, X) -> np.ndarray:
        """Indicator matrix."""
        return np.stack(
            [np.full(len(X), model) if isinstance(model, int) else model.predict(X) for model in self.models_], axis=1
        )


def _given(**options) -> dict:
    return {name: value for name, value in options.items() if value is not None}


PEERS = {peer.name: peer for peer in (LightGBM, XGBoost, HistGradientBoosting, CatBoost)}
