"""Episodes of the Markov decision process of MDDAG: rows that walk along the base classifiers and learn what pays.

A step of an episode is a base classifier, so that no state comes twice in an episode.  That is why SARSA(lambda) with
replacing traces, which updates all states of the past at each step, is one pass from the end of the episode to its
beginning: the target of each step is G = r + (1 - lambda) Q' + lambda G', where Q' and G' are the value and the target
of the next step.
"""

from typing import NamedTuple

import numpy as np

from .compiler import INLINE, njit
from .extremes import lesser
from .predict import TILE, next_of
from .team import next_item
from .walk import EVAL, EXACT, QUIT, SKIP, action_at, add_round, cell_of

_INLINE = {**INLINE, "fastmath": False}


class World(NamedTuple):
    """What episodes earn and cost.

    start (n, K): scores before the first base classifier.  label (n,): the number of the right label, of binary models
    0 or 1.  weight (n,): of its reward.  cost (rounds,): of base classifiers.  feature_cost (columns,): of columns,
    paid when first needed; empty where base classifiers cost.  scale: rewards see margins divided by it.  answers:
    whether there is an answer to reward before anything was evaluated, that of the model before this one.
    """

    X: np.ndarray
    start: np.ndarray
    label: np.ndarray
    weight: np.ndarray
    cost: np.ndarray
    feature_cost: np.ndarray
    scale: float
    answers: bool


class Room(NamedTuple):
    """Room to work in: scores and a product, (K,); the steps of an episode, (rounds,); columns that are paid."""

    scores: np.ndarray
    product: np.ndarray
    cells: np.ndarray
    actions: np.ndarray
    rewards: np.ndarray
    paid: np.ndarray


