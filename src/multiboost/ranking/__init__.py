"""Learning to rank: queries and their metrics.  The ranker itself is an estimator, its loss a loss."""

from .conventions import CONVENTIONS, Convention
from .metrics import ranking_metric
from .queries import Queries
from .weighting import exponential_weights

__all__ = ["CONVENTIONS", "Convention", "Queries", "exponential_weights", "ranking_metric"]
