"""What a target means: from scores to answers; kept in the model."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from ..registry import Registry


class TargetKind(ABC):
    """What scores F mean; kept in the model.

    Parameters
    ----------
    classes : list of ndarray
        Names: per task its classes; of labels, or of numbers, one array with a name for each.

    Attributes
    ----------
    name : str
        In files and reports.
    is_single : bool
        Whether y has one column.
    measure : str
        Which error learning curves show.
    adds_up : bool
        Whether scores are sums of what rounds say; else they are their weighted medians.
    losses : tuple of str
        Those that are compared where the user leaves the loss open.
    of_numbers : bool
        Whether answers are numbers, else labels.
    """

    name: str
    is_single: bool
    measure = "error"
    adds_up = True
    losses: tuple[str, ...] = ()
    of_numbers = False

    def __init__(self, classes: list[np.ndarray]):
        self.classes = classes

    @property
    @abstractmethod
    def n_labels(self) -> int:
        """K, the columns of F."""

    @property
    def task_start(self) -> np.ndarray:
        """Where each task's labels begin; one element where labels stand alone."""
        return np.zeros(1, np.intp)

    @property
    def tasks(self) -> list[slice]:
        """The columns of F that belong to each task."""
        start = self.task_start
        return [slice(start[t], start[t + 1]) for t in range(len(start) - 1)]

    @abstractmethod
    def label_names(self) -> list[str]:
        """A name for every column of F."""

    # From scores to answers.

    def shaped(self, scores: np.ndarray) -> np.ndarray:
        """Scores F, (n, K), as users see them."""
        return scores

    @abstractmethod
    def answer(self, scores: np.ndarray) -> np.ndarray:
        """What the model says of rows with these scores."""

    def answer_of_one(self, scores: np.ndarray):
        """The same of one row, (K,), in as little time as there is."""
        return self.answer(scores[None])[0]

    def scores_of(self, given: np.ndarray) -> np.ndarray:
        """Scores (n, K) from what a user gives as such; of numbers, from predictions."""
        found = np.asarray(given, np.float64)
        found = found.reshape(len(found), -1)
        if found.shape[1] != self.n_labels:
            raise ValueError(f"init must have {self.n_labels} scores for each row; got {found.shape[1]}")
        return found

    def answers(self, scores: np.ndarray) -> np.ndarray:
        """The inverse of `scores_of`, where answers are numbers."""
        return scores

    def no_answer(self) -> np.ndarray:
        """Scores (K,) of what adds nothing to given scores: 0, or those of the prediction 0."""
        return np.zeros(self.n_labels)

    # The columns of a table of predictions.

    def score_names(self, targets: list[str]) -> list[str]:
        """Names of the columns of F, given those of the target's columns."""
        return self.label_names()

    def answer_columns(self, targets: list[str]) -> list[str]:
        """Names of the columns of answers."""
        return [targets[0] if targets else "prediction"]

    # Files.

    def numbers(self) -> dict[str, np.ndarray]:
        """What a file must hold besides the names."""
        return {}

    @classmethod
    def of(cls, classes: list[np.ndarray], numbers: dict[str, np.ndarray]) -> TargetKind:
        """The inverse: from names and numbers."""
        return cls(classes)


KINDS: Registry[type[TargetKind]] = Registry("kind of target")