@njit(**_INLINE)
def _random(state):
    """The next number of splitmix64 (Steele et al., 2014)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(**_INLINE)
def _share(state):
    """A random number from 0 to 1, without 1."""
    return np.float64(_random(state) >> np.uint64(11)) * 2.0**-53


@njit(**_INLINE)
def _below(state, n):
    """A random whole number from 0 to n, without n."""
    return lesser(np.intp(_share(state) * n), n - 1)


@njit(**_INLINE)
def _pay(x, sequence, world, t, paid, mark):
    """What base classifier t costs for a row: its own cost, or that of the columns that are needed and not paid."""
    if world.feature_cost.size == 0:
        return world.cost[t]
    total = 0.0
    for term in range(sequence.first_term[t], sequence.first_term[t + 1]):
        node = sequence.root[term]
        while node >= 0:
            column = np.intp(sequence.feature[np.uintp(node)])
            if paid[column] != mark:
                paid[column] = mark
                total += world.feature_cost[column]
            node = next_of(
                node, x, sequence.feature, sequence.threshold, sequence.missing_right, sequence.child,
                sequence.set_start, sequence.sets,
            )  # fmt: skip
        if sequence.along.size > 0 and sequence.along[term] >= 0 and paid[sequence.along[term]] != mark:
            paid[sequence.along[term]] = mark
            total += world.feature_cost[sequence.along[term]]
    return total


@njit(**_INLINE)
def _lead(scores, label):
    """By how much the right label wins, rho; of binary models y F."""
    if scores.size == 1:
        return scores[0] if label == 1 else -scores[0]
    rival = -np.inf
    for k in range(scores.size):
        if k != label and scores[k] > rival:
            rival = scores[k]
    return scores[label] - rival


@njit(**_INLINE)
def _earned(reward, scores, world, i, evaluated):
    """The reward for leaving; nothing where there is no answer yet."""
    if evaluated == 0 and not world.answers:
        return 0.0
    return world.weight[i] * reward(_lead(scores, world.label[i]) / world.scale)


@njit(**_INLINE)
def _best(values, allowed):
    """The allowed action with the largest value, the first of them."""
    best = -1
    for a in range(3):
        if allowed[a] and (best < 0 or values[a] > values[best]):
            best = a
    return best


@njit(**_INLINE)
def _drawn(random, allowed):
    """An allowed action, each with the same probability."""
    k = _below(random, np.intp(allowed[0]) + np.intp(allowed[1]) + np.intp(allowed[2]))
    for a in range(3):
        k -= np.intp(allowed[a])
        if k < 0:
            return a
    return EVAL


@njit(**EXACT)
def update_backward(q, cells, actions, rewards, length, trace, rate, off_policy, allowed):
    """One episode's update of Q (rounds, cells, 3), from its last step to its first.

    On policy it is SARSA(lambda).  Off policy it is Watkins' Q(lambda): the value of the next step is that of its best
    action, and what came after an action that was not the best is left out.
    """
    value, target = 0.0, 0.0
    for t in range(length - 1, -1, -1):
        values, a = q[t, cells[t]], actions[t]
        new = rewards[t] + (1.0 - trace) * value + trace * target
        value, target = values[a], new
        if off_policy:
            best = values[_best(values, allowed)]
            if value < best:
                target = best
            value = best
        values[a] += rate * (new - values[a])


@njit(**EXACT)
def learn(
    n_episodes, world, sequence, state, cuts, task_start, reward, beta, epsilon, trace, rate, off_policy, allowed, q,
    random, room,
):  # fmt: skip
    """So many episodes, each of a random row, which follow Q but for a share epsilon of random actions."""
    n, n_rounds = len(world.X), len(q)
    for _ in range(n_episodes):
        i = _below(random, n)
        x, scores, evaluated, length, quits = world.X[i], room.scores, 0, n_rounds, False
        mark = random[0]
        for k in range(scores.size):
            scores[k] = world.start[i, k]
        for t in range(n_rounds):
            cell = cell_of(scores, state, cuts, task_start)
            a = _drawn(random, allowed) if _share(random) < epsilon else _best(q[t, cell], allowed)
            room.cells[t], room.actions[t], room.rewards[t] = cell, a, 0.0
            if a == QUIT:
                room.rewards[t] = _earned(reward, scores, world, i, evaluated)
                length, quits = t + 1, True
                break
            if a == EVAL:
                room.rewards[t] = -beta * _pay(x, sequence, world, t, room.paid, mark)
                add_round(x, sequence, t, room.product, scores)
                evaluated += 1
        if not quits:
            room.rewards[n_rounds - 1] += _earned(reward, scores, world, i, evaluated)
        update_backward(q, room.cells, room.actions, room.rewards, length, trace, rate, off_policy, allowed)


@njit(**_INLINE)
def _follow(t, scores, evaluated, i, world, sequence, rules, reward, beta, product, paid, mark):
    """What a row gets that follows a policy from base classifier t on; it changes the scores."""
    total = 0.0
    for now in range(t, rules.restart.size):
        action = action_at(now, scores, rules)
        if action == EVAL:
            total -= beta * _pay(world.X[i], sequence, world, now, paid, mark)
            add_round(world.X[i], sequence, now, product, scores)
            evaluated += 1
        elif action != SKIP:
            break
    return total + _earned(reward, scores, world, i, evaluated)


@njit(**EXACT)
def returns(tid, n_threads, sync, world, sequence, rules, reward, beta, products, all_scores, all_paid, found):
    """What each row gets that follows a policy, (n,)."""
    n = len(world.X)
    tile = next_item(sync)
    while tile * TILE < n:
        for i in range(tile * TILE, lesser(n, tile * TILE + TILE)):
            scores = all_scores[tid, : sequence.initial.size]
            for k in range(scores.size):
                scores[k] = world.start[i, k]
            found[i] = _follow(
                0, scores, 0, i, world, sequence, rules, reward, beta, products[tid], all_paid[tid], np.uint64(i + 1)
            )
        tile = next_item(sync)


@njit(**_INLINE)
def _wander(i, n_rounds, world, sequence, rules, epsilon, allowed, random, room):
    """Row i follows a policy but for a share epsilon of random actions; how many it took, which are kept."""
    for k in range(room.scores.size):
        room.scores[k] = world.start[i, k]
    for t in range(n_rounds):
        a = _drawn(random, allowed) if _share(random) < epsilon else action_at(t, room.scores, rules)
        room.actions[t] = a
        if a == EVAL:
            add_round(world.X[i], sequence, t, room.product, room.scores)
        elif a != SKIP:
            return t + 1
    return n_rounds


@njit(**_INLINE)
def _replay(i, t, world, sequence, room, mark):
    """The way of row i to base classifier t once more: the scores, and what is paid; how many were evaluated."""
    evaluated = 0
    for k in range(room.scores.size):
        room.scores[k] = world.start[i, k]
    for before in range(t):
        if room.actions[before] == EVAL:
            _pay(world.X[i], sequence, world, before, room.paid, mark)
            add_round(world.X[i], sequence, before, room.product, room.scores)
            evaluated += 1
    return evaluated


@njit(**EXACT)
def roll_out(world, sequence, rules, reward, beta, epsilon, allowed, random, room, states, positions, values):
    """Random states, and what each action is worth there.

    A random row follows the policy but for a share epsilon of random actions.  One of the states on its way is drawn,
    all with the same probability; from there each action is tried, and the policy is followed after it.

    Parameters
    ----------
    states : ndarray (n, K)
        OUT: the scores.
    positions : ndarray of int (n,)
        OUT: the base classifiers before which they are.
    values : ndarray (n, 3)
        OUT: what actions get from there on; -infinity for those that are not allowed.
    """
    n_rounds, scores = rules.restart.size - 1, room.scores
    for r in range(len(states)):
        i = _below(random, len(world.X))
        length = _wander(i, n_rounds, world, sequence, rules, epsilon, allowed, random, room)
        t = positions[r] = _below(random, length)
        for a in range(3):
            mark = _random(random)
            evaluated = _replay(i, t, world, sequence, room, mark)
            if not allowed[a]:
                values[r, a] = -np.inf
                continue
            for k in range(scores.size):
                states[r, k] = scores[k]
            if a == QUIT:
                values[r, a] = _earned(reward, scores, world, i, evaluated)
                continue
            total = 0.0
            if a == EVAL:
                total = -beta * _pay(world.X[i], sequence, world, t, room.paid, mark)
                add_round(world.X[i], sequence, t, room.product, scores)
                evaluated += 1
            values[r, a] = total + _follow(
                t + 1, scores, evaluated, i, world, sequence, rules, reward, beta, room.product, room.paid, mark
            )
