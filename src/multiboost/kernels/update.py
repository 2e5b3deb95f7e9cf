"""From a base classifier to the next round's payload: F, then G and H, then integers.

Every sweep deals out chunks of ``CHUNK`` rows; sums are kept per chunk and added up in
the order of the chunks, so that the number of threads leaves no trace.

``signed`` is the (n, K) matrix of initial weights times labels, W0 Y: its sign is the
label, its size the weight, zero means that the label of this sample is unknown.
"""

from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from .dtypes import EDGE, EXPONENTIAL, NEWTON
from .lanes import INNER, ONCE, OPTIONS
from .team import barrier, next_item

CHUNK = 1024

# Reassociation would undo the two-part reduction of the argument below.
_EXACT = {**INNER, "fastmath": {"nsz", "contract"}}
# A maximum becomes vector code only where NaN is ruled out; scores are finite.
_FINITE = {**INNER, "fastmath": {"nsz", "nnan", "reassoc"}}


@intrinsic
def _float_of_bits(typingctx, bits):
    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), codegen


@njit(**_EXACT)
def exp(x):
    """e^x for x <= 709 to two units in the last place; a constant below -650.

    Free of branches and calls, so that loops over it become vector code; the constant
    keeps weights of samples that were learned long ago out of the denormal range.
    """
    x = max(x, -650.0)
    k = np.floor(x * 1.4426950408889634 + 0.5)
    r = (x - k * 6.93145751953125e-1) - k * 1.42860682030941723212e-6
    p = 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    return p * _float_of_bits((np.int64(np.int32(k)) + 1023) << 52)


class State(NamedTuple):
    """What boosting remembers of the training set from one round to the next."""

    signed: np.ndarray  # (n, K) float64, W0 Y, total weight 1
    scores: np.ndarray  # (n, K) float64, F
    pull: np.ndarray  # (n, K) float64, G
    curvature: np.ndarray  # (n, K) float64, H; (0, K) where H = |G|
    task_start: np.ndarray  # (tasks + 1,) intp, labels of each task; (1,): no tasks
    task_class: np.ndarray  # (n, tasks) intp, the label of each task, -1: unknown
    task_weight: np.ndarray  # (n, tasks) float64, of the sample in the task, total 1
    sums: np.ndarray  # (chunks, 4) float64, of the sweeps below


@njit(**ONCE)
def _add_terms(state, first, last, leaf, offset, values):
    """F += product over terms of the leaves' values."""
    n_terms = leaf.shape[0]
    n_labels = state.scores.shape[1]
    if n_terms == 1 and n_labels == 1:
        scores, numbers = state.scores[:, 0], leaf[0]
        for i in range(np.uintp(first), np.uintp(last)):
            scores[i] += values[np.uintp(numbers[i]), 0]
        return
    for i in range(first, last):
        a = leaf[0, i]
        if n_terms == 1:
            for k in range(n_labels):
                state.scores[i, k] += values[a, k]
        else:
            for k in range(n_labels):
                h = values[a, k]
                for t in range(1, n_terms):
                    h *= values[offset[t] + leaf[t, i], k]
                state.scores[i, k] += h


@njit(**_FINITE)
def _label_error(signed, scores):
    """Weight of the labels with a score of the wrong sign."""
    wrong = 0.0
    for k in range(signed.size):
        wrong += abs(signed[k]) if (scores[k] > 0) != (signed[k] > 0) else 0.0
    return wrong


@njit(**ONCE)
def _training_error(state, first, last, flat_signed, flat_scores):
    """Weight of the errors in a chunk: by task where there are tasks, else by label."""
    wrong = 0.0
    scores = state.scores
    n_tasks = state.task_start.size - 1
    if n_tasks == 0:
        return _label_error(flat_signed, flat_scores)
    for i in range(first, last):
        for t in range(n_tasks):
            true = state.task_class[i, t]
            if true < 0:
                continue
            start = state.task_start[t]
            task = scores[i, start : state.task_start[t + 1]]
            score = scores[i, true]
            above, level = np.int32(0), np.int32(0)
            for k in range(task.size):
                above += np.int32(task[k] > score)
                level += np.int32(task[k] == score)
            if above == 0 and level > 1:
                # The prediction is the first of the largest scores.
                for k in range(true - start):
                    above += np.int32(task[k] == score)
            if above > 0:
                wrong += state.task_weight[i, t]
    return wrong


@njit(**_FINITE)
def _largest_exponent(signed, scores):
    """Largest -F Y of a chunk, over labels that are known."""
    largest = -np.inf
    for k in range(signed.size):
        x = -scores[k] * (1.0 if signed[k] > 0 else -1.0)
        largest = max(largest, x if signed[k] != 0 else -np.inf)
    return largest


