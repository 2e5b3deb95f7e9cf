"""The classifier whose defaults choose."""

from __future__ import annotations

from ..boosting.auto import Wishes, choose_plan
from .calibrating import check_calibration, learned_after, learned_with
from .labels import LabelBooster
from .parameters import documented
from .wishes import check_wishes, wishes_of


@documented
class MultiBoostClassifier(LabelBooster):
    """Boosting of vector-valued base classifiers on an n x K weight matrix, with defaults that choose.

    Takes binary, multi-class, multi-label (indicator matrix) and multi-task targets
    (several columns of classes), labels that are unknown, and a weight for every pair of
    a sample and a label.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : ndarray or list of ndarray
        Classes; of a multi-task target a list, of a multi-label target the labels.
    model_ : Model
        What was learned: scores, stages, file.
    plan_ : Plan
        How: what "auto" and None have become.
    ensemble_ : Ensemble
        The model as flat arrays.
    history_ : dict of ndarray
        Per round: edge, alpha, Z, risk, training_error, seconds_search, seconds_update, and
        with a validation set validation_error and validation_risk.  All are of all samples; Z is
        NaN where the round did not see them.
    feature_importances_ : ndarray (n_features_in_,)
        Share of each feature in the gain of all cuts.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where the training table had column names.
    categories_ : list of (ndarray of str or None)
        Names of the categories of each column, None for numeric columns.
    n_estimators_, n_iter_ : int
        Rounds that were made; fewer than ``n_estimators`` where no base classifier
        helped any more.
    calibration_ : Calibration
        From scores to probabilities, see `predict_proba`; ``calibration_.name`` is what "auto" has become.
    slope_ : float
        Scores are multiplied by it before they are calibrated.
    loss_, learning_rate_, subsample_, base_learner_
        Parts of the plan.
    data_ : dict or None
        What the command line knows of the training file; kept in the model file.

    Notes
    -----
    What is set is fixed; the rest is chosen for the training set, always in the same way:

    ================  ==========================================================================================
    n_estimators      150 under the logistic loss, 200 under others and for multi-label targets.
    loss              exponential or logistic: what has the lower error on held-out rows after 50 rounds, or, where
                      the errors are within a standard error, the lower log-loss; of at most 5000 rows a fifth is held
                      out, of at most 1000 rows each fifth in turn.  Multi-label targets: logistic.  Discrete votes:
                      exponential.
    learning_rate     0.2 for the exponential loss, 0.1 for the logistic; 1 for discrete votes.
    leaves of trees   exponential: twice the labels, 20 to 64, and at least 25 rows to a leaf; logistic: 8, and at
                      least 100 rows to a leaf.  From 5000 rows on three times as many are tried, again and again,
                      on samples of up to 320 000 rows, and taken where they save enough.
    calibration       "matrix", for two classes "quadratic", learned from the held-out rows of this comparison; with
                      more than 1000 rows also from rows outside of its sample, and where these are few the other
                      fifths are held out, too, for this: up to 200 rounds on 4000 rows.
                      "margin" where nothing is compared, as for multi-label targets.
    subsample         0.8 with fewer than 5000 rows, else 1.  Multi-label targets and discrete votes: 1.
    ================  ==========================================================================================

    Setting a parameter to the value that would have been chosen changes nothing.

    References
    ----------
    B. Kegl, "Contributions to machine learning: the unsupervised, the supervised, and the
    Bayesian", habilitation thesis, Universite Paris Sud, 2011, chapter 3.
    R. Schapire, Y. Singer, "Improved boosting algorithms using confidence-rated
    predictions", Machine Learning 37, 1999.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multiboost import MultiBoostClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = MultiBoostClassifier(n_estimators=20).fit(X, y)
    >>> clf.predict(X[:2])
    array([0, 0])
    """

    def __init__(
        self,
        base_learner="tree",
        n_estimators=None,
        votes="real",
        loss="auto",
        learning_rate=None,
        subsample=None,
        weighting="auto",
        class_weight=None,
        negative_weights="error",
        max_bins=256,
        nominal_features=None,
        min_category_rows=2,
        ridge=1.0,
        criterion=None,
        step=None,
        row_sampler=None,
        column_sampler=None,
        label_sampler=None,
        calibration="auto",
        calibration_cv=None,
        init=None,
        n_jobs=None,
        random_state=None,
        verbose=0,
        warm_start=False,
    ):
        self.base_learner = base_learner
        self.n_estimators = n_estimators
        self.votes = votes
        self.loss = loss
        self.learning_rate = learning_rate
        self.subsample = subsample
        self.weighting = weighting
        self.class_weight = class_weight
        self.negative_weights = negative_weights
        self.max_bins = max_bins
        self.nominal_features = nominal_features
        self.min_category_rows = min_category_rows
        self.ridge = ridge
        self.criterion = criterion
        self.step = step
        self.row_sampler = row_sampler
        self.column_sampler = column_sampler
        self.label_sampler = label_sampler
        self.calibration = calibration
        self.calibration_cv = calibration_cv
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
        wishes = self._wishes()
        check_wishes(self, wishes)
        check_calibration(self.calibration, self.calibration_cv)

    def _wishes(self) -> Wishes:
        return wishes_of(self, votes=self.votes)

    def _plan(self, binned, target, team):
        plan, trial = choose_plan(self._wishes(), binned, target, team)
        calibration, cv = self.calibration, self.calibration_cv
        return plan, learned_with(calibration, cv, plan, trial, binned, target, team)

    def _needs_bins(self):
        return self.calibration_cv is not None and not isinstance(self.calibration_cv, str)

    def _calibrated(self, run, n_rounds, data):
        if self.calibration_cv is None:
            return None
        ensemble, ruler = self._ruler(run, data, n_rounds)
        return learned_after(self.calibration, self.calibration_cv, run, data.target, ensemble, ruler)
