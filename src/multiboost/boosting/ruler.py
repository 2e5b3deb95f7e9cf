"""How large the scores of a run are: units in which they can be compared with those of another run.

Boosting drives scores on with every round: their order is right, their size is not.  A calibration that was learned
from a run of 50 rounds is used by one of 200, so it must not see the scores themselves, but c F in a unit of the run:

============  =====================================================================================================
unit          c
============  =====================================================================================================
``theory``    2: a score is half the log odds of its label.
``size``      One over the sum of the sizes of all votes: c F is from -1 to 1.
``margin``    min(2, 6 / M), M the (weighted) median margin of the training set: about right where nothing was
              measured.  6 was near the best for clean tables.
``spread``    2.5 / S, S the (weighted) mean size of the training set's scores.  What is learned in this unit carries
              over best from short runs to long ones (``docs/probabilities.md``), and S is never 0 where something was
              learned.  2.5 was the factor of the usual table: so its calibration begins near 1.
============  =====================================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data.kinds import LabelKind
from ..data.target import Target
from ..model.model import STEEPEST

_MARGIN = 6.0
_SPREAD = 2.5
_PAIRS = 1 << 22  # of rows and labels that are looked at


@dataclass(frozen=True)
class Ruler:
    """Sizes of a run's scores.

    Attributes
    ----------
    margin : float
        The weighted median margin of the training set.
    spread : float
        The weighted mean of |F|.
    size : float
        The sum of the sizes of all votes.
    """

    margin: float
    spread: float
    size: float

    @classmethod
    def of(cls, target: Target, scores: np.ndarray, size: float) -> Ruler:
        """Of a run's training set.

        Parameters
        ----------
        target : Target
        scores : ndarray (n, K)
        size : float
        """
        step = -(-scores.size // _PAIRS)  # of a very large set every step-th row will do
        weight = np.abs(target.signed[::step]).sum(axis=1)
        spread = float((np.abs(scores[::step]).mean(axis=1) * weight).sum() / weight.sum())
        return cls(median_margin(target, scores), spread, size)

    def slope(self, unit: str) -> float:
        """The factor c of scores in a unit."""
        if unit == "theory":
            return STEEPEST
        if unit == "size":
            return 1.0 / self.size
        if unit == "margin":
            return STEEPEST if self.margin <= _MARGIN / STEEPEST else _MARGIN / self.margin
        if unit == "spread":
            return _SPREAD / self.spread if self.spread > 0 else STEEPEST
        raise ValueError(f"there is no unit of scores {unit!r}; there are 'theory', 'size', 'margin' and 'spread'")


def median_margin(target: Target, scores: np.ndarray) -> float:
    """Weighted median of the margins; 0 where there are no labels.

    The margin of a task is the true class's score minus the best other one; of a label that stands alone it is F Y.

    Parameters
    ----------
    target : Target
    scores : ndarray (n, K)
    """
    if not isinstance(target.kind, LabelKind):
        return 0.0
    step = -(-scores.size // _PAIRS)
    scores, signed = scores[::step], target.signed[::step]
    margins, weights = [], []
    for t in range(len(target.kind.tasks)):
        true, weight = target.task_class[::step, t], target.task_weight[::step, t]
        rows = np.flatnonzero((true >= 0) & (weight > 0))
        margins.append(target.kind.lead(scores[rows], t, true[rows] - target.kind.tasks[t].start))
        weights.append(weight[rows])
    if not margins:
        known = signed != 0
        margins.append(scores[known] * np.sign(signed[known]))
        weights.append(np.abs(signed[known]))
    return _weighted_median(np.concatenate(margins), np.concatenate(weights))


def _weighted_median(values: np.ndarray, weights: np.ndarray) -> float:
    """The smallest value with half of the weight at or below it."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order])
    # Half, but for rounding: a repeated sample and one of weight two must agree.
    return float(values[order[np.searchsorted(below, below[-1] * (0.5 - 1e-9))]])
