"""A table comes in: columns, binning, targets and weights."""
