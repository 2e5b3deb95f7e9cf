"""Early exit with a promise: a row leaves after the first rounds whose margin is large enough.

Held-out rows say how large: the margin is lowered, step by step along a grid that depends on the model only, as long as
the bound of Clopper and Pearson on the share of answers that differ from the whole model's stays below what is allowed,
and not one step further.  As the steps are fixed beforehand and the first failure ends the search, the bound needs no
correction for the many margins that were tried (fixed sequence testing; Angelopoulos et al., "Learn then test", 2021).
"""

from __future__ import annotations

import numpy as np

from ..data.table import Table
from ..kernels.team import Team
from ..kernels.walk import margins_of
from ..model.model import Model
from ..model.policy import Policy, exit_policy
from .rates import rows_needed, upper_bound

_FIRST, _GROWTH = 4, 1.5  # rounds before the first exit, and how much later the next one is: docs/notes/lean.md
_STEPS = 1500  # of the margin, each of them
_STEP = 0.99  # this many times the one before


def exit_rounds(n_rounds: int, first: int = _FIRST, growth: float = _GROWTH) -> list[int]:
    """After which rounds rows may leave: after the fourth, and then after half as many more each time.

    Parameters
    ----------
    n_rounds, first : int
    growth : float
    """
    found, t = [], first
    while t < n_rounds:
        found.append(t)
        t = max(t + 1, int(t * growth))
    return found


def early_exit(
    model: Model, table: Table, team: Team, max_disagreement: float, confidence: float, rounds: list[int] | None = None
) -> Policy:
    """The policy by which rows leave as early as the promise allows.

    Parameters
    ----------
    model : Model
    table : Table
        Rows that the model was not trained on.
    team : Team
    max_disagreement : float
        The share of answers that may differ from the whole model's.
    confidence : float
        With which this holds for rows drawn like those of the table.
    rounds : list of int or None
        After which rows may leave; None: those of `exit_rounds`.
    """
    n, rounds = table.n_rows, exit_rounds(model.n_rounds) if rounds is None else rounds
    needed = rows_needed(max_disagreement, confidence)
    if n < needed:
        raise ValueError(
            f"{n} held-out rows cannot promise a disagreement of at most {max_disagreement:g} with confidence "
            f"{confidence:g}, even if none of them disagrees: give at least {needed} rows, or allow "
            f"{upper_bound(0, n, confidence):.2g}"
        )
    margin, differs = _stages(model, table, team, rounds)
    highest = 2.0 * float(model.sizes()[-1])  # of sums of votes no margin is larger
    best: float | None = None
    count, evaluated = 0, float(model.n_rounds)
    for step in range(1, _STEPS):
        candidate = highest * _STEP**step
        wrong, mean = _outcome(margin, differs, rounds, model.n_rounds, candidate)
        if upper_bound(wrong, n, confidence) > max_disagreement:
            break
        best, count, evaluated = candidate, wrong, mean
    about = {
        "name": "early exit",
        "max_disagreement": max_disagreement,
        "confidence": confidence,
        "rows": n,
        "disagreements": count,
        "bound": upper_bound(count, n, confidence),
        "margin": best,
        "mean_evaluated": evaluated,
    }
    # Without a margin that keeps the promise nobody leaves.
    return exit_policy(model.n_rounds, {} if best is None else dict.fromkeys(rounds, best), about)


def _stages(model: Model, table: Table, team: Team, rounds: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Margins at each exit, and whether the answer differs from the last one, (exits, n)."""
    n, wanted, task_start = table.n_rows, set(rounds), np.asarray(model.kind.task_start, np.intp)
    margins = np.empty((len(rounds), n))
    answers: list[np.ndarray] = []
    for t, scores in enumerate(model.staged_scores(table, team), start=1):
        if t in wanted:
            team.run(margins_of, scores, task_start, margins[len(answers)])
            answers.append(model.answer(scores))
    last = model.answer(scores)
    return margins, np.array([(a != last).reshape(n, -1).any(axis=1) for a in answers]).reshape(len(rounds), n)


def _outcome(margin, differs, rounds: list[int], n_rounds: int, least: float) -> tuple[int, float]:
    """How many rows leave with another answer, and the mean number of rounds."""
    leaves = np.concatenate([margin > least, np.ones((1, margin.shape[1]), bool)])
    at = leaves.argmax(axis=0)
    wrong = np.concatenate([differs, np.zeros((1, margin.shape[1]), bool)])[at, np.arange(margin.shape[1])]
    return int(wrong.sum()), float(np.array([*rounds, n_rounds])[at].mean())
