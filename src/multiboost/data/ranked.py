"""Targets of rankings: what scores mean, and what is wanted of the documents of each query.

Two kinds of model rank.  One has a score for each grade l, and ranks by the expected gain E[z|x] = sum_l z_l p(l|x),
which is best for DCG where probabilities are right (Cossock and Zhang 2008; Kegl 2011, (3.49)).  The other has one
score, which has learned to put pairs of documents into their order.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from ..kernels.queries import ndcg_of_queries
from ..ranking.conventions import gains_of
from .kind import KINDS, TargetKind
from .kinds import MultiClass
from .table import SparseTable, Table
from .target import Target

CUT = 10  # positions of the NDCG by which training and validation sets are measured
_STEEP = 2.0  # of theory: a score is half the log odds of its grade
_HASHED = 1 << 14  # rows that are hashed together


class Ranks:
    """Common to the kinds of rankings.

    Attributes
    ----------
    gain : {"exponential", "linear"}
        What a grade is worth.
    """

    measure = f"1 - NDCG@{CUT}"
    classes: list[np.ndarray]

    def __init__(self, classes: list[np.ndarray], gain: str = "exponential"):
        self.classes, self.gain = classes, gain
        self.gains = gains_of(classes[0], gain)

    @property
    def grades(self) -> np.ndarray:
        """The grades of the training set, rising."""
        return self.classes[0]

    def numbers(self):
        return {"linear": np.array([self.gain == "linear"])}

    @classmethod
    def of(cls, classes, numbers):
        return cls(classes, "linear" if bool(numbers["linear"][0]) else "exponential")

    def answer_columns(self, targets: list[str]) -> list[str]:
        return ["score"]


@KINDS.register
class Scored(Ranks, TargetKind):
    """A ranking by one score."""

    name, is_single = "ranking", True

    @property
    def n_labels(self) -> int:
        return 1

    def label_names(self):
        return ["score"]

    def shaped(self, scores):
        return scores[:, 0]

    def answer(self, scores):
        return scores[:, 0].copy()

    def answer_of_one(self, scores):
        return scores[0]


@KINDS.register
class Graded(Ranks, MultiClass):
    """A ranking by the expected gain, with a score for every grade."""

    name = "ranking by grades"

    def label_names(self):
        return [f"grade {grade:g}" for grade in self.grades]

    def encode(self, y):
        """Numbers of grades, (n, 1); a grade that training has not seen is the nearest one."""
        y = np.asarray(y, dtype=np.float64)
        middle = (self.grades[1:] + self.grades[:-1]) / 2
        return np.searchsorted(middle, y)[:, None]

    def answer(self, scores):
        shifted = _STEEP * (scores - scores.max(axis=1, keepdims=True))
        p = np.exp(shifted)
        return (p * self.gains).sum(axis=1) / p.sum(axis=1)

    def answer_of_one(self, scores):
        return self.answer(scores[None])[0]


class RankedTarget(Target):
    """Grades of the documents of queries.

    Parameters
    ----------
    kind : Graded or Scored
    grades : ndarray (n,)
        Rows of a query are neighbours.
    query : ndarray (n,)
        Rising.
    sample_weight : ndarray (n,) or None
    positions : int
        Of which Scored documents are normalised by the best DCG.
    """

    kind: Any

    def __init__(self, kind: Graded | Scored, grades: np.ndarray, query: np.ndarray, sample_weight=None, positions=30):
        gain = gains_of(grades, kind.gain)
        if isinstance(kind, Graded):
            # Initial weights 1 + z (Kegl 2011, 3.5.3), half on the right grade and half on the others.
            weight = 1.0 + gain if sample_weight is None else (1.0 + gain) * sample_weight
            super().__init__(kind, grades, "half", weight)
        else:
            self.kind = kind
            weight = np.ones(gain.size) if sample_weight is None else sample_weight
            self.signed = (weight / weight.sum())[:, None]
            self.wanted = np.zeros((gain.size, 1))
            self.task_class = np.zeros((gain.size, 0), np.int32)
            self.task_weight = np.zeros((gain.size, 0))
            self.positive = None
        self.row_weight = sample_weight
        self.gain, self.query, self.positions = gain, query, positions
        self._group()

    def _group(self) -> None:
        """What follows from which rows are neighbours."""
        n = self.query.size
        new = np.flatnonzero(self.query[1:] != self.query[:-1]) + 1
        self.group_start = np.concatenate([[0], new, [n]]).astype(np.intp)
        sizes = np.diff(self.group_start)
        self._share = self.gain / np.repeat(best_dcg(self.gain, self.group_start, CUT), sizes)
        if isinstance(self.kind, Scored):
            self.wanted = (self.gain / np.repeat(best_dcg(self.gain, self.group_start, self.positions), sizes))[:, None]
        self._order, self._found = np.arange(n), np.zeros(sizes.size)

    def take(self, rows):
        part: Any = super().take(rows)
        part.gain, part.query, part.positions = self.gain[rows], self.query[rows], self.positions
        part._group()
        return part

    def ndcg(self, scores: np.ndarray) -> np.ndarray:
        """NDCG of every query, from scores F, (n, K)."""
        ndcg_of_queries(self.kind.answer(scores), self._share, self.group_start, CUT, self._order, self._found)
        return self._found

    def errors(self, scores):
        """1 - NDCG of every query, divided by their number, spread over its rows."""
        sizes = np.diff(self.group_start)
        return np.repeat((1.0 - self.ndcg(scores)) / (sizes * sizes.size), sizes)

    def error_of(self, error, risk, scores):
        return 1.0 - float(self.ndcg(scores).mean())


def best_dcg(gain: np.ndarray, start: np.ndarray, cut: int) -> np.ndarray:
    """The best DCG of every query, 1 where all gains are 0."""
    sizes = np.diff(start)
    number = np.repeat(np.arange(sizes.size), sizes)
    position = np.arange(gain.size) - np.repeat(start[:-1], sizes)
    discount = np.where(position < cut, 1.0 / np.log2(2.0 + position), 0.0)
    best = np.add.reduceat(gain[np.lexsort((-gain, number))] * discount, start[:-1])
    return np.where(best > 0, best, 1.0)


def by_query(table: Table, number: np.ndarray, *columns: np.ndarray) -> np.ndarray:
    """Rows sorted by their query, and in each by what they hold: the user's order leaves no trace.

    Parameters
    ----------
    table : Table
    number : ndarray (n,)
        Of the query.
    *columns : ndarray (n,)
        What else rows may differ by: grades, weights.
    """
    return np.lexsort((*columns, _row_keys(table), number))


def _row_keys(table: Table) -> np.ndarray:
    """A number for every row: the same for equal rows, and for others as good as never."""
    factor = np.random.default_rng(0).integers(0, 2**63, table.n_columns, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    if isinstance(table, SparseTable):
        matrix = table.matrix.tocsr()
        matrix.sum_duplicates()
        mixed = _mixed(np.asarray(matrix.data, np.float64)) * factor[matrix.indices]
        total = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed)])
        return total[matrix.indptr[1:]] - total[matrix.indptr[:-1]]
    categories = table.categories or []
    names = {j: _name_keys(known.names) for j, known in enumerate(categories) if known is not None}
    keys = []
    for first in range(0, table.n_rows, _HASHED):
        values = table.rows(first, min(first + _HASHED, table.n_rows))
        bits = _mixed(values)
        for j, of_name in names.items():  # the numbers of categories depend on the order of rows, their names do not
            bits[:, j] = of_name[np.where(np.isnan(values[:, j]), -1, values[:, j]).astype(np.intp)]
        keys.append((bits * factor).sum(axis=1, dtype=np.uint64))
    return np.concatenate(keys)


def _name_keys(names: list[str]) -> np.ndarray:
    """A number for each name, and at the end one for what is missing."""
    digests = [hashlib.blake2b(str(name).encode(), digest_size=8).digest() for name in names]
    return np.append(np.frombuffer(b"".join(digests), np.uint64), np.uint64(0))


def _mixed(values: np.ndarray) -> np.ndarray:
    """Bits of numbers, well mixed; 0 stays 0 (the finaliser of MurmurHash3, Appleby)."""
    bits = np.where(np.isnan(values), 1.0, values + 0.0).view(np.uint64) ^ np.isnan(values).astype(np.uint64)
    bits = (bits ^ (bits >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    bits = (bits ^ (bits >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return bits ^ (bits >> np.uint64(33))
