"""Criteria: how good a cut is, from what it sends to the left.  Scores are "more is better".

Kernels are given a criterion by its name, a literal: each is compiled for its own.  What the name stands for is
declared by ``multiboost.criteria``, or by a user's file: a layout of the payload (see ``histogram``), and two functions
of the sums of one label.  The three that everybody uses have vector code of their own:

======== =====================================================  =====================
edge     sum_l |G_right - G_left|                               Kegl 2011, (3.33)
z        - sum over sides and l of 2 sqrt(W- W+)                Schapire, Singer 1999
newton     sum over sides and l of G^2 / (H + ridge)            Friedman 2001
======== =====================================================  =====================
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .compiler import INLINE, INNER, njit
from .lanes import in_groups, load, splat, sum_of

# What a histogram row holds for each label.
PULL = 0  # G
PULL_AND_CURVATURE = 1  # G and H, two halves
WEIGHTS = 2  # W- and W+, two halves


class Formula(NamedTuple):
    """What kernels are told of a criterion."""

    layout: int  # of the payload
    factorised: bool  # whether a cut votes v on the right and -v on the left: the edge
    cut: Callable  # (left_a, left_b, right_a, right_b, ridge) -> score of one label; b is 0 where there is one half
    slope: Callable  # of the same -> the score's slopes along left_a and left_b where the right is what is left of all


_formulas: dict[str, Formula] = {}


def declare(name: str, formula: Formula) -> None:
    """Say what the name of a criterion stands for; a name has one meaning in a process."""
    if _formulas.setdefault(name, formula) != formula:
        raise ValueError(f"there is a criterion {name!r} already")


_DOUBLE = ir.DoubleType()


def _sqrt(builder, vector):
    kind = "f32" if isinstance(vector.type.element, ir.FloatType) else "f64"
    name = f"llvm.sqrt.v{vector.type.count}{kind}"
    function = builder.module.globals.get(name)
    if function is None:
        function = ir.Function(builder.module, ir.FunctionType(vector.type, [vector.type]), name)
    return builder.call(function, [vector])


def _sizes(builder, total, left):
    """|total - 2 left|, lane by lane."""
    difference = builder.sub(total, builder.add(left, left))
    zero = ir.Constant(difference.type, None)
    return builder.select(builder.icmp_signed("<", difference, zero), builder.sub(zero, difference), difference)


def _edge(context, builder, kinds, left, total, n):
    """Sum over the n labels of |total - 2 left|, in the integers of the histogram."""
    score = cgutils.alloca_once_value(builder, context.get_constant(kinds[0].dtype, 0))

    def body(k, lanes):
        a = load(context, builder, kinds[0], left, k, lanes)
        sizes = _sizes(builder, load(context, builder, kinds[1], total, k, lanes), a)
        builder.store(builder.add(builder.load(score), sum_of(builder, sizes, builder.add)), score)

    in_groups(builder, n, body)
    return builder.load(score)


def _floats(builder, vector):
    """Integers to floating point: single precision for several lanes of 32 bits, else double."""
    single = vector.type.element.width == 32 and vector.type.count > 1
    return builder.sitofp(vector, ir.VectorType(ir.FloatType() if single else _DOUBLE, vector.type.count))


def _sum_sides(context, builder, kinds, left, total, n, of_side):
    """Sum over sides and the n labels of ``of_side(first, second)``, the two halves as floats."""
    score = cgutils.alloca_once_value(builder, _DOUBLE(0.0))

    def body(k, lanes):
        sides = [], []
        for i in (k, builder.add(n, k)):
            a = load(context, builder, kinds[0], left, i, lanes)
            t = load(context, builder, kinds[1], total, i, lanes)
            sides[0].append(_floats(builder, a))
            sides[1].append(_floats(builder, builder.sub(t, a)))
        group = sum_of(builder, builder.fadd(*(of_side(*side) for side in sides)), builder.fadd)
        if isinstance(group.type, ir.FloatType):
            group = builder.fpext(group, _DOUBLE)
        builder.store(builder.fadd(builder.load(score), group), score)

    in_groups(builder, n, body)
    return builder.load(score)


@intrinsic
def edge_score(typingctx, left, total, n):
    """Factorised edge of a cut, in the integers of the histogram."""

    def codegen(context, builder, signature, args):
        return _edge(context, builder, signature.args, *args)

    return left.dtype(left, total, types.intp), codegen


def _of_z(context, builder, kinds, left, total, half, ridge):
    def root(first, second):
        return _sqrt(builder, builder.fmul(first, second))

    return builder.fmul(_DOUBLE(-2.0), _sum_sides(context, builder, kinds, left, total, half, root))


def _of_newton(context, builder, kinds, left, total, half, ridge):
    def gain(first, second):
        kind = first.type.element
        least = ridge if kind == _DOUBLE else builder.fptrunc(ridge, kind)
        below = builder.fadd(second, splat(builder, least, first.type.count))
        return builder.fdiv(builder.fmul(first, first), below)

    return _sum_sides(context, builder, kinds, left, total, half, gain)


def _of_edge(context, builder, kinds, left, total, half, ridge):
    return builder.sitofp(_edge(context, builder, kinds, left, total, half), _DOUBLE)


_VECTOR_CODE = {"edge": _of_edge, "z": _of_z, "newton": _of_newton}


@cache
def _label_by_label(name):
    """The score of a cut by a criterion's own formula."""
    cut, second = njit(**INLINE)(_formulas[name].cut), _formulas[name].layout != PULL

    def score(left, total, half, ridge):
        found = 0.0
        for k in range(half):
            a, c = np.float64(left[k]), np.float64(total[k] - left[k])
            b, d = 0.0, 0.0
            if second:
                b, d = np.float64(left[half + k]), np.float64(total[half + k] - left[half + k])
            found += cut(a, b, c, d, ridge)
        return found

    return score


