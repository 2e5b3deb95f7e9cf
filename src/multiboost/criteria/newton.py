"""The gain of one Newton step."""

from . import PULL_AND_CURVATURE, Criterion, register


def cut(left_g, left_h, right_g, right_h, ridge):
    """G^2 / (H + ridge) of both sides."""
    return left_g * left_g / (left_h + ridge) + right_g * right_g / (right_h + ridge)


def slope(left_g, left_h, right_g, right_h, ridge):
    """Of the same."""
    vote, other = left_g / (left_h + ridge), right_g / (right_h + ridge)
    return 2.0 * (vote - other), other * other - vote * vote


@register
class Newton(Criterion):
    """One Newton step per leaf and label: G / (H + ridge) (Friedman 2001).

    Parameters
    ----------
    ridge : float
        In the units of H.
    """

    name, layout = "newton", PULL_AND_CURVATURE
    cut, slope = staticmethod(cut), staticmethod(slope)

    def votes(self, sum_g, sum_h):
        return sum_g / (sum_h + self.ridge)

    def score(self, sum_g, sum_h, votes):
        return float((sum_g**2 / (sum_h + self.ridge)).sum())
