"""What labels mean: a class for each kind of target.

======================  =================================  ==============================
kind                    what y looks like                  labels (columns of F)
======================  =================================  ==============================
binary                  (n,), two classes                  1: the second class or not
multiclass              (n,), K classes                    K, one positive per sample
multilabel              (n, K) of 0 and 1                  K
multitask               (n, tasks) of classes              all classes of all tasks
======================  =================================  ==============================

In multilabel and multitask targets NaN, None and pandas.NA mean "unknown".

Every kind is also a list of *questions*, each with one right answer a row: which class, which class of each task, or
yes or no for each label.  Evaluation asks them, whatever the kind.
"""

from __future__ import annotations

from abc import abstractmethod
from numbers import Real

import numpy as np

from .kind import KINDS, TargetKind
from .table import refuse_lazy


def unknown_labels(column: np.ndarray) -> np.ndarray:
    """Where an object or float array says that a label is not known."""
    if column.dtype.kind == "f":
        return np.isnan(column)
    if column.dtype.kind != "O":
        return np.zeros(column.shape, bool)
    flat = [v is None or type(v).__name__ == "NAType" or v != v for v in column.ravel()]  # noqa: PLR0124
    return np.array(flat, bool).reshape(column.shape)


def as_labels(y) -> np.ndarray:
    """y as a NumPy array, whatever frame it comes in."""
    refuse_lazy(y, "y")
    if hasattr(y, "to_numpy"):
        y = y.to_numpy()
    elif type(y).__module__.partition(".")[0] == "pyarrow":
        y = np.stack([c.to_numpy() for c in y.columns], axis=1) if hasattr(y, "columns") else y.to_numpy()
    elif hasattr(y, "toarray"):
        y = y.toarray()
    return np.asarray(y)


class LabelKind(TargetKind):
    """What labels mean.

    Parameters
    ----------
    classes : list of ndarray
        Per task its classes; of a multi-label target one array with the labels' names.

    Attributes
    ----------
    weighting : str
        What "auto" means for the initial weights.
    span : int
        A margin of ``lead`` is at most this many times the sum of the sizes of all votes.
    """

    weighting = "half"
    losses: tuple[str, ...] = ("exponential", "logistic")
    span: int

    @property
    def public_classes(self):
        """The classes as scikit-learn shows them."""
        return self.classes[0]

    # From y to numbers and signs.

    def encode(self, y) -> np.ndarray:
        """Class numbers of every question, (n, questions); -1 is unknown."""
        y = as_labels(y)
        y = y.reshape(len(y), -1)
        if y.shape[1] != len(self.classes):
            raise ValueError(f"y must have {len(self.classes)} columns; got {y.shape[1]}")
        found = np.empty(y.shape, np.intp)
        for t in range(len(self.classes)):
            column = y[:, t]
            unknown = np.zeros(len(y), bool) if self.is_single else unknown_labels(column)
            found[:, t] = -1
            found[~unknown, t] = self.numbers_of(column[~unknown], t)
        return found

    def numbers_of(self, known: np.ndarray, question: int) -> np.ndarray:
        """Class numbers of known answers to a question, (n,)."""
        return _numbers_of(known, self.classes[question])

    @abstractmethod
    def signs(self, encoded: np.ndarray) -> np.ndarray:
        """Y in {-1, 0, +1}, (n, K) int8, of encoded labels."""

    # From scores to probabilities.

    @abstractmethod
    def by_question(self, scores: np.ndarray) -> list[np.ndarray]:
        """Scores of the answers to every question, (n, answers): their softmax is what log odds F mean."""

    @abstractmethod
    def label_probabilities(self, answers: list[np.ndarray]) -> np.ndarray:
        """Probabilities of the labels, (n, K), from those of the answers to every question."""

    @abstractmethod
    def probabilities(self, of_labels: np.ndarray):
        """Probabilities of classes or labels, as users see them."""

    # The questions.

    @property
    def question_names(self) -> list[str]:
        """One name per question; empty for the only one."""
        return [""]

    def answer_values(self, question: int) -> list:
        """Possible answers to a question, as y holds them."""
        return self.classes[question].tolist()

    def answer_names(self, question: int) -> list[str]:
        """The same as text."""
        return [str(c) for c in self.classes[question]]

    @abstractmethod
    def question_of(self, label: int) -> int:
        """The question that a column of F belongs to."""

    @abstractmethod
    def guess(self, scores: np.ndarray, question: int) -> np.ndarray:
        """The number of the answer that scores give, (n,)."""

    @abstractmethod
    def chance(self, probability: np.ndarray, question: int, true: np.ndarray) -> np.ndarray:
        """Probability of the answers ``true``, (n,), from those of the labels, (n, K)."""

    @abstractmethod
    def lead(self, scores: np.ndarray, question: int, true: np.ndarray) -> np.ndarray:
        """By how much the answers ``true`` win, (n,)."""

    def probability_names(self, targets: list[str]) -> list[str]:
        """Names of the columns of probabilities."""
        return self.score_names(targets)


