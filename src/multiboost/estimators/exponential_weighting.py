"""Ensembles of ensembles: many models, read in many ways, weighted by what they reach on a validation set."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import ParameterGrid
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..boosting.plan import Plan
from ..calibration import CALIBRATORS, Calibrator, Polynomial, Sigmoid
from ..data.kinds import as_labels
from ..data.ranked import Ranks
from ..model.mixture import Mixture
from ..model.model import Model
from ..model.storage import save_mixture
from ..ranking import exponential_weights, ranking_metric
from .adaboost_mh import AdaBoostMHClassifier
from .booster import Booster
from .labels import LabelBooster
from .members import Member, Rows
from .multiboost_classifier import MultiBoostClassifier
from .multiboost_ranker import MultiBoostRanker
from .saving import saved_parameters
from .threads import thread_count
from .validation import check_weights, seed_of
from .wishes import part_of

LADDER = (10, 25, 50, 100, 200, 500, 1000)  # T
SHARPNESS = (0.0, 10.0, 25.0, 50.0, 100.0, 200.0)  # c
# What is tried where nothing is said: the reference's trees and products.
SIZES = (*(f"tree:{n}" for n in range(5, 50, 5)), *(f"product:{m}" for m in range(2, 11)))
_SHARE = 0.2  # of the rows that a validation set is made of where none is given


def of_rankings() -> list[Calibrator]:
    """Calibrations and regressions of grades, as in the reference but for its neural network and Gaussian process."""
    sigmoids: list[Calibrator] = [Sigmoid(goal) for goal in ("ls", "ewls", "el", "ell", "sn")]
    return [*sigmoids, *map(Polynomial, range(1, 6)), CALIBRATORS.get("logistic")()]


def of_classes() -> list[Calibrator | None]:
    """Those for classes, which are in no order; None is what "auto" is for them."""
    return [Sigmoid("ls"), Sigmoid("ewls"), None, CALIBRATORS.get("logistic")()]


def _ranks(self) -> bool:
    return isinstance(self.mixture_.kind, Ranks)


def _classifies(self) -> bool:
    return not (hasattr(self, "mixture_") and _ranks(self))


class ExponentialWeighting(BaseEstimator):
    """Many models, each read by many calibrations, added up with weights exp(c omega).

    omega is what a model reaches on a validation set under a calibration.  c = 0 is the plain mean; the larger c is,
    the more the best ones count.  For rankings and for one column of classes.

    Parameters
    ----------
    models : list of estimators, dict or None, default=None
        Rankers, or classifiers.  A dict is a grid of parameters, as in ``GridSearchCV``: of `MultiBoostRanker` where
        ``fit`` is given ``qid``, else of `MultiBoostClassifier`.  None: discrete trees of 5 to 45 leaves and products
        of 2 to 10 terms, 100 rounds each.
    calibrations : list of (str or Calibrator), default=None
        Ways to read a model.  None: for rankings the sigmoid under the five target functions of the reference,
        polynomials of degree 1 to 5 and logistic regression; for classes the sigmoid under two of them, "auto" and
        logistic regression.  A model with one score (lambdarank) is read as it is.
    rounds : int, list of int or None, default=None
        T, the same for all models: what is tried.  None: 10, 25, 50, 100, 200, 500, 1000, as far as the models go.
    c : float, list of float or None, default=None
        What is tried.  None: 0, 10, 25, 50, 100, 200.
    score : str, callable or None, default=None
        omega, and what T and c are chosen by; more is better.  For rankings a metric of `ranking_metric`, "ndcg@10"
        unless given, or ``score(y, scores, qid)``; for classes "log_loss" (its negative; the default), "accuracy", or
        ``score(y, probabilities)``.
    calibration_share : float, default=0.2
        Of the rows, or queries, that a model is not trained on, as its calibrations learn from them.  Each model has
        others.
    n_jobs : int or None, default=None
        Processes, each of which trains a model at a time; None means all processors.
    random_state : int or None, default=None
        Says which rows are held out.
    verbose : int, default=0
        1: a line for every model.

    Attributes
    ----------
    mixture_ : Mixture
        Models, scorers and their weights.
    estimators_ : list of fitted estimators
    weights_ : ndarray (n_scorers,)
        Of the scorers, which are ``mixture_.scorers``.
    c_, rounds_ : float, int
        What was chosen.
    search_ : dict of ndarray
        ``rounds``, ``c`` and ``score`` of all that was tried.
    classes_ : ndarray
        Of classifiers.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Notes
    -----
    There is no method ``score``, as the parameter has its name: pass ``scoring`` to searches and cross-validation.

    References
    ----------
    B. Kegl, "Contributions to machine learning: the unsupervised, the supervised, and the Bayesian", habilitation
    thesis, Universite Paris Sud, 2011, section 3.5.6.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from multiboost import ExponentialWeighting
    >>> X, y = load_wine(return_X_y=True)
    >>> grid = {"base_learner": ["stump", "tree:4"], "n_estimators": [10]}
    >>> clf = ExponentialWeighting(grid, n_jobs=1).fit(X, y)
    >>> len(clf.estimators_), clf.predict_proba(X).shape
    (2, (178, 3))
    """

    __metadata_request__fit = {"qid": True}  # noqa: RUF012

    def __init__(
        self,
        models=None,
        calibrations=None,
        rounds=None,
        c=None,
        score=None,
        calibration_share=0.2,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.models = models
        self.calibrations = calibrations
        self.rounds = rounds
        self.c = c
        self.score = score
        self.calibration_share = calibration_share
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "mixture_")

    def fit(self, X, y, sample_weight=None, *, qid=None, validation=None, folder=None):
        """Train the models, each in a process, learn their calibrations, and find T and c.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Grades or classes.
        sample_weight : array of shape (n_samples,), default=None
        qid : array of shape (n_samples,), default=None
            The query of every row, for rankings.
        validation : tuple (X, y, qid) or (X, y), default=None
            What scorers are weighed by; None holds a fifth of the queries, or of each class, out of the rows.
        folder : str or path, default=None
            Where checkpoints of the models are kept: a fit that was interrupted goes on from there, and one with other
            c, T or calibrations trains nothing anew.

        Returns
        -------
        self
        """
        models = self._models(qid is not None)
        ranking = isinstance(models[0], MultiBoostRanker)
        methods, rounds, sharpness = self._methods(ranking), self._rounds(), self._sharpness()
        seed = seed_of(self.random_state)
        rows, held = _parts(X, y, sample_weight, qid, validation, ranking, seed)
        members = self._trained(models, rows, held, methods, rounds, folder, seed)
        score = _score_of(self.score, ranking, held)
        mixture = self._chosen(members, rounds, sharpness, score)
        return self.take([_fitted(*pair) for pair in zip(models, mixture.models, strict=True)], mixture)

    # What the parameters say.

    def _models(self, queries: bool) -> list[Booster]:
        """The models, not fitted."""
        if self.models is None:
            if queries:
                return [MultiBoostRanker(size, 100, votes="discrete", subsample=1.0) for size in SIZES]
            return [AdaBoostMHClassifier(size, 100) for size in SIZES]
        if isinstance(self.models, dict):
            kind = MultiBoostRanker if queries else MultiBoostClassifier
            return [kind(**given) for given in ParameterGrid(self.models)]
        found = [clone(model) for model in self.models]
        if not found:
            raise ValueError("models is empty; give estimators, a grid of parameters, or None")
        for model in found:
            if not isinstance(model, (MultiBoostRanker, LabelBooster)):
                raise ValueError(
                    f"models has a {type(model).__name__}; rankers and classifiers of multiboost can be its members"
                )
        if len({isinstance(model, MultiBoostRanker) for model in found}) > 1:
            raise ValueError("models has rankers and classifiers; give one kind of them")
        if isinstance(found[0], MultiBoostRanker) and not queries:
            raise ValueError("rankers need qid, the query of every row: fit(X, y, qid=...)")
        if queries and not isinstance(found[0], MultiBoostRanker):
            raise ValueError("qid is for rankers, and models has classifiers; leave it out")
        return found

    def _methods(self, ranking: bool) -> Sequence[Calibrator | None]:
        if self.calibrations is None:
            return of_rankings() if ranking else of_classes()
        given = [self.calibrations] if isinstance(self.calibrations, (str, Calibrator)) else list(self.calibrations)
        if not given:
            raise ValueError("calibrations is empty; name at least one, or leave it None")
        return [
            None if isinstance(one, str) and one == "auto" else part_of("calibrations", CALIBRATORS, one)
            for one in given
        ]

    def _rounds(self) -> list[int]:
        given = LADDER if self.rounds is None else np.atleast_1d(self.rounds).tolist()
        if not given or not all(isinstance(t, int) and t >= 1 for t in given):
            raise ValueError(f"rounds must be a number of at least 1, or a list of them; got {self.rounds!r}")
        return sorted({int(t) for t in given})

    def _sharpness(self) -> list[float]:
        given = SHARPNESS if self.c is None else np.atleast_1d(self.c).tolist()
        if not given or not all(isinstance(c, (int, float)) and 0 <= c < np.inf for c in given):
            raise ValueError(f"c must be a finite number of at least 0, or a list of them; got {self.c!r}")
        return sorted({float(c) for c in given})

    # Training and choosing.

    def _trained(self, models, rows: Rows, held: Rows, methods, rounds, folder, seed: int) -> list[Member]:
        """All members, in the order of the models."""
        if not (isinstance(self.calibration_share, float) and 0 < self.calibration_share < 1):
            raise ValueError(f"calibration_share must be above 0 and below 1; got {self.calibration_share!r}")
        if folder is not None:
            Path(folder).mkdir(parents=True, exist_ok=True)
        processes = min(thread_count(self.n_jobs), len(models))

        def tasks() -> Iterator:
            for i, model in enumerate(models):
                if model.n_jobs is None and processes > 1:
                    model.set_params(n_jobs=1)
                yield delayed(Member.trained)(
                    model, rows, held, share=float(self.calibration_share), seed=seed + 1 + i, methods=methods,
                    rounds=rounds, checkpoint=None if folder is None else Path(folder) / f"model-{i:03d}.mb",
                )  # fmt: skip

        found = []
        for member in Parallel(n_jobs=processes, return_as="generator")(tasks()):
            found.append(member)
            if self.verbose:
                model = models[len(found) - 1]
                print(
                    f"model {len(found)} of {len(models)}: {model.base_learner}, {member.model.n_rounds} rounds, "
                    f"{member.seconds:.1f} s",
                    file=sys.stderr,
                    flush=True,
                )
        return found

    def _chosen(self, members: list[Member], rounds: list[int], sharpness: list[float], score: Callable) -> Mixture:
        """T and c with the best score; the smaller ones where they are equal."""
        kind = members[0].model.kind
        for member in members[1:]:
            if not np.array_equal(member.model.kind.classes[0], kind.classes[0]):
                raise ValueError("a part of the rows has not all classes or grades; give more rows of the rare ones")
        most = max(member.model.n_rounds for member in members)
        useful = [t for i, t in enumerate(rounds) if i == 0 or rounds[i - 1] < most]
        best, tried = None, []
        for t in useful:
            pairs = [(i, *pair) for i, member in enumerate(members) for pair in member.stage(t)]
            reached = [score(kind, values) for _, _, values in pairs]
            for c in sharpness:
                shares = exponential_weights(reached, c)
                total = sum(share * values for share, (_, _, values) in zip(shares, pairs, strict=True))
                tried.append((t, c, score(kind, total)))
                if best is None or tried[-1][2] > best[2]:
                    best = (*tried[-1], pairs, reached)
        assert best is not None
        t, c, _, pairs, reached = best
        for (i, scorer, _), omega in zip(pairs, reached, strict=True):
            scorer.model, scorer.reached = i, float(omega)
        columns = (np.array(column, np.float64) for column in zip(*tried, strict=True))
        return Mixture(
            [member.head(t) for member in members],
            [scorer for _, scorer, _ in pairs],
            c,
            type(self).__name__,
            tried=dict(zip(("rounds", "c", "score"), columns, strict=True)),
        )

    def take(self, estimators: list, mixture: Mixture):
        """Take on a mixture: everything that is fitted changes in one assignment.

        Parameters
        ----------
        estimators : list of fitted estimators
            Of its models.
        mixture : Mixture

        Returns
        -------
        self
        """
        best = int(np.argmax(mixture.tried["score"]))
        fitted = {
            "mixture_": mixture,
            "estimators_": estimators,
            "weights_": mixture.weights(),
            "c_": mixture.c,
            "rounds_": int(mixture.tried["rounds"][best]),
            "search_": mixture.tried,
            "n_features_in_": estimators[0].n_features_in_,
        }
        if mixture.models[0].columns.names is not None:
            fitted["feature_names_in_"] = mixture.models[0].columns.names
        if not isinstance(mixture.kind, Ranks):
            fitted["classes_"] = mixture.kind.public_classes
        kept = {name: value for name, value in vars(self).items() if not name.endswith("_")}
        self.__dict__ = {**kept, **fitted}
        return self

    # What a user may ask of a fitted one.

    def _values(self, X) -> np.ndarray:
        check_is_fitted(self)
        return self.mixture_.values([estimator._scores(X) for estimator in self.estimators_])

    def predict(self, X):
        """Scores by which documents are ranked, the largest first; or the most probable classes.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        values = self._values(X)
        kind = self.mixture_.kind
        return values[:, 0] if isinstance(kind, Ranks) else self.classes_[kind.probabilities(values).argmax(axis=1)]

    @available_if(_classifies)
    def predict_proba(self, X):
        """The weighted mean of the probabilities of all scorers.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return self.mixture_.kind.probabilities(self._values(X))

    def save(self, path) -> None:
        """Write all models and calibrations to one file; `multiboost.load_model` reads it.

        Parameters
        ----------
        path : str or path
        """
        check_is_fitted(self)
        save_mixture(replace(self.mixture_, parameters=saved_parameters(self)), path)


def _fitted(estimator: Booster, model: Model) -> Booster:
    """The estimator with a model that was trained elsewhere."""
    estimator._become(model, Plan.from_dict(model.plan))
    return estimator


def _parts(X, y, sample_weight, qid, validation, ranking: bool, seed: int) -> tuple[Rows, Rows]:
    """Rows for models and calibrations, and those of the validation set."""
    rows = _rows(X, y, sample_weight, qid)
    if validation is None:
        return rows.parted(_SHARE, seed)
    wanted = "(X, y, qid)" if ranking else "(X, y)"
    if not (isinstance(validation, (tuple, list)) and len(validation) == (3 if ranking else 2)):
        raise ValueError(f"validation must be a tuple {wanted}")
    return rows, _rows(validation[0], validation[1], None, validation[2] if ranking else None)


def _rows(X, y, sample_weight, qid) -> Rows:
    labels = as_labels(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels.ravel()
    if labels.ndim != 1:
        raise ValueError(f"y must have one dimension, a class or a grade for every row; got shape {labels.shape}")
    found = X.shape[0] if hasattr(X, "shape") else len(X)
    if found != len(labels):
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {[found, len(labels)]}")
    query = None
    if qid is not None:
        query = np.asarray(qid.to_numpy() if hasattr(qid, "to_numpy") else qid).reshape(-1)
        if len(query) != len(labels):
            raise ValueError(f"qid has {len(query)} rows, but X has {len(labels)}; give a query for every row")
    return Rows(X, labels, check_weights(sample_weight, len(labels)), query)


def _score_of(given: Any, ranking: bool, held: Rows) -> Callable[[Any, np.ndarray], float]:
    """omega of what is said of the validation set, as a function of kind and values."""
    if ranking:
        metric = "ndcg@10" if given is None else given
        if callable(metric):
            return lambda kind, values: float(metric(held.y, values[:, 0], held.qid))
        return lambda kind, values: ranking_metric(held.y, values[:, 0], held.qid, metric)
    if callable(given):
        return lambda kind, values: float(given(held.y, kind.probabilities(values)))
    if given in (None, "log_loss"):
        return lambda kind, values: -log_loss(held.y, kind.probabilities(values), labels=kind.classes[0])
    if given == "accuracy":
        return lambda kind, values: accuracy_score(held.y, kind.classes[0][kind.probabilities(values).argmax(axis=1)])
    raise ValueError(f"score must be 'log_loss', 'accuracy' or a function for classes; got {given!r}")
