"""Other boosting packages, at their default settings, behind one small interface."""

from __future__ import annotations

import copy
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator

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
    limit : float, default=inf
        Seconds after which it stops, where it can be told to.
    """

    name = ""
    package = ""
    nested = True  # whether a fit of fewer rounds is the beginning of one of more
    stops = False  # whether it can be told to stop

    def __init__(self, rounds: int | None = None, threads: int = THREADS, limit: float = np.inf):
        self.rounds = rounds
        self.threads = threads
        self.limit = limit

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

    def after_rounds(self, is_over: Callable[[], bool]) -> dict:
        """How the package's fit is told to ask after every round whether the time is over, where it can be told so."""
        return {}

    def fit(self, X, y) -> Peer:
        """Train; classes that do not occur in y are taken out, as not every package allows them."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.model_ = self.model()
        self.clock_: list[float] = []
        start = time.perf_counter()

        def is_over() -> bool:
            self.clock_.append(time.perf_counter() - start)
            return self.clock_[-1] > self.limit

        with threadpool_limits(self.threads):
            self.model_.fit(X, codes, **self.options(X), **self.after_rounds(is_over))
        return self

    def seconds_at(self, rounds: Iterable[int], seconds: float) -> list[float]:
        """Seconds after some rounds of a fit that took so many: noted, or in proportion to the rounds."""
        made = self.made
        noted = self.clock_ if len(self.clock_) == made else np.arange(1, made + 1) * seconds / made
        return [float(noted[t - 1]) if t < made else seconds for t in rounds]

    def predict(self, X) -> np.ndarray:
        """Classes."""
        with threadpool_limits(self.threads):
            codes = np.asarray(self.model_.predict(X)).reshape(len(X), -1)[:, 0]
        return self.classes_[codes.astype(np.intp)]

    @property
    def made(self) -> int:
        """Rounds that were made, where a package may stop before the number it was given."""
        if self.rounds is None:
            raise ValueError(f"{self.name} was given no number of rounds")
        return len(self.clock_) if self.stops else self.rounds

    @abstractmethod
    def staged(self, X, rounds: Iterable[int]) -> Iterator[np.ndarray]:
        """Classes after each of some increasing numbers of rounds."""

    def shortened(self, rounds: int, X, y) -> Peer:
        """The model of the first rounds, by training it: with these packages fewer rounds begin in the same way."""
        return type(self)(rounds, self.threads).fit(X, y)

    def predict_proba(self, X) -> np.ndarray:
        """Probabilities, in the order of classes_."""
        with threadpool_limits(self.threads):
            return np.asarray(self.model_.predict_proba(X))


class _Staged(Peer):
    """A classifier that can be told when to stop, and can add up the scores of some of its rounds."""

    stops = True

    @abstractmethod
    def piece(self, X, first: int, last: int, scores: np.ndarray | None) -> np.ndarray:
        """Scores of the first rounds, None for no rounds, and of those up to the last."""

    def staged(self, X, rounds: Iterable[int]) -> Iterator[np.ndarray]:
        scores, first = None, 0
        with threadpool_limits(self.threads):
            for t in rounds:
                scores, first = self.piece(X, first, t, scores), t
                codes = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(np.intp)
                yield self.classes_[codes]


class LightGBM(_Staged):
    """LightGBM, 100 rounds by default."""

    name, package = "LightGBM", "lightgbm"

    def model(self):
        from lightgbm import LGBMClassifier

        return LGBMClassifier(**_given(n_estimators=self.rounds), n_jobs=self.threads, verbose=-1)

    def after_rounds(self, is_over: Callable[[], bool]) -> dict:
        from lightgbm.callback import EarlyStopException

        def listen(round_) -> None:
            if is_over():
                raise EarlyStopException(round_.iteration, [])

        return {"callbacks": [listen]}

    def predict(self, X) -> np.ndarray:
        """Classes; straight from the booster, whose threads need no limit."""
        return self.classes_[np.asarray(self.model_.predict(X)).astype(np.intp)]

    def piece(self, X, first: int, last: int, scores):
        more = self.model_.predict(X, raw_score=True, start_iteration=first, num_iteration=last - first)
        return more if scores is None else scores + more


class XGBoost(_Staged):
    """XGBoost with histograms, 100 rounds by default."""

    name, package = "XGBoost", "xgboost"
    strategy: dict[str, str] = {}  # noqa: RUF012

    def piece(self, X, first: int, last: int, scores):
        return self.model_.predict(X, output_margin=True, iteration_range=(first, last), base_margin=scores)

    def after_rounds(self, is_over: Callable[[], bool]) -> dict:
        from xgboost.callback import TrainingCallback

        class Listener(TrainingCallback):
            def after_iteration(self, model, epoch, evals_log) -> bool:
                return is_over()

        self.model_.set_params(callbacks=[Listener()])  # its fit has no such argument
        return {}

    def model(self):
        from xgboost import XGBClassifier

        return XGBClassifier(
            **_given(n_estimators=self.rounds),
            **self.strategy,
            tree_method="hist",
            enable_categorical=True,
            n_jobs=self.threads,
        )


class XGBoostMultiOutput(XGBoost):
    """XGBoost with one tree a round whose leaves have a value for every class."""

    name = "XGBoost, multi-output trees"
    strategy = {"multi_strategy": "multi_output_tree"}  # noqa: RUF012


class _ScikitLearn(Peer):
    """A classifier that predicts round by round on its own."""

    package = "scikit-learn"

    def staged(self, X, rounds: Iterable[int]) -> Iterator[np.ndarray]:
        wanted = set(rounds)
        with threadpool_limits(self.threads):
            for t, codes in enumerate(self.model_.staged_predict(X), 1):
                if t in wanted:
                    yield self.classes_[np.asarray(codes).astype(np.intp)]


class AdaBoost(_ScikitLearn):
    """scikit-learn's AdaBoost of stumps, 50 rounds by default; it has one thread only."""

    name = "AdaBoost, stumps"
    depth: int | None = None

    @property
    def made(self) -> int:
        return len(self.model_.estimators_)

    def model(self):
        from sklearn.ensemble import AdaBoostClassifier
        from sklearn.tree import DecisionTreeClassifier

        base = None if self.depth is None else DecisionTreeClassifier(max_depth=self.depth)
        return AdaBoostClassifier(**_given(estimator=base, n_estimators=self.rounds), random_state=0)


