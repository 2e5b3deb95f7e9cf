"""What events cost: features differ in cost by orders of magnitude, and a lean classifier computes few of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def feature_costs(clf, X, costs: Mapping[Any, float]) -> np.ndarray:
    """What the features of every event cost, (n,): each is paid for once, when a base classifier first asks for it.

    Parameters
    ----------
    clf : fitted classifier of this package
        With or without a policy.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
    costs : dict
        By the names of columns, or by their positions where they have none, as for `MDDAGClassifier`; others are free.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multiboost import AdaBoostMHClassifier
    >>> from multiboost.physics import feature_costs
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = AdaBoostMHClassifier("stump", n_estimators=4).fit(X, y)
    >>> float(feature_costs(clf, X, {0: 10.0, 2: 1.0}).max())
    11.0
    """
    needed = clf.features_needed(X)
    names = list(getattr(clf, "feature_names_in_", range(needed.shape[1])))
    strange = [name for name in costs if name not in names]
    if strange:
        raise ValueError(f"costs: there is no column {strange[0]!r}")
    cost = np.array([float(costs.get(name, 0.0)) for name in names])
    if not (np.isfinite(cost).all() and (cost >= 0).all()):
        raise ValueError("costs must be finite and not negative")
    return needed @ cost
