"""A threshold for a trigger: the largest efficiency under a bound on the rate of background.

Minimise P(rejected | signal) subject to P(accepted | background) <= max_rate.  Signal is rare, so that the rate of a
trigger is that of the background.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


def rate_bound(n_accepted, n: int, confidence: float = 0.95):
    """The upper bound of Clopper and Pearson (1934) on a rate.

    Parameters
    ----------
    n_accepted : int or array
        Of ``n`` background events.
    n : int
    confidence : float, default=0.95
    """
    from scipy.stats import beta

    k = np.asarray(n_accepted)
    return np.where(k >= n, 1.0, beta.ppf(confidence, k + 1, np.maximum(n - k, 1)))[()]


@dataclass(frozen=True)
class Trigger:
    """A chosen threshold.

    Attributes
    ----------
    threshold : float
        Events with a score above it are accepted.
    n_accepted, n_background : int
        Of the held-out background.
    rate : float
        The share of it that is accepted.
    bound : float
        With the confidence asked for, the true rate is not above this.
    efficiency : float or None
        The share of the signal that is accepted, where signal was given.
    """

    threshold: float
    n_accepted: int
    n_background: int
    rate: float
    bound: float
    efficiency: float | None


class TriggerThreshold:
    """The lowest threshold whose rate is not above ``max_rate`` with the confidence asked for.

    The background must be held out: events that neither the model nor anything else about it was chosen by.  Of n such
    events the rate above the (k + 1)-th largest score is distributed as Beta(k + 1, n - k), whatever the scores are;
    so the bound of Clopper and Pearson also holds for a threshold that is chosen by these events.

    Parameters
    ----------
    max_rate : float
    confidence : float, default=0.95

    Examples
    --------
    >>> import numpy as np
    >>> from multiboost.physics import TriggerThreshold
    >>> rng = np.random.default_rng(0)
    >>> found = TriggerThreshold(max_rate=0.01).choose(rng.normal(size=5000), rng.normal(size=1000) + 3)
    >>> found.n_accepted, round(float(found.bound), 4), found.efficiency > 0.6
    (38, 0.0099, True)
    """

    def __init__(self, max_rate: float, confidence: float = 0.95):
        for name, value in (("max_rate", max_rate), ("confidence", confidence)):
            if not 0 < value < 1:
                raise ValueError(f"{name} must be between 0 and 1; got {value!r}")
        self.max_rate, self.confidence = float(max_rate), float(confidence)

    @property
    def least_background(self) -> int:
        """With fewer background events no threshold can be promised: (1 - max_rate)^n <= 1 - confidence."""
        return int(np.ceil(np.log1p(-self.confidence) / np.log1p(-self.max_rate)))

    def choose(self, background, signal=None) -> Trigger:
        """Choose the threshold.

        Parameters
        ----------
        background : array
            Scores of held-out background events, each of weight one.
        signal : array or None
            Scores of held-out signal, for the efficiency.
        """
        background = _scores(background, "background")
        n = len(background)
        if n < self.least_background:
            raise ValueError(
                f"a rate of {self.max_rate:g} with confidence {self.confidence:g} needs at least "
                f"{self.least_background} background events; got {n}"
            )
        # The bound grows with k: the largest k whose bound is small enough.
        low, high = 0, n
        while high - low > 1:
            k = (low + high) // 2
            low, high = (k, high) if rate_bound(k, n, self.confidence) <= self.max_rate else (low, k)
        threshold = float(np.sort(background)[n - 1 - low])
        accepted = int((background > threshold).sum())  # fewer than k where scores are tied
        return Trigger(
            threshold=threshold,
            n_accepted=accepted,
            n_background=n,
            rate=accepted / n,
            bound=float(rate_bound(low, n, self.confidence)),
            efficiency=None if signal is None else float((_scores(signal, "signal") > threshold).mean()),
        )


def _scores(given, what: str) -> np.ndarray:
    found = np.asarray(given, np.float64)
    if found.ndim != 1 or not found.size or not np.isfinite(found).all():
        raise ValueError(f"{what} must be scores, finite numbers in one dimension; got shape {found.shape}")
    return found
