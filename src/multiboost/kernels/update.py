"""From a base classifier to the next round's payload: F, then G and H, then integers.

Every sweep deals out chunks of about ``CHUNK`` rows; sums are kept per chunk and added up in
the order of the chunks, so that the number of threads leaves no trace.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from numba import typeof, types

from .arithmetic import fixed
from .calls import Calls, call, has
from .compiler import INLINE, INNER, ONCE, OPTIONS, compiled, is_ours, njit
from .criteria import PULL, PULL_AND_CURVATURE, WEIGHTS
from .extremes import greater, lesser
from .team import barrier, next_item

CHUNK = 1024

# A maximum becomes vector code only where NaN is ruled out; scores are finite.
_FINITE = {**INLINE, "fastmath": {"nsz", "nnan", "reassoc"}}


class State(NamedTuple):
    """What boosting remembers of the training set from one round to the next.

    Kernels are given the `flat` state, whose matrices are the same numbers, row by row.
    """

    weighted: np.ndarray  # (n, K) float64, W0 Y: label times weight, 0: unknown; where numbers are wanted, W0
    wanted: np.ndarray  # (n, K) float64, numbers that scores should be; (0, K) where there are labels
    scores: np.ndarray  # (n, K) float64, F
    pull: np.ndarray  # (n, K) float64, G
    curvature: np.ndarray  # (n, K) float64, H; (0, K) where H = |G|
    sense: np.ndarray  # (n,) float64, -1 for samples of negative weight, else +1; (0,) where there are none
    level: np.ndarray  # (K,) float64, of the loss, for each label: which quantile, where Huber's loss bends, ...
    n_labels: int  # K
    task_start: np.ndarray  # (tasks + 1,) intp, labels of each task; (1,): no tasks
    task_class: np.ndarray  # (n, tasks) int32, the label of each task, -1: unknown
    task_weight: np.ndarray  # (n, tasks) float64, of the sample in the task, total 1
    group_start: np.ndarray  # (groups + 1,) intp, rows of each group (query); (0,): no groups
    order: np.ndarray  # (n,) intp, rows of each group in the order of their scores, for losses of groups; else (0,)
    chunk_start: np.ndarray  # (chunks + 1,) intp, rows that are swept together
    sums: np.ndarray  # (chunks, 4) float64, of the sweeps below

    @property
    def flat(self) -> "State":
        names = ("weighted", "wanted", "scores", "pull", "curvature")
        return self._replace(**{name: getattr(self, name).reshape(-1) for name in names})


def chunk_starts(n: int, group_start: np.ndarray) -> np.ndarray:
    """First rows of the chunks, and n: every ``CHUNK`` rows, or between groups after at least as many."""
    if group_start.size == 0:
        return np.append(np.arange(0, n, CHUNK), n).astype(np.intp)
    starts = [0]
    while starts[-1] < n:
        far = int(np.searchsorted(group_start, starts[-1] + CHUNK))
        starts.append(int(group_start[far]) if far < group_start.size else n)
    return np.array(starts, np.intp)


@njit(**ONCE)
def _add_terms(scores, first, last, leaf, offset, values, products):
    """F += product over terms of the leaves' values; ``products`` is scratch as large as F."""
    n_terms = leaf.shape[0]
    n_labels = values.shape[1]
    if n_terms == 1 and n_labels == 1:
        numbers = leaf[0]
        for i in range(np.uintp(first), np.uintp(last)):
            scores[i] += values[np.uintp(numbers[i]), 0]
        return
    for i in range(first, last):
        a = leaf[0, i]
        row = scores[i * n_labels : (i + 1) * n_labels]
        if n_terms == 1:
            for k in range(n_labels):
                row[k] += values[a, k]
        else:  # term after term, not label after label: vector code
            h = products[i * n_labels : (i + 1) * n_labels]
            for k in range(n_labels):
                h[k] = values[a, k]
            for t in range(1, n_terms):
                factor = values[offset[t] + leaf[t, i]]
                for k in range(n_labels):
                    h[k] *= factor[k]
            for k in range(n_labels):
                row[k] += h[k]


