"""The multi-class edge, of discrete votes."""

import numpy as np

from . import PULL, Criterion, register


def cut(left_g, _, right_g, __, ridge):
    """|G_right - G_left|."""
    return abs(right_g - left_g)


def slope(left_g, _, right_g, __, ridge):
    """The vote of the left side."""
    return -1.0 if right_g > left_g else 1.0, 0.0


@register
class Edge(Criterion):
    """Discrete votes: +1 or -1, and the multi-class edge (Kegl 2011, eq. 3.33)."""

    name, layout = "edge", PULL
    cut, slope = staticmethod(cut), staticmethod(slope)
    factorised = fine = bounded = True

    def votes(self, sum_g, sum_h):
        return np.where(sum_g > 0, 1.0, -1.0)

    def score(self, sum_g, sum_h, votes):
        return float((votes * sum_g).sum())

    def score_of_cut(self, sum_g, sum_h):
        return float(np.abs(sum_g[1] - sum_g[0]).sum())

    def z(self, sum_g, sum_h, h):
        """All leaves have the values +alpha and -alpha, and all weights sum to 1: eq. (3.31)."""
        alpha = float(np.abs(h).max())
        return float(np.cosh(alpha) - np.sinh(alpha) * (np.sign(h) * sum_g).sum())
