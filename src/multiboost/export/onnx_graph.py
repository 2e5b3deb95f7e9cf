"""A model as ONNX: one tree operator, standard operators around it.

Operator sets: ai.onnx.ml 3 and ai.onnx 18.  TreeEnsembleRegressor of ai.onnx.ml 3 is the first that knows thresholds in
double precision, and lets a leaf vote for many labels at once.  The TreeEnsemble of ai.onnx.ml 5, its successor, has
one label for each leaf: K labels would need K copies of every tree.

Two forms:

- votes: a leaf holds the votes of all labels, and the operator adds them up.  For floats without products.
- leaves: a tree says the number of its leaf, and votes are looked up, multiplied and added up by standard operators.
  For products, and for doubles: whatever its tables hold, the tree operator returns floats.

A set of categories is a column of zeros and ones, looked up in a table, which trees then test as a number.
"""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np

from .. import __version__
from ..calibration import Formula
from ..disk import whole_file
from ..extras import need
from ..model.model import Model
from .c_scores import float_below
from .c_text import distinct_identifiers
from .exportable import ExportError, column_names, exportable, formulas_of, n_categories
from .onnx_probabilities import chances, label_chances
from .trees import PlainTree, plain_trees

OPSETS = {"": 18, "ai.onnx.ml": 3}
_IR = 8  # the one of ai.onnx 18; older than that of most who read it
_DTYPES: dict[str, Any] = {"double": np.float64, "float": np.float32}


class _Graph:
    """Nodes and constants, in the order in which they come.

    Parameters
    ----------
    dtype : type
        Of floating point numbers.
    """

    def __init__(self, dtype):
        self.dtype = dtype
        self.onnx: Any = need("onnx", "export")
        self.nodes: list = []
        self.constants: list = []
        self.inputs: list = []
        self.outputs: list = []

    def constant(self, values, dtype=None) -> str:
        """The name of a constant; of the graph's type unless another is given."""
        name = f"constant_{len(self.constants)}"
        array = np.asarray(values, self.dtype if dtype is None else dtype)
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def add(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """The name of a new node's output."""
        name = f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(operator, list(inputs), [name], name, domain=domain, **attributes))
        return name

    def kind_of(self, dtype) -> int:
        return self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))

    def cast(self, value: str, dtype) -> str:
        return self.add("Cast", value, to=self.kind_of(dtype))

    def input(self, name: str, dtype, shape) -> str:
        self.inputs.append(self.onnx.helper.make_tensor_value_info(name, self.kind_of(dtype), shape))
        return name

    def output(self, name: str, value: str, dtype, shape) -> None:
        self.nodes.append(self.onnx.helper.make_node("Identity", [value], [name], name))
        self.outputs.append(self.onnx.helper.make_tensor_value_info(name, self.kind_of(dtype), shape))


def to_onnx(model, *, precision: str = "double", categories: str = "codes"):
    """A model as ONNX.

    Inputs: ``X``, rows of numbers, NaN where a value is missing.  Outputs: ``scores``, and ``label`` and
    ``probabilities`` of classes, or ``values`` of numbers; of several tasks ``label_0``, ``label_1`` and so on.  A
    model whose calibration cannot be exported has no ``probabilities``, and a warning says why.

    Parameters
    ----------
    model : fitted estimator or Model
    precision : {"double", "float"}, default="double"
        Of rows and scores.
    categories : {"codes", "names"}, default="codes"
        Whether X has a column with the numbers of the categories for every nominal column, or each is an input of
        its own, of text; then X has the columns of numbers only.  What is no category is missing.

    Returns
    -------
    onnx.ModelProto
        Its metadata name the columns and their categories.
    """
    model = exportable(model)
    if precision not in _DTYPES:
        raise ExportError(f"precision {precision!r}: there are {' and '.join(_DTYPES)}")
    if categories not in ("codes", "names"):
        raise ExportError(f"categories {categories!r}: there are codes and names")
    graph = _Graph(_DTYPES[precision])
    rows, feature, threshold = _inputs(graph, model, categories)
    scores = _scores(graph, model, rows, feature, threshold)
    graph.output("scores", scores, graph.dtype, [None, model.ensemble.n_labels])
    _ANSWERS[model.kind.name](graph, model, scores)
    return _finished(graph, model)


