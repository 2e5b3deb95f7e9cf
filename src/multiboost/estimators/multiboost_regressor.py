"""The regressor whose defaults choose."""

from __future__ import annotations

from ..boosting.auto import Wishes
from ..boosting.auto_real import choose_real_plan
from ..losses import LOSSES
from ..losses.quantile import Quantile
from .parameters import documented
from .reals import RealBooster
from .wishes import check_wishes, losses_of, part_of, wishes_of


@documented
class MultiBoostRegressor(RealBooster):
    """Boosting of vector-valued base regressors, with defaults that choose.

    Takes one target or several, numbers that are unknown, a weight for every pair of a sample and a target, and several
    quantiles in one model.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    model_ : Model
        What was learned: scores, stages, file.
    plan_ : Plan
        How: what None has become.
    ensemble_ : Ensemble
        The model as flat arrays.
    history_ : dict of ndarray
        Per round: edge, alpha, risk, training_error, seconds_search, seconds_update, and with a validation set
        validation_error and validation_risk.  Errors are relative: the part of the loss of the best constant that
        is left, 1 - R2 for squared loss.
    feature_importances_ : ndarray (n_features_in_,)
    n_features_in_, n_outputs_, n_estimators_, n_iter_ : int
    feature_names_in_ : ndarray of str
    categories_ : list of (ndarray of str or None)
    loss_, learning_rate_, subsample_, base_learner_
        Parts of the plan.
    data_ : dict or None

    Notes
    -----
    Scores F are in units of the target's spread, see `multiboost.data.real`; ``predict`` is in those of y.  Several
    quantiles are learned in the same trees and sorted in every row, so they never cross.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from multiboost import MultiBoostRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> MultiBoostRegressor(n_estimators=20).fit(X, y).predict(X[:2]).shape
    (2,)
    >>> MultiBoostRegressor(n_estimators=20, loss="quantile", quantile=[0.1, 0.5, 0.9]).fit(X, y).predict(X[:2]).shape
    (2, 3)
    """

    def __init__(
        self,
        base_learner="tree",
        n_estimators=None,
        loss="squared",
        quantile=0.5,
        learning_rate=None,
        subsample=None,
        max_bins=256,
        nominal_features=None,
        min_category_rows=2,
        ridge=1.0,
        criterion=None,
        step=None,
        row_sampler=None,
        column_sampler=None,
        label_sampler=None,
        init=None,
        n_jobs=None,
        random_state=None,
        verbose=0,
        warm_start=False,
    ):
        self.base_learner = base_learner
        self.n_estimators = n_estimators
        self.loss = loss
        self.quantile = quantile
        self.learning_rate = learning_rate
        self.subsample = subsample
        self.max_bins = max_bins
        self.nominal_features = nominal_features
        self.min_category_rows = min_category_rows
        self.ridge = ridge
        self.criterion = criterion
        self.step = step
        self.row_sampler = row_sampler
        self.column_sampler = column_sampler
        self.label_sampler = label_sampler
        self.init = init
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start

    def check_parameters(self) -> None:
        """Refuse parameters that cannot be, alone or together; ``fit`` does it first.

        Raises
        ------
        ValueError
            It names the parameter.
        """
        super().check_parameters()
        check_wishes(self, self._wishes(), of=("numbers",))

    def _wishes(self) -> Wishes:
        if isinstance(self.loss, str) and self.loss == "quantile":
            loss = Quantile(self.quantile)
        else:
            loss = part_of("loss", LOSSES, self.loss, losses_of("numbers"))
        return wishes_of(self, loss=loss)

    def _plan(self, binned, target, team):
        return choose_real_plan(self._wishes(), binned, target, team, self.n_estimators), None
