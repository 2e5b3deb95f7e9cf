"""FilterBoost: a classifier that is trained on examples from an oracle."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..base import base_learner_from
from ..boosting.auto import Wishes, default_leaves
from ..boosting.filtering import Filter, Filtered, FreshEdge, filter_boost
from ..boosting.plan import Plan
from ..calibration import Calibration, Theory
from ..data.kinds import Binary, LabelKind, MultiClass, as_labels, recognise, unknown_labels
from ..data.table import Table, infinite
from ..kernels.team import Team
from ..losses import LOSSES
from ..model.model import STEEPEST, Columns, Model
from ..samplers import AllRows
from .fitted import of_columns
from .labelled import Labelled
from .notices import told_of_compiling
from .parameters import PARAMETERS, documented
from .saving import saved_parameters
from .threads import thread_count
from .validation import check_callbacks, check_cuts, check_table, learn_table, seed_of

_BATCH = 1000  # examples that are drawn from a table at once
_ROWS = 10_000  # for which trees that leave their size open are sized


@documented
class FilterBoostClassifier(Labelled):
    """FilterBoost (Bradley and Schapire, NIPS 2007): boosting without a training set.

    An oracle delivers examples, as many as are asked for.  A filter accepts those that the rounds so far do not answer
    well, with the logistic weight 1 / (1 + exp(y F)), and every round is learned on fresh accepted examples.  Its
    coefficient comes from an edge that is estimated on other fresh examples, until it is known well enough.  The run
    ends by itself when so few examples are accepted that the error is at most ``eps``.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_, model_, plan_, ensemble_, feature_importances_, n_features_in_, n_iter_, stop_reason_
        As of `MultiBoostClassifier`.
    history_ : dict of ndarray
        Per round: edge (twice the estimate), alpha, and examples and accepted, the numbers of examples so far.  Z, risk
        and training_error are of the base classifier on its own sample.

    Notes
    -----
    With a probability of at least 1 - ``delta`` all of this is true: the run does not end by itself while the error is
    above ``eps``, and no estimated edge is above the edge.  An answer is wrong where the answer to any of its questions
    is wrong; for K labels or classes the filter needs about K times as many rejections to be sure.

    `predict_proba` is 1 / (1 + exp(-F)): the weight of the filter has F where other losses of this package have 2 F.

    References
    ----------
    J. Bradley, R. Schapire, "FilterBoost: regression and classification on large datasets", NIPS 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from multiboost import FilterBoostClassifier
    >>> rng = np.random.default_rng(0)
    >>> def oracle():
    ...     X = rng.normal(size=(500, 2))
    ...     return X, X[:, 0] > 0
    >>> clf = FilterBoostClassifier(oracle, eps=0.1).fit()
    >>> clf.predict([[1.0, 0.0], [-1.0, 0.0]])
    array([ True, False])
    """

    def __init__(
        self,
        oracle=None,
        eps=0.1,
        delta=0.1,
        tau=0.5,
        base_learner="stump",
        n_estimators=200,
        sample=300,
        max_accepted=100_000,
        max_bins=256,
        nominal_features=None,
        min_category_rows=2,
        n_jobs=None,
        random_state=None,
    ):
        self.oracle = oracle
        self.eps = eps
        self.delta = delta
        self.tau = tau
        self.base_learner = base_learner
        self.n_estimators = n_estimators
        self.sample = sample
        self.max_accepted = max_accepted
        self.max_bins = max_bins
        self.nominal_features = nominal_features
        self.min_category_rows = min_category_rows
        self.n_jobs = n_jobs
        self.random_state = random_state

    def check_parameters(self) -> None:
        """Refuse parameters that cannot be; ``fit`` does it first.

        Raises
        ------
        ValueError
            It names the parameter.
        """
        for name, value in self.get_params(deep=False).items():
            if name not in ("oracle", "eps"):
                PARAMETERS[name].check(value)
        for name in ("eps", "delta", "tau"):
            value = getattr(self, name)
            if not (isinstance(value, (int, float, np.number)) and 0 < value < 1):
                raise ValueError(f"{name} must be a number above 0 and below 1; got {value!r}")
        base_learner_from(self.base_learner)
        thread_count(self.n_jobs)

    def fit(self, X=None, y=None, *, classes=None, callbacks=None):
        """Boost until the error is at most ``eps``, ``n_estimators`` rounds are made or the oracle ends.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features), default=None
            With y instead of an oracle: examples are drawn from it at random, again and again.
        y : array of shape (n_samples,) or (n_samples, n_outputs), default=None
        classes : array, default=None
            All classes; None: those of the first batch.
        callbacks : list of Callback, default=None
            `TimeLimit`, `Progress` or your own, for every round.

        Returns
        -------
        self
        """
        self.check_parameters()
        watching = check_callbacks(callbacks)
        for callback in watching:
            callback.begin_fit()
        oracle = _Oracle(self, _pairs(self._oracle(X, y)), classes)
        learner = base_learner_from(self.base_learner)
        check_cuts(learner, oracle.first)
        loss = LOSSES.get("exponential")()
        wishes = Wishes(
            base_learner=learner, votes="discrete", loss=loss, learning_rate=1.0, rows=AllRows(),
            max_bins=self.max_bins, min_category_rows=self.min_category_rows, seed=seed_of(self.random_state),
        )  # fmt: skip
        plan = wishes.plan(loss, default_leaves(_ROWS, oracle.kind.n_labels), AllRows())
        with told_of_compiling(watching), Team(thread_count(self.n_jobs)) as team:
            source = Filter(oracle.batches(), oracle.kind, self.eps, self.delta, team, plan.seed)
            step = FreshEdge(filter=source, tau=self.tau, most=self.max_accepted)
            found = filter_boost(
                plan, source, self.n_estimators, self.sample, step, oracle.columns.n, watching, team
            )  # fmt: skip
        if found.run is None:
            raise ValueError(f"no round was made on the {source.examples} examples of the oracle: {found.ending}")
        if found.is_constant:
            warnings.warn(
                f"nothing can be learned from these examples: {found.ending}; all rows get the same prediction",
                UserWarning,
                stacklevel=2,
            )
        if source.ended:
            warnings.warn(
                f"{found.ending}, after {source.examples}: the error is not known to be at most eps={self.eps}",
                UserWarning,
                stacklevel=2,
            )
        self._become(self._model(found, oracle, source, plan), plan)
        return self

    def _oracle(self, X, y):
        """What delivers batches."""
        if (X is None) != (y is None):
            raise ValueError("fit needs X and y, or none of them and an oracle")
        if X is None:
            if self.oracle is None:
                raise ValueError(
                    "FilterBoostClassifier needs an oracle: an iterator of batches (X, y), or a function that returns "
                    "the next one"
                )
            return self.oracle
        if self.oracle is not None:
            raise ValueError("examples come from X and y or from the oracle, not from both: leave one of them out")
        return _drawn(X, y, seed_of(self.random_state))

    def _model(self, found: Filtered, oracle: _Oracle, source: Filter, plan: Plan) -> Model:
        return Model(
            ensemble=found.ensemble,
            kind=oracle.kind,
            columns=oracle.columns,
            slope=0.5 * STEEPEST,
            calibration=Calibration(Theory()),
            plan=plan.to_dict(),
            history={name: np.array(values) for name, values in found.history.items()},
            n_rows=source.examples,
            estimator=type(self).__name__,
            parameters=saved_parameters(self),
            stopped=found.ending,
        )


class _Oracle:
    """Batches, checked: all have the columns and the classes of the first, or those that were said.

    Attributes
    ----------
    kind : LabelKind
    columns : Columns
    first : Table
    """

    kind: LabelKind
    columns: Columns
    first: Table

    def __init__(self, estimator: FilterBoostClassifier, pairs: Iterator[Any], classes):
        self._pairs = pairs
        try:
            X, y = _pair(next(pairs), 0)
        except StopIteration:
            raise ValueError("the oracle has no examples: its first batch is missing") from None
        with _naming(0):
            self.first, self.columns = learn_table(estimator, X, estimator.nominal_features)
            _check_finite(self.first)
        self._labels = _labels(y, 0, self.first.n_rows)
        if classes is None:
            with _naming(0):
                self.kind = recognise(self._labels)
        else:
            known = np.unique(np.asarray(classes))
            if known.size < 2:
                raise ValueError(f"classes has only {known.size} class: a classifier needs at least two")
            self.kind = (Binary if known.size == 2 else MultiClass)([known])
        # What checks later batches: an estimator of this kind that knows the columns.
        self._like = object.__new__(type(estimator))
        self._like.__dict__ = {
            **vars(estimator), **of_columns(self.columns), "model_": SimpleNamespace(columns=self.columns)
        }  # fmt: skip
        self._check(self._labels, 0)

    def batches(self) -> Iterator[tuple[Table, np.ndarray]]:
        """All batches, the first one included."""
        yield self.first, self._labels
        for number, pair in enumerate(self._pairs, 1):
            X, y = _pair(pair, number)
            with _naming(number):
                table = check_table(self._like, X)
                _check_finite(table)
            labels = _labels(y, number, table.n_rows)
            self._check(labels, number)
            yield table, labels

    def _check(self, labels: np.ndarray, number: int) -> None:
        try:
            self.kind.encode(labels)
        except ValueError as error:
            raise ValueError(
                f"batch {number} of the oracle: {error}; say which classes there are, fit(classes=...)"
            ) from error


@contextmanager
def _naming(number: int) -> Iterator[None]:
    """Errors say which batch it was."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"batch {number} of the oracle: {error}") from error