def write_onnx(model, path, *, precision: str = "double", categories: str = "codes") -> None:
    """Write a model as an ONNX file; the parameters are those of `to_onnx`."""
    found = to_onnx(model, precision=precision, categories=categories)
    with whole_file(path) as file:
        file.write(found.SerializeToString())


def _finished(graph: _Graph, model: Model):
    helper = graph.onnx.helper
    made = helper.make_graph(graph.nodes, "multiboost", graph.inputs, graph.outputs, graph.constants)
    sets = [helper.make_opsetid(domain, version) for domain, version in OPSETS.items()]
    found = helper.make_model(made, opset_imports=sets, producer_name="multiboost", producer_version=__version__)
    found.ir_version = _IR
    lists = {name: model.columns.category_names(j) for j, name in enumerate(column_names(model))}
    helper.set_model_props(
        found,
        {
            "digest": model.digest(),
            "columns": json.dumps(column_names(model)),
            "categories": json.dumps({name: names for name, names in lists.items() if names is not None}),
        },
    )
    graph.onnx.checker.check_model(found, full_check=True)
    return found


def _inputs(graph: _Graph, model: Model, categories: str) -> tuple[str, np.ndarray, np.ndarray]:
    """Rows as trees see them, and for every test of the ensemble its column there and its threshold.

    Behind the columns of numbers there is one for every distinct set of categories.
    """
    ensemble, counts = model.ensemble, n_categories(model)
    feature = ensemble.feature.astype(np.int64)
    threshold = ensemble.threshold if graph.dtype is np.float64 else float_below(ensemble.threshold)
    given = np.flatnonzero(counts < 0) if categories == "names" else np.arange(model.columns.n)
    place = np.full(model.columns.n, -1)
    place[given] = np.arange(len(given))
    parts, width = [], len(given)
    if width or not (counts >= 0).any():
        parts.append(graph.input("X", graph.dtype, [None, width]))
    names = distinct_identifiers(column_names(model))
    new_feature, new_threshold = place[feature], threshold.copy()
    for j in np.flatnonzero(counts >= 0).tolist():
        count, tests = int(counts[j]), np.flatnonzero(feature == j)
        if categories == "names":
            column = graph.input(f"column_{names[j].lower()}", object, [None, 1])
            code = graph.add("Reshape", _label_encoded(graph, model, j, column), graph.constant([-1], np.int64))
        elif tests.size:
            code = _valid_codes(graph, int(place[j]), count)
        if not tests.size:
            continue
        sides = np.array([_side_of_every_category(ensemble, k, count) for k in tests.tolist()])
        distinct, which = np.unique(sides, axis=0, return_inverse=True)
        parts.append(graph.add("Gather", graph.constant(distinct.T), code, axis=0))
        new_feature[tests] = width + which.ravel()
        new_threshold[tests] = 0.5
        width += len(distinct)
    rows = parts[0] if len(parts) == 1 else graph.add("Concat", *parts, axis=1)
    return rows, new_feature, new_threshold


def _label_encoded(graph: _Graph, model: Model, j: int, column: str) -> str:
    names = model.columns.category_names(j) or []
    return graph.add(
        "LabelEncoder", column, domain="ai.onnx.ml", default_int64=len(names),
        keys_strings=names or [""],  # it needs a key; of a column without categories all values are missing
        values_int64s=list(range(len(names))) or [0],
    )  # fmt: skip


def _valid_codes(graph: _Graph, place: int, count: int) -> str:
    """Numbers of categories, (n,) int64; ``count`` for whatever is none."""
    x = graph.add("Gather", "X", graph.constant(place, np.int64), axis=1)
    known = graph.add("And", graph.add("GreaterOrEqual", x, graph.constant(0.0)),
                      graph.add("Less", x, graph.constant(float(count))))  # fmt: skip
    return graph.cast(graph.add("Where", known, x, graph.constant(float(count))), np.int64)


