"""Regressions of the answers on the scores (Kegl 2011, 3.5.4): polynomials, logistic regression, or any regressor.

What is regressed is whether an answer is right, one column for each.  For graded documents the expected gain
sum_l z_l p_l is then the regression of the gain itself, since least squares are linear in what they fit.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from math import comb

import numpy as np

from .calibrator import CALIBRATORS, Calibrator, log_softmax, numbers, softmax
from .scaling import minimum

_MOST_TERMS = 3000  # of a polynomial; solving for more takes longer than it is worth


class _OfScores(Calibrator):
    """Something that is learned from the scores, brought to -1 ... 1 by the range of the rows.

    Scores beyond the range count as its ends: a polynomial is wild there.
    """

    def _begin(self) -> None:
        self.low, self.high = np.zeros(0), np.zeros(0)

    def _span(self, z: np.ndarray) -> np.ndarray:
        """Learn the range, and bring scores to it."""
        self.low, self.high = z.min(axis=0), z.max(axis=0)
        return self._within(z)

    def _within(self, z: np.ndarray) -> np.ndarray:
        width = np.where(self.high > self.low, self.high - self.low, 1.0)
        return 2.0 * (np.clip(z, self.low, self.high) - self.low) / width - 1.0

    @abstractmethod
    def _values(self, x: np.ndarray) -> np.ndarray:
        """What is said of every answer, (n, k); about probabilities."""

    def probabilities(self, scores):
        if not self.low.size:
            return np.full(scores.shape, 1.0 / scores.shape[1])
        return shares(self._values(self._within(scores)))

    def expected(self, scores, values):
        """As the regression has it: not cut to what probabilities can be."""
        if not self.low.size:
            return super().expected(scores, values)
        return (self._values(self._within(scores)) * values).sum(axis=1)


def shares(found: np.ndarray) -> np.ndarray:
    """Numbers cut to 0 ... 1 and divided by their sum, (n, k); equal shares where all are 0."""
    P = np.clip(found, 0.0, 1.0)
    total = P.sum(axis=1, keepdims=True)
    return np.where(total > 0, P / np.where(total > 0, total, 1.0), 1.0 / P.shape[1])


@CALIBRATORS.register
@dataclass(eq=False)
class Polynomial(_OfScores):
    """A polynomial of all scores, by scikit-learn's ridge regression; degree 1 is the linear one.

    Parameters
    ----------
    degree : int, default=1
    ridge : float, default=1.0
        On all coefficients but the constant, in sums over rows.
    """

    name = "polynomial"

    degree: int = 1
    ridge: float = 1.0

    def __post_init__(self):
        if not (isinstance(self.degree, (int, float)) and self.degree >= 1 and self.degree % 1 == 0):
            raise ValueError(f"degree must be a whole number of at least 1; got {self.degree!r}")
        if not self.ridge >= 0:
            raise ValueError(f"ridge must be at least 0; got {self.ridge!r}")
        self.degree = int(self.degree)
        self._begin()

    def _begin(self):
        super()._begin()
        self.powers, self.weights = np.zeros((0, 0)), np.zeros((0, 0))

    def _learn(self, z, true, weight, groups):
        from sklearn.linear_model import Ridge
        from sklearn.preprocessing import PolynomialFeatures
        from threadpoolctl import threadpool_limits

        self._begin()
        if not len(z):
            return
        k = z.shape[1]
        if comb(k + self.degree, k) > _MOST_TERMS:
            raise ValueError(
                f"a polynomial of degree {self.degree} in {k} scores has {comb(k + self.degree, k)} terms, more than "
                f"{_MOST_TERMS}; take a lower degree"
            )
        x = self._span(z)
        terms = PolynomialFeatures(self.degree).fit(x)
        self.powers = terms.powers_.astype(np.float64)
        with threadpool_limits(1, "blas"):  # their number must not leave a trace
            found = Ridge(self.ridge).fit(self._terms(x)[:, 1:], np.eye(k)[true], sample_weight=weight)
        self.weights = np.vstack([found.intercept_, found.coef_.T])

    def _terms(self, x: np.ndarray) -> np.ndarray:
        """All products of powers, (n, terms); the first is 1."""
        found = np.ones((len(x), len(self.powers)))
        for j, exponent in enumerate(self.powers.T.astype(np.intp)):
            found *= (x[:, j, None] ** np.arange(self.degree + 1))[:, exponent]
        return found

    def _values(self, x):
        # Not by `@`, whose bits depend on how many rows there are.
        return np.einsum("nt,tk->nk", self._terms(x), self.weights)

    def state(self):
        return {"low": self.low, "high": self.high, "powers": self.powers, "weights": self.weights}

    def restore(self, state):
        self._begin()
        if state:
            k, terms = state["low"].size, len(state["powers"])
            shapes = {"low": (k,), "high": (k,), "powers": (terms, k), "weights": (terms, k)}
            found = numbers(state, shapes)
            if found["powers"].min(initial=0) < 0 or found["powers"].max(initial=0) > self.degree:
                raise ValueError("powers of a polynomial")
            self.low, self.high, self.powers, self.weights = (found[name] for name in shapes)


@CALIBRATORS.register
class Logistic(_OfScores):
    """Multinomial logistic regression: softmax(W x + b), with a ridge of half the squares of W in the log-loss."""

    name = "logistic"

    def __init__(self):
        self._begin()

    def _begin(self):
        super()._begin()
        self.bias, self.weights = np.zeros(0), np.zeros((0, 0))

    def _learn(self, z, true, weight, groups):
        self._begin()
        if not len(z):
            return
        (n, k), x, rows = z.shape, self._span(z), np.arange(len(z))

        def loss(theta):
            b, W = theta[:k], theta[k:].reshape(k, k)
            log_p = log_softmax(x @ W.T + b)
            pull = np.exp(log_p)
            pull[rows, true] -= 1.0
            pull *= weight[:, None] / n
            value = -(weight * log_p[rows, true]).sum() / n + (W * W).sum() / (2.0 * n)
            return value, np.concatenate([pull.sum(axis=0), (pull.T @ x + W / n).ravel()])

        # The best constant first: a class without rows has a finite one.
        share = (np.bincount(true, weight, minlength=k) + 1.0 / k) / (weight.sum() + 1.0)
        theta = minimum(loss, np.concatenate([np.log(share), np.zeros(k * k)]))
        self.bias, self.weights = theta[:k], theta[k:].reshape(k, k)

    def _values(self, x):
        return softmax(np.einsum("nj,kj->nk", x, self.weights) + self.bias)

    def state(self):
        return {"low": self.low, "high": self.high, "bias": self.bias, "weights": self.weights}

    def restore(self, state):
        self._begin()
        if state:
            k = state["low"].size
            found = numbers(state, {"low": (k,), "high": (k,), "bias": (k,), "weights": (k, k)})
            self.low, self.high, self.bias, self.weights = (
                found["low"], found["high"], found["bias"], found["weights"],
            )  # fmt: skip


class Regression(_OfScores):
    """Any regressor of scikit-learn's kind, of all answers at once; a classifier where it has ``predict_proba``.

    A Python object, so that a model with it is written to no file: ``Polynomial`` and ``Logistic`` are.

    Parameters
    ----------
    regressor : estimator
        Cloned and fitted on scores from -1 to 1.  Weights are passed on where its ``fit`` takes them.
    """

    name = "regression"

    def __init__(self, regressor):
        self.regressor = regressor
        self._begin()

    def _learn(self, z, true, weight, groups):
        from sklearn.base import clone
        from sklearn.utils.validation import has_fit_parameter

        self._begin()
        if not len(z):
            return
        x, k = self._span(z), z.shape[1]
        self.fitted_ = clone(self.regressor)
        target = true if hasattr(self.fitted_, "predict_proba") else np.eye(k)[true]
        weights = {"sample_weight": weight} if has_fit_parameter(self.fitted_, "sample_weight") else {}
        self.fitted_.fit(x, target, **weights)

    def _values(self, x):
        if not hasattr(self.fitted_, "predict_proba"):
            return self.fitted_.predict(x)
        found = np.zeros(x.shape)
        found[:, self.fitted_.classes_] = self.fitted_.predict_proba(x)
        return found

    def to_dict(self):
        raise ValueError(
            f"a fitted {type(self.regressor).__name__} has no place in a model file; use Polynomial or Logistic, or "
            "keep the model with a tool that stores Python objects"
        )

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)
