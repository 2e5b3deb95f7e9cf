"""Every dtype that crosses a kernel's border, named once, with the reason."""

import numpy as np

CODE = np.uint16  # a (column, bin) pair inside its block; a block has at most 65536
ROW = np.int32  # row numbers: half the memory traffic of int64, 2e9 rows are enough
NODE = np.int32  # node and leaf numbers
SIGN = np.int8  # 0 or -1: (x ^ s) - s is x or -x
SCORE = np.float64  # F, G, H and every sum that decides a value

# Histograms are added up in fixed point: integer addition is associative, so that a
# sibling's histogram is exactly parent minus child, and the bits of a model do not
# depend on the order of additions.  Total weights are scaled to 2**30 or 2**50.
COARSE, COARSE_BITS = np.int32, 30  # real votes: resolution 1e-9 of the total weight
FINE, FINE_BITS = np.int64, 50  # discrete votes: as exact as doubles, ties stay ties

_LINES = 128  # bytes: two cache lines, as processors fetch them in pairs


def apart(n: int, dtype) -> int:
    """Length of a row of n numbers of which each thread has its own: no two share a cache line."""
    size = np.dtype(dtype).itemsize
    return -(-n * size // _LINES) * _LINES // size + _LINES // size


def lanes(n_labels: int) -> int:
    """Length of a padded label vector: 1, or the next multiple of 4."""
    return 1 if n_labels == 1 else -(-n_labels // 4) * 4
