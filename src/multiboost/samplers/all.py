"""No sample: every round sees everything."""

from __future__ import annotations

from dataclasses import dataclass

from .sampler import COLUMN_SAMPLERS, ROW_SAMPLERS, ColumnSampler, RowSampler


@ROW_SAMPLERS.register
@dataclass(frozen=True)
class AllRows(RowSampler):
    """All samples in every round."""

    name = "all"

    def rows(self, run):
        return None


@COLUMN_SAMPLERS.register
@dataclass(frozen=True)
class AllColumns(ColumnSampler):
    """All columns in every round."""

    name, needs_bins = "all", False

    def columns(self, run):
        return None
