"""Numbers that are voted about: the target of median boosting."""

from __future__ import annotations

import numpy as np

from .kind import KINDS
from .real import Real, RealTarget


@KINDS.register
class Medians(Real):
    """One number for every row: the weighted median of what the rounds say."""

    name = "median"
    measure = "error of the vote"
    adds_up = False

    @classmethod
    def like(cls, kind: Real) -> Medians:
        """The same target, voted about."""
        return cls(kind.classes, kind.center, kind.scale, kind.quantiles, kind.is_log, kind.is_single, kind.offset)


class MedianTarget(RealTarget):
    """Rows that want to be near to, all of them: labels of +1, and the numbers beside them.

    Attributes
    ----------
    numbers : ndarray (n, 1)
        In units of the target's spread.
    """

    numbers: np.ndarray

    def __init__(self, kind: Medians, y: np.ndarray, loss, sample_weight=None, target_weight=None):
        super().__init__(kind, y, loss, sample_weight, target_weight)
        self.numbers, self.wanted = self.wanted, np.zeros((0, 1))

    def take(self, rows):
        part = super().take(rows)
        part.numbers = self.numbers[rows]
        return part

    def arrays(self):
        return (*super().arrays(), self.numbers)

    def errors(self, scores):
        """Weight of the rows that at most half of the vote is near to."""
        return np.where(scores > 0, 0.0, self.signed).sum(axis=1)

    def error_of(self, error, risk, scores):
        return error
