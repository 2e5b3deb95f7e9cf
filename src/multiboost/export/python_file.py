"""A model as one Python file that needs NumPy and nothing else."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import numpy as np

from .. import __version__
from ..disk import whole_file
from ..model.ensemble import CURVES
from ..model.model import Model
from .exportable import ExportError, column_names, exportable, formulas_of

_ARRAYS = ("initial", "feature", "threshold", "missing_right", "child", "values", "root", "first_term", "set_start",
           "sets")  # fmt: skip
# As they are written: little endian, whatever machine writes.
_WIDTH = 108
_TYPES = {"f": "<f8", "i": "<i8", "b": "|b1", "u": "|u1"}


def to_python(model) -> str:
    """The text of a Python file with ``decision_function``, ``predict`` and, for classes, ``predict_proba``.

    Its scores have the bits of the model's.

    Parameters
    ----------
    model : fitted estimator or Model
    """
    model = exportable(model, curves=True)
    ensemble = model.ensemble
    arrays = {name: getattr(ensemble, name) for name in (*_ARRAYS, *(CURVES if ensemble.is_curved else ()))}
    return _TEMPLATE.format(
        version=__version__,
        digest=model.digest(),
        told=_literal(_told(model)),
        arrays="".join(f"    {name!r}: {_packed(array)},\n" for name, array in arrays.items()),
        votes=_CURVES if ensemble.is_curved else _CONSTANTS,
        answers=_ANSWERS[model.kind.name],
    )


def write_python(model, path) -> None:
    """Write the file of `to_python`.

    Parameters
    ----------
    model : fitted estimator or Model
    path : str or path
    """
    text = to_python(model)
    with whole_file(path) as file:
        file.write(text.encode("ascii"))


def _told(model: Model) -> dict[str, Any]:
    kind = model.kind
    told: dict[str, Any] = {
        "kind": kind.name,
        "columns": column_names(model),
        "named": model.columns.names is not None,
        "categories": [model.columns.category_names(j) for j in range(model.columns.n)],
        "classes": [_plain(classes) for classes in kind.classes],
        "task_start": kind.task_start.tolist(),
    }
    if kind.name != "regression":
        told |= _formulas(model)
    if kind.name == "regression":
        told |= {
            "center": np.repeat(kind.center, kind.n_columns).tolist(),
            "scale": np.repeat(kind.scale, kind.n_columns).tolist(),
            "offset": kind.offset.tolist(),
            "quantiles": kind.quantiles.tolist(),
            "is_log": kind.is_log,
            "is_single": kind.is_single,
        }
    return told


def _formulas(model: Model) -> dict[str, Any]:
    """The factor and the other numbers of every question, or why there are none."""
    try:
        found = formulas_of(model)
    except ExportError as error:
        return {"no_probabilities": str(error)}
    return {
        "factor": [formula.factor for formula in found],
        "bend": [None if formula.bend is None else formula.bend.tolist() for formula in found],
        "bias": [None if formula.bias is None else formula.bias.tolist() for formula in found],
        "weights": [None if formula.weights is None else formula.weights.tolist() for formula in found],
        "least": None if found[0].bias is None else found[0].least,
        "logistic": [None if formula.logistic is None else formula.logistic.tolist() for formula in found],
        "curves": [None if formula.curves is None else [c.tolist() for c in formula.curves] for formula in found],
        "against": found[0].against,
    }


def _plain(classes: np.ndarray) -> list:
    return [c if isinstance(c, (str, int, float, bool)) else str(c) for c in classes.tolist()]


def _literal(told: dict[str, Any]) -> str:
    """JSON inside a Python string: any name is only text there, and ASCII."""
    return "\n    ".join(_lines(json.dumps(told)))


def _lines(text: str) -> list[str]:
    """String literals of a line each."""
    return [repr(text[k : k + _WIDTH]) for k in range(0, max(1, len(text)), _WIDTH)]


def _packed(array: np.ndarray) -> str:
    little = np.ascontiguousarray(array).astype(_TYPES[array.dtype.kind])
    lines = "\n        ".join(_lines(base64.b85encode(zlib.compress(little.tobytes(), 9)).decode()))
    return f"(\n        {lines},\n        {little.dtype.str!r}, {array.shape!r},\n    )"


_TEMPLATE = '''"""A boosted model, written by multiboost {version}; model {digest}.

Needs NumPy only.  decision_function(X), predict(X), and predict_proba(X) for classes.

