"""Samplers: which rows and which columns a round sees."""

from .all import AllColumns, AllRows
from .sampler import COLUMN_SAMPLERS, ROW_SAMPLERS, ColumnSampler, RowSampler
from .share import Share

__all__ = ["COLUMN_SAMPLERS", "ROW_SAMPLERS", "AllColumns", "AllRows", "ColumnSampler", "RowSampler", "Share"]