def _side_of_every_category(ensemble, k: int, count: int) -> np.ndarray:
    """1 for every category that goes right in a test, and for a missing value."""
    start = int(ensemble.set_start[k])
    bits = [(int(ensemble.sets[start + c // 8]) >> (c % 8)) & 1 for c in range(count)]
    return np.array([*bits, int(ensemble.missing_right[k])])


def _scores(graph: _Graph, model: Model, rows: str, feature: np.ndarray, threshold: np.ndarray) -> str:
    ensemble = model.ensemble
    trees = plain_trees(ensemble, "ONNX")
    if graph.dtype is np.float32 and len(trees) == ensemble.n_rounds:
        return _tree_operator(graph, ensemble, trees, rows, feature, threshold, votes=True)
    found = _tree_operator(graph, ensemble, trees, rows, feature, threshold, votes=False)
    if len(ensemble.values) >= 2**24:
        raise ExportError("the model has more leaves than a float can count")
    leaves = graph.cast(found, np.int64)
    votes = graph.constant(np.concatenate([ensemble.values, np.ones((1, ensemble.n_labels))]))
    first, last = ensemble.first_term[:-1], ensemble.first_term[1:]
    product = ""
    for m in range(int((last - first).max())):
        # The m-th term of every round; a round that has fewer is multiplied with ones.
        has = m < last - first
        of_term = graph.add("Gather", leaves, graph.constant(np.where(has, first + m, 0), np.int64), axis=1)
        if not has.all():
            ones = graph.constant(np.full(1, len(ensemble.values)), np.int64)
            of_term = graph.add("Where", graph.constant(has, np.bool_), of_term, ones)
        factor = graph.add("Gather", votes, of_term, axis=0)
        product = graph.add("Mul", product, factor) if product else factor
    total = graph.add("ReduceSum", product, graph.constant([1], np.int64), keepdims=0)
    return graph.add("Add", total, graph.constant(ensemble.initial))


def _tree_operator(
    graph: _Graph, ensemble, trees: list[PlainTree], rows: str, feature: np.ndarray, threshold: np.ndarray, votes: bool
) -> str:
    """The votes of all labels added up, (n, K), or the leaf of every tree, (n, trees)."""
    sizes = [len(tree) for tree in trees]
    tree_id = np.repeat(np.arange(len(trees)), sizes)
    node_id = np.concatenate([np.arange(n) for n in sizes])
    test, leaf, left, right = (
        np.concatenate([getattr(tree, name) for tree in trees]).astype(np.int64)
        for name in ("test", "leaf", "left", "right")
    )
    is_leaf = test < 0
    own = np.where(is_leaf, 0, test)
    n_labels = ensemble.n_labels
    if votes:
        targets = {
            "target_ids": np.tile(np.arange(n_labels), is_leaf.sum()),
            "target_treeids": np.repeat(tree_id[is_leaf], n_labels),
            "target_nodeids": np.repeat(node_id[is_leaf], n_labels),
        }
        weights, base = ensemble.values[leaf[is_leaf]].ravel(), ensemble.initial
    else:
        targets = {
            "target_ids": tree_id[is_leaf],
            "target_treeids": tree_id[is_leaf],
            "target_nodeids": node_id[is_leaf],
        }
        weights, base = leaf[is_leaf].astype(np.float64), np.zeros(len(trees))

    def of_tests(values: np.ndarray) -> np.ndarray:
        return np.where(is_leaf, 0, values[own]) if values.size else np.zeros(len(own), values.dtype)

    # Thresholds, votes: attributes have floats, tensors whatever is asked for.
    numbers = {
        "nodes_values": of_tests(threshold),
        "target_weights": weights,
        "base_values": base,
    }
    from_array = graph.onnx.numpy_helper.from_array
    given: dict[str, Any] = {name: values.tolist() for name, values in numbers.items()}
    if graph.dtype is np.float64:
        given = {f"{name}_as_tensor": from_array(np.asarray(v, np.float64), name) for name, v in numbers.items()}
    return graph.add(
        "TreeEnsembleRegressor", rows, domain="ai.onnx.ml",
        n_targets=n_labels if votes else len(trees),
        aggregate_function="SUM",
        post_transform="NONE",
        nodes_treeids=tree_id.tolist(),
        nodes_nodeids=node_id.tolist(),
        nodes_featureids=of_tests(feature).tolist(),
        nodes_modes=np.where(is_leaf, "LEAF", "BRANCH_LEQ").tolist(),
        nodes_truenodeids=np.where(is_leaf, 0, left).tolist(),
        nodes_falsenodeids=np.where(is_leaf, 0, right).tolist(),
        nodes_missing_value_tracks_true=of_tests((~ensemble.missing_right).astype(np.int64)).tolist(),
        **{name: ids.tolist() for name, ids in targets.items()},
        **given,
    )  # fmt: skip


def _classes(graph: _Graph, classes: np.ndarray) -> tuple[str, Any]:
    """Class names as a constant, and their type."""
    types: dict[str, Any] = {"i": np.int64, "u": np.int64, "b": np.bool_, "f": np.float64}
    dtype = types.get(classes.dtype.kind, object)
    values = np.array([str(c) for c in classes], object) if dtype is object else classes
    return graph.constant(values, dtype), dtype


def _formulas(model: Model) -> list[Formula]:
    """Of every question; none, with a warning, where the model has no probabilities that can be exported."""
    try:
        return formulas_of(model)
    except ExportError as error:
        warnings.warn(f"no output 'probabilities': {error}", UserWarning, stacklevel=4)
        return []


def _above_zero(graph: _Graph, scores: str) -> str:
    return graph.cast(graph.add("Greater", scores, graph.constant(0.0)), np.int64)


def _binary(graph: _Graph, model: Model, scores: str) -> None:
    names, dtype = _classes(graph, model.kind.classes[0])
    flat = graph.add("Reshape", _above_zero(graph, scores), graph.constant([-1], np.int64))
    graph.output("label", graph.add("Gather", names, flat, axis=0), dtype, [None])
    formulas = _formulas(model)
    if formulas:
        p = label_chances(graph, formulas, scores)
        both = graph.add("Concat", graph.add("Sub", graph.constant(1.0), p), p, axis=1)
        graph.output("probabilities", both, graph.dtype, [None, 2])


def _multilabel(graph: _Graph, model: Model, scores: str) -> None:
    n_labels = model.kind.n_labels
    graph.output("label", _above_zero(graph, scores), np.int64, [None, n_labels])
    formulas = _formulas(model)
    if formulas:
        graph.output("probabilities", label_chances(graph, formulas, scores), graph.dtype, [None, n_labels])


def _tasks(graph: _Graph, model: Model, scores: str) -> None:
    kind, formulas, found = model.kind, _formulas(model), []
    for t, part in enumerate(kind.tasks):
        columns = graph.constant(np.arange(part.start, part.stop), np.int64)
        own = scores if len(kind.tasks) == 1 else graph.add("Gather", scores, columns, axis=1)
        names, dtype = _classes(graph, kind.classes[t])
        best = graph.add("ArgMax", own, axis=1, keepdims=0)
        label = "label" if kind.name == "multiclass" else f"label_{t}"
        graph.output(label, graph.add("Gather", names, best, axis=0), dtype, [None])
        if formulas:
            found.append(chances(graph, formulas[t], own))
    if found:
        joined = found[0] if len(found) == 1 else graph.add("Concat", *found, axis=1)
        graph.output("probabilities", joined, graph.dtype, [None, kind.n_labels])


def _regression(graph: _Graph, model: Model, scores: str) -> None:
    kind = model.kind
    found = graph.add("Add", scores, graph.constant(kind.offset))
    if kind.is_log:
        found = graph.add("Exp", found)
    else:
        scale, center = (graph.constant(np.repeat(v, kind.n_columns)) for v in (kind.scale, kind.center))
        found = graph.add("Add", center, graph.add("Mul", scale, found))
    if kind.quantiles.size > 1:
        by_target = graph.add("Reshape", found, graph.constant([-1, kind.n_targets, kind.n_columns], np.int64))
        name = f"sorted_{len(graph.nodes)}"
        graph.nodes.append(
            graph.onnx.helper.make_node("TopK", [by_target, graph.constant([kind.n_columns], np.int64)],
                                        [name, f"{name}_at"], name, axis=2, largest=0, sorted=1)
        )  # fmt: skip
        found = graph.add("Reshape", name, graph.constant([-1, kind.n_labels], np.int64))
    graph.output("values", found, graph.dtype, [None, kind.n_labels])


_ANSWERS = {
    "binary": _binary,
    "multiclass": _tasks,
    "multitask": _tasks,
    "multilabel": _multilabel,
    "regression": _regression,
}
