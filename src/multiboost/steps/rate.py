"""A fixed share."""

from __future__ import annotations

from dataclasses import dataclass

from .step import STEPS, Step


@STEPS.register
@dataclass(frozen=True)
class RateStep(Step):
    """A fixed share of the votes, which have their own size already.

    Parameters
    ----------
    learning_rate : float
    """

    learning_rate: float = 0.1
    name = "rate"

    def size(self, h, edge, run):
        return self.learning_rate
