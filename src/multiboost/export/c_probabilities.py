"""Probabilities in C99: the formulas of a calibration, see ``calibration.Formula``."""

from __future__ import annotations

import numpy as np

from ..calibration import Formula
from ..model.model import Model
from .c_scores import Piece
from .c_text import filled, number, table
from .exportable import formulas_of


def probabilities(model: Model, name: str, score: str, scale: str) -> Piece:
    """A function for the probabilities of classes or labels.

    Parameters
    ----------
    model : Model
    name, score, scale : str
        See `answers`.
    """
    kind, real = model.kind, "float" if score == "float" else "double"
    formulas = formulas_of(model)
    rows = [_row(formula) for formula in formulas]
    start = np.cumsum([0, *map(len, rows)]).tolist()
    questions = ""
    if kind.tasks:
        body = ""
        for part, at in zip(kind.tasks, start[:-1], strict=True):
            a, n = part.start, part.stop - part.start
            body += f"    task(scores + {a}, p + {a}, {n}, calibration + {at});\n"
    elif kind.name == "binary":
        body = "    p[1] = label(scores[0], calibration);\n    p[0] = 1 - p[1];\n"
    else:
        questions = table("static const int32_t question[]", [str(at) for at in start[:-1]])
        body = (
            f"    int k;\n    for (k = 0; k < {name.upper()}_LABELS; k++)\n"
            "        p[k] = label(scores[k], calibration + question[k]);\n"
        )
    most = max(0 if formula.bias is None else formula.bias.size for formula in formulas)
    f = "f" if real == "float" else ""
    own = filled(
        _formula(formulas[0]) + (_TASK if kind.tasks else _LABEL),
        REAL=real, SCORE=score, SCALED=scale, EXP=f"exp{f}", LOG=f"log{f}", MOST=str(most),
        LEAST=number(formulas[0].least, real),
    )  # fmt: skip
    numbers = [number(value, real) for row in rows for value in row]
    declared = f"void {name}_probabilities(const {score} *scores, {real} *p)"
    n = 2 if kind.name == "binary" else kind.n_labels
    return Piece(
        f"/* Probabilities of classes or labels. */\n{declared}; /* p[{n}] */\n",
        table(f"static const {real} calibration[]", numbers) + questions + own + f"\n{declared}\n{{\n{body}}}\n",
        True,
    )


def _row(formula: Formula) -> list[float]:
    """The numbers of a question, in the order in which the code reads them."""
    learned = [formula.bend, formula.bias, formula.weights, formula.logistic]
    for curve in formula.curves or ():
        learned += [np.array([curve.shape[1]]), curve]
    return [formula.factor, *(x for part in learned if part is not None for x in part.ravel().tolist())]


def _formula(formula: Formula) -> str:
    """A function from the scores of a question, times their factor, to probabilities, in place."""
    against = _AGAINST if formula.against else ""
    if formula.curves is not None:
        return _HEIGHT + _CALIBRATED.replace("    FORM\n", against + _CURVES)
    if formula.bend is not None:
        form = _BEND
    elif formula.logistic is not None:
        form = against + _LOGISTIC
    elif formula.weights is None:
        form = ""
    else:
        form = _AFFINE.replace("SUM;", _WHOLE if formula.weights.ndim == 2 else _DIAGONAL)
    return _CALIBRATED.replace("    FORM\n", form + _SOFTMAX)


# Words in capitals are filled in.  z has n scores, c the numbers of the question: the factor, then as in `_row`.

_CALIBRATED = """
static void calibrated(REAL *z, int n, const REAL *c)
{
    int k;
    for (k = 0; k < n; k++)
        z[k] *= c[0];
    FORM
}
"""

_SOFTMAX = """    {
        REAL top = z[0], total = 0;
        for (k = 1; k < n; k++)
            if (z[k] > top)
                top = z[k];
        for (k = 0; k < n; k++) {
            z[k] = EXP(z[k] - top);
            total += z[k];
        }
        for (k = 0; k < n; k++)
            z[k] /= total;
    }
"""

_AGAINST = """    if (n == 2) {
        z[1] -= z[0];
        z[0] = -z[1];
    }
"""

_LOGISTIC = """    for (k = 0; k < n; k++) {
        REAL u = c[1 + k] * z[k] + c[1 + n + k];
        z[k] = (u < 0 ? u : 0) - LOG(1 + EXP(u < 0 ? u : -u));
    }
"""

# A curve has its number of knots, the knots and their heights.

_HEIGHT = """
static REAL height(const REAL *knots, int n, REAL x)
{
    const REAL *heights = knots + n;
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (knots[middle] <= x)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return heights[0];
    if (low == n)
        return heights[n - 1];
    x = (x - knots[low - 1]) / (knots[low] - knots[low - 1]);
    return heights[low - 1] + x * (heights[low] - heights[low - 1]);
}
"""

_CURVES = """    {
        REAL total = 0;
        for (c++, k = 0; k < n; k++) {
            int knots = (int)c[0];
            z[k] = height(c + 1, knots, z[k]);
            total += z[k];
            c += 1 + 2 * knots;
        }
        for (k = 0; k < n; k++)
            z[k] = total > 0 ? z[k] / total : (REAL)1 / n;
    }
"""

_BEND = """    {
        REAL l = z[1] - z[0], i = l < c[1] ? c[1] : l > c[2] ? c[2] : l;
        l += c[3] + c[4] * l + c[5] * (i * i + 2 * i * (l - i));
        z[0] = -l / 2;
        z[1] = l / 2;
    }
"""

_AFFINE = """    {
        REAL x[MOST], top = z[0], sum = 0;
        for (k = 1; k < n; k++)
            if (z[k] > top)
                top = z[k];
        for (k = 0; k < n; k++)
            sum += EXP(z[k] - top);
        for (k = 0; k < n; k++) {
            x[k] = z[k] - top - LOG(sum);
            if (x[k] < LEAST)
                x[k] = LEAST;
        }
        for (k = 0; k < n; k++) {
            SUM;
            z[k] = x[k] + sum + c[1 + k];
        }
    }
"""

_WHOLE = """int j;
            sum = 0;
            for (j = 0; j < n; j++)
                sum += c[1 + n + n * k + j] * x[j];"""

_DIAGONAL = "sum = c[1 + n + k] * x[k];"

_TASK = """
static void task(const SCORE *scores, REAL *p, int n, const REAL *c)
{
    int k;
    for (k = 0; k < n; k++)
        p[k] = scores[k]SCALED;
    calibrated(p, n, c);
}
"""

_LABEL = """
static REAL label(SCORE score, const REAL *c)
{
    REAL z[2];
    z[1] = (score)SCALED;
    z[1] /= 2;
    z[0] = -z[1];
    calibrated(z, 2, c);
    return z[1];
}
"""
