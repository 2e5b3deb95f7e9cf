"""Structured matrix scaling, and its diagonal form (Berta, Holzmueller, Jordan and Bach, AISTATS 2026).

After the temperature, z = log softmax(c F) becomes

    p = softmax(z + W z + b).

W and b have a ridge that knows what they are for, in a mean log-loss of n rows with k classes: k / n on b and on the
diagonal of W, k (k - 1) / n off the diagonal.  Nothing is left to choose.  The sum is convex; L-BFGS begins at
W = 0, b = 0, which is the temperature alone.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

import numpy as np

from .calibrator import CALIBRATORS, Calibrator, log_softmax, numbers, softmax
from .formula import Formula
from .temperature import best_factor

_LEAST = float(np.log(1e-15))  # a log probability below this is as good as this


def minimum(function: Callable, start: np.ndarray) -> np.ndarray:
    """Where a function with its gradient is least, by L-BFGS.

    On one thread of the matrix library: their number must not leave a trace in a model.
    """
    from scipy.optimize import minimize
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, "blas"):
        return minimize(
            function, start, jac=True, method="L-BFGS-B", options={"maxiter": 2000, "ftol": 1e-13, "gtol": 1e-7}
        ).x


class _Scaling(Calibrator):
    """The temperature, then an affine map of the log probabilities."""

    weights: np.ndarray

    def __init__(self):
        self._begin()

    def _begin(self) -> None:
        self.factor = 1.0
        self.bias, self.weights = np.zeros(0), np.zeros(self._shape(0))  # of no rows: softmax of the scores

    # How W acts on x, (n, k): the whole matrix or its diagonal.

    @staticmethod
    @abstractmethod
    def _shape(k: int) -> tuple[int, ...]:
        """Of W."""

    @staticmethod
    @abstractmethod
    def _ridge(n: int, k: int) -> np.ndarray:
        """Of every element of W."""

    @staticmethod
    @abstractmethod
    def _applied(x: np.ndarray, W: np.ndarray) -> np.ndarray:
        """W x of every row, fast."""

    @staticmethod
    @abstractmethod
    def _along(pull: np.ndarray, x: np.ndarray) -> np.ndarray:
        """The slope along W, from those along W x."""

    @abstractmethod
    def _moved(self, z: np.ndarray) -> np.ndarray:
        """W z of every row, with the same bits whatever rows come with it."""

    def log_probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Those of the temperature alone."""
        return np.maximum(log_softmax(self.factor * scores), _LEAST)

    def probabilities(self, scores):
        z = self.log_probabilities(scores)
        return softmax(z + self._moved(z) + self.bias if self.bias.size else z)

    def formula(self, k):
        learned = self.bias.size > 0
        weights, bias = (self.weights, self.bias) if learned else (np.zeros(self._shape(k)), np.zeros(k))
        return Formula(self.factor, weights, bias, _LEAST)

    def _learn(self, z, true, weight, groups):
        self._begin()
        if not len(z):
            return
        self.factor = best_factor(z, true, weight)
        (n, k), x = z.shape, self.log_probabilities(z)
        rows = np.arange(n)

        def loss(theta):
            b, W = theta[:k], theta[k:].reshape(self._shape(k))
            log_p = log_softmax(x + self._applied(x, W) + b)
            ridge = self._ridge(n, k)
            value = -(weight * log_p[rows, true]).sum() / n + k / n * (b @ b) + (ridge * W * W).sum()
            pull = np.exp(log_p)
            pull[rows, true] -= 1.0
            pull *= weight[:, None] / n
            slope = self._along(pull, x) + 2.0 * ridge * W
            return value, np.concatenate([pull.sum(axis=0) + 2.0 * k / n * b, slope.ravel()])

        theta = minimum(loss, np.zeros(k + int(np.prod(self._shape(k)))))
        self.bias, self.weights = theta[:k], theta[k:].reshape(self._shape(k))

    def state(self):
        return {"factor": np.array([self.factor]), "bias": self.bias, "weights": self.weights}

    def restore(self, state):
        self._begin()
        if state:
            k = state["bias"].size
            found = numbers(state, {"factor": (1,), "bias": (k,), "weights": self._shape(k)})
            self.factor, self.bias, self.weights = float(found["factor"][0]), found["bias"], found["weights"]


@CALIBRATORS.register
class Matrix(_Scaling):
    """softmax(z + W z + b), W a whole matrix."""

    name = "matrix"

    @staticmethod
    def _shape(k: int) -> tuple[int, ...]:
        return k, k

    @staticmethod
    def _ridge(n: int, k: int) -> np.ndarray:
        return np.where(np.eye(k, dtype=bool), k / n, k * (k - 1) / n)

    @staticmethod
    def _applied(x, W):
        return x @ W.T

    @staticmethod
    def _along(pull, x):
        return pull.T @ x

    def _moved(self, z):
        # Not by `@`, whose bits depend on how many rows there are.
        return np.einsum("nj,kj->nk", z, self.weights)


@CALIBRATORS.register
class Diagonal(_Scaling):
    """softmax(z + W z + b), W a diagonal matrix."""

    name = "diagonal"

    @staticmethod
    def _shape(k: int) -> tuple[int, ...]:
        return (k,)

    @staticmethod
    def _ridge(n: int, k: int) -> np.ndarray:
        return np.full(k, k / n)

    @staticmethod
    def _applied(x, W):
        return x * W

    @staticmethod
    def _along(pull, x):
        return (pull * x).sum(axis=0)

    def _moved(self, z):
        return z * self.weights
