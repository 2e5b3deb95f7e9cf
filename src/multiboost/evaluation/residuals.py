"""What a model says of rows with known numbers: predictions beside them, and what is left."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..data.real import Real, RealTarget, as_numbers
from ..estimators.validation import check_weights
from ..losses import Loss
from .curves import Margins


class Numbers:
    """True numbers and weights of some rows, the same after every round.

    Parameters
    ----------
    clf : fitted regressor
    y : numbers as in ``fit``
    sample_weight : array (n,) or None

    Attributes
    ----------
    kind : Real
    y : ndarray (n, targets)
        NaN where unknown.
    weight : ndarray (n,)
    target : RealTarget
        With weights as in training, for the risk.
    """

    def __init__(self, clf, y, sample_weight=None):
        check_is_fitted(clf)
        self.kind: Real = clf.model_.kind
        y = as_numbers(y)
        self.y = y.reshape(len(y), -1)
        given = check_weights(sample_weight, len(y))
        self.weight = np.ones(len(y)) if given is None else given
        self.target = RealTarget(self.kind, self.y, clf.answer_loss_, given)

    def rows(self, t: int) -> np.ndarray:
        """Rows in which a target is known."""
        return np.flatnonzero(~np.isnan(self.y[:, t]) & (self.weight > 0))

    def unknown(self) -> float:
        """Share of the numbers that are unknown."""
        return float(np.mean(np.isnan(self.y)))

    def class_shares(self) -> list[tuple[str, float]]:
        """Numbers have no classes."""
        return []

    @cached_property
    def middle(self) -> int:
        """The quantile that stands for the target: the one nearest to 0.5."""
        return int(np.abs(self.kind.quantiles - 0.5).argmin()) if self.kind.quantiles.size else 0

    @cached_property
    def least(self) -> np.ndarray:
        """The least that the loss of each target can be, (targets,)."""
        return self.by_target(self.target.loss.least(self.target))

    @cached_property
    def span(self) -> np.ndarray:
        """What the best constant leaves to be explained, (targets,); exactly 0 where all rows hold the same number."""
        left = self.by_target(self.target.loss.losses(self.constant_scores, self.target)) - self.least
        return np.where([self.is_constant(t) for t in range(self.kind.n_targets)], 0.0, left)

    @property
    def constant_scores(self) -> np.ndarray:
        """The best constant of each target, for every row, (n, K)."""
        return np.tile(self.target.loss.initial_scores(self.target), (len(self.y), 1))

    def is_constant(self, t: int) -> bool:
        """Whether all rows hold the same number, or none is known."""
        known = self.y[self.rows(t), t]
        return known.size == 0 or bool((known == known[0]).all())

    def by_target(self, losses: np.ndarray) -> np.ndarray:
        """Losses of pairs, (n, K), summed for each target."""
        return self.kind.by_target(losses).sum(axis=(0, 2))


class Residuals:
    """Predictions of rows with known numbers after some rounds.

    Parameters
    ----------
    answers : Numbers
    scores : ndarray (n, K)
        F; not copied, so that one of a staged run is good until the next round.
    n_rounds : int
    size, model
        As of labels; of no use here.
    loss : Loss
    """

    def __init__(self, answers: Numbers, scores: np.ndarray, n_rounds: int, size: float, model, loss: Loss):
        self.answers, self.scores, self.n_rounds, self.loss = answers, scores, n_rounds, loss

    @cached_property
    def values(self) -> np.ndarray:
        """Predictions, (n, targets, quantiles)."""
        return self.answers.kind.values(self.scores)

    @cached_property
    def predicted(self) -> np.ndarray:
        """The one that stands for the target, (n, targets)."""
        return self.values[:, :, self.answers.middle]

    @cached_property
    def risks(self) -> np.ndarray:
        """The part of each target in the risk, (targets,)."""
        a = self.answers
        return a.by_target(a.target.loss.losses(self.scores, a.target))

    def target_error(self, t: int) -> float | None:
        """The part of the best constant's loss that is left; None where that constant is perfect."""
        a = self.answers
        return float((self.risks[t] - a.least[t]) / a.span[t]) if a.span[t] > 0 else None

    def error(self) -> float | None:
        """The same of all targets together, as in the history: 1 - R2 for the squared loss of one target."""
        a = self.answers
        span = float(a.span.sum())
        return float(self.risks.sum() - a.least.sum()) / span if span > 0 else None

    def risk(self) -> float:
        """The loss that training minimises, with training's weights."""
        return self.loss.risk(self.scores, self.answers.target)

    def measured(self) -> float | None:
        """The error that learning curves show."""
        return self.error()

    def margins(self) -> Margins | None:
        """Numbers have no margins."""
        return None
