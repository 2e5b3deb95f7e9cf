"""Criteria: how good a cut is, from what it sends to the left.  Scores are "more is better":

====== =====================================================  =====================
EDGE   sum_l |G_right - G_left|                               Kegl 2011, (3.33)
Z      - sum over sides and l of 2 sqrt(W- W+)                Schapire, Singer 1999
NEWTON   sum over sides and l of G^2 / (H + ridge)            Friedman 2001
====== =====================================================  =====================

Histogram rows have one half, of G, for EDGE, and two halves otherwise; see ``histogram``.
"""

from functools import partial

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .dtypes import EDGE, Z
from .lanes import change, in_groups, load, splat, sum_of

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


def _running(builder, vector):
    """Sums of the lanes up to each."""
    n = vector.type.count
    zero = ir.Constant(vector.type, None)
    shift = 1
    while shift < n:
        lanes = [i if i < shift else n + i - shift for i in range(n)]
        moved = builder.shuffle_vector(zero, vector, ir.Constant(ir.VectorType(ir.IntType(32), n), lanes))
        vector = builder.add(vector, moved)
        shift *= 2
    return vector


@intrinsic
def add_edges(typingctx, edges, sums, first, n, left, total):
    """What one label adds to the edges of the cuts of a column: edges[first : first+n] += |total - 2 left|.

    sums : of the label, at the column's histogram rows; ``left`` is what is on the left of all of them
    """

    def codegen(context, builder, signature, args):
        edges, sums, first, n, left, total = args
        size = n.type
        before = cgutils.alloca_once_value(builder, left)

        def body(k, lanes):
            at = builder.add(first, k)
            own = _running(builder, load(context, builder, signature.args[1], sums, at, lanes))
            so_far = builder.load(before)
            # The next rows wait for this sum only, not for the edges.
            last = builder.extract_element(own, ir.Constant(ir.IntType(32), lanes - 1))
            builder.store(builder.add(so_far, last), before)
            on_left = builder.add(own, splat(builder, so_far, lanes))
            sizes = _sizes(builder, splat(builder, total, lanes), on_left)
            change(context, builder, signature.args[0], edges, at, lanes, partial(builder.add, sizes))

        with cgutils.for_range(builder, builder.lshr(n, size(3))) as loop:
            body(builder.shl(loop.index, size(3)), 8)
        whole = builder.and_(n, size(-8))
        with cgutils.for_range(builder, builder.sub(n, whole)) as loop:
            body(builder.add(whole, loop.index), 1)
        return context.get_dummy_value()

    return types.void(edges, sums, types.intp, types.intp, sums.dtype, sums.dtype), codegen


@intrinsic
def cut_score(typingctx, criterion, left, total, half, ridge):
    """Score of the cut whose left side sums to ``left``, in the payload's units."""

    def codegen(context, builder, signature, args):
        criterion, left, total, half, ridge = args
        sums = context, builder, signature.args[1:3], left, total, half
        score = cgutils.alloca_once(builder, _DOUBLE)

        def root(first, second):
            return _sqrt(builder, builder.fmul(first, second))

        def gain(first, second):
            kind = first.type.element
            least = ridge if kind == _DOUBLE else builder.fptrunc(ridge, kind)
            below = builder.fadd(second, splat(builder, least, first.type.count))
            return builder.fdiv(builder.fmul(first, first), below)

        def is_(name):
            return builder.icmp_signed("==", criterion, criterion.type(name))

        def real():
            with builder.if_else(is_(Z)) as (then, otherwise):
                with then:
                    builder.store(builder.fmul(_DOUBLE(-2.0), _sum_sides(*sums, root)), score)
                with otherwise:
                    builder.store(_sum_sides(*sums, gain), score)

        if signature.args[1].dtype.bitwidth == 32:  # the edge is always searched in 64 bits, see ``dtypes``
            real()
        else:
            with builder.if_else(is_(EDGE)) as (then, otherwise):
                with then:
                    builder.store(builder.sitofp(_edge(*sums), _DOUBLE), score)
                with otherwise:
                    real()
        return builder.load(score)

    return types.float64(types.intp, left, total, types.intp, types.float64), codegen
