"""The labels of a file as those of a model: classes by name, labels and tasks by column."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.categories import text_of
from ..data.kinds import LabelKind, as_labels, unknown_labels
from .failure import BadInput


def matched(examples: Any, kind: LabelKind, owner: str) -> np.ndarray:
    """y in the terms of a target: 1 of one file is the class "1" of another.

    Parameters
    ----------
    examples : Examples
        With y.
    kind : LabelKind
        Of the model, or of the training file.
    owner : str
        Whose classes they are, for messages.

    Returns
    -------
    ndarray (n,), or (n, columns) of floats (labels) or objects (tasks) with NaN or None for what is unknown
    """
    file, y = examples.file, examples.y
    is_single = kind.is_single
    if is_single == hasattr(y, "num_rows"):
        one, several = "one class per row", "several labels or tasks"
        raise BadInput(f"{file} has {several if is_single else one}, but {owner} has {one if is_single else several}")
    if is_single:
        what = f"the target {examples.target[0]!r}" if examples.target else "the class"
        return _same_classes(np.asarray(y), kind.classes[0], file, what, owner)
    if not kind.tasks:
        return _same_labels(examples, [str(name) for name in kind.classes[0]], owner)
    values = as_labels(y)
    if values.shape[1] != len(kind.classes):
        raise BadInput(f"{file}: {values.shape[1]} columns of classes are given, but {owner} has {len(kind.classes)}")
    found = np.full(values.shape, None, dtype=object)
    for t, classes in enumerate(kind.classes):
        there = ~unknown_labels(values[:, t])
        what = f"the target {examples.target[t]!r}"
        found[there, t] = _same_classes(values[there, t], classes, file, what, owner)
    return found


def _same_classes(y: np.ndarray, classes: np.ndarray, file: str, what: str, owner: str) -> np.ndarray:
    by_name = {text_of(c): c for c in classes.tolist()}
    values = y.tolist()
    of_value = {v: by_name.get(text_of(v)) for v in set(values)}
    unknown = sorted(text_of(v) for v, c in of_value.items() if c is None)
    if unknown:
        names = ", ".join(map(repr, list(by_name)[:12])) + (" ..." if len(by_name) > 12 else "")
        raise BadInput(f"{file}: {what} holds {unknown[0]!r}, which is not one of the classes of {owner}: {names}")
    return np.array([of_value[v] for v in values], dtype=classes.dtype if classes.dtype.kind != "U" else object)


def _same_labels(examples: Any, names: list[str], owner: str) -> np.ndarray:
    y, file = examples.y, examples.file
    here = list(y.column_names)
    if not set(names) & set(here) and len(names) == len(here):
        names = here  # a model of arrays, whose labels have numbers
    extra = [name for name in here if name not in names]
    if extra:
        raise BadInput(f"{file} has a label {extra[0]!r} that {owner} has not")
    columns = []
    for name in names:
        if name not in here:
            if examples.format != "svmlight":
                raise BadInput(f"{file} has no label {name!r}, which {owner} has")
            columns.append(np.zeros(y.num_rows))  # a label that no row has leaves no trace in such a file
            continue
        try:
            column = np.array([np.nan if v is None else float(v) for v in y.column(name).to_pylist()])
        except ValueError:
            column = np.full(y.num_rows, 2.0)
        if not (np.isnan(column) | np.isin(column, (0.0, 1.0))).all():
            raise BadInput(f"{file}: the label {name!r} holds something else than 0 and 1")
        columns.append(column)
    return np.stack(columns, axis=1)
