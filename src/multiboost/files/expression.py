"""Selections of rows as text: ``pt > 20 && abs(eta) < 2.4``.

Python's grammar without Python: the text is parsed, and the few nodes that a selection may have are computed here with
NumPy.  Nothing is executed, no name but a column's means anything.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

_LONGEST = 10_000  # characters
_DEEPEST = 50
_OPERATORS: dict[type, Callable] = {
    ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.Div: np.true_divide,
    ast.Lt: np.less, ast.LtE: np.less_equal, ast.Gt: np.greater, ast.GtE: np.greater_equal,
    ast.Eq: np.equal, ast.NotEq: np.not_equal, ast.USub: np.negative, ast.UAdd: np.positive,
    ast.And: np.logical_and, ast.Or: np.logical_or, ast.Not: np.logical_not,
}  # fmt: skip
_FUNCTIONS: dict[str, Callable] = {"abs": np.abs, "sqrt": np.sqrt, "log": np.log, "exp": np.exp}


class Expression:
    """A selection.

    Comparisons, ``and``, ``or``, ``not`` (or ``&&``, ``||``, ``!``), ``+ - * /``, parentheses, numbers, quoted text,
    names of columns, and abs, sqrt, log, exp.  A comparison with a missing value is false.

    Parameters
    ----------
    text : str

    Attributes
    ----------
    columns : list of str
        The columns that it needs.

    Raises
    ------
    ValueError
        It says what cannot be understood.
    """

    def __init__(self, text: str):
        self.text = str(text)
        if len(self.text) > _LONGEST:
            raise ValueError(f"the selection has {len(self.text)} characters; {_LONGEST} are enough")
        plain = re.sub(r"!(?!=)", " not ", self.text.replace("&&", " and ").replace("||", " or ")).strip()
        try:
            self._root = ast.parse(plain, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise ValueError(f"the selection {self.text[:80]!r} is not an expression: {error}") from error
        found: dict[str, None] = {}
        self._check(self._root, found, 0)
        self.columns = list(found)

    def _check(self, node: ast.AST, found: dict[str, None], depth: int) -> None:
        """Refuse all that a selection may not have, and collect the columns."""
        if depth > _DEEPEST:
            raise ValueError(f"the selection {self.text[:80]!r} is nested too deeply")
        if isinstance(node, (ast.Name, ast.Attribute)):
            found[self._name(node)] = None
            return
        parts: list[ast.AST]
        if isinstance(node, ast.BoolOp):
            parts = list(node.values)
        elif isinstance(node, ast.UnaryOp) and type(node.op) in _OPERATORS:
            parts = [node.operand]
        elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            parts = [node.left, node.right]
        elif isinstance(node, ast.Compare) and all(type(op) in _OPERATORS for op in node.ops):
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float, str)):
            parts = []
        elif isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords and self._function(node):
            parts = [node.args[0]]
        else:
            what = ast.unparse(node)[:60]
            raise ValueError(
                f"the selection {self.text[:80]!r} has {what!r}; it may have comparisons, and, or, not, + - * /, "
                f"numbers, text, columns and {', '.join(_FUNCTIONS)}"
            )
        for part in parts:
            self._check(part, found, depth + 1)

    def _name(self, node: ast.AST) -> str:
        """A column, also one with dots in its name."""
        if isinstance(node, ast.Name):
            return node.id
        if isinstance(node, ast.Attribute):
            return f"{self._name(node.value)}.{node.attr}"
        raise ValueError(f"the selection {self.text[:80]!r} has {ast.unparse(node)[:60]!r}, which is no column")

    def _function(self, node: ast.Call) -> bool:
        return isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS

    def chosen(self, columns: Mapping[str, np.ndarray], n: int) -> np.ndarray:
        """Which of ``n`` rows are selected, (n,) bool.

        Parameters
        ----------
        columns : mapping of ndarray (n,)
        n : int
        """
        try:
            with np.errstate(all="ignore"):
                found = np.asarray(self._value(self._root, columns))
        except (TypeError, np.exceptions.DTypePromotionError, OverflowError) as error:
            raise ValueError(f"the selection {self.text[:80]!r} compares text and numbers: {error}") from error
        if found.dtype != bool:
            raise ValueError(f"the selection {self.text[:80]!r} is a number, not true or false; compare it with one")
        return np.broadcast_to(found, (n,))

    def _value(self, node: ast.AST, columns: Mapping[str, np.ndarray]) -> Any:
        if isinstance(node, (ast.Name, ast.Attribute)):
            return columns[self._name(node)]
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.UnaryOp):
            return _OPERATORS[type(node.op)](self._value(node.operand, columns))
        if isinstance(node, ast.BinOp):
            return _OPERATORS[type(node.op)](self._value(node.left, columns), self._value(node.right, columns))
        if isinstance(node, ast.Call):
            return _FUNCTIONS[node.func.id](self._value(node.args[0], columns))  # type: ignore[attr-defined]
        if isinstance(node, ast.BoolOp):
            values = [self._value(part, columns) for part in node.values]
            found = values[0]
            for value in values[1:]:
                found = _OPERATORS[type(node.op)](found, value)
            return found
        assert isinstance(node, ast.Compare)
        values = [self._value(part, columns) for part in (node.left, *node.comparators)]
        pairs = zip(node.ops, values[:-1], values[1:], strict=True)
        compared = [_OPERATORS[type(op)](left, right) for op, left, right in pairs]
        return np.logical_and.reduce(np.broadcast_arrays(*compared))
