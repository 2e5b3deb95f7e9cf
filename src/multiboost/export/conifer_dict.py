"""A model as the dictionary that conifer makes firmware from.

conifer knows sums of trees, one for each label, with numbers in their tests.  A product of terms becomes one tree: the
next term hangs on every leaf of the one before, and a leaf's value is the product of the votes on the way.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ..disk import whole_file
from ..model.model import Model
from .exportable import ExportError, column_names, exportable
from .trees import PlainTree, plain_trees

_LEAF = -2  # conifer's column of a leaf
_MOST_NODES = 1_000_000
_LARGEST = float(np.finfo(np.float64).max)


def to_conifer(model) -> dict[str, Any]:
    """A model as conifer's ensemble dictionary, for ``conifer.model.make_model(dictionary, config)``.

    Firmware has no missing values: give it rows without.

    Parameters
    ----------
    model : fitted estimator or Model

    Returns
    -------
    dict
        Scores are those of ``decision_function``, in conifer's order of additions.
    """
    model = exportable(model)
    ensemble = model.ensemble
    nominal = np.flatnonzero(ensemble.set_start >= 0)
    if nominal.size:
        name = column_names(model)[ensemble.feature[nominal[0]]]
        raise ExportError(
            f"conifer tests numbers only, and the column {name!r} is nominal; train with indicator columns of 0 and 1"
        )
    if ensemble.n_labels == 2:
        raise ExportError("conifer reads two labels as two classes with one score; export each label by itself")
    trees = plain_trees(ensemble, "conifer")
    rounds, depth, n_nodes = [], 0, 0
    for a, b in zip(ensemble.first_term[:-1], ensemble.first_term[1:], strict=True):
        joined, votes = _joined(ensemble.values, trees[a:b])
        n_nodes += len(joined)
        if n_nodes > _MOST_NODES:
            raise ExportError(f"as trees, the products of the model have more than {_MOST_NODES} nodes")
        depth = max(depth, sum(tree.depth for tree in trees[a:b]))
        rounds.append([_tree(model, joined, votes[:, label]) for label in range(ensemble.n_labels)])
    return {
        "max_depth": depth,
        "n_trees": len(rounds),
        "n_features": model.columns.n,
        "n_classes": 2 if ensemble.n_labels == 1 else ensemble.n_labels,
        "init_predict": ensemble.initial.tolist(),
        "norm": 1,
        "library": "multiboost",
        "splitting_convention": "<=",
        "feature_map": {name: j for j, name in enumerate(column_names(model))},
        "trees": rounds,
    }


def write_conifer(model, path) -> None:
    """Write the dictionary of `to_conifer` as JSON.

    Parameters
    ----------
    model : fitted estimator or Model
    path : str or path
    """
    text = json.dumps(to_conifer(model))
    with whole_file(path) as file:
        file.write(text.encode())


def _joined(values: np.ndarray, terms: list[PlainTree]) -> tuple[PlainTree, np.ndarray]:
    """The terms of a round as one tree, and the votes of its nodes, (nodes, K); 0 in tests."""
    tree = terms[0]
    votes = np.where(np.array(tree.leaf)[:, None] >= 0, values[tree.leaf], 0.0)
    for term in terms[1:]:
        tree, votes = _hung(tree, votes, term, values)
    return tree, votes


def _hung(tree: PlainTree, votes: np.ndarray, term: PlainTree, values: np.ndarray) -> tuple[PlainTree, np.ndarray]:
    """A copy of the next term on every leaf."""
    test, left, right = list(tree.test), list(tree.left), list(tree.right)
    leaf, rows = list(tree.leaf), [*votes]
    for node in (k for k, number in enumerate(tree.leaf) if number >= 0):
        # The root of the copy takes the leaf's place, the others come at the end.
        place = [node, *range(len(test), len(test) + len(term) - 1)]
        test += term.test[1:]
        leaf += term.leaf[1:]
        left += [-1] * (len(term) - 1)
        right += [-1] * (len(term) - 1)
        rows += [votes[node]] * (len(term) - 1)
        for k, at in enumerate(place):
            test[at], leaf[at] = term.test[k], term.leaf[k]
            left[at] = place[term.left[k]] if term.left[k] >= 0 else -1
            right[at] = place[term.right[k]] if term.right[k] >= 0 else -1
            rows[at] = votes[node] * (values[term.leaf[k]] if term.leaf[k] >= 0 else 0.0)
    return PlainTree(test, leaf, left, right), np.array(rows)


def _tree(model: Model, tree: PlainTree, value: np.ndarray) -> dict[str, Any]:
    ensemble, n_columns = model.ensemble, model.columns.n
    feature = [int(ensemble.feature[k]) if k >= 0 else _LEAF for k in tree.test]
    return {
        "feature": feature,
        "weight": [[int(j == column) for j in range(n_columns)] for column in feature],
        # A cut between numbers and missing values is infinite; JSON has no infinity, and firmware no missing values.
        "threshold": [float(np.clip(ensemble.threshold[k], -_LARGEST, _LARGEST)) if k >= 0 else 0.0 for k in tree.test],
        "children_left": list(tree.left),
        "children_right": list(tree.right),
        "value": value.tolist(),
    }