@intrinsic(prefer_literal=True)
def cut_score(typingctx, criterion, left, total, half, ridge):
    """Score of the cut whose left side sums to ``left``, in the payload's units."""
    if not isinstance(criterion, types.StringLiteral):
        return None
    name = criterion.literal_value

    def codegen(context, builder, signature, args):
        if name in _VECTOR_CODE:
            return _VECTOR_CODE[name](context, builder, signature.args[1:3], *args[1:])
        own = types.float64(*signature.args[1:])
        return context.compile_internal(builder, _label_by_label(name), own, args[1:])

    return types.float64(criterion, left, total, types.intp, types.float64), codegen


@cache
def _line(name):
    """The scores of a line of cuts of one label."""
    cut = njit(**INLINE)(_formulas[name].cut)

    def scores(sums, n, extra_a, extra_b, total, ridge, found):
        all_a, all_b = total[0], total[1]
        for k in range(np.uintp(n)):
            a, b = sums[0, k] + extra_a, sums[1, k] + extra_b
            found[k] = cut(np.float64(a), np.float64(b), np.float64(all_a - a), np.float64(all_b - b), ridge)

    return scores


@intrinsic(prefer_literal=True)
def line_scores(typingctx, criterion, sums, n, extra_a, extra_b, total, ridge, found):
    """OUT found: scores of n cuts of one label, as `cut_score`; they send ``sums`` and ``extra`` to the left."""
    if not isinstance(criterion, types.StringLiteral):
        return None
    name = criterion.literal_value

    def codegen(context, builder, signature, args):
        context.compile_internal(builder, _line(name), types.void(*signature.args[1:]), args[1:])
        return context.get_dummy_value()

    return types.void(criterion, sums, types.intp, sums.dtype, sums.dtype, total, types.float64, found), codegen


# What a part of a node's rows can gain at most, of Z.  With f = sqrt(W- W+), to cut A off from T gains 2 (f(T) - f(A) -
# f(T - A)) for each label, and f(T - A) >= (1 - s) f(T) where A <= s T.  So the gain is at most
# 2 max(A- sqrt(T+ / T-), A+ sqrt(T- / T+)) - 2 f(A).  This is never negative and, as f is superadditive, the sum of
# such bounds is a bound for every union of some of the parts.  Where T- or T+ is 0, so is f, and nothing is gained.
# With a sum in place of the maximum, and without 2 f(A), it is a weaker one: the sum of a number for each row.


@intrinsic(prefer_literal=True)
def has_bound(typingctx, criterion):
    """Whether `gain_bound` knows the criterion; known to the compiler."""
    if not isinstance(criterion, types.StringLiteral):
        return None

    def codegen(context, builder, signature, args):
        return context.get_constant(types.boolean, criterion.literal_value == "z")

    return types.boolean(criterion), codegen


@njit(**INNER)
def bound_slopes(criterion, total, half, slopes):
    """OUT slopes: 2 sqrt(T+ / T-) and 2 sqrt(T- / T+) for each label, two halves; 0 where T- or T+ is."""
    for k in range(half):
        a, b = np.float64(total[k]), np.float64(total[half + k])
        if a > 0 and b > 0:
            slopes[k], slopes[half + k] = 2.0 * np.sqrt(b / a), 2.0 * np.sqrt(a / b)
        else:
            slopes[k] = slopes[half + k] = 0.0


