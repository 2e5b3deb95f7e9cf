"""A policy in C99: before each base classifier a table says whether to evaluate it, to skip it, or to leave.

The walk of ``kernels.walk``, with the same additions and comparisons in the same order: in double precision the same
decisions and the same bits.
"""

from __future__ import annotations

from textwrap import dedent, indent

import numpy as np

from ..model.model import Model
from ..model.policy import ACTIONS, Policy
from .c_text import braces, filled, number, table

_LARGEST = np.finfo(np.float64).max
_FEW = 8  # cuts, up to which counting is faster than halving, whose branches are mispredicted


def policy_scores(model: Model, name: str, one_round: str) -> str:
    """``NAME_scores(x, scores)``, which returns how many base classifiers it has evaluated.

    Parameters
    ----------
    model : Model
        With a policy.
    name : str
        That identifiers begin with.
    one_round : str
        Statements that add round ``t`` of the row ``x`` to ``scores``.
    """
    policy = model.policy
    assert policy is not None
    rules = model.walker.rules
    looking = np.flatnonzero(policy.looks)
    place = np.full(policy.n_rounds + 1, -1)
    place[looking] = np.arange(len(looking))
    # Scores are finite: what is above infinity is what is above the largest number, and math.h is not needed.
    cuts = np.clip(policy.cuts, -_LARGEST, _LARGEST)
    rows = cuts[looking] if len(cuts) > 1 else cuts
    parts = [
        table("static const int32_t place[]", [str(k) for k in place]),
        table(f"static const uint8_t actions[][{policy.actions.shape[1]}]",
              [braces([str(action) for action in policy.actions[t]]) for t in looking]),
    ]  # fmt: skip
    if rows.shape[1]:
        entries = [braces([number(cut, "double") for cut in row]) for row in rows]
        parts.append(table(f"static const double cuts[][{rows.shape[1]}]", entries))
    if policy.restart.any():
        parts.append(table("static const uint8_t restart[]", [str(int(again)) for again in policy.restart]))
    if policy.state == "margin" and len(rules.task_start) > 1:
        parts.append(table("static const int32_t task_start[]", [str(k) for k in rules.task_start]))
    stays = _stays(policy, cuts)
    if stays is not None:
        parts.append(table("static const double stays[][2]",
                           [braces([number(bound, "double") for bound in row]) for row in stays]))  # fmt: skip
    parts.append(_cell(model, rows.shape[1]))
    words = {
        "MODEL": name, "LABELS": f"{name.upper()}_LABELS", "ROUNDS": str(policy.n_rounds), **{
            action: str(value) for action, value in ACTIONS.items()
        },
        "CUTS": f"cuts[{'place[t]' if len(cuts) > 1 else '0'}]" if rows.shape[1] else "0",
        "SHIFT": number(rules.shift, "double"),
    }  # fmt: skip
    again = _RESTART if policy.restart.any() else ""
    verdicts = _VERDICTS if (policy.actions > ACTIONS["QUIT"]).any() else ""
    skips = " else if (action != SKIP)" if (policy.actions == ACTIONS["SKIP"]).any() else " else"
    quick = "" if stays is None else "scores[0] > stays[t][0] && scores[0] <= stays[t][1] ? EVAL : "
    scores = (
        _SCORES.replace("    AGAIN;\n", again)
        .replace("QUICK ", quick)
        .replace("VERDICTS;\n", verdicts)
        .replace(" ELSE", skips)
    )
    parts.append(_ROUND.replace("    ONE_ROUND;\n", indent(dedent(one_round), "    ")))
    return "\n".join(parts) + filled(scores, **words)


def _stays(policy: Policy, cuts: np.ndarray) -> np.ndarray | None:
    """Between which scores a row goes on, (rounds + 1, 2), above the first and not above the second.

    None where that is no interval, or the state is something else than the score.  Most rows of cascades go on most
    of the time, and need not be looked up.
    """
    if policy.state != "score":
        return None
    found = np.tile([-_LARGEST, _LARGEST], (policy.n_rounds + 1, 1))
    for t in np.flatnonzero(policy.looks):
        on = np.flatnonzero(policy.actions[t] == ACTIONS["EVAL"])
        bounds = np.concatenate([[-_LARGEST], cuts[min(int(t), len(cuts) - 1)], [_LARGEST]])
        if on.size and on[-1] - on[0] + 1 != on.size:
            return None
        found[t] = (bounds[on[0]], bounds[on[-1] + 1]) if on.size else (_LARGEST, -_LARGEST)
    return found