X has a row for every sample and a column for each of COLUMNS: numbers, NaN or None where a value is missing.  A nominal
column (one that CATEGORIES has names for) holds names of categories; whatever is none is missing.
"""

import base64
import json
import zlib

import numpy as np

_TOLD = json.loads(
    {told}
)
_PACKED = {{
{arrays}}}
COLUMNS, CATEGORIES = _TOLD["columns"], _TOLD["categories"]


def _unpacked(text, dtype, shape):
    return np.frombuffer(zlib.decompress(base64.b85decode(text)), dtype).reshape(shape)


_A = {{name: _unpacked(*packed) for name, packed in _PACKED.items()}}


def _text(value):
    """The name of a category: 3, 3.0 and "3" are one."""
    if isinstance(value, (int, float, np.number)) and not isinstance(value, (bool, np.bool_)):
        return str(int(value)) if float(value).is_integer() else repr(float(value))
    return str(value)


def _is_missing(value):
    return value is None or type(value).__name__ in ("NAType", "NaTType") or value != value


def _numbers(X):
    """X as float64 with numbers of categories."""
    names = list(getattr(X, "column_names", getattr(X, "columns", [])))  # Arrow's are called otherwise
    if _TOLD["named"] and names and all(isinstance(name, str) for name in names) and names != COLUMNS:
        raise ValueError(f"X has the columns {{names}}; give them in this order: {{COLUMNS}}")
    X = X.to_numpy() if hasattr(X, "to_numpy") else np.asarray(X)
    if X.ndim != 2 or X.shape[1] != len(COLUMNS):
        raise ValueError(f"X must have the shape (n, {{len(COLUMNS)}}); got {{X.shape}}")
    found = np.empty(X.shape)
    for j, names in enumerate(CATEGORIES):
        column = X[:, j]
        if names is not None:
            number = {{name: k for k, name in enumerate(names)}}
            found[:, j] = [np.nan if _is_missing(v) else number.get(_text(v), np.nan) for v in column]
        elif X.dtype.kind == "O":
            found[:, j] = [np.nan if _is_missing(v) else v for v in column]
        else:
            found[:, j] = column
    return found


def _leaves(root, X):
    """The leaf of every row in one term."""
    node = np.full(len(X), root)
    while True:
        rows = np.flatnonzero(node >= 0)
        if not rows.size:
            return -1 - node
        k = node[rows]
        value = X[rows, _A["feature"][k]]
        right = value > _A["threshold"][k]
        in_set = np.flatnonzero((_A["set_start"][k] >= 0) & ~np.isnan(value))
        category = value[in_set].astype(np.int64)
        right[in_set] = _A["sets"][_A["set_start"][k[in_set]] + (category >> 3)] >> (category & 7) & 1
        right = np.where(np.isnan(value), _A["missing_right"][k], right)
        node[rows] = _A["child"][k, right.astype(np.intp)]

{votes}

def _scores(X):
    X = _numbers(X)
    scores = np.tile(_A["initial"], (len(X), 1))
    for a, b in zip(_A["first_term"][:-1], _A["first_term"][1:]):
        h = _votes(a, X)
        for term in range(a + 1, b):
            h = h * _votes(term, X)
        scores += h
    return scores


{answers}'''

_CONSTANTS = """
def _votes(term, X):
    return _A["values"][_leaves(_A["root"][term], X)]
