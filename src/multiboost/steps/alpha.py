"""The coefficient of the edge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .step import STEPS, Step

LARGEST_EDGE = 1.0 - 1e-12  # of a perfect base classifier: alpha stays below 14.2


def alpha_of(edge: float) -> float:
    """alpha = 1/2 ln((1 + gamma) / (1 - gamma)) of the edge gamma (Kegl 2011, eq. 3.34)."""
    edge = min(edge, LARGEST_EDGE)
    return 0.5 * float(np.log((1.0 + edge) / (1.0 - edge)))


def check_discrete(step: Step, loss, criterion) -> None:
    """Refuse all but the exponential loss with discrete votes: only there an edge says how far to go."""
    if not (loss.normalised and criterion.factorised):
        raise ValueError(
            f"step={step.name!r} is made for votes='discrete' and loss='exponential'; got the criterion "
            f"{criterion.name!r} and the {loss.name} loss. step='line-search' takes any votes and any loss"
        )


@STEPS.register
@dataclass(frozen=True)
class AlphaStep(Step):
    """alpha = 1/2 ln((1 + gamma) / (1 - gamma)) of the edge gamma (Kegl 2011, eq. 3.34), times a learning rate.

    Parameters
    ----------
    learning_rate : float
    """

    learning_rate: float = 1.0
    name = "alpha"

    def size(self, h, edge, run):
        return self.learning_rate * alpha_of(edge)

    def check(self, loss, criterion):
        if criterion.factorised and loss.has_curvature:
            raise ValueError(
                "votes='discrete' goes with loss='exponential', or with step='line-search' or step='lipschitz'; alpha "
                f"is not a step of the {loss.name} loss"
            )