def _cell(model: Model, n_cuts: int) -> str:
    """A function from scores to the cell of the state."""
    assert model.policy is not None
    state, n_labels = model.policy.state, model.ensemble.n_labels
    if n_cuts == 0:
        return (
            "static int32_t cell_of(const double *scores, const double *cut)\n{\n    (void)scores, (void)cut;\n"
            "    return 0;\n}\n"
        )
    parts = [_COUNT if n_cuts <= _FEW else _NUMBER]
    if state == "leaders" or (state == "margin" and len(model.kind.task_start) > 1):
        parts.append(_TWO_BEST)
    if state == "margin":
        parts.append(_MARGIN_OF_TASKS if len(model.kind.task_start) > 1 else _MARGIN)
    words = {
        "CUTS": str(n_cuts), "LABELS": str(n_labels), "TASKS": str(len(model.kind.task_start) - 1),
        "LARGEST": number(_LARGEST, "double"),
    }  # fmt: skip
    return "\n".join(filled(part, **words) for part in [*parts, _CELLS[state]])


# Words in capitals are filled in.

_COUNT = """/* How many of the cuts are below a value. */
static int32_t number_of(const double *cut, double value)
{
    int32_t j, n = 0;
    for (j = 0; j < CUTS; j++)
        n += cut[j] < value;
    return n;
}
"""

_NUMBER = """/* How many of the cuts are below a value. */
static int32_t number_of(const double *cut, double value)
{
    int32_t low = 0, high = CUTS;
    while (low < high) {
        int32_t middle = (low + high) >> 1;
        if (cut[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
"""

_TWO_BEST = """static void two_best(const double *scores, int first, int last, double *best, double *second)
{
    int k;
    *best = scores[first];
    *second = -LARGEST;
    for (k = first + 1; k < last; k++) {
        double value = scores[k], loser = value < *best ? value : *best;
        *best = *best < value ? value : *best;
        *second = loser > *second ? loser : *second;
    }
}
"""

_MARGIN = """static double margin_of(const double *scores)
{
    double least = LARGEST;
    int k;
    for (k = 0; k < LABELS; k++) {
        double size = scores[k] < 0 ? -scores[k] : scores[k];
        least = size < least ? size : least;
    }
    return least;
}
"""

_MARGIN_OF_TASKS = """static double margin_of(const double *scores)
{
    double least = LARGEST, best, second;
    int task;
    for (task = 0; task < TASKS; task++) {
        two_best(scores, task_start[task], task_start[task + 1], &best, &second);
        least = best - second < least ? best - second : least;
    }
    return least;
}
"""

_CELL = """static int32_t cell_of(const double *scores, const double *cut)
{
    RETURN
}
"""
_CELLS = {
    "score": _CELL.replace("RETURN", "return number_of(cut, scores[0]);"),
    "margin": _CELL.replace("RETURN", "return number_of(cut, margin_of(scores));"),
    "leaders": _CELL.replace(
        "RETURN",
        "double best, second;\n    two_best(scores, 0, LABELS, &best, &second);\n"
        "    return number_of(cut, best) * (CUTS + 1) + number_of(cut, second);",
    ),
    "labels": _CELL.replace(
        "RETURN",
        "int32_t cell = 0;\n    int k;\n    for (k = 0; k < LABELS; k++)\n"
        "        cell = cell * (CUTS + 1) + number_of(cut, scores[k]);\n    return cell;",
    ),
}

_ROUND = """
static void add_round(const double *x, int32_t t, double *scores)
{
    int k;
    ONE_ROUND;
}
"""

_RESTART = """            if (restart[t])
                for (k = 0; k < LABELS; k++)
                    scores[k] = initial[k];
"""

# What is rejected is below all others, what is accepted above.
_VERDICTS = """            if (action == REJECT)
                scores[0] -= SHIFT;
            else if (action == ACCEPT)
                scores[0] += SHIFT;
"""

_SCORES = """
int32_t MODEL_scores(const double *x, double *scores)
{
    int32_t t, evaluated = 0;
    int k;
    for (k = 0; k < LABELS; k++)
        scores[k] = initial[k];
    for (t = 0; t <= ROUNDS; t++) {
        int action = QUICK place[t] < 0 ? EVAL : actions[place[t]][cell_of(scores, CUTS)];
        if (action == EVAL) {
    AGAIN;
            add_round(x, t, scores);
            evaluated++;
        } ELSE {
VERDICTS;
            break;
        }
    }
    return evaluated;
}
"""
