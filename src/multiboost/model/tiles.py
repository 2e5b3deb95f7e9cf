"""An ensemble arranged for many rows at once; derived from its flat arrays, never saved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..kernels.dtypes import lanes
from ..kernels.predict import CUTS, LEAVES, SEARCH, TERM, TEST, TILE, add_scores_in_tiles
from ..kernels.team import Team

_BLOCK = 8  # tiles that go through a number of rounds together
_CACHE = 1 << 17  # bytes of these rounds' votes, to stay in the second-level cache of a processor


@dataclass
class Tiles:
    """What `kernels.predict.add_scores_in_tiles` needs.

    Attributes
    ----------
    searches : ndarray of SEARCH
        Columns whose values become codes; a column with more than CUTS different thresholds
        has several searches, each with a part of them.
    cuts : ndarray (searches, CUTS)
        Their thresholds, sorted, infinity after the last one.
    tests : ndarray of TEST
    terms : ndarray of TERM
    values : ndarray (leaves, lanes)
        Votes, with zeros after the last label.
    """

    searches: np.ndarray
    cuts: np.ndarray
    tests: np.ndarray
    terms: np.ndarray
    values: np.ndarray

    def add_scores(self, X: np.ndarray, ensemble, scores: np.ndarray, begin: int, end: int, team: Team) -> None:
        """As ``Ensemble.add_scores``."""
        n_tiles = -(-len(X) // TILE)
        block_tiles = max(1, min(_BLOCK, n_tiles // team.n_threads))
        n_lanes = self.values.shape[1]
        at_once = max(1, _CACHE * len(ensemble.size) // max(1, self.values.nbytes))
        numbers = np.empty((team.n_threads, TILE), np.uintp)
        codes = np.empty((team.n_threads, block_tiles * (2 * len(self.searches) + 1) * TILE), np.uint8)
        leaves = np.empty((team.n_threads, LEAVES + self.terms["n_tests"].max(initial=0), TILE), np.uint8)
        leaves[:, :LEAVES] = np.arange(LEAVES)[:, None]
        totals = np.zeros((team.n_threads, (block_tiles + 1) * TILE * n_lanes))
        team.run(
            add_scores_in_tiles, X, self.searches, self.cuts, self.tests, self.terms, ensemble.sets,
            self.values.ravel(), n_lanes, at_once, ensemble.first_term, begin, end, block_tiles,
            numbers, codes, leaves.reshape(team.n_threads, -1), totals, scores,
        )  # fmt: skip

    @classmethod
    def of(cls, ensemble) -> Tiles | None:
        """The ensemble in tiles; None where a DAG has more than LEAVES leaves, or tests of another one.

        Parameters
        ----------
        ensemble : Ensemble
        """
        child, root, n_tests = ensemble.child, ensemble.root, len(ensemble.feature)
        is_dag = root >= 0
        starts = root[is_dag].astype(np.intp)
        if not np.array_equal(starts[:1], [0] * bool(n_tests)) or (np.diff(starts) <= 0).any():
            return None  # tests of no DAG or of several: no file of ours, but a sound one
        ends = np.append(starts[1:], [n_tests] * bool(n_tests))
        terms = np.zeros(len(root), TERM)
        terms["first_test"][is_dag], terms["n_tests"][is_dag] = starts, ends - starts
        terms["first_leaf"][~is_dag] = ~root[~is_dag]
        own_leaf = np.where(child < 0, ~child, len(ensemble.values))
        if starts.size:
            terms["first_leaf"][is_dag] = np.minimum.reduceat(own_leaf.min(axis=1), starts)
        of_test = np.repeat(np.arange(len(root)), terms["n_tests"])  # the term of each test
        first_test, first_leaf = terms["first_test"][of_test, None], terms["first_leaf"][of_test, None]
        if (child >= first_test + terms["n_tests"][of_test, None]).any() or (~child - first_leaf >= LEAVES).any():
            return None
        rows = np.where(child < 0, ~child - first_leaf, LEAVES + child - first_test)

        tests = np.zeros(n_tests, TEST)
        tests["left"], tests["right"] = rows[:, 0], rows[:, 1]
        for name in ("feature", "set_start", "missing_right"):
            tests[name] = getattr(ensemble, name)
        searches, cuts, search, number = _searches(ensemble)
        numeric = ensemble.set_start < 0
        tests["codes"] = 2 * len(searches)
        tests["codes"][numeric] = 2 * search + ensemble.missing_right[numeric]
        tests["cut"][numeric] = number
        return cls(searches, cuts, tests, terms, padded(ensemble.values))


def padded(votes: np.ndarray) -> np.ndarray:
    """Votes with zeros after the last label, as many as kernels add at once."""
    n_labels = votes.shape[-1]
    return np.pad(votes, [(0, 0)] * (votes.ndim - 1) + [(0, lanes(n_labels) - n_labels)])


def _searches(ensemble) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Searches, their cuts, and for every numeric test its search and the number of its cut."""
    numeric = np.flatnonzero(ensemble.set_start < 0)
    order = numeric[np.lexsort((ensemble.threshold[numeric], ensemble.feature[numeric]))]
    feature, threshold = ensemble.feature[order], ensemble.threshold[order]
    new_feature = np.diff(feature, prepend=-1) != 0
    new_cut = new_feature | (threshold != np.roll(threshold, 1))
    cut = np.cumsum(new_cut) - 1  # numbered through
    first_cut = cut[new_feature][np.cumsum(new_feature) - 1]  # of the column
    number = (cut - first_cut) % CUTS
    search = np.cumsum(new_cut & (number == 0)) - 1
    n_searches = int(search.max(initial=-1)) + 1
    cuts = np.full((n_searches, CUTS), np.inf)
    cuts[search, number] = threshold
    searches = np.zeros(n_searches, SEARCH)
    searches["feature"][search] = feature
    n_cuts = np.bincount(search[new_cut], minlength=n_searches)
    searches["step"] = 1 << np.floor(np.log2(n_cuts)).astype(np.int64)
    of_test = np.empty((2, len(ensemble.feature)), np.intp)
    of_test[:, order] = search, number
    return searches, cuts, *of_test[:, numeric]
