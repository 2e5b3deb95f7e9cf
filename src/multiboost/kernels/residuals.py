"""Values of leaves from the residuals in them: quantiles, and centers under Huber's loss; exact, with weights."""

import numpy as np

from .compiler import ALLOCATING, njit

_SLACK = 1e-9  # of the weight: a repeated sample and one of weight two must agree


@njit(**ALLOCATING)
def _quantile(values, weights, level):
    """The middle of all numbers with ``level`` of the weight below them; values in order."""
    total = 0.0
    for i in range(values.size):
        total += weights[i]
    low, high = -1, values.size - 1
    below = 0.0
    for i in range(values.size):
        below += weights[i]
        if low < 0 and below >= level * total - _SLACK * total:
            low = i
        if below > level * total + _SLACK * total:
            high = i
            break
    return 0.5 * (values[low] + values[high])


@njit(**ALLOCATING)
def huber_center(values, weights, delta):
    """The constant c with sum of weights times min(max(value - c, -delta), delta) = 0; values in order.

    That sum falls along c and is piecewise linear: Newton's step ends on its own piece.
    """
    c = _quantile(values, weights, 0.5)
    for _ in range(100):
        inside = 0.0
        total = 0.0
        for i in range(values.size):
            r = values[i] - c
            if r > delta:
                total += weights[i] * delta
            elif r < -delta:
                total -= weights[i] * delta
            else:
                total += weights[i] * r
                inside += weights[i]
        step = total / inside if inside > 0.0 else 0.0
        c += step
        if abs(step) <= 1e-14 * delta:
            break
    return c


@njit(**ALLOCATING)
def _leaf_values(leaf, n_leaves, weight, wanted, scores, level, is_quantile, drawn, values):
    """OUT values (leaves, K): of the rows of each leaf that are drawn and have weight; 0 where there is none."""
    n, n_labels = scores.shape
    start = np.zeros(n_leaves + 1, np.intp)
    for i in range(n):
        start[leaf[i] + 1] += 1
    for j in range(n_leaves):
        start[j + 1] += start[j]
    at = start[:n_leaves].copy()
    rows = np.empty(n, np.intp)
    for i in range(n):
        rows[at[leaf[i]]] = i
        at[leaf[i]] += 1
    largest = 0
    for j in range(n_leaves):
        largest = max(largest, start[j + 1] - start[j])
    residual, mass = np.empty(largest), np.empty(largest)
    for j in range(n_leaves):
        for k in range(n_labels):
            m = 0
            for place in range(start[j], start[j + 1]):
                i = rows[place]
                if weight[i, k] > 0.0 and (drawn.size == 0 or drawn[i]):
                    residual[m] = wanted[i, k] - scores[i, k]
                    mass[m] = weight[i, k]
                    m += 1
            if m == 0:
                values[j, k] = 0.0
                continue
            order = np.argsort(residual[:m], kind="mergesort")
            sorted_residual, sorted_mass = residual[:m][order], mass[:m][order]
            if is_quantile:
                values[j, k] = _quantile(sorted_residual, sorted_mass, level[k])
            else:
                values[j, k] = huber_center(sorted_residual, sorted_mass, level[k])


def _of_leaves(leaf, n_leaves, state, level, is_quantile, drawn):
    values = np.zeros((n_leaves, state.n_labels))
    drawn = np.zeros(0, np.bool_) if drawn is None else drawn
    _leaf_values(leaf, n_leaves, state.weighted, state.wanted, state.scores, level, is_quantile, drawn, values)
    return values


def leaf_quantiles(leaf, n_leaves, state, level, drawn):
    """Quantiles of the residuals of each leaf, (leaves, K); ``level`` (K,)."""
    return _of_leaves(leaf, n_leaves, state, level, True, drawn)


def leaf_centers(leaf, n_leaves, state, drawn):
    """Centers of the residuals of each leaf under Huber's loss, (leaves, K)."""
    return _of_leaves(leaf, n_leaves, state, state.level, False, drawn)
