"""PRODUCTBASE: products of base classifiers (Kegl 2011, 3.4.5)."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator

from .classifier import BaseClassifier, Dag
from .problem import Problem
from .stump import Stump

# Stumps are almost always done sooner; indicators of very many categories go on by ever
# smaller steps, a pass over the data each.
_CYCLES = 4
_IMPROVEMENT = 1e-12  # relative; below this, rounding would keep the cycle going


class Product(BaseEstimator):
    """Product of base classifiers, h(x) = alpha prod_j v_j phi_j(x).

    Each term in turn is learned anew against virtual labels, the true ones times the
    votes of the other terms, until a full cycle brings no improvement, or for four cycles.

    Parameters
    ----------
    n_terms : int, default=3
        Most terms of the product; terms that do not help are left out.
    base : Stump or Tree, default=None
        What learns a term; None means ``Stump()``.

    Notes
    -----
    With real votes one term, the last to improve, votes with real numbers and the
    others with their signs.
    """

    def __init__(self, n_terms=3, base=None):
        self.n_terms = n_terms
        self.base = base

    def fit(self, problem: Problem) -> BaseClassifier | None:
        """The product, None where the base learner finds nothing."""
        base = self.base or Stump()
        shape = (problem.n_rows, problem.n_labels)
        signs = [np.ones(shape, np.int8) for _ in range(self.n_terms)]
        product = np.ones(shape, np.int8)
        found: list[BaseClassifier | None] = [None] * self.n_terms
        best, active = -np.inf, 0
        stale = term = steps = 0
        while stale < self.n_terms and steps < _CYCLES * self.n_terms:
            steps += 1
            others = product * signs[term]  # dividing by a sign is multiplying by it
            first = all(h is None for h in found)
            h = base.fit(problem if first else problem.with_votes(others))
            if h is not None and h.score > best + _IMPROVEMENT * abs(best if np.isfinite(best) else 0.0):
                best, active, stale = h.score, term, 0
                found[term] = h
                signs[term] = _signs(h)
                np.multiply(others, signs[term], out=product)
            else:
                stale += 1
            if first and h is None:
                return None
            term = (term + 1) % self.n_terms
        return _assemble(found, active)


def _signs(h: BaseClassifier) -> np.ndarray:
    """sign(h) on the training set, (n, K)."""
    signs = np.ones((), np.int8)
    for dag, leaf in zip(h.terms, h.leaf, strict=True):
        signs = signs * np.where(dag.values > 0, 1, -1).astype(np.int8)[leaf]
    return signs


def _assemble(found: list[BaseClassifier | None], active: int) -> BaseClassifier:
    """One classifier of all terms; only the active one keeps the size of its votes."""
    last = found[active]
    terms: list[Dag] = []
    leaf = []
    where = 0
    for number, h in enumerate(found):
        if h is None:
            continue
        if number == active:
            where = len(terms) + h.active
            terms += h.terms
        else:
            terms += [dag.with_values(np.where(dag.values > 0, 1.0, -1.0)) for dag in h.terms]
        leaf.append(h.leaf)
    assert last is not None  # the caller has found at least one term
    return BaseClassifier(terms, np.concatenate(leaf), where, last.sum_g, last.sum_h, last.score)
