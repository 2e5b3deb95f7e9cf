"""Arithmetic on short vectors of labels.

The innermost loop of everything runs over the K labels, with K unknown to the
compiler and often about ten: too short for its automatic vectorisation, which
spends its time in remainder loops.  The intrinsics below emit vector
instructions of 8 and 4 lanes directly, and cover with them any padded length, a
multiple of 4.  Padded lanes hold zeros, which every criterion maps to zero.  A single label
is not padded: its sums are one number, or two.

They are intrinsics, not kernels that call intrinsics: each kernel would be compiled for itself before it
is compiled into its callers, together a tenth of the first fit's time.  The criteria are built in the
same way, see ``criteria``.

All arrays are flat and C-contiguous; ``di`` and ``si`` are offsets of elements.
"""

from functools import partial

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


def new_scratch(n_threads, width, dtype):
    """Four histogram rows for each thread, and a cache line between those of two threads."""
    gap = -(-64 // (width * np.dtype(dtype).itemsize))
    return np.zeros((n_threads, 4 + gap, width), dtype)


def pointer_to(context, builder, array_type, array, index, n):
    data = context.make_array(array_type)(context, builder, array).data
    vector = ir.VectorType(context.get_data_type(array_type.dtype), n)
    return builder.bitcast(builder.gep(data, [index]), vector.as_pointer())


def load(context, builder, array_type, array, index, n):
    value = builder.load(pointer_to(context, builder, array_type, array, index, n))
    value.align = array_type.dtype.bitwidth // 8
    return value


def change(context, builder, array_type, array, index, n, new):
    """array[index : index+n] = new(what is there)."""
    pointer = pointer_to(context, builder, array_type, array, index, n)
    old = builder.load(pointer)
    old.align = array_type.dtype.bitwidth // 8
    builder.store(new(old), pointer).align = old.align


def splat(builder, scalar, n):
    """A vector of n times the same number."""
    vector = ir.VectorType(scalar.type, n)
    zero = ir.Constant(ir.IntType(32), 0)
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), scalar, zero)
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(ir.IntType(32), n), [0] * n))


def _turned(builder, vector, sign):
    """The vector where ``sign`` is 0, its negative where it is -1."""
    kind, n = vector.type.element, vector.type.count
    sign = splat(builder, builder.trunc(sign, kind) if kind.width < sign.type.width else sign, n)
    return builder.sub(builder.xor(vector, sign), sign)


def sum_of(builder, vector, add):
    """Add the lanes of a vector pairwise, always in the same order."""
    n = vector.type.count
    while n > 1:
        n //= 2
        mask = ir.VectorType(ir.IntType(32), n)
        low = builder.shuffle_vector(vector, vector, ir.Constant(mask, list(range(n))))
        high = builder.shuffle_vector(vector, vector, ir.Constant(mask, list(range(n, 2 * n))))
        vector = add(low, high)
    return builder.extract_element(vector, ir.Constant(ir.IntType(32), 0))


def in_groups(builder, n, body):
    """Code for 0 <= k < n by groups of lanes: ``body(k, lanes)`` with 8, then 4 or single lanes (n is 1 or 2)."""
    size = n.type
    with cgutils.for_range(builder, builder.lshr(n, size(3))) as loop:
        body(builder.shl(loop.index, size(3)), 8)
    k = builder.and_(n, size(-8))
    with builder.if_else(builder.icmp_signed(">=", builder.sub(n, k), size(4))) as (four, single):
        with four:
            body(k, 4)
        with single, builder.if_then(builder.icmp_signed("<", k, n)):
            body(k, 1)
            with builder.if_then(builder.icmp_signed("==", n, size(2))):
                body(size(1), 1)


def _accumulate(context, builder, signature, args, new):
    """dst[di : di+n] = new(dst[di : di+n], src[si : si+n])."""
    dst_type, src_type = signature.args[0], signature.args[2]

    def body(k, lanes):
        other = load(context, builder, src_type, args[2], builder.add(args[3], k), lanes)
        change(context, builder, dst_type, args[0], builder.add(args[1], k), lanes, lambda old: new(old, other))

    in_groups(builder, args[4], body)
    return context.get_dummy_value()


@intrinsic
def add_lanes(typingctx, dst, di, src, si, n):
    """dst[di : di+n] += src[si : si+n]."""

    def codegen(context, builder, signature, args):
        return _accumulate(context, builder, signature, args, builder.add)

    return types.void(dst, types.intp, src, types.intp, types.intp), codegen


@intrinsic
def subtract_lanes(typingctx, dst, di, src, si, n):
    """dst[di : di+n] -= src[si : si+n]."""

    def codegen(context, builder, signature, args):
        return _accumulate(context, builder, signature, args, builder.sub)

    return types.void(dst, types.intp, src, types.intp, types.intp), codegen


@intrinsic
def add_signed(typingctx, dst, di, src, si, n, sign):
    """`add_lanes` where ``sign`` is 0, `subtract_lanes` where it is -1, without a branch."""

    def codegen(context, builder, signature, args):
        def new(old, other):
            return builder.add(old, _turned(builder, other, args[5]))

        return _accumulate(context, builder, signature, args, new)

    return types.void(dst, types.intp, src, types.intp, types.intp, types.int64), codegen


@intrinsic
def sign_of(typingctx, signs, i):
    """The sign of sample i, 0 or -1; ``signs`` is None where all are 0, which the compiler then knows."""

    def codegen(context, builder, signature, args):
        if isinstance(signs, types.NoneType):
            return ir.Constant(ir.IntType(64), 0)
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.sext(builder.load(builder.gep(data, [args[1]])), ir.IntType(64))

    return types.int64(signs, types.intp), codegen


