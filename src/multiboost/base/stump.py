"""STUMPBASE, SELECTORBASE and INDICATORBASE: one cut of one column (Kegl 2011, 3.4.2, 3.4.3)."""

from __future__ import annotations

from ..kernels.subset import NOMINAL, NUMERIC
from .classifier import BaseClassifier
from .learner import BaseLearner
from .problem import Problem

_STARTS = 4  # random starts of the search for a subset


class Cut(BaseLearner):
    """What cuts one column in two: common to stumps, selectors and indicators.

    Attributes
    ----------
    kinds : int
        The columns that may be cut, NUMERIC, NOMINAL or both.
    starts : int
        Random starts of the search for a subset; -1: one value against the rest.
    constant : bool
        Whether phi may be constant.
    """

    kinds: int
    starts = _STARTS
    constant = False

    def fit(self, problem: Problem) -> BaseClassifier | None:
        """The best cut, None where no cut separates anything."""
        from .tree import grow_tree

        return grow_tree(problem, 2, self)


class Stump(Cut):
    """Decision stump: the best cut over all columns.

    On a numeric column h(x) = v if x_j > b and -v otherwise (discrete votes), or a vote
    vector of its own on each side (real votes); on a nominal column an `Indicator`.
    """

    name = "stump"
    kinds = NUMERIC | NOMINAL


class Selector(Cut):
    """One value of one nominal column against all others (3.36).

    With discrete votes the constant is a candidate, too: the selector of a value that does
    not occur.
    """

    name = "selector"
    kinds = NOMINAL
    starts = -1
    constant = True


class Indicator(Cut):
    """A subset of the values of one nominal column against the others (3.37).

    Parameters
    ----------
    n_starts : int, default=4
        Random starts of the search for the subset, besides the leading direction of the
        edge matrix and the best selector; fewer with more than 16384 values.  With up to
        eight values in a node, with one label, and with discrete votes and up to three labels
        the search is exact and needs none.

    Notes
    -----
    With discrete votes the constant is a candidate, as in (3.37); it is not one of a
    `Stump`, whose thresholds have none either.
    """

    name, size, least = "indicator", "n_starts", 0
    kinds = NOMINAL
    constant = True

    def __init__(self, n_starts=_STARTS):
        self.n_starts = n_starts

    @property
    def starts(self) -> int:  # type: ignore[override]
        return self.n_starts
