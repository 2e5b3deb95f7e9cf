"""What is predicted, classes, numbers or rankings: all that differs between them, in one place."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from ..data.kind import TargetKind
from ..data.kinds import LabelKind, as_labels, recognise
from ..data.ranked import Ranks, Scored
from ..data.real import Real
from .failure import BadInput
from .labels import matched
from .numbers import matched_grades, matched_numbers


class Task(ABC):
    """A task of the command line.

    Attributes
    ----------
    name : str
        Of ``--task``.
    wanted : str
        What the target's column is.
    has_classes : bool
    has_queries : bool
    kinds : type
        The kinds of target that belong to it.
    candidates : list of (str, dict)
        What ``compare`` compares: names and parameters a newcomer may want to choose from.
    """

    name: ClassVar[str]
    wanted: ClassVar[str]
    has_classes: ClassVar[bool] = False
    has_queries: ClassVar[bool] = False
    kinds: ClassVar[type]
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

    def arguments(self, examples: Any) -> dict[str, Any]:
        """What ``fit`` is given besides X and y."""
        return {"sample_weight": examples.sample_weight}

    def validation(self, examples: Any) -> tuple:
        """Examples as ``fit`` takes a validation set."""
        return examples.X, examples.y, examples.sample_weight


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

    def arguments(self, examples):
        return {**super().arguments(examples), "label_weight": examples.label_weight}


class Regression(Task):
    """Numbers."""

    name, wanted, kinds = "regression", "the number to predict", Real
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


class Ranking(Task):
    """Grades of the documents of queries."""

    name, wanted, has_queries, kinds = "ranking", "the grade", True, Ranks
    candidates: ClassVar[list[tuple[str, dict[str, Any]]]] = [
        ("defaults", {}),
        ("stumps", {"base_learner": "stump"}),
        ("trees of 20", {"base_learner": "tree:20"}),
        ("logistic loss", {"loss": "logistic"}),
        ("lambdarank", {"loss": "lambdarank"}),
    ]

    def estimator(self):
        from ..estimators.multiboost_ranker import MultiBoostRanker

        return MultiBoostRanker

    def kind_of(self, training):
        return Scored([np.unique(matched_grades(training))])

    def matched(self, examples, kind, owner):
        return matched_grades(examples)

    def arguments(self, examples):
        return {**super().arguments(examples), "qid": examples.qid}

    def validation(self, examples):
        return examples.X, examples.y, examples.qid, examples.sample_weight


# A ranking by grades has classes, too: it is asked for first.
TASKS: dict[str, Task] = {task.name: task for task in (Ranking(), Classification(), Regression())}


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
