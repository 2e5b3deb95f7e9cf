"""What calibrators have in common."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, TypeVar

import numpy as np

from ..plugin import Plugin
from ..registry import Registry
from .formula import Formula

C = TypeVar("C", bound="Calibrator")


def softmax(z: np.ndarray) -> np.ndarray:
    """exp(z) of every row, divided by its sum, (n, k)."""
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def log_softmax(z: np.ndarray) -> np.ndarray:
    """Logarithms of `softmax`."""
    z = z - z.max(axis=1, keepdims=True)
    return z - np.log(np.exp(z).sum(axis=1, keepdims=True))


class Calibrator(Plugin):
    """From scores of the answers to one question to their probabilities.

    What it learns is its ``state``: arrays by name, which model files keep.

    Attributes
    ----------
    name : str
    shared : bool
        Whether one is learned for all questions of a model, else one for each.
    unit : {"theory", "margin", "size", "spread"}
        What a booster's scores are multiplied by before they come here, see ``boosting.ruler``.
    learns : bool
        Whether it needs rows that were not trained on.
    """

    shared: ClassVar[bool] = False
    unit: ClassVar[str] = "spread"
    learns: ClassVar[bool] = True

    def fit(self: C, scores, target, weights=None, groups=None) -> C:
        """Learn from rows that the scores were not trained on.

        Parameters
        ----------
        scores : array (n, k)
            About log odds, but for a factor.  An answer that a row does not have has the score -inf.
        target : array (n,) of int
            The right answer, 0 to k - 1; -1 where it is unknown: such a row takes no part.
        weights : array (n,), default=None
            A row without weight takes no part.
        groups : array (n,), default=None
            The query of every row, for target functions of rankings.

        Returns
        -------
        self
        """
        z, true, weight = checked(scores, target, weights)
        known = np.flatnonzero((true >= 0) & (weight > 0))
        rows = z[known], true[known], weight[known] / (weight[known].mean() if known.size else 1.0)
        self._learn(*rows, None if groups is None else np.asarray(groups)[known])
        return self

    @abstractmethod
    def _learn(self, z: np.ndarray, true: np.ndarray, weight: np.ndarray, groups: np.ndarray | None) -> None:
        """Learn from known rows, whose weights have the mean 1; there may be none."""

    @abstractmethod
    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Probabilities of the answers, (n, k); rows sum to 1.

        Parameters
        ----------
        scores : ndarray (n, k)
        """

    def expected(self, scores: np.ndarray, values: np.ndarray) -> np.ndarray:
        """The expected value of the answer, (n,), where each answer has a value.

        Parameters
        ----------
        scores : ndarray (n, k)
        values : ndarray (k,)
        """
        return (self.probabilities(scores) * values).sum(axis=1)

    def formula(self, k: int) -> Formula | None:
        """The same as a formula of k answers, which exports write; None where it is none of those they know."""
        return None


CALIBRATORS: Registry[type[Calibrator]] = Registry("calibration")


def checked(scores, target, weights) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores, answers and weights as arrays that fit together."""
    z, true = np.asarray(scores, np.float64), np.asarray(target)
    if z.ndim != 2 or z.shape[1] < 2:
        raise ValueError(f"scores must have a column for every answer, (n, k) with k of at least 2; got {z.shape}")
    if true.shape != (len(z),) or true.dtype.kind not in "iu":
        raise ValueError(f"target must be {len(z)} class numbers, one for each row of scores; got {true.shape}")
    if np.isnan(z).any() or (z == np.inf).any():
        raise ValueError("scores contain NaN or infinity; only -inf, an answer that a row does not have, is allowed")
    if true.size and not (true.min() >= -1 and true.max() < z.shape[1]):
        raise ValueError(
            f"target must be class numbers from 0 to {z.shape[1] - 1}, or -1; got {true.min()}..{true.max()}"
        )
    weight = np.ones(len(z)) if weights is None else np.asarray(weights, np.float64)
    if weight.shape != true.shape or not (np.isfinite(weight).all() and (weight >= 0).all()):
        raise ValueError("weights must be finite numbers of at least 0, one for each row of scores")
    return z, true.astype(np.intp), weight


def numbers(state: dict[str, np.ndarray], shapes: dict[str, tuple[int | None, ...]]) -> dict[str, np.ndarray]:
    """A state that was kept, checked: finite numbers of these shapes; None is any length."""
    if set(state) != set(shapes):
        raise ValueError(f"a calibration has {', '.join(shapes)}; got {', '.join(state)}")
    for name, shape in shapes.items():
        found = state[name]
        fits = found.ndim == len(shape) and all(w in (None, s) for w, s in zip(shape, found.shape, strict=True))
        if found.dtype.kind not in "fi" or not fits or not np.isfinite(found).all():
            raise ValueError(f"{name} of a calibration")
    return {name: np.array(state[name], np.float64) for name in shapes}
