"""LazyBoost: some random columns for every round."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .sampler import COLUMN_SAMPLERS, NODES, ColumnSampler, check_per, check_size, count_of


@COLUMN_SAMPLERS.register
@dataclass(frozen=True)
class Lazy(ColumnSampler):
    """A fresh random set of columns for every round (Escudero et al. 2000).

    Parameters
    ----------
    size : int or float, default=0.1
        How many columns; below 1, and 1.0: the share of all.
    per : {"round", "node"}, default="round"
        Whether all nodes of a tree and all terms of a product may cut the same columns, or each has a set of its own.
        Only with "round" less work is done.
    """

    size: float = 0.1
    per: str = "round"
    name = "lazy"

    def __post_init__(self):
        check_size(self, "columns")
        check_per(self)

    def columns(self, run):
        d = run.n_columns
        count = count_of(self.size, d)
        if count == d:
            return None
        rng = np.random.default_rng((run.seed, 1, run.n_rounds))
        draws = 1 if self.per == "round" else NODES
        found = np.zeros((draws, d), bool)
        for row in found:
            row[rng.permutation(d)[:count]] = True
        return found if draws > 1 else found[0]
