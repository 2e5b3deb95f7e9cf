"""From what the user said, or did not say, to a plan.

What is set is fixed; the comparison runs over the rest.  A user who sets nothing gets what a short comparison on
held-out rows finds better: exponential loss with real votes, which wins on clean tables, above all with many
classes, or logistic loss with smaller trees and steps, which wins on noisy ones.  Small tables are sampled afresh for
every round.  Large tables may be worth larger trees: these are tried on ever larger samples.
``docs/notes/defaults.md`` has the measurements.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from sklearn.base import clone

from ..base import Stump, Tree, spec_of
from ..base.learner import BaseLearner
from ..criteria import CRITERIA
from ..data.binned import Binned
from ..data.target import Target
from ..kernels.compiler import is_ours
from ..kernels.team import Team
from ..losses import LOSSES, Loss
from ..samplers import AllColumns, AllLabels, AllRows, ColumnSampler, LabelSampler, RowSampler, Share
from ..steps import AlphaStep, RateStep, Step
from .comparison import TimeIsUp
from .plan import Plan
from .trial import Trial

RATES = {"exponential": 0.2, "logistic": 0.1}
_OTHER_RATE = 0.1  # of losses from elsewhere
_NOISY_LEAVES = 8  # of trees under the logistic loss
_NOISY_ROUNDS = 150  # where both losses are compared, and the logistic one wins

TRIAL_ROWS = 5000  # that take part in the comparison of losses
_FEW_SHARE = 0.8  # of a table of fewer rows, that each round sees
_MORE_ROWS = 4  # the next sample on which larger trees are tried, in units of the last
_MOST_ROWS = 320_000  # of such a sample
_MORE_LEAVES = 3  # of a larger tree, which takes about twice the time
_WORTH = 0.02  # the share of the error that it must save
_LEAF_ROWS = 25  # rows to a leaf, at least


@dataclass(frozen=True)
class Wishes:
    """What the user has set; None is left open.

    Attributes
    ----------
    base_learner : BaseLearner
        A tree in it may leave its size open.
    votes : {"real", "discrete", "ternary"}
    loss : Loss or None
    criterion : str or None
        None is that of votes and loss.
    step : Step or None
        None is that of the criterion.
    learning_rate : float or None
    rows : RowSampler or None
    columns : ColumnSampler
    labels : LabelSampler
    ridge, max_bins, min_category_rows, seed, init
        As in `Plan`.
    """

    base_learner: BaseLearner
    votes: str = "real"
    loss: Loss | None = None
    criterion: str | None = None
    step: Step | None = None
    learning_rate: float | None = None
    rows: RowSampler | None = None
    columns: ColumnSampler = field(default_factory=AllColumns)
    labels: LabelSampler = field(default_factory=AllLabels)
    ridge: float = 1.0
    max_bins: int = 256
    min_category_rows: int = 2
    seed: int = 0
    init: str | tuple[float, ...] | None = None

    def plan(self, loss: Loss, n_leaves: int, rows: RowSampler) -> Plan:
        """The plan with this loss, and with these values where they are open."""
        criterion = self._criterion_of(loss)
        step = self.step
        if step is None and CRITERIA.get(criterion).factorised:
            step = AlphaStep(1.0 if self.learning_rate is None else float(self.learning_rate))
        elif step is None:
            usual = RATES.get(loss.name, _OTHER_RATE)
            step = RateStep(usual if self.learning_rate is None else float(self.learning_rate))
        step.check(loss, CRITERIA.get(criterion))
        return Plan(
            loss, criterion, step, sized(self.base_learner, n_leaves), rows if self.rows is None else self.rows,
            self.columns, self.ridge, self.max_bins, self.min_category_rows, self.seed, init=self.init,
            labels=self.labels,
        )  # fmt: skip

    def _criterion_of(self, loss: Loss) -> str:
        usual = {"discrete": "edge", "ternary": "ternary"}.get(self.votes, "newton" if loss.has_curvature else "z")
        found = usual if self.criterion is None else self.criterion
        able = self.base_learner.criteria
        if not able or found in able:
            return found
        if self.criterion is None and self.votes == "real":
            return able[0]
        said = f"criterion={self.criterion!r}" if self.criterion is not None else f"votes={self.votes!r}"
        raise ValueError(
            f"{said} does not go with base_learner={spec_of(self.base_learner)!r}, whose criterion is "
            f"{' or '.join(map(repr, able))}; use votes='real' and leave the criterion open"
        )

    @property
    def losses(self) -> list[Loss]:
        """Losses that plans may have."""
        names = RATES if self.votes == "real" else ("exponential",)
        return [LOSSES.get(name)() for name in names] if self.loss is None else [self.loss]

    def check(self) -> None:
        """Refuse a step that was not made for losses and votes that plans may have."""
        for loss in self.losses:
            self.plan(loss, 2, AllRows())

    @property
    def criteria(self) -> tuple[str, ...]:
        """Criteria of this package that plans may have."""
        names = dict.fromkeys(self._criterion_of(loss) for loss in self.losses)
        return tuple(CRITERIA.get(name).searched_as for name in names if is_ours(CRITERIA.get(name).cut))

    @property
    def leaves_open(self) -> bool:
        """Whether the size of the trees is ours to choose."""
        return _is_plain_tree(self.base_learner) and self.base_learner.n_leaves is None

    @property
    def anything_open(self) -> bool:
        """Whether there is something to compare."""
        return self.votes == "real" and (
            self.loss is None or self.learning_rate is None or self.rows is None or self.leaves_open
        )

    def opened(self) -> Wishes | None:
        """The same with rate, size and rows left open, None where that would not be the same kind of plan."""
        if self.criterion is not None or self.step is not None or not _is_plain_tree(self.base_learner):
            return None
        tree = clone(self.base_learner).set_params(n_leaves=None)
        return replace(self, base_learner=tree, learning_rate=None, rows=None)

    def agrees(self, plan: Plan, *, leaves: bool = True) -> bool:
        """Whether a plan has the values that are set, of trees the size only if asked."""
        return (
            (self.learning_rate is None or plan.learning_rate == self.learning_rate)
            and (self.rows is None or plan.rows == self.rows)
            and (not leaves or self.leaves_open or plan.base_learner.n_leaves == self.base_learner.n_leaves)
        )


def _is_plain_tree(learner) -> bool:
    """Whether it is a tree of stumps."""
    return isinstance(learner, Tree) and (learner.base is None or type(learner.base) is Stump)


def default_leaves(n_rows: int, n_labels: int) -> int:
    """Leaves of a tree where the user does not say: twice the labels, 20 to 64.

    Small tables get smaller trees.
    """
    return int(max(4, min(64, max(20, 2 * n_labels), n_rows // _LEAF_ROWS)))


def sized(learner, n_leaves: int):
    """The base learner with ``n_leaves`` in trees that leave their size open."""
    if isinstance(learner, Tree) and learner.n_leaves is None:
        return clone(learner).set_params(n_leaves=n_leaves)
    base = getattr(learner, "base", None)
    return learner if base is None else clone(learner).set_params(base=sized(base, n_leaves))


def _candidates(wishes: Wishes, target: Target) -> list[Plan]:
    """The plans to compare: one for each loss."""
    n_rows, kind = target.n_rows, target.kind
    large = default_leaves(n_rows, target.n_labels)
    small = max(4, min(_NOISY_LEAVES, n_rows // 100))
    compared = wishes.votes == "real" and len(kind.losses) > 1
    rows = Share(_FEW_SHARE) if compared and n_rows < TRIAL_ROWS else AllRows()
    names = kind.losses if wishes.votes == "real" else ("exponential",)
    if target.sense is not None and len(names) > 1:  # exponentials of samples of negative weight run away
        names = tuple(name for name in names if name != "exponential")
    losses = [LOSSES.get(name)() for name in names] if wishes.loss is None else [wishes.loss]
    plans = []
    for loss in losses:
        noisy = loss.name == "logistic"
        plan = wishes.plan(loss, small if noisy else large, rows)
        plans.append(replace(plan, rounds=_NOISY_ROUNDS) if noisy and len(kind.losses) > 1 else plan)
    return plans


def plan_of(wishes: Wishes, target: Target) -> Plan:
    """The plan of wishes that leave nothing open but the size of trees; nothing is compared."""
    return _candidates(wishes, target)[0]


def choose_plan(wishes: Wishes, binned: Binned, target: Target, team: Team) -> tuple[Plan, Trial | None]:
    """A plan for a training set, and the last comparison that it took part in, None where nothing was open.

    Whoever sets a parameter to the value that would have been chosen gets the plan that would have been chosen.  Where
    the comparison would use up the time limit of the fit, it is the best plan so far, or the first.

    Parameters
    ----------
    wishes : Wishes
    binned : Binned
        Trials take rows of it: the table is binned once.
    target : Target
    team : Team
    """
    fixed = _candidates(wishes, target)
    if not wishes.anything_open:
        return plan_of(wishes, target), None
    try:
        trial = Trial(binned, target, TRIAL_ROWS, team)
        opened = wishes.opened()
        if wishes.loss is None and opened is not None and opened != wishes:
            usual = _candidates(opened, target)
            if any(wishes.agrees(plan, leaves=False) for plan in usual):
                plan, last = _best(usual, opened, binned, target, trial)
                if wishes.agrees(plan):
                    return plan, last
        return _best(fixed, wishes, binned, target, trial)
    except TimeIsUp:
        return fixed[0], None


def _best(plans: list[Plan], wishes: Wishes, binned: Binned, target: Target, trial: Trial) -> tuple[Plan, Trial]:
    """The best plan on held-out rows, with trees as large as the table is worth, and the last trial."""
    if len(target.kind.losses) > 1:
        trial.begin(*plans)
        plan = plans[0]
        trial.errors(plan)  # also where there is no other: a calibration learns from the rows that are held out
        for other in plans[1:]:
            plan = _better(plan, other, trial)
    else:
        plan = plans[0]
    return _grown(plan, binned, target, trial) if wishes.leaves_open else (plan, trial)


def _better(one: Plan, other: Plan, trial: Trial) -> Plan:
    """The one with the lower error; where the errors differ by no more than the standard error of their difference, the
    one with the lower log-loss after the best factor of its scores."""
    gain = trial.errors(one) - trial.errors(other)
    if abs(gain.sum()) > np.sqrt(gain @ gain):
        return other if gain.sum() > 0 else one
    return other if trial.refinement(other) < trial.refinement(one) else one


def _grown(plan: Plan, binned: Binned, target: Target, trial: Trial) -> tuple[Plan, Trial]:
    """The plan with trees as large as the table is worth, and the last trial.

    Where rounds are dear the smallest sample is left out.
    """
    n_rows, last = TRIAL_ROWS * (_MORE_ROWS if trial.is_dear else 1), trial
    while n_rows <= min(binned.n_rows, _MOST_ROWS):
        try:
            trial = trial if n_rows == TRIAL_ROWS else Trial(binned, target, n_rows, trial.team)
        except TimeIsUp:
            break
        while (n_leaves := _MORE_LEAVES * plan.base_learner.n_leaves) * _LEAF_ROWS <= n_rows:
            larger = plan.with_leaves(n_leaves)
            try:
                trial.errors(plan)
                last = trial
                if not _is_worth(larger, plan, trial):
                    break
            except TimeIsUp:
                return plan, last
            plan = larger
        n_rows *= _MORE_ROWS
    return plan, last


def _is_worth(larger: Plan, plan: Plan, trial: Trial) -> bool:
    """Whether larger trees win by more than the standard error of the difference, and by enough to be worth their time.

    They learn faster, so that their lead is greatest at first: without one after half of the rounds they are given up.
    """
    for errors in (trial.errors_halfway, trial.errors):
        now = errors(plan)
        gain = now - errors(larger)
        if gain.sum() <= max(np.sqrt(gain @ gain), _WORTH * now.sum()):
            return False
    return True
