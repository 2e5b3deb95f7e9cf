"""Probabilities in ONNX: the formulas of a calibration, see ``calibration.Formula``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..calibration import Formula


def chances(graph: Any, formula: Formula, scores: str) -> str:
    """Probabilities of the answers to a question, (n, k).

    Parameters
    ----------
    graph : _Graph
        It gets the nodes.
    formula : Formula
    scores : str
        The name of the answers' scores, (n, k).
    """
    if formula.bend is not None:
        odds = graph.add("MatMul", scores, graph.constant([[-formula.factor], [formula.factor]]))
        z = graph.add("Mul", _bent(graph, formula.bend, odds), graph.constant([[-0.5, 0.5]]))
    elif formula.weights is not None and formula.bias is not None:
        z = graph.add("Mul", scores, graph.constant(formula.factor))
        x = graph.add("Max", graph.add("LogSoftmax", z, axis=1), graph.constant(formula.least))
        operator = "MatMul" if formula.weights.ndim == 2 else "Mul"
        moved = graph.add(operator, x, graph.constant(formula.weights.T))
        z = graph.add("Add", graph.add("Add", x, moved), graph.constant(formula.bias))
    elif formula.logistic is not None:
        a, b = (graph.constant(part) for part in formula.logistic)
        x = _times_factor(graph, formula, scores, formula.logistic.shape[1])
        z = _log_logistic(graph, graph.add("Add", graph.add("Mul", x, a), b))
    elif formula.curves is not None:
        return _shares(graph, formula.curves, _times_factor(graph, formula, scores, len(formula.curves)))
    else:
        z = graph.add("Mul", scores, graph.constant(formula.factor))
    return graph.add("Softmax", z, axis=1)


def label_chances(graph: Any, formulas: list[Formula], scores: str) -> str:
    """Probabilities of labels, (n, K); a score is the log odds of a label.

    Parameters
    ----------
    graph : _Graph
    formulas : list of Formula
        Of every label.
    scores : str
        (n, K).
    """
    bends = [formula.bend for formula in formulas if formula.bend is not None]
    first = formulas[0]
    if first.weights is None and first.logistic is None and first.curves is None:  # all labels at once
        odds = graph.add("Mul", scores, graph.constant([formula.factor for formula in formulas]))
        return graph.add("Sigmoid", _bent(graph, np.stack(bends, axis=1), odds) if bends else odds)
    found = []
    for k, formula in enumerate(formulas):
        own = graph.add("Gather", scores, graph.constant([k], np.int64), axis=1)
        both = chances(graph, formula, graph.add("Mul", own, graph.constant([[-0.5, 0.5]])))
        found.append(graph.add("Gather", both, graph.constant([1], np.int64), axis=1))
    return found[0] if len(found) == 1 else graph.add("Concat", *found, axis=1)


def _bent(graph: Any, bend: np.ndarray, odds: str) -> str:
    """l + a + b l + c (i i + 2 i (l - i)), where i is l from low to high; also of a bend for each column, (5, K)."""
    low, high, a, b, c = (graph.constant(part) for part in bend)
    inside = graph.add("Min", graph.add("Max", odds, low), high)
    beyond = graph.add("Sub", odds, inside)
    # i i + 2 i (l - i) = i (i + 2 (l - i))
    square = graph.add("Mul", inside, graph.add("Add", inside, graph.add("Add", beyond, beyond)))
    line = graph.add("Add", graph.add("Add", odds, a), graph.add("Mul", b, odds))
    return graph.add("Add", line, graph.add("Mul", c, square))


def _times_factor(graph: Any, formula: Formula, scores: str, k: int) -> str:
    """x of the formula, (n, k).

    The factor is in the matrix: onnxruntime makes a float of a number that stands alone before a ``MatMul``.
    """
    c = formula.factor
    if formula.against and k == 2:
        return graph.add("MatMul", scores, graph.constant([[c, -c], [-c, c]]))
    return graph.add("Mul", scores, graph.constant(c))


def _log_logistic(graph: Any, u: str) -> str:
    """-ln(1 + exp(-u)) = min(u, 0) - ln(1 + exp(-|u|)); onnxruntime has no Softplus of doubles."""
    far = graph.add("Exp", graph.add("Neg", graph.add("Abs", u)))
    return graph.add("Sub", graph.add("Min", u, graph.constant(0.0)),
                     graph.add("Log", graph.add("Add", far, graph.constant(1.0))))  # fmt: skip


def _shares(graph: Any, curves: tuple[np.ndarray, ...], x: str) -> str:
    """Heights of broken lines, divided by their sum."""
    columns = [graph.add("Gather", x, graph.constant([j], np.int64), axis=1) for j in range(len(curves))]
    heights = graph.add(
        "Concat", *(_height(graph, curve, column) for curve, column in zip(curves, columns, strict=True)), axis=1
    )
    total = graph.add("ReduceSum", heights, graph.constant([1], np.int64), keepdims=1)
    known = graph.add("Greater", total, graph.constant(0.0))
    return graph.add("Where", known, graph.add("Div", heights, total), graph.constant(1.0 / len(curves)))


def _height(graph: Any, curve: np.ndarray, column: str) -> str:
    """The first height, and how much each piece of the line has risen up to here, (n, 1)."""
    knots, heights = curve[0].astype(graph.dtype), curve[1]
    if len(knots) == 1:
        knots, heights = np.array([knots[0], knots[0] + 1]), np.repeat(heights, 2)
    for j in range(1, len(knots)):  # knots that are one float would have no piece between them
        knots[j] = max(knots[j], np.nextafter(knots[j - 1], graph.dtype(np.inf)))
    low, high = graph.constant(knots[:-1]), graph.constant(knots[1:])
    inside = graph.add("Min", graph.add("Max", column, low), high)
    part = graph.add("Div", graph.add("Sub", inside, low), graph.constant(np.diff(knots)))
    risen = graph.add("Mul", part, graph.constant(np.diff(heights)))
    total = graph.add("ReduceSum", risen, graph.constant([1], np.int64), keepdims=1)
    return graph.add("Add", total, graph.constant(heights[0]))
