"""The lesser and the greater of two numbers.

As ``min`` and ``max``, which numba would compile as kernels of their own, for every pair of types again.
"""

from numba import types
from numba.extending import intrinsic


def _extreme(comparison):
    @intrinsic
    def extreme(typingctx, a, b):
        kind = typingctx.unify_types(types.unliteral(a), types.unliteral(b))
        if not isinstance(kind, types.Number):
            return None

        def codegen(context, builder, signature, args):
            a, b = args
            if isinstance(kind, types.Float):
                second = builder.fcmp_ordered(comparison, b, a)
            elif kind.signed:
                second = builder.icmp_signed(comparison, b, a)
            else:
                second = builder.icmp_unsigned(comparison, b, a)
            return builder.select(second, b, a)

        return kind(kind, kind), codegen

    return extreme


lesser, greater = _extreme("<"), _extreme(">")
