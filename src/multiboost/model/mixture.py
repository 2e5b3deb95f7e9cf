"""Many models, each read in several ways, whose answers are added up by their weights."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..calibration import Calibration
from ..data.ranked import Ranks
from ..ranking import exponential_weights
from .model import Model


@dataclass
class Scorer:
    """A way to read a model: a calibration of its scores, or of a model with one score that score itself.

    Attributes
    ----------
    model : int
        Its number in the mixture.
    calibration : Calibration or None
        None: the only score as it is.
    slope : float
        Scores are multiplied by it before they are calibrated.
    low, high : float
        Of rankings: the range on the rows that the calibration has learned from, which becomes 0 to 1.
    reached : float
        omega: what it reaches on the validation set; more is better.
    """

    model: int
    calibration: Calibration | None
    slope: float = 1.0
    low: float = 0.0
    high: float = 1.0
    reached: float = 0.0

    def raw(self, kind, scores: np.ndarray) -> np.ndarray:
        """What it says of rows with these scores: of rankings (n, 1), else probabilities of the labels (n, K)."""
        if self.calibration is None:
            return scores
        asked = kind.by_question(self.slope * scores)
        if isinstance(kind, Ranks):
            return self.calibration.expected(asked[0], kind.gains)[:, None]
        return kind.label_probabilities(self.calibration.probabilities(asked))

    def values(self, kind, scores: np.ndarray) -> np.ndarray:
        """The same; of rankings from 0 to 1."""
        found = self.raw(kind, scores)
        if not isinstance(kind, Ranks):
            return found
        return np.clip((found - self.low) / (self.high - self.low or 1.0), 0.0, 1.0)


@dataclass
class Mixture:
    """What an ensemble of ensembles has learned.

    Attributes
    ----------
    models : list of Model
        With the rounds that are used.
    scorers : list of Scorer
    c : float
        A scorer weighs exp(c omega).
    estimator : str
        The class that trained it.
    parameters : dict
        Its parameters.
    tried : dict of ndarray
        ``rounds``, ``c`` and ``score`` of all that was tried.
    """

    models: list[Model]
    scorers: list[Scorer]
    c: float
    estimator: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    tried: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def kind(self):
        """What answers mean; models of a mixture have the same classes or grades."""
        return self.models[0].kind

    def weights(self) -> np.ndarray:
        """Of the scorers; they sum to 1."""
        return exponential_weights([scorer.reached for scorer in self.scorers], self.c)

    def values(self, scores: list[np.ndarray]) -> np.ndarray:
        """The weighted mean of what all scorers say, (n, 1) or (n, K).

        Parameters
        ----------
        scores : list of ndarray
            F of the same rows by every model.
        """
        total: Any = 0.0
        for scorer, weight in zip(self.scorers, self.weights(), strict=True):
            total = total + weight * scorer.values(self.models[scorer.model].kind, scores[scorer.model])
        return total
