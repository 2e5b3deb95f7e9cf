"""No sample: every round sees everything."""

from __future__ import annotations

from dataclasses import dataclass

from .sampler import COLUMN_SAMPLERS, LABEL_SAMPLERS, ROW_SAMPLERS, ColumnSampler, LabelSampler, RowSampler


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


@LABEL_SAMPLERS.register
@dataclass(frozen=True)
class AllLabels(LabelSampler):
    """All labels in every round."""

    name = "all"

    def labels(self, run):
        return None

    def count(self, n_labels):
        return n_labels
