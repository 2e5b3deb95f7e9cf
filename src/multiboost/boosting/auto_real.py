"""From what the user said of a regression, or did not say, to a plan.

The loss is the user's.  Open are the size of the trees, the step, the share of the rows and the number of rounds.
``docs/regression.md`` has the measurements.

Quantiles of the training rows are not those of other rows: trees have seen their residuals, and intervals become too
narrow.  So the plan is also run without a fold, and the quantile of the residuals of the fold's rows is added to the
answers.  This is the idea of conformal quantile regression (Romano, Patterson and Candes 2019), for each quantile.
"""

from __future__ import annotations

from dataclasses import replace

from ..data.binned import Binned
from ..data.target import Target
from ..kernels.team import Team
from ..samplers import AllRows, Share
from .auto import Wishes
from .comparison import TimeIsUp
from .plan import Plan
from .trial import Trial

_LEAVES = 8  # of the smallest trees
_MORE_LEAVES = 3  # of the next larger ones, which take about twice the time
_LEAF_ROWS = 25  # rows to a leaf, at least
_WORTH = 0.01  # the share of the error that larger trees, or more rounds, must save
_SHARE, _FEW = 0.5, 2000  # of the rows that each round sees; a table of fewer rows is seen whole
_OFFSET_ROWS = 20_000  # at most, for the offsets of quantiles
_TRIAL_ROWS, _TRIAL_SHARE = 5000, 1 / 8  # that take part in the comparison: so many, or this share of a large table
_ROUNDS, _MORE_ROUNDS = 100, 300  # the second where rounds 51 to 100 of the comparison are still worth it


def choose_real_plan(wishes: Wishes, binned: Binned, target: Target, team: Team, rounds: int | None = None) -> Plan:
    """A plan for a training set of numbers.

    Parameters
    ----------
    wishes : Wishes
        With a loss.
    binned : Binned
    target : Target
    team : Team
    rounds : int or None
        Rounds that the user asks for; None is left open.
    """
    n = target.n_rows
    assert wishes.loss is not None
    plan = wishes.plan(wishes.loss, _LEAVES, Share(_SHARE) if n >= _FEW else AllRows())
    try:
        plan = _grown(plan, wishes, binned, target, team, rounds)
        if getattr(plan.loss, "quantiles", ()):
            n_folds = -(-_OFFSET_ROWS // max(1, min(n, _OFFSET_ROWS)))
            trial = Trial(binned, target, _OFFSET_ROWS, team, min(n_folds, 5))
            plan = replace(plan, offsets=trial.offsets(plan, plan.rounds if rounds is None else rounds))
    except TimeIsUp:  # the comparison would use up the time limit of the fit: the plan so far
        pass
    return plan


def _grown(plan: Plan, wishes: Wishes, binned: Binned, target: Target, team: Team, rounds: int | None) -> Plan:
    """The plan with trees as large, and with as many rounds, as the table is worth."""
    if not wishes.leaves_open and rounds is not None:
        return plan
    n = target.n_rows
    n_trial = int(min(n, max(_TRIAL_ROWS, _TRIAL_SHARE * n)))
    trial = Trial(binned, target, n_trial, team)
    while wishes.leaves_open and _MORE_LEAVES * plan.base_learner.n_leaves * _LEAF_ROWS <= n_trial:
        larger = plan.with_leaves(_MORE_LEAVES * plan.base_learner.n_leaves)
        if trial.errors(larger).sum() > (1.0 - _WORTH) * trial.errors(plan).sum():
            break
        plan = larger
    if rounds is None:
        plan = replace(plan, rounds=_MORE_ROUNDS if trial.gets_better(plan, _WORTH) else _ROUNDS)
    return plan
