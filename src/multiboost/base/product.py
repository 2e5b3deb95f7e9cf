"""PRODUCTBASE: products of base classifiers (Kegl 2011, 3.4.5)."""

from __future__ import annotations

import numpy as np

from .classifier import BaseClassifier, Dag
from .learner import BaseLearner
from .problem import Problem
from .stump import Stump

# Stumps are almost always done sooner.  Indicators of very many categories would go on by ever smaller steps, and
# each step is a pass over the data.
_CYCLES = 4
_IMPROVEMENT = 1e-12  # relative; below this, rounding would keep the cycle going


class Product(BaseLearner):
    """Product of base classifiers, h(x) = alpha prod_j v_j phi_j(x).

    Each term in turn is learned anew against virtual labels, the true ones times the
    votes of the other terms, until one brings no improvement (Figure 3.11), or for four cycles.

    Parameters
    ----------
    n_terms : int, default=3
        Most terms of the product; it has fewer where the next one does not help.
    base : Stump or Tree, default=None
        What learns a term; None means ``Stump()``.

    Notes
    -----
    With real votes one term, the last to improve, votes with real numbers and the
    others with their signs.
    """

    name, size = "product", "n_terms"

    def __init__(self, n_terms=3, base=None):
        self.n_terms = n_terms
        self.base = base

    def fit(self, problem: Problem) -> BaseClassifier | None:
        """The product, None where the base learner finds nothing."""
        base = self.base or Stump()
        found: list[BaseClassifier | None] = [None] * self.n_terms
        best, active = 0.0, 0
        for step in range(_CYCLES * self.n_terms):
            term = step % self.n_terms
            others = [h for number, h in enumerate(found) if h is not None and number != term]
            h = base.fit(problem.without(others).turned(term))
            if h is None or (step > 0 and h.score <= best + _IMPROVEMENT * abs(best)):
                break
            best, active = h.score, term
            found[term] = h
        return None if found[0] is None else _assemble(found, active)


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
