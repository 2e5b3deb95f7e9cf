"""From what the user said of a ranking, or did not say, to a plan; ``docs/ranking.md`` has the measurements."""

from __future__ import annotations

from dataclasses import replace

from ..data.target import Target
from ..samplers import Share
from .auto import Wishes
from .plan import Plan

_LEAVES = 8
_SHARE = 0.5
_RATE = 0.05
_ROUNDS = 100


def choose_ranked_plan(wishes: Wishes, target: Target) -> Plan:
    """A plan for a training set of queries; nothing is compared.

    Parameters
    ----------
    wishes : Wishes
        With a loss.
    target : Target
    """
    loss = wishes.loss
    assert loss is not None
    if wishes.learning_rate is None and wishes.step is None and wishes.votes == "real":
        wishes = replace(wishes, learning_rate=_RATE)
    return replace(wishes.plan(loss, _LEAVES, Share(_SHARE)), rounds=_ROUNDS)
