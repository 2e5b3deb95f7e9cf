"""Learning to rank: queries and their metrics.  The ranker itself is an estimator, its loss a loss."""

from .conventions import CONVENTIONS, Convention
from .metrics import ranking_metric
from .queries import Queries

__all__ = ["CONVENTIONS", "Convention", "Queries", "ranking_metric"]
