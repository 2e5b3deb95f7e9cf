"""Labels and weights: everything downstream sees only Y in {-1, 0, +1} and W0.

======================  =================================  ==============================
kind                    what y looks like                  labels (columns of Y)
======================  =================================  ==============================
binary                  (n,), two classes                  1: the second class or not
multiclass              (n,), K classes                    K, one positive per sample
multilabel              (n, K) of 0 and 1                  K
multitask               (n, tasks) of classes              all classes of all tasks
======================  =================================  ==============================

In multilabel and multitask targets NaN, None and pandas.NA mean "unknown": Y is 0 there
and so is the weight.
"""

from __future__ import annotations

from numbers import Real

import numpy as np

KINDS = ("binary", "multiclass", "multilabel", "multitask")
WEIGHTINGS = ("auto", "uniform", "half", "balanced", "given")


def unknown_labels(column: np.ndarray) -> np.ndarray:
    """Where an object or float array says that a label is not known."""
    if column.dtype.kind == "f":
        return np.isnan(column)
    if column.dtype.kind != "O":
        return np.zeros(column.shape, bool)
    flat = [v is None or type(v).__name__ == "NAType" or v != v for v in column.ravel()]  # noqa: PLR0124
    return np.array(flat, bool).reshape(column.shape)


def _sorted_unique(values: np.ndarray, what: str) -> np.ndarray:
    try:
        return np.unique(values)
    except TypeError as error:
        raise ValueError(f"{what} mixes classes that cannot be compared, such as text and numbers") from error


class TargetKind:
    """What the labels mean; kept in the model.

    Attributes
    ----------
    kind : {"binary", "multiclass", "multilabel", "multitask"}
    classes : list of ndarray
        Per task its classes; for multilabel one array with the labels' names.
    """

    def __init__(self, kind: str, classes: list[np.ndarray]):
        self.kind = kind
        self.classes = classes

    @property
    def n_labels(self) -> int:
        """K, the columns of F."""
        return 1 if self.kind == "binary" else sum(len(c) for c in self.classes)

    @property
    def task_start(self) -> np.ndarray:
        """Where each task's labels begin; one element where labels stand alone."""
        if self.kind in ("binary", "multilabel"):
            return np.zeros(1, np.intp)
        return np.concatenate([[0], np.cumsum([len(c) for c in self.classes])]).astype(np.intp)

    @property
    def tasks(self) -> list[slice]:
        """The columns of F that belong to each task."""
        start = self.task_start
        return [slice(start[t], start[t + 1]) for t in range(len(start) - 1)]

    def label_names(self) -> list[str]:
        """A name for every column of F."""
        if self.kind == "binary":
            return [str(self.classes[0][1])]
        if self.kind == "multitask":
            return [f"{t}:{c}" for t, classes in enumerate(self.classes) for c in classes]
        return [str(c) for c in self.classes[0]]

    def encode(self, y) -> np.ndarray:
        """Class numbers (n, tasks), or 0 and 1 (n, K) for multilabel; -1 is unknown."""
        y = as_labels(y)
        if self.kind == "multilabel":
            if y.ndim != 2 or y.shape[1] != len(self.classes[0]):
                raise ValueError(f"y must have {len(self.classes[0])} columns of 0 and 1; got shape {y.shape}")
            unknown = unknown_labels(y)
            return np.where(unknown, -1, np.where(unknown, 0, y).astype(np.intp))
        y = y.reshape(len(y), -1)
        if y.shape[1] != len(self.classes):
            raise ValueError(f"y must have {len(self.classes)} columns; got {y.shape[1]}")
        found = np.empty(y.shape, np.intp)
        for t, classes in enumerate(self.classes):
            column = y[:, t]
            unknown = unknown_labels(column) if self.kind == "multitask" else np.zeros(len(y), bool)
            known = column[~unknown]
            if known.dtype.kind == "O" and classes.dtype.kind != "O":
                # Text of any length: cut to the classes' length, "abcd" would be the class "abc".
                known = known.astype(str if classes.dtype.kind == "U" else classes.dtype)
            number = np.searchsorted(classes, known)
            number[number == len(classes)] = 0
            strange = classes[number] != known
            if strange.any():
                raise ValueError(f"y contains {known[strange][0]!r}, a class that was not seen in fit")
            found[:, t] = -1
            found[~unknown, t] = number
        return found

    def signs(self, encoded: np.ndarray) -> np.ndarray:
        """Y in {-1, 0, +1}, (n, K), of encoded labels."""
        if self.kind == "multilabel":
            return np.where(encoded < 0, 0, 2 * encoded - 1).astype(np.int8)
        if self.kind == "binary":
            return (2 * encoded - 1).astype(np.int8)
        signs = np.full((len(encoded), self.n_labels), -1, np.int8)
        for t, part in enumerate(self.tasks):
            known = encoded[:, t] >= 0
            signs[~known, part] = 0
            rows = np.flatnonzero(known)
            signs[rows, part.start + encoded[rows, t]] = 1
        return signs

    def decode(self, number: np.ndarray) -> np.ndarray:
        """Classes from class numbers, the inverse of `encode`."""
        if self.kind in ("binary", "multiclass"):
            return self.classes[0][number]
        if self.kind == "multilabel":
            return number
        columns = [classes[number[:, t]] for t, classes in enumerate(self.classes)]
        return (
            np.stack(columns, axis=1)
            if len({c.dtype.kind for c in columns}) == 1
            else np.stack([c.astype(object) for c in columns], axis=1)
        )


