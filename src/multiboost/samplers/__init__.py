"""Samplers: which rows and which columns a round sees, and by which labels it cuts."""

from .all import AllColumns, AllLabels, AllRows
from .bandit import Bandit
from .exp3p import EXP3P
from .heaviest import Heaviest
from .lazy import Lazy
from .minimal_variance import MinimalVariance
from .random_labels import RandomLabels
from .sampler import COLUMN_SAMPLERS, LABEL_SAMPLERS, ROW_SAMPLERS, ColumnSampler, LabelSampler, RowSampler
from .share import Share
from .trimming import Trimming
from .ucb import UCB

__all__ = [
    "COLUMN_SAMPLERS", "EXP3P", "LABEL_SAMPLERS", "ROW_SAMPLERS", "UCB", "AllColumns", "AllLabels", "AllRows", "Bandit",
    "ColumnSampler", "Heaviest", "LabelSampler", "Lazy", "MinimalVariance", "RandomLabels", "RowSampler", "Share",
    "Trimming",
]  # fmt: skip
