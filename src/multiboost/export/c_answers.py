"""From scores to answers in C99: classes, probabilities and numbers, as the kinds of targets do."""

from __future__ import annotations

from collections.abc import Callable

from ..model.model import Model
from .c_probabilities import probabilities as c_probabilities
from .c_scores import Piece
from .c_text import braces, number, table, text


def answers(model: Model, name: str, score: str, scale: str, probabilities: bool) -> Piece:
    """What the scores of a row mean.

    Parameters
    ----------
    model : Model
    name : str
        That identifiers begin with.
    score : str
        The type of a score.
    scale : str
        What a score is to be multiplied with, " * ..." or nothing.
    probabilities : bool
        Whether they are wanted: they need exp and log of math.h.
    """
    found = _BY_KIND[model.kind.name](model, name, score, scale)
    if not probabilities:
        return found
    chances = c_probabilities(model, name, score, scale)
    return Piece(found.header + "\n" + chances.header, found.source + "\n" + chances.source, True)


def _names(name: str, labels: list[str]) -> Piece:
    """The table of class names."""
    entries = [text(label, "the class") for label in labels]
    return Piece(
        f"extern const char *const {name}_class_names[{len(labels)}];\n",
        table(f"const char *const {name}_class_names[{len(labels)}]", entries),
    )


def _binary(model: Model, name: str, score: str, scale: str) -> Piece:
    names = _names(name, [str(c) for c in model.kind.classes[0]])
    return Piece(
        f"/* The class of a row: 0 or 1. */\nint {name}_class(const {score} *scores);\n" + names.header,
        f"int {name}_class(const {score} *scores)\n{{\n    return scores[0] > 0;\n}}\n\n" + names.source,
    )


def _multilabel(model: Model, name: str, score: str, scale: str) -> Piece:
    names = _names(name, model.kind.label_names())
    return Piece(
        f"/* Whether a row has the label k: 0 or 1. */\nint {name}_class(const {score} *scores, int k);\n"
        + names.header,
        f"int {name}_class(const {score} *scores, int k)\n{{\n    return scores[k] > 0;\n}}\n\n" + names.source,
    )


def _argmax(score: str) -> str:
    return (
        f"static int largest(const {score} *scores, int n)\n{{\n    int k, best = 0;\n"
        "    for (k = 1; k < n; k++)\n        if (scores[k] > scores[best])\n            best = k;\n"
        "    return best;\n}\n\n"
    )


def _multiclass(model: Model, name: str, score: str, scale: str) -> Piece:
    names = _names(name, model.kind.label_names())
    return Piece(
        f"/* The number of a row's class. */\nint {name}_class(const {score} *scores);\n" + names.header,
        _argmax(score)
        + f"int {name}_class(const {score} *scores)\n{{\n    return largest(scores, {name.upper()}_LABELS);\n}}\n\n"
        + names.source,
    )


def _multitask(model: Model, name: str, score: str, scale: str) -> Piece:
    names = _names(name, model.kind.label_names())
    upper, starts = name.upper(), model.kind.task_start.tolist()
    return Piece(
        f"#define {upper}_TASKS {len(starts) - 1}\n\n"
        "/* The class of a row in a task, as a column of the scores.  The columns of task t begin at first[t]. */\n"
        f"int {name}_class(const {score} *scores, int task);\n"
        f"extern const int {name}_first[{len(starts)}];\n" + names.header,
        table(f"const int {name}_first[{len(starts)}]", [str(k) for k in starts])
        + "\n"
        + _argmax(score)
        + f"int {name}_class(const {score} *scores, int task)\n{{\n    int first = {name}_first[task];\n"
        f"    return first + largest(scores + first, {name}_first[task + 1] - first);\n}}\n\n" + names.source,
    )


def _regression(model: Model, name: str, score: str, scale: str) -> Piece:
    """center + scale (F + offset), or exp; several quantiles of a target are sorted."""
    kind, upper = model.kind, name.upper()
    real = "float" if score == "float" else "double"
    rows = [
        braces([number(kind.offset[k], real)]
               + [number(v[k // kind.n_columns], real) for v in (kind.scale, kind.center)])
        for k in range(kind.n_labels)
    ]  # fmt: skip
    result = f"values[k] = exp{'f' if real == 'float' else ''}(F);"
    if not kind.is_log:
        # volatile: a fused multiplication and addition would round once, where we round twice.
        result = f"volatile {real} part = answer[k][1] * F;\n        values[k] = answer[k][2] + part;"
        result = f"{{\n            {result}\n        }}".replace("\n        values", "\n            values")
    sort = f"""    for (k = 0; k < {upper}_LABELS; k++) {{
        int j;
        for (j = k; j % {kind.n_columns} > 0 && values[j - 1] > values[j]; j--) {{
            {real} other = values[j];
            values[j] = values[j - 1];
            values[j - 1] = other;
        }}
    }}
"""
    return Piece(
        "/* What the model predicts, in the units of the target"
        + (", quantiles from small to large" if kind.n_columns > 1 else "")
        + f". */\nvoid {name}_values(const {score} *scores, {real} *values); /* values[{upper}_LABELS] */\n",
        table(f"static const {real} answer[][3]", rows)
        + f"\nvoid {name}_values(const {score} *scores, {real} *values)\n{{\n    int k;\n"
        f"    for (k = 0; k < {upper}_LABELS; k++) {{\n"
        f"        {real} F = scores[k]{scale} + answer[k][0];\n        {result}\n    }}\n"
        + (sort if kind.n_columns > 1 else "")
        + "}\n",
        kind.is_log,
    )


_BY_KIND: dict[str, Callable[[Model, str, str, str], Piece]] = {
    "binary": _binary,
    "multiclass": _multiclass,
    "multilabel": _multilabel,
    "multitask": _multitask,
    "regression": _regression,
}
