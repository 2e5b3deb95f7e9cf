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
    z = graph.add("Mul", scores, graph.constant(formula.factor))
    if formula.bend is not None:
        odds = graph.add("MatMul", z, graph.constant([[-1.0], [1.0]]))
        z = graph.add("Mul", _bent(graph, formula.bend, odds), graph.constant([[-0.5, 0.5]]))
    elif formula.weights is not None and formula.bias is not None:
        x = graph.add("Max", graph.add("LogSoftmax", z, axis=1), graph.constant(formula.least))
        operator = "MatMul" if formula.weights.ndim == 2 else "Mul"
        moved = graph.add(operator, x, graph.constant(formula.weights.T))
        z = graph.add("Add", graph.add("Add", x, moved), graph.constant(formula.bias))
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
    if formulas[0].weights is None:  # all labels at once
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
