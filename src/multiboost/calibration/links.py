"""Links that learn nothing: softmax of the scores in some unit."""

from __future__ import annotations

from .calibrator import CALIBRATORS, Calibrator, softmax
from .formula import Formula


class _Link(Calibrator):
    """softmax(z)."""

    shared, learns = True, False

    def _learn(self, z, true, weight, groups):
        pass

    def probabilities(self, scores):
        return softmax(scores)

    def formula(self, k):
        return Formula()


@CALIBRATORS.register
class Theory(_Link):
    """A score is half the log odds of its label (Friedman, Hastie and Tibshirani 2000): softmax(2 F)."""

    name, unit = "theory", "theory"


@CALIBRATORS.register
class Margin(_Link):
    """softmax(c F) with c = min(2, 6 / the median margin of the training set); see ``boosting.ruler``."""

    name, unit = "margin", "margin"
