"""Targets that are numbers: what scores mean, and what is wanted of each pair of a sample and a target.

Scores are in units of the target's own spread, so that targets of different sizes count alike in one tree:

    answer = center + scale (F + offset),    or exp(F) where the loss has a logarithmic link.

With several quantiles every target has a column of F for each.  The answers of a row are its quantiles, sorted: then
they cannot cross.  Sorting is the rearrangement of Chernozhukov, Fernandez-Val and Galichon (2010): where quantiles do
cross it brings them closer to the true ones, and the sum of their pinball losses never grows.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from .kind import KINDS, TargetKind
from .table import refuse_lazy
from .target import Target
from .weighting import check_sum


@KINDS.register
class Real(TargetKind):
    """One number or several for every row.

    Parameters
    ----------
    classes : list of one ndarray
        Names of the targets.
    center, scale : ndarray (targets,)
    quantiles : ndarray
        The quantiles that are asked for, from small to large; empty: one number for each target.
    is_log : bool
        Whether F is the logarithm of the answer.
    is_single : bool
        Whether y has one dimension.
    offset : ndarray (K,)
        Added to F before it becomes an answer: what held-out rows say of quantiles, see ``boosting.auto_real``.
    """

    name = "regression"
    measure = "relative error"
    of_numbers = True

    def __init__(self, classes, center=None, scale=None, quantiles=(), is_log=False, is_single=True, offset=None):
        super().__init__(classes)
        n = len(classes[0])
        self.center = np.zeros(n) if center is None else np.asarray(center, np.float64)
        self.scale = np.ones(n) if scale is None else np.asarray(scale, np.float64)
        self.quantiles = np.asarray(quantiles, np.float64)
        self.is_log, self.is_single = bool(is_log), bool(is_single)
        self.offset = np.zeros(self.n_labels) if offset is None else np.asarray(offset, np.float64)
        if self.offset.shape != (self.n_labels,) or not np.isfinite(self.offset).all():
            raise ValueError("offset of a regression target")
        if not (self.center.shape == self.scale.shape == (n,) and np.isfinite([*self.center, *self.scale]).all()):
            raise ValueError("center and scale of a regression target")

    @property
    def n_targets(self) -> int:
        return len(self.classes[0])

    @property
    def n_columns(self) -> int:
        """Columns of F for each target."""
        return max(1, self.quantiles.size)

    @property
    def n_labels(self) -> int:
        return self.n_targets * self.n_columns

    def by_target(self, matrix: np.ndarray) -> np.ndarray:
        """A matrix (n, K) as (n, targets, quantiles)."""
        return matrix.reshape(len(matrix), self.n_targets, self.n_columns)

    def label_names(self):
        return self._columns_of([str(name) for name in self.classes[0]])

    def _columns_of(self, targets: list[str]) -> list[str]:
        if self.quantiles.size == 0:
            return targets
        return [f"{name}:{q:g}" if name else f"{q:g}" for name in targets for q in self.quantiles]

    # From scores to numbers.

    def values(self, scores: np.ndarray) -> np.ndarray:
        """Predictions, (n, targets, quantiles)."""
        F = self.by_target(scores + self.offset)
        if self.is_log:
            with np.errstate(over="ignore"):  # far from all that was seen the answer may be infinite
                found = np.exp(F)
        else:
            found = self.center[:, None] + self.scale[:, None] * F
        return np.sort(found, axis=2) if self.quantiles.size > 1 else found

    def shaped(self, scores):
        return scores[:, 0] if scores.shape[1] == 1 and self.is_single else scores

    def answer(self, scores):
        found = self.values(scores)
        if self.quantiles.size <= 1:
            found = found[:, :, 0]
        return found[:, 0] if self.is_single else found

    def standardised(self, y: np.ndarray) -> np.ndarray:
        """What scores should be for y, (n, targets)."""
        return y if self.is_log else (y - self.center) / self.scale

    def scores_of(self, given):
        """From predictions, (n, targets), (n, targets * quantiles) or (n, targets, quantiles)."""
        found = np.asarray(given, np.float64)
        found = found.reshape(len(found), -1)
        if found.shape[1] == self.n_targets:
            found = np.repeat(found, self.n_columns, axis=1)
        if found.shape[1] != self.n_labels:
            raise ValueError(f"init must have {self.n_targets} predictions for each row; got {found.shape[1]}")
        if not self.is_log:
            center, scale = (np.repeat(one, self.n_columns) for one in (self.center, self.scale))
            return (found - center) / scale
        if not (found > 0).all():
            raise ValueError("init must predict numbers above 0: this loss has a logarithmic link")
        return np.log(found)

    def answers(self, scores):
        return self.values(scores)

    def no_answer(self):
        return np.zeros(self.n_labels) if self.is_log else np.repeat(-self.center / self.scale, self.n_columns)

    def answer_columns(self, targets):
        names = targets if len(targets) == self.n_targets else [str(name) for name in self.classes[0]]
        if self.is_single and not targets:
            names = ["prediction"]
        return self._columns_of(names)

    def score_names(self, targets):
        return self.answer_columns(targets)

    # Files.

    def numbers(self):
        return {
            "center": self.center,
            "scale": self.scale,
            "quantiles": self.quantiles,
            "offset": self.offset,
            "flags": np.array([self.is_log, self.is_single]),
        }

    @classmethod
    def of(cls, classes, numbers):
        is_log, is_single = (bool(flag) for flag in numbers["flags"])
        center, scale, quantiles, offset = (numbers[name] for name in ("center", "scale", "quantiles", "offset"))
        return cls(classes, center, scale, quantiles, is_log, is_single, offset)

    def with_offset(self, offset) -> Real:
        """The same with another offset."""
        return Real(self.classes, self.center, self.scale, self.quantiles, self.is_log, self.is_single, offset)


def as_numbers(y) -> np.ndarray:
    """y as float64, (n,) or (n, targets); NaN is unknown."""
    refuse_lazy(y, "y")
    found = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
    if found.dtype.kind == "c":
        raise ValueError("Complex data not supported: y must hold real numbers")
    try:
        found = found.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y must hold numbers: {error}; for classes use MultiBoostClassifier") from error
    if np.isinf(found).any():
        place = tuple(int(k) for k in np.argwhere(np.isinf(found))[0])
        raise ValueError(f"Input y contains infinity, at {list(place)}: a target is a finite number, or NaN if unknown")
    return found


def kind_of(y: np.ndarray, weight: np.ndarray | None, loss: Any, names=None) -> Real:
    """The kind of a regression target: its centers and scales are the loss's.

    Parameters
    ----------
    y : ndarray (n,) or (n, targets)
        NaN is unknown.
    weight : ndarray like y or None
    loss : Loss
    names : list of str or None
    """
    columns = y.reshape(len(y), -1)
    weights = np.ones(columns.shape) if weight is None else weight
    center, scale = np.zeros(columns.shape[1]), np.ones(columns.shape[1])
    for t, column in enumerate(columns.T):
        known = ~np.isnan(column) & (weights[:, t] > 0)
        if not known.any():
            raise ValueError(f"column {t} of y has no known value; leave this target out")
        if not loss.is_log:
            center[t], scale[t] = loss.spread(column[known], weights[known, t])
    quantiles = getattr(loss, "quantiles", ())
    labels = np.asarray(names) if names is not None else np.array([str(t) for t in range(columns.shape[1])])
    if y.ndim == 1:
        labels = np.array([""])
    return Real([labels], center, scale, quantiles, loss.is_log, y.ndim == 1)


class RealTarget(Target):
    """Numbers and their weights.

    Parameters
    ----------
    kind : Real
    y : ndarray (n,) or (n, targets)
        NaN is unknown: the pair has no weight.
    loss : Loss
        What is minimised: errors are in its terms.
    sample_weight : ndarray (n,) or None
    target_weight : array like y or None
    """

    kind: Real  # type: ignore[assignment]

    def __init__(self, kind: Real, y: np.ndarray, loss: Any, sample_weight=None, target_weight=None):
        self.kind, self.loss = kind, loss
        columns = y.reshape(len(y), -1)
        if columns.shape[1] != kind.n_targets:
            raise ValueError(f"y must have {kind.n_targets} columns; got {columns.shape[1]}")
        loss.check(columns)
        weights = weights_of(columns, sample_weight, target_weight)
        total = weights.sum()
        if not total > 0:
            raise ValueError("all weights are zero (sample_weight times target_weight); nothing is left to learn from")
        self._mass = total * kind.n_columns
        wanted = np.where(weights > 0, kind.standardised(columns), 0.0)
        # A quantile is a column of its own; all of them want the same.
        self.signed = np.repeat(weights / (total * kind.n_columns), kind.n_columns, axis=1)
        self.wanted = np.repeat(wanted, kind.n_columns, axis=1)
        self.group_start = np.zeros(0, np.intp)
        self.task_class = np.zeros((len(y), 0), np.int32)
        self.task_weight = np.zeros((len(y), 0))
        self.positive = None
        self.row_weight = sample_weight

    def take(self, rows):
        part: Any = super().take(rows)
        part.loss, part._mass = self.loss, self._mass * self.signed[rows].sum()
        return part

    @property
    def n_pairs(self) -> float:
        """The weight of all pairs as it was given: a weight of two is as good as two rows."""
        return self._mass

    @cached_property
    def _floor(self) -> np.ndarray:
        """The least loss of each row, (n,)."""
        return self.loss.least(self).sum(axis=1)

    @cached_property
    def _span(self) -> float:
        """What the best constant leaves to be explained."""
        constant = np.tile(self.loss.initial_scores(self), (self.n_rows, 1))
        return float(self.loss.losses(constant, self).sum() - self._floor.sum())

    def errors(self, scores):
        """The loss of each row, relative to what the best constant leaves: sums to 1 for a constant, to 0 at best.

        For squared loss that is 1 - R2.
        """
        return (self.loss.losses(scores, self).sum(axis=1) - self._floor) / (self._span or 1.0)

    def constant(self):
        return self.loss.initial_scores(self)

    def error_of(self, error, risk, scores):
        return (risk - float(self._floor.sum())) / (self._span or 1.0)


def weights_of(y: np.ndarray, sample_weight, target_weight) -> np.ndarray:
    """Weights of the pairs of a sample and a target, (n, targets); 0 where y is unknown."""
    weights: np.ndarray = np.ones(y.shape)
    if target_weight is not None:
        given = np.asarray(target_weight, dtype=np.float64)
        given = given.reshape(len(given), -1)
        if given.shape != y.shape:
            raise ValueError(f"target_weight must have the shape of y, {y.shape}; got {given.shape}")
        if not np.isfinite(given).all() or (given < 0).any():
            raise ValueError("target_weight must be finite and not negative; a weight of 0 leaves the pair out")
        weights = given.copy()
    if sample_weight is not None:
        weights *= sample_weight[:, None]
    weights[np.isnan(y)] = 0.0
    with np.errstate(over="ignore"):
        check_sum(weights.sum())
    return weights