@njit(**_FINITE)
def _label_error(weighted, scores):
    """Weight of the labels with a score of the wrong sign."""
    wrong = 0.0
    for k in range(weighted.size):
        wrong += abs(weighted[k]) if (scores[k] > 0) != (weighted[k] > 0) else 0.0
    return wrong


@njit(**INLINE)
def _n_ahead(scores, first, last, true):
    """How many labels from ``first`` to ``last`` are predicted rather than ``true``: of equal ones the first is."""
    score = scores[true]
    ahead = np.int64(0)  # as wide as scores
    for k in range(first, last):
        ahead += (scores[k] > score) | ((scores[k] == score) & (k < true))
    return ahead


@njit(**ONCE)
def _training_error(state, n_labels, first, last, weighted, scores):
    """Weight of the errors in a chunk: by task where there are tasks, else by label."""
    wrong = 0.0
    n_tasks = state.task_start.size - 1
    if state.wanted.size > 0:  # the error of numbers is made of the risk
        return wrong
    if n_tasks == 0:
        return _label_error(weighted, scores)
    for i in range(first, last):
        row = np.uintp(i * n_labels)
        for t in range(n_tasks):
            true = state.task_class[i, t]
            if true >= 0:
                begin, end = row + np.uintp(state.task_start[t]), row + np.uintp(state.task_start[t + 1])
                ahead = _n_ahead(state.scores, begin, end, row + np.uintp(true))
                # Not "if ahead > 0": half of the early rounds' branches would be mispredicted.
                wrong += state.task_weight[i, t] * np.float64(lesser(ahead, np.int64(1)))
    return wrong


@njit(**_FINITE)
def _largest_exponent(weighted, scores):
    """Largest -F Y of a chunk, over labels that are known."""
    largest = -np.inf
    for k in range(weighted.size):
        x = -scores[k] * (1.0 if weighted[k] > 0 else -1.0)
        largest = greater(largest, x if weighted[k] != 0 else -np.inf)
    return largest


@njit(**INNER)
def _round(payload, bounds, first, last):
    """The rounded payload of a chunk of rows, see ``edge``; returns what it lost."""
    n_labels, lanes = bounds.n_labels, payload.lanes
    drop = bounds.drop
    half = np.int64(1) << (drop - 1)
    width = bounds.payload.lanes
    lost = np.int64(0)
    for i in range(first, last):
        exact = payload.dense[i * lanes : i * lanes + n_labels]
        row = bounds.payload.dense[i * width : i * width + n_labels]
        mass = np.int64(0)
        size = np.int64(0)
        for k in range(n_labels):
            e = exact[k]
            q = (e + half) >> drop
            row[k] = np.int32(q)
            mass += abs(e)
            size += abs(q)
            lost += abs(e - (q << drop))
        bounds.mass[i] = mass
        bounds.payload.dense[i * width + n_labels] = np.int32(greater(size, 1))
    return lost


