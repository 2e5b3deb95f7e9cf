"""What can be asked of every fitted estimator, whoever fitted it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..boosting.plan import Plan
from ..kernels.team import Team
from ..losses import Loss
from ..model.ensemble import Ensemble
from ..model.linear import coefficient_path, is_linear
from ..model.model import Columns, Model
from ..model.single import Single
from ..model.storage import save
from .threads import thread_count
from .validation import check_table

ESTIMATORS: dict[str, type[Fitted]] = {}  # by name, for model files


class Fitted(BaseEstimator):
    """An estimator that has taken on a `Model`, or will."""

    n_jobs: int | None

    data_: dict | None = None
    model_: Model
    ensemble_: Ensemble
    history_: dict[str, np.ndarray]
    plan_: Plan

    def __init_subclass__(cls, **options) -> None:
        super().__init_subclass__(**options)
        ESTIMATORS[cls.__name__] = cls

    def _attributes(self, model: Model) -> dict[str, Any]:
        """What a user sees of the model, besides what all estimators show."""
        return {}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def _become(self, model: Model, plan: Plan) -> None:
        """Take on a model: everything that is fitted changes in one assignment."""
        fitted = {
            "model_": model,
            "plan_": plan,
            "data_": model.data,
            "ensemble_": model.ensemble,
            "history_": model.history,
            "n_estimators_": model.n_rounds,
            "n_iter_": model.n_rounds,
            "stop_reason_": model.stopped or f"all {model.n_rounds} rounds were made",
            "base_learner_": plan.base_learner,
            "loss_": plan.loss.name,
            "learning_rate_": plan.learning_rate,
            "subsample_": plan.subsample,
            **of_columns(model.columns),
            **self._attributes(model),
        }
        # Parameters, and what scikit-learn keeps beside them.
        kept = {name: value for name, value in vars(self).items() if not name.endswith("_")}
        self.__dict__ = {**kept, **fitted}

    # What a user may ask of a fitted one.

    @property
    def answer_loss_(self) -> Loss:
        """What answers are measured with: the loss of the training."""
        check_is_fitted(self)
        return self.plan_.loss

    @property
    def categories_(self) -> list[np.ndarray | None]:
        """Names of the categories of each column, None for numeric columns."""
        check_is_fitted(self)
        return self.model_.columns.all_category_names()

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of each feature in the gain of all cuts; sums to 1."""
        check_is_fitted(self)
        return self.ensemble_.importances(self.n_features_in_)

    @property
    def coef_path_(self) -> np.ndarray:
        """Coefficients after every round, where the base learner is ``Column()``.

        (rounds, n_features) for one number, else (rounds, labels or targets, n_features).  Of predictions in the
        units of y; of classifiers and under Poisson loss of scores.
        """
        return self._linear("coef_path_")[0]

    @property
    def intercept_path_(self) -> np.ndarray:
        """Intercepts after every round, as `coef_path_`: (rounds,) or (rounds, labels or targets)."""
        return self._linear("intercept_path_")[1]

    @property
    def coef_(self) -> np.ndarray:
        """Coefficients at the end, see `coef_path_`."""
        return self._linear("coef_")[0][-1]

    @property
    def intercept_(self) -> np.ndarray:
        """Intercepts at the end, see `coef_path_`."""
        return self._linear("intercept_")[1][-1]

    def _linear(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        check_is_fitted(self)
        if not is_linear(self.model_):
            raise AttributeError(f"{name} is for models of Column(), whose rounds are lines, that start from numbers")
        path, intercept = coefficient_path(self.model_)
        kind = self.model_.kind
        if kind.of_numbers and kind.is_single and kind.n_labels == 1:
            return path[:, 0], intercept[:, 0]
        return path, intercept

    def _scores(self, X) -> np.ndarray:
        """F of every row, (n, K)."""
        check_is_fitted(self)
        table = check_table(self, X)
        with Team(thread_count(self.n_jobs)) as team:
            return self.model_.scores(table, team)

    def _staged_scores(self, X) -> Iterator[np.ndarray]:
        """F of every row after each round, good until the next one."""
        check_is_fitted(self)
        table = check_table(self, X)
        with Team(thread_count(self.n_jobs)) as team:
            yield from self.model_.staged_scores(table, team)

    def predict(self, X):
        """What the model says: classes, or for multi-label targets 0 and 1, for several tasks one column each.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        scores = self._scores(X)
        return self.model_.answer(scores)

    def staged_predict(self, X):
        """`predict` after every round.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Yields
        ------
        ndarray
        """
        for scores in self._staged_scores(X):
            yield self.model_.answer(scores)

    def compiled(self) -> Single:
        """The fitted model for one row at a time, without checks, within microseconds.

        Returns
        -------
        Single
            ``scores(x)`` and ``predict(x)`` of a row x of numbers.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from multiboost import AdaBoostMHClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> clf = AdaBoostMHClassifier("stump", n_estimators=20).fit(X, y)
        >>> clf.compiled().scores(X[0]).shape
        (3,)
        """
        check_is_fitted(self)
        return self.model_.single()

    def save(self, path) -> None:
        """Write the fitted model to a file; `multiboost.load_model` reads it.

        Parameters
        ----------
        path : str or path
        """
        check_is_fitted(self)
        save(self.model_, path)


def of_columns(columns: Columns) -> dict[str, Any]:
    """How scikit-learn calls the columns."""
    names = {} if columns.names is None else {"feature_names_in_": columns.names}
    return {"n_features_in_": columns.n, **names}