@njit(**ONCE)
def _exponential(signed, scores, pull, shift):
    """G = W0 Y exp(-F Y - shift); returns the sum of |G|."""
    total = 0.0
    for k in range(signed.size):
        y = 1.0 if signed[k] > 0 else -1.0
        w = signed[k] * exp(min(-scores[k] * y - shift, 0.0))
        pull[k] = w
        total += abs(w)
    return total


@njit(**INNER)
def _log1p(e):
    """log(1 + e) for 0 <= e <= 1 to 1e-13, by the series of 2 artanh(e / (2 + e))."""
    s = e / (2.0 + e)
    q = s * s
    p = 1.0 / 25.0
    p = p * q + 1.0 / 23.0
    p = p * q + 1.0 / 21.0
    p = p * q + 1.0 / 19.0
    p = p * q + 1.0 / 17.0
    p = p * q + 1.0 / 15.0
    p = p * q + 1.0 / 13.0
    p = p * q + 1.0 / 11.0
    p = p * q + 1.0 / 9.0
    p = p * q + 1.0 / 7.0
    p = p * q + 1.0 / 5.0
    p = p * q + 1.0 / 3.0
    return 2.0 * s * (p * q + 1.0)


@njit(**ONCE)
def _logistic(signed, scores, pull, curvature):
    """G = W0 Y sigma(-2 F Y) and H = 2 W0 sigma(2 F) sigma(-2 F), halves of the
    derivatives of W0 log(1 + exp(-2 F Y)); returns the sums of |G|, H and the loss.
    """
    total_g = 0.0
    total_h = 0.0
    risk = 0.0
    for k in range(signed.size):
        a = signed[k]
        margin = 2.0 * scores[k] * (1.0 if a > 0 else -1.0)
        e = exp(-abs(margin))
        right = 1.0 / (1.0 + e)
        g = a * (e * right if margin > 0 else right)
        h = 2.0 * abs(a) * e * right * right
        pull[k] = g
        curvature[k] = h
        total_g += abs(g)
        total_h += h
        risk += abs(a) * (_log1p(e) + max(0.0, -margin))
    return total_g, total_h, risk


@intrinsic
def _bits_of_float(typingctx, x):
    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), codegen


_MAGIC = 6755399441055744.0  # 1.5 * 2**52: doubles near it count in ones


@njit(**_EXACT)
def _fixed(x, scale):
    """x in fixed point, to the nearest, for results below 2**51.

    Adding the magic number leaves the integer in the low bits; unlike a conversion this
    is vector code for 64 bits, too.
    """
    return _bits_of_float(x * scale + _MAGIC) - _bits_of_float(_MAGIC)


@njit(**INNER)
def _quantise_one_label(criterion, pull, curvature, dense, first, last, scale_g, scale_h):
    """`_quantise` for one label, whose payload is one number or two."""
    number = dense.dtype.type
    for i in range(np.uintp(first), np.uintp(last)):
        g = pull[i, 0]
        if criterion == EDGE:
            dense[i] = number(_fixed(g, scale_g))
        elif criterion == NEWTON:
            h = curvature[i, 0] if curvature.size > 0 else abs(g)
            dense[np.uintp(2) * i] = number(_fixed(g, scale_g))
            dense[np.uintp(2) * i + np.uintp(1)] = number(_fixed(h, scale_h))
        else:
            dense[np.uintp(2) * i] = number(_fixed(max(-g, 0.0), scale_g))
            dense[np.uintp(2) * i + np.uintp(1)] = number(_fixed(max(g, 0.0), scale_g))


@njit(**INNER)
def _shorten(payload, short, first, last):
    """The short payload of a chunk of rows, see ``edge``; returns what it lost."""
    n_labels, lanes = short.n_labels, payload.lanes
    drop = short.drop
    half = np.int64(1) << (drop - 1)
    width = short.payload.lanes
    lost = np.int64(0)
    for i in range(first, last):
        exact = payload.dense[i * lanes : i * lanes + n_labels]
        row = short.payload.dense[i * width : i * width + n_labels]
        mass = np.int64(0)
        size = np.int64(0)
        for k in range(n_labels):
            e = exact[k]
            q = (e + half) >> drop
            row[k] = np.int32(q)
            mass += abs(e)
            size += abs(q)
            lost += abs(e - (q << drop))
        short.mass[i] = mass
        short.payload.dense[i * width + n_labels] = np.int32(max(size, 1))
    return lost


