"""A base classifier: a product of decision DAGs with a vote vector in every leaf.

A tree is one DAG.  A product of stumps is one DAG per stump.  A product as the cut of a
tree's node is a short chain of tests inside the tree's DAG, whose two exits are the
node's children: sharing them is what makes it a DAG and not a tree.

The votes of a leaf may also be polynomials of one column, its *curve*: a line is one leaf, a spline has a leaf between
each two of its knots.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import NamedTuple

import numpy as np

from ..kernels.dtypes import NODE, SIGN

_PART = 1 << 16  # rows that are multiplied at once


class Curve(NamedTuple):
    """Votes that are polynomials of x - origin, where x is a column; a missing x is the origin of its leaf."""

    column: int  # as the feature of a test
    degree: int
    origin: np.ndarray  # (rows of values,), that of a leaf is at its number


@dataclass
class Dag:
    """Tests and leaves.

    Attributes
    ----------
    feature : ndarray (m,) NODE
        Column of the table, or below 0 of the column ~feature that ``phi`` computes.
    threshold : ndarray (m,) float64
        x > threshold goes right; NaN in tests of nominal columns.
    missing_right : ndarray (m,) bool
    child : ndarray (m, 2) NODE
        Left and right; a number below 0 is leaf ``~child``.  The root is test 0, or
        leaf 0 where there is no test.
    gain : ndarray (m,) float64
        What the cut brought, for importances.
    values : ndarray (leaves, K) float64
        With a curve (leaves * (degree + 1), K): the coefficients of a leaf, from the constant on.  Its number is that
        of its first row.
    set_start : ndarray (m,) intp
        Of a nominal test, where its set begins in ``sets``; -1 for numbers.
    sets : ndarray of uint8
        For every category a bit that says whether it goes right, eight to a byte.
    phi : list of Phi
        Classifiers whose outputs are tested like columns.
    curve : Curve or None
        What the votes are polynomials of; None: they are constants.
    node : ndarray (m,) or None
        The node of the growing tree that a test cuts, in the order of their birth; None: all tests are of one node.
        Models do not keep it.
    """

    feature: np.ndarray
    threshold: np.ndarray
    missing_right: np.ndarray
    child: np.ndarray
    gain: np.ndarray
    values: np.ndarray
    set_start: np.ndarray
    sets: np.ndarray
    phi: list = field(default_factory=list)
    curve: Curve | None = None
    node: np.ndarray | None = None

    def with_values(self, values: np.ndarray) -> Dag:
        return replace(self, values=values)


@dataclass
class BaseClassifier:
    """What a base learner returns.

    Attributes
    ----------
    terms : list of Dag
    leaf : ndarray (terms, n) NODE
        The leaf of each training sample in each term.
    active : int
        The term whose votes are still free to be scaled; the others are +1 and -1.
    sum_g, sum_h : ndarray (leaves of the active term, K)
        Sums of G and H, under the virtual labels of the active term.
    score : float
        Of the criterion.
    place : ndarray (n,) or None
        x - origin of each training sample, where the only term has a curve; 0 where x is missing.
    voting : float
        Share of the weight whose labels vote; below 1 where some abstain.
    kept : list of Dag or None
        What the model keeps, where that is not what boosting sees: base regressors.
    """

    terms: list[Dag]
    leaf: np.ndarray
    active: int
    sum_g: np.ndarray
    sum_h: np.ndarray
    score: float
    place: np.ndarray | None = None
    voting: float = 1.0
    kept: list[Dag] | None = None

    @property
    def votes(self) -> np.ndarray:
        """Votes of the active term's leaves."""
        return self.terms[self.active].values

    def cuts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of every test: which node it cuts, the column, and what it has gained.

        Nodes of term i are counted from i on, as in `Problem.turned`.
        """
        node = [
            t + (np.zeros(dag.feature.size, int) if dag.node is None else dag.node) for t, dag in enumerate(self.terms)
        ]
        return (
            np.concatenate(node),
            np.concatenate([dag.feature for dag in self.terms]),
            np.concatenate([dag.gain for dag in self.terms]),
        )

    @property
    def looks(self) -> bool:
        """Whether it tests any column; else it is a constant."""
        return any(term.feature.size > 0 for term in self.terms)

    @property
    def is_curved(self) -> bool:
        """Whether votes are polynomials of a column."""
        return self.place is not None

    @property
    def size(self) -> float:
        """The largest vote."""
        if self.is_curved:
            return max(float(np.abs(self.outputs(part)).max()) for part in self._parts())
        return float(np.abs(self.votes).max())

    @property
    def edge(self) -> float:
        """sum over samples and labels of G sign(h): the edge of the votes' signs (3.33)."""
        return float((np.sign(self.votes) * self.sum_g).sum())

    def edge_of_all(self, pull: np.ndarray, room: Callable[[int], np.ndarray] = np.empty) -> float:
        """The same over all samples, also those that the base learner did not see; of curves, of h / max |h|.

        Parameters
        ----------
        pull : ndarray (n, K)
            G of all samples.
        room : callable
            Where to work: so many float64 of no value.
        """
        if self.is_curved or self.voting < 1.0:
            return sum(float((self.outputs(part) * pull[part]).sum()) for part in self._parts()) / (self.size or 1.0)
        edge, signs = 0.0, [np.where(dag.values > 0, 1.0, -1.0) for dag in self.terms]
        for part in self._parts():
            g = pull[part]
            product = room(g.size).reshape(g.shape)
            np.take(signs[0], self.leaf[0, part], axis=0, out=product, mode="clip")  # else NumPy makes a copy first
            for sign, leaf in zip(signs[1:], self.leaf[1:, part], strict=True):
                product *= sign[leaf]
            product *= g
            edge += float(product.sum())
        return edge

    def z(self, pull: np.ndarray, alpha: float) -> float:
        """Z of alpha h under exponential loss (3.15), where G are the weights of all samples times their labels."""

        def of(part: slice) -> float:
            return float((np.abs(pull[part]) * np.exp(-alpha * self.outputs(part) * np.sign(pull[part]))).sum())

        return sum(of(part) for part in self._parts())

    def _parts(self) -> list[slice]:
        """The training set in parts that are small enough to be multiplied at once."""
        return [slice(k, k + _PART) for k in range(0, self.leaf.shape[1], _PART)]

    def outputs(self, part: slice = slice(None)) -> np.ndarray:
        """h on the training set, or a part of it, (n, K)."""
        if self.place is not None:
            return on_curve(self.terms[0], self.leaf[0, part], self.place[part])
        return reduce(np.multiply, (dag.values[leaf[part]] for dag, leaf in zip(self.terms, self.leaf, strict=True)))

    def add_outputs(self, scores: np.ndarray) -> None:
        """scores += h on the training set, (n, K)."""
        for part in self._parts():
            scores[part] += self.outputs(part)

    def forget_samples(self) -> None:
        """Give up n numbers that nobody needs after the round; a slice would keep them."""
        self.leaf = empty_leaf(len(self.leaf), 0)
        self.place = None if self.place is None else np.zeros(0)

    def signs(self, part: slice = slice(None)) -> np.ndarray:
        """sign(h) on the training set, or a part of it, (n, K)."""
        signs = np.ones((), np.int8)
        for dag, leaf in zip(self.terms, self.leaf, strict=True):
            signs = signs * np.where(dag.values > 0, 1, -1).astype(np.int8)[leaf[part]]
        return signs

    @cached_property
    def factors(self) -> tuple[np.ndarray, np.ndarray] | None:
        """sign(h) of a product of cuts v phi(x): that of the samples, (n,) SIGN, and that of the labels, (K,).

        None where a term has more than two leaves, or leaves that do not vote against each other.
        """
        if any(len(dag.values) != 2 or (dag.values[0] != -dag.values[1]).any() for dag in self.terms):
            return None
        turned = reduce(np.bitwise_xor, (leaf.astype(SIGN) for leaf in self.leaf))
        if len(self.terms) % 2:
            turned ^= 1
        return -turned, reduce(np.multiply, (np.where(dag.values[1] > 0, 1, -1) for dag in self.terms))

    def abstaining(self, pull: np.ndarray, voters: Callable) -> tuple[BaseClassifier, float]:
        """The same classifier where only some labels vote, and its edge.

        Parameters
        ----------
        pull : ndarray (n, K)
            G of all samples.
        voters : callable
            Which labels vote, a mask, given the weights of what is right and wrong of each.
        """
        total, edge = np.zeros(pull.shape[1]), np.zeros(pull.shape[1])
        for part in self._parts():
            total += np.abs(pull[part]).sum(axis=0)
            edge += (self.outputs(part) * pull[part]).sum(axis=0)
        edge /= self.size
        vote = voters((total + edge) / 2, (total - edge) / 2)
        found = self.with_votes(self.votes * vote)
        return replace(found, voting=float(total[vote].sum() / total.sum())), float(edge[vote].sum())

    def scaled(self, scale: float) -> BaseClassifier:
        """The same classifier with its votes times ``scale``."""
        return self.with_votes(scale * self.votes)

    def with_votes(self, votes: np.ndarray) -> BaseClassifier:
        """The same classifier with other votes in the leaves of the active term."""
        terms = list(self.terms)
        terms[self.active] = terms[self.active].with_values(votes)
        return replace(self, terms=terms)


def constant_classifier(votes: np.ndarray, n_rows: int) -> BaseClassifier:
    """A base classifier that asks nothing: one leaf for all samples.

    Parameters
    ----------
    votes : ndarray (K,)
    n_rows : int
        Of the training set.
    """
    none = np.zeros(0)
    dag = Dag(
        feature=none.astype(NODE), threshold=none, missing_right=none.astype(bool), child=np.zeros((0, 2), NODE),
        gain=none, values=votes[None], set_start=none.astype(np.intp), sets=none.astype(np.uint8),
    )  # fmt: skip
    sums = np.zeros((1, votes.size))
    return BaseClassifier([dag], empty_leaf(1, n_rows), 0, sums, sums, 0.0)


def on_curve(dag: Dag, leaf: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Votes of samples in these leaves and at these places along the curve, (n, K), as ``kernels.predict`` has them."""
    assert dag.curve is not None
    found = dag.values[leaf + dag.curve.degree]
    for power in range(dag.curve.degree - 1, -1, -1):
        found = found * place[:, None] + dag.values[leaf + power]
    return found


def empty_leaf(n_terms: int, n_rows: int) -> np.ndarray:
    return np.zeros((n_terms, n_rows), NODE)
