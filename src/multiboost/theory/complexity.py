"""How rich a base learner is on some rows, and what margins then say of other rows."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from ..base import base_learner_from
from ..estimators.adaboost_mh import AdaBoostMHClassifier
from ..estimators.parameters import check_number
from .margins import margins
from .rows import check_classifier

_THETAS = 2.0 ** -np.arange(0, 12.5, 0.5)  # margins that the bound is taken for; it holds for all of them at once


@dataclass(frozen=True)
class Complexity:
    """The empirical Rademacher complexity of a base learner: the edge that it finds where there is nothing to find.

    Good for: comparing base learners on the same rows; a large number is a learner that fits noise.  Exact for stumps,
    on average over the draws.  Not good for: absolute statements about trees and products, whose greedy search finds
    less than the best edge, so that the number is too small.

    Attributes
    ----------
    value : float
        The mean edge on random labels.
    error : float
        Its standard error.
    n_draws : int
    """

    value: float
    error: float
    n_draws: int


def rademacher(base_learner, X, *, n_draws: int = 20, seed: int = 0, max_bins: int = 256, n_jobs=None) -> Complexity:
    """E sup over h of (1/n) sum of sigma_i h(x_i), sigma random signs: by fitting them.

    Parameters
    ----------
    base_learner : str or BaseLearner
        A tree must have a size.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
    n_draws : int, default=20
    seed : int, default=0
    max_bins : int, default=256
        As of the estimators: the base learner cuts between bins.
    n_jobs : int, default=None

    Returns
    -------
    Complexity

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multiboost.theory import rademacher
    >>> X, _ = load_iris(return_X_y=True)
    >>> rademacher("stump", X).value < rademacher("tree:8", X).value
    True
    """
    check_number("n_draws", n_draws, int, 2)
    learner, rng = base_learner_from(base_learner), np.random.default_rng(seed)
    n, edges = X.shape[0] if hasattr(X, "shape") else len(X), []
    for _ in range(n_draws):
        signs = rng.integers(0, 2, n)
        if signs.min() == signs.max():  # constant labels are fitted by a constant
            edges.append(1.0)
            continue
        clf = AdaBoostMHClassifier(learner, 1, max_bins=max_bins, n_jobs=n_jobs).fit(X, signs)
        edges.append(float(clf.history_["edge"][0]))
    return Complexity(float(np.mean(edges)), float(np.std(edges, ddof=1) / sqrt(n_draws)), n_draws)


@dataclass(frozen=True)
class MarginBound:
    """An upper bound of the error on other rows, from margins and complexity.

    Good for: ranking settings by what the training rows alone say.  Not good as a guarantee: it is usually above 1 with
    fewer than 100 000 rows, and with trees and products its complexity is only a lower estimate.

    Attributes
    ----------
    value : float
        margin_error + complexity_term + chance: with probability 1 - delta at least the share of the pairs of a
        sample and a label that are wrong, of rows from the same source.
    theta : float
        The margin for which it is least.
    margin_error : float
        Share of the training pairs with a margin below theta.
    complexity_term : float
        2 R / theta.
    chance : float
        3 sqrt(ln(2 m / delta) / (2 n)); m = labels times the thetas that were tried.
    """

    value: float
    theta: float
    margin_error: float
    complexity_term: float
    chance: float


def margin_bound(clf, X, y, complexity: Complexity, *, delta: float = 0.05) -> MarginBound:
    """Margin error + (2 / theta) R + 3 sqrt(ln(2 m / delta) / (2 n)), at the best theta.

    The textbook form of the margin bounds of Schapire et al. (1998) and of Koltchinskii and Panchenko (2002); the union
    over labels and over a grid of theta makes it hold for all of them.

    Parameters
    ----------
    clf : fitted classifier
    X, y
        The rows that it was trained on, all of the same weight.
    complexity : Complexity
        Of its base learner on X, see `rademacher`.
    delta : float, default=0.05

    Returns
    -------
    MarginBound
    """
    check_classifier(clf, "margin_bound")
    if not 0 < delta < 1:
        raise ValueError(f"delta must be between 0 and 1; got {delta!r}")
    found = margins(clf, X, y)
    n_labels, n = clf.model_.kind.n_labels, len(y)
    chance = 3.0 * sqrt(log(2.0 * n_labels * _THETAS.size / delta) / (2.0 * n))
    flat = type(found)(found.values, np.full(found.values.size, 1.0 / found.values.size))  # pairs count alike
    each = [(flat.below(theta), 2.0 * complexity.value / theta, theta) for theta in _THETAS.tolist()]
    error, term, theta = min(each, key=lambda one: one[0] + one[1])
    return MarginBound(error + term + chance, theta, error, term, chance)
