"""The target of a training set: what is wanted of each pair of a sample and a label, and how much it weighs."""

from __future__ import annotations

import copy

import numpy as np

from ..workspace import IN_MEMORY, InMemory
from .kinds import LabelKind
from .weighting import check_sum, class_factors, initial_weights

_PART = 1 << 16  # rows that are weighed together


class Target:
    """Labels and initial weights of some samples.

    Everything downstream sees only Y in {-1, 0, +1} times W0.

    Parameters
    ----------
    kind : LabelKind
    y : labels
    weighting : str
        See `weighting`.
    sample_weight : ndarray (n,) or None
    label_weight : array (n, K) or None
    class_weight : "balanced", dict, list or None

    Attributes
    ----------
    kind : LabelKind
    signed : ndarray (n, K)
        W0 Y, total weight 1.
    wanted : ndarray (n, K), or (0, K) where the sign of ``signed`` is what is wanted
    group_start : ndarray (groups + 1,), or (0,) where samples have no groups
    task_class : ndarray (n, tasks) int32
        Column of F that is right for each task, -1 where unknown.
    task_weight : ndarray (n, tasks)
    positive : ndarray (n,) or None
        The one positive label of each sample, where there is exactly one.
    row_weight : ndarray (n,) or None
        For quantiles; None where all rows weigh the same.
    sense : ndarray (n,) or None
        -1 for samples of negative weight, else +1: what ``signed`` and ``task_weight`` have yet to be multiplied with.
        None where all weights are positive.
    start : ndarray (n, K) or None
        Scores before the first round, where each sample has its own.
    adds : bool
        Whether nobody will know them at prediction, so that the model says what to add to them.
    numbers : ndarray (n, 1) or None
        What base regressors should say, where rows are labels for whether they do.
    """

    kind: LabelKind
    signed: np.ndarray
    wanted: np.ndarray
    group_start: np.ndarray
    task_class: np.ndarray
    task_weight: np.ndarray
    positive: np.ndarray | None
    row_weight: np.ndarray | None
    sense: np.ndarray | None = None
    start: np.ndarray | None = None
    adds = False
    numbers: np.ndarray | None = None

    def __init__(self, kind: LabelKind, y, weighting="auto", sample_weight=None, label_weight=None, class_weight=None):
        self._weigh(kind, kind.encode(y), weighting, sample_weight, label_weight, class_weight, IN_MEMORY)

    @classmethod
    def of_numbers(
        cls, kind: LabelKind, encoded: np.ndarray, weighting, sample_weight, class_weight, workspace: InMemory
    ) -> Target:
        """The same of class numbers (n, questions), with arrays in a workspace.

        Parameters
        ----------
        kind, weighting, sample_weight, class_weight
            As above.
        encoded : ndarray (n, questions)
            See ``LabelKind.encode``.
        workspace : InMemory
        """
        found = object.__new__(cls)
        found._weigh(kind, encoded, weighting, sample_weight, None, class_weight, workspace)
        return found

    def _weigh(self, kind, encoded, weighting, sample_weight, label_weight, class_weight, workspace: InMemory) -> None:
        """Set the labels and their weights, in parts of the rows where no weight depends on other rows."""
        self.kind = kind
        n = len(encoded)
        alone = weighting != "balanced" and label_weight is None
        parts = [slice(k, min(k + _PART, n)) for k in range(0, n, _PART)] if alone else [slice(0, n)]
        factors = None if class_weight is None else class_factors(kind, encoded, class_weight)
        question = [kind.question_of(k) for k in range(kind.n_labels)]
        weights = workspace.zeros((n, kind.n_labels), np.float64)
        for part in parts:
            signs = kind.signs(encoded[part])
            mass = None if sample_weight is None else sample_weight[part]
            found = initial_weights(kind, signs, weighting, mass, label_weight)
            if mass is not None:
                found = found * mass[:, None]
            if factors is not None:
                of_row = np.stack([of[number] for of, number in zip(factors, encoded[part].T, strict=True)], axis=1)
                found = found * of_row[:, question]
            found[signs == 0] = 0.0
            weights[part] = found
        with np.errstate(over="ignore"):
            total = weights.sum()
        if not total > 0:
            raise ValueError("all weights are zero (sample_weight times label_weight); nothing is left to learn from")
        check_sum(total)
        tasks = kind.tasks
        self.wanted = np.zeros((0, kind.n_labels))
        self.group_start = np.zeros(0, np.intp)
        self.task_class = workspace.zeros((n, len(tasks)), np.int32)
        self.task_weight = workspace.zeros((n, len(tasks)), np.float64)
        self.positive = workspace.zeros(n, np.int32) if kind.is_single and tasks else None
        for part in parts:
            number, found = encoded[part], weights[part]
            found /= total
            if tasks:
                self.task_class[part] = np.where(number >= 0, number + kind.task_start[:-1], -1)
                self.task_weight[part] = np.stack([found[:, task].sum(axis=1) for task in tasks], axis=1)
            if self.positive is not None:
                self.positive[part] = number[:, 0]
            found *= kind.signs(number)
        self.signed = weights
        self.row_weight = sample_weight

    @property
    def n_rows(self) -> int:
        return len(self.signed)

    @property
    def n_labels(self) -> int:
        """K, the columns of F."""
        return self.signed.shape[1]

    def take(self, rows: np.ndarray) -> Target:
        """The target of some rows, with total weight 1 again."""
        return self.part(rows, float(np.abs(self.signed[rows]).sum()))

    def part(self, rows: np.ndarray, total: float = 1.0) -> Target:
        """The target of some rows, with all weights divided by a number."""
        part = object.__new__(type(self))
        part.kind = self.kind
        part.signed = self.signed[rows] / total
        part.wanted = self.wanted[rows] if self.wanted.size else self.wanted
        part.group_start = self.group_start
        part.task_class = self.task_class[rows]
        part.task_weight = self.task_weight[rows] / total
        part.positive = None if self.positive is None else self.positive[rows]
        part.row_weight = None if self.row_weight is None else self.row_weight[rows]
        part.sense = None if self.sense is None else self.sense[rows]
        part.start, part.adds = None if self.start is None else self.start[rows], self.adds
        return part

    def answers(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Of every question the right answers, -1 where unknown, and the weights of the rows, (n,) each."""
        if not self.kind.tasks:
            return [(np.where(a == 0, -1, (a > 0).astype(np.intp)), np.abs(a)) for a in self.signed.T]
        true = np.where(self.task_class < 0, -1, self.task_class - self.kind.task_start[:-1])
        return list(zip(true.T, self.task_weight.T, strict=True))

    def arrays(self) -> tuple[np.ndarray, ...]:
        """All that rounds depend on, for fingerprints."""
        signs = () if self.sense is None else (self.sense,)
        return self.signed, self.wanted, self.group_start, *signs

    def with_sense(self, sense: np.ndarray) -> Target:
        """The same samples, some of them with negative weights."""
        other = copy.copy(self)
        other.sense, other.positive = sense, None  # a short form for weights that are all positive
        return other

    def net(self) -> Target:
        """Positive weights with the same sum for every answer; those of an answer below 0 become 0."""
        if self.sense is None:
            return self
        other = copy.copy(self)
        other.sense = None
        other.signed, other.task_weight = self.signed.copy(), self.task_weight.copy()
        for k in range(self.n_labels):
            for rows in (self.signed[:, k] > 0, self.signed[:, k] < 0):
                other.signed[rows, k] *= _share_left(np.abs(self.signed[rows, k]), self.sense[rows])
        for t in range(self.task_class.shape[1]):
            for true in np.unique(self.task_class[:, t]):
                rows = self.task_class[:, t] == true
                other.task_weight[rows, t] *= _share_left(self.task_weight[rows, t], self.sense[rows])
        return other

    @property
    def n_pairs(self) -> float:
        """How many pairs of the mean weight there are: the unit of a ridge."""
        # NumPy lets no other thread run while it counts, and one may have to give memory back: see ``workspace``.
        parts = (self.signed[first : first + _PART] for first in range(0, len(self.signed), _PART))
        return float(sum(np.count_nonzero(part) for part in parts))

    def constant(self) -> np.ndarray:
        """The scores of the best model that looks at no column, (K,).

        Half the logarithms of the shares of classes, half the log odds of labels that stand alone: the majority wins,
        and with the slope of theory probabilities are the shares.
        """
        if self.sense is not None:
            return self.net().constant()
        positive = np.maximum(self.signed, 0.0).sum(axis=0)
        tiny = 1.0 / max(1.0, self.n_pairs)
        if not self.kind.tasks:
            return 0.5 * np.log((positive + tiny) / (np.maximum(-self.signed, 0.0).sum(axis=0) + tiny))
        found = np.empty(self.n_labels)
        for part in self.kind.tasks:
            found[part] = 0.5 * np.log((positive[part] + tiny) / (positive[part] + tiny).sum())
        return found

    def error_of(self, error: float, risk: float, scores: np.ndarray) -> float:
        """The error of the training set, from the weight of the wrong labels, the risk, or the scores (n, K)."""
        return error if self.sense is None else float(self.errors(scores).sum())

    def errors(self, scores: np.ndarray) -> np.ndarray:
        """Weighted errors of the rows of scores (n, K): of tasks where there are tasks, else of labels."""
        if self.sense is not None:
            size = np.abs(self.signed).sum(axis=1)
            return self._sizes(scores) * self.sense / (size @ self.sense)
        return self._sizes(scores)

    def _sizes(self, scores: np.ndarray) -> np.ndarray:
        """The same with the sizes of weights."""
        if not self.kind.tasks:
            return np.where((scores > 0) != (self.signed > 0), np.abs(self.signed), 0.0).sum(axis=1)
        best = np.column_stack([scores[:, part].argmax(axis=1) + part.start for part in self.kind.tasks])
        return np.where(best != self.task_class, self.task_weight, 0.0).sum(axis=1)


def _share_left(size: np.ndarray, sense: np.ndarray) -> float:
    """Of the sum of the sizes of weights, what is left where negative ones are subtracted."""
    total = size.sum()
    return max(0.0, float(size @ sense)) / total if total > 0 else 0.0