@cache
def _chunk_quantiser(layout, one_hot, one_label):
    """The function that makes the payload of a chunk of rows, see ``histogram``."""

    def many_labels(pull, curvature, payload, n_labels, first, last, scale_g, scale_h):
        dense, lanes, half = payload.dense, payload.lanes, payload.half
        number = dense.dtype.type
        for i in range(first, last):
            row = dense[i * lanes : i * lanes + lanes]
            g = pull[i * n_labels : (i + 1) * n_labels]
            if one_hot:
                for k in range(n_labels):
                    row[k] = number(fixed(greater(-g[k], 0.0), scale_g))
                payload.weight[i] = number(fixed(g[payload.positive[i] - half], scale_g))
            elif layout == PULL:
                for k in range(n_labels):
                    row[k] = number(fixed(g[k], scale_g))
            elif layout == PULL_AND_CURVATURE:
                h = curvature[i * n_labels : (i + 1) * n_labels] if curvature.size > 0 else g
                for k in range(n_labels):
                    row[k] = number(fixed(g[k], scale_g))
                    row[half + k] = number(fixed(abs(h[k]), scale_h))
            elif layout == WEIGHTS:
                for k in range(n_labels):
                    row[k] = number(fixed(greater(-g[k], 0.0), scale_g))
                    row[half + k] = number(fixed(greater(g[k], 0.0), scale_g))

    def single_label(pull, curvature, payload, n_labels, first, last, scale_g, scale_h):
        # The payload is one number or two.
        dense = payload.dense
        number = dense.dtype.type
        for i in range(np.uintp(first), np.uintp(last)):
            g = pull[i]
            if layout == PULL:
                dense[i] = number(fixed(g, scale_g))
            elif layout == PULL_AND_CURVATURE:
                h = curvature[i] if curvature.size > 0 else abs(g)
                dense[np.uintp(2) * i] = number(fixed(g, scale_g))
                dense[np.uintp(2) * i + np.uintp(1)] = number(fixed(h, scale_h))
            elif layout == WEIGHTS:
                dense[np.uintp(2) * i] = number(fixed(greater(-g, 0.0), scale_g))
                dense[np.uintp(2) * i + np.uintp(1)] = number(fixed(greater(g, 0.0), scale_g))

    return single_label if one_label else many_labels


def _quantiser(layout, payload, n_labels):
    """The kernel that makes the payload of some rows from flat G and H, and the types of its arguments."""
    size, number = types.intp, types.float64
    flat = types.float64[::1]
    kinds = (flat, flat, typeof(payload), size, size, size, number, number)
    return compiled(_chunk_quantiser(layout, bool(payload.one_hot), n_labels == 1), *kinds), kinds


def quantise_calls(layout, payload, n_labels) -> Calls:
    """What `quantise` calls."""
    return Calls(quantise=_quantiser(layout, payload, n_labels))


@cache
def _signed(sweep, steepest):
    """The sweep of a loss where samples may have negative weights: their G and their loss change the sign.

    H stays what it is of positive weights, so that denominators are safe; if the loss says how large it can be, it is
    that large, for a step back from a minimum may not grow where the loss becomes flat.
    """
    positive = njit(**OPTIONS)(sweep)

    def sweep_signed(state, first, last, shift, sums):
        total_g, total_h, risk = 0.0, 0.0, 0.0
        for i in range(first, last):
            sums[1] = 0.0
            positive(state, i, i + 1, shift, sums)
            if state.sense[i] < 0:
                for k in range(i * state.n_labels, (i + 1) * state.n_labels):
                    state.pull[k] = -state.pull[k]
                    if steepest > 0:
                        sums[1] += steepest * abs(state.weighted[k]) - state.curvature[k]
                        state.curvature[k] = steepest * abs(state.weighted[k])
            total_g += sums[0]
            total_h += sums[1]
            risk += state.sense[i] * sums[2]
        sums[0], sums[1], sums[2] = total_g, total_h, risk

    return sweep_signed


def update_calls(sweep, state, layout, payload, steepest=0.0, filled=True) -> Calls:
    """What `advance` calls.

    sweep : function (state, first, last, shift, sums), see ``multiboost.losses``
    state : flat
    filled : whether `advance` makes the payload; else who needs it does
    steepest : the largest curvature of a pair of weight 1; 0 where it is not known
    """
    kinds = (typeof(state), types.intp, types.intp, types.float64, types.float64[::1])
    ours = is_ours(sweep) and not state.sense.size
    if state.sense.size:
        sweep = _signed(sweep, steepest)
    made = compiled(sweep, *kinds, keep=ours), kinds
    quantiser, quantiser_kinds = _quantiser(layout, payload, state.n_labels)
    return Calls(sweep=made, quantise=(quantiser if filled else None, quantiser_kinds))


@njit(**OPTIONS)
def quantise(tid, n_threads, sync, calls, pull, curvature, payload, n_labels, chunk_start, bounds, scale_g, scale_h):
    """Fixed-point payload from flat G and H; the scales turn totals into 2**bits.

    calls : see `quantise_calls`
    """
    chunk = next_item(sync)
    while chunk < chunk_start.size - 1:
        first, last = chunk_start[chunk], chunk_start[chunk + 1]
        call(calls, "quantise", (pull, curvature, payload, n_labels, first, last, scale_g, scale_h))
        if bounds is not None:
            bounds.lost[chunk] = _round(payload, bounds, first, last)
        chunk = next_item(sync)


