"""The numbers of a file, for regression and rankings: one column or several, by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.kinds import unknown_labels
from ..data.real import Real
from ..files import Content
from .failure import BadInput


def numbers_of(content: Content, target: list[str], columns: dict[str, Any]):
    """y, weights of pairs (files have none), and the names of the target's columns.

    Parameters
    ----------
    content : Content
    target : list of str
        Empty where the format carries one number per row.
    columns : dict
        The columns of the file by name, at least those of the target.

    Returns
    -------
    y : ndarray (n,), pyarrow.Table of several columns with NaN for what is unknown, or None
    weights : None
    names : list of str
    """
    file = content.file
    if len(target) > 1:
        import pyarrow as pa

        return pa.table({name: _numbers(columns[name], f"the target {name!r}", file) for name in target}), None, target
    if target:
        found, what = _numbers(columns[target[0]], f"the target {target[0]!r}", file), f"the target {target[0]!r}"
    elif content.labels is None:
        return None, None, []
    elif content.labels.classes is None:
        raise BadInput(f"{file} has several labels in a row; this task needs one number: name its --target")
    else:
        found, what = _numbers(content.labels.classes, "the target", file), "the target"
    missing = np.isnan(found)
    if missing.any():
        row = int(missing.argmax())
        raise BadInput(f"{file}: {what} is missing in row {row + 1}; every row of a single target needs its number")
    return found, None, target


def _numbers(column: Any, what: str, file: str) -> np.ndarray:
    """A column as float64; NaN where it is empty."""
    values = column.to_pylist() if hasattr(column, "to_pylist") else np.asarray(column).tolist()
    found = np.empty(len(values))
    for row, value in enumerate(values):
        try:
            found[row] = np.nan if value is None else float(value)
        except (TypeError, ValueError) as error:
            raise BadInput(f"{file}: {what} holds {value!r} in row {row + 1}, which is not a number") from error
        if np.isinf(found[row]):
            raise BadInput(f"{file}: {what} holds {value} in row {row + 1}; a target is a finite number")
    return found


def matched_grades(examples: Any) -> np.ndarray:
    """y as the grades of documents, (n,)."""
    if hasattr(examples.y, "num_rows"):
        raise BadInput(f"{examples.file}: several targets are given; --task ranking needs one grade for every row")
    wrong = np.flatnonzero(examples.y < 0)
    if wrong.size:
        raise BadInput(
            f"{examples.file}: the grade in row {wrong[0] + 1} is {examples.y[wrong[0]]:g}; grades are at least 0"
        )
    return examples.y


def queries_of(content: Content, query: str | None, columns: dict[str, Any]) -> np.ndarray | None:
    """The query of every row, from a column, or as the format carries it; None where there is none.

    Parameters
    ----------
    content : Content
    query : str or None
        The column of ``--query``.
    columns : dict
        The columns of the file by name, at least that one.
    """
    if query is None:
        return content.groups
    column = columns[query]
    found = np.asarray(column.to_pylist() if hasattr(column, "to_pylist") else column)
    empty = unknown_labels(found)
    if empty.any():
        raise BadInput(f"{content.file}: column {query!r} (--query) is empty in row {int(empty.argmax()) + 1}")
    return found


def matched_numbers(examples: Any, kind: Real, owner: str) -> np.ndarray:
    """y with the targets of a model, or of the training file, in their order.

    Parameters
    ----------
    examples : Examples
        With y.
    kind : Real
    owner : str
        Whose targets they are, for messages.
    """
    file, y = examples.file, examples.y
    if kind.is_single == hasattr(y, "num_rows"):
        given = "several targets" if kind.is_single else "one target"
        raise BadInput(f"{file}: {given} given, but {owner} has {kind.n_targets}; name them with --target")
    if kind.is_single:
        return y
    names, here = [str(name) for name in kind.classes[0]], list(y.column_names)
    if not set(names) & set(here) and len(names) == len(here):
        names = here  # a model of arrays, whose targets have numbers
    for name in names:
        if name not in here:
            raise BadInput(f"{file}: the target {name!r} of {owner} is not given; name it with --target")
    extra = [name for name in here if name not in names]
    if extra:
        raise BadInput(f"{file}: there is a target {extra[0]!r} that {owner} has not")
    return np.stack([y.column(name).to_numpy() for name in names], axis=1)
