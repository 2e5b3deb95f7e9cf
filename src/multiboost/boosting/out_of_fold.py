"""Scores of rows that were not trained on, and what is learned from them: calibrations, refinement."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..calibration import Calibration, Calibrator, refinement
from ..calibration.calibration import Question, joined
from ..data.signed import NothingLeft, annihilated
from ..data.target import Target
from .ruler import Ruler

_MOST_CLASSES = 200  # with more than these a matrix takes longer than it is worth


@dataclass(frozen=True)
class Part:
    """Rows that were held out of one run.

    Attributes
    ----------
    target : Target
    scores : ndarray (n, K)
    ruler : Ruler
        Of the run.
    """

    target: Target
    scores: np.ndarray
    ruler: Ruler

    def questions(self, unit: str) -> list[Question]:
        """Scores in a unit beside the right answers, for every question."""
        scores = self.target.kind.by_question(self.ruler.slope(unit) * self.scores)
        asked = [Question(z, *answer) for z, answer in zip(scores, self.target.answers(), strict=True)]
        sense = self.target.sense
        # Who learns from them divides by weights, and takes logarithms: samples with about the same scores cancel.
        return asked if sense is None else [q._replace(weight=_cancelled(q, sense)) for q in asked]


def _cancelled(question: Question, sense: np.ndarray) -> np.ndarray:
    """Weights of the rows of a question without negative ones."""
    z, true, weight, _ = question
    none = np.zeros(z.shape[1], bool)
    try:
        return annihilated(z.copy(), none, true, weight * sense)
    except NothingLeft:  # too few rows to say more than that
        return weight * (sense > 0)


def questions_of(parts: list[Part], unit: str) -> list[Question]:
    """The questions of all parts, with all their rows; every row counts by its weight."""
    shares = np.array([part.target.n_rows for part in parts], float)  # the weights of a part add up to 1
    asked = [part.questions(unit) for part in parts]
    return [
        joined([q._replace(weight=q.weight * share) for q, share in zip(of_all, shares, strict=True)])
        for of_all in zip(*asked, strict=True)
    ]


def calibration_of(method: Calibrator, parts: list[Part]) -> Calibration:
    """What a method learns from rows that were held out."""
    return Calibration.fit(method, questions_of(parts, method.unit))


def refined(parts: list[Part]) -> np.ndarray:
    """Weighted log-losses after the best factor, of all known answers to all questions, in an order of their own."""
    z, true, weight, _ = joined(questions_of(parts, "spread"))
    known = np.flatnonzero((true >= 0) & (weight > 0))
    z, true, weight = z[known], true[known], weight[known] / weight[known].mean()
    return weight * refinement(z, true, weight)


def best_method(kind) -> str:
    """What "auto" is: a matrix for classes, a parabola for two classes and for labels.

    ``docs/probabilities.md`` has the measurements.
    """
    most = max((part.stop - part.start for part in kind.tasks), default=1)
    if most == 1:
        return "quadratic"
    return "matrix" if most <= _MOST_CLASSES else "diagonal"
