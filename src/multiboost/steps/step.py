"""What a step is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from ..plugin import Plugin
from ..registry import Registry

if TYPE_CHECKING:
    from ..base.classifier import BaseClassifier


class Step(Plugin, ABC):
    """How far to go along a base classifier.

    A plug-in: a dataclass with a ``name`` and a ``size``, registered in `STEPS`.
    """

    @abstractmethod
    def size(self, h: BaseClassifier, edge: float, run) -> float:
        """The coefficient of a base classifier.

        Parameters
        ----------
        h : BaseClassifier
        edge : float
            Of its signs, over all samples.
        run : Run
            As it is before the round: scores, history, target.
        """


STEPS: Registry[type[Step]] = Registry("step")
