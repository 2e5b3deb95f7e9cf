"""What a right answer earns: functions of the margin rho = F_l - max of the others, of binary models y F."""

from __future__ import annotations

import math
from collections.abc import Callable

from numba import float64
from numba.core.errors import NumbaError

from ..kernels.compiler import compiled, is_ours


def indicator(rho):
    """1 where the answer is right, (3.60)."""
    return 1.0 if rho > 0.0 else 0.0


def exponential(rho):
    """exp(rho), (3.61)."""
    return math.exp(rho)


def logistic(rho):
    """1 - log2(1 + exp(-rho)): one minus the logistic loss, which bounds the error from above."""
    return 1.0 + rho / math.log(2.0) if rho < -30.0 else 1.0 - math.log1p(math.exp(-rho)) / math.log(2.0)


def hinge(rho):
    """min(1, rho): one minus the hinge loss."""
    return min(1.0, rho)


REWARDS: dict[str, Callable] = {f.__name__: f for f in (indicator, exponential, logistic, hinge)}
# The exponential would see nothing but the largest margins, if these were not divided by the sum of all votes.
NORMALISED = {"exponential"}


def reward_from(reward):
    """A reward by name, or a function of a number, compiled.

    Parameters
    ----------
    reward : str or callable
    """
    function = reward if callable(reward) else REWARDS.get(reward) if isinstance(reward, str) else None
    if function is None:
        raise ValueError(f"reward must be one of {', '.join(map(repr, REWARDS))}, or a function; got {reward!r}")
    try:
        return compiled(function, float64, keep=is_ours(function), returns=float64)
    except NumbaError as error:
        raise ValueError(
            f"reward: numba cannot compile the function {function.__name__!r}; it must take a number, the margin, and "
            f"return one, with the functions of the math module: {str(error).splitlines()[0]}"
        ) from error
