"""From a base classifier to the next round's payload: F, then G and H, then integers.

Every sweep deals out chunks of ``CHUNK`` rows; sums are kept per chunk and added up in
the order of the chunks, so that the number of threads leaves no trace.

``signed`` is the (n, K) matrix of initial weights times labels, W0 Y: its sign is the
label, its size the weight, zero means that the label of this sample is unknown.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit, typeof, types
from numba.extending import intrinsic

from .dtypes import EDGE, EXPONENTIAL, NEWTON
from .extremes import greater, lesser
from .lanes import INLINE, INNER, ONCE, OPTIONS
from .piece import call, compiled
from .team import barrier, next_item

CHUNK = 1024

# Reassociation would undo the two-part reduction of the argument below.
_EXACT = {**INLINE, "fastmath": {"nsz", "contract"}}
# A maximum becomes vector code only where NaN is ruled out; scores are finite.
_FINITE = {**INLINE, "fastmath": {"nsz", "nnan", "reassoc"}}


@intrinsic
def _float_of_bits(typingctx, bits):
    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), codegen


@intrinsic
def _bits_of_float(typingctx, x):
    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), codegen


_MAGIC = 6755399441055744.0  # 1.5 * 2**52: doubles near it count in ones


@njit(**_EXACT)
def exp(x):
    """e^x for x <= 709 to three units in the last place; a constant below -650.

    Free of branches and calls, so that loops over it become vector code; the constant
    keeps weights of samples that were learned long ago out of the denormal range.
    """
    x = greater(x, -650.0)
    shifted = x * 1.4426950408889634 + _MAGIC
    k = shifted - _MAGIC
    r = (x - k * 6.93145751953125e-1) - k * 1.42860682030941723212e-6
    # e^r = cosh r + sinh r: two short series do not wait for each other, the steps of one long series do.
    q = r * r
    even = 1.0 / 479001600.0
    even = even * q + 1.0 / 3628800.0
    even = even * q + 1.0 / 40320.0
    even = even * q + 1.0 / 720.0
    even = even * q + 1.0 / 24.0
    even = even * q + 0.5
    even = even * q + 1.0
    odd = 1.0 / 39916800.0
    odd = odd * q + 1.0 / 362880.0
    odd = odd * q + 1.0 / 5040.0
    odd = odd * q + 1.0 / 120.0
    odd = odd * q + 1.0 / 6.0
    odd = odd * q + 1.0
    return (odd * r + even) * _float_of_bits((_bits_of_float(shifted) + 1023) << 52)


class State(NamedTuple):
    """What boosting remembers of the training set from one round to the next.

    Kernels are given the `flat` state, whose first four arrays are the same numbers, row by row.
    """

    signed: np.ndarray  # (n, K) float64, W0 Y, total weight 1
    scores: np.ndarray  # (n, K) float64, F
    pull: np.ndarray  # (n, K) float64, G
    curvature: np.ndarray  # (n, K) float64, H; (0, K) where H = |G|
    task_start: np.ndarray  # (tasks + 1,) intp, labels of each task; (1,): no tasks
    task_class: np.ndarray  # (n, tasks) int32, the label of each task, -1: unknown
    task_weight: np.ndarray  # (n, tasks) float64, of the sample in the task, total 1
    sums: np.ndarray  # (chunks, 4) float64, of the sweeps below

    @property
    def flat(self) -> "State":
        flat = {name: getattr(self, name).reshape(-1) for name in ("signed", "scores", "pull", "curvature")}
        return self._replace(**flat)


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
def _label_error(signed, scores):
    """Weight of the labels with a score of the wrong sign."""
    wrong = 0.0
    for k in range(signed.size):
        wrong += abs(signed[k]) if (scores[k] > 0) != (signed[k] > 0) else 0.0
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
def _training_error(state, n_labels, first, last, signed, scores):
    """Weight of the errors in a chunk: by task where there are tasks, else by label."""
    wrong = 0.0
    n_tasks = state.task_start.size - 1
    if n_tasks == 0:
        return _label_error(signed, scores)
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
def _largest_exponent(signed, scores):
    """Largest -F Y of a chunk, over labels that are known."""
    largest = -np.inf
    for k in range(signed.size):
        x = -scores[k] * (1.0 if signed[k] > 0 else -1.0)
        largest = greater(largest, x if signed[k] != 0 else -np.inf)
    return largest


# The losses are pieces, so that only the one at hand is compiled.  ``sums`` is OUT: of |G|, H and the loss
# over the labels from ``first`` to ``last``.


def _exponential(state, first, last, shift, sums):
    """G = W0 Y exp(-F Y - shift); its loss is the sum of |G|."""
    signed, scores, pull = state.signed[first:last], state.scores[first:last], state.pull[first:last]
    total = 0.0
    for k in range(signed.size):
        y = 1.0 if signed[k] > 0 else -1.0
        w = signed[k] * exp(lesser(-scores[k] * y - shift, 0.0))
        pull[k] = w
        total += abs(w)
    sums[0] = total


@njit(**INLINE)
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


def _logistic(state, first, last, shift, sums):
    """G = W0 Y sigma(-2 F Y) and H = 2 W0 sigma(2 F) sigma(-2 F), halves of the
    derivatives of W0 log(1 + exp(-2 F Y)).
    """
    signed, scores = state.signed[first:last], state.scores[first:last]
    pull, curvature = state.pull[first:last], state.curvature[first:last]
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
        risk += abs(a) * (_log1p(e) + greater(0.0, -margin))
    sums[0], sums[1], sums[2] = total_g, total_h, risk


@njit(**_EXACT)
def _fixed(x, scale):
    """x in fixed point, to the nearest, for results below 2**51.

    Adding the magic number leaves the integer in the low bits; unlike a conversion this
    is vector code for 64 bits, too.
    """
    return _bits_of_float(x * scale + _MAGIC) - _bits_of_float(_MAGIC)


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
        short.payload.dense[i * width + n_labels] = np.int32(greater(size, 1))
    return lost


@cache
def _chunk_quantiser(criterion, one_hot, one_label):
    """The function that makes the payload of a chunk of rows, see ``histogram``."""

    def many_labels(pull, curvature, payload, n_labels, first, last, scale_g, scale_h):
        dense, lanes, half = payload.dense, payload.lanes, payload.half
        number = dense.dtype.type
        for i in range(first, last):
            row = dense[i * lanes : i * lanes + lanes]
            g = pull[i * n_labels : (i + 1) * n_labels]
            if one_hot:
                for k in range(n_labels):
                    row[k] = number(_fixed(greater(-g[k], 0.0), scale_g))
                payload.weight[i] = number(_fixed(g[payload.positive[i] - half], scale_g))
            elif criterion == EDGE:
                for k in range(n_labels):
                    row[k] = number(_fixed(g[k], scale_g))
            elif criterion == NEWTON:
                h = curvature[i * n_labels : (i + 1) * n_labels] if curvature.size > 0 else g
                for k in range(n_labels):
                    row[k] = number(_fixed(g[k], scale_g))
                    row[half + k] = number(_fixed(abs(h[k]), scale_h))
            else:
                for k in range(n_labels):
                    row[k] = number(_fixed(greater(-g[k], 0.0), scale_g))
                    row[half + k] = number(_fixed(greater(g[k], 0.0), scale_g))

    def single_label(pull, curvature, payload, n_labels, first, last, scale_g, scale_h):
        # The payload is one number or two.
        dense = payload.dense
        number = dense.dtype.type
        for i in range(np.uintp(first), np.uintp(last)):
            g = pull[i]
            if criterion == EDGE:
                dense[i] = number(_fixed(g, scale_g))
            elif criterion == NEWTON:
                h = curvature[i] if curvature.size > 0 else abs(g)
                dense[np.uintp(2) * i] = number(_fixed(g, scale_g))
                dense[np.uintp(2) * i + np.uintp(1)] = number(_fixed(h, scale_h))
            else:
                dense[np.uintp(2) * i] = number(_fixed(greater(-g, 0.0), scale_g))
                dense[np.uintp(2) * i + np.uintp(1)] = number(_fixed(greater(g, 0.0), scale_g))

    return single_label if one_label else many_labels


def quantiser(criterion, payload, n_labels):
    """Address of the piece that makes the payload of some rows from flat G and H."""
    size, number = types.intp, types.float64
    flat = types.float64[::1]
    function = _chunk_quantiser(criterion, bool(payload.one_hot), n_labels == 1)
    return compiled(function, flat, flat, typeof(payload), size, size, size, number, number).address


def loss_sweep(loss, state):
    """Address of the piece that computes G and H of some labels from F; ``state`` is flat."""
    size, number = types.intp, types.float64
    function = _exponential if loss == EXPONENTIAL else _logistic
    return compiled(function, typeof(state), size, size, number, types.float64[::1]).address


@njit(**OPTIONS)
def quantise(tid, n_threads, sync, piece, pull, curvature, payload, n_labels, short, scale_g, scale_h):
    """Fixed-point payload from flat G and H; the scales turn totals into 2**bits.

    piece : see `quantiser`
    """
    n = pull.size // n_labels
    chunk = next_item(sync)
    while chunk * CHUNK < n:
        first, last = chunk * CHUNK, lesser(n, chunk * CHUNK + CHUNK)
        call(piece, (pull, curvature, payload, n_labels, first, last, scale_g, scale_h))
        if short is not None:
            short.lost[chunk] = _shorten(payload, short, first, last)
        chunk = next_item(sync)


@njit(**OPTIONS)
def advance(tid, n_threads, sync, loss, pieces, state, leaf, offset, values, payload, short, unit, out):
    """Add a base classifier to F, then G, H and the payload of the next round.

    pieces : those of `loss_sweep` and `quantiser`
    state : flat
    leaf : (terms, n) NODE, leaf of each sample in each term; (0, n): F stays as it is
    offset : (terms,) intp, first row of the term in values
    values : (leaves, K) float64, scaled by the step
    short : Short under EDGE, else None
    unit : 2**bits, the total weight in the payload
    out : OUT (5,) training error, risk, log of the risk, scales of G and H
    """
    n, n_labels = leaf.shape[1], values.shape[1]
    n_chunks = state.sums.shape[0]
    sums = state.sums

    chunk = next_item(sync)
    while chunk < n_chunks:
        first, last = chunk * CHUNK, lesser(n, chunk * CHUNK + CHUNK)
        if leaf.shape[0] > 0:
            # G of the last round is needed no more.
            _add_terms(state.scores, first, last, leaf, offset, values, state.pull)
        signed, scores = (
            state.signed[first * n_labels : last * n_labels],
            state.scores[first * n_labels : last * n_labels],
        )
        sums[chunk, 0] = _training_error(state, n_labels, first, last, signed, scores)
        sums[chunk, 2] = _largest_exponent(signed, scores) if loss == EXPONENTIAL else 0.0
        chunk = next_item(sync)
    barrier(n_threads, sync)
    shift = -np.inf
    error = 0.0
    for c in range(n_chunks):
        error += sums[c, 0]
        shift = greater(shift, sums[c, 2])
    if tid == 0:
        out[0] = error
    barrier(n_threads, sync)

    chunk = next_item(sync)
    while chunk < n_chunks:
        first, last = chunk * CHUNK * n_labels, lesser(n, chunk * CHUNK + CHUNK) * n_labels
        call(pieces[0], (state, first, last, shift, sums[chunk]))
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
        first, last = chunk * CHUNK, lesser(n, chunk * CHUNK + CHUNK)
        if loss == EXPONENTIAL:  # the weights of round t sum to one
            weights = state.pull[first * n_labels : last * n_labels]
            for k in range(weights.size):
                weights[k] *= norm
        call(pieces[1], (state.pull, state.curvature, payload, n_labels, first, last, scale_g, scale_h))
        if short is not None:
            short.lost[chunk] = _shorten(payload, short, first, last)
        chunk = next_item(sync)
