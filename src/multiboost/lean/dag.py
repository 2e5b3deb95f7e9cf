"""The decision DAG of a policy: which states rows come through, and what they do there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..kernels.walk import EVAL


@dataclass
class DecisionDag:
    """States as nodes, and as edges what rows do between them; what is skipped by all is left out.

    Attributes
    ----------
    round : ndarray of int (nodes,)
        The base classifier that is evaluated, counted from 0; -1 for the end.
    score : ndarray (nodes,)
        The mean score of the rows, of binary models F, else the margin of the best label.
    count : ndarray of int (nodes,)
        Rows that come there.
    share : ndarray (nodes, groups)
        Of each group (class, cluster) among these rows.
    source, target : ndarray of int (edges,)
        Nodes.
    passed : ndarray of int (edges,)
        Rows that go this way.
    groups : ndarray
        What the groups are called.
    """

    round: np.ndarray
    score: np.ndarray
    count: np.ndarray
    share: np.ndarray
    source: np.ndarray
    target: np.ndarray
    passed: np.ndarray
    groups: np.ndarray

    @property
    def n_nodes(self) -> int:
        return len(self.round)

    @property
    def n_edges(self) -> int:
        return len(self.source)

    def to_dict(self) -> dict:
        """Nodes and edges as lists, for JSON or a graph library."""
        nodes = [
            {"round": int(t), "score": float(f), "count": int(c), "share": s.tolist()}
            for t, f, c, s in zip(self.round, self.score, self.count, self.share, strict=True)
        ]
        edges = [
            {"source": int(a), "target": int(b), "count": int(c)}
            for a, b, c in zip(self.source, self.target, self.passed, strict=True)
        ]
        return {"groups": self.groups.tolist(), "nodes": nodes, "edges": edges}


def dag_of(paths: np.ndarray, states: np.ndarray, cells: np.ndarray, groups: np.ndarray) -> DecisionDag:
    """The DAG that rows make.

    Parameters
    ----------
    paths : ndarray of uint8 (n, rounds + 1)
        Actions.
    states : ndarray (n, rounds + 1)
        The number that is drawn for each state, before each base classifier and at the end.
    cells : ndarray of int (n, rounds + 1)
        The cell of each state.
    groups : ndarray (n,)
        What rows are told apart by.
    """
    n, n_rounds = len(paths), paths.shape[1] - 1
    names, group = np.unique(groups, return_inverse=True)
    evaluated = paths[:, :-1] == EVAL
    row, t = np.nonzero(evaluated)
    # A node is a base classifier and a cell; the end is cell by cell, too.
    row, at = np.concatenate([row, np.arange(n)]), np.concatenate([t, np.full(n, n_rounds)])
    key = at * (cells.max() + 1) + cells[row, at]
    nodes, node = np.unique(key, return_inverse=True)
    count = np.bincount(node)
    share = np.zeros((len(nodes), len(names)))
    np.add.at(share, (node, group[row]), 1.0)
    rounds = nodes // (cells.max() + 1)
    score = np.bincount(node, states[row, at]) / count
    order = np.lexsort((at, row))
    same = row[order][1:] == row[order][:-1]
    pairs = np.stack([node[order][:-1][same], node[order][1:][same]], axis=1)
    edges, passed = np.unique(pairs.reshape(-1, 2), axis=0, return_counts=True)
    return DecisionDag(
        np.where(rounds == n_rounds, -1, rounds),
        score,
        count,
        share / count[:, None],
        edges[:, 0],
        edges[:, 1],
        passed,
        names,
    )
