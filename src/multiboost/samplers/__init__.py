"""Samplers: which rows and which columns a round sees."""

from .all import AllColumns, AllRows
from .bandit import Bandit
from .exp3p import EXP3P
from .lazy import Lazy
from .minimal_variance import MinimalVariance
from .sampler import COLUMN_SAMPLERS, ROW_SAMPLERS, ColumnSampler, RowSampler
from .share import Share
from .trimming import Trimming
from .ucb import UCB

__all__ = [
    "COLUMN_SAMPLERS", "EXP3P", "ROW_SAMPLERS", "UCB", "AllColumns", "AllRows", "Bandit", "ColumnSampler", "Lazy",
    "MinimalVariance", "RowSampler", "Share", "Trimming",
]  # fmt: skip