"""
_CURVES = '''
def _votes(term, X):
    """Polynomials of a column; a missing value is at the origin."""
    leaf, degree, column = _leaves(_A["root"][term], X), _A["degree"][term], _A["along"][term]
    total = _A["values"][leaf + degree]
    if column >= 0:
        place = X[:, column] - _A["origin"][leaf]
        place = np.where(np.isnan(X[:, column]), 0.0, place)[:, None]
        for power in range(degree - 1, -1, -1):
            total = total * place + _A["values"][leaf + power]
    return total
'''

_CHANCES = '''
def _log_softmax(z):
    z = z - z.max(axis=1, keepdims=True)
    return z - np.log(np.exp(z).sum(axis=1, keepdims=True))


def _chances(q, scores):
    """Probabilities of the answers to the question q, from their scores, (n, k)."""
    if "no_probabilities" in _TOLD:
        raise NotImplementedError(_TOLD["no_probabilities"])
    z = _TOLD["factor"][q] * scores
    if _TOLD["bias"][q] is not None:
        x, W = np.maximum(_log_softmax(z), _TOLD["least"]), np.array(_TOLD["weights"][q])
        z = x + (x @ W.T if W.ndim == 2 else x * W) + _TOLD["bias"][q]
    if _TOLD["bend"][q] is not None:
        low, high, a, b, c = _TOLD["bend"][q]
        odds = z[:, 1] - z[:, 0]
        inside = odds.clip(low, high)
        odds = odds + a + b * odds + c * (inside * inside + 2 * inside * (odds - inside))
        z = np.stack([-odds / 2, odds / 2], axis=1)
    if _TOLD["against"] and z.shape[1] == 2:
        z = z - z[:, ::-1]
    if _TOLD["curves"][q] is not None:
        p = np.stack([np.interp(x, *curve) for x, curve in zip(z.T, _TOLD["curves"][q])], axis=1)
        total = p.sum(axis=1, keepdims=True)
        return np.where(total > 0, p / np.where(total > 0, total, 1.0), 1.0 / p.shape[1])
    if _TOLD["logistic"][q] is not None:
        a, b = np.array(_TOLD["logistic"][q])
        z = -np.logaddexp(0.0, -(a * z + b))
    p = np.exp(z - z.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)
'''
_LABEL_CHANCES = (
    _CHANCES
    + '''

def _label_chances(scores):
    """Probabilities of labels, (n, K).  The answers yes and no share the log odds."""
    return np.stack([_chances(q, np.stack([-f / 2, f / 2], axis=1))[:, 1] for q, f in enumerate(scores.T)], axis=1)
'''
)
_PLAIN_SCORES = '''
def decision_function(X):
    """Scores, one column for every label."""
    return _scores(X)
'''

_ANSWERS = {
    "binary": '''def decision_function(X):
    """Scores: above 0 is the second class."""
    return _scores(X)[:, 0]


def predict(X):
    """Classes."""
    return np.array(_TOLD["classes"][0])[(decision_function(X) > 0).astype(np.intp)]
'''
    + "\n" + _LABEL_CHANCES + '''

def predict_proba(X):
    """Probabilities of the two classes."""
    p = _label_chances(_scores(X))[:, 0]
    return np.stack([1.0 - p, p], axis=1)
''',
    "multilabel": _PLAIN_SCORES.lstrip() + "\n" + _LABEL_CHANCES + '''

def predict(X):
    """0 or 1 for every label."""
    return (_scores(X) > 0).astype(np.intp)


def predict_proba(X):
    """Probabilities of the labels."""
    return _label_chances(_scores(X))
''',
    "multiclass": _PLAIN_SCORES.lstrip() + "\n" + _CHANCES + '''

def predict(X):
    """Classes."""
    return np.array(_TOLD["classes"][0])[_scores(X).argmax(axis=1)]


def predict_proba(X):
    """Probabilities of the classes."""
    return _chances(0, _scores(X))
''',
    "multitask": _PLAIN_SCORES.lstrip() + "\n" + _CHANCES + '''

def _by_task(scores):
    return np.split(scores, _TOLD["task_start"][1:-1], axis=1)


def predict(X):
    """Classes, a column for each task."""
    parts = zip(_TOLD["classes"], _by_task(_scores(X)))
    columns = [np.array(classes)[part.argmax(axis=1)] for classes, part in parts]
    alike = len({c.dtype.kind for c in columns}) == 1
    return np.stack(columns if alike else [c.astype(object) for c in columns], axis=1)


def predict_proba(X):
    """Probabilities of the classes, an array for each task."""
    return [_chances(q, part) for q, part in enumerate(_by_task(_scores(X)))]
''',
    "regression": _PLAIN_SCORES.lstrip() + '''

def predict(X):
    """Numbers; several quantiles from small to large."""
    F = _scores(X) + np.array(_TOLD["offset"])
    with np.errstate(over="ignore"):
        found = np.exp(F) if _TOLD["is_log"] else np.array(_TOLD["center"]) + np.array(_TOLD["scale"]) * F
    n_targets, n_quantiles = len(_TOLD["classes"][0]), len(_TOLD["quantiles"])
    found = found.reshape(len(found), n_targets, max(1, n_quantiles))
    found = np.sort(found, axis=2) if n_quantiles > 1 else found[:, :, 0]
    return found[:, 0] if _TOLD["is_single"] else found
''',
}  # fmt: skip
