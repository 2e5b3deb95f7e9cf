"""What a count among so many rows says of a rate."""

from __future__ import annotations

import math


def upper_bound(count: int, n: int, confidence: float) -> float:
    """The rate that is not exceeded, with this confidence, where ``count`` of n independent rows were seen.

    The one-sided bound of Clopper and Pearson (Biometrika 26, 1934): the largest p for which a binomial (n, p) count is
    at most ``count`` with probability 1 - confidence or more.

    Parameters
    ----------
    count, n : int
    confidence : float
    """
    from scipy.stats import beta

    return 1.0 if count >= n else float(beta.ppf(confidence, count + 1, n - count))


def rows_needed(rate: float, confidence: float) -> int:
    """How many rows without a single count it takes to say that a rate is not exceeded."""
    return math.ceil(math.log1p(-confidence) / math.log1p(-rate))