@njit(**INNER)
def _quantise(criterion, pull, curvature, payload, first, last, scale_g, scale_h):
    """The payload of a chunk of rows, see ``histogram``."""
    n_labels = pull.shape[1]
    dense, lanes, half = payload.dense, payload.lanes, payload.half
    number = dense.dtype.type
    if n_labels == 1:
        _quantise_one_label(criterion, pull, curvature, dense, first, last, scale_g, scale_h)
        return
    for i in range(first, last):
        row = dense[i * lanes : i * lanes + lanes]
        g = pull[i]
        if payload.one_hot:
            for k in range(n_labels):
                row[k] = number(_fixed(max(-g[k], 0.0), scale_g))
            payload.weight[i] = number(_fixed(g[payload.positive[i] - half], scale_g))
        elif criterion == EDGE:
            for k in range(n_labels):
                row[k] = number(_fixed(g[k], scale_g))
        elif criterion == NEWTON:
            h = curvature[i] if curvature.size > 0 else g
            for k in range(n_labels):
                row[k] = number(_fixed(g[k], scale_g))
                row[half + k] = number(_fixed(abs(h[k]), scale_h))
        else:
            for k in range(n_labels):
                row[k] = number(_fixed(max(-g[k], 0.0), scale_g))
                row[half + k] = number(_fixed(max(g[k], 0.0), scale_g))


@njit(**OPTIONS)
def quantise(tid, n_threads, sync, criterion, pull, curvature, payload, short, scale_g, scale_h):
    """Fixed-point payload from G and H; the scales turn totals into 2**bits."""
    n = pull.shape[0]
    chunk = next_item(sync)
    while chunk * CHUNK < n:
        first, last = chunk * CHUNK, min(n, chunk * CHUNK + CHUNK)
        _quantise(criterion, pull, curvature, payload, first, last, scale_g, scale_h)
        if short is not None:
            short.lost[chunk] = _shorten(payload, short, first, last)
        chunk = next_item(sync)


@njit(**OPTIONS)
def advance(tid, n_threads, sync, loss, criterion, state, flat, leaf, offset, values, payload, short, unit, out):
    """Add a base classifier to F, then G, H and the payload of the next round.

    flat : signed, scores, pull and curvature of the state as flat arrays
    leaf : (terms, n) NODE, leaf of each sample in each term; (0, n): F stays as it is
    offset : (terms,) intp, first row of the term in values
    values : (leaves, K) float64, scaled by the step
    short : Short under EDGE, else None
    unit : 2**bits, the total weight in the payload
    out : OUT (5,) training error, risk, log of the risk, scales of G and H
    """
    n, n_labels = state.scores.shape
    n_chunks = state.sums.shape[0]
    sums = state.sums
    signed, scores, pull, curvature = flat

    chunk = next_item(sync)
    while chunk < n_chunks:
        first, last = chunk * CHUNK, min(n, chunk * CHUNK + CHUNK)
        if leaf.shape[0] > 0:
            _add_terms(state, first, last, leaf, offset, values)
        flat_signed, flat_scores = (
            signed[first * n_labels : last * n_labels],
            scores[first * n_labels : last * n_labels],
        )
        sums[chunk, 0] = _training_error(state, first, last, flat_signed, flat_scores)
        sums[chunk, 2] = _largest_exponent(flat_signed, flat_scores) if loss == EXPONENTIAL else 0.0
        chunk = next_item(sync)
    barrier(n_threads, sync)
    shift = -np.inf
    error = 0.0
    for c in range(n_chunks):
        error += sums[c, 0]
        shift = max(shift, sums[c, 2])
    if tid == 0:
        out[0] = error
    barrier(n_threads, sync)

    chunk = next_item(sync)
    while chunk < n_chunks:
        first, last = chunk * CHUNK * n_labels, min(n, chunk * CHUNK + CHUNK) * n_labels
        if loss == EXPONENTIAL:
            sums[chunk, 0] = _exponential(signed[first:last], scores[first:last], pull[first:last], shift)
        else:
            sums[chunk, 0], sums[chunk, 1], sums[chunk, 2] = _logistic(
                signed[first:last], scores[first:last], pull[first:last], curvature[first:last]
            )
        chunk = next_item(sync)
    barrier(n_threads, sync)
    total = 0.0
    total_h = 0.0
    risk = 0.0
    for c in range(n_chunks):
        total += sums[c, 0]
        total_h += sums[c, 1]
        risk += sums[c, 2]
    norm = 1.0
    if loss == EXPONENTIAL:
        norm = 1.0 / total
        log_risk = np.log(total) + shift
        risk = np.exp(log_risk)
        scale_g = unit
        scale_h = unit
    else:
        log_risk = np.log(risk)
        scale_g = unit / total if total > 0 else 0.0
        scale_h = unit / total_h if total_h > 0 else 0.0
    if tid == 0:
        out[1], out[2], out[3], out[4] = risk, log_risk, scale_g, scale_h

    chunk = next_item(sync)
    while chunk < n_chunks:
        first, last = chunk * CHUNK, min(n, chunk * CHUNK + CHUNK)
        if loss == EXPONENTIAL:  # the weights of round t sum to one
            weights = pull[first * n_labels : last * n_labels]
            for k in range(weights.size):
                weights[k] *= norm
        _quantise(criterion, state.pull, state.curvature, payload, first, last, scale_g, scale_h)
        if short is not None:
            short.lost[chunk] = _shorten(payload, short, first, last)
        chunk = next_item(sync)
