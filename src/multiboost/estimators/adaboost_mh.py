"""AdaBoost.MH behind scikit-learn's classifier interface."""

from __future__ import annotations

import sys
import warnings
from contextlib import AbstractContextManager, nullcontext
from numbers import Integral, Real
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from ..base import FromClassifier, Tree, base_learner_from
from ..boosting.callbacks import EveryRound
from ..boosting.loop import Boosting
from ..boosting.settings import LOSS_CHOICES, VOTES, Bins, Settings, choose_settings
from ..boosting.sharpness import median_margin, slope_of
from ..boosting.watch import Watch
from ..data.dataset import seems_bounded
from ..data.table import is_frame
from ..data.target import WEIGHTINGS, Target, TargetKind, as_labels, recognise, unknown_labels
from ..ensemble.ensemble import Ensemble
from ..kernels.ahead import compiling
from ..kernels.grow import grow
from ..kernels.hopefuls import search_hopefuls
from ..kernels.team import Team
from .checkpoint import Checkpoint, Resumed
from .checks import check_choice, check_number, thread_count
from .compiled import Compiled
from .link import decisions, early_slope, probabilities, shaped
from .persistence import save_classifier
from .validation import check_cuts, check_table, check_weights, seed_of

MIN_CATEGORY_ROWS = 2


