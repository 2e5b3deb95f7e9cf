"""The multi-class edge, of votes that may abstain."""

import numpy as np

from . import register
from .edge import Edge


@register
class Ternary(Edge):
    """Votes +1, -1 and 0: the cut with the best edge, and of its labels those that make Z least.

    Of the labels l that vote let W+ be the weight that is right and W- the weight that is wrong, and W0 that of the
    others.  With the best alpha, 1/2 ln(W+ / W-), Z = W0 + 2 sqrt(W+ W-) = 1 - (sqrt(W+) - sqrt(W-))^2.
    """

    name, searched_as = "ternary", "edge"
    abstains = True

    def voters(self, right, wrong):
        """sqrt(P) - sqrt(Q) is quasi-convex in the sums P and Q over labels.  So its largest value is at a corner of
        the sums that are possible: labels vote whose ratio of right to wrong is above a bound.
        """
        order = np.lexsort((-right, -right / np.maximum(wrong, np.finfo(float).tiny)))
        less = np.sqrt(np.cumsum(right[order])) - np.sqrt(np.cumsum(wrong[order]))
        found = np.zeros(right.size, bool)
        found[order[: int(less.argmax()) + 1]] = True
        return found
