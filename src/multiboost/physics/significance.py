"""Significance of a counting experiment: s expected signal and b expected background events in the selected region.

=================  ====================================================================  ==========================
name               formula                                                               of
=================  ====================================================================  ==========================
``s/sqrt(b)``      s / sqrt(b)                                                           the Gaussian limit
``s/sqrt(s+b)``    s / sqrt(s + b)                                                       the error of a measured s
``ams2``           sqrt(2 ((s + b') ln(1 + s / b') - s)),  b' = b + b_reg                Cowan et al. 2011, eq. 97
``ams3``           s / sqrt(b + b_reg)                                                   the Higgs challenge, 2014
``asimov``         the same as ams2 with a background known up to sigma                  Cowan 2012
=================  ====================================================================  ==========================

s and b are sums of event weights, which are to be normalised to the expected luminosity first: all of these grow with
the square root of the number of events.  Where b is not positive there is no such experiment, and the value is NaN;
where s is not positive it is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

_SMALL = 1e-3  # s / b below which differences of logarithms would lose digits


def _excess(r: np.ndarray) -> np.ndarray:
    """(1 + r) ln(1 + r) - r, to all digits also for small r."""
    series = r**2 * (1 / 2 - r * (1 / 6 - r * (1 / 12 - r * (1 / 20 - r / 30))))
    return np.where(r < _SMALL, series, (1 + r) * np.log1p(r) - r)


def _safely(formula: Callable[..., np.ndarray], s, b) -> np.ndarray:
    """A formula where b > 0 and s > 0."""
    s, b = np.broadcast_arrays(np.asarray(s, np.float64), np.asarray(b, np.float64))
    found = np.where(b > 0, 0.0, np.nan)
    good = (b > 0) & (s > 0)
    found[good] = formula(s[good], b[good])
    return found[()]


def s_over_sqrt_b(s, b):
    """s / sqrt(b)."""
    return _safely(lambda s, b: s / np.sqrt(b), s, b)


def s_over_sqrt_sb(s, b):
    """s / sqrt(s + b)."""
    return _safely(lambda s, b: s / np.sqrt(s + b), s, b)


def ams2(s, b, b_reg: float = 10.0):
    """sqrt(2 ((s + b') ln(1 + s / b') - s)) with b' = b + b_reg."""
    return _safely(lambda s, b: np.sqrt(2 * b * _excess(s / b)), s, np.asarray(b, np.float64) + b_reg)


def ams3(s, b, b_reg: float = 10.0):
    """s / sqrt(b + b_reg)."""
    return s_over_sqrt_b(s, np.asarray(b, np.float64) + b_reg)


def asimov(s, b, sigma: float = 0.0):
    """The median significance where the background is known up to ``sigma`` of itself.

    Z = sqrt(2 [(s + b) ln((s + b)(b + v) / (b^2 + (s + b) v)) - (b^2 / v) ln(1 + v s / (b (b + v)))]),
    v = (sigma b)^2; without an uncertainty it is AMS2 with b_reg = 0.

    Parameters
    ----------
    s, b : array
    sigma : float
        The relative uncertainty of b.
    """
    if sigma == 0:
        return ams2(s, b, 0.0)

    def formula(s, b):
        v = (sigma * b) ** 2
        first = (s + b) * np.log1p(s * b / (b**2 + (s + b) * v))
        second = b**2 / v * np.log1p(v * s / (b * (b + v)))
        return np.sqrt(2 * np.maximum(first - second, 0.0))

    return _safely(formula, s, b)


CRITERIA: dict[str, Callable[..., Any]] = {
    "s/sqrt(b)": s_over_sqrt_b,
    "s/sqrt(s+b)": s_over_sqrt_sb,
    "ams2": ams2,
    "ams3": ams3,
    "asimov": asimov,
}


@dataclass(frozen=True)
class Significance:
    """A criterion with its numbers.

    Parameters
    ----------
    name : str
        One of `CRITERIA`.
    b_reg : float, default=10.0
        Of ams2 and ams3.
    sigma : float, default=0.0
        Of asimov: the relative uncertainty of b.
    """

    name: str = "ams2"
    b_reg: float = 10.0
    sigma: float = 0.0

    def __post_init__(self):
        if self.name not in CRITERIA:
            raise ValueError(f"there is no criterion {self.name!r}; there are {', '.join(CRITERIA)}")
        if not (np.isfinite(self.b_reg) and self.b_reg >= 0 and np.isfinite(self.sigma) and self.sigma >= 0):
            raise ValueError("b_reg and sigma must be finite and not negative")

    def __call__(self, s, b):
        """The significance of s and b, arrays or numbers."""
        if self.name in ("ams2", "ams3"):
            return CRITERIA[self.name](s, b, self.b_reg)
        if self.name == "asimov":
            return asimov(s, b, self.sigma)
        return CRITERIA[self.name](s, b)


def luminosity_weights(y, weight=None, *, signal: float, background: float) -> np.ndarray:
    """Event weights that add up to the expected numbers of signal and background events.

    A part of a sample, such as a fold, stands for the whole luminosity only after this.

    Parameters
    ----------
    y : array (n,)
        True or 1 for signal.
    weight : array (n,) or None
        Some may be negative; the sums of signal and of background must not be.
    signal, background : float
        Expected events.

    Returns
    -------
    ndarray (n,)
    """
    y = as_signal(y)
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, np.float64)
    if weight.shape != y.shape or not np.isfinite(weight).all():
        raise ValueError(f"weight must have a finite number for each of the {len(y)} events")
    found = weight.copy()
    for part, total, name in ((y, signal, "signal"), (~y, background, "background")):
        have = weight[part].sum()
        if not have > 0:
            raise ValueError(f"the weights of the {name} add up to {have:g}; they must be above 0")
        if not 0 < total < np.inf:
            raise ValueError(f"{name} must be a number of events above 0; got {total!r}")
        found[part] *= total / have
    return found


def as_signal(y) -> np.ndarray:
    """y as booleans, True for signal."""
    y = np.asarray(y)
    if y.ndim != 1 or not np.isin(y, (0, 1)).all():
        raise ValueError("y must have one dimension, and say 1 (or True) for signal and 0 for background")
    return y.astype(bool)
