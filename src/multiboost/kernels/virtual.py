"""Virtual labels: y' = y times the signs of the other terms of a product (Kegl 2011, Figure 3.11, line 9).

Where the other terms are cuts v phi(x), the edge needs a sign for every sample and no more, see `Problem.without`.  The
exact payload keeps it beside the numbers.  The rounded one is multiplied by it, but for the mass: `turn_rows`.  Trees
have a sign for every sample and label: `flip_labels`.
"""

import numpy as np

from .compiler import ALLOCATING, INNER, OPTIONS, njit
from .extremes import lesser
from .team import next_item
from .update import CHUNK


@njit(**OPTIONS)
def turn_rows(tid, n_threads, sync, dense, lanes, n_turned, sign, turned):
    """OUT turned: the first ``n_turned`` lanes of the samples whose sign is -1 are multiplied by it."""
    n, number = sign.size, dense.dtype.type
    chunk = next_item(sync)
    while chunk * CHUNK < n:
        for i in range(chunk * CHUNK, lesser(n, chunk * CHUNK + CHUNK)):
            m = number(sign[i])
            a, b = dense[i * lanes : (i + 1) * lanes], turned[i * lanes : (i + 1) * lanes]
            for k in range(n_turned):
                b[k] = (a[k] ^ m) - m
            for k in range(n_turned, lanes):
                b[k] = a[k]
        chunk = next_item(sync)


@njit(**INNER)
def _flip(source, target, at, signs):
    """target = source where ``signs`` are 0, -source where they are -1, from element ``at`` on."""
    number = source.dtype.type
    a, b = source[at : at + signs.size], target[at : at + signs.size]
    for k in range(signs.size):
        m = number(signs[k])
        b[k] = (a[k] ^ m) - m


@njit(**ALLOCATING)
def flip_labels(tid, n_threads, sync, payload, bounds, leaf, offset, negative, flipped, bounds_flipped):
    """Payload and rounded payload of the edge under virtual labels.

    leaf : (terms, n) leaf of each sample in each of the other terms
    offset : (terms,) first row of the term in ``negative``
    negative : (leaves, K) int32, -1 where a leaf votes -1, else 0
    flipped, bounds_flipped : OUT; there is no rounded payload where there are no bounds: None
    """
    n_terms, n = leaf.shape
    n_labels = negative.shape[1]
    signs = np.zeros(n_labels, np.int32)
    chunk = next_item(sync)
    while chunk * CHUNK < n:
        for i in range(chunk * CHUNK, lesser(n, chunk * CHUNK + CHUNK)):
            for k in range(n_labels):
                signs[k] = payload.sign[i]
            for t in range(n_terms):
                row = negative[offset[t] + leaf[t, i]]
                for k in range(n_labels):
                    signs[k] ^= row[k]
            _flip(payload.dense, flipped.dense, i * payload.lanes, signs)
            if bounds is not None:
                at = i * bounds.payload.lanes
                _flip(bounds.payload.dense, bounds_flipped.payload.dense, at, signs)
                bounds_flipped.payload.dense[at + n_labels] = bounds.payload.dense[at + n_labels]
        chunk = next_item(sync)