def _check_finite(table: Table) -> None:
    for j, column in enumerate(table.columns(0, table.n_columns)):
        if np.isinf(column.values).any():
            raise ValueError(infinite(table.label(j)))


def _pairs(oracle) -> Iterator[Any]:
    """The batches of an iterable, or of a function that is called again and again."""
    if hasattr(oracle, "__iter__"):
        return iter(oracle)
    if not callable(oracle):
        raise ValueError(
            f"oracle must be an iterator of batches (X, y), or a function that returns one; got {oracle!r}"
        )
    return (oracle() for _ in count())


def _pair(pair, number: int) -> tuple[Any, Any]:
    if not (isinstance(pair, (tuple, list)) and len(pair) == 2):
        raise ValueError(f"batch {number} of the oracle must be a pair (X, y); got {type(pair).__name__}")
    return pair[0], pair[1]


def _labels(y, number: int, n_rows: int) -> np.ndarray:
    labels = as_labels(y)
    if len(labels) != n_rows:
        raise ValueError(f"batch {number} of the oracle has {n_rows} rows in X and {len(labels)} in y")
    if labels.ndim == 1 and unknown_labels(labels).any():
        raise ValueError(f"batch {number} of the oracle has NaN or None in y; every example needs its class")
    return labels


def _drawn(X, y, seed: int) -> Callable[[], tuple[Any, Any]]:
    """An oracle that draws from a table."""
    random = np.random.default_rng(seed)
    labels = as_labels(y)

    def batch():
        rows = random.integers(len(labels), size=_BATCH)
        return (X.iloc[rows] if hasattr(X, "iloc") else X[rows]), labels[rows]

    return batch
