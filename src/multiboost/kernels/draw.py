"""Some of n numbers at random: what NumPy's permutation begins with, without shuffling the others."""

import numpy as np

from .compiler import OPTIONS, njit


@njit(**OPTIONS)
def shuffle_down(words, last, least, order):
    """Fisher and Yates's shuffle as NumPy does it: for i from ``last`` down to ``least``, i is swapped with one of the
    numbers up to it.  Which one say the lowest bits of the next word; if they say more than i, those of the one after.

    words : random words of 32 bits, uint32
    last, least : ints, at least 1
    order : IN/OUT (n,) int32

    Returns
    -------
    int : the first i that was not swapped, as no word was left; below ``least`` at the end
    """
    i, mask = np.uint64(last), np.uint64(1)
    for word in words:
        if i < np.uint64(least):
            break
        if mask < i:
            while mask < i:
                mask = np.uint64(2) * mask + np.uint64(1)
        elif mask >> np.uint64(1) >= i:
            mask >>= np.uint64(1)
        j = np.uint64(word) & mask
        fits = j <= i
        j = j if fits else i  # no branch: it would be mispredicted every third time
        order[i], order[j] = order[j], order[i]
        i -= np.uint64(fits)
    return np.intp(i)
