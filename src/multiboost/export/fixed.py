"""A model in integers: values on a grid, votes in units of a power of two.

The grid of a column says which integer, its code, stands for a value x:

    code = floor((x - zero) / step),    not below ``low`` and not above ``high``,

and thresholds get codes in the same way: a value that is above a threshold by less than a step may count as not above
it, all others come to the leaf that they came to.  "q8.8" is the grid of 8 + 8 bits with the step 2^-8, the sign
among them.  The least number of the code's type is a missing value.

Votes are rounded to multiples of 1 / ``one``, the finest power of two with which no sum can leave 32 bits.  Sums of
integers do not depend on their order: the scores here are those of the compiled code, bit for bit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from ..model.model import Model
from .exportable import (
    ExportError,
    column_names,
    exportable,
    leaves_of_terms,
    n_categories,
    signs_of_terms,
    total_votes,
)

_FINEST = 24  # fractional bits of a vote, at most


@dataclass(frozen=True)
class Grid:
    """The grid of a column: code = floor((x - zero) / step), within bounds.

    Parameters
    ----------
    step : float
    zero : float, default=0.0
    low, high : int
        The least and the largest code.
    """

    step: float
    zero: float = 0.0
    low: int = -(2**15) + 1
    high: int = 2**15 - 1

    def __post_init__(self):
        if not (np.isfinite(self.step) and self.step > 0 and np.isfinite(self.zero)):
            raise ExportError(f"a grid needs a finite step above 0 and a finite zero; got {self}")
        if not -(2**31) < self.low < self.high < 2**31:
            raise ExportError(f"a grid needs low < high within 32 bits, without {-(2**31)}; got {self}")

    @classmethod
    def of(cls, given) -> Grid:
        """A grid from a text such as "q8.8", or a grid."""
        if isinstance(given, Grid):
            return given
        found = re.fullmatch(r"q(\d{1,2})\.(\d{1,2})", str(given))
        if found is None or not 2 <= (bits := int(found[1]) + int(found[2])) <= 32:
            raise ExportError(f'fixed {given!r}: give a Grid or "qI.F", I + F = 2 to 32 bits, such as "q8.8"')
        return cls(2.0 ** -int(found[2]), 0.0, -(2 ** (bits - 1)) + 1, 2 ** (bits - 1) - 1)

    def codes(self, values: np.ndarray) -> np.ndarray:
        """Codes of numbers that are not missing, int64."""
        with np.errstate(over="ignore"):
            found = (np.asarray(values, np.float64) - self.zero) / self.step
        return np.floor(np.clip(found, self.low, self.high)).astype(np.int64)

    def cut(self, threshold: np.ndarray) -> np.ndarray:
        """Codes above this go right, int64; low - 1 where all values do."""
        with np.errstate(over="ignore"):
            found = (np.asarray(threshold, np.float64) - self.zero) / self.step
        return np.floor(np.clip(found, self.low - 1, self.high)).astype(np.int64)


@dataclass
class FixedPoint:
    """A model in integers, and what it computes.

    Attributes
    ----------
    model : Model
    grids : list of (Grid or None)
        Of each column; None where its values are numbers of categories.
    bits : int
        Of a code: 16 or 32.
    one : int
        The score 1.0.
    cut : ndarray (tests,) int64
    votes : ndarray (leaves, K) int64
    initial : ndarray (K,) int64
    """

    model: Model
    grids: list[Grid | None]
    bits: int
    one: int
    cut: np.ndarray
    votes: np.ndarray
    initial: np.ndarray
    n_categories: np.ndarray = field(repr=False)

    @classmethod
    def of(cls, model, fixed) -> FixedPoint:
        """A model in integers.

        Parameters
        ----------
        model : fitted estimator or Model
        fixed : str, Grid or dict
            The grid of all columns, or of each by its name.
        """
        model = exportable(model)
        ensemble, counts = model.ensemble, n_categories(model)
        grids = _grids(model, fixed, counts)
        widest = max([1, *(max(-g.low, g.high) for g in grids if g is not None), *counts.tolist()])
        cut = np.zeros(len(ensemble.feature), np.int64)
        for j, grid in enumerate(grids):
            if grid is not None:
                tests = ensemble.feature == j
                cut[tests] = grid.cut(ensemble.threshold[tests])
        signs = signs_of_terms(model)
        if (np.add.reduceat(~signs, ensemble.first_term[:-1]) > 1).any():
            raise ExportError("fixed point knows products of one term with votes and others of +1 and -1, no other")
        one = _one(model)
        scaled = _scaled_leaves(model, signs)
        votes = np.rint(ensemble.values * np.where(scaled, one, 1)[:, None]).astype(np.int64)
        initial = np.rint(ensemble.initial * one).astype(np.int64)
        return cls(model, grids, 16 if widest < 2**15 else 32, one, cut, votes, initial, counts)

    @property
    def missing(self) -> int:
        """The code of a missing value."""
        return -(2 ** (self.bits - 1))

    def codes(self, X) -> np.ndarray:
        """Rows as integers, (n, columns).

        Parameters
        ----------
        X : array (n, columns) of numbers
            NaN is missing; a nominal column has numbers of categories, and whatever else is missing.
        """
        X = np.asarray(X, np.float64)
        found = np.full(X.shape, self.missing, np.int16 if self.bits == 16 else np.int32)
        for j, grid in enumerate(self.grids):
            if grid is None:
                known = (X[:, j] >= 0) & (X[:, j] < self.n_categories[j])
                found[known, j] = X[known, j].astype(np.int64)
            else:
                known = ~np.isnan(X[:, j])
                found[known, j] = grid.codes(X[known, j])
        return found

    def scores(self, codes) -> np.ndarray:
        """Scores of rows of codes, (n, K) int32: F times ``one``.

        Parameters
        ----------
        codes : array (n, columns) of integers
        """
        codes = np.asarray(codes, np.int64)
        ensemble = self.model.ensemble
        scores = np.tile(self.initial, (len(codes), 1))
        for a, b in zip(ensemble.first_term[:-1], ensemble.first_term[1:], strict=True):
            h = self.votes[self._leaves(ensemble.root[a], codes)]
            for term in range(a + 1, b):
                h = h * self.votes[self._leaves(ensemble.root[term], codes)]
            scores += h
        return scores.astype(np.int32)

    def _leaves(self, root: int, codes: np.ndarray) -> np.ndarray:
        """The leaf of every row in one term."""
        ensemble = self.model.ensemble
        node = np.full(len(codes), root, np.int64)
        while (rows := np.flatnonzero(node >= 0)).size:
            k = node[rows]
            column = ensemble.feature[k]
            code, count = codes[rows, column], self.n_categories[column]
            nominal = count >= 0
            missing = np.where(nominal, (code < 0) | (code >= count), code == self.missing)
            right = code > self.cut[k]
            inside = np.flatnonzero(nominal & ~missing)
            category = code[inside]
            byte = ensemble.sets[ensemble.set_start[k[inside]] + (category >> 3)].astype(np.int64)
            right[inside] = (byte >> (category & 7)) & 1
            right = np.where(missing, ensemble.missing_right[k], right)
            node[rows] = ensemble.child[k, right.astype(np.intp)]
        return -1 - node


def _grids(model: Model, fixed, counts: np.ndarray) -> list[Grid | None]:
    names = column_names(model)
    if not isinstance(fixed, dict):
        grid = Grid.of(fixed)
        return [None if n >= 0 else grid for n in counts]
    strange = sorted(set(map(str, fixed)) - set(names))
    if strange:
        raise ExportError(f"fixed names the column {strange[0]!r}, which the model does not have")
    given = {str(name): value for name, value in fixed.items()}
    left_out = [name for name, n in zip(names, counts, strict=True) if n < 0 and name not in given]
    if left_out:
        raise ExportError(f"fixed has no grid for the column {left_out[0]!r}; every column of numbers needs one")
    return [None if n >= 0 else Grid.of(given[name]) for name, n in zip(names, counts, strict=True)]


def _one(model: Model) -> int:
    """The finest power of two with which no sum of votes leaves 32 bits, also where every vote is rounded up."""
    total, n_votes = total_votes(model), model.n_rounds + 1
    for bits in range(_FINEST, -1, -1):
        if total * 2.0**bits + n_votes < 2**31:
            return 2**bits
    raise ExportError(f"the votes add up to {total:g}, which is too much for 32 bits")


def _scaled_leaves(model: Model, signs: np.ndarray) -> np.ndarray:
    """Leaves whose votes are in units of 1 / one: of one term in every round, its votes or the first of all signs.

    The others turn the sign of a product and leave its unit as it is.
    """
    found = np.zeros(len(model.ensemble.values), bool)
    leaves = leaves_of_terms(model)
    for a, b in zip(model.ensemble.first_term[:-1], model.ensemble.first_term[1:], strict=True):
        found[leaves[a + int(np.argmin(signs[a:b]))]] = True
    return found
