"""AdaBoost.MH as the thesis has it."""

from __future__ import annotations

from ..base import base_learner_from
from ..boosting.auto import Wishes, plan_of
from ..calibration import Calibration, Margin
from ..losses import LOSSES
from ..samplers import AllRows
from .labels import LabelBooster
from .parameters import documented
from .validation import seed_of


@documented
class AdaBoostMHClassifier(LabelBooster):
    """AdaBoost.MH (Kegl 2011, Figure 3.5): exponential loss, its weights, all samples; nothing is compared.

    Takes the same targets as `MultiBoostClassifier`, which is the one to reach for where the result counts
    more than the algorithm.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_, model_, plan_, ensemble_, history_, feature_importances_, n_features_in_, n_estimators_, slope_
        As of `MultiBoostClassifier`, and whatever else it has.

    Notes
    -----
    Discrete votes and a learning rate of 1 are AdaBoost.MH of the thesis; real votes are real AdaBoost.MH
    (Schapire and Singer 1999).  A tree that leaves its size open has twice as many leaves as there are labels, 20
    to 64, and at least 25 rows to a leaf.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multiboost import AdaBoostMHClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = AdaBoostMHClassifier("stump", n_estimators=20).fit(X, y)
    >>> clf.predict(X[:2])
    array([0, 0])
    """

    def __init__(
        self,
        base_learner="tree",
        n_estimators=200,
        votes="discrete",
        learning_rate=1.0,
        weighting="auto",
        class_weight=None,
        negative_weights="error",
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
        self.votes = votes
        self.learning_rate = learning_rate
        self.weighting = weighting
        self.class_weight = class_weight
        self.negative_weights = negative_weights
        self.max_bins = max_bins
        self.nominal_features = nominal_features
        self.min_category_rows = min_category_rows
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start

    def _wishes(self):
        return Wishes(
            base_learner=base_learner_from(self.base_learner),
            votes=self.votes,
            loss=LOSSES.get("exponential")(),
            learning_rate=1.0 if self.learning_rate is None else self.learning_rate,
            rows=AllRows(),
            max_bins=self.max_bins,
            min_category_rows=self.min_category_rows,
            seed=seed_of(self.random_state),
        )

    def _plan(self, binned, target, team):
        return plan_of(self._wishes(), target), Calibration(Margin())
