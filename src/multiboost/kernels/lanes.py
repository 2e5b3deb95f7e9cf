"""Arithmetic on short vectors of labels.

The innermost loop of everything runs over the K labels, with K unknown to the
compiler and often about ten: too short for its automatic vectorisation, which
spends its time in remainder loops.  The intrinsics below emit vector
instructions of 8 and 4 lanes directly, and the functions at the end of the
file cover any padded length, a multiple of 4, with them.  Padded lanes
hold zeros, which every criterion maps to zero.  A single label is not padded:
its sums are one number, or two.

All arrays are flat and C-contiguous; ``di`` and ``si`` are offsets of elements.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

# Most kernels allocate nothing, so that references to their arrays need not be counted; none
# is called from C.  Both save a little of the time of compiling them.  What does not count
# references must not return an array to a kernel that does.
OPTIONS: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "nsz", "contract"},
    "no_cfunc_wrapper": True,
    "_nrt": False,
}
# For the few that do allocate.
ALLOCATING: dict[str, Any] = {**OPTIONS, "_nrt": True}
# For kernels that only other kernels call: nothing to call them from Python.
INNER: dict[str, Any] = {**OPTIONS, "cache": False, "no_cpython_wrapper": True}
# For kernels that have a name but only one caller: compiled as a part of it.
ONCE: dict[str, Any] = {**INNER, "inline": "always"}
# For what stands in the innermost loops: a call there costs as much as the work.
INLINE: dict[str, Any] = {**INNER, "forceinline": True}


def new_scratch(n_threads, width, dtype):
    """Four histogram rows for each thread, and a cache line between those of two threads."""
    gap = -(-64 // (width * np.dtype(dtype).itemsize))
    return np.zeros((n_threads, 4 + gap, width), dtype)


def _pointer(context, builder, array_type, array, index, n):
    data = context.make_array(array_type)(context, builder, array).data
    vector = ir.VectorType(context.get_data_type(array_type.dtype), n)
    return builder.bitcast(builder.gep(data, [index]), vector.as_pointer())


def _load(context, builder, array_type, array, index, n):
    value = builder.load(_pointer(context, builder, array_type, array, index, n))
    value.align = array_type.dtype.bitwidth // 8
    return value


def _splat(builder, scalar, n):
    vector = ir.VectorType(scalar.type, n)
    zero = ir.Constant(ir.IntType(32), 0)
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), scalar, zero)
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(ir.IntType(32), n), [0] * n))


def _sum(builder, vector, add):
    """Add the lanes of a vector pairwise, always in the same order."""
    n = vector.type.count
    while n > 1:
        n //= 2
        mask = ir.VectorType(ir.IntType(32), n)
        low = builder.shuffle_vector(vector, vector, ir.Constant(mask, list(range(n))))
        high = builder.shuffle_vector(vector, vector, ir.Constant(mask, list(range(n, 2 * n))))
        vector = add(low, high)
    return builder.extract_element(vector, ir.Constant(ir.IntType(32), 0))


def _sqrt(builder, vector):
    kind = "f32" if isinstance(vector.type.element, ir.FloatType) else "f64"
    name = f"llvm.sqrt.v{vector.type.count}{kind}"
    function = builder.module.globals.get(name)
    if function is None:
        function = ir.Function(builder.module, ir.FunctionType(vector.type, [vector.type]), name)
    return builder.call(function, [vector])


def _accumulate(n, subtract):
    @intrinsic
    def accumulate(typingctx, dst, di, src, si):
        def codegen(context, builder, signature, args):
            dst_type, src_type = signature.args[0], signature.args[2]
            pointer = _pointer(context, builder, dst_type, args[0], args[1], n)
            old = builder.load(pointer)
            old.align = dst_type.dtype.bitwidth // 8
            change = _load(context, builder, src_type, args[2], args[3], n)
            new = builder.sub(old, change) if subtract else builder.add(old, change)
            builder.store(new, pointer).align = old.align
            return context.get_dummy_value()

        return types.void(dst, types.intp, src, types.intp), codegen

    return accumulate


def _is_zero(n):
    @intrinsic
    def is_zero(typingctx, array, i):
        def codegen(context, builder, signature, args):
            vector = _load(context, builder, signature.args[0], args[0], args[1], n)
            return builder.icmp_signed("==", _sum(builder, vector, builder.or_), ir.Constant(vector.type.element, 0))

        return types.boolean(array, types.intp), codegen

    return is_zero


def _edge(n):
    @intrinsic
    def edge(typingctx, left, li, total, ti):
        """Sum over lanes of |total - 2 left|, in the integers of the histogram."""

        def codegen(context, builder, signature, args):
            a = _load(context, builder, signature.args[0], args[0], args[1], n)
            t = _load(context, builder, signature.args[2], args[2], args[3], n)
            difference = builder.sub(t, builder.add(a, a))
            zero = ir.Constant(difference.type, None)
            negative = builder.icmp_signed("<", difference, zero)
            size = builder.select(negative, builder.sub(zero, difference), difference)
            return _sum(builder, size, builder.add)

        return left.dtype(left, types.intp, total, types.intp), codegen

    return edge


def _floats(builder, vector):
    """Integers to floating point: single precision for 32 bits, double for 64."""
    kind = ir.FloatType() if vector.type.element.width == 32 else ir.DoubleType()
    return builder.sitofp(vector, ir.VectorType(kind, vector.type.count))


def _sides(context, builder, signature, args, n):
    """Left and right sums of both halves of a histogram row, as floats."""
    arrays = ((args[0], args[1]), (args[0], args[2]))
    totals = ((args[3], args[4]), (args[3], args[5]))
    left, right = [], []
    for (array, i), (total, t) in zip(arrays, totals, strict=True):
        a = _load(context, builder, signature.args[0], array, i, n)
        b = builder.sub(_load(context, builder, signature.args[3], total, t, n), a)
        left.append(_floats(builder, a))
        right.append(_floats(builder, b))
    return left, right


def _z(n):
    @intrinsic
    def z(typingctx, left, l0, l1, total, t0, t1):
        """Sum over lanes and sides of sqrt(W- W+)."""

        def codegen(context, builder, signature, args):
            left, right = _sides(context, builder, signature, args, n)
            roots = [_sqrt(builder, builder.fmul(*side)) for side in (left, right)]
            result = _sum(builder, builder.fadd(*roots), builder.fadd)
            return builder.fpext(result, ir.DoubleType()) if isinstance(result.type, ir.FloatType) else result

        return types.float64(left, types.intp, types.intp, total, types.intp, types.intp), codegen

    return z


def _newton(n):
    @intrinsic
    def newton(typingctx, left, l0, l1, total, t0, t1, ridge):
        """Sum over lanes and sides of G^2 / (H + ridge)."""

        def codegen(context, builder, signature, args):
            left, right = _sides(context, builder, signature, args, n)
            kind = left[0].type.element
            ridge = args[6] if isinstance(kind, ir.DoubleType) else builder.fptrunc(args[6], kind)
            ridge = _splat(builder, ridge, n)
            a = builder.fdiv(builder.fmul(left[0], left[0]), builder.fadd(left[1], ridge))
            b = builder.fdiv(builder.fmul(right[0], right[0]), builder.fadd(right[1], ridge))
            result = _sum(builder, builder.fadd(a, b), builder.fadd)
            return builder.fpext(result, ir.DoubleType()) if isinstance(result.type, ir.FloatType) else result

        signature = types.float64(left, types.intp, types.intp, total, types.intp, types.intp, types.float64)
        return signature, codegen

    return newton


_add8, _add4 = (_accumulate(n, subtract=False) for n in (8, 4))
_subtract8, _subtract4 = (_accumulate(n, subtract=True) for n in (8, 4))
_is_zero8, _is_zero4 = (_is_zero(n) for n in (8, 4))
_edge8, _edge4 = (_edge(n) for n in (8, 4))
_z8, _z4 = (_z(n) for n in (8, 4))
_newton8, _newton4 = (_newton(n) for n in (8, 4))


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


@intrinsic(prefer_literal=True)
def add(typingctx, dst, di, src, si, n):
    """`add_lanes` for a constant n, without its loop."""

    def codegen(context, builder, signature, args):
        dst_type, src_type = signature.args[0], signature.args[2]
        k = 0
        while k < n.literal_value:
            step = next(step for step in (8, 4, 2, 1) if k + step <= n.literal_value)
            at = [builder.add(i, ir.Constant(i.type, k)) for i in (args[1], args[3])]
            pointer = _pointer(context, builder, dst_type, args[0], at[0], step)
            old = builder.load(pointer)
            old.align = dst_type.dtype.bitwidth // 8
            new = builder.add(old, _load(context, builder, src_type, args[2], at[1], step))
            builder.store(new, pointer).align = old.align
            k += step
        return context.get_dummy_value()

    return types.void(dst, types.intp, src, types.intp, n), codegen


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


@njit(**INLINE)
def add_lanes(dst, di, src, si, n):
    """dst[di : di+n] += src[si : si+n]."""
    k = 0
    while k + 8 <= n:
        _add8(dst, di + k, src, si + k)
        k += 8
    if k + 4 <= n:
        _add4(dst, di + k, src, si + k)
    elif k < n:
        dst[di] += src[si]
        if n == 2:
            dst[di + 1] += src[si + 1]


@njit(**INLINE)
def subtract_lanes(dst, di, src, si, n):
    """dst[di : di+n] -= src[si : si+n]."""
    k = 0
    while k + 8 <= n:
        _subtract8(dst, di + k, src, si + k)
        k += 8
    if k + 4 <= n:
        _subtract4(dst, di + k, src, si + k)
    elif k < n:
        dst[di] -= src[si]
        if n == 2:
            dst[di + 1] -= src[si + 1]


@njit(**INLINE)
def is_zero(array, i, n):
    """Whether array[i : i+n] holds nothing but zeros."""
    k = 0
    while k + 8 <= n:
        if not _is_zero8(array, i + k):
            return False
        k += 8
    if k + 4 <= n:
        return _is_zero4(array, i + k)
    return k == n or (array[i] == 0 and (n == 1 or array[i + 1] == 0))


@njit(**INLINE)
def edge_score(left, total, n):
    """Factorised edge of a cut: sum over labels of |G_right - G_left|."""
    if n == 1:
        return left.dtype.type(abs(total[0] - 2 * left[0]))
    score = left.dtype.type(0)
    k = 0
    while k + 8 <= n:
        score += _edge8(left, k, total, k)
        k += 8
    if k < n:
        score += _edge4(left, k, total, k)
    return score


@njit(**INLINE)
def z_score(left, total, n):
    """Half the Z of a cut: sum over sides and labels of sqrt(W- W+)."""
    if n == 1:
        a, b = np.float64(left[0]), np.float64(left[1])
        return np.sqrt(a * b) + np.sqrt((total[0] - a) * (total[1] - b))
    score = 0.0
    k = 0
    while k + 8 <= n:
        score += _z8(left, k, n + k, total, k, n + k)
        k += 8
    if k < n:
        score += _z4(left, k, n + k, total, k, n + k)
    return score


@njit(**INLINE)
def newton_score(left, total, n, ridge):
    """Newton gain of a cut: sum over sides and labels of G^2 / (H + ridge)."""
    if n == 1:
        g, h = np.float64(left[0]), np.float64(left[1])
        return g * g / (h + ridge) + (total[0] - g) ** 2 / (total[1] - h + ridge)
    score = 0.0
    k = 0
    while k + 8 <= n:
        score += _newton8(left, k, n + k, total, k, n + k, ridge)
        k += 8
    if k < n:
        score += _newton4(left, k, n + k, total, k, n + k, ridge)
    return score