def as_labels(y) -> np.ndarray:
    """y as a NumPy array, whatever frame it comes in."""
    if hasattr(y, "to_numpy"):
        y = y.to_numpy()
    elif type(y).__module__.partition(".")[0] == "pyarrow":
        y = np.stack([c.to_numpy() for c in y.columns], axis=1) if hasattr(y, "columns") else y.to_numpy()
    elif hasattr(y, "toarray"):
        y = y.toarray()
    return np.asarray(y)


def recognise(y: np.ndarray, names=None) -> TargetKind:
    """Find out what kind of target y is.

    Parameters
    ----------
    y : ndarray (n,) or (n, columns)
    names : list of str or None
        Names of y's columns.
    """
    if y.ndim == 1:
        from sklearn.utils.multiclass import type_of_target  # not where a model only predicts: it takes a second

        kind = type_of_target(y, input_name="y", raise_unknown=True)
        if kind not in ("binary", "multiclass"):
            raise ValueError(
                f"Unknown label type: {kind}. y must hold classes; for numbers to be predicted as such "
                "this is the wrong estimator"
            )
        classes = _sorted_unique(y, "y")
        if len(classes) < 2:
            raise ValueError(f"y has only one class, {classes[0]}: a classifier needs at least two (n_classes=1)")
        return TargetKind("binary" if len(classes) == 2 else "multiclass", [classes])
    unknown = unknown_labels(y)
    known = y[~unknown]
    try:
        numbers = known.astype(np.float64)
        is_indicator = bool(np.isin(numbers, (0.0, 1.0)).all())
    except (TypeError, ValueError):
        is_indicator = False
    if is_indicator:
        labels = np.asarray(names) if names is not None else np.arange(y.shape[1])
        return TargetKind("multilabel", [labels])
    tasks = []
    for t in range(y.shape[1]):
        column = y[~unknown[:, t], t]
        if column.dtype.kind == "O" and all(isinstance(v, (int, np.integer)) for v in column):
            column = column.astype(np.int64)
        elif column.dtype.kind == "O" and all(isinstance(v, Real) for v in column):
            column = column.astype(np.float64)  # whole numbers beside unknown ones and a task of text
        if column.dtype.kind == "f":
            if not np.array_equal(column, np.floor(column)):
                raise ValueError(f"Unknown label type: continuous. Column {t} of y holds numbers that are not classes")
            column = column.astype(np.int64) if unknown[:, t].any() else column
        classes = _sorted_unique(column, f"column {t} of y")
        if len(classes) < 2:
            raise ValueError(f"column {t} of y has fewer than two classes; leave this task out")
        tasks.append(classes)
    return TargetKind("multitask", tasks)


