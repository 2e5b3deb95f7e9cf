"""The ranker."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..boosting.auto import Wishes
from ..boosting.auto_ranked import choose_ranked_plan
from ..data.ranked import Graded, RankedTarget, Scored
from ..losses import LOSSES
from ..model.model import Model
from ..ranking import Convention, Queries, ranking_metric
from .booster import TABLES_ONLY, Booster
from .deciding import Deciding
from .parameters import documented
from .wishes import check_wishes, losses_of, part_of, wishes_of


@documented
class MultiBoostRanker(Deciding, Booster):
    """Learning to rank: the documents of a query, the most relevant first.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    grades_ : ndarray
        The grades of the training set, rising.
    model_ : Model
        What was learned: scores, stages, file.
    plan_ : Plan
        How: what None has become.
    ensemble_ : Ensemble
        The model as flat arrays.
    history_ : dict of ndarray
        Per round: edge, alpha, Z, risk, training_error, seconds_search, seconds_update, and with a validation set
        validation_error and validation_risk.  Errors are 1 - NDCG@10, the mean over queries.
    feature_importances_ : ndarray (n_features_in_,)
    n_features_in_, n_estimators_, n_iter_ : int
    feature_names_in_ : ndarray of str
    categories_ : list of (ndarray of str or None)
    loss_, learning_rate_, subsample_, base_learner_
        Parts of the plan.
    data_ : dict or None

    Notes
    -----
    Under the losses of labels ("exponential", "logistic", "softmax", "hinge") a grade is a class with the initial
    weight 1 + z of its gain z, and documents are ranked by the expected gain E[z|x].  This is the pointwise ranker of
    the reference.  Under "lambdarank" there is one score, and pairs of documents are weighed by what their exchange
    would do to NDCG.

    The order of rows leaves no trace in the model, neither within queries nor between them.

    ``qid`` is requested by ``fit`` and ``score``: where scikit-learn's metadata routing is enabled, pipelines, searches
    and cross-validation pass it on.

    References
    ----------
    B. Kegl, "Contributions to machine learning: the unsupervised, the supervised, and the Bayesian", habilitation
    thesis, Universite Paris Sud, 2011, section 3.5.

    Examples
    --------
    >>> import numpy as np
    >>> from multiboost import MultiBoostRanker
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(200, 3)), np.repeat(np.arange(20), 10)
    >>> y = np.clip(X[:, 0].round(), 0, 2)
    >>> ranker = MultiBoostRanker(n_estimators=20).fit(X, y, qid=qid)
    >>> ranker.score(X, y, qid=qid) > 0.9
    True
    """

    __metadata_request__fit = {"qid": True}  # noqa: RUF012
    __metadata_request__score = {"qid": True}  # noqa: RUF012

    def __init__(
        self,
        base_learner="tree",
        n_estimators=None,
        votes="real",
        loss="exponential",
        gain="exponential",
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
        n_jobs=None,
        random_state=None,
        verbose=0,
        warm_start=False,
    ):
        self.base_learner = base_learner
        self.n_estimators = n_estimators
        self.votes = votes
        self.loss = loss
        self.gain = gain
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
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start

    def fit(
        self,
        X,
        y,
        sample_weight=None,
        *,
        qid=None,
        validation=None,
        callbacks=None,
        checkpoint=None,
        checkpoint_every=60.0,
        resume=None,
        provenance=None,
    ):
        """Boost ``n_estimators`` rounds.

        A fit that fails, or is interrupted, leaves the estimator as it was.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            A document for a query in each row: numbers, or names in nominal columns; NaN, None and NA are missing.
        y : array of shape (n_samples,)
            Grades, numbers of at least 0; more is more relevant.
        sample_weight : array of shape (n_samples,), default=None
            Of documents.
        qid : array of shape (n_samples,)
            The query of every row, as numbers or names; rows of a query need not be neighbours.
        validation : tuple (X, y, qid) or (X, y, qid, sample_weight), default=None
            Adds ``validation_error`` and ``validation_risk`` to the history.
        callbacks, checkpoint, checkpoint_every, resume, provenance
            As in `MultiBoostClassifier.fit`; `EarlyStopping` looks at the NDCG of the validation set.

        Returns
        -------
        self
        """
        if isinstance(X, (str, Path)):
            raise ValueError(f"{type(self).__name__} {TABLES_ONLY}")
        if qid is None:
            raise ValueError("MultiBoostRanker needs qid, the query of every row: fit(X, y, qid=...)")
        return self._fit(
            X, y, sample_weight, qid=qid, validation=validation, callbacks=callbacks, checkpoint=checkpoint,
            checkpoint_every=checkpoint_every, resume=resume, provenance=provenance,
        )  # fmt: skip

    def check_parameters(self) -> None:
        """Refuse parameters that cannot be, alone or together; ``fit`` does it first.

        Raises
        ------
        ValueError
            It names the parameter.
        """
        super().check_parameters()
        check_wishes(self, self._wishes(), of=("labels", "rankings"))

    def _wishes(self) -> Wishes:
        return wishes_of(
            self, votes=self.votes, loss=part_of("loss", LOSSES, self.loss, losses_of("labels", "rankings"))
        )

    def _plan(self, binned, target, team):
        return choose_ranked_plan(self._wishes(), target), None

    def _kind(self, y):
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None")
        grades = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
        if grades.ndim == 2 and grades.shape[1] == 1:
            grades = grades.ravel()
        if grades.ndim != 1:
            raise ValueError(f"y must have one dimension, a grade for every row; got shape {grades.shape}")
        if grades.dtype.kind not in "biuf":
            raise ValueError(f"grades must be numbers, the larger the more relevant; got {grades.dtype}")
        return grades.astype(np.float64), lambda sample_weight, pair_weight: self._kind_of(grades)

    def _kind_of(self, grades: np.ndarray) -> Graded | Scored:
        loss = self._wishes().loss
        assert loss is not None
        found = np.unique(grades.astype(np.float64))
        kind = (Scored if loss.of_queries else Graded)([found], self.gain)
        if len(found) < 2:
            raise ValueError(f"all documents have the grade {found[0]:g}: there is nothing to rank; y needs two grades")
        return kind

    def _target(self, kind, y, sample_weight, pair_weight, *, training, qid=None):
        return RankedTarget(kind, y, qid, sample_weight, int(getattr(self._wishes().loss, "positions", 1)))

    def _validation(self, validation):
        if not (isinstance(validation, (tuple, list)) and len(validation) in (3, 4)):
            raise ValueError("validation must be a tuple (X, y, qid) or (X, y, qid, sample_weight)")
        X, y, qid, *more = validation
        return X, y, more[0] if more else None, None, qid

    def _attributes(self, model: Model) -> dict[str, Any]:
        return {"grades_": model.kind.grades}

    def predict(self, X):
        """Scores by which documents are ranked within their query, the largest first.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            Expected gains E[z|x], or under "lambdarank" scores without a unit.
        """
        return super().predict(X)

    def score(self, X, y, sample_weight=None, *, qid=None):
        """NDCG@10, the mean over queries, see `multiboost.ranking_metric`.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : grades as in ``fit``
        sample_weight : array of shape (n_samples,), default=None
            A query has the mean weight of its documents.
        qid : array of shape (n_samples,)

        Returns
        -------
        float
        """
        check_is_fitted(self)
        weight = None
        if sample_weight is not None:
            queries = Queries(qid)
            weight = np.bincount(queries.number, np.asarray(sample_weight, dtype=np.float64)) / queries.sizes
        rules = Convention(gain=self.model_.kind.gain)
        return ranking_metric(y, self.predict(X), qid, "ndcg@10", convention=rules, query_weight=weight)
