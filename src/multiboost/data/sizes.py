"""Sums of absolute values over a number for each pair, part by part: the matrix may be larger than memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

_PART = 1 << 16  # pairs that are added up at once, so that they stay in the cache


def size_of_rows(matrix: np.ndarray) -> np.ndarray:
    """Of every row of (n, K) the sum over its labels, (n,)."""
    found = np.empty(len(matrix))
    for part in _parts(matrix):
        found[part] = np.abs(matrix[part]).sum(axis=1)
    return found


def size_of_labels(matrix: np.ndarray) -> np.ndarray:
    """Of every label of (n, K) the sum over the rows, (K,)."""
    found = np.zeros(matrix.shape[1])
    for part in _parts(matrix):
        found += np.abs(matrix[part]).sum(axis=0)
    return found


def _parts(matrix: np.ndarray) -> Iterator[slice]:
    n, n_labels = matrix.shape
    step = max(1, _PART // max(1, n_labels))
    return (slice(first, first + step) for first in range(0, n, step))