class AdaBoostMHClassifier(ClassifierMixin, BaseEstimator):
    """AdaBoost.MH: boosting of vector-valued base classifiers on an n x K weight matrix.

    Takes binary, multi-class, multi-label (indicator matrix) and multi-task targets
    (several columns of classes), labels that are unknown, and a weight for every pair of
    a sample and a label.

    Parameters
    ----------
    base_learner : {"tree", "stump", "product"}, str or object, default="tree"
        What is boosted: ``Stump()``, ``Tree(n_leaves=...)``, ``Product(n_terms=...)``, or a
        short form such as ``"tree:50"``.
    n_estimators : int, default=200
        Rounds of boosting.
    votes : {"real", "discrete"}, default="real"
        Real votes are log odds, leaf by leaf and label by label; discrete votes are +1
        and -1 with one coefficient alpha for the whole base classifier, (3.26).
    loss : {"auto", "exponential", "logistic"}, default="auto"
        Exponential is AdaBoost.MH, logistic is LogitBoost; see Notes for "auto".
    learning_rate : float or None, default=None
        Factor of every step, in (0, 1].  None means 1 for discrete votes, 0.2 for real votes
        and 0.1 for the logistic loss.
    subsample : float or None, default=None
        Share of the samples, drawn afresh and without replacement, that every round sees, in
        (0, 1].  None means all, and 0.8 where Notes say so.
    weighting : {"auto", "uniform", "half", "balanced", "given"}, default="auto"
        Initial weights of the labels of a sample: all the same (3.11); half on the
        positive and half on the negative ones (3.12); for every label as much weight on
        its positive as on its negative samples; or ``label_weight`` as it is.  "auto" is
        "uniform" for multi-label targets and "half" for all others.
    max_bins : int, default=256
        Columns with at most so many distinct values are used exactly, others in so many
        bins; 2 to 65535.
    nominal_features : list of str, list of int or mask, default=None
        Columns that are nominal, by name, position or a boolean for every column; besides
        the columns of data frames whose type says so: text, categories, enumerations.
    min_category_rows : int, default=2
        Categories of fewer training rows are treated like missing values, and so is a
        category at prediction that was not seen in training.
    ridge : float, default=1.0
        Of the Newton steps of the logistic loss, in units of the mean weight of a pair.
    n_jobs : int or None, default=None
        Threads; None means all processors.  The model does not depend on it, bit for bit.
    random_state : int, RandomState or None, default=None
        Seed of the samples of the rounds, the random starts of indicators and the classifiers of `FromClassifier`.
        None is a fixed seed too: the same table gives the same model.
    verbose : int, default=0
        1 prints a line for every tenth of the rounds, 2 for every round.
    warm_start : bool, default=False
        Whether ``fit`` goes on from the rounds it has, up to ``n_estimators``.

    Attributes
    ----------
    classes_ : ndarray or list of ndarray
        Classes; of a multi-task target a list, of a multi-label target the labels.
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
    n_estimators_ : int
        Rounds that were made; fewer than ``n_estimators`` where no base classifier
        helped any more.
    slope_ : float
        Of the link from scores to probabilities, see `predict_proba`.
    loss_, learning_rate_, subsample_, base_learner_
        What "auto" and None have become.
    data_ : dict or None
        What the command line knows of the training file; kept in the model file.

    Notes
    -----
    Where ``base_learner``, ``votes``, ``loss`` and ``learning_rate`` are left alone and the
    target is not multi-label, at most 5000 rows are set apart for a comparison: 50 rounds
    of exponential loss with trees of twice as many leaves as labels (20 to 64, with at least
    25 rows to a leaf) and steps of 0.2, against 50 rounds of logistic loss with trees of 8
    leaves and steps of 0.1, on four fifths of them.  What has the lower error on the last
    fifth (up to 1000 rows: on all five fifths in turn) is used.  The rows are always the
    same, so the choice is too.  Multi-label targets get the logistic loss.  From 5000 rows on
    trees of three times the leaves are tried in the same way, on samples of 5000, 20 000,
    80 000 and 320 000 rows, and taken where they save enough; tables of some 100 000 clean
    rows end up with trees of a thousand leaves and more.  ``base_learner_`` says what was
    chosen.  Of tables of fewer than 5000 rows each round sees 0.8, but not where the target is
    multi-label.  Whoever sets one of these parameters gets exponential loss, unless they ask
    for the other, the sizes above and all samples in every round.

    References
    ----------
    B. Kegl, "Contributions to machine learning: the unsupervised, the supervised, and the
    Bayesian", habilitation thesis, Universite Paris Sud, 2011, chapter 3.
    R. Schapire, Y. Singer, "Improved boosting algorithms using confidence-rated
    predictions", Machine Learning 37, 1999.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multiboost import AdaBoostMHClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = AdaBoostMHClassifier("stump", n_estimators=20, votes="discrete").fit(X, y)
    >>> clf.predict(X[:2])
    array([0, 0])
    """

    data_: dict | None = None
    history_: dict[str, np.ndarray]
    ensemble_: Ensemble

    def __init__(
        self,
        base_learner="tree",
        n_estimators=200,
        *,
        votes="real",
        loss="auto",
        learning_rate=None,
        subsample=None,
        weighting="auto",
        max_bins=256,
        nominal_features=None,
        min_category_rows=MIN_CATEGORY_ROWS,
        ridge=1.0,
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
        self.max_bins = max_bins
        self.nominal_features = nominal_features
        self.min_category_rows = min_category_rows
        self.ridge = ridge
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "ensemble_")

    def set_params(self, **params):
        """Set parameters; ``base_learner__n_leaves`` also where the learner is a name.

        Parameters
        ----------
        **params : dict
        """
        nested = any(name.startswith("base_learner__") for name in params)
        if nested and "base_learner" not in params and isinstance(self.base_learner, str):
            self.base_learner = base_learner_from(self.base_learner)
        return super().set_params(**params)

    def _check_parameters(self) -> None:
        check_number("n_estimators", self.n_estimators, Integral, 1)
        check_choice("votes", self.votes, VOTES)
        check_choice("loss", self.loss, LOSS_CHOICES)
        check_choice("weighting", self.weighting, WEIGHTINGS)
        check_number("max_bins", self.max_bins, Integral, 2, 65535)
        check_number("min_category_rows", self.min_category_rows, Integral, 1)
        check_number("ridge", self.ridge, Real, 0, open_low=True)
        check_number("verbose", self.verbose, Integral, 0)
        if self.learning_rate is not None:
            check_number("learning_rate", self.learning_rate, Real, 0, 1, open_low=True)
        if self.subsample is not None:
            check_number("subsample", self.subsample, Real, 0, 1, open_low=True)
        if self.votes == "discrete" and self.loss == "logistic":
            raise ValueError("votes='discrete' goes with loss='exponential'; the logistic loss has real votes")

    def fit(
        self,
        X,
        y,
        sample_weight=None,
        label_weight=None,
        *,
        validation=None,
        callbacks=None,
        checkpoint=None,
        checkpoint_every=60.0,
        resume=None,
    ):
        """Boost ``n_estimators`` rounds.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Numbers, or names in nominal columns; NaN, None and NA are missing values.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            Classes; 0 and 1 in several columns are labels; other columns are tasks.  NaN,
            None and NA in several columns mean that the label is unknown.
        sample_weight : array of shape (n_samples,), default=None
        label_weight : array of shape (n_samples, n_labels), default=None
            A weight for every pair; multiplies the weights of ``weighting``, or replaces
            them where that is "given".
        validation : tuple (X, y) or (X, y, sample_weight), default=None
            Adds ``validation_error`` and ``validation_risk`` to the history.
        callbacks : list of Callback, default=None
            `EarlyStopping`, `TimeLimit`, `Progress`, `Log`, `StopOnInterrupt`, or your own.
        checkpoint : str or path, default=None
            A file that is written every ``checkpoint_every`` seconds and at the end; it is a
            model file, too.
        checkpoint_every : float, default=60.0
        resume : str, path or bool, default=None
            A checkpoint to go on from; the result is that of a run without interruption,
            bit for bit.  True means ``checkpoint``, where there is such a file already.

        Returns
        -------
        AdaBoostMHClassifier
            This object.
        """
        self._check_parameters()
        learner = base_learner_from(self.base_learner)
        going_on = self.warm_start and hasattr(self, "ensemble_")
        resumed = _resumed(resume, checkpoint)
        if resumed is not None and going_on:
            raise ValueError("resume and warm_start both say where to go on from; use one of them")
        table = check_table(self, X, reset=not going_on, nominal_features=self.nominal_features)
        check_cuts(learner, table)
        labels, names = _labels_of(y)
        if len(labels) != table.n_rows:
            check_consistent_length(np.empty(table.n_rows), labels)
        sample_weight = check_weights(sample_weight, table.n_rows)
        kind = self._target_kind if going_on else recognise(labels, names)
        target = Target(kind, labels, self.weighting, sample_weight, label_weight)
        weighs = target.signed.any(axis=1)
        if not weighs.all():  # a sample without weight is no sample
            rows = np.flatnonzero(weighs)
            table, target = table.take(rows), target.take(rows)
        with Team(thread_count(self.n_jobs)) as team, self._compiling(team, learner, table):
            start: Ensemble | None = None
            scores = history = None
            if going_on:
                settings, start, history = self._settings, self.ensemble_, self.history_
                scores = start.scores(table, team)
            elif resumed is not None:
                before = resumed.classifier
                settings, start, history, scores = before._settings, before.ensemble_, before.history_, resumed.scores
                if scores.shape != target.signed.shape:
                    raise ValueError(f"{resumed.path}: its run had {scores.shape} samples and labels, this one has "
                                     f"{target.signed.shape}; go on with the same table")  # fmt: skip
            else:
                settings = choose_settings(
                    table, target, learner,
                    votes=self.votes, loss=self.loss, learning_rate=self.learning_rate, subsample=self.subsample,
                    ridge=self.ridge, bins=Bins(self.max_bins, self.min_category_rows), seed=seed_of(self.random_state),
                    team=team, free=self._is_free(),
                )  # fmt: skip
            rounds = self.n_estimators - (start.n_rounds if start is not None else 0)
            if rounds < 0:
                raise ValueError(
                    f"n_estimators={self.n_estimators} is less than the {start.n_rounds if start else 0} rounds "
                    "to go on from; raise it or start anew"
                )
            watch = None if validation is None else self._watch(validation, kind, settings)
            boosting = settings.boosting(table, target, team, start, scores, history, watch, rounds)
            if resumed is not None:
                resumed.check(boosting, target, settings)
            every = [EveryRound(max(1, rounds // 10) if self.verbose == 1 else 1)] if self.verbose else []
            saved = [Checkpoint(self, target, settings, checkpoint, checkpoint_every)] if checkpoint else []
            keep = boosting.run(rounds, [*every, *(callbacks or []), *saved])
            if boosting.n_rounds == 0:
                raise ValueError(f"nothing can be learned from this table: {boosting.stopped}")
            self._keep(boosting, target, settings, keep)
        if boosting.stopped and self.verbose:
            print(f"stopped after {boosting.n_rounds} rounds: {boosting.stopped}", file=sys.stderr, flush=True)
        return self

    def _compiling(self, team: Team, learner, table) -> AbstractContextManager:
        """Half of the kernels are compiled by another process where this is the first fit of all."""
        while getattr(learner, "base", None) is not None:
            learner = learner.base
        if team.n_threads == 1 or isinstance(learner, FromClassifier):
            return nullcontext()
        growth = "multiboost.kernels.grow:compile_growth"
        if self.votes == "real":
            return compiling(grow, growth)
        if seems_bounded(table, self.max_bins, self.n_estimators):
            return compiling(grow, growth, True, True, piece=search_hopefuls.__name__)
        return compiling(grow, growth, True)

    def _watch(self, validation, kind: TargetKind, settings: Settings) -> Watch:
        """The validation set, checked as the training set is."""
        if not (isinstance(validation, (tuple, list)) and len(validation) in (2, 3)):
            raise ValueError("validation must be a tuple (X, y) or (X, y, sample_weight)")
        table = check_table(self, validation[0], reset=False)
        labels, _ = _labels_of(validation[1])
        weight = check_weights(validation[2], table.n_rows) if len(validation) == 3 else None
        if len(labels) != table.n_rows:
            check_consistent_length(np.empty(table.n_rows), labels)
        weighting = "uniform" if self.weighting == "given" else self.weighting
        return Watch(table, Target(kind, labels, weighting, weight, None), settings.loss)

    def _is_free(self) -> bool:
        """Whether loss, step and size of the trees are ours to choose."""
        learner = self.base_learner
        return (
            self.learning_rate is None
            and (learner == "tree" or (isinstance(learner, Tree) and learner.n_leaves is None))
            and self.votes == "real"
        )

    def _keep(self, boosting: Boosting, target: Target, settings: Settings, n_rounds: int) -> None:
        """What fit leaves behind: the first ``n_rounds`` rounds."""
        self.ensemble_ = boosting.builder.build()
        scores = boosting.state.scores
        if n_rounds < self.ensemble_.n_rounds:
            self.ensemble_ = self.ensemble_.head(n_rounds)
            scores = self.ensemble_.scores(boosting.problem.dataset.table, boosting.team)
        self._target_kind = kind = target.kind
        self._settings = settings
        self.classes_ = kind.classes if kind.kind == "multitask" else kind.classes[0]
        self.history_ = {name: np.array(values[:n_rounds]) for name, values in boosting.history.items()}
        self.n_estimators_ = self.ensemble_.n_rounds
        self.slope_ = slope_of(settings.sharpness, median_margin(target, scores))
        self.loss_ = settings.loss.name
        self.learning_rate_, self.subsample_ = settings.step.learning_rate, settings.subsample
        self.base_learner_ = settings.base_learner

    @property
    def categories_(self) -> list[np.ndarray | None]:
        """Names of the categories of each column, None for numeric columns."""
        check_is_fitted(self)
        found = self._categories or [None] * self.n_features_in_
        return [None if c is None else np.array(c.names, dtype=object) for c in found]

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of each feature in the gain of all cuts; sums to 1."""
        check_is_fitted(self)
        return self.ensemble_.importances(self.n_features_in_)

    def _scores(self, X, n_rounds=None) -> np.ndarray:
        check_is_fitted(self)
        table = check_table(self, X, reset=False)
        with Team(thread_count(self.n_jobs)) as team:
            return self.ensemble_.scores(table, team, n_rounds)

    def _shape(self, scores: np.ndarray) -> np.ndarray:
        return shaped(self._target_kind, scores)

    def decision_function(self, X):
        """Scores F: one for each label, or for binary targets one for the second class.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_labels)
            Labels of all tasks side by side for multi-task targets.
        """
        scores = self._scores(X)
        return self._shape(scores)

    def _decide(self, scores: np.ndarray) -> np.ndarray:
        return decisions(self._target_kind, scores)

    def predict(self, X):
        """Classes; for multi-label targets 0 and 1, for multi-task targets one column per task.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        return self._decide(self._scores(X))

    def predict_proba(self, X):
        """Probabilities, softmax(c F) within a task, 1 / (1 + exp(-c F)) for labels.

        The slope c is ``slope_``: 2, the slope of theory, or less where the margins of the training set are large,
        min(2, s / median margin).  Where the settings were chosen by a comparison, s is what gave its held-out rows the
        least log-loss, else 6.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or list of ndarray
            Rows sum to 1, except for multi-label targets, whose labels are independent;
            a list with one array per task for multi-task targets.
        """
        scores = self._scores(X)
        return probabilities(self._target_kind, scores, self.slope_)

    def predict_log_proba(self, X):
        """Logarithms of `predict_proba`.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray, or list of ndarray
        """
        p = self.predict_proba(X)
        tiny = np.finfo(np.float64).tiny
        if isinstance(p, list):
            return [np.log(np.maximum(q, tiny)) for q in p]
        return np.log(np.maximum(p, tiny))

    def _staged_scores(self, X):
        check_is_fitted(self)
        table = check_table(self, X, reset=False)
        rows = self.ensemble_.rows(table, 0, table.n_rows)
        scores = np.tile(self.ensemble_.initial, (table.n_rows, 1))
        with Team(thread_count(self.n_jobs)) as team:
            for t in range(self.ensemble_.n_rounds):
                self.ensemble_.add_scores(rows, scores, t, t + 1, team)
                yield scores

    def staged_decision_function(self, X):
        """`decision_function` after every round.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Yields
        ------
        ndarray
        """
        for scores in self._staged_scores(X):
            yield self._shape(scores).copy()

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
            yield self._decide(scores)

    def staged_predict_proba(self, X):
        """`predict_proba` after every round.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Yields
        ------
        ndarray, or list of ndarray
        """
        check_is_fitted(self)
        total = np.cumsum(self.ensemble_.size)
        for t, scores in enumerate(self._staged_scores(X)):
            yield probabilities(self._target_kind, scores, early_slope(self.slope_, total[-1], total[t]))

    def compiled(self) -> Compiled:
        """The fitted model for one row at a time, without checks, within microseconds.

        Returns
        -------
        Compiled
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
        return Compiled(self._target_kind, self.ensemble_, self.n_features_in_, self._categories)

    def margins(self, X, y):
        """Margins F Y, divided by the sum of the sizes of all votes: from -1 to 1.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : labels as in ``fit``

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_labels)
            0 where a label is unknown.
        """
        scores = self._scores(X)
        kind = self._target_kind
        signs = kind.signs(kind.encode(y))
        total = self.ensemble_.size.sum() + np.abs(self.ensemble_.initial).max()
        return self._shape(scores * signs / total)

    def score(self, X, y, sample_weight=None):
        """Accuracy; for multi-label targets of all labels at once, for tasks their mean.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : labels as in ``fit``
        sample_weight : array of shape (n_samples,), default=None

        Returns
        -------
        float
        """
        if not hasattr(self, "_target_kind") or self._target_kind.kind != "multitask":
            return super().score(X, y, sample_weight)
        predicted = self._target_kind.encode(self.predict(X))
        true = self._target_kind.encode(y)
        weight = np.ones(len(true)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        found = []
        for t in range(true.shape[1]):
            known = true[:, t] >= 0
            found.append(accuracy_score(true[known, t], predicted[known, t], sample_weight=weight[known]))
        return float(np.mean(found))

    def save(self, path) -> None:
        """Write the fitted model to a file; `multiboost.load_model` reads it.

        Parameters
        ----------
        path : str or path
        """
        check_is_fitted(self)
        save_classifier(self, path)


def _resumed(resume, checkpoint) -> Resumed | None:
    """The checkpoint to go on from, None for a new run."""
    if resume is True:
        if checkpoint is None:
            raise ValueError("resume=True goes on from the checkpoint: name its file, checkpoint=...")
        return Resumed(checkpoint) if Path(checkpoint).exists() else None
    return Resumed(resume) if resume else None


def _labels_of(y) -> tuple[np.ndarray, list[str] | None]:
    """Labels as an array, and the names of their columns."""
    if y is None:
        raise ValueError("This AdaBoostMHClassifier estimator requires y to be passed, but the target y is None")
    names = None
    if is_frame(y) and hasattr(y, "columns"):
        names = [str(name) for name in getattr(y, "column_names", y.columns)]
    labels = as_labels(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
            "(n_samples,), for example using ravel().",
            DataConversionWarning,
            stacklevel=3,
        )
        labels, names = labels.ravel(), None
    if labels.ndim not in (1, 2):
        raise ValueError(f"y must have one or two dimensions; got shape {labels.shape}")
    if labels.ndim == 1 and labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("Input y contains NaN or infinity; every sample of a single-label target needs its class")
    if labels.ndim == 1 and labels.dtype.kind == "O" and unknown_labels(labels).any():
        raise ValueError("Input y contains NaN or None; every sample of a single-label target needs its class")
    return labels, names
