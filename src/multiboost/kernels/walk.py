"""Scores of rows that need not see all base classifiers: before each of them a policy says what to do.

A policy is a table of actions.  Its rows are the base classifiers, and one more for the end; its columns are cells of
the state, which is made of the scores so far.  Rows of a table are walked one by one, as each goes its own way.
"""

from typing import NamedTuple

import numpy as np

from .compiler import INLINE, OPTIONS, njit
from .extremes import lesser
from .predict import TILE, leaf_of, next_of, on_curve, place_on
from .team import next_item

EVAL, SKIP, QUIT, REJECT, ACCEPT = range(5)
SCORE, MARGIN, LEADERS, LABELS = range(4)

# Bits are promised: no multiplication may be fused with an addition.
EXACT = {**OPTIONS, "fastmath": False}
_INLINE = {**INLINE, "fastmath": False}


class Sequence(NamedTuple):
    """Base classifiers, as ``Ensemble`` has them; the last three are empty where all votes are constants."""

    initial: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    missing_right: np.ndarray
    child: np.ndarray
    set_start: np.ndarray
    sets: np.ndarray
    values: np.ndarray
    root: np.ndarray
    first_term: np.ndarray
    along: np.ndarray
    degree: np.ndarray
    origin: np.ndarray


class Rules(NamedTuple):
    """A policy, as ``Policy`` has it, for labels with these tasks."""

    state: int
    cuts: np.ndarray
    actions: np.ndarray
    looks: np.ndarray
    restart: np.ndarray
    task_start: np.ndarray
    shift: float