@njit(**OPTIONS)
def sweep_all(shifted, calls, state, sums):
    """G and H of all rows at the scores of ``state``, not normalised.

    calls : see `update_calls`
    state : flat; OUT pull and curvature
    sums : OUT (4,)
    """
    shift = _largest_exponent(state.weighted, state.scores) if shifted else 0.0
    call(calls, "sweep", (state, np.intp(0), state.scores.size // state.n_labels, shift, sums))


@njit(**OPTIONS)
def advance(tid, n_threads, sync, shifted, normalised, calls, state, leaf, offset, values, payload, bounds, unit, out):
    """Add a base classifier to F, then G, H and the payload of the next round.

    shifted, normalised : see ``multiboost.losses``
    calls : see `update_calls`
    state : flat
    leaf : (terms, n) NODE, leaf of each sample in each term; (0, n): F stays as it is
    offset : (terms,) intp, first row of the term in values
    values : (leaves, K) float64, scaled by the step
    bounds : Bounds, or None
    unit : 2**bits, the total weight in the payload
    out : OUT (5,) training error, risk, sum of |G|, scales of G and H
    """
    n_labels, chunk_start, sums = state.n_labels, state.chunk_start, state.sums
    n_chunks = sums.shape[0]

    chunk = next_item(sync)
    while chunk < n_chunks:
        first, last = chunk_start[chunk], chunk_start[chunk + 1]
        if leaf.shape[0] > 0:
            # G of the last round is needed no more.
            _add_terms(state.scores, first, last, leaf, offset, values, state.pull)
        weighted, scores = (
            state.weighted[first * n_labels : last * n_labels],
            state.scores[first * n_labels : last * n_labels],
        )
        sums[chunk, 0] = _training_error(state, n_labels, first, last, weighted, scores)
        sums[chunk, 2] = _largest_exponent(weighted, scores) if shifted else 0.0
        chunk = next_item(sync)
    if not barrier(tid, n_threads, sync):
        return
    shift = -np.inf
    error = 0.0
    for c in range(n_chunks):
        error += sums[c, 0]
        shift = greater(shift, sums[c, 2])
    if tid == 0:
        out[0] = error
    if not barrier(tid, n_threads, sync):
        return

    chunk = next_item(sync)
    while chunk < n_chunks:
        call(calls, "sweep", (state, chunk_start[chunk], chunk_start[chunk + 1], shift, sums[chunk]))
        chunk = next_item(sync)
    if not barrier(tid, n_threads, sync):
        return
    total = 0.0
    total_h = 0.0
    risk = 0.0
    for c in range(n_chunks):
        total += sums[c, 0]
        total_h += sums[c, 1]
        risk += sums[c, 2]
    if shifted:
        risk = np.copysign(np.exp(np.log(abs(risk)) + shift), risk)  # below 0 with negative weights
    if normalised:
        norm = 1.0 / total
        scale_g = unit
        scale_h = unit
    else:
        norm = 1.0
        scale_g = unit / total if total > 0 else 0.0
        scale_h = unit / total_h if total_h > 0 else 0.0
    if tid == 0:
        out[1], out[2], out[3], out[4] = risk, 1.0 if normalised else total, scale_g, scale_h

    chunk = next_item(sync)
    while chunk < n_chunks:
        first, last = chunk_start[chunk], chunk_start[chunk + 1]
        if normalised:  # the weights of round t sum to one
            weights = state.pull[first * n_labels : last * n_labels]
            for k in range(weights.size):
                weights[k] *= norm
        if has(calls, "quantise"):
            arguments = (state.pull, state.curvature, payload, n_labels, first, last, scale_g, scale_h)
            call(calls, "quantise", arguments)
            if bounds is not None:
                bounds.lost[chunk] = _round(payload, bounds, first, last)
        chunk = next_item(sync)