def _numbers_of(known: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The position of every value among the classes."""
    if known.dtype.kind == "O" and classes.dtype.kind != "O":
        # Text of any length: cut to the classes' length, "abcd" would be the class "abc".
        known = known.astype(str if classes.dtype.kind == "U" else classes.dtype)
    number = np.searchsorted(classes, known)
    number[number == len(classes)] = 0
    strange = classes[number] != known
    if strange.any():
        raise ValueError(f"y contains {known[strange].tolist()[0]!r}, a class that was not seen in fit")
    return number


class _Alone(LabelKind):
    """Labels that stand alone: each is a question of its own, answered by the sign of its score."""

    span = 1

    def signs(self, encoded):
        return np.where(encoded < 0, 0, 2 * encoded - 1).astype(np.int8)

    def by_question(self, scores):
        return [np.stack([-f / 2, f / 2], axis=1) for f in scores.T]

    def label_probabilities(self, answers):
        return np.stack([p[:, 1] for p in answers], axis=1)

    def question_of(self, label):
        return label

    def guess(self, scores, question):
        return (scores[:, question] > 0).astype(np.intp)

    def chance(self, probability, question, true):
        p = probability[:, question]
        return np.where(true == 1, p, 1.0 - p)

    def lead(self, scores, question, true):
        return scores[:, question] * np.where(true == 1, 1, -1)


class Binary(_Alone):
    """Two classes: one label, the second class or not."""

    name, is_single = "binary", True

    @property
    def n_labels(self) -> int:
        return 1

    def label_names(self):
        return [str(self.classes[0][1])]

    def shaped(self, scores):
        return scores[:, 0]

    def answer(self, scores):
        return self.classes[0][self.guess(scores, 0)]

    def answer_of_one(self, scores):
        return self.classes[0][int(scores[0] > 0)]

    def probabilities(self, of_labels):
        p = of_labels[:, 0]
        return np.stack([1.0 - p, p], axis=1)

    def probability_names(self, targets):
        return [str(c) for c in self.classes[0]]


class MultiLabel(_Alone):
    """Any number of labels, each there or not."""

    name, is_single = "multilabel", False
    weighting = "uniform"
    measure = "Hamming loss"
    losses = ("logistic",)  # the two were equally good wherever we looked; this one is faster

    @property
    def n_labels(self) -> int:
        return len(self.classes[0])

    def label_names(self):
        return [str(c) for c in self.classes[0]]

    def encode(self, y):
        y = as_labels(y)
        if y.ndim != 2 or y.shape[1] != self.n_labels:
            raise ValueError(f"y must have {self.n_labels} columns of 0 and 1; got shape {y.shape}")
        unknown = unknown_labels(y)
        return np.where(unknown, -1, np.where(unknown, 0, y).astype(np.intp))

    def numbers_of(self, known, question):
        return known.astype(np.intp)

    def answer(self, scores):
        return (scores > 0).astype(np.intp)

    def probabilities(self, of_labels):
        return of_labels

    @property
    def question_names(self):
        return self.label_names()

    def answer_values(self, question):
        return [0, 1]

    def answer_names(self, question):
        return ["0", "1"]

    def answer_columns(self, targets):
        return self.label_names()


class _Tasks(LabelKind):
    """Classes of tasks: a task is a question, answered by the class with the largest score."""

    span = 2

    @property
    def n_labels(self) -> int:
        return sum(len(c) for c in self.classes)

    @property
    def task_start(self) -> np.ndarray:
        return np.concatenate([[0], np.cumsum([len(c) for c in self.classes])]).astype(np.intp)

    def signs(self, encoded):
        signs = np.full((len(encoded), self.n_labels), -1, np.int8)
        for t, part in enumerate(self.tasks):
            known = encoded[:, t] >= 0
            signs[~known, part] = 0
            rows = np.flatnonzero(known)
            signs[rows, part.start + encoded[rows, t]] = 1
        return signs

    def by_question(self, scores):
        return [scores[:, part] for part in self.tasks]

    def label_probabilities(self, answers):
        return np.concatenate(answers, axis=1)

    def question_of(self, label):
        return int(np.searchsorted(self.task_start, label, side="right")) - 1

    def guess(self, scores, question):
        return scores[:, self.tasks[question]].argmax(axis=1)

    def chance(self, probability, question, true):
        return probability[np.arange(len(true)), self.tasks[question].start + true]

    def lead(self, scores, question, true):
        rivals = scores[:, self.tasks[question]].copy()
        rows = np.arange(len(true))
        own = rivals[rows, true]
        rivals[rows, true] = -np.inf
        return own - rivals.max(axis=1)


class MultiClass(_Tasks):
    """Three classes or more, one of them right."""

    name, is_single = "multiclass", True

    def label_names(self):
        return [str(c) for c in self.classes[0]]

    def answer(self, scores):
        return self.classes[0][self.guess(scores, 0)]

    def answer_of_one(self, scores):
        return self.classes[0][scores.argmax()]

    def probabilities(self, of_labels):
        return of_labels


class MultiTask(_Tasks):
    """Several tasks, each with its own classes."""

    name, is_single = "multitask", False

    @property
    def public_classes(self):
        return self.classes

    def label_names(self):
        return self._labels_of([str(t) for t in range(len(self.classes))])

    def _labels_of(self, tasks: list[str]) -> list[str]:
        return [f"{task}:{c}" for task, classes in zip(tasks, self.classes, strict=True) for c in classes]

    def answer(self, scores):
        columns = [classes[self.guess(scores, t)] for t, classes in enumerate(self.classes)]
        alike = len({c.dtype.kind for c in columns}) == 1
        return np.stack(columns if alike else [c.astype(object) for c in columns], axis=1)

    def probabilities(self, of_labels):
        return [of_labels[:, part] for part in self.tasks]

    @property
    def question_names(self):
        return [f"task {t}" for t in range(len(self.classes))]

    def answer_columns(self, targets):
        names = self.question_names
        return [targets[t] if t < len(targets) else name for t, name in enumerate(names)]

    def score_names(self, targets):
        return self._labels_of(self.answer_columns(targets))


for kind in (Binary, MultiClass, MultiLabel, MultiTask):
    KINDS.register(kind)


def _sorted_unique(values: np.ndarray, what: str) -> np.ndarray:
    try:
        return np.unique(values)
    except TypeError as error:
        raise ValueError(f"{what} mixes classes that cannot be compared, such as text and numbers") from error


def recognise(y: np.ndarray, names=None) -> LabelKind:
    """Find out what kind of labels y holds.

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
                f"Unknown label type: {kind}. y must hold classes; numbers are predicted by MultiBoostRegressor"
            )
        classes = _sorted_unique(y, "y")
        if len(classes) < 2:
            raise ValueError(
                f"y has only one class, {classes[0]}: a classifier needs at least two (n_classes=1); "
                "look at how the rows were chosen, and make folds with StratifiedKFold"
            )
        return (Binary if len(classes) == 2 else MultiClass)([classes])
    unknown = unknown_labels(y)
    if _is_indicator(y[~unknown]):
        return MultiLabel([np.asarray(names) if names is not None else np.arange(y.shape[1])])
    return MultiTask([_task_classes(y[~unknown[:, t], t], t, unknown[:, t].any()) for t in range(y.shape[1])])


def _is_indicator(known: np.ndarray) -> bool:
    """Whether all that is known is 0 or 1."""
    try:
        return bool(np.isin(known.astype(np.float64), (0.0, 1.0)).all())
    except (TypeError, ValueError):
        return False


def _task_classes(column: np.ndarray, t: int, any_unknown) -> np.ndarray:
    """The classes of one task, from what is known of it."""
    if column.dtype.kind == "O" and all(isinstance(v, (int, np.integer)) for v in column):
        column = column.astype(np.int64)
    elif column.dtype.kind == "O" and all(isinstance(v, Real) for v in column):
        column = column.astype(np.float64)  # whole numbers beside unknown ones and a task of text
    if column.dtype.kind == "f":
        if not np.array_equal(column, np.floor(column)):
            raise ValueError(f"Unknown label type: continuous. Column {t} of y holds numbers that are not classes")
        column = column.astype(np.int64) if any_unknown else column
    classes = _sorted_unique(column, f"column {t} of y")
    if len(classes) < 2:
        raise ValueError(f"column {t} of y has fewer than two classes; leave this task out")
    return classes
