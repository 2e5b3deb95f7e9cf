"""Z, of real votes that are log odds."""

import numpy as np

from . import WEIGHTS, Criterion, register


def cut(left_negative, left_positive, right_negative, right_positive, ridge):
    """- 2 sqrt(W- W+) of both sides."""
    return -2.0 * (np.sqrt(left_negative * left_positive) + np.sqrt(right_negative * right_positive))


def slope(a, b, c, d, e):
    """Of the same, a and b on the left, c and d on the right; e keeps a pure side's slope finite."""
    return (
        np.sqrt((d + e) / (c + e)) - np.sqrt((b + e) / (a + e)),
        np.sqrt((c + e) / (d + e)) - np.sqrt((a + e) / (b + e)),
    )


@register
class LogOdds(Criterion):
    """Real votes: 1/2 ln(W+ / W-) per leaf and label, and Z (Schapire and Singer 1999).

    Parameters
    ----------
    ridge : float
        Added to both weights, about the weight of one pair, so that a pure leaf's vote
        is finite.
    """

    name, layout = "z", WEIGHTS
    cut, slope = staticmethod(cut), staticmethod(slope)

    @classmethod
    def of_run(cls, ridge, n_pairs):
        return cls(1.0 / n_pairs)

    def votes(self, sum_g, sum_h):
        s = self.ridge
        positive, negative = np.maximum(sum_h + sum_g, 0.0), np.maximum(sum_h - sum_g, 0.0)
        return 0.5 * np.log((positive + s) / (negative + s))

    def score(self, sum_g, sum_h, votes):
        return -float(np.sqrt(np.maximum(sum_h**2 - sum_g**2, 0.0)).sum())
