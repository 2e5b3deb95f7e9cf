"""LazyBoost: some random columns for every round."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .sampler import COLUMN_SAMPLERS, ColumnSampler

_NODES = 64  # draws of a round, where every node has its own: more nodes begin with the first again


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
        share = isinstance(self.size, float) and self.size <= 1
        if not (self.size > 0 and (share or float(self.size).is_integer())):
            raise ValueError(f"Lazy(size={self.size!r}): give a share in (0, 1] or a number of columns")
        if self.per not in ("round", "node"):
            raise ValueError(f"Lazy(per={self.per!r}): choose 'round' or 'node'")

    def columns(self, run):
        d = run.n_columns
        share = self.size < 1 or (isinstance(self.size, float) and self.size == 1)
        count = max(1, round(self.size * d)) if share else int(self.size)
        if count >= d:
            return None
        rng = np.random.default_rng((run.seed, 1, run.n_rounds))
        draws = 1 if self.per == "round" else _NODES
        found = np.zeros((draws, d), bool)
        for row in found:
            row[rng.permutation(d)[:count]] = True
        return found if draws > 1 else found[0]
