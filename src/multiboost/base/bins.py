"""All bins of a column at once: BHBoost and its like."""

from __future__ import annotations

import numpy as np

from ..criteria import PULL_AND_CURVATURE
from ..data.binner import ColumnBins, NominalBins
from ..kernels.binning import quantile_ends
from .classifier import BaseClassifier
from .learner import BaseLearner
from .pieces import Entries, Pieces, ladder, moments, places_of
from .problem import Problem


class _Steps(Pieces):
    """The bins of one column: groups of those of the table; missing values are the last piece where there are any.

    Attributes
    ----------
    group : ndarray (n_bins + 1,)
        The piece of each bin of the table, and of missing values.
    thresholds : ndarray
        Leaf i of a `ladder` holds values from just above thresholds[i - 1] up to thresholds[i].
    leaf_piece : ndarray
        The piece of each leaf.
    missing : int
        The leaf of missing values.
    """

    def __init__(self, of: ColumnBins | NominalBins, n_bins: int, entries: Entries):
        self.of = of
        bins = of.digitise(entries.value)
        count = np.bincount(bins, minlength=of.n_bins + 1).astype(np.float64)
        if entries.n_zeros:
            count[of.digitise(np.zeros(1))[0]] += entries.n_zeros
        if isinstance(of, NominalBins):
            n_values = of.n_bins
            self.group = np.arange(of.n_bins + 1)
            piece = np.full(of.n_categories, of.n_bins if of.missing else -1)
            piece[of.category] = np.arange(of.n_bins)
            piece[piece < 0] = int(count.argmax())
            ends = np.flatnonzero(np.diff(piece))  # neighbours of the same piece share a leaf
            self.thresholds = ends + 0.5
            self.leaf_piece = piece[np.append(ends, piece.size - 1)]
        else:
            last = quantile_ends(count[:-1], n_bins)
            n_values = last.size
            self.group = np.append(np.searchsorted(last, np.arange(of.n_bins)), n_values)
            self.thresholds = of.cuts[last[:-1]]
            self.leaf_piece = np.arange(n_values)
        self.n_pieces = n_values + of.missing
        if of.missing:
            self.missing = self.thresholds.size + 1
            self.leaf_piece = np.append(self.leaf_piece, n_values)
        else:  # training has seen none: as the largest bin
            largest = np.bincount(self.group, count, n_values).argmax()
            self.missing = int(np.flatnonzero(self.leaf_piece == largest)[0])

    def places(self, x):
        return self.group[self.of.digitise(x)], np.zeros(x.size)


class Bins(BaseLearner):
    """Votes for every bin of one column, the best column by the criterion.

    Under Z that is BHBoost: with W+ and W- the weights of the positive and negative labels in a bin, votes are
    1/2 ln(W+ / W-), and Z = 2 sum over bins and labels of sqrt(W+ W-), the Bhattacharyya coefficient of the two
    histograms.  Any other criterion goes as well.

    Parameters
    ----------
    n_bins : int, default=32
        Bins of a numeric column, with about as many rows each; at most ``max_bins`` of the estimator.

    Notes
    -----
    A nominal column has a bin for each of its categories, missing values have one of their own.  Products can be made
    of it; a tree cannot, as its cuts have two sides.
    """

    name, size, least = "bins", "n_bins", 2
    needs_values = True
    never_in = ("tree",)

    def __init__(self, n_bins=32):
        self.n_bins = n_bins

    def fit(self, problem: Problem) -> BaseClassifier | None:
        """The best column, None where all are constant."""
        columns, steps, places = problem.scratch.keep(("bins", self.n_bins), lambda: self._steps(problem))
        allowed = np.arange(columns.size)
        if problem.columns is not None:
            allowed = np.flatnonzero(problem.columns[columns])
        if allowed.size == 0:
            return None
        criterion = problem.criterion
        curved = criterion.layout == PULL_AND_CURVATURE and problem.record.h.size
        curvature = problem.record.h if curved else np.abs(problem.pull)
        total_g, total_h, sum_g, sum_h = moments(problem, places, allowed, curvature, 0)
        sum_g, sum_h = sum_g[..., 0], sum_h[..., 0]

        def score(at: int) -> float:
            piece = slice(places.first_piece[at], places.first_piece[at + 1])
            return criterion.score(sum_g[piece], sum_h[piece], criterion.votes(sum_g[piece], sum_h[piece]))

        scores = np.array([score(at) for at in allowed])
        best = int(scores.argmax())
        at = int(allowed[best])
        j, of = int(columns[at]), steps[at]
        if problem.labels is not None:
            total_g, total_h, sum_g, sum_h = moments(problem, places, np.array([at]), curvature, 0, all_labels=True)
            sum_g, sum_h = sum_g[..., 0], sum_h[..., 0]
        piece = places.first_piece[at] + of.leaf_piece
        sum_g, sum_h = sum_g[piece], sum_h[piece]
        whole_g, whole_h = total_g[None], total_h[None]
        gained = float(scores[best]) if problem.labels is None else score(at)
        gain = gained - criterion.score(whole_g, whole_h, criterion.votes(whole_g, whole_h))
        dag = ladder(j, of.thresholds, of.missing, max(gain, 0.0), criterion.votes(sum_g, sum_h))
        x = problem.column(j)
        absent = np.isnan(x)
        leaf = np.where(absent, of.missing, np.searchsorted(of.thresholds, np.where(absent, 0.0, x), side="left"))
        # Categories that share a piece have leaves of their own: each sum is counted once.
        first = np.unique(of.leaf_piece, return_index=True)[1]
        once = np.isin(np.arange(of.leaf_piece.size), first)[:, None]
        return BaseClassifier(
            [dag], leaf[None].astype(dag.child.dtype), 0, sum_g * once, sum_h * once, float(scores[best])
        )

    def _steps(self, problem: Problem):
        """Columns of the table that have more than one bin, their bins, and where the rows are in them."""
        table, binner = problem.layout.table, problem.layout.binner
        columns, steps, all_entries = [], [], []
        for j, of in enumerate(binner.columns):
            if of.n_bins + of.missing < 2:
                continue
            entries = Entries(table.columns(j, j + 1)[0], problem.n_rows)
            columns.append(j)
            steps.append(_Steps(of, self.n_bins, entries))
            all_entries.append(entries)
        places = places_of(zip(all_entries, steps, strict=True), with_place=False)
        return np.array(columns, np.intp), steps, places
