"""Where parts of the loop come in from outside: base classes, and one way to make a part known by its name.

>>> from dataclasses import dataclass
>>> from multiboost.plugins import Step, register
>>> @register
... @dataclass(frozen=True)
... class Halving(Step):
...     name = "halving"
...     def size(self, h, edge, run):
...         return 0.5 ** (1 + run.n_rounds // 100)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .base.classifier import BaseClassifier, Dag
from .base.learner import LEARNERS, BaseLearner
from .base.partition import two_leaves
from .base.problem import Problem
from .calibration import CALIBRATORS, Calibrator
from .criteria import PULL, PULL_AND_CURVATURE, WEIGHTS, Criterion
from .criteria import register as register_criterion
from .losses import LOSSES, Loss
from .losses.pair import PairLoss, RealLoss
from .samplers import COLUMN_SAMPLERS, LABEL_SAMPLERS, ROW_SAMPLERS, ColumnSampler, LabelSampler, RowSampler
from .steps import STEPS, Step

__all__ = [
    "PULL",
    "PULL_AND_CURVATURE",
    "WEIGHTS",
    "BaseClassifier",
    "BaseLearner",
    "Calibrator",
    "ColumnSampler",
    "Criterion",
    "Dag",
    "LabelSampler",
    "Loss",
    "PairLoss",
    "Problem",
    "RealLoss",
    "RowSampler",
    "Step",
    "register",
    "two_leaves",
]

_DOORS: list[tuple[type, Callable[[Any], Any]]] = [
    (Loss, LOSSES.register),
    (Criterion, register_criterion),
    (Step, STEPS.register),
    (RowSampler, ROW_SAMPLERS.register),
    (ColumnSampler, COLUMN_SAMPLERS.register),
    (LabelSampler, LABEL_SAMPLERS.register),
    (BaseLearner, LEARNERS.register),
    (Calibrator, CALIBRATORS.register),
]


def register(part: type) -> type:
    """Make a part of the loop known by its name; a decorator.

    Parameters
    ----------
    part : class
        A subclass of `Loss`, `Criterion`, `Step`, `RowSampler`, `ColumnSampler`, `LabelSampler`, `BaseLearner` or
        `Calibrator`.
    """
    for base, door in _DOORS:
        if isinstance(part, type) and issubclass(part, base):
            door(part)
            return part
    names = ", ".join(base.__name__ for base, _ in _DOORS)
    raise TypeError(f"{part!r} is none of the parts that can be registered: {names}")