class Target:
    """Labels and initial weights of a training set.

    Attributes
    ----------
    kind : TargetKind
    signed : ndarray (n, K)
        W0 Y, total weight 1.
    task_class : ndarray (n, tasks) int32
        Column of F that is right for each task, -1 where unknown.
    task_weight : ndarray (n, tasks)
    positive : ndarray (n,) or None
        The one positive label of each sample, where there is exactly one.
    row_weight : ndarray (n,) or None
        For quantiles; None where all rows weigh the same.
    """

    kind: TargetKind
    signed: np.ndarray
    task_class: np.ndarray
    task_weight: np.ndarray
    positive: np.ndarray | None
    row_weight: np.ndarray | None

    def __init__(self, kind: TargetKind, y, weighting="auto", sample_weight=None, label_weight=None):
        self.kind = kind
        encoded = kind.encode(y)
        signs = kind.signs(encoded)
        weights = _initial_weights(kind, signs, weighting, sample_weight, label_weight)
        if sample_weight is not None:
            weights = weights * sample_weight[:, None]
        weights[signs == 0] = 0.0
        total = weights.sum()
        if not total > 0:
            raise ValueError("all weights are zero (sample_weight times label_weight); nothing is left to learn from")
        weights /= total
        self.signed = weights * signs
        start = kind.task_start
        n_tasks = len(start) - 1
        self.task_class = np.where(encoded >= 0, encoded + start[:-1], -1) if n_tasks else np.zeros((len(signs), 0))
        self.task_class = self.task_class.astype(np.int32)
        self.task_weight = (
            np.stack([weights[:, part].sum(axis=1) for part in kind.tasks], axis=1)
            if n_tasks
            else (np.zeros((len(signs), 0)))
        )
        self.positive = encoded[:, 0].astype(np.int32) if kind.kind == "multiclass" else None
        self.row_weight = sample_weight

    def take(self, rows: np.ndarray) -> Target:
        """The target of some rows, with total weight 1 again."""
        part = object.__new__(Target)
        part.kind = self.kind
        total = np.abs(self.signed[rows]).sum()
        part.signed = self.signed[rows] / total
        part.task_class = self.task_class[rows]
        part.task_weight = self.task_weight[rows] / total
        part.positive = None if self.positive is None else self.positive[rows]
        part.row_weight = None if self.row_weight is None else self.row_weight[rows]
        return part

    def errors(self, scores: np.ndarray) -> np.ndarray:
        """Weighted errors of the rows of scores (n, K): of tasks where there are tasks, else of labels."""
        if not self.kind.tasks:
            return np.where((scores > 0) != (self.signed > 0), np.abs(self.signed), 0.0).sum(axis=1)
        best = np.column_stack([scores[:, part].argmax(axis=1) + part.start for part in self.kind.tasks])
        return np.where(best != self.task_class, self.task_weight, 0.0).sum(axis=1)


def _initial_weights(kind: TargetKind, signs: np.ndarray, weighting: str, sample_weight, label_weight) -> np.ndarray:
    """W0 before sample weights; each row of a fully known sample sums to 1."""
    n, n_labels = signs.shape
    if weighting == "auto":
        weighting = "uniform" if kind.kind == "multilabel" else "half"
    if label_weight is not None:
        label_weight = _label_weight(kind, label_weight, n)
    if weighting == "given":
        if label_weight is None:
            raise ValueError("weighting='given' takes label_weight as it is: pass label_weight to fit")
        return label_weight.astype(np.float64)
    parts = kind.tasks or [slice(0, n_labels)]
    weights = np.zeros((n, n_labels))
    for part in parts:
        y = signs[:, part]
        size = y.shape[1]
        if weighting == "uniform" or size == 1:
            w = np.full(y.shape, 1.0 / size)
        elif weighting == "half":
            positive, negative = (y > 0), (y < 0)
            n_pos, n_neg = positive.sum(1, keepdims=True), negative.sum(1, keepdims=True)
            share = np.where((n_pos > 0) & (n_neg > 0), 0.5, 1.0)
            w = share * (positive / np.maximum(n_pos, 1) + negative / np.maximum(n_neg, 1))
        if weighting == "balanced":
            mass = np.ones(n) if sample_weight is None else sample_weight
            of_positive, of_negative = mass @ (y > 0), mass @ (y < 0)
            tiny = np.finfo(np.float64).tiny
            w = np.where(y > 0, 1.0 / np.maximum(of_positive, tiny), 1.0 / np.maximum(of_negative, tiny))
            w[y == 0] = 0.0
            w *= mass.sum() / (2.0 * size)
        weights[:, part] = w / len(parts)
    return weights if label_weight is None else weights * label_weight


def _label_weight(kind: TargetKind, label_weight, n: int) -> np.ndarray:
    """Checked label weights, (n, K); of a binary target both columns are added up."""
    w = np.asarray(label_weight, dtype=np.float64)
    if kind.kind == "binary" and w.ndim == 2 and w.shape[1] == 2:
        w = w.sum(axis=1, keepdims=True)
    w = w.reshape(len(w), -1)
    if w.shape != (n, kind.n_labels):
        raise ValueError(f"label_weight must have shape {(n, kind.n_labels)}, one row per sample; got {w.shape}")
    if not np.isfinite(w).all():
        raise ValueError("label_weight contains NaN or infinity")
    if (w < 0).any():
        raise ValueError("label_weight contains negative values; a weight is a cost, at least 0")
    return w