class AdaBoostTrees(AdaBoost):
    """scikit-learn's AdaBoost of trees of depth 10: stumps are hopeless where classes are many."""

    name = "AdaBoost, trees of depth 10"
    depth = 10


class HistGradientBoosting(_ScikitLearn):
    """scikit-learn's histogram boosting, 100 rounds by default; with given rounds it does not stop early."""

    name = "HistGradientBoosting"

    def model(self):
        from sklearn.ensemble import HistGradientBoostingClassifier

        if self.rounds is None:
            return HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0)
        return HistGradientBoostingClassifier(
            max_iter=self.rounds, early_stopping=False, categorical_features="from_dtype", random_state=0
        )


class CatBoost(_Staged):
    """CatBoost, 1000 rounds by default."""

    name, package = "CatBoost", "catboost"
    nested = False  # its step depends on the number of rounds

    def piece(self, X, first: int, last: int, scores):
        more = self.model_.predict(X, prediction_type="RawFormulaVal", ntree_start=first, ntree_end=last)
        return more if scores is None else scores + more

    def after_rounds(self, is_over: Callable[[], bool]) -> dict:
        class Listener:
            def after_iteration(self, _) -> bool:
                return not is_over()

        return {"callbacks": [Listener()]}

    def shortened(self, rounds: int, X, y) -> Peer:
        """The first rounds of this model, as a fit of fewer rounds is another one."""
        short = copy.copy(self)
        short.rounds, short.model_ = rounds, self.model_.copy()
        short.model_.shrink(ntree_end=rounds)
        return short

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
RACERS = PEERS | {peer.name: peer for peer in (XGBoostMultiOutput, AdaBoost, AdaBoostTrees)}
