"""What is predicted, classes or numbers: all that differs between the two, in one place."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from ..data.kind import TargetKind
from ..data.kinds import LabelKind, as_labels, recognise
from ..data.real import Real
from .failure import BadInput
from .labels import matched
from .numbers import matched_numbers


class Task(ABC):
    """A task of the command line.

    Attributes
    ----------
    name : str
        Of ``--task``.
    wanted : str
        What the target's column is.
    has_classes : bool
    kinds : type
        The kinds of target that belong to it.
    candidates : list of (str, dict)
        What ``compare`` compares: names and parameters a newcomer may want to choose from.
    """

    name: ClassVar[str]
    wanted: ClassVar[str]
    has_classes: ClassVar[bool]
    kinds: ClassVar[type[TargetKind]]
    candidates: ClassVar[list[tuple[str, dict[str, Any]]]]

    @abstractmethod
    def estimator(self) -> type:
        """What is trained; imported only where it is needed."""

    @abstractmethod
    def kind_of(self, training: Any) -> TargetKind:
        """What the target of a training file is: it decides what other files may hold."""

    @abstractmethod
    def matched(self, examples: Any, kind: Any, owner: str) -> np.ndarray:
        """y of a file in the terms of a target; ``owner`` is whose target it is, for messages."""

    def named_classes(self, kind: Any) -> list[np.ndarray]:
        """Classes of each column of the target; none where a column does not hold classes."""
        return []


class Classification(Task):
    """Classes, labels, tasks."""

    name, wanted, has_classes, kinds = "classification", "the class", True, LabelKind
    candidates: ClassVar[list[tuple[str, dict[str, Any]]]] = [
        ("defaults", {}),
        ("stumps, discrete votes", {"base_learner": "stump", "votes": "discrete"}),
        ("stumps, real votes", {"base_learner": "stump"}),
        ("products of 3, discrete votes", {"base_learner": "product:3", "votes": "discrete"}),
        ("trees of 8, logistic loss", {"base_learner": "tree:8", "loss": "logistic"}),
        ("trees of 20, real votes", {"base_learner": "tree:20"}),
    ]

    def estimator(self):
        from ..estimators.multiboost_classifier import MultiBoostClassifier

        return MultiBoostClassifier

    def kind_of(self, training):
        try:
            return recognise(as_labels(training.y), training.target if hasattr(training.y, "num_rows") else None)
        except ValueError as error:
            raise BadInput(f"{training.file}: {error}") from error

    def matched(self, examples, kind, owner):
        return matched(examples, kind, owner)

    def named_classes(self, kind):
        return kind.classes if kind.is_single or kind.tasks else []


class Regression(Task):
    """Numbers."""

    name, wanted, has_classes, kinds = "regression", "the number to predict", False, Real
    candidates: ClassVar[list[tuple[str, dict[str, Any]]]] = [
        ("defaults", {}),
        ("stumps", {"base_learner": "stump"}),
        ("trees of 8", {"base_learner": "tree:8"}),
        ("trees of 24", {"base_learner": "tree:24"}),
        ("trees of 24, half the step", {"base_learner": "tree:24", "learning_rate": 0.05}),
    ]

    def estimator(self):
        from ..estimators.multiboost_regressor import MultiBoostRegressor

        return MultiBoostRegressor

    def kind_of(self, training):
        is_single = not hasattr(training.y, "num_rows")
        return Real([np.array([""] if is_single else training.target)], is_single=is_single)

    def matched(self, examples, kind, owner):
        return matched_numbers(examples, kind, owner)


TASKS: dict[str, Task] = {task.name: task for task in (Classification(), Regression())}


def task_named(name: str | None) -> Task:
    """The task of ``--task``, classification unless given."""
    if name is None:
        return TASKS["classification"]
    if name not in TASKS:
        raise BadInput(f"--task {name!r} is not one of {', '.join(TASKS)}")
    return TASKS[name]


def task_for(kind: TargetKind) -> Task:
    """The task of a model."""
    for task in TASKS.values():
        if isinstance(kind, task.kinds):
            return task
    raise BadInput(f"the model predicts {kind.name!r}, which the command line does not know")
