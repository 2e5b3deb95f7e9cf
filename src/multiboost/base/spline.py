"""Natural cubic splines: functions of a column that are fitted to G and H piece by piece.

A natural cubic spline is known by its values at the knots (Green and Silverman 1994, chapter 2).  With the distances
h_i of the knots its second derivatives there are D gamma, where R D = Q' inside and 0 at both ends, and its roughness
is the integral of f''^2, gamma' Q R^-1 Q' gamma.  Beyond the knots it is a line.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from .pieces import Entries, Pieces

_HALVINGS = 200  # to find the smoothing for the degrees of freedom


class Line(Pieces):
    """a + b z, where z is the column with mean 0 and variance 1: one piece, and no roughness.

    Parameters
    ----------
    entries : Entries

    Attributes
    ----------
    mean, scale : float
        Of the known values of the column, all rows alike.
    basis : ndarray (pieces, degree + 1, p)
        Coefficients of the polynomial in each piece, for each of p parameters.
    roughness : ndarray (p, p)
        The penalty.
    square : ndarray (p, p)
        The mean square of the function over all rows.
    """

    n_pieces = 1

    def __init__(self, entries: Entries):
        known, n_zeros = entries.known, entries.n_zeros
        n = known.size + n_zeros
        self.mean = float((known / n).sum())
        far = max(float(np.abs(known - self.mean).max(initial=0.0)), abs(self.mean) if n_zeros else 0.0)
        squares = (((known - self.mean) / far) ** 2).sum() + n_zeros * (self.mean / far) ** 2
        self.scale = far * float(np.sqrt(squares / n))
        self._unit = self._unit_moments(entries)

    def places(self, x):
        place = np.where(np.isnan(x), 0.0, (x - self.mean) / self.scale)
        return np.zeros(x.size, np.intp), place

    @cached_property
    def basis(self) -> np.ndarray:
        return np.eye(2)[None]

    @cached_property
    def roughness(self) -> np.ndarray:
        return np.zeros((2, 2))

    @cached_property
    def square(self) -> np.ndarray:
        return gram(self._unit[None, :, None], self.basis[None])[0, 0]

    def _unit_moments(self, entries: Entries) -> np.ndarray:
        """Means over all rows of powers of the place, in each piece: (pieces, 2 degree + 1)."""
        piece, place = self.places(entries.value)
        zero, zero_place = self.places(np.zeros(1))
        n_rows, n_powers = entries.value.size + entries.n_zeros, 2 * self.basis.shape[1] - 1
        found = np.empty((self.n_pieces, n_powers))
        for p in range(n_powers):
            found[:, p] = np.bincount(piece, place**p, self.n_pieces)
            found[zero[0], p] += entries.n_zeros * zero_place[0] ** p
        return found / n_rows

    def curve(self, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
        """Thresholds, origins of leaves, coefficients (leaves, degree + 1, K), and the leaf of missing values.

        A line has one leaf; its thresholds only say where the column is, two deviations around its mean.

        Parameters
        ----------
        parameters : ndarray (K, p)
        """
        a, b = parameters.T
        where = self.mean + 2.0 * self.scale * np.array([-1.0, 1.0])
        return where, np.array([self.mean]), np.stack([a, b / self.scale])[None], 0


class Spline(Line):
    """A natural cubic spline.

    Parameters
    ----------
    entries : Entries
    knots : ndarray
        At least three, rising; the first and the last are the smallest and the largest value.
    df : float
        Degrees of freedom: the trace of the smoother, where all rows weigh the same.
    """

    def __init__(self, entries: Entries, knots: np.ndarray, df: float):
        self.knots = knots
        self.steps = np.diff(knots)
        self.n_pieces = self.steps.size
        super().__init__(entries)
        self.smoothing = _smoothing(self.square, self._penalty, df)

    def places(self, x):
        x = np.where(np.isnan(x), self.mean, x)
        piece = np.searchsorted(self.knots[1:-1], x, side="left")
        return piece, (x - self.knots[piece]) / self.steps[piece]

    @cached_property
    def _second(self) -> np.ndarray:
        """D: second derivatives at the knots from the values there."""
        h, n = self.steps, self.knots.size
        Q = np.zeros((n - 2, n))
        R = np.zeros((n - 2, n - 2))
        for i in range(n - 2):
            Q[i, i : i + 3] = 1 / h[i], -1 / h[i] - 1 / h[i + 1], 1 / h[i + 1]
            R[i, i] = (h[i] + h[i + 1]) / 3
            if i + 1 < n - 2:
                R[i, i + 1] = R[i + 1, i] = h[i + 1] / 6
        D = np.zeros((n, n))
        D[1:-1] = np.linalg.solve(R, Q)
        return D

    @cached_property
    def basis(self) -> np.ndarray:
        n, h, D = self.knots.size, self.steps[:, None], self._second
        value = np.eye(n)
        found = np.empty((self.n_pieces, 4, n))
        found[:, 0] = value[:-1]
        found[:, 1] = value[1:] - value[:-1] - h**2 / 6 * (2 * D[:-1] + D[1:])
        found[:, 2] = h**2 / 2 * D[:-1]
        found[:, 3] = h**2 / 6 * (D[1:] - D[:-1])
        return found

    @cached_property
    def _penalty(self) -> np.ndarray:
        """The integral of f''^2; f'' is a line between knots."""
        D, h = self._second, self.steps
        left, right = D[:-1], D[1:]
        outer = np.einsum("ip,iq->ipq", left, left) + np.einsum("ip,iq->ipq", right, right)
        mixed = np.einsum("ip,iq->ipq", left, right)
        both = outer / 3 + (mixed + mixed.transpose(0, 2, 1)) / 6
        return np.einsum("i,ipq->pq", h, both)

    @cached_property
    def roughness(self) -> np.ndarray:
        return self.smoothing * self._penalty

    def curve(self, parameters):
        inside = np.einsum("iap,kp->iak", self.basis, parameters) / self.steps[:, None, None] ** np.arange(4)[:, None]
        first, last, h = inside[0], inside[-1], self.steps[-1]
        outside = np.zeros_like(inside[:2])
        outside[0, :2] = first[:2]
        outside[1, 0] = parameters[:, -1]
        outside[1, 1] = first_derivative(last, h)
        origin = np.concatenate([self.knots[:1], self.knots[:-1], self.knots[-1:]])
        leaves = np.concatenate([outside[:1], inside, outside[1:]])
        # A missing value is at the origin of its leaf: there it has to be the mean.
        missing = int(np.searchsorted(self.knots, self.mean, side="left"))
        leaves[missing] = moved(leaves[missing], self.mean - origin[missing])
        origin[missing] = self.mean
        return self.knots, origin, leaves, missing


def first_derivative(cubic: np.ndarray, x: float) -> np.ndarray:
    """Of cubic polynomials, (4, K)."""
    return cubic[1] + x * (2 * cubic[2] + x * 3 * cubic[3])


def moved(cubic: np.ndarray, d: float) -> np.ndarray:
    """Coefficients (4, K) of the same cubic polynomials with their origin at d."""
    c0, c1, c2, c3 = cubic
    return np.stack([c0 + d * (c1 + d * (c2 + d * c3)), c1 + d * (2 * c2 + d * 3 * c3), c2 + 3 * d * c3, c3])


def gram(sum_h: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """sum over rows of H b b' for the basis functions b, (columns, K, p, p).

    Parameters
    ----------
    sum_h : ndarray (columns, pieces, K, 2 degree + 1)
        Moments of H.
    basis : ndarray (columns, pieces, degree + 1, p)
    """
    power = np.arange(basis.shape[2])
    hankel = sum_h[..., power[:, None] + power]
    half = np.einsum("cskab,csbq->cskaq", hankel, basis)
    return np.einsum("csap,cskaq->ckpq", basis, half)


def _smoothing(square: np.ndarray, penalty: np.ndarray, df: float) -> float:
    """The factor of the penalty for which trace((S + factor P)^-1 S) is df; 0 where there are no more parameters."""
    if len(square) <= df:
        return 0.0
    root = np.linalg.cholesky(square + 1e-12 * np.trace(square) / len(square) * np.eye(len(square)))
    inner = np.linalg.solve(root, np.linalg.solve(root, penalty).T)
    rough = np.maximum(np.linalg.eigvalsh((inner + inner.T) / 2), 0.0)
    rough[:2] = 0.0  # lines
    low, high = -60.0, 60.0  # logarithms, in units of the middle roughness
    unit = float(np.median(rough[2:]))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if (1 / (1 + np.exp(middle) * rough / unit)).sum() > df:
            low = middle
        else:
            high = middle
    return float(np.exp((low + high) / 2)) / unit


def knots_of(entries: Entries, n_knots: int) -> np.ndarray:
    """Knots at the quantiles of the distinct values, at most so many; all of them where they are few."""
    distinct = np.unique(entries.known)
    if entries.n_zeros:
        distinct = np.unique(np.append(distinct, 0.0))
    at = np.unique(np.round(np.linspace(0, distinct.size - 1, n_knots)).astype(np.intp))
    return distinct[at]
