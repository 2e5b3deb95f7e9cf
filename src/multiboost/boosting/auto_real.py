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
from ..losses import Loss
from ..samplers import AllRows, Share
from ..steps import RateStep
from .auto import Wishes
from .comparison import TimeIsUp
from .plan import Plan
from .trial import Trial

_LEAVES = 8  # of the smallest trees
_MORE_LEAVES = 3  # of the next larger ones, which take about twice the time
_LEAF_ROWS = 25  # rows to a leaf, at least
_WORTH = 0.01  # the share of the error that larger trees must save
_WORTH_ROUNDS = 0.0025  # and twice the rounds: all rows are more than those of the comparison, and bear more rounds
_SHARE, _FEW = 0.5, 2000  # of the rows that each round sees; short runs see a table of fewer rows whole
_OFFSET_ROWS = 20_000  # at most, for the offsets of quantiles
_TRIAL_ROWS, _TRIAL_SHARE = 5000, 1 / 8  # that take part in the comparison: so many, or this share of a large table
_SMALL, _SMALL_ROUNDS = 1000, 300  # rows too few for a comparison, and the rounds that they get
_ROUNDS, _MOST_ROUNDS = 200, 800  # of others; the first are doubled up to the second where that is worth it
_RATE, _FAST = 0.05, 0.1  # of the steps; the second of short runs: fewer rounds than ``_ROUNDS`` are asked for
_HASTE = 2  # of usual steps: the comparison takes steps of so many times the size, and so many times fewer


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
    n, loss = target.n_rows, wishes.loss
    assert loss is not None
    small, short = n <= _SMALL, rounds is not None and rounds < _ROUNDS
    fast = short or type(loss).refit is not Loss.refit  # leaves that are refitted make rounds expensive
    if wishes.learning_rate is None:
        wishes = replace(wishes, learning_rate=_FAST if fast else _RATE)
    rows = AllRows() if short and n < _FEW else Share(_SHARE)
    plan = wishes.plan(loss, _LEAVES, rows)
    plan = replace(plan, rounds=(_SMALL_ROUNDS if small else _ROUNDS) * _haste(plan) // _HASTE)
    try:
        if not small and (wishes.leaves_open or rounds is None):
            plan = _grown(plan, wishes.leaves_open, binned, target, team, rounds)
        if getattr(plan.loss, "quantiles", ()):
            n_folds = -(-_OFFSET_ROWS // max(1, min(n, _OFFSET_ROWS)))
            trial = Trial(binned, target, _OFFSET_ROWS, team, min(n_folds, 5))
            plan = replace(plan, offsets=trial.offsets(plan, plan.rounds if rounds is None else rounds))
    except TimeIsUp:  # the comparison would use up the time limit of the fit: the plan so far
        pass
    return plan


def _grown(plan: Plan, leaves_open: bool, binned: Binned, target: Target, team: Team, rounds: int | None) -> Plan:
    """The plan with trees as large, and with as many rounds, as the table is worth.

    Trees are compared after enough rounds that the larger ones have not only been faster.
    """
    n = target.n_rows
    n_trial = int(min(n, max(_TRIAL_ROWS, _TRIAL_SHARE * n)))
    haste, first = _haste(plan), _ROUNDS // _HASTE
    first = first if rounds is None else min(rounds, first)
    trial = Trial(binned, target, n_trial, team, 1, n_rounds=first)
    best = plan if haste == 1 else replace(plan, step=RateStep(haste * plan.learning_rate))
    while leaves_open and _MORE_LEAVES * best.base_learner.n_leaves * _LEAF_ROWS <= n_trial:
        larger = best.with_leaves(_MORE_LEAVES * best.base_learner.n_leaves)
        if trial.errors(larger).sum() > (1.0 - _WORTH) * trial.errors(best).sum():
            break
        best = larger
    if rounds is None:
        worth = _WORTH if haste == 1 else _WORTH_ROUNDS
        found = haste * trial.rounds_worth(best, worth, _MOST_ROUNDS // _HASTE)
        plan = replace(plan, rounds=max(found, haste * _ROUNDS) if n >= 2 * n_trial else found)
    return replace(plan, base_learner=best.base_learner)


def _haste(plan: Plan) -> int:
    """How many rounds one of the comparison stands for."""
    return _HASTE if plan.step == RateStep(_RATE) else 1
