"""Ensembles made of the rounds of others: some of them, in another order, or one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..kernels.dtypes import NODE
from .ensemble import CURVES, Ensemble


def is_in_pieces(ensemble: Ensemble) -> bool:
    """Whether tests and leaves of every term are in one piece; a file that is sound may have them in others."""
    tests, leaves = _starts(ensemble)
    return bool((np.diff(tests) >= 0).all() and (np.diff(leaves) > 0).all())


def rounds_of(ensemble: Ensemble, rounds: Sequence[int] | np.ndarray) -> Ensemble:
    """Some rounds of an ensemble, in the order given, none of them twice.

    Parameters
    ----------
    ensemble : Ensemble
        Whose terms have their tests and leaves in one piece each, as all of ours have.
    rounds : sequence of int
    """
    first = ensemble.first_term
    terms = _ranges(first[rounds], first[np.asarray(rounds) + 1])
    if not is_in_pieces(ensemble):
        raise ValueError("the base classifiers of this model are not stored one after the other")
    test_start, leaf_start = _starts(ensemble)
    tests = _ranges(test_start[terms], test_start[terms + 1])
    leaves = _ranges(leaf_start[terms], leaf_start[terms + 1])
    new_test, new_leaf = _inverse(tests, len(ensemble.feature)), _inverse(leaves, len(ensemble.values))

    def renumbered(nodes):
        tests_of, leaves_of = new_test[np.maximum(nodes, 0)], new_leaf[np.maximum(~nodes, 0)]
        return np.where(nodes >= 0, tests_of, ~leaves_of).astype(nodes.dtype)

    n_terms = np.diff(first)[rounds]
    return replace(
        ensemble,
        feature=ensemble.feature[tests],
        threshold=ensemble.threshold[tests],
        missing_right=ensemble.missing_right[tests],
        child=renumbered(ensemble.child[tests]),
        gain=ensemble.gain[tests],
        values=ensemble.values[leaves],
        root=renumbered(ensemble.root[terms]),
        first_term=np.concatenate([[0], np.cumsum(n_terms)]).astype(first.dtype),
        size=ensemble.size[rounds],
        set_start=ensemble.set_start[tests],
        **(_curves(ensemble, terms, leaves) if ensemble.is_curved else {}),
    )


def joined(ensembles: Sequence[Ensemble]) -> Ensemble:
    """All rounds of several ensembles with the same labels and columns, one ensemble after the other.

    Parameters
    ----------
    ensembles : sequence of Ensemble
    """
    if any(e.phi for e in ensembles):
        raise ValueError("ensembles of FromClassifier cannot be joined")
    tests = np.cumsum([0, *(len(e.feature) for e in ensembles)])
    leaves = np.cumsum([0, *(len(e.values) for e in ensembles)])
    terms = np.cumsum([0, *(len(e.root) for e in ensembles)])
    n_bytes = np.cumsum([0, *(e.sets.size for e in ensembles)])

    def together(name, change=lambda array, k: array):
        return np.concatenate(
            [change(getattr(e, name), k).astype(getattr(e, name).dtype) for k, e in enumerate(ensembles)]
        )

    def nodes(array, k):
        return np.where(array >= 0, array + tests[k], array - leaves[k])

    plain = {
        name: together(name) for name in ("feature", "threshold", "missing_right", "gain", "values", "size", "sets")
    }
    return replace(
        ensembles[0],
        child=together("child", nodes),
        root=together("root", nodes),
        first_term=np.append(together("first_term", lambda array, k: array[:-1] + terms[k]), terms[-1]),
        set_start=together("set_start", lambda array, k: np.where(array >= 0, array + n_bytes[k], -1)),
        **plain,
        **_joined_curves(ensembles),
    )


def _curves(ensemble: Ensemble, terms: Any = slice(None), leaves: Any = slice(None)) -> dict[str, Any]:
    """What makes polynomials of votes, for some terms and their leaves; constants are polynomials of degree 0."""
    n, n_leaves = len(ensemble.root), len(ensemble.values)
    found: dict[str, np.ndarray]
    found = {"along": np.full(n, -1, NODE), "degree": np.zeros(n, NODE), "origin": np.zeros(n_leaves)}
    if ensemble.is_curved:
        found = {name: getattr(ensemble, name) for name in CURVES}
    return {name: array[leaves if name == "origin" else terms] for name, array in found.items()}


def _joined_curves(ensembles: Sequence[Ensemble]) -> dict[str, Any]:
    if not any(e.is_curved for e in ensembles):
        return {}
    parts = [_curves(e) for e in ensembles]
    return {name: np.concatenate([part[name] for part in parts]) for name in CURVES}


def _ranges(first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """All numbers from each first up to its last."""
    lengths = last - first
    before = np.cumsum(lengths) - lengths
    return np.arange(lengths.sum()) + np.repeat(first - before, lengths)


def _inverse(chosen: np.ndarray, n: int) -> np.ndarray:
    """Where each of n things has gone; 0 for those that are not chosen."""
    new = np.zeros(n + 1, np.intp)
    new[chosen] = np.arange(len(chosen))
    return new


def _starts(ensemble: Ensemble) -> tuple[np.ndarray, np.ndarray]:
    """The first test and the first leaf of every term, and the ends."""
    n_tests, n_leaves, root = len(ensemble.feature), len(ensemble.values), ensemble.root
    tests = np.append(np.where(root >= 0, root, 0), n_tests).astype(np.intp)
    for term in range(len(root) - 1, -1, -1):  # a term that is only a leaf begins where the next one does
        if root[term] < 0:
            tests[term] = tests[term + 1]
    of_test = np.searchsorted(tests[1:], np.arange(n_tests), side="right")
    leaves = np.where(root < 0, ~root, n_leaves).astype(np.intp)
    np.minimum.at(leaves, of_test, np.where(ensemble.child < 0, ~ensemble.child, n_leaves).min(axis=1))
    return tests, np.append(leaves, n_leaves)
