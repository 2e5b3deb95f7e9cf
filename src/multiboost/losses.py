"""Losses: scores and labels -> the signed pull G and the weight H of every pair.

A loss is its kernel (in ``kernels.update``), its starting scores and its link from
scores to probabilities; the boosting loop knows nothing else of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from .kernels.dtypes import EXPONENTIAL, LOGISTIC


class Loss(ABC):
    """Common to all losses.

    Attributes
    ----------
    code : int
        What the kernels call it.
    has_curvature : bool
        Whether H is more than |G|.
    """

    code: int
    name: str
    has_curvature: bool

    def initial_scores(self, signed: np.ndarray) -> np.ndarray:
        """F before the first round, (K,); ``signed`` is W0 Y."""
        return np.zeros(signed.shape[1])

    @abstractmethod
    def risk(self, scores: np.ndarray, signed: np.ndarray) -> float:
        """Weighted loss of scores F, both (n, K); ``signed`` is W0 Y."""


class Exponential(Loss):
    """W0 exp(-F Y) (Kegl 2011, eq. 3.13): AdaBoost.MH."""

    code, name, has_curvature = EXPONENTIAL, "exponential", False

    def risk(self, scores, signed):
        with np.errstate(over="ignore"):  # far on the wrong side the loss is infinite, and may say so
            return float((np.abs(signed) * np.exp(-scores * np.sign(signed))).sum())


class Logistic(Loss):
    """W0 log(1 + exp(-2 F Y)), label by label: LogitBoost (Friedman et al. 2000)."""

    code, name, has_curvature = LOGISTIC, "logistic", True

    def initial_scores(self, signed):
        """Half the log odds of each label, the best constant."""
        positive = np.maximum(signed, 0.0).sum(axis=0)
        negative = np.maximum(-signed, 0.0).sum(axis=0)
        tiny = np.abs(signed).sum() / max(1, np.count_nonzero(signed))
        return 0.5 * np.log((positive + tiny) / (negative + tiny))

    def risk(self, scores, signed):
        return float((np.abs(signed) * np.logaddexp(0.0, -2.0 * scores * np.sign(signed))).sum())


LOSSES: dict[str, Loss] = {loss.name: loss for loss in (Exponential(), Logistic())}
