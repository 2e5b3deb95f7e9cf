"""What a step is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from ..plugin import Plugin
from ..registry import Registry

if TYPE_CHECKING:
    from ..base.classifier import BaseClassifier
    from ..criteria import Criterion
    from ..losses import Loss


class Step(Plugin, ABC):
    """How far to go along a base classifier.

    A plug-in: a dataclass with a ``name`` and a ``size``, registered in `STEPS`.

    Attributes
    ----------
    ending : str
        Why a run ends where the size is not above 0.
    """

    @property
    def ending(self) -> str:
        return "the step along the best base classifier is not positive"

    @abstractmethod
    def size(self, h: BaseClassifier, edge: float, run) -> float:
        """The coefficient of a base classifier; where it is not above 0 the run ends.

        Parameters
        ----------
        h : BaseClassifier
        edge : float
            Of its signs, over all samples.
        run : Run
            As it is before the round: scores, history, target.
        """

    def check(self, loss: Loss, criterion: type[Criterion]) -> None:
        """Refuse a loss, or votes, that the step is not made for; all are welcome unless it says otherwise.

        Parameters
        ----------
        loss : Loss
        criterion : class of Criterion

        Raises
        ------
        ValueError
            It says what to set instead.
        """


STEPS: Registry[type[Step]] = Registry("step")
