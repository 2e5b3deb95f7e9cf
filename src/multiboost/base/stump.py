"""STUMPBASE: one threshold on one feature (Kegl 2011, 3.4.2)."""

from __future__ import annotations

from sklearn.base import BaseEstimator

from .classifier import BaseClassifier
from .problem import Problem


class Stump(BaseEstimator):
    """Decision stump: the best single threshold over all features.

    h(x) = v if x_j > b and -v otherwise (discrete votes), or a vote vector of its own on
    each side (real votes).
    """

    def fit(self, problem: Problem) -> BaseClassifier | None:
        """The best stump, None where no threshold separates anything."""
        from .tree import grow_tree

        return grow_tree(problem, n_leaves=2)