def _sum_of_groups(builder, n, of_group):
    """Sum over 0 <= k < n of ``of_group(k, lanes)``, vectors of single precision."""
    sums = {}
    for lanes in (8, 4, 1):
        kind = ir.VectorType(ir.FloatType(), lanes)
        sums[lanes] = cgutils.alloca_once_value(builder, ir.Constant(kind, [0.0] * lanes))

    def body(k, lanes):
        builder.store(builder.fadd(builder.load(sums[lanes]), of_group(k, lanes)), sums[lanes])

    in_groups(builder, n, body)
    found = builder.load(sums[8])
    for lanes in (4, 1):
        while found.type.count > lanes:
            half = found.type.count // 2
            mask = ir.VectorType(ir.IntType(32), half)
            low, high = (ir.Constant(mask, list(range(first, first + half))) for first in (0, half))
            found = builder.fadd(*(builder.shuffle_vector(found, found, part) for part in (low, high)))
        found = builder.fadd(found, builder.load(sums[lanes]))
    return builder.fpext(builder.extract_element(found, ir.Constant(ir.IntType(32), 0)), _DOUBLE)


@intrinsic(prefer_literal=True)
def gain_bound(typingctx, criterion, histogram, at, slopes, half):
    """What rows that sum to histogram[at : at + 2 half] can gain at most by being cut off, by slopes of their node."""
    if not isinstance(criterion, types.StringLiteral):
        return None

    def codegen(context, builder, signature, args):
        _, histogram, at, slopes, half = args
        kinds = signature.args

        def of_group(k, lanes):
            parts, kept = [], None
            for i in (k, builder.add(half, k)):
                slope = load(context, builder, kinds[3], slopes, i, lanes)
                sum_ = load(context, builder, kinds[1], histogram, builder.add(at, i), lanes)
                sum_ = builder.sitofp(sum_, slope.type)
                parts.append(builder.fmul(sum_, slope))
                kept = sum_ if kept is None else _sqrt(builder, builder.fmul(kept, sum_))
            larger = builder.select(builder.fcmp_ordered(">", *parts), *parts)
            return builder.fsub(larger, builder.fadd(kept, kept))

        return _sum_of_groups(builder, half, of_group)

    return types.float64(criterion, histogram, types.intp, slopes, types.intp), codegen


@intrinsic
def row_bound(typingctx, dense, at, slopes, n):
    """The part of one row in the weaker bound: the sum of dense[at + k] slopes[k] over the n numbers that it has."""

    def codegen(context, builder, signature, args):
        dense, at, slopes, n = args
        kinds = signature.args

        def of_group(k, lanes):
            slope = load(context, builder, kinds[2], slopes, k, lanes)
            return builder.fmul(
                slope, builder.sitofp(load(context, builder, kinds[0], dense, builder.add(at, k), lanes), slope.type)
            )

        return _sum_of_groups(builder, n, of_group)

    return types.float64(dense, types.intp, slopes, types.intp), codegen


@cache
def _slopes(name):
    slope_of, second = njit(**INLINE)(_formulas[name].slope), _formulas[name].layout != PULL

    def slopes(left, total, half, ridge, slope):
        for k in range(half):
            a, b = np.float64(left[k]), 0.0
            c, d = np.float64(total[k]) - a, 0.0
            if second:
                b = np.float64(left[half + k])
                d = np.float64(total[half + k]) - b
            along_a, along_b = slope_of(a, b, c, d, ridge)
            slope[k] = along_a
            if second:
                slope[half + k] = along_b

    return slopes


@intrinsic(prefer_literal=True)
def cut_slope(typingctx, criterion, left, total, half, ridge, slope):
    """OUT slope: of the score at the sums of the left side, (width,)."""
    if not isinstance(criterion, types.StringLiteral):
        return None
    name = criterion.literal_value

    def codegen(context, builder, signature, args):
        own = types.void(*signature.args[1:])
        context.compile_internal(builder, _slopes(name), own, args[1:])
        return context.get_dummy_value()

    return types.void(criterion, left, total, types.intp, types.float64, slope), codegen


@intrinsic(prefer_literal=True)
def layout_of(typingctx, criterion):
    """What the payload of a criterion holds, known to the compiler."""
    if not isinstance(criterion, types.StringLiteral):
        return None

    def codegen(context, builder, signature, args):
        return context.get_constant(types.intp, _formulas[criterion.literal_value].layout)

    return types.intp(criterion), codegen


@intrinsic(prefer_literal=True)
def is_factorised(typingctx, criterion):
    """Whether a criterion's cuts vote v phi(x), known to the compiler."""
    if not isinstance(criterion, types.StringLiteral):
        return None

    def codegen(context, builder, signature, args):
        return context.get_constant(types.boolean, _formulas[criterion.literal_value].factorised)

    return types.boolean(criterion), codegen
