"""One column at a time: a line or a smooth function of it, by least squares."""

from __future__ import annotations

from itertools import groupby
from typing import NamedTuple

import numpy as np

from .classifier import BaseClassifier, Curve
from .learner import BaseLearner
from .pieces import Entries, Places, ladder, moments, places_of
from .problem import Problem
from .spline import Line, Spline, gram, knots_of

FORMS = ("linear", "spline")
_KNOTS = 12


class _Group(NamedTuple):
    """Columns whose functions have equally many pieces and parameters."""

    degree: int
    columns: np.ndarray  # of the table
    of: list[Line]
    places: Places
    basis: np.ndarray  # (columns, pieces, degree + 1, p)
    roughness: np.ndarray  # (columns, p, p)
    square: np.ndarray  # (columns, p, p)


class _Fits(NamedTuple):
    """The best functions of some columns of a group."""

    gain: np.ndarray  # (columns,)
    parameters: np.ndarray  # (columns, K, p)
    total_g: np.ndarray  # (K,)
    total_h: np.ndarray


class Column(BaseLearner):
    """A function of one column: the line or the spline that is best by Newton's gain.

    For every column j and label l it minimises, over the parameters of f,

        sum over samples of H (G / H - f(x_j))^2 + smoothing (sum of H) (integral of f''^2) + ridge (mean of f^2),

    and takes the column with the largest sum over labels of what that gains.  Under squared loss that is L2Boosting
    (Buehlmann and Yu 2003), in small steps forward stagewise regression (Murphy 2012, 16.4.6); with splines it is a
    sparse additive model.

    Parameters
    ----------
    form : {"linear", "spline"}, default="linear"
        "linear" is a + b x.  "spline" is a natural cubic spline: a line beyond the training values.  Of a column with
        two values it is a line, too.
    df : float, default=4
        Degrees of freedom of a spline in one round, at least 2, which is a line: the trace of its smoother where all
        rows weigh the same.

    Notes
    -----
    Columns are centred and scaled inside, so that the ridge is fair.  A missing value counts as the mean of its column.
    Nominal columns are left out; use `Bins` for them.  The criterion is "newton".  It is no cut, so trees and products
    cannot be made of it.
    """

    name, size, words = "column", "form", FORMS
    needs_values = True
    criteria = ("newton",)
    never_in = ("tree", "product")

    def __init__(self, form="linear", df=4):
        self.form = form
        self.df = df

    def check(self) -> None:
        if isinstance(self.df, bool) or not (isinstance(self.df, (int, float, np.number)) and self.df >= 2):
            raise ValueError(f"df of Column must be a number of at least 2; got {self.df!r}")

    def fit(self, problem: Problem) -> BaseClassifier | None:
        """The best function of a column, None where no column has one."""
        groups = problem.scratch.keep(("column", self.form, self.df), lambda: self._groups(problem))
        best: tuple[float, int] = (-np.inf, -1)
        found = None
        for group in groups:
            allowed = np.arange(group.columns.size)
            if problem.columns is not None:
                allowed = np.flatnonzero(problem.columns[group.columns])
            if allowed.size == 0:
                continue
            fits = _fits(problem, group, allowed)
            at = int(fits.gain.argmax())
            score = float(fits.gain[at]), -int(group.columns[allowed[at]])
            if score > best:
                best, found = score, (group, int(allowed[at]), at, fits)
        if found is None:
            return None
        group, at, chosen, fits = found
        if problem.labels is not None:
            chosen, fits = 0, _fits(problem, group, np.array([at]), all_labels=True)
        parameters, total_g, total_h = fits.parameters[chosen], fits.total_g, fits.total_h
        gained = float(fits.gain[chosen])
        own = gained - float((total_g**2 / (total_h + problem.criterion.ridge)).sum())  # beyond what a constant gains
        j, degree = int(group.columns[at]), group.degree
        thresholds, origin, leaves, missing = group.of[at].curve(parameters)
        values = leaves.reshape(-1, problem.n_labels)
        origins = np.repeat(origin, degree + 1)
        dag = ladder(j, thresholds, missing, max(own, 0.0), values, degree)
        if len(leaves) == 1:  # all sides of the tests are one leaf: they say which column, and what it has brought
            dag.child[dag.child < 0] = -1
            thresholds = thresholds[:0]
        dag.curve = Curve(j, degree, origins)
        x = problem.column(j)
        absent = np.isnan(x)
        leaf = np.where(absent, missing, np.searchsorted(thresholds, np.where(absent, 0.0, x), side="left"))
        leaf *= degree + 1
        place = np.where(absent, 0.0, x - origins[leaf])
        return BaseClassifier(
            [dag], leaf[None].astype(dag.child.dtype), 0, total_g[None], total_h[None], gained, place=place
        )

    def _groups(self, problem: Problem) -> list[_Group]:
        """The functions of all numeric columns that are not constant, those alike together."""
        table, found = problem.layout.table, []
        for j, bins in enumerate(problem.layout.binner.columns):
            if bins.nominal or bins.n_bins < 2:
                continue
            entries = Entries(table.columns(j, j + 1)[0], problem.n_rows)
            if entries.is_constant:  # the cut points may be those of more rows
                continue
            knots = knots_of(entries, _KNOTS) if self.form == "spline" else np.zeros(0)
            of = Spline(entries, knots, self.df) if knots.size > 2 else Line(entries)
            found.append((j, entries, of))
        groups = []
        found.sort(key=lambda one: one[2].basis.shape)
        for shape, alike in groupby(found, key=lambda one: one[2].basis.shape):
            columns, all_entries, functions = zip(*alike, strict=True)
            groups.append(
                _Group(
                    degree=shape[1] - 1,
                    columns=np.array(columns, np.intp),
                    of=list(functions),
                    places=places_of(zip(all_entries, functions, strict=True)),
                    basis=np.stack([f.basis for f in functions]),
                    roughness=np.stack([f.roughness for f in functions]),
                    square=np.stack([f.square for f in functions]),
                )
            )
        return groups


def _fits(problem: Problem, group: _Group, chosen: np.ndarray, *, all_labels: bool = False) -> _Fits:
    """The best functions of the chosen columns, for the labels by which columns are chosen, or for all."""
    curvature = problem.record.h if problem.record.h.size else np.abs(problem.pull)
    total_g, total_h, sum_g, sum_h = moments(problem, group.places, chosen, curvature, group.degree, all_labels)
    pieces = (group.columns.size, group.basis.shape[1])
    sum_g = sum_g.reshape(*pieces, *sum_g.shape[1:])[chosen]
    sum_h = sum_h.reshape(*pieces, *sum_h.shape[1:])[chosen]
    basis = group.basis[chosen]
    target = np.einsum("csap,cska->ckp", basis, sum_g)
    matrix = gram(sum_h, basis) + total_h[:, None, None] * group.roughness[chosen, None]
    matrix += problem.criterion.ridge * group.square[chosen, None]
    parameters = np.linalg.solve(matrix, target[..., None])[..., 0]
    return _Fits((target * parameters).sum(axis=(1, 2)), parameters, total_g, total_h)