@intrinsic
def is_zero(typingctx, array, i, n):
    """Whether array[i : i+n] holds nothing but zeros."""

    def codegen(context, builder, signature, args):
        size, n = args[2].type, args[2]
        result = cgutils.alloca_once_value(builder, cgutils.true_bit)

        def look(k, lanes):
            vector = load(context, builder, signature.args[0], args[0], builder.add(args[1], k), lanes)
            zero = builder.icmp_signed("==", sum_of(builder, vector, builder.or_), ir.Constant(vector.type.element, 0))
            builder.store(zero, result)
            return builder.not_(zero)

        with cgutils.for_range(builder, builder.lshr(n, size(3))) as loop:
            found = look(builder.shl(loop.index, size(3)), 8)
            with builder.if_then(found):
                loop.do_break()
        k = builder.and_(n, size(-8))
        rest = builder.and_(builder.load(result), builder.icmp_signed("<", k, n))
        with builder.if_then(rest), builder.if_else(builder.icmp_signed(">=", n, size(4))) as (four, single):
            with four:
                look(k, 4)
            with single:
                found = look(k, 1)
                with builder.if_then(builder.and_(builder.not_(found), builder.icmp_signed("==", n, size(2)))):
                    look(size(1), 1)
        return builder.load(result)

    return types.boolean(array, types.intp, types.intp), codegen


@intrinsic
def zero(typingctx, array, i, n):
    """array[i : i+n] = 0."""

    def codegen(context, builder, signature, args):
        size = context.get_abi_sizeof(context.get_data_type(signature.args[0].dtype))
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        length = builder.mul(args[2], ir.Constant(args[2].type, size))
        cgutils.memset(builder, builder.gep(data, [args[1]]), length, 0)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp), codegen


@intrinsic
def copy(typingctx, dst, di, src, si, n):
    """dst[di : di+n] = src[si : si+n]; the two do not overlap."""

    def codegen(context, builder, signature, args):
        target = context.make_array(signature.args[0])(context, builder, args[0]).data
        source = context.make_array(signature.args[2])(context, builder, args[2]).data
        size = context.get_abi_sizeof(context.get_data_type(signature.args[0].dtype))
        cgutils.raw_memcpy(
            builder, builder.gep(target, [args[1]]), builder.gep(source, [args[3]]), args[4],
            ir.Constant(args[4].type, size),
        )  # fmt: skip
        return context.get_dummy_value()

    return types.void(dst, types.intp, src, types.intp, types.intp), codegen


def _add_to_rows(context, builder, signature, args, n, also):
    """Code of `add_row`; ``also(target)`` is added for every code, whose histogram row begins at ``target``."""
    histogram, base, width, codes, begin, stop, shift, dense, source, _, sign = args[:11]
    kinds, size = signature.args, base.type
    steps, k = [], 0
    while k < n:
        step = next(step for step in (8, 4, 2, 1) if k + step <= n)
        lanes = load(context, builder, kinds[7], dense, builder.add(source, size(k)), step)
        steps.append((k, step, _turned(builder, lanes, sign)))
        k += step
    first = builder.gep(context.make_array(kinds[3])(context, builder, codes).data, [begin])
    with cgutils.for_range(builder, builder.sub(stop, begin)) as loop:
        code = builder.zext(builder.load(builder.gep(first, [loop.index])), size)
        target = builder.add(base, builder.mul(builder.lshr(code, shift), width))
        for k, step, lanes in steps:
            change(
                context, builder, kinds[0], histogram, builder.add(target, size(k)), step, partial(builder.add, lanes)
            )
        also(target)
    return context.get_dummy_value()


@intrinsic(prefer_literal=True)
def add_row(typingctx, histogram, base, width, codes, begin, stop, shift, dense, source, n, sign):
    """For every code from begin to stop `add_signed` of n lanes to the histogram row code >> shift, n constant.

    The lanes are read once for all codes; in a loop over `add_signed` they would be read for each, as for all that the
    compiler knows the histogram might be a part of them.
    """

    def codegen(context, builder, signature, args):
        return _add_to_rows(context, builder, signature, args, n.literal_value, lambda target: None)

    size = types.intp
    return types.void(histogram, size, size, codes, size, size, size, dense, size, n, types.int64), codegen


@intrinsic(prefer_literal=True)
def add_one_hot_row(
    typingctx, histogram, base, width, codes, begin, stop, shift, dense, source, n, sign, position, weight
):
    """`add_row`, and ``weight`` at ``position`` of every such histogram row."""

    def codegen(context, builder, signature, args):
        def also(target):
            data = context.make_array(signature.args[0])(context, builder, args[0]).data
            pointer = builder.gep(data, [builder.add(target, args[11])])
            builder.store(builder.add(builder.load(pointer), args[12]), pointer)

        return _add_to_rows(context, builder, signature, args, n.literal_value, also)

    size = types.intp
    kinds = (histogram, size, size, codes, size, size, size, dense, size, n, types.int64, size, histogram.dtype)
    return types.void(*kinds), codegen


@intrinsic
def prefetch(typingctx, array, i):
    """Ask for array[i] before it is needed."""

    def codegen(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        pointer = builder.bitcast(builder.gep(data, [args[1]]), ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        builder.call(function, [pointer, number(0), number(3), number(1)])  # to read, keep, data
        return context.get_dummy_value()

    return types.void(array, types.intp), codegen
