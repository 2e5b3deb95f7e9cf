"""A base classifier: a product of decision DAGs with a vote vector in every leaf.

A tree is one DAG.  A product of stumps is one DAG per stump.  A product as the cut of a
tree's node is a short chain of tests inside the tree's DAG, whose two exits are the
node's children: sharing them is what makes it a DAG and not a tree.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, reduce

import numpy as np

from ..kernels.dtypes import NODE, SIGN

_PART = 1 << 16  # rows that are multiplied at once


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
    set_start : ndarray (m,) intp
        Of a nominal test, where its set begins in ``sets``; -1 for numbers.
    sets : ndarray of uint8
        For every category a bit that says whether it goes right, eight to a byte.
    phi : list of Phi
        Classifiers whose outputs are tested like columns.
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
    kept : list of Dag or None
        What the model keeps, where that is not what boosting sees: base regressors.
    """

    terms: list[Dag]
    leaf: np.ndarray
    active: int
    sum_g: np.ndarray
    sum_h: np.ndarray
    score: float
    kept: list[Dag] | None = None

    @property
    def votes(self) -> np.ndarray:
        """Votes of the active term's leaves."""
        return self.terms[self.active].values

    @property
    def edge(self) -> float:
        """sum over samples and labels of G sign(h): the edge of the votes' signs (3.33)."""
        return float((np.where(self.votes > 0, 1.0, -1.0) * self.sum_g).sum())

    def edge_of_all(self, pull: np.ndarray) -> float:
        """The same over all samples, also those that the base learner did not see."""
        parts = (slice(k, k + _PART) for k in range(0, len(pull), _PART))
        return sum(float((self.signs(part) * pull[part]).sum()) for part in parts)

    def outputs(self) -> np.ndarray:
        """h on the training set, (n, K)."""
        return reduce(np.multiply, (dag.values[leaf] for dag, leaf in zip(self.terms, self.leaf, strict=True)))

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


def empty_leaf(n_terms: int, n_rows: int) -> np.ndarray:
    return np.zeros((n_terms, n_rows), NODE)
