"""Work of the core, counted, not timed: it is the same on a busy machine, and a test can compare it.

Every case is a few rounds on one thread, on generated data, after everything is compiled.  Two things are counted:
instructions, under callgrind, and, everywhere, what the kernels are handed: calls, and bytes of arrays.  The second
sees more passes over the data and wider numbers, but nothing inside a kernel.

    python -m benchmarks.work            # counts beside the recorded ones
    python -m benchmarks.work --record   # after a change that is meant to change them
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

import numpy as np

from multiboost.base import base_learner_from
from multiboost.boosting.auto import Wishes, plan_of
from multiboost.boosting.run import Run, Start
from multiboost.data.binned import Binned
from multiboost.data.kinds import Binary, MultiClass
from multiboost.data.table import as_table
from multiboost.data.target import Target
from multiboost.kernels.team import Team
from multiboost.losses import LOSSES
from multiboost.model.ensemble import EnsembleBuilder
from multiboost.samplers import AllRows

from . import callgrind
from .data import PROJECT
from .measure import write_json

RECORDED = PROJECT / "tests" / "work.json"
TOLERANCE = 0.10  # runs differ by 0.1 %, processors by 2 %; without histogram subtraction trees take 16 % more
INSTRUCTIONS, CALLS, BYTES = "instructions", "calls of kernels", "bytes handed to kernels"


class Ledger(Team):
    """A team of one that notes what its kernels are handed."""

    def __init__(self):
        super().__init__(1)
        self.calls = self.bytes = 0

    def run(self, kernel, *args, alone: bool = False):
        self.calls += 1
        self.bytes += _bytes(args)
        return super().run(kernel, *args, alone=alone)


def _bytes(arguments) -> int:
    """Bytes of all arrays among arguments, which may be tuples of them."""
    total = 0
    for argument in arguments:
        if isinstance(argument, tuple):
            total += _bytes(argument)
        elif isinstance(argument, np.ndarray):
            total += argument.nbytes
    return total


def _boosting(
    team: Team, X: np.ndarray, y: np.ndarray, learner: str, votes: str, loss: str, nominal=(), scores=None
) -> Run:
    classes = np.unique(y)
    table = as_table(X)
    if nominal:
        table.with_categories(np.isin(np.arange(X.shape[1]), nominal))
    target = Target((Binary if classes.size == 2 else MultiClass)([classes]), y)
    binned = Binned.of(table, n_threads=team.n_threads)
    plan = plan_of(Wishes(base_learner_from(learner), votes, LOSSES.get(loss)(), rows=AllRows()), target)
    start = None
    if scores is not None:
        start = Start(EnsembleBuilder(np.zeros(target.n_labels), table.n_columns).build(), scores, {})
    return Run(plan, binned, target, team, start, last=True)


def _levels(n: int, n_columns: int, n_levels: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns of a few levels, and classes that depend on all of them."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, n_levels, (n, n_columns)).astype(np.float64)
    return X, ((X - X.mean(axis=0)) @ rng.normal(size=(n_columns, n_classes)) / n_levels).argmax(axis=1)


def _rounds(team: Team, rounds: int, *problem, before: int = 1, **options) -> Callable[[], object]:
    """Rounds of boosting, after one or a few that come before the counting."""
    boosting = _boosting(team, *problem, **options)
    boosting.run(before)
    return lambda: boosting.run(rounds)


def discrete_stumps(team: Team) -> Callable[[], object]:
    """Few levels, many classes, as in letter."""
    return _rounds(team, 5, *_levels(3000, 16, 16, 26), "stump", "discrete", "exponential")


def bounded_stumps(team: Team) -> Callable[[], object]:
    """Many columns, whose cuts are bounded before they are searched."""
    return _rounds(team, 4, *_levels(1500, 60, 200, 10), "stump", "discrete", "exponential")


def late_stumps(team: Team) -> Callable[[], object]:
    """As after thousands of rounds: few rows have almost all of the weight."""
    X, _ = _levels(1500, 60, 200, 10)
    y = X[:, 0].astype(int) // 20
    margin = 20.0 * np.random.default_rng(1).random((1500, 10))
    scores = np.where(np.arange(10) == y[:, None], margin, -margin)
    return _rounds(team, 4, X, y, "stump", "discrete", "exponential", scores=scores, before=2)


def discrete_products(team: Team) -> Callable[[], object]:
    """Virtual labels, again and again."""
    return _rounds(team, 2, *_levels(1500, 16, 16, 10), "product:3", "discrete", "exponential")


def real_trees(team: Team) -> Callable[[], object]:
    """Many bins, which are searched coarsely first."""
    return _rounds(team, 3, *_levels(3000, 24, 100_000, 10), "tree:20", "real", "exponential")


def one_label(team: Team) -> Callable[[], object]:
    """Two classes, Newton steps, and nominal columns, as in adult."""
    X, y = _levels(6000, 10, 30, 2)
    return _rounds(team, 4, X, y, "tree:8", "real", "logistic", nominal=(0, 1, 2, 3))


def prediction(team: Team) -> Callable[[], object]:
    """Scores of raw rows."""
    X, y = _levels(2000, 16, 50, 10)
    boosting = _boosting(team, X, y, "tree:20", "real", "exponential")
    boosting.run(10)
    ensemble, table = boosting.builder.build(), as_table(X)
    ensemble.scores(table, team)
    return lambda: ensemble.scores(table, team)


CASES: dict[str, Callable[[Team], Callable[[], object]]] = {
    case.__name__.replace("_", " "): case
    for case in (discrete_stumps, bounded_stumps, late_stumps, discrete_products, real_trees, one_label, prediction)
}


def handed_over(name: str, repeats: int = 1) -> dict[str, int]:
    """Calls and bytes of a case, or of so many repeats of it."""
    with Ledger() as team:
        action = CASES[name](team)
        team.calls = team.bytes = 0
        for _ in range(repeats):
            action()
        return {CALLS: team.calls, BYTES: team.bytes}


def instructions(twice: str = "") -> dict[str, dict[str, int]]:
    """Instructions of all cases, and of one of them done twice, as "..., twice".

    `callgrind.Unavailable` where they cannot be counted.
    """
    callgrind.check()
    # Where there is pandas, scikit-learn imports it: a quarter of the whole time under valgrind, for nothing.
    code = (
        "import sys; sys.modules['pandas'] = None; from benchmarks.work import under_callgrind as run; run(sys.argv[1])"
    )
    found = callgrind.instructions(code, twice)
    return {name: {INSTRUCTIONS: number} for name, number in found.items()}


def under_callgrind(twice: str) -> None:
    """The process whose instructions are counted."""
    with Team(1) as team:
        actions = {name: case(team) for name, case in CASES.items()}
        if twice:
            actions[f"{twice}, twice"] = lambda: [actions[twice]() for _ in range(2)]
        callgrind.Counter().count(actions)


def complaints(counted: dict[str, dict[str, int]], recorded: dict[str, dict[str, int]]) -> list[str]:
    """What has become clearly more expensive; also cases that nothing is recorded of."""
    found = []
    for name, figures in counted.items():
        for what, number in figures.items():
            before = recorded.get(name, {}).get(what)
            if before is None:
                found.append(f"{name}: no {what} are recorded; make record-work")
            elif number > (1.0 + TOLERANCE) * before:
                found.append(
                    f"{name}: {number:,} {what}, {number / before:.2f} times the {before:,} recorded; "
                    "if this is the price of something worth it, make record-work and say so in the commit"
                )
    return found


def read() -> dict[str, dict[str, int]]:
    """Recorded counts."""
    return json.loads(RECORDED.read_text(encoding="utf-8")) if RECORDED.exists() else {}


def main(arguments: list[str]) -> None:
    """Count and print, or record."""
    if arguments not in ([], ["--record"]):
        sys.exit(f"usage: python -m benchmarks.work [--record]; got {' '.join(arguments)}")
    recorded = read()
    try:
        under = instructions()
    except callgrind.Unavailable as problem:
        sys.exit(f"instructions cannot be counted: {problem}")
    counted = {name: {**under[name], **handed_over(name)} for name in CASES}
    for name, figures in counted.items():
        for what, number in figures.items():
            before = recorded.get(name, {}).get(what)
            ratio = "" if before is None else f"   {number / before:.3f} of what was recorded"
            print(f"{name:<20}{what:<26}{number:>14,}{ratio}")
    if arguments:
        write_json(RECORDED, counted)


if __name__ == "__main__":
    main(sys.argv[1:])