@njit(**_INLINE)
def number_of(cuts, value):
    """How many of the sorted cuts are below a value."""
    low, high = 0, cuts.size
    while low < high:
        middle = (low + high) >> 1
        if cuts[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@njit(**_INLINE)
def _two_best(scores, first, last):
    """The two largest of some scores."""
    best, second = scores[first], -np.inf
    for k in range(first + 1, last):  # without branches, which would be mispredicted
        value = scores[k]
        loser = value if value < best else best
        best = best if value < best else value
        second = loser if loser > second else second
    return best, second


@njit(**_INLINE)
def margin_of(scores, task_start):
    """By how much the answers to all questions win, at least.

    A task is won by the difference of its two best labels.  Where there are no tasks, each label stands alone and is
    answered by its sign.
    """
    least = np.inf
    if task_start.size == 1:
        for k in range(scores.size):
            least = lesser(least, abs(scores[k]))
    for task in range(task_start.size - 1):
        best, second = _two_best(scores, task_start[task], task_start[task + 1])
        least = lesser(least, best - second)
    return least


@njit(**_INLINE)
def cell_of(scores, state, cuts, task_start):
    """The cell of the state in which scores are."""
    if state == SCORE:
        return number_of(cuts, scores[0])
    if state == MARGIN:
        return number_of(cuts, margin_of(scores, task_start))
    side = cuts.size + 1
    if state == LEADERS:
        best, second = _two_best(scores, 0, scores.size)
        return number_of(cuts, best) * side + number_of(cuts, second)
    cell = 0
    for k in range(scores.size):
        cell = cell * side + number_of(cuts, scores[k])
    return cell


@njit(**_INLINE)
def _add_curves(x, sequence, t, product, scores):
    """`add_round` where votes are polynomials, with the bits of `predict.add_curved_scores`."""
    n_labels, votes = scores.size, sequence.values.reshape(-1)
    for term in range(sequence.first_term[t], sequence.first_term[t + 1]):
        leaf = leaf_of(
            sequence.root[term], x, sequence.feature, sequence.threshold, sequence.missing_right, sequence.child,
            sequence.set_start, sequence.sets,
        )  # fmt: skip
        place = place_on(x, sequence.along[term], sequence.origin[leaf])
        for k in range(n_labels):
            vote = on_curve(votes, leaf * n_labels + k, n_labels, sequence.degree[term], place)
            product[k] = vote if term == sequence.first_term[t] else product[k] * vote
    for k in range(n_labels):
        scores[k] += product[k]


@njit(**_INLINE)
def add_round(x, sequence, t, product, scores):
    """scores += round t for one row x."""
    if sequence.along.size > 0:
        _add_curves(x, sequence, t, product, scores)
        return
    feature, threshold, missing_right = sequence.feature, sequence.threshold, sequence.missing_right
    child, set_start, sets, values, root = (
        sequence.child, sequence.set_start, sequence.sets, sequence.values, sequence.root,
    )  # fmt: skip
    a, b = sequence.first_term[t], sequence.first_term[t + 1]
    leaf = leaf_of(root[a], x, feature, threshold, missing_right, child, set_start, sets)
    if b == a + 1:
        for k in range(scores.size):
            scores[k] += values[leaf, k]
        return
    for k in range(scores.size):
        product[k] = values[leaf, k]
    for term in range(a + 1, b):
        leaf = leaf_of(root[term], x, feature, threshold, missing_right, child, set_start, sets)
        for k in range(scores.size):
            product[k] *= values[leaf, k]
    for k in range(scores.size):
        scores[k] += product[k]


@njit(**_INLINE)
def action_at(t, scores, rules):
    """What the policy says before base classifier t."""
    if not rules.looks[t]:
        return EVAL
    cell = cell_of(scores, rules.state, rules.cuts[lesser(t, len(rules.cuts) - 1)], rules.task_start)
    return np.intp(rules.actions[t, cell])


@njit(**_INLINE)
def _leave(action, scores, shift):
    """What is rejected is below all others, what is accepted above."""
    if action == REJECT:
        scores[0] -= shift
    elif action == ACCEPT:
        scores[0] += shift


@njit(**_INLINE)
def _walk_on(x, sequence, rules, product, scores, path):
    """One row from the first base classifier to where the policy quits; how many were evaluated."""
    evaluated = 0
    for t in range(rules.restart.size + 1):
        action = action_at(t, scores, rules)
        if path.size > 0:
            path[t] = action
        if action == EVAL:
            if rules.restart[t]:
                for k in range(scores.size):
                    scores[k] = sequence.initial[k]
            add_round(x, sequence, t, product, scores)
            evaluated += 1
        elif action != SKIP:
            _leave(action, scores, rules.shift)
            break
    return evaluated


@njit(**EXACT)
def walk(tid, n_threads, sync, X, sequence, rules, products, scores, evaluated, paths):
    """Scores (n, K), which begin as ``initial``, and the number of base classifiers that were evaluated, (n,).

    ``paths`` (n, rounds + 1) gets the actions, unless it is empty: (n, 0).  ``products`` (threads, K and more) is room
    to work in.
    """
    n = scores.shape[0]
    tile = next_item(sync)
    while tile * TILE < n:
        for i in range(tile * TILE, lesser(n, tile * TILE + TILE)):
            evaluated[i] = _walk_on(X[i], sequence, rules, products[tid], scores[i], paths[i])
        tile = next_item(sync)


@njit(**EXACT)
def walk_row(x, n_categories, sequence, rules, row, product, scores):
    """The same for one row of numbers; false where it does not have the model's columns.

    ``n_categories`` of each column is 0 for numbers; what is not the number of a category is missing.
    """
    if x.size != n_categories.size:
        return False
    for j in range(x.size):
        strange = n_categories[j] > 0 and not 0 <= x[j] < n_categories[j]
        row[j] = np.nan if strange else x[j]
    _walk_on(row, sequence, rules, product, scores, row[:0])
    return True


@njit(**EXACT)
def margins_of(tid, n_threads, sync, scores, task_start, margins):
    """By how much the answers to all questions win, for every row."""
    n = scores.shape[0]
    tile = next_item(sync)
    while tile * TILE < n:
        for i in range(tile * TILE, lesser(n, tile * TILE + TILE)):
            margins[i] = margin_of(scores[i], task_start)
        tile = next_item(sync)


@njit(**EXACT)
def missing_feature(x, known, sequence, t):
    """The first column that round t asks of a row and that is not known yet; -1 where nothing is missing."""
    for term in range(sequence.first_term[t], sequence.first_term[t + 1]):
        node = sequence.root[term]
        while node >= 0:
            wanted = np.intp(sequence.feature[np.uintp(node)])
            if not known[wanted]:
                return wanted
            node = next_of(
                node, x, sequence.feature, sequence.threshold, sequence.missing_right, sequence.child,
                sequence.set_start, sequence.sets,
            )  # fmt: skip
        if sequence.along.size > 0 and sequence.along[term] >= 0 and not known[sequence.along[term]]:
            return np.intp(sequence.along[term])
    return np.intp(-1)


@njit(**EXACT)
def walk_lazily(x, known, sequence, rules, product, scores, place):
    """Walk one row as far as its known columns go; the column that is wanted next, -1 at the end.

    ``place`` holds where the walk is: the next base classifier, and how many were evaluated.  It begins with zeros.
    """
    while True:
        t = place[0]
        action = action_at(t, scores, rules)
        if action == EVAL:
            wanted = missing_feature(x, known, sequence, t)
            if wanted >= 0:
                return wanted
            if rules.restart[t]:
                for k in range(scores.size):
                    scores[k] = sequence.initial[k]
            add_round(x, sequence, t, product, scores)
            place[1] += 1
        elif action != SKIP:
            _leave(action, scores, rules.shift)
            return np.intp(-1)
        place[0] = t + 1
