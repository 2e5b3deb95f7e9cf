"""A fitted ensemble as flat arrays: it can be cut at any round, saved and compared."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, fields, replace
from functools import cached_property

import numpy as np

from ..base.classifier import BaseClassifier, Curve, Dag, empty_leaf
from ..data.table import Table
from ..kernels.dtypes import NODE, apart
from ..kernels.predict import add_curved_scores, add_scores
from ..kernels.team import Team
from ..workspace import IN_MEMORY, InMemory
from .tiles import Tiles

_ROWS_AT_ONCE = 1 << 16  # of tables that have to be made dense piece by piece
_WORTH_A_TEAM = 20_000  # votes below which one thread is faster
CURVES = ("along", "degree", "origin")  # arrays that most ensembles do not have
_WORTH_TILES = 1 << 16  # rows times rounds below which the arrangement in tiles costs more than it saves


@dataclass
class Ensemble:
    """f(x) = initial + sum over rounds of the product of the round's terms.

    Attributes
    ----------
    initial : ndarray (K,)
        Scores before the first round.
    feature, threshold, missing_right, child, gain, set_start : ndarray (tests, ...)
        All tests of all rounds, as in ``base.classifier.Dag``, with children numbered
        through the ensemble.
    sets : ndarray of uint8
        Sets of categories of the nominal tests.
    values : ndarray (leaves, K)
        Votes, scaled by the step; of the other terms of a product +1 and -1.
    root : ndarray (terms,)
        First test of each term, or ~ the number of its only leaf.
    first_term : ndarray (rounds + 1,)
    size : ndarray (rounds,)
        The largest vote of each round: the coefficient by which margins are normalised.
    phi : list of Phi
        Classifiers whose outputs are tested as if they were the columns after the table's.
    along, degree : ndarray (terms,) NODE
        The column of which the votes of each term are polynomials, -1 where they are constants, and their degree: see
        ``base.classifier.Curve``.  Empty where all votes are constants.
    origin : ndarray (leaves,)
        Where the polynomials of a leaf have their origin; as ``degree`` empty where there are none.
    """

    initial: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    missing_right: np.ndarray
    child: np.ndarray
    gain: np.ndarray
    values: np.ndarray
    root: np.ndarray
    first_term: np.ndarray
    size: np.ndarray
    set_start: np.ndarray
    sets: np.ndarray
    phi: list = field(default_factory=list)
    along: np.ndarray = field(default_factory=lambda: np.zeros(0, NODE))
    degree: np.ndarray = field(default_factory=lambda: np.zeros(0, NODE))
    origin: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @property
    def is_curved(self) -> bool:
        """Whether votes of some terms are polynomials."""
        return self.along.size > 0

    @property
    def n_rounds(self) -> int:
        return len(self.first_term) - 1

    @property
    def n_labels(self) -> int:
        return self.values.shape[1]

    @cached_property
    def columns(self) -> np.ndarray:
        """Numbers of the columns that tests and votes ask for, in order, made once."""
        return np.unique(np.concatenate([self.feature, self.along[self.along >= 0]]))

    @cached_property
    def tiles(self) -> Tiles | None:
        """The ensemble as it is fastest for many rows, made once; None where there is no such way."""
        return None if self.is_curved else Tiles.of(self)

    def __getstate__(self) -> dict:
        return {name: value for name, value in vars(self).items() if name not in ("columns", "tiles")}

    def add_scores(self, X: np.ndarray, scores: np.ndarray, begin: int, end: int, team: Team) -> None:
        """scores += rounds ``begin`` to ``end`` for dense float64 rows X."""
        worth = X.shape[0] * (end - begin)
        if worth >= _WORTH_TILES and self.tiles is not None:
            self.tiles.add_scores(X, self, scores, begin, end, team)
            return
        products = np.empty((team.n_threads, apart(self.n_labels, scores.dtype)))
        if self.is_curved:
            team.run(
                add_curved_scores, X, self.feature, self.threshold, self.missing_right, self.child, self.set_start,
                self.sets, self.values, self.root, self.first_term, self.along, self.degree, self.origin, begin, end,
                products, scores, alone=worth * self.n_labels < _WORTH_A_TEAM,
            )  # fmt: skip
            return
        team.run(
            add_scores, X, self.feature, self.threshold, self.missing_right, self.child, self.set_start, self.sets,
            self.values, self.root, self.first_term, begin, end, products, scores,
            alone=worth * self.n_labels < _WORTH_A_TEAM,
        )  # fmt: skip

    def rows(self, table: Table, first: int, last: int) -> np.ndarray:
        """Rows of a table as the tests see them: dense, with what ``phi`` says of them."""
        if not self.phi:
            return table.asked_rows(first, last, self.columns)
        rows = table.finite_rows(first, last)
        X = table.native(first, last)
        return np.concatenate([rows, np.stack([phi.values(X) for phi in self.phi], axis=1)], axis=1)

    def start(self, n_rows: int, given: np.ndarray | None = None, workspace: InMemory = IN_MEMORY) -> np.ndarray:
        """Scores before the first round, (n, K): those that are given, else the same for all rows."""
        scores = workspace.zeros((n_rows, self.initial.size), np.float64)
        scores[:] = self.initial
        if given is not None:
            scores += given
        return scores

    def scores(
        self,
        table: Table,
        team: Team,
        n_rounds: int | None = None,
        start: np.ndarray | None = None,
        workspace: InMemory = IN_MEMORY,
    ) -> np.ndarray:
        """F of every row of a table, (n, K); ``start`` are the scores with which it begins, if rows have their own."""
        end = self.n_rounds if n_rounds is None else n_rounds
        scores = self.start(table.n_rows, start, workspace)
        for first in range(0, table.n_rows, _ROWS_AT_ONCE):
            last = min(first + _ROWS_AT_ONCE, table.n_rows)
            self.add_scores(self.rows(table, first, last), scores[first:last], 0, end, team)
        return scores

    def importances(self, n_features: int) -> np.ndarray:
        """Share of each feature in the gain of all cuts."""
        total = np.bincount(self.feature, weights=self.gain, minlength=n_features)[:n_features]
        return total / total.sum() if total.sum() > 0 else total

    def uses(self, n_features: int) -> np.ndarray:
        """How many cuts use each feature."""
        return np.bincount(self.feature[self.gain > 0], minlength=n_features)[:n_features]

    def arrays(self) -> dict[str, np.ndarray]:
        """All arrays by name; without those of curves where there are none."""
        names = [f.name for f in fields(self) if f.name != "phi"]
        return {name: getattr(self, name) for name in names if self.is_curved or name not in CURVES}

    def digest(self) -> str:
        """A short name for the model: the same for the same bits, whatever file it comes from."""
        found = hashlib.blake2b(digest_size=8)
        for name, array in sorted(self.arrays().items()):
            found.update(f"{name}{array.shape}{array.dtype.str}".encode() + np.ascontiguousarray(array).tobytes())
        return found.hexdigest()

    def head(self, n_rounds: int) -> Ensemble:
        """The first rounds of the ensemble."""
        terms = self.first_term[n_rounds]
        tests = self.feature.size if n_rounds == self.n_rounds else _first_of(self.root[terms:], self.feature.size)
        child, root = self.child[:tests], self.root[:terms]
        leaves = int(max((~child).max(initial=-1), (~root).max(initial=-1))) + 1
        if self.is_curved and terms:
            leaves += int(self.degree[terms - 1])  # a leaf is named by its first row
        n_bytes = _first_of(self.set_start[tests:], self.sets.size)
        return Ensemble(
            self.initial, self.feature[:tests], self.threshold[:tests], self.missing_right[:tests], child,
            self.gain[:tests], self.values[:leaves], root, self.first_term[: n_rounds + 1], self.size[:n_rounds],
            self.set_start[:tests], self.sets[:n_bytes], self.phi, self.along[:terms], self.degree[:terms],
            self.origin[:leaves],
        )  # fmt: skip

    def dags(self) -> list[list[Dag]]:
        """The terms of each round, with tests and leaves numbered from 0 in each."""
        found: list[list[Dag]] = []
        tests = leaves = n_bytes = 0
        for t in range(self.n_rounds):
            found.append([])
            for term in range(self.first_term[t], self.first_term[t + 1]):
                last = _first_of(self.root[term + 1 :], self.feature.size) if self.root[term] >= 0 else tests
                child = self.child[tests:last]
                n_leaves = int((~child).max(initial=leaves)) + 1 - leaves
                curve = None
                if self.is_curved:
                    degree = int(self.degree[term])
                    n_leaves += degree  # a leaf is named by its first row
                    if self.along[term] >= 0:
                        curve = Curve(int(self.along[term]), degree, self.origin[leaves : leaves + n_leaves])
                end = _first_of(self.set_start[last:], self.sets.size)
                starts = self.set_start[tests:last]
                found[-1].append(
                    Dag(
                        self.feature[tests:last], self.threshold[tests:last], self.missing_right[tests:last],
                        np.where(child >= 0, child - tests, child + leaves), self.gain[tests:last],
                        self.values[leaves : leaves + n_leaves], np.where(starts >= 0, starts - n_bytes, -1),
                        self.sets[n_bytes:end], curve=curve,
                    )
                )  # fmt: skip
                tests, leaves, n_bytes = last, leaves + n_leaves, end
        return found

    def weighted(self, coefficients: np.ndarray) -> Ensemble:
        """Every round times its coefficient, (rounds,); rounds of 0 are left out."""
        n_columns = int(self.feature.max(initial=0)) + 1  # what phi computes is among them
        builder = EnsembleBuilder(self.initial, n_columns)
        for dags, c in zip(self.dags(), coefficients.tolist(), strict=True):
            if c != 0:
                active = int(np.argmax([np.abs(dag.values).max() for dag in dags]))
                nothing = np.zeros((0, self.n_labels))
                h = BaseClassifier(dags, empty_leaf(len(dags), 0), active, nothing, nothing, 0.0)
                builder.append(h.scaled(c))
        found = builder.build()
        return replace(found, size=np.abs(coefficients * self.size)[coefficients != 0], phi=self.phi)


def _first_of(roots: np.ndarray, otherwise: int) -> int:
    tests = roots[roots >= 0]
    return int(tests[0]) if tests.size else otherwise


class EnsembleBuilder:
    """Collects base classifiers; the flat arrays are made once, at the end.

    Parameters
    ----------
    initial : ndarray (K,) or Ensemble
        Where to start from.
    n_columns : int
        Of the table.
    """

    def __init__(self, initial, n_columns: int):
        self.n_columns = n_columns
        self.start = initial if isinstance(initial, Ensemble) else None
        self.initial = initial.initial if self.start else initial
        self.rounds: list[BaseClassifier] = []
        self.sizes: list[float] = []

    def append(self, classifier: BaseClassifier) -> None:
        self.rounds.append(classifier)
        self.sizes.append(classifier.size)

    def build(self) -> Ensemble:
        """The ensemble of all rounds so far."""
        start, n_labels = self.start, self.initial.size
        tests = 0 if start is None else start.feature.size
        leaves = 0 if start is None else len(start.values)
        n_bytes = 0 if start is None else start.sets.size
        phi = [] if start is None else list(start.phi)
        parts: dict[str, list] = {"threshold": [], "missing_right": [], "gain": [], "values": [], "sets": []}
        feature, child, root, first_term, set_start = [], [], [], [], []
        curves: list[tuple[int, int]] = []
        origin: list[np.ndarray] = []
        terms = 0 if start is None else len(start.root)
        for h in self.rounds:
            for dag in h.terms if h.kept is None else h.kept:
                root.append(tests if dag.feature.size else ~leaves)
                child.append(np.where(dag.child >= 0, dag.child + tests, dag.child - leaves))
                feature.append(np.where(dag.feature >= 0, dag.feature, self.n_columns + len(phi) + ~dag.feature))
                set_start.append(np.where(dag.set_start >= 0, dag.set_start + n_bytes, -1))
                if dag.curve is None:
                    curves.append((-1, 0))
                else:
                    column = dag.curve.column
                    curves.append((column if column >= 0 else self.n_columns + len(phi) + ~column, dag.curve.degree))
                origin.append(np.zeros(len(dag.values)) if dag.curve is None else dag.curve.origin)
                for name, arrays in parts.items():
                    arrays.append(getattr(dag, name))
                n_bytes += dag.sets.size
                phi += dag.phi
                tests += dag.feature.size
                leaves += len(dag.values)
            terms += len(h.terms if h.kept is None else h.kept)
            first_term.append(terms)

        def joined(arrays, dtype, before, empty_shape=(0,)):
            old = [getattr(start, before)] if start is not None else []
            every = old + arrays
            return np.concatenate(every).astype(dtype, copy=False) if every else np.zeros(empty_shape, dtype)

        curve_arrays = {}
        if (start is not None and start.is_curved) or any(along >= 0 for along, _ in curves):
            if start is not None and not start.is_curved:  # terms of constants
                curves = [(-1, 0)] * len(start.root) + curves
                origin = [np.zeros(len(start.values)), *origin]
            along_of, degree_of = np.array(curves, NODE).reshape(-1, 2).T
            curve_arrays = {
                "along": joined([along_of], NODE, "along"),
                "degree": joined([degree_of], NODE, "degree"),
                "origin": joined(origin, np.float64, "origin"),
            }
        return Ensemble(
            initial=self.initial,
            feature=joined(feature, NODE, "feature"),
            threshold=joined(parts["threshold"], np.float64, "threshold"),
            missing_right=joined(parts["missing_right"], np.bool_, "missing_right"),
            child=joined(child, NODE, "child", (0, 2)),
            gain=joined(parts["gain"], np.float64, "gain"),
            values=joined(parts["values"], np.float64, "values", (0, n_labels)),
            root=joined([np.array(root, NODE)], NODE, "root"),
            first_term=joined(
                [np.array(([] if start is not None else [0]) + first_term, np.intp)], np.intp, "first_term"
            ),
            size=joined([np.array(self.sizes)], np.float64, "size"),
            set_start=joined(set_start, np.intp, "set_start"),
            sets=joined(parts["sets"], np.uint8, "sets"),
            phi=phi,
            **curve_arrays,
        )
