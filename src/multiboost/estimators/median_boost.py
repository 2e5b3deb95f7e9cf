"""Median boosting: a vote of regressors about a number."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..base import Within, base_learner_from
from ..boosting.auto import Wishes
from ..boosting.held_out import HeldOutVotes
from ..boosting.run import Run, Start
from ..data.median import Medians, MedianTarget
from ..kernels.team import Team
from ..losses import LOSSES, Loss
from ..losses.pair import quantile_of
from ..samplers import AllRows
from ..steps import OffsetStep
from .parameters import documented
from .reals import RealBooster
from .threads import thread_count
from .validation import check_table, seed_of

_LEAVES, _LEAF_ROWS = 32, 25  # of a tree that leaves its size open: so many, and so many rows to each
_NEAR = 0.9  # of the rows are within eps of the first base regressor, where eps is open


@documented
class MedianBoostRegressor(RealBooster):
    """Median boosting (Kegl 2003): base regressors are weighted as AdaBoost weighs classifiers, and their weighted
    median is the answer.

    A base regressor is right about a row where it is within ``eps`` of its number.  With this award of +1 or -1 the
    algorithm is marginal AdaBoost: exponential loss, discrete votes, alpha of the edge minus alpha of ``gamma``.  So
    rows that few regressors come near to gain weight, and the run ends where no regressor is near to more than
    (1 + gamma) / 2 of the weight: then ``eps`` asks for too much, or the trees are too small.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    eps_ : float
        What ``eps`` has become, in units of y.
    model_, plan_, ensemble_, feature_importances_, n_features_in_, n_iter_
        As of `MultiBoostRegressor`.
    history_ : dict of ndarray
        Per round: edge, alpha, Z, risk, training_error and with a validation set validation_error and validation_risk.
        They are of the vote: an error is the weight of the rows that at most half of the vote is near to, and the
        risk is the product of Z.

    Notes
    -----
    The weight of the rows for which the quantiles of (1 - gamma) / 2 and (1 + gamma) / 2 of the vote are not both
    within eps is at most the product over rounds of exp(gamma alpha) Z.

    One target only.  ``multiboost predict``, ``evaluate`` and ``inspect`` read its files; it is trained in Python.  The
    answer is no sum over rounds, so `compiled` and `additive_shapes` refuse it.  `evaluate` measures answers, with the
    absolute loss.

    References
    ----------
    B. Kegl, "Robust regression by boosting the median", COLT 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from multiboost import MedianBoostRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> reg = MedianBoostRegressor(n_estimators=20).fit(X, y)
    >>> reg.predict(X[:2]).shape, reg.predict_quantiles(X[:2], [0.25, 0.75]).shape
    ((2,), (2, 2))
    """

    def __init__(
        self,
        base_learner="tree",
        n_estimators=100,
        eps=None,
        gamma=0.1,
        max_bins=256,
        nominal_features=None,
        min_category_rows=2,
        n_jobs=None,
        random_state=None,
        verbose=0,
        warm_start=False,
    ):
        self.base_learner = base_learner
        self.n_estimators = n_estimators
        self.eps = eps
        self.gamma = gamma
        self.max_bins = max_bins
        self.nominal_features = nominal_features
        self.min_category_rows = min_category_rows
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags

    def check_parameters(self) -> None:
        """Refuse parameters that cannot be; ``fit`` does it first.

        Raises
        ------
        ValueError
            It names the parameter.
        """
        super().check_parameters()
        if not self.gamma < 1:
            raise ValueError(f"gamma must be at least 0 and below 1; got {self.gamma!r}")

    @property
    def answer_loss_(self) -> Loss:
        """What answers are measured with: the absolute loss, as they are medians."""
        return LOSSES.get("absolute")()

    @property
    def eps_(self) -> float:
        """eps in units of y."""
        check_is_fitted(self)
        return float(self.plan_.base_learner.eps * self.model_.kind.scale[0])

    # Target and plan.

    _targets = MedianTarget

    def _loss(self):
        return self.answer_loss_

    def _numbers(self, y):
        numbers, _ = super()._numbers(y)
        if numbers.ndim == 2:
            raise ValueError(f"MedianBoostRegressor takes one target, and y has {numbers.shape[1]} columns")
        return numbers, None

    def _kind(self, y):
        numbers, recognise = super()._kind(y)
        return numbers, lambda *weights: Medians.like(recognise(*weights))

    def _wishes(self) -> Wishes:
        return Wishes(
            base_learner=Within(1.0, base_learner_from(self.base_learner)),
            votes="discrete",
            loss=LOSSES.get("exponential")(),
            step=OffsetStep(float(self.gamma)),
            rows=AllRows(),
            max_bins=self.max_bins,
            min_category_rows=self.min_category_rows,
            seed=seed_of(self.random_state),
        )

    def _plan(self, binned, target, team):
        wishes = self._wishes()
        assert wishes.loss is not None
        plan = wishes.plan(wishes.loss, max(4, min(_LEAVES, target.n_rows // _LEAF_ROWS)), AllRows())
        learner = plan.base_learner
        if self.eps is not None:
            eps = self.eps / target.kind.scale[0]
        else:
            problem = Run(plan, binned, target, team).problem
            h = learner.regressor(problem)
            rest = target.numbers if h is None else target.numbers - h.outputs()
            eps = quantile_of(np.abs(rest[:, 0]), target.signed[:, 0], _NEAR)
        return replace(plan, base_learner=Within(float(eps), learner.base)), None

    def _held_out(self, validation, data, plan, team):
        return HeldOutVotes(super()._held_out(validation, data, plan, team), plan.base_learner.is_hit)

    def _start(self, data, team):
        model, learner = self.model_, self.plan_.base_learner
        scores = np.zeros(data.target.signed.shape)
        for alpha, said in zip(model.ensemble.size, model.rounds(data.table, team), strict=True):
            scores += alpha * np.where(learner.is_hit(said, data.target.numbers), 1.0, -1.0)
        return Start(model.ensemble, scores, model.history, model.state)

    # What a user may ask.

    def predict_quantiles(self, X, quantiles) -> np.ndarray:
        """Quantiles of the vote: what regressors that have so much of the weight say at most.

        They show how much the regressors agree.  They are not quantiles of y given x: for these see
        ``MultiBoostRegressor(loss="quantile")``.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        quantiles : list of float
            In (0, 1).

        Returns
        -------
        ndarray of shape (n_samples, n_quantiles)
        """
        check_is_fitted(self)
        levels = np.atleast_1d(np.asarray(quantiles, dtype=np.float64))
        if levels.size == 0 or not ((levels > 0) & (levels < 1)).all():
            raise ValueError(f"quantiles must be numbers in (0, 1); got {quantiles!r}")
        table = check_table(self, X)
        with Team(thread_count(self.n_jobs)) as team:
            found = self.model_.quantiles(table, team, levels)
        kind = self.model_.kind
        return kind.center[0] + kind.scale[0] * found

    def predict_band(self, X) -> np.ndarray:
        """The quantiles of (1 - gamma) / 2 and (1 + gamma) / 2 of the vote, which training keeps within eps.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, 2)
        """
        return self.predict_quantiles(X, [(1 - self.gamma) / 2, (1 + self.gamma) / 2])
