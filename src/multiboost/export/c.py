"""A model as C99: one header and one source file, static tables, no allocation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .. import __version__
from ..disk import whole_file
from ..model.model import Model
from .c_answers import answers
from .c_fixed import fixed_scores
from .c_scores import Piece, float_scores
from .c_text import distinct_identifiers, filled, identifier, is_identifier, table, text
from .exportable import ExportError, column_names, exportable
from .fixed import FixedPoint

PRECISIONS = ("double", "float")


@dataclass(frozen=True)
class CSource:
    """The two files.

    Attributes
    ----------
    name : str
        That identifiers begin with.
    header, source : str
    fixed : FixedPoint or None
        The integers of a fixed-point model, which computes what the compiled code does.
    """

    name: str
    header: str
    source: str
    fixed: FixedPoint | None = None

    def write(self, path) -> tuple[Path, Path]:
        """Write NAME.h and NAME.c.

        Parameters
        ----------
        path : str or path
            Of the source file; the header is beside it, and has the name of the model.
        """
        path = Path(path)
        header = path.with_name(f"{self.name}.h")
        with whole_file(header) as file:
            file.write(self.header.encode("ascii"))
        with whole_file(path) as file:
            file.write(self.source.encode("ascii"))
        return header, path


def to_c(model, name: str = "model", *, precision: str = "double", probabilities: bool = False, fixed=None) -> CSource:
    """A model as C99.

    Parameters
    ----------
    model : fitted estimator or Model
    name : str, default="model"
        That all public identifiers begin with.
    precision : {"double", "float"}, default="double"
        Of rows and scores.  Scores in double precision have the bits of ``decision_function``; those of floats are
        within ``NAME_TOLERANCE`` of them.
    probabilities : bool, default=False
        Whether to write a function for them; it needs math.h.
    fixed : str, Grid, dict or None
        Integers instead: "q8.8", a `Grid`, or one of them for each column by its name.  See `FixedPoint`.

    Returns
    -------
    CSource
    """
    exact = precision == "double" and fixed is None
    model = exportable(model, curves=exact, policies=exact)
    if not is_identifier(name):
        raise ExportError(f"name {name!r} cannot begin a C identifier; {identifier(name)!r} can")
    if precision not in PRECISIONS:
        raise ExportError(f"precision {precision!r}: there are {' and '.join(PRECISIONS)}")
    if probabilities and model.kind.name == "regression":
        raise ExportError("the model predicts numbers, and numbers have no probabilities; leave them out")
    integers, score, scale = None, precision, ""
    if fixed is None:
        scores = float_scores(model, name, precision)
    else:
        if precision != "double":
            raise ExportError("precision and fixed exclude each other: fixed point has integers")
        integers = FixedPoint.of(model, fixed)
        scores = fixed_scores(integers, name)
        score, scale = "int32_t", f" * (1.0 / {name.upper()}_ONE)"
    pieces = [_columns(model, name), scores, answers(model, name, score, scale, probabilities)]
    return CSource(name, _header(model, name, pieces), _source(name, pieces), integers)


def _header(model: Model, name: str, pieces: list[Piece]) -> str:
    upper, ensemble = name.upper(), model.ensemble
    return f"""/* Written by multiboost {__version__}: {model.n_rounds} rounds, model {model.digest()}. */

#ifndef {upper}_H
#define {upper}_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

#define {upper}_COLUMNS {model.columns.n}
#define {upper}_LABELS {ensemble.n_labels}

{chr(10).join(piece.header for piece in pieces)}
#ifdef __cplusplus
}}
#endif

#endif
"""


def _source(name: str, pieces: list[Piece]) -> str:
    math = "#include <math.h>\n" if any(piece.needs_math for piece in pieces) else ""
    return f"""#include "{name}.h"
{math}
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "compile without -ffast-math: a missing value is NaN"
#endif
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

{chr(10).join(piece.source for piece in pieces)}"""


def _columns(model: Model, name: str) -> Piece:
    """Names of columns and categories."""
    upper, names = name.upper(), column_names(model)
    ends = distinct_identifiers(names)
    header = "/* Columns of a row by their names. */\nenum {\n"
    header += ",\n".join(f"    {upper}_COLUMN_{end} = {j}" for j, end in enumerate(ends)) + "\n};\n"
    header += f"extern const char *const {name}_column_names[{upper}_COLUMNS];\n"
    source = table(f"const char *const {name}_column_names[{upper}_COLUMNS]",
                   [text(one, "the column") for one in names])  # fmt: skip
    lists = [model.columns.category_names(j) for j in range(model.columns.n)]
    if all(categories is None for categories in lists):
        return Piece(header, source)
    header += (
        "\n/* The number of a category; -1 where the column has no category of this name. */\n"
        f"int {name}_category(int column, const char *text);\n"
    )
    flat = [category for categories in lists for category in categories or []]
    first, at = [], 0
    for categories in lists:
        first.append(str(at))
        at += len(categories or [])
    source += "\n" + table("static const char *const categories[]", [text(one, "the category") for one in flat])
    source += "\n" + table("static const int32_t category_start[]", [*first, str(at)])
    return Piece(header, source + filled(_CATEGORY, NAME=name, COLUMNS=f"{upper}_COLUMNS"))


_CATEGORY = """
int NAME_category(int column, const char *text)
{
    int32_t k;
    if (column < 0 || column >= COLUMNS)
        return -1;
    for (k = category_start[column]; k < category_start[column + 1]; k++) {
        const char *a = categories[k], *b = text;
        while (*a && *a == *b)
            a++, b++;
        if (*a == *b)
            return (int)(k - category_start[column]);
    }
    return -1;
}
"""
